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
	return max(b.escrow-most-b.returnedExtra(), 0)
}

// returnedExtra is what open tasks can cost on top of what most counts for them. Who
// holds one may give it back or lose it: what they were promised is then free for a late
// answer, which is paid what was promised for it, or for somebody else at the reward of now.
func (b *batch) returnedExtra() (extra crowd.Money) {
	if len(b.past) == 0 {
		return 0 // all are paid alike
	}
	var rewards []crowd.Money
	for _, t := range b.openTasks() {
		if t.removed {
			continue
		}
		wanted := b.rule(t.n).Most() - int(t.counted)
		counted := b.spec.Reward * crowd.Money(max(wanted-int(t.live), 0)) // by most
		rewards = rewards[:0]
		for _, a := range t.given[t.counted:] {
			switch {
			case a.state == crowd.Assigned:
				counted += a.reward()
			case !a.state.May(crowd.Submitted):
				continue
			}
			rewards = append(rewards, a.reward())
		}
		extra += max(b.dearest(wanted, rewards)-counted, 0)
	}
	return extra
}

// dearest is the most that n more answers to a task can cost, where some may be paid the
// rewards, which it sorts, and any the reward of now.
func (b *batch) dearest(n int, rewards []crowd.Money) (cost crowd.Money) {
	slices.SortFunc(rewards, func(x, y crowd.Money) int { return cmp.Compare(y, x) })
	for i := range n {
		reward := b.spec.Reward
		if i < len(rewards) {
			reward = max(reward, rewards[i])
		}
		cost += reward
	}
	return cost
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
