package orchestrator_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// withTime is choose with an estimate of the time of a task.
func withTime(d string) string {
	return strings.Replace(choose, "reward:", "task_time: "+d+", reward:", 1)
}

var (
	afterAll = `workflow: after all
sla: {per: item, penalty: constant, after: 10m, cost: 5}
inputs: {items: {columns: [id]}}
steps:
  first: {from: {items: stream}, ` + withTime("1m") + `}
  second: {from: first, ` + withTime("30s") + `}
`
	sideBySide = `workflow: side by side
sla: {per: item, penalty: constant, after: 1h, cost: 5}
inputs: {items: {columns: [id]}}
steps:
  slow: {from: {items: stream}, ` + withTime("20m") + `}
  fast:
    from: {items: stream}
    service: {url: "https://x.example/", expect: 5s, send: [id], response: {type: object, properties: {loud: {type: string}}}}
  end: {from: {slow: stream, fast: stream}, ` + withTime("30s") + `}
`
)

// wantOutlook compares when a run is done, and what it is to cost.
func (w *world) wantOutlook(when string, id crowd.RunID, done time.Duration, penalty crowd.Money, then ...string) {
	w.t.Helper()
	v := w.view(id)
	if o := &v.Outlook; o.Why != "" || !o.Median.Equal(w.now.Add(done)) || !slices.Equal(o.Then, then) {
		w.t.Errorf("%s: done at %s, and %v comes then (%s); want %s, %v", when, o.Median, o.Then, o.Why, w.now.Add(done), then)
	}
	if v.AtLeast || v.Predicted != penalty {
		w.t.Errorf("%s: %s is foreseen, at least: %t; want %s", when, v.Predicted, v.AtLeast, penalty)
	}
}

// wantEnds checks that there are so many places of items, all of which end after that time at
// the earliest; 0: that is not known.
func (w *world) wantEnds(when string, id crowd.RunID, places int, after time.Duration) {
	w.t.Helper()
	slow, err := w.o.SlowestItems(w.ctx, 0, id, 20)
	must(w.t, err)
	if len(slow) != places {
		w.t.Errorf("%s: %d places, want %d", when, len(slow), places)
	}
	var want time.Time
	if after > 0 {
		want = w.now.Add(after)
	}
	for _, x := range slow {
		if !x.Ends.Equal(want) || want.IsZero() != (x.Penalty == nil) {
			w.t.Errorf("%s: item %d at %s ends at %s for %v, want %s", when, x.Item, x.Step, x.Ends, x.Penalty, want)
		}
	}
}

// TestOutlookBehindABatchEdge: rows that wait for the rest of those before them are done after
// these, and cost as much; a run does not lose its time and penalty by them.
func TestOutlookBehindABatchEdge(t *testing.T) {
	w := newWorld(t)
	id := w.start(afterAll, "id\n1\n2\n3\n4\n5\n6\n")
	w.settle()
	first := w.node(id, "first").Node.Batch
	w.forecasts = map[crowd.BatchID]orchestrator.Forecast{first: {Median: w.now.Add(10 * time.Minute), Horizon: w.now.Add(24 * time.Hour)}}
	w.wantOutlook("before any label", id, 10*time.Minute+30*time.Second, 5*crowd.Unit, "second")
	w.wantEnds("before any label", id, 6, 90*time.Second)
	w.work() // of three
	w.settle()
	w.wantOutlook("with three labels", id, 10*time.Minute+30*time.Second, 4*5*crowd.Unit, "second")
	w.wantEnds("with three labels", id, 6, 90*time.Second)
	w.play()
	if v := w.view(id); !v.Outlook.None() {
		t.Errorf("at the end: %+v", v.Outlook)
	}
}

// TestOutlookBehindOtherBranches: items that have come through one branch end after those that
// they wait for, also where the step has done all that has come through both.
func TestOutlookBehindOtherBranches(t *testing.T) {
	w := newWorld(t)
	id := w.start(sideBySide, "id\n1\n2\n3\n4\n")
	w.settle()
	slow := w.node(id, "slow").Node.Batch
	w.forecasts = map[crowd.BatchID]orchestrator.Forecast{slow: {Median: w.now.Add(time.Hour), Horizon: w.now.Add(24 * time.Hour)}}
	w.wantOutlook("before any label", id, time.Hour+30*time.Second, 5*crowd.Unit, "end")
	w.wantEnds("before any label", id, 8, 20*time.Minute+30*time.Second)
	w.work() // three of slow
	w.settle()
	if n := w.node(id, "end"); n.Batch == nil || n.Batch.Progress.Tasks != 3 {
		t.Fatalf("%+v is to have three tasks", n.Batch)
	}
	w.answer = func(values []string) string { // and these of end, while somebody holds the fourth one of slow
		if values[0] == "4" {
			return ""
		}
		return "yes"
	}
	for w.work() {
		w.settle()
	}
	if p := w.node(id, "end").Batch.Progress; p.Labelled != 3 || p.Tasks != 3 {
		t.Fatalf("%d of %d of end are labelled, want 3", p.Labelled, p.Tasks)
	}
	w.now = w.now.Add(time.Minute)
	w.wantOutlook("all that came is done", id, 59*time.Minute+30*time.Second, 5*crowd.Unit, "end")
	w.wantEnds("all that came is done", id, 2, 20*time.Minute+30*time.Second)
}

// TestOutlookOfCallsAfterAll: a service that is called once all rows are there is called after
// the people before it, for all of them.
func TestOutlookOfCallsAfterAll(t *testing.T) {
	w := newWorld(t)
	id := w.start(`workflow: calls
inputs: {items: {columns: [id]}}
steps:
  ask: {from: {items: stream}, `+choose+`}
  call:
    from: ask
    service: {url: "https://x.example/", concurrency: 1, expect: 10s, send: [id], response: {type: object, properties: {loud: {type: string}}}}
`, "id\n1\n2\n3\n4\n")
	w.settle()
	w.forecasts = map[crowd.BatchID]orchestrator.Forecast{w.node(id, "ask").Node.Batch: {Median: w.now.Add(time.Hour), Horizon: w.now.Add(24 * time.Hour)}}
	w.work()
	w.settle()
	if o, want := w.view(id).Outlook, w.now.Add(time.Hour+30*time.Second); !o.Median.Equal(want) {
		t.Errorf("done at %s (%s), want %s", o.Median, o.Why, want)
	}
}

// TestEndsThatNobodyKnows: an item that is held in one branch has no earliest end in another
// one, nor has one that waits for all of a step that holds some, or to which rows may come.
func TestEndsThatNobodyKnows(t *testing.T) {
	w := newWorld(t)
	w.service = func(orchestrator.Attempt) (httpstep.Reply, error) {
		return httpstep.Reply{}, &httpstep.Failure{Reason: httpstep.Status, StatusCode: 404, Message: "no"}
	}
	id := w.start(sideBySide, "id\n1\n2\n")
	w.settle()
	w.wantEnds("held in the other branch", id, 4, 0)

	w.service = func(a orchestrator.Attempt) (httpstep.Reply, error) {
		if a.Call.Fields[0].Value == "2" {
			return httpstep.Reply{Values: []string{"2!"}}, nil
		}
		return httpstep.Reply{}, &httpstep.Failure{Reason: httpstep.Status, StatusCode: 404, Message: "no"}
	}
	id = w.start(`workflow: held
sla: {per: item, penalty: constant, after: 1s, cost: 5}
inputs: {items: {columns: [id]}}
steps:
  first:
    from: {items: stream}
    service: {url: "https://x.example/", send: [id], response: {type: object, properties: {loud: {type: string}}}}
  ask: {from: {items: stream}, `+choose+`}
  second: {from: {first: batch, ask: stream}, `+choose+`}
`, "id\n1\n2\n")
	w.settle()
	w.wantEnds("held before a batch edge, also another item", id, 4, 0)

	id = w.load(orchestrator.NewRun{Text: afterAll, Open: []string{"items"}}, nil)
	must(t, w.o.Start(w.ctx, id))
	_, err := w.o.AddRows(w.ctx, id, orchestrator.NewRows{Input: "items", File: csv(t, "id\n1\n2\n")})
	must(t, err)
	w.settle()
	w.wantEnds("before the input is sealed", id, 2, 0)
	must(t, w.o.SealInputs(w.ctx, id, "items"))
	w.settle()
	w.wantEnds("once it is", id, 2, 90*time.Second)
}

// TestNoPenaltyWithoutAnEnd: what an item costs at its earliest end is a figure only where that
// end is known; where it is not, it may have cost much by now.
func TestNoPenaltyWithoutAnEnd(t *testing.T) {
	const late = "sla: {per: item, penalty: staged, after: 1s, every: 1s, cost: 1}\n"
	refuse := func(orchestrator.Attempt) (httpstep.Reply, error) {
		return httpstep.Reply{}, &httpstep.Failure{Reason: httpstep.Status, StatusCode: 404, Message: "no"}
	}
	for name, c := range map[string]struct {
		sla, text string
		then      func(w *world, id crowd.RunID)
		known     bool
	}{
		"asked":                    {late, promised, nil, true},
		"per run":                  {"sla: {per: run, penalty: constant, after: 1s, cost: 5}\n", promised, nil, false},
		"without a promise":        {"", promised, nil, false},
		"nobody is qualified":      {late, strings.Replace(promised, "reward:", "qualifications: {french: 80}, reward:", 1), nil, false},
		"behind a step of nobody":  {late, strings.Replace(sideBySide, "reward:", "qualifications: {french: 80}, reward:", 1), nil, false},
		"held":                     {late, promised + "  call: {from: {ask: stream}, service: {url: \"https://x.example/\", send: [id], response: {type: object, properties: {loud: {type: string}}}}}\n", func(w *world, _ crowd.RunID) { w.play() }, false},
		"held in the other branch": {late, sideBySide, nil, false},
		"the gate is closed":       {late, promised, func(w *world, _ crowd.RunID) { must(t, w.engine.SetGate(w.now, engine.Gate{On: true, Min: 30})) }, false},
		"paused":                   {late, promised, func(w *world, id crowd.RunID) { must(t, w.o.Pause(w.ctx, id)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.service = refuse
			lines := strings.Split(strings.TrimSpace(c.text), "\n")
			id := w.start(lines[0]+"\n"+c.sla+strings.Join(lines[2:], "\n")+"\n", "id\n1\n2\n3\n")
			w.settle()
			if c.then != nil {
				c.then(w, id)
			}
			w.now = w.now.Add(10 * time.Second)
			slow, err := w.o.SlowestItems(w.ctx, 0, id, 3)
			must(t, err)
			for _, x := range slow {
				if c.known && (x.Ends.IsZero() || x.Penalty == nil || *x.Penalty < 10*crowd.Unit) || !c.known && x.Penalty != nil {
					t.Errorf("item %d at %s (%s) ends at %s for %v", x.Item, x.Step, x.Why, x.Ends, x.Penalty)
				}
			}
			if len(slow) < 3 {
				t.Errorf("%d items are on their way", len(slow))
			}
		})
	}
}
