package orchestrator_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
)

// openFlow has people judge what comes, item by item, and counts the judgements in the end.
const openFlow = `workflow: w
sla: {penalty: staged, after: 1h, every: 1h, cost: 1.00}
inputs:
  items: {columns: [id, {price: number}], open: true}
  shops: {columns: [shop]}
steps:
  judge:
    from: {items: stream}
    when: price > 1
    crowd: {template: {kind: short_text, show: [id]}, reward: 0.10}
  count: {from: [judge, shops], sql: "select count(*) as n, count(distinct shop) as shops from judge join shops"}
`

// startOpen starts a run of openFlow without items.
func (w *world) startOpen() crowd.RunID {
	w.t.Helper()
	id := w.load(orchestrator.NewRun{Text: openFlow}, map[string]string{"shops": "shop\na\nb\n"})
	must(w.t, w.o.Start(w.ctx, id))
	return id
}

func (w *world) add(id crowd.RunID, feed string, after int64, rows string) orchestrator.AddedRows {
	w.t.Helper()
	added, err := w.o.AddRows(w.ctx, id, orchestrator.NewRows{Input: "items", File: csv(w.t, rows), Feed: feed, After: after})
	must(w.t, err)
	return added
}

// TestOpenInputs: rows that are added while a run goes pass stream edges as they come,
// each with its own age; what needs all rows waits until the input is sealed; a restart in
// the middle loses nothing.
func TestOpenInputs(t *testing.T) {
	w := newWorld(t)
	id := w.startOpen()
	w.play()
	if n := w.node(id, "items"); !n.TakesRows() || n.Last != 0 || w.view(id).Stuck {
		t.Fatalf("without rows, the input is %+v", n.Node)
	}
	if got := w.add(id, "", 0, "price,id,more\n2,a,x\n0.5,b,y\n"); got != (orchestrator.AddedRows{Added: 2, Delimiter: table.Comma}) {
		t.Errorf("added: %+v", got)
	}
	w.play()
	w.want(id, "judge", "a,2,yes,1,1,false,false")
	w.now = w.now.Add(2 * time.Hour)
	w.restart()
	w.add(id, "", 0, "id,price\nc,3\n")
	w.answer = func([]string) string { return "" } // they are away
	w.settle()
	w.now = w.now.Add(90 * time.Minute)
	w.answer = func([]string) string { return "no" }
	w.play()
	w.want(id, "judge", "a,2,yes,1,1,false,false", "c,3,no,1,1,false,false")
	w.wantState(id, store.RunRunning)
	if n := w.node(id, "count"); n.State != store.NodeWaiting {
		t.Errorf("before the end, count is %s", n.State)
	}
	must(t, w.o.SealInputs(w.ctx, id, "items"))
	must(t, w.o.SealInputs(w.ctx, id, ""))
	w.play()
	w.wantState(id, store.RunDone)
	w.want(id, "count", "4,2") // each of the two once a shop
	if v := w.view(id); v.Ended != 3 || v.Late != 0 {
		t.Errorf("of the ages: %d ended, %d late, penalty %s", v.Ended, v.Late, v.Penalty)
	}
}

// TestAgesOfAddedRows: the age of a row begins when it is added, not when the run starts.
func TestAgesOfAddedRows(t *testing.T) {
	w := newWorld(t)
	text := strings.Replace(openFlow, "  shops: {columns: [shop]}\n", "", 1)
	text = text[:strings.Index(text, "  count:")]
	id := w.load(orchestrator.NewRun{Text: text}, nil)
	must(t, w.o.Start(w.ctx, id))
	w.settle()
	w.now = w.now.Add(24 * time.Hour)
	w.add(id, "", 0, "id,price\na,2\n") // at once
	w.play()
	w.answer = func([]string) string { return "" }
	w.add(id, "", 0, "id,price\nb,2\n") // after 3.5 hours: two whole hours late
	w.settle()
	w.now = w.now.Add(3*time.Hour + 30*time.Minute)
	w.answer = func([]string) string { return "yes" }
	must(t, w.o.SealInputs(w.ctx, id, ""))
	w.play()
	w.wantState(id, store.RunDone)
	if v := w.view(id); v.Ended != 2 || v.Late != 1 || v.Penalty < 2*crowd.Unit || v.Penalty > 3*crowd.Unit {
		t.Errorf("%d ended, %d late, penalty %s", v.Ended, v.Late, v.Penalty)
	}
}

// TestNothingIsAddedTwice: whatever fails, and however often a feed is sent from wherever,
// each of its rows is added once, in order.
func TestNothingIsAddedTwice(t *testing.T) {
	failed, repeated := 0, 0
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t)
		id := w.startOpen()
		const all, most = 30, 1000
		var last error
		for has, rounds := 0, 0; has < all; rounds++ {
			if rounds == most {
				t.Fatalf("after %d rounds the feed has %d of %d rows; the last error is %v", most, has, all, last)
			}
			from := max(has-random.IntN(5), 0)
			to := min(from+1+random.IntN(8), all)
			text := "id,price\n"
			for i := from; i < to; i++ {
				text += fmt.Sprintf("r%02d,2\n", i)
			}
			if random.IntN(3) == 0 {
				w.store.fail = func(string) error { return errDisk }
				if random.IntN(2) == 0 {
					w.store.fail = func(what string) error {
						if what == "advance" {
							return errUnheard
						}
						return nil
					}
				}
			}
			added, err := w.o.AddRows(w.ctx, id, orchestrator.NewRows{Input: "items", File: csv(t, text), Feed: "f", After: int64(from)})
			w.store.fail = nil
			if err != nil {
				failed, last = failed+1, err
				continue
			}
			if has = int(added.Feed); has < to || added.Added+added.Known != int64(to-from) {
				t.Fatalf("rows %d to %d: %+v", from, to, added)
			}
			repeated += int(added.Known)
			if random.IntN(4) == 0 {
				w.restart()
			}
		}
		if n, err := w.o.FeedRows(w.ctx, id, "items", "f"); err != nil || n != all {
			t.Errorf("the feed has %d rows, %v", n, err)
		}
		rows := w.rows(id, "items")
		if len(rows) != all || len(slices.Compact(rows)) != all {
			t.Errorf("seed %d: the input has %q", seed, rows)
		}
	}
	if failed == 0 || repeated == 0 {
		t.Errorf("%d failed, %d rows were repeated", failed, repeated)
	}
}

// TestRefusedRows: what cannot be added is refused whole, and says why.
func TestRefusedRows(t *testing.T) {
	w := newWorld(t)
	loading := w.load(orchestrator.NewRun{Text: openFlow}, map[string]string{"shops": "shop\na\n"})
	id := w.startOpen()
	sealed := w.startOpen()
	must(t, w.o.SealInputs(w.ctx, sealed, "items"))
	w.add(id, "f", 0, "id,price\na,0\n")
	many := "id,price\n" + strings.Repeat("a,2\n", orchestrator.MaxAddedRows+1)
	tests := []struct {
		name  string
		run   crowd.RunID
		rows  orchestrator.NewRows
		text  string
		code  crowd.Code
		words string
	}{
		{"not started", loading, orchestrator.NewRows{Input: "items"}, "id,price\na,2\n", crowd.Conflict, "has not started"},
		{"sealed", sealed, orchestrator.NewRows{Input: "items"}, "id,price\na,2\n", crowd.Conflict, "is sealed"},
		{"not open", id, orchestrator.NewRows{Input: "shops"}, "shop\na\n", crowd.Conflict, "shops is not open"},
		{"no input", id, orchestrator.NewRows{Input: "judge"}, "id,price\na,2\n", crowd.NotFound, "no input judge"},
		{"a bad cell", id, orchestrator.NewRows{Input: "items"}, "id,price\na,2\nb,cheap\nc\n", crowd.Invalid, "line 3"},
		{"a lacking column", id, orchestrator.NewRows{Input: "items"}, "id,cost\na,2\n", crowd.Invalid, "price"},
		{"too many", id, orchestrator.NewRows{Input: "items"}, many, crowd.TooLarge, "10000 rows"},
		{"a gap of a row in the feed", id, orchestrator.NewRows{Input: "items", Feed: "f", After: 2}, "id,price\na,2\n", crowd.Conflict, "has 1 row of \"f\": the rows after those come first, and these begin after 2"},
		{"a gap in the feed", id, orchestrator.NewRows{Input: "items", Feed: "f", After: 5}, "id,price\na,2\n", crowd.Conflict, "begin after 5"},
		{"no feed", id, orchestrator.NewRows{Input: "items", After: 5}, "id,price\na,2\n", crowd.Invalid, "feed"},
		{"a long name", id, orchestrator.NewRows{Input: "items", Feed: strings.Repeat("f", 201)}, "id,price\na,2\n", crowd.Invalid, "feed"},
		{"a name with NUL", id, orchestrator.NewRows{Input: "items", Feed: "f\x00"}, "id,price\na,2\n", crowd.Invalid, "feed"},
		{"a name that is no text", id, orchestrator.NewRows{Input: "items", Feed: "\xff"}, "id,price\na,2\n", crowd.Invalid, "feed"},
		{"a name that turns", id, orchestrator.NewRows{Input: "items", Feed: "\u202ef"}, "id,price\na,2\n", crowd.Invalid, "feed"},
		{"a name of nothing", id, orchestrator.NewRows{Input: "items", Feed: " "}, "id,price\na,2\n", crowd.Invalid, "feed"},
	}
	for _, x := range tests {
		t.Run(x.name, func(t *testing.T) {
			x.rows.File = csv(t, x.text)
			_, err := w.o.AddRows(w.ctx, x.run, x.rows)
			wantCode(t, err, x.code, x.words)
			if n := w.node(id, "items"); n.Last != 1 {
				t.Errorf("%d rows are there", n.Last)
			}
		})
	}
	wantCode(t, w.o.SealInputs(w.ctx, id, "shops"), crowd.Conflict, "not open")
	wantCode(t, w.o.SealInputs(w.ctx, loading, "items"), crowd.Conflict, "not under way")
	must(t, w.o.Cancel(w.ctx, id))
	_, err := w.o.AddRows(w.ctx, id, orchestrator.NewRows{Input: "items", File: csv(t, "id,price\na,2\n")})
	wantCode(t, err, crowd.Conflict, "cancelled")
}

// TestWhatHappensWhileRowsAreRead: reading a file may take long, and the input may be
// sealed, the run may end, and the same rows may come from elsewhere meanwhile.
func TestWhatHappensWhileRowsAreRead(t *testing.T) {
	w := newWorld(t)
	add := func(id crowd.RunID, rows string, meanwhile func() error) (orchestrator.AddedRows, error) {
		return w.o.AddRows(w.ctx, id, orchestrator.NewRows{Input: "items", Feed: "f", File: func() (table.Rows, func(), error) {
			must(t, meanwhile())
			return csv(t, rows)()
		}})
	}
	for words, end := range map[string]func(crowd.RunID) error{
		"is sealed":     func(id crowd.RunID) error { return w.o.SealInputs(w.ctx, id, "items") },
		"not under way": func(id crowd.RunID) error { return w.o.Cancel(w.ctx, id) },
	} {
		id := w.startOpen()
		_, err := add(id, "id,price\na,2\n", func() error { return end(id) })
		wantCode(t, err, crowd.Conflict, words)
		if n := w.node(id, "items"); n.Last != 0 {
			t.Errorf("%s: %d rows are there", words, n.Last)
		}
	}

	id := w.startOpen()
	const three = "id,price\na,2\nb,2\nc,2\n"
	added, err := add(id, three, func() error { w.add(id, "f", 0, three[:len(three)-4]); return nil })
	must(t, err)
	if want := (orchestrator.AddedRows{Added: 1, Known: 2, Feed: 3, Delimiter: table.Comma}); added != want {
		t.Errorf("two of three had come meanwhile: %+v, want %+v", added, want)
	}
	// What comes again does not take back what came after it.
	if again, want := w.add(id, "f", 0, "id,price\na,2\n"), (orchestrator.AddedRows{Known: 1, Feed: 3, Delimiter: table.Comma}); again != want {
		t.Errorf("the first again: %+v, want %+v", again, want)
	}
	w.want(id, "items", "a,2", "b,2", "c,2")
}

// TestOpenInputsOfARun: an input may be opened when the run is made; with a file it begins
// with its rows, and without one its columns must be declared. A run that goes on from one
// that was cancelled has the rows that came.
func TestOpenInputsOfARun(t *testing.T) {
	w := newWorld(t)
	const text = "workflow: w\ninputs: {items: {}}\nsteps:\n  every: {from: items, sql: select id from items}\n"
	_, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: text, Open: []string{"every"}})
	wantCode(t, err, crowd.Invalid, "no input")
	made, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: text, Open: []string{"items"}})
	must(t, err)
	if !slices.Equal(made.Needs, []string{"items"}) {
		t.Errorf("it needs %q", made.Needs)
	}
	wantCode(t, w.o.Start(w.ctx, made.Run.ID), crowd.Invalid, "declare its columns")
	id := made.Run.ID
	_, err = w.o.Load(w.ctx, id, "items", csv(t, "id\n1\n"))
	must(t, err)
	w.restart()
	must(t, w.o.Start(w.ctx, id))
	w.add(id, "", 0, "id\n2\n")
	w.play()
	w.wantState(id, store.RunRunning)
	must(t, w.o.Pause(w.ctx, id))
	w.add(id, "", 0, "id\n3\n") // while it is paused
	must(t, w.o.Resume(w.ctx, id))
	must(t, w.o.Cancel(w.ctx, id))
	next, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: text, Parent: id})
	must(t, err)
	if len(next.Needs) != 0 {
		t.Errorf("it needs %q", next.Needs)
	}
	must(t, w.o.Start(w.ctx, next.Run.ID))
	w.play()
	w.wantState(next.Run.ID, store.RunDone)
	w.want(next.Run.ID, "every", "1", "2", "3")
}

// TestRowsWaitForMoney: rows that the budget does not pay for are kept, and wait.
func TestRowsWaitForMoney(t *testing.T) {
	w := newWorld(t)
	id := w.load(orchestrator.NewRun{Text: openFlow, Budget: crowd.Unit / 10}, map[string]string{"shops": "shop\na\n"})
	must(t, w.o.Start(w.ctx, id))
	w.add(id, "", 0, "id,price\na,2\nb,2\n")
	for range 20 {
		w.settle()
		w.work()
	}
	if n := w.node(id, "judge"); n.OK != 1 || n.Error == "" || n.Inside != 1 {
		t.Errorf("judge: %d ok, %d inside, %q", n.OK, n.Inside, n.Error)
	}
	_, err := w.o.TopUp(w.ctx, id, crowd.Unit)
	must(t, err)
	must(t, w.o.SealInputs(w.ctx, id, ""))
	w.play()
	w.wantState(id, store.RunDone)
	w.want(id, "count", "2,1")
}

// TestAFeedGoesOnPastRowsThatAreDropped: a part of a feed of which all rows are there already
// moves it on, so that the part after it is taken.
func TestAFeedGoesOnPastRowsThatAreDropped(t *testing.T) {
	w := newWorld(t)
	id := w.startOpen()
	const rows = "id,price\na,2\nb,3\n"
	w.add(id, "file", 0, rows)
	drop := orchestrator.NewRows{Input: "items", File: csv(t, rows), Feed: "file", After: 2, Duplicates: table.Duplicates{Do: table.Drop}}
	added, err := w.o.AddRows(w.ctx, id, drop)
	must(t, err)
	if want := (orchestrator.AddedRows{Feed: 4, Dropped: 2, Delimiter: table.Comma}); added != want {
		t.Errorf("added: %+v, want %+v", added, want)
	}
	w.restart()
	if n, err := w.o.FeedRows(w.ctx, id, "items", "file"); n != 4 || err != nil {
		t.Errorf("the feed has %d rows, %v", n, err)
	}
	if more := w.add(id, "file", 4, "id,price\nc,4\n"); more.Added != 1 || more.Feed != 5 {
		t.Errorf("the part after it: %+v", more)
	}
}
