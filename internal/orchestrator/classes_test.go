package orchestrator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
)

// tiered has items of three classes, which go through people, a query that splits them and
// a service.
const tiered = `workflow: tiers
sla:
  classes:
    premium: {when: tier == "premium" and price > 1, penalty: constant, after: 10m, cost: 9.00}
    gold: {when: tier == "gold", penalty: constant, after: 1h, cost: 3.00}
    regular: {penalty: constant, after: 2h, cost: 1.00}
inputs:
  items: {columns: [id, tier, {price: number}]}
steps:
  ask: {from: {items: stream}, crowd: {template: {kind: short_text, show: [id]}, reward: 0.10}}
  parts: {from: {ask: stream}, sql: "select ask.id, value as part from ask, json_each('[1, 2]')"}
  call: {from: {parts: stream}, service: {url: "https://x.example/", concurrency: 1, response: {type: object, properties: {loud: {type: string}}}}}
`

// classesOf lists the classes of the rows of a node, in order.
func (w *world) classesOf(id crowd.RunID, name string) []int {
	w.t.Helper()
	rows, err := w.o.Items(w.ctx, id, name, 0, 100)
	must(w.t, err)
	var list []int
	for _, row := range rows {
		list = append(list, row.Class)
	}
	return list
}

func (w *world) wantClasses(id crowd.RunID, name string, want ...int) {
	w.t.Helper()
	if got := w.classesOf(id, name); !slices.Equal(got, want) {
		w.t.Errorf("the items at %s are of the classes %v, want %v", name, got, want)
	}
}

// TestClassesOfItems: each item has the class of where it begins, in a file or added later,
// and keeps it through people, queries, services and a restart. The most urgent goes first,
// and what it costs to end late is that of the class.
func TestClassesOfItems(t *testing.T) {
	w := newWorld(t)
	id := w.load(orchestrator.NewRun{Text: tiered, Open: []string{"items"}}, nil)
	_, err := w.o.Load(w.ctx, id, "items", csv(t, "id,tier,price\na,regular,5\nb,premium,2\nc,premium,much\nd,premium,\n"))
	must(t, err)
	must(t, w.o.Start(w.ctx, id))
	w.settle()
	w.add(id, "", 0, "id,tier,price\ne,premium,7\nf,gold,1\n")
	w.settle()
	w.wantClasses(id, "items", 2, 0, 2, 2, 0, 1) // a bad row and an empty price are of the last class
	slow, err := w.o.SlowestItems(w.ctx, 0, id, 9)
	must(t, err)
	if len(slow) != 5 || slow[0].Class != "regular" || slow[1].Class != "premium" {
		t.Errorf("slowest: %+v", slow)
	}

	w.restart()
	w.people = w.people[:1]
	var asked []string
	w.answer = func(cells []string) string { asked = append(asked, cells[0]); return "yes" }
	w.lag = true
	for range 3 {
		w.work()
		w.settle()
	}
	if got := strings.Join(asked, ""); got != "bef" {
		t.Errorf("people were given %s, want those of the premium class, then gold", got)
	}
	w.restart()
	w.settle()
	w.now = w.now.Add(30 * time.Minute) // too late for premium alone
	w.lag = false
	w.endCalls()
	w.play()
	must(t, w.o.SealInputs(w.ctx, id, ""))
	w.play()
	w.wantState(id, store.RunDone)
	for _, step := range []string{"parts", "call"} {
		var sum [3]int
		for _, class := range w.classesOf(id, step) {
			sum[class]++
		}
		if want := [3]int{6, 3, 7}; sum != want { // two parts of each, and what they were made from; c has failed
			t.Errorf("%s has %v rows by class, want %v", step, sum, want)
		}
	}
	v := w.view(id)
	if got := strings.Join(v.Notes, "; "); got != "1 row could not be read: failed items of the last class, regular" {
		t.Errorf("noted: %q", got)
	}
	want := []orchestrator.ClassView{
		{Name: "premium", ClassCount: store.ClassCount{Ended: 4, Late: 4, Penalty: 36 * crowd.Unit}},
		{Name: "gold", ClassCount: store.ClassCount{Ended: 2}},
		{Name: "regular", ClassCount: store.ClassCount{Ended: 5, Failed: 1}, Unread: 1}, // of which it is not said that it was in time
	}
	if v.Classes[2].Kept() != 4 || v.Classes[2].Judged() != 4 || v.Classes[0].Kept() != 0 || v.Classes[0].Judged() != 4 {
		t.Errorf("in time are %d of %d, and %d of %d", v.Classes[2].Kept(), v.Classes[2].Judged(), v.Classes[0].Kept(), v.Classes[0].Judged())
	}
	if fmt.Sprint(v.Classes) != fmt.Sprint(want) || v.Ended != 11 || v.Late != 4 || v.Penalty != 36*crowd.Unit {
		t.Errorf("classes: %+v; ended %d, late %d, penalty %s", v.Classes, v.Ended, v.Late, v.Penalty)
	}
	w.wantEnded(v)
	path, err := w.o.Path(w.ctx, 0, id, 2)
	must(t, err)
	if path[0].Class != "premium" {
		t.Errorf("the item's way: %+v", path)
	}
}

// TestClassesAreForeseen: what items on their way will cost is told by class.
func TestClassesAreForeseen(t *testing.T) {
	w := newWorld(t)
	id := w.load(orchestrator.NewRun{Text: tiered}, map[string]string{"items": "id,tier,price\na,regular,5\nb,premium,2\nc,gold,2\n"})
	must(t, w.o.Start(w.ctx, id))
	w.settle()
	w.now = w.now.Add(90 * time.Minute)
	v := w.view(id)
	for i, want := range []crowd.Money{9 * crowd.Unit, 3 * crowd.Unit, 0} {
		if c := v.Classes[i]; c.Predicted != want || c.Going != 1 {
			t.Errorf("%s: %s foreseen for %d items, want %s for 1", c.Name, c.Predicted, c.Going, want)
		}
	}
	if v.Predicted != 12*crowd.Unit {
		t.Errorf("%s foreseen", v.Predicted)
	}
}

// TestServicesServeByClass: calls that wait before a service go by the penalties of their
// items.
func TestServicesServeByClass(t *testing.T) {
	w := newWorld(t)
	w.lag = true
	text := strings.Replace(tiered, "from: {parts: stream}", "from: {items: stream}", 1)
	id := w.load(orchestrator.NewRun{Text: text}, map[string]string{"items": "id,tier,price\na,regular,5\nb,regular,2\nc,gold,2\nd,premium,2\n"})
	must(t, w.o.Start(w.ctx, id))
	w.settle()
	for range 4 {
		w.endCalls()
		w.settle()
	}
	got := ""
	for _, a := range w.attempts {
		got += a.Call.Fields[0].Value
	}
	if got != "adcb" && got != "dcab" { // the first is taken as it comes
		t.Errorf("the service was called for %s", got)
	}
}

// TestFailedItemsOfAnEarlierVersion: of a run that was kept before failed items were counted, those whose rows
// could not be read are counted in time no more than they are now.
func TestFailedItemsOfAnEarlierVersion(t *testing.T) {
	w := newWorld(t)
	id := w.load(orchestrator.NewRun{Text: tiered}, map[string]string{"items": "id,tier,price\na,regular,5\nc,gold,much\nb,regular,2\n"})
	must(t, w.o.Start(w.ctx, id))
	w.play()
	w.wantState(id, store.RunDone)
	for _, failed := range []int64{1, 0} {
		c := w.view(id).Classes[2]
		if c.Failed != failed || c.Unread != 1 || c.Ended != 5 || c.Judged() != 4 || c.Kept() != 4 {
			t.Errorf("%+v: in time are %d of %d, want 4 of 4", c, c.Kept(), c.Judged())
		}
		w.store.change = func(r *store.Run) {
			for i := range r.Classes {
				r.Classes[i].Failed = 0
			}
		}
		w.restart()
	}
}

// TestALateRowThatCannotBeRead: it is late, and no item counts as one in time less for it.
func TestALateRowThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	text := strings.Replace(tiered, "items: stream", "items: batch", 1)
	id := w.load(orchestrator.NewRun{Text: text, Open: []string{"items"}}, nil)
	_, err := w.o.Load(w.ctx, id, "items", csv(t, "id,tier,price\nc,gold,much\n"))
	must(t, err)
	must(t, w.o.Start(w.ctx, id))
	w.settle()
	w.now = w.now.Add(3 * time.Hour)
	must(t, w.o.SealInputs(w.ctx, id, ""))
	w.play()
	w.wantState(id, store.RunDone)
	c := w.view(id).Classes[2]
	if c.Ended != 1 || c.Late != 1 || c.Failed != 0 || c.Unread != 1 || c.Judged() != 1 || c.Kept() != 0 {
		t.Errorf("%+v: in time are %d of %d, want 0 of 1, which was late", c, c.Kept(), c.Judged())
	}
}

// TestMadeItemsHaveClasses: items that begin in a query over all rows are classed by its
// columns.
func TestMadeItemsHaveClasses(t *testing.T) {
	w := newWorld(t)
	id := w.start(`workflow: w
sla: {classes: {large: {when: n > 1, penalty: constant, after: 1h, cost: 1}, small: {penalty: constant, after: 2h, cost: 1}}}
inputs: {items: {columns: [kind]}}
steps:
  kinds: {from: items, sql: "select kind, count(*) as n from items group by kind order by kind", columns: {n: number}}
  ask: {from: {kinds: stream}, crowd: {template: {kind: short_text}, reward: 0.10}}
`, "kind\na\nb\nb\n")
	w.play()
	w.wantState(id, store.RunDone)
	w.wantClasses(id, "kinds", 1, 0)
	w.wantClasses(id, "items", 1, 1, 1) // they go no further one by one
	if v := w.view(id); v.Classes[0].Ended != 1 || v.Classes[1].Ended != 1 {
		t.Errorf("classes: %+v", v.Classes)
	}
}

// TestClassesOfARunThatGoesOn: items that are taken over are of the classes of the new file.
func TestClassesOfARunThatGoesOn(t *testing.T) {
	w := newWorld(t)
	plain := tiered[:strings.Index(tiered, "sla:")] + tiered[strings.Index(tiered, "inputs:"):]
	id := w.load(orchestrator.NewRun{Text: plain}, map[string]string{"items": "more,id,tier,price\nx,a,regular,5\nx,b,premium,2\nx,c,gold,2\n"})
	must(t, w.o.Start(w.ctx, id))
	w.play()
	w.wantState(id, store.RunDone)
	again := w.load(orchestrator.NewRun{Text: tiered, Parent: id, From: "call"}, nil)
	must(t, w.o.Start(w.ctx, again))
	w.play()
	w.wantState(again, store.RunDone)
	w.wantClasses(again, "items", 2, 0, 1)
	byItem := make(map[int64]int)
	for _, step := range []string{"items", "ask", "parts", "call"} {
		rows, err := w.o.Items(w.ctx, again, step, 0, 100)
		must(t, err)
		for _, row := range rows {
			first := row.Item
			if row.Origin != 0 {
				first = row.Origin
			}
			if class, known := byItem[first]; known && class != row.Class {
				t.Errorf("item %d is of class %d at %s, and was of %d", row.Item, row.Class, step, class)
			}
			byItem[row.Item] = row.Class
		}
	}
	if v := w.view(again); v.Classes[0].Ended != 2 || v.Classes[1].Ended != 2 || v.Classes[2].Ended != 2 {
		t.Errorf("classes: %+v", v.Classes)
	}
	third := w.load(orchestrator.NewRun{Text: strings.NewReplacer(`tier == "premium"`, `tier == "regular"`).Replace(tiered), Parent: again}, nil)
	must(t, w.o.Start(w.ctx, third))
	w.play()
	w.wantClasses(third, "items", 0, 2, 1)
	w.wantClasses(third, "ask", 0, 2, 1)
}
