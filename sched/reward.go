package sched

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// byReward gives its inner policy the reward as the priority of a batch: whoever pays
// twice as much per task weighs twice as much ("the priority value is proportional to
// the price", Section 3.1). The priority that the requester has set does not count.
type byReward struct{ inner Policy }

// rewardUnit is the reward that makes a priority of 1.
const rewardUnit = crowd.Unit / 100

const byRewardPrefix = "by-reward("

const byRewardWords = "the reward is the priority, in hundredths of the currency"

// NewByReward wraps a policy so that a batch's priority is its reward in hundredths of
// the currency: 5 for 0.05. Beyond MinPriority and MaxPriority it is the nearer of them.
func NewByReward(inner Policy) Policy { return &byReward{inner} }

func (p *byReward) Name() string { return byRewardPrefix + p.inner.Name() + ")" }

func (p *byReward) within() Policy { return p.inner }

func (p *byReward) Set(b *Batch) {
	priced := *b
	priced.Priority = clampWeight(float64(b.Reward) / float64(rewardUnit))
	p.inner.Set(&priced)
}

func (p *byReward) Remove(id crowd.BatchID) { p.inner.Remove(id) }

func (p *byReward) Next(now time.Time, w Worker) crowd.BatchID { return p.inner.Next(now, w) }

func (p *byReward) Key(id crowd.BatchID) (Key, bool) {
	inner, known := p.inner.Key(id)
	if !known {
		return Key{}, false
	}
	k := inner
	k.Policy, k.Inner = p.Name(), &inner
	k.Words, k.Figures = byRewardWords+"; then the inner order", nil
	return k, true
}

var _ Policy = (*byReward)(nil)
