package runs

import (
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
)

// CorrectedRemedy says what becomes of the labels of a run that were corrected, and names the command that does it anew, if
// that is what is to be done; "": there are none.
func CorrectedRemedy(v *orchestrator.View) string {
	why := v.CorrectedRemedy()
	if !v.Redoable() {
		return why
	}
	if why != "" {
		why += "; "
	}
	return why + fmt.Sprintf("to do it anew with the right labels, for which people may be asked and paid again: throng workflow redo %s", v.ID)
}

// AddToBudget names the command that adds to the budget, the run's or the batch's own,
// for which a crowd step waits; "" if it waits for none.
func AddToBudget(v *orchestrator.View, n *orchestrator.NodeView) string {
	switch {
	case v.OverBudget(n):
		return fmt.Sprintf("to add to it: throng workflow top-up %s AMOUNT", v.ID)
	case n.Reason == crowd.BudgetSpent:
		return fmt.Sprintf("to add to it: throng batch top-up %s AMOUNT", n.Batch.Spec.ID)
	}
	return ""
}
