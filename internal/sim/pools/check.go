package pools

import (
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/queueing"
)

// audit keeps books of its own from what the engines say has changed, and holds
// them against the engines and the world.
type audit struct {
	pools  []poolAudit
	looked looked
}

// looked counts what the audit has looked at.
type looked struct {
	calls, loans, recalls, exchanges int
	both                             int // steps at which a pool's people come to belong elsewhere, and others of them are let go
	chosen                           int // people who were not called home when others were
	releases, returned               int // returned: of people who had moved before
	quits                            int // of people who were lent
	replaced                         int // steps at which a pool is told that somebody whom it had lent has left
	leaving                          int // people who at the end hold the task after which they leave
	short                            int // steps at which a pool has fewer than its Min, and people elsewhere
}

type poolAudit struct {
	balance map[engine.Account]crowd.Money
	on      map[crowd.WorkerID]bool
	holds   map[crowd.WorkerID]crowd.AssignmentID

	left     int              // people who belong to the pool and left by themselves since the last step, wherever they were
	leftLent int              // of them, those who were lent
	leaving  *queueing.Window // of left, by steps
	decided  int64            // when the last step was
}

func newAudit(n int) *audit {
	a := &audit{pools: make([]poolAudit, n)}
	for i := range a.pools {
		a.pools[i] = poolAudit{balance: map[engine.Account]crowd.Money{}, on: map[crowd.WorkerID]bool{}, holds: map[crowd.WorkerID]crowd.AssignmentID{}}
	}
	return a
}

// leaves books that somebody leaves by themselves: for the pool that they belong to.
func (a *audit) leaves(w *world, x *person) {
	p := &a.pools[x.home]
	p.left++
	if x.home != x.pool {
		p.leftLent++
		a.looked.quits++
	}
}

// read books what an engine has changed.
func (a *audit) read(pool int32, c *engine.Changes) error {
	p := &a.pools[pool]
	for _, n := range c.Answers {
		if p.holds[n.Worker] != n.Assignment || !n.Counted {
			return fmt.Errorf("%s answered %s (counted: %t), but holds %s", n.Worker, n.Assignment, n.Counted, p.holds[n.Worker])
		}
		delete(p.holds, n.Worker)
	}
	for _, e := range c.Ends {
		return fmt.Errorf("%s ended as %s: nobody gives up here", e.Assignment, e.State)
	}
	// Within one read somebody may come and be given something, or answer and go.
	// Nobody comes and goes.
	for _, g := range c.Shifts {
		if g.On {
			for i := range a.pools {
				if a.pools[i].on[g.Worker] {
					return fmt.Errorf("%s comes on duty, and is on duty already", g.Worker)
				}
			}
			p.on[g.Worker] = true
			continue
		}
		if held, holds := p.holds[g.Worker]; holds || !p.on[g.Worker] {
			return fmt.Errorf("%s went (%s) with %s in hand (on duty: %t)", g.Worker, g.Why, held, p.on[g.Worker])
		}
		delete(p.on, g.Worker)
	}
	for _, h := range c.Handouts {
		if old, busy := p.holds[h.Worker]; busy || !p.on[h.Worker] {
			return fmt.Errorf("%s was given %s while holding %s (on duty: %t)", h.Worker, h.Assignment, old, p.on[h.Worker])
		}
		p.holds[h.Worker] = h.Assignment
	}
	for _, t := range c.Transfers {
		if t.Amount <= 0 {
			return fmt.Errorf("a transfer of %s", t.Amount)
		}
		p.balance[t.From] -= t.Amount
		p.balance[t.To] += t.Amount
		for _, account := range []engine.Account{t.From, t.To} {
			b := p.balance[account]
			if b < 0 && (account.Kind == engine.BatchAccount || account.Kind == engine.PoolAccount || account.Kind == engine.WorkerAccount) {
				return fmt.Errorf("%s has %s", account, b)
			}
			if b == 0 {
				delete(p.balance, account)
			}
		}
	}
	return nil
}

// verify holds the books against the world, after an event of a pool (or of all).
func (a *audit) verify(w *world, pool int32) error {
	for i := range w.pools {
		if pool != everyPool && int32(i) != pool {
			continue
		}
		if err := a.verifyPool(w, i); err != nil {
			return fmt.Errorf("%s: %w", w.pools[i].Name, err)
		}
	}
	var started, joined, gone, in, out, present int64
	for i := range w.pools {
		o := &w.pools[i].books.out
		started, joined, gone = started+int64(o.Start), joined+o.Joined, gone+o.Abandoned+o.Released
		in, out, present = in+o.MovedIn, out+o.MovedOut, present+int64(len(w.pools[i].list))
	}
	if w.control != nil && (started+joined-gone != present || in != out || present != int64(len(w.people.at))) {
		return fmt.Errorf("%d people at the start, %d joined, %d gone, %d moved in and %d out, but %d are there and %d known", started, joined, gone, in, out, present, len(w.people.at))
	}
	return nil
}

func (a *audit) verifyPool(w *world, i int) error {
	p, k := &w.pools[i], &a.pools[i]
	if err := p.engine.Check(); err != nil {
		return err
	}
	var sum crowd.Money
	for account, m := range k.balance {
		sum += m
		if account.Kind == engine.BatchAccount && account.ID != int64(trainingBatch) && m != reward {
			return fmt.Errorf("%s has %s: a task's money is paid at once", account, m)
		}
	}
	if sum != 0 {
		return fmt.Errorf("the ledger sums to %s", sum)
	}
	n, o := p.engine.Counts(), &p.books.out
	funds := p.engine.RetainerFunds(w.time())
	switch {
	case k.balance[engine.Account{Kind: engine.PoolAccount, ID: int64(p.id)}] != funds.Funds:
		return fmt.Errorf("the retainer has %s, the ledger says otherwise", funds.Funds)
	case funds.Paid != o.Cost:
		return fmt.Errorf("%s was paid for waiting, booked %s", funds.Paid, o.Cost)
	case n.OnDuty != len(p.list) || n.OnDuty != len(k.on) || n.Belong != n.OnDuty:
		return fmt.Errorf("%d of %d on duty, the world has %d, the books %d", n.OnDuty, n.Belong, len(p.list), len(k.on))
	case n.Working != len(k.holds):
		return fmt.Errorf("%d at work, by the books %d", n.Working, len(k.holds))
	case w.crowd.choice != nil && len(w.crowd.choice.people) != lists.Sum(w.crowd.asked, func(l []uint64) int { return len(l) }):
		return fmt.Errorf("%d people were chosen, and are not those who are coming", len(w.crowd.choice.people))
	case p.coming != len(w.crowd.asked[i]) || int64(p.coming) != o.Asked-o.Joined-o.Withdrawn:
		return fmt.Errorf("%d coming, of %d asked, %d here, %d withdrawn; %d on the list", p.coming, o.Asked, o.Joined, o.Withdrawn, len(w.crowd.asked[i]))
	case p.arrived-o.Completed != int64(n.Batches-p.trainingBatches()):
		return fmt.Errorf("%d tasks arrived, %d done, but %d are there", p.arrived, o.Completed, n.Batches-p.trainingBatches())
	}
	for place, who := range p.list {
		x := &w.people.list[who]
		held, holds := k.holds[x.id]
		if x.pool != int32(i) || x.place != int32(place) || w.people.at[x.id] != who || held != x.holds || holds != (x.holds != 0) || (x.leaving && !holds) {
			return fmt.Errorf("%s: in pool %d at %d, holds %s; the books say %s, leaving: %t", x.id, x.pool, x.place, x.holds, held, x.leaving)
		}
		if c, ok := p.engine.OnCall(w.time(), x.id); !ok || !c.On || (c.Leaves != "") != x.leaving || !holds != c.Waiting {
			return fmt.Errorf("%s is on duty (%t) and waits (%t), to leave as %q; leaving: %t", x.id, c.On, c.Waiting, c.Leaves, x.leaving)
		}
	}
	return nil
}

func (p *poolState) trainingBatches() int {
	if p.Training == nil {
		return 0
	}
	return 1
}
