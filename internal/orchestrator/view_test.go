package orchestrator_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
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

// TestItemsThatBecomeSeveral counts, of steps that make none, one or several rows of an
// item, the items that went in and those that made no row, also where such a step
// follows another, and in a run that takes their rows over.
func TestItemsThatBecomeSeveral(t *testing.T) {
	const text = `
workflow: pairs
inputs: {a: {columns: [id: number]}, b: {columns: [x: number]}}
steps:
  pair:
    from: {a: stream, b: batch}
    sql: select a.id as id, b.x as x from a join b on a.id >= b.x
  low:
    from: {pair: stream, b: batch}
    sql: select pair.id as id from pair join b on pair.x > b.x
  end:
    from: {low: stream}
    sql: select id from low
`
	w := newWorld(t)
	id := w.load(orchestrator.NewRun{Text: text}, map[string]string{"a": "id\n0\n1\n2\n3\n", "b": "x\n1\n2\n3\n"})
	must(t, w.o.Start(w.ctx, id))
	want := func(id crowd.RunID) {
		t.Helper()
		v := w.view(id)
		got := make(map[string][3]int64) // in, ok, skipped
		for i, n := range v.Nodes {
			got[n.Name] = [3]int64{v.Taken(i), n.OK, n.Skipped}
		}
		// pair makes no row of 0, one of 1, two of 2 and three of 3. The items 2 and 3 are
		// no more; 0 goes on as skipped. low makes two rows of one with x = 3.
		if want := map[string][3]int64{"a": {4, 4, 0}, "b": {3, 3, 0}, "pair": {4, 6, 1}, "low": {7, 4, 4}, "end": {8, 4, 4}}; !maps.Equal(got, want) {
			t.Errorf("%s: in, ok and skipped are %v, want %v", id, got, want)
		}
	}
	w.play()
	want(id)
	want(id) // from what was counted
	again, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: text, Parent: id, From: "end"})
	must(t, err)
	must(t, w.o.Start(w.ctx, again.Run.ID))
	w.play()
	want(again.Run.ID)
}

// TestAViewAddsUpWhenAnythingComesMeanwhile: whenever an answer comes, or the last one, while a run is
// looked at, what is shown of a step adds up: the answers that its batch wants are those that have
// come, those in hand and those that wait; who has nothing left to do lacks nobody.
func TestAViewAddsUpWhenAnythingComesMeanwhile(t *testing.T) {
	const text = `workflow: w
inputs: {items: {columns: [id]}}
steps:
  judge: {from: {items: stream}, crowd: {template: {kind: short_text, question: q}, reward: 0.05, redundancy: {count: 1}}}
`
	came, ended := 0, 0
	for _, items := range []int{1, 3, 5} { // three people answer at a time: one of them ends the batch at once
		for at := 1; ; at++ {
			w := newWorld(t)
			var rows strings.Builder
			rows.WriteString("id\n")
			for i := range items {
				fmt.Fprintf(&rows, "%d\n", i)
			}
			id := w.start(text, rows.String())
			w.settle()
			// Everybody holds a task, and what comes meanwhile is kept at once. The run itself goes on later.
			w.answer = func([]string) string { return "" }
			w.work()
			w.answer = func([]string) string { return "yes" }
			n := 0
			w.meanwhile = func() {
				if n++; n == at {
					w.meanwhile = nil
					w.work()
					came++
				}
			}
			v := w.view(id)
			if w.meanwhile != nil {
				break // nothing more is asked
			}
			x := &v.Nodes[1]
			p := &x.Batch.Progress
			if p.State.Ended() {
				ended++
			}
			if p.Planned != p.Completed+x.InHand+x.Offered {
				t.Errorf("%d items, question %d: %s, planned %d, completed %d, in hand %d, offered %d", items, at, p.State, p.Planned, p.Completed, x.InHand, x.Offered)
			}
			if p.State.Open() == (x.Crowd.Wanted == 0) || x.Lacking() || x.EndedEarly || x.Reused != 0 || x.Checks != 0 {
				t.Errorf("%d items, question %d: %s, people %+v, ended early %t, reused %d, checks %d", items, at, p.State, x.Crowd, x.EndedEarly, x.Reused, x.Checks)
			}
			w.settle()
			if v := w.view(id); v.Nodes[1].Last+v.Nodes[1].Inside+v.Nodes[1].Waiting != int64(items) {
				t.Errorf("afterwards, %d items are %+v", items, v.Nodes[1])
			}
		}
	}
	if came < 6 || ended == 0 {
		t.Errorf("an answer came %d times, and the batch was over %d times", came, ended)
	}
}
