package runs

import (
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
)

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
