package orchestrator_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
)

// checked is a workflow whose first step checks people, and hands each row on as it has a
// label.
const checked = `
workflow: checked
inputs: {items: {columns: [id, known]}}
steps:
  draft: {from: {items: stream}, crowd: {template: {kind: choose_one, show: [id], options: ["yes", "no"]}, reward: 0.01, truth: known, checks: {first: 0.5}}}
  review: {from: {draft: stream}, crowd: {template: {kind: choose_one, show: [id], options: ["yes", "no"]}, reward: 0.01}}
outputs: {done: {from: review, format: csv}}
`

// TestWhenAChecksRowGoesOnTellsNothing: a row that people are checked with comes to no later
// step before the job has ended in which it is one, whatever restarts in between; then it
// comes, as what else has come does.
func TestWhenAChecksRowGoesOnTellsNothing(t *testing.T) {
	for how, end := range map[string]func(w *world, id crowd.RunID){
		"sealed": func(w *world, id crowd.RunID) {
			must(w.t, w.o.SealInputs(w.ctx, id, "items"))
		},
		"ended early": func(w *world, id crowd.RunID) { must(w.t, w.o.EndStep(w.ctx, id, "draft")) },
	} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t)
			id := w.load(orchestrator.NewRun{Text: checked, Open: []string{"items"}}, nil)
			must(t, w.o.Start(w.ctx, id))
			for _, rows := range []string{"1,\n2,no\n3,\n4,yes\n", "5,\n6,no\n"} {
				_, err := w.o.AddRows(w.ctx, id, orchestrator.NewRows{Input: "items", File: csv(t, "id,known\n"+rows)})
				must(t, err)
				w.play()
				w.restart()
				w.play()
			}
			w.want(id, "draft", "1,,yes,1,1,false,false", "3,,yes,1,1,false,false", "5,,yes,1,1,false,false")
			v := w.view(id)
			n := &v.Nodes[1]
			if n.Checks != 3 || n.Working() != 3 || n.Going() != 0 || n.Reused != 0 || v.Taken(1) != 6 || v.Blocked(1) != "" || v.Stuck {
				t.Errorf("%d checks, %d under way, %d going, %d reused, %d taken, blocked %q, stuck %t", n.Checks, n.Working(), n.Going(), n.Reused, v.Taken(1), v.Blocked(1), v.Stuck)
			}
			slow, err := w.o.SlowestItems(w.ctx, 0, id, 10)
			must(t, err)
			if len(slow) != 3 || slices.ContainsFunc(slow, func(x orchestrator.SlowItem) bool { return !strings.Contains(x.Why, "checked with it") }) {
				t.Errorf("on their way: %+v", slow)
			}
			end(w, id)
			w.settle()
			w.restart()
			w.settle()
			w.want(id, "draft", "1,,yes,1,1,false,false", "2,no,no,1,0,false,false", "3,,yes,1,1,false,false", "4,yes,yes,1,0,false,false", "5,,yes,1,1,false,false", "6,no,no,1,0,false,false")
			if n := w.node(id, "draft"); n.Checks != 0 || n.Inside != 0 || n.Reused != 0 || n.Failed != 0 {
				t.Errorf("in the end %d checks, %d inside, %d reused, %d failed", n.Checks, n.Inside, n.Reused, n.Failed)
			}
			if how == "ended early" {
				return
			}
			w.play()
			w.wantState(id, store.RunDone)
			if n := w.node(id, "review"); n.OK != 6 {
				t.Errorf("%d rows have gone through the step after it", n.OK)
			}
		})
	}
}

// TestChecksOfAStepWithHeldItems: a step is stuck if it has nothing else than held items and
// those that people are checked with.
func TestChecksOfAStepWithHeldItems(t *testing.T) {
	w := newWorld(t)
	id := w.start(checked, "id,known\n1,\n2,no\n3,perhaps\n")
	w.play()
	v := w.view(id)
	if n := &v.Nodes[1]; !v.Stuck || n.Checks != 1 || !n.Stays() || !strings.Contains(v.Blocked(1), "1 item, all that is left here, held after an error") {
		t.Errorf("stuck: %t, %d checks, stays: %t, blocked %q", v.Stuck, n.Checks, n.Stays(), v.Blocked(1))
	}
	_, err := w.o.Skip(w.ctx, id, "draft")
	must(t, err)
	w.play()
	w.wantState(id, store.RunDone)
	w.want(id, "review", "1,,yes,1,1,false,false,yes,1,1,false,false", "2,no,no,1,0,false,false,yes,1,1,false,false")
}
