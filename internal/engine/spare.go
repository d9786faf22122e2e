package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Spare is what the budget of a running batch holds beyond the most that it can still
// cost; 0 of a batch that is not running.
func (e *Engine) Spare(id crowd.BatchID) crowd.Money {
	if b := e.batches[id]; b != nil {
		return b.spare()
	}
	return 0
}

// spare is what of the budget nothing can be paid from any more.
func (b *batch) spare() crowd.Money {
	most, ok := b.most(&b.spec)
	if !ok {
		return 0
	}
	return max(b.escrow-most-b.lateExtra(), 0)
}

// lateExtra is what late answers can cost on top of the reward for which most counts
// them: who lost a task that paid more is paid what they were promised, if their answer
// still counts.
func (b *batch) lateExtra() (extra crowd.Money) {
	if len(b.past) == 0 {
		return 0
	}
	var more []crowd.Money
	for _, t := range b.openTasks() {
		slots := b.backlog.capped(b.spec.Rule, t.n).Most() - int(t.counted+t.live)
		if slots <= 0 || t.removed {
			continue
		}
		more = more[:0]
		for _, a := range t.given[t.counted:] {
			if a.state != crowd.Assigned && a.state.May(crowd.Submitted) && a.reward() > b.spec.Reward {
				more = append(more, a.reward()-b.spec.Reward)
			}
		}
		slices.SortFunc(more, func(x, y crowd.Money) int { return cmp.Compare(y, x) })
		for _, m := range more[:min(slots, len(more))] {
			extra += m
		}
	}
	return extra
}

// releaseSpare returns to the tenant what of b's budget nothing can be paid from any more.
func (e *Engine) releaseSpare(now time.Time, b *batch) {
	if b.state.Ended() {
		return // all of it went back
	}
	spare := b.spare()
	b.escrow -= spare
	e.transfer(now, Release, Account{BatchAccount, int64(b.spec.ID)}, Account{TenantAccount, int64(b.spec.Tenant)}, spare, 0)
	e.touch(now, b, nil)
}
