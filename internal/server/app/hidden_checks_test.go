package app_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/orchestrator"
)

// TestChecksAreNotToldByLaterSteps: rows that are checks of a step go on with their known
// answers as labels. Who gets one at the next step sees nothing that tells it, unless that step
// reveals it.
func TestChecksAreNotToldByLaterSteps(t *testing.T) {
	t.Parallel()
	const text = `
workflow: checked
inputs: {things: {columns: [id, known], open: true}}
steps:
  draft: {from: {things: stream}, crowd: {template: {kind: choose_one, show: [id], options: ["yes", "no"]}, reward: 0.01, truth: known, checks: {first: 0.5}}}
  review: {from: {draft: stream}, crowd: {REVEALtemplate: {kind: choose_one, options: ["yes", "no"]}, reward: 0.01}}
`
	for reveal, want := range map[string]string{"": "id", "reveal: true, ": "id known draft draft_confidence draft_answers draft_undecided draft_tie"} {
		w := newWorld(t, 1)
		id := must(w.Runs.Make(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: strings.Replace(text, "REVEAL", reveal, 1)}))(t).Run.ID
		must(w.Runs.Start(w.ctx, w.ann, id, false))(t)
		must(w.Runs.AddRows(w.ctx, w.ann, id, orchestrator.NewRows{Input: "things", File: file(t, "id,known\n1,\n2,\n3,\n4,no\n"), Feed: "f"}))(t)
		must(w.Runs.SealInputs(w.ctx, w.ann, id, "things"))(t) // they go on when the job has ended
		w.until(func() bool {
			held := must(w.Work.Next(w.ctx, w.workers[0], 0))(t)
			if held == nil {
				return false
			}
			values := held.Values.Values()
			if !strings.HasSuffix(w.batch(held.Batch).Name, ": review") || values.Get("id") != "4" {
				must(w.submit(w.workers[0], held.Assignment, yes))(t)
				return false
			}
			if got := strings.Join(values.Columns, " "); got != want {
				t.Errorf("%q: the task has the columns %s, want %s: %v", reveal, got, want, values.Cells)
			}
			if told := values.Get("draft") == "no" && values.Get("draft_answers") == "0"; told != (reveal != "") {
				t.Errorf("%q: the task is shown with %+v", reveal, values)
			}
			return true
		})
	}
}
