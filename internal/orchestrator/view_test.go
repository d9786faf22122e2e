package orchestrator_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestManyStepsAreAskedAboutOnce: a view asks the
// store and the pool as often of many crowd steps as of two.
func TestManyStepsAreAskedAboutOnce(t *testing.T) {
	questions := func(steps int) int {
		w := newWorld(t)
		w.answer = func([]string) string { return "" }
		text := "workflow: w\ninputs: {items: {columns: [id]}}\nsteps:\n"
		for i := range steps {
			text += fmt.Sprintf("  s%d: {from: items, crowd: {template: {kind: short_text, question: q}, reward: 0.05}}\n", i)
		}
		text += strings.ReplaceAll("  late: {from: s0, crowd: T}\n  later: {from: s1, crowd: T}\n", "T", "{template: {kind: short_text, question: q}, reward: 0.05}")
		id := w.start(text, "id\n1\n")
		w.play()
		n := 0
		w.asked, w.store.batches, w.store.fail = 0, 0, func(string) error { n++; return nil }
		v := w.view(id)
		if b := v.Nodes[steps].Batch; b == nil || b.Spec.Tasks != 1 {
			t.Errorf("the batch of the step is %+v", b)
		}
		if v.Nodes[1].Crowd.Wanted != 1 || v.Nodes[steps+1].Crowd.Wanted != 1 {
			t.Errorf("the people of a step with a batch are %+v, of one without %+v", v.Nodes[1].Crowd, v.Nodes[steps+1].Crowd)
		}
		return n + w.asked + w.store.batches
	}
	if few, many := questions(2), questions(40); many != few {
		t.Errorf("a view of 2 steps takes %d questions, of 40 steps %d", few, many)
	}
}
