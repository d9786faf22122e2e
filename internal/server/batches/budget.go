package batches

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
)

// Budget is what the batch may spend in all, or could: of a draft as defined, else what
// it reserved at its launch and all that was added since. It is 0 of one that has no
// budget of its own.
func (v *BatchView) Budget() crowd.Money {
	p := &v.Progress
	if p.LaunchedAt.IsZero() || !v.HasBudget() {
		return v.Spec.Budget
	}
	return p.Spent + p.Escrow + p.Released
}

// Budget returns what a batch reserves at its launch: the budget that was asked
// for, or the most that the batch can cost, and what pays at least one task.
func Budget(b *engine.Spec) (crowd.Money, error) {
	if b.Budget != 0 {
		return b.Budget, nil
	}
	most, ok := b.Reward.Times(b.MostAnswers())
	if first, _ := b.Reward.Times(int64(b.Rule.Fewest())); b.Enough != nil && b.Enough.Spent > 0 {
		if limit := max(b.Enough.Spent, first); !ok || limit < most {
			return limit, nil
		}
	}
	if !ok || most > crowd.MaxMoney {
		return 0, crowd.Fieldf("budget", "the batch can cost more than %s; set a budget", crowd.MaxMoney)
	}
	return most, nil
}

// TopUp adds to a running batch's budget from its tenant's account.
func (s *Batches) TopUp(ctx context.Context, p *access.Principal, id crowd.BatchID, amount crowd.Money) (BatchView, error) {
	if amount <= 0 || amount > crowd.MaxMoney {
		return BatchView{}, crowd.Fieldf("amount", "%s is not an amount to add (more than 0, at most %s)", amount, crowd.MaxMoney)
	}
	defer s.funds.Hold()()
	b, err := s.batch(ctx, p, access.BatchesTopUp, id)
	if err != nil {
		return BatchView{}, err
	}
	if !b.HasBudget() {
		return BatchView{}, crowd.Errorf(crowd.Conflict, "%s has no budget of its own, it spends that of %s: throng workflow top-up %s AMOUNT", id, b.Run, b.Run)
	}
	if !b.Progress.State.Open() {
		return BatchView{}, notOpen(b)
	}
	if err := orchestrator.Affords(ctx, s.store, b.Run, amount, "the amount"); crowd.CodeOf(err) == crowd.BudgetTooSmall {
		return BatchView{}, &crowd.Error{Code: crowd.BudgetTooSmall, Field: "amount", Message: fmt.Sprintf(
			"%s; pause the step's run (throng workflow pause %s), add to its budget (throng workflow top-up %s AMOUNT), add to the step's, and resume", strings.TrimPrefix(err.Error(), "budget: "), b.Run, b.Run)}
	} else if err != nil {
		return BatchView{}, err
	}
	if err := s.funds.Suffices(ctx, b.Spec.Tenant, "amount", amount); err != nil {
		return BatchView{}, err
	}
	return s.onBatch(ctx, p, access.BatchesTopUp, id, func(e *engine.Engine, now time.Time) error { return e.TopUp(now, id, amount) })
}

// unpaid fills in which tasks wait for money.
func (s *Batches) unpaid(ctx context.Context, v *BatchView) error {
	why, over, err := orchestrator.Unpaid(ctx, s.store, &v.Batch)
	if why == "" || err != nil {
		return err
	}
	if v.OverBudget = over; over {
		why = "the run's budget is used up"
	}
	v.Unpaid = format.Count(v.untold(), "task") + " not handed out: " + strings.TrimPrefix(why, "budget: ")
	if v.Reason == crowd.NoTaskYet || v.Reason == crowd.NothingWaiting {
		v.Reason = crowd.BudgetSpent
	}
	return nil
}

// untold counts the tasks of a step's batch that its pool was not told of yet.
func (v *BatchView) untold() int {
	if !v.Progress.State.Open() {
		return 0
	}
	return max(int(v.Spec.Tasks)-int(v.Progress.Tasks), 0)
}

// Planned is how many answers are wanted.
func (v *BatchView) Planned() int { return v.Progress.Planned + v.untold()*v.Spec.Rule.Fewest() }
