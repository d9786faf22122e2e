package batches

import (
	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// Budget is what the batch may spend in all: of a draft as defined, else what it reserved
// at its launch and all that was added since.
func (v *BatchView) Budget() crowd.Money {
	p := &v.Progress
	if p.State == crowd.BatchDraft {
		return v.Spec.Budget
	}
	atFirst, _ := Budget(&v.Spec) // it was launched, so there is one
	return max(atFirst, p.Spent+p.Escrow+p.Released)
}

// Budget returns what a batch reserves at its launch: the budget that was asked
// for, or the most that the batch can cost.
func Budget(b *engine.Spec) (crowd.Money, error) {
	if b.Budget != 0 {
		return b.Budget, nil
	}
	most, ok := b.Reward.Times(int64(b.Rule.Most()) * int64(b.Tasks))
	if !ok || most > crowd.MaxMoney {
		return 0, crowd.Fieldf("budget", "the batch can cost more than %s; set a budget", crowd.MaxMoney)
	}
	return most, nil
}
