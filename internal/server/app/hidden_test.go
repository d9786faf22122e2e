package app_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// TestKnownAnswersOfEarlierVersions: a step's batch that was made by a version that showed
// the known answers of other steps goes on, and its tasks are shown without them, unless the
// step reveals them.
func TestKnownAnswersOfEarlierVersions(t *testing.T) {
	t.Parallel()
	const text = `
workflow: again
inputs: {things: {columns: [id, thing, known], open: true}}
steps:
  again: {from: {things: stream}, crowd: {REVEALtemplate: {kind: choose_one, options: ["yes", "no"]}, reward: 0.01}}
  asked: {from: {again: stream}, crowd: {template: {kind: choose_one, show: [thing], options: ["yes", "no"]}, reward: 0.01, truth: known}}
`
	columns := []string{"id", "thing", "known"}
	for _, x := range []struct{ reveal, template string }{
		{"", `{"kind": "choose_one", "options": ["yes", "no"]}`},
		{"", `{"kind": "choose_one", "show": ["id", "known", "thing"], "options": ["yes", "no"]}`},
		{"reveal: true, ", `{"kind": "choose_one", "options": ["yes", "no"]}`},
	} {
		w := newWorld(t, 1)
		id := must(w.Runs.Make(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: strings.Replace(text, "REVEAL", x.reveal, 1)}))(t).Run.ID
		must(w.Runs.Start(w.ctx, w.ann, id, false))(t)
		nodes := must(w.store.Nodes(w.ctx, id))(t)
		n := nodes[slices.IndexFunc(nodes, func(n store.Node) bool { return n.Name == "again" })]
		n.State = store.NodeRunning
		old := store.Batch{
			Pool: w.pool, Name: "again: again", Run: id, Node: n.Node, Template: []byte(x.template), Columns: columns, CreatedAt: w.clock.now(),
			Progress: engine.Progress{State: crowd.BatchDraft},
			Spec:     engine.Spec{Tenant: w.a, Rule: label.Count(1), Reward: crowd.Unit / 100, Priority: engine.DefaultPriority, Lease: engine.DefaultLease, TaskTime: engine.DefaultTaskTime, Open: true, TellsWho: true},
		}
		must(w.store.Advance(w.ctx, &store.Advance{Run: id, Create: &old, Nodes: []store.Node{n}}))(t)
		w.reopen()
		must(w.Runs.AddRows(w.ctx, w.ann, id, orchestrator.NewRows{Input: "things", File: file(t, "id,thing,known\n7,cat,yes\n"), Feed: "f"}))(t)
		var shown []string
		w.until(func() bool {
			task := must(w.Work.Next(w.ctx, w.workers[0], 0))(t)
			if task == nil {
				return false
			}
			if b := w.batch(task.Batch); b.Name != old.Name || !slices.Equal(b.Columns, columns) {
				t.Fatalf("the task is of %s, with the columns %v", b.Name, b.Columns)
			}
			shown = task.Values.Values().Columns
			if got := task.Values.Values().Get("known"); (got == "yes") != (x.reveal != "") || task.Values.Values().Get("thing") != "cat" {
				t.Errorf("%q, %s: the task is shown with %+v", x.reveal, x.template, task.Values.Values())
			}
			for _, cell := range task.Template.Render(task.Values).Cells {
				if cell.Text == "yes" != (x.reveal != "" && cell.Column == "known") {
					t.Errorf("%q, %s: a cell is %+v", x.reveal, x.template, cell)
				}
			}
			return true
		})
		if slices.Contains(shown, "known") != (x.reveal != "") || !slices.Contains(shown, "thing") {
			t.Errorf("%q: shown are the columns %v", x.reveal, shown)
		}
	}
}
