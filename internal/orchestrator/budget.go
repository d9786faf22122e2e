package orchestrator

import (
	"context"
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// TopUp raises what a run with a budget may spend, and returns it as it is then. Its
// steps that wait for it go on.
func (o *Orchestrator) TopUp(ctx context.Context, id crowd.RunID, amount crowd.Money) (topped store.Run, err error) {
	err = o.modify(ctx, id, func(r *run) error {
		if r.kept.Budget == 0 {
			return crowd.Errorf(crowd.Conflict, "%s has no budget of its own: it spends what its tenant's account has", id)
		}
		if amount <= 0 || amount > crowd.MaxMoney-r.kept.Budget {
			return crowd.Fieldf("amount", "%s is not an amount to add (more than 0, and the budget at most %s)", amount, crowd.MaxMoney)
		}
		kept := r.kept
		kept.Budget += amount
		topped = kept
		return r.commitState(ctx, kept)
	})
	return topped, err
}

// committed is what a batch has spent of its run's budget, and may still spend.
func committed(b *store.Batch) crowd.Money { return b.Progress.Spent + b.Progress.Escrow }

// oneTask is what one more task of a batch may cost; ok is false if nobody has so
// much.
func oneTask(b *store.Batch) (cost crowd.Money, ok bool) {
	return b.Spec.Reward.Times(int64(b.Spec.Rule.Most()))
}

// affordable cuts the tasks to those that the run's budget pays for.
func (r *run) affordable(ctx context.Context, b *store.Batch, tasks []store.Task) ([]store.Task, error) {
	if r.kept.Budget == 0 || b.Spec.Budget > 0 {
		return tasks, nil
	}
	all, err := r.o.cfg.Store.RunBatches(ctx, r.kept.ID)
	if err != nil {
		return nil, err
	}
	left := r.kept.Budget
	for i := range all {
		left -= committed(&all[i])
	}
	one, ok := oneTask(b)
	if !ok || one > left {
		return nil, &crowd.Error{Code: crowd.BudgetTooSmall, Field: "budget",
			Message: fmt.Sprintf("the run may spend %s, of which %s is left: not enough for one more task (%s)", r.kept.Budget, max(left, 0), one)}
	}
	return tasks[:min(int64(len(tasks)), int64(left/one))], nil
}

// Spent is what the run has paid for answers.
func (v *View) Spent() (sum crowd.Money) {
	for i := range v.Nodes {
		if b := v.Nodes[i].Batch; b != nil {
			sum += b.Progress.Spent
		}
	}
	return sum
}

// OverBudget reports whether a crowd step waits since the run's budget does not pay
// for one more task.
func (v *View) OverBudget(n *NodeView) bool {
	if n.Error == "" || n.Batch == nil || n.Batch.Spec.Budget > 0 || v.Budget == 0 || v.State.Ended() {
		return false
	}
	left := v.Budget
	for i := range v.Nodes {
		if b := v.Nodes[i].Batch; b != nil {
			left -= committed(b)
		}
	}
	one, ok := oneTask(n.Batch)
	return !ok || one > left
}
