package orchestrator_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
)

// TestLabelsOfAnotherTaskAreNotReused asks people again when they are asked
// something else.
func TestLabelsOfAnotherTaskAreNotReused(t *testing.T) {
	w := newWorld(t)
	text := "workflow: w\ninputs: {items: {columns: [id]}}\nsteps:\n  ask: {from: items, " + choose + "}\n"
	first := w.start(text, "id\n1\n2\n")
	w.play()
	second := w.load(orchestrator.NewRun{Text: strings.Replace(text, `"?"`, `"Really?"`, 1), Parent: first}, nil)
	must(t, w.o.Start(w.ctx, second))
	w.play()
	w.wantState(second, store.RunDone)
	if w.answers != 4 {
		t.Errorf("%d answers, want 4", w.answers)
	}
}

// TestCellsAreComparedOneByOne: "ab" and "c" are another task than "a" and "bc".
func TestCellsAreComparedOneByOne(t *testing.T) {
	w := newWorld(t)
	text := `workflow: w
inputs: {items: {columns: [id]}}
steps:
  cut: {from: {items: stream}, sql: "select 'ab' as x, 'c' as y from items"}
  ask: {from: cut, crowd: {template: {kind: choose_one, question: "?", options: ["yes", "no"], show: [x, y]}, reward: 0.10}}
`
	first := w.start(text, "id\n1\n")
	w.play()
	w.wantState(first, store.RunDone)
	answers := w.answers
	for next, want := range map[string]int{text: 0, strings.Replace(text, "'ab' as x, 'c' as y", "'a' as x, 'bc' as y", 1): answers} {
		before := w.answers
		id := w.load(orchestrator.NewRun{Text: next, Parent: first}, nil)
		must(t, w.o.Start(w.ctx, id))
		w.play()
		w.wantState(id, store.RunDone)
		if got := w.answers - before; got != want || answers == 0 {
			t.Errorf("%d more answers, want %d, to the tasks of\n%s", got, want, next)
		}
	}
}
