package orchestrator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/orchestrator"
)

// drafted is a workflow whose second step takes long. Premium items cost up to 5 within
// twenty minutes of their births, which is less than that step needs.
var drafted = `workflow: drafted
sla:
  classes:
    premium: {when: tier == "premium", penalty: staged, after: 10m, every: 10m, cost: 5, at_most: 5}
    regular: {penalty: staged, after: 1h, every: 1h, cost: 1}
inputs: {items: {columns: [id, tier]}}
steps:
  draft: {from: {items: stream}, ` + withTime("30s") + `}
  review: {from: {draft: stream}, ` + strings.Replace(withTime("30m"), "crowd: {", "crowd: {enough: {labels: 2}, ", 1) + `}
  polish: {from: {review: stream}, ` + withTime("10m") + `}
`

// closers end the step review of drafted: it has had enough, or somebody ends it.
var closers = map[string]func(w *world, id crowd.RunID){
	"had enough": func(w *world, _ crowd.RunID) { w.play() },
	"ended early": func(w *world, id crowd.RunID) {
		for w.node(id, "review").Node.Batch == 0 { // before anybody has answered it
			w.work()
			w.settle()
		}
		must(w.t, w.o.EndStep(w.ctx, id, "review"))
		w.play()
	},
}

// addItems adds rows to the open input of a run.
func (w *world) addItems(id crowd.RunID, text string) {
	w.t.Helper()
	_, err := w.o.AddRows(w.ctx, id, orchestrator.NewRows{Input: "items", File: csv(w.t, text)})
	must(w.t, err)
	w.settle()
}

// TestAStepThatAsksNobodyAddsNothing: what comes to a step that has had enough, or was ended early,
// goes no further. So neither its time nor that of the steps after it is in when items end, in what they
// cost, or in the order in which the steps before it are worked on.
func TestAStepThatAsksNobodyAddsNothing(t *testing.T) {
	for name, closed := range closers {
		for _, restarted := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				w.policy = "penalty(wfs)"
				w.restart()
				id := w.load(orchestrator.NewRun{Text: drafted, Open: []string{"items"}}, nil)
				must(t, w.o.Start(w.ctx, id))
				w.settle()
				w.addItems(id, "id,tier\na,regular\nb,regular\n")
				closed(w, id)
				if restarted {
					w.restart()
				}
				w.now = w.now.Add(time.Minute)
				for _, who := range w.people { // else those who wait take them in the order in which they come
					w.engine.Leave(w.now, who)
				}
				w.addItems(id, "id,tier\nc,regular\nd,premium\n")
				must(t, w.o.SealInputs(w.ctx, id, "items"))
				w.settle()
				draft := w.node(id, "draft").Node.Batch
				w.forecasts = map[crowd.BatchID]orchestrator.Forecast{draft: {Median: w.now.Add(time.Minute), Horizon: w.now.Add(24 * time.Hour)}}
				w.wantOutlook("two items are left", id, time.Minute, 0)
				w.wantEnds("two items are left", id, 2, 30*time.Second)
				h, ok, err := w.engine.Ready(w.now, w.people[0])
				must(t, err)
				if item, err := w.store.Store.Task(w.ctx, h.Task); !ok || err != nil || item.Values[0] != "d" {
					t.Errorf("%q is handed out first (%v), want the premium item", item.Values, err)
				}
			})
		}
	}
}

// TestWhatIsLeftIsSentWhenAStepCloses: the steps before are told at once that less is to come, not
// only when times are observed again.
func TestWhatIsLeftIsSentWhenAStepCloses(t *testing.T) {
	for name, closed := range closers {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id := w.load(orchestrator.NewRun{Text: drafted, Open: []string{"items"}}, nil)
			must(t, w.o.Start(w.ctx, id))
			w.settle()
			w.addItems(id, "id,tier\na,regular\nb,regular\n")
			began := w.now
			closed(w, id)
			if n := len(w.tails); n == 0 || w.tails[n-1] != 0 || w.works[n-1] != 0 {
				t.Errorf("after %s the steps were sent that there is left %v, of people's time %v; want 0 at the end", w.now.Sub(began), w.tails, w.works)
			}
		})
	}
}

// TestWhatIsLeftWhileAStepHasEnough: it is nothing while somebody holds the last task, and what it
// was when more is enough.
func TestWhatIsLeftWhileAStepHasEnough(t *testing.T) {
	w := newWorld(t)
	w.answer = func(values []string) string {
		if len(values) > 2 && values[0] == "a" { // at review
			return ""
		}
		return "yes"
	}
	id := w.load(orchestrator.NewRun{Text: drafted, Open: []string{"items"}}, nil)
	must(t, w.o.Start(w.ctx, id))
	w.addItems(id, "id,tier\na,regular\nb,regular\nc,regular\n")
	w.play()
	if n := w.node(id, "review"); !n.HasEnough() {
		t.Fatalf("%d are in hand, and %d labelled: %s", n.InHand, n.OK, n.Reason)
	}
	for _, enough := range []int{2, 3, 2} {
		must(t, w.engine.Edit(w.now, w.node(id, "review").Node.Batch, engine.Edit{Enough: &engine.Enough{Labels: enough}}))
		must(t, w.commit())
		w.settle()
		if len(w.tails) == 0 {
			t.Fatalf("where %d labels are enough nothing is sent", enough)
		}
		if left := w.tails[0]; enough == 2 && (left != 0 || w.works[0] != 0) || enough == 3 && (left < 20*time.Minute || w.works[0] < 20*time.Minute) {
			t.Errorf("where %d labels are enough, the step before was sent that there is left %s, of people's time %s", enough, left, w.works[0])
		}
		w.tails, w.works = nil, nil
	}
}
