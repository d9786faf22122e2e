package web

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// TestAnItemIsWhereItHasCome: its page lists the steps to which it has come, and
// none that waits for another.
func TestAnItemIsWhereItHasCome(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	c.req.sendRun("", "workflow: Pets\ninputs: {pets: {columns: [name]}}\nsteps:\n"+
		"  look: {from: {pets: stream}, crowd: {template: {kind: choose_one, question: \"A cat?\", options: [\"yes\", \"no\"], show: [name]}, reward: 0.01, redundancy: {count: 1}}}\n"+
		"  after: {from: {look: stream}, sql: \"select look_answers as said from look\", columns: {said: text}}\n", "make").want(200).at("/runs/r1")
	c.req.sendInputs("/runs/r1", "start", "pets", "pets.csv", "name\nRex\n").want(200)
	steps := func() []string {
		var list []string
		for _, x := range c.req.get("/runs/r1/items/1").want(200).all("td") {
			if attr(x, "data-label") == "Step" {
				list = append(list, strings.Fields(words(x))[0])
			}
		}
		return list
	}
	became := func(want string) {
		t.Helper()
		for limit := time.Now().Add(20 * time.Second); strings.Join(steps(), " ") != want; {
			if time.Now().After(limit) {
				t.Fatalf("the steps are %q, want %q", steps(), want)
			}
		}
	}
	became("pets look")
	c.workers[0].becomes("/work", "A cat?")
	c.workers[0].get("/work").want(200).form("/work/submit").set("s.label", "yes").send().want(200)
	became("pets look after")
}

// TestLongPagesHaveSlots: a page of long rows waits for those that nobody takes.
func TestLongPagesHaveSlots(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it waits ten seconds")
	}
	c := newCompany(t, 0)
	c.req.sendRun("", "workflow: Pets\ninputs: {pets: {columns: [name]}}\nsteps: {same: {from: pets, sql: select name from pets}}\n", "make").want(200).at("/runs/r1")
	c.req.sendInputs("/runs/r1", "", "pets", "pets.csv", "name\nRex\n").want(200)
	c.req.get("/runs/r1/steps/pets").want(200, "Rex")
	p := c.req.principal()
	var ends []func()
	for range 4 {
		end, err := c.site.app.StartList(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, end)
	}
	c.req.get("/runs/r1").want(200)
	c.req.get("/runs/r1/steps/pets").want(429, "long lists")
	ends[0]()
	c.req.get("/runs/r1/items/1").want(200, "Rex")
}

// A page about an item says where its bars are.
func TestItemBars(t *testing.T) {
	t.Parallel()
	flow, wrong := workflow.Parse([]byte("workflow: w\ninputs: {rows: {columns: [a]}}\nsteps:\n  one: {from: {rows: stream}, crowd: {template: {kind: short_text}, reward: 0.1}}\n  two: {from: {one: stream}, crowd: {template: {kind: short_text}, reward: 0.1}}\n"), time.Time{}, nil)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	born := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	x := &itemPage{Item: 1, End: born.Add(100 * time.Second), V: &orchestrator.View{Flow: flow, Run: store.Run{State: store.RunRunning}, Nodes: []orchestrator.NodeView{
		{Node: store.Node{Name: "rows"}, Kind: "input"}, {Node: store.Node{Node: 1, Name: "one"}, Step: flow.Step(1)}, {Node: store.Node{Node: 2, Name: "two"}, Step: flow.Step(2)},
	}}}
	x.fill([]orchestrator.Visit{
		{Step: "rows", Row: store.Row{Node: 0, N: 1, Item: 1, Born: born, At: born, State: store.RowOK}},
		{Step: "one", Row: store.Row{Node: 1, N: 1, Item: 1, Born: born, At: born.Add(25 * time.Second), State: store.RowOK}},
	})
	if len(x.Stops) != 3 {
		t.Fatalf("%d stops: %+v", len(x.Stops), x.Stops)
	}
	if s := x.Stops[1]; s.Here != 25*time.Second || s.X != "0.00" || s.Width != "25.00" || s.Open {
		t.Errorf("%+v", s)
	}
	if s := x.Stops[2]; s.Here != 75*time.Second || s.X != "25.00" || s.Width != "75.00" || !s.Open || s.Sign.Word != "is here" {
		t.Errorf("%+v", s)
	}
	anew := &itemPage{Item: 1, End: x.End, V: x.V} // its age was renewed after the first step
	for i := range x.Stops {
		x.Stops[i].Born = born.Add(time.Minute)
	}
	anew.fill([]orchestrator.Visit{x.Stops[0].Visit, x.Stops[1].Visit})
	if s := anew.Stops[0]; anew.Start != born || anew.Born != born.Add(time.Minute) || s.Came != born || s.Here != 0 {
		t.Errorf("%+v begins %s, with %+v", anew.Born, anew.Start, s)
	}
	if s := anew.Stops[1]; s.Here != 25*time.Second || s.X != "0.00" || s.Width != "25.00" {
		t.Errorf("%+v", s)
	}
}
