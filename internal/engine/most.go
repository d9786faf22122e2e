package engine

import (
	"cmp"
	"slices"

	"github.com/throng-dev/throng/crowd"
)

// most is the most that b can still cost if it becomes next, which may have more tasks. What
// people hold is paid, also where Enough.Spent was lowered below it; beyond that, nothing is
// handed out, and no late answer counts, that would cost more than Enough.Spent.
func (b *batch) most(next *Spec) (crowd.Money, bool) { return b.mostWith(next, b.openTasks()) }

// mostWith is most with other open tasks than b has.
func (b *batch) mostWith(next *Spec, tasks []*task) (crowd.Money, bool) {
	answers := int64(next.Tasks-b.spec.Tasks) * int64(next.Rule.Most())
	if b.checks != nil {
		answers += max(next.checkRoom()-int64(b.checks.given), 0) + max(next.lessonRoom(b.checks.most)-int64(b.checks.taught), 0)
	}
	b.eachUntouched(func(n uint32, tasks int) {
		answers += int64(tasks) * int64(b.backlog.capped(next.Rule, n).Most())
	})
	open := crowd.Money(0)
	var rewards []crowd.Money
	for _, t := range tasks {
		open = min(open+b.mostOf(t, next, &rewards), crowd.MaxMoney+1)
	}
	cost, ok := next.Reward.Times(answers)
	most, ok := open+cost, ok && cost <= crowd.MaxMoney-open
	if x := next.Enough; x != nil && x.Spent > 0 {
		if limit := max(x.Spent-b.spent, b.promised); !ok || limit < most {
			return limit, true
		}
	}
	return most, ok
}

// mostOf is the most that an open task can still cost if b becomes next. Who holds it may
// give it back or lose it: what they were promised is then free for a late answer, which
// is paid what was promised for it, or for somebody else at the reward of next. What
// people hold beyond the rule of next is paid, too, if that is more. buffer is memory for
// rewards.
func (b *batch) mostOf(t *task, next *Spec, buffer *[]crowd.Money) crowd.Money {
	held, rewards := crowd.Money(0), (*buffer)[:0]
	for _, a := range t.given[t.counted:] {
		switch {
		case a.live():
			held += a.reward()
		case !a.state.May(crowd.Submitted):
			continue
		}
		rewards = append(rewards, a.reward())
	}
	*buffer = rewards
	if t.isCheck { // given back, it makes room for another one
		return max(held, next.Reward)
	}
	if t.removed {
		return held
	}
	return max(held, dearest(b.backlog.capped(next.Rule, t.n).Most()-int(t.counted), rewards, next.Reward))
}

// dearest is the most that n more answers to a task can cost, where some may be paid the
// rewards, which it sorts, and any the reward of now.
func dearest(n int, rewards []crowd.Money, now crowd.Money) (cost crowd.Money) {
	slices.SortFunc(rewards, func(x, y crowd.Money) int { return cmp.Compare(y, x) })
	for i := range n {
		reward := now
		if i < len(rewards) {
			reward = max(reward, rewards[i])
		}
		cost += reward
	}
	return cost
}

// missing is what the budget lacks for b to become next. It is 0 where that makes
// nothing more expensive: a budget that never sufficed for everything may stay so.
func (b *batch) missing(next *Spec) (crowd.Money, error) {
	before, fits := b.most(&b.spec)
	after, ok := b.most(next)
	switch {
	case !ok:
		return 0, crowd.Fieldf("budget", "the batch can cost more than %s then", crowd.MaxMoney)
	case fits && after <= before:
		return 0, nil
	}
	return max(after-b.escrow, 0), nil
}

// Missing is what the budget of a running batch lacks for an edit.
func (e *Engine) Missing(id crowd.BatchID, edit *Edit) (crowd.Money, error) {
	b, err := e.launched(id)
	if err != nil {
		return 0, err
	}
	next := edit.of(b.spec)
	return b.missing(&next)
}

// MissingFor is what the budget of a running batch lacks for more tasks.
func (e *Engine) MissingFor(id crowd.BatchID, tasks uint32) (crowd.Money, error) {
	b, err := e.launched(id)
	if err != nil {
		return 0, err
	}
	next := b.spec
	next.Tasks += tasks
	return b.missing(&next)
}

// ErrBudget is the error of a change for which an amount is missing in the budget.
func ErrBudget(missing crowd.Money) error { return tooLittle("budget", missing) }

// tooLittle is the error of a change that the budget does not suffice for.
func tooLittle(field string, missing crowd.Money) error {
	return &crowd.Error{Code: crowd.BudgetTooSmall, Field: field,
		Message: missing.String() + " is missing in the budget for what this can cost at most: add it first, or with the change"}
}
