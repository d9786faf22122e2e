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

// TestWhoWasCheckedDoesNotReview: whoever answered a row as a check is not given it at a step
// that is for others, whatever restarts in between, also in a run that goes on from there; and
// a step for whose rows nobody is left says so.
func TestWhoWasCheckedDoesNotReview(t *testing.T) {
	w := newWorld(t)
	text := strings.Replace(checked, "  review: {from: {draft: stream}, crowd: {", "  review: {from: {draft: stream}, crowd: {not_by: [draft], ", 1)
	id := w.start(text, "id,known\n1,\n2,\n3,\n4,\n5,\n6,\n7,\n8,\n9,\n10,no\n11,yes\n12,no\n")
	w.settle()
	people := w.people
	w.people = people[:2] // who are checked
	w.play()
	w.people = people
	w.restart()
	w.play()
	drafts, reviews := w.by(id, "draft"), w.by(id, "review")
	were := 0
	for _, known := range []string{"10", "11", "12"} {
		were += len(drafts[known])
		for _, who := range reviews[known] {
			if slices.Contains(drafts[known], who) {
				t.Errorf("%s was answered as a check by %v and reviewed by %v", known, drafts[known], who)
			}
		}
		if len(reviews[known]) != 1 {
			t.Errorf("%s was reviewed by %v", known, reviews[known])
		}
	}
	if were == 0 {
		t.Fatal("nobody was checked: nothing was tested")
	}
	w.wantState(id, store.RunDone)

	again := w.load(orchestrator.NewRun{Text: text, Parent: id, From: "review", AskAgain: true}, nil)
	must(t, w.o.Start(w.ctx, again))
	w.people = people[:2]
	w.play()
	for _, known := range []string{"10", "11", "12"} {
		if by := w.by(again, "review")[known]; len(drafts[known]) == 2 && len(by) > 0 || len(by) > 0 && slices.Contains(drafts[known], by[0]) {
			t.Errorf("%s was answered as a check by %v and, in the next run, reviewed by %v", known, drafts[known], by)
		}
	}
}

// TestNobodyIsLeftForAChecksRow: where everybody has answered a row as a check, a step that is
// for others says that nobody is left, and a condition has such rows pass it by.
func TestNobodyIsLeftForAChecksRow(t *testing.T) {
	const rows = "id,known\n1,\n2,\n3,\n4,\n5,\n6,\n7,\n8,\n9,\n10,\n11,\n12,\n13,\n14,\n15,\n16,no\n"
	for when, state := range map[string]store.RunState{"": store.RunRunning, "when: draft_answers > 0, ": store.RunDone} {
		w := newWorld(t)
		text := strings.Replace(checked, "  review: {from: {draft: stream}, crowd: {", "  review: {from: {draft: stream}, "+when+"crowd: {not_by: [draft], ", 1)
		id := w.start(text, rows)
		w.play()
		if by := w.by(id, "draft")["16"]; len(by) != len(w.people) {
			t.Fatalf("only %v were checked: nothing is tested", by)
		}
		w.wantState(id, state)
		if why := w.view(id).Blocked(2); strings.Contains(why, "already had the 1 task left, or answered the same in draft") != (when == "") {
			t.Errorf("%q: the step is blocked because %q", when, why)
		}
	}
}
