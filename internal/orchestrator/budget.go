package orchestrator

import (
	"context"
	"fmt"
	"math"

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

// oneTask is what one more task of a batch may cost, and the checks that go with it.
func oneTask(b *store.Batch) crowd.Money {
	if cost, ok := b.Spec.MostCost(b.Progress.Tasks, b.Progress.Tasks+1); ok {
		return cost
	}
	return math.MaxInt64 // nobody has so much
}

// left is what of a run's budget is neither spent nor reserved, given all its batches.
func left(r *store.Run, all []store.Batch) crowd.Money {
	sum := r.Budget
	for i := range all {
		sum -= committed(&all[i])
	}
	return sum
}

// overBudget reports whether a batch spends its run's budget, which does not pay for
// one more of its tasks.
func overBudget(r *store.Run, all []store.Batch, b *store.Batch) bool {
	return r.Budget > 0 && !b.HasBudget() && oneTask(b) > left(r, all)
}

// OwnBudget is how errors name what a step may spend by a budget of its own, all of which
// it reserves when it begins.
const OwnBudget = "the step's own budget"

// Affords checks that the budget of a run, if it has one, has an amount left that a batch
// of its reserves for something. A batch without a run (0) has none to pass.
func Affords(ctx context.Context, st store.Flows, id crowd.RunID, amount crowd.Money, what string) error {
	if id == 0 || amount == 0 {
		return nil
	}
	run, err := st.Run(ctx, 0, id)
	if err != nil || run.Budget == 0 {
		return err
	}
	all, err := st.RunBatches(ctx, id)
	if err != nil {
		return err
	}
	return affords(&run, all, amount, what)
}

func affords(r *store.Run, all []store.Batch, amount crowd.Money, what string) error {
	left := left(r, all)
	if amount <= left {
		return nil
	}
	return &crowd.Error{Code: crowd.BudgetTooSmall, Field: "budget",
		Message: fmt.Sprintf("not enough for %s (%s): the run may spend %s, of which %s is neither spent nor reserved for open tasks; %s more is needed", what, amount, r.Budget, max(left, 0), amount-left)}
}

// affordable cuts the tasks to those that the run's budget pays for.
func (r *run) affordable(ctx context.Context, b *store.Batch, tasks []store.Task) ([]store.Task, error) {
	if r.kept.Budget == 0 || b.HasBudget() {
		return tasks, nil
	}
	all, err := r.o.cfg.Store.RunBatches(ctx, r.kept.ID)
	if err != nil {
		return nil, err
	}
	one := oneTask(b)
	if err := affords(&r.kept, all, one, "one more task"); err != nil {
		return nil, err
	}
	most := left(&r.kept, all)
	n := min(int64(len(tasks)), int64(most/one))
	for n > 1 { // some bring one check more than others
		if cost, ok := b.Spec.MostCost(b.Progress.Tasks, b.Progress.Tasks+uint32(n)); ok && cost <= most {
			break
		}
		n--
	}
	return tasks[:n], nil
}

// Unpaid returns what keeps the last tasks of a run's batch from people: that nobody pays
// for them; "" if they have them all. over reports whether it is the run's budget that
// is used up, and not the account of its tenant.
func Unpaid(ctx context.Context, st store.Flows, b *store.Batch) (why string, over bool, err error) {
	if b.Run == 0 || b.Spec.Tasks <= b.Progress.Tasks || !b.Progress.State.Open() {
		return "", false, nil
	}
	nodes, err := st.Nodes(ctx, b.Run)
	if err != nil || nodes[b.Node].Error == "" {
		return "", false, err
	}
	run, err := st.Run(ctx, 0, b.Run)
	if err != nil {
		return "", false, err
	}
	all, err := st.RunBatches(ctx, b.Run)
	return nodes[b.Node].Error, overBudget(&run, all, b), err
}

// Spent is what the run has paid for answers.
func (v *View) Spent() (sum crowd.Money) {
	for i := range v.batches {
		sum += v.batches[i].Progress.Spent
	}
	return sum
}

// Reserved is what the run keeps for the tasks that people have or will get.
func (v *View) Reserved() (sum crowd.Money) {
	for i := range v.batches {
		sum += v.batches[i].Progress.Escrow
	}
	return sum
}

// OverBudget reports whether a crowd step waits since the run's budget does not pay
// for its own budget, or for one more task.
func (v *View) OverBudget(n *NodeView) bool {
	switch {
	case v.State.Ended() || n.Error == "" || !n.isCrowd():
		return false
	case n.Batch == nil || n.Batch.Progress.State == crowd.BatchDraft:
		return v.Budget > 0 && n.Step.Crowd().Budget > left(&v.Run, v.batches)
	}
	return overBudget(&v.Run, v.batches, n.Batch)
}

func (n *NodeView) isCrowd() bool { return n.Step != nil && n.Step.Crowd() != nil }

// WaitsForMoney reports whether a crowd step waits until its budget, the run's or its
// tenant's account pays for more.
func (n *NodeView) WaitsForMoney() bool {
	return n.isCrowd() && n.State == store.NodeRunning && n.Error != "" && n.Error != n.wait.Why
}
