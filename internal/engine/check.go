package engine

import (
	"cmp"
	"fmt"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Check verifies what must hold between any two commands, and returns the
// first breach. It reads everything: for tests, simulations that ask for it,
// and "throng doctor".
func (e *Engine) Check() error {
	for _, b := range e.sortedBatches() {
		if err := b.check(); err != nil {
			return fmt.Errorf("%s: %w", b.spec.ID, err)
		}
	}
	held := 0
	for id, w := range e.workers {
		if w.holds != nil {
			held++
			if w.holds.state != crowd.Assigned || !w.lease.on || w.waiting {
				return fmt.Errorf("%s holds %s, which is %s (lease set %t, waiting %t)", id, w.holds.id(), w.holds.state, w.lease.on, w.waiting)
			}
		}
	}
	for _, b := range e.batches {
		for _, a := range b.log.list {
			if a != nil && a.state == crowd.Assigned {
				held--
			}
		}
	}
	if held != 0 {
		return fmt.Errorf("%d tasks in hand are not kept", held)
	}
	if err := cmp.Or(e.checkGrace(), e.checkDuty()); err != nil {
		return err
	}
	if err := e.checkHeld(); err != nil {
		return err
	}
	return e.checkNobodyIdles()
}

// checkHeld verifies that the times of people that tenants have are those that the pool
// has.
func (e *Engine) checkHeld() error {
	var sum time.Duration
	running := make(map[crowd.TenantID]int)
	for _, b := range e.batches {
		if !b.spec.Training {
			running[b.spec.Tenant] += b.inHand()
		}
	}
	for id, t := range e.tenants {
		sum += t.held.until(e.elapsed, running[id])
	}
	if sum != e.counters.Worked {
		return fmt.Errorf("people have held tasks of the tenants for %s, and worked for %s", sum, e.counters.Worked)
	}
	return nil
}

// checkDuty verifies that the people on duty, at work and paid for waiting are
// those who are counted, and that the account holds no less than nothing.
func (e *Engine) checkDuty() error {
	present, busy, learning, queued, served := 0, 0, 0, 0, 0
	p := &e.wages
	paid, begun, rests := int64(0), int64(0), int64(0)
	for id, w := range e.workers {
		if w.on {
			present++
		}
		if w.holds != nil {
			busy++
			if w.holds.task.batch.spec.Training {
				learning++
			}
		}
		if w.waiting {
			queued++
		}
		switch {
		case (w.holds != nil || w.waiting) && !w.on:
			return fmt.Errorf("%s holds something (%t) or waits (%t) off duty", id, w.holds != nil, w.waiting)
		case w.on && w.suspended && w.holds == nil:
			return fmt.Errorf("%s is suspended and on duty", id)
		case w.leaves != "" && w.holds == nil:
			return fmt.Errorf("%s is about to go (%s), but nothing keeps them", id, w.leaves)
		case w.on && w.holds == nil && !w.waiting && w.lease.on != (e.retainer.Silence > 0):
			return fmt.Errorf("%s is idle, their silence noticed: %t", id, w.lease.on)
		case w.on && w.waiting && w.lease.on:
			return fmt.Errorf("%s waits, and their silence is counted", id)
		case w.waiting && w.training > 0 && !w.outside:
			return fmt.Errorf("%s waits to learn (%d tasks), and there is nothing to learn from", id, w.training)
		}
		if w.waiting && !w.outside {
			served++
		}
		if w.waiting && !w.paidTo.IsZero() {
			paid++
			begun += p.since(w.paidTo)
			rests += w.rest
		}
	}
	switch {
	case learning != e.learning:
		return fmt.Errorf("%d learn, counted %d", learning, e.learning)
	case present != e.present || busy != e.busy || queued != e.waiting.len():
		return fmt.Errorf("on duty %d, at work %d, waiting %d, but counted %d, %d, %d", present, busy, queued, e.present, e.busy, e.waiting.len())
	case p.funds < 0:
		return fmt.Errorf("the pool's funds are %s", p.funds)
	case paid != p.waiters || paid > 0 && (begun != p.begun || rests != p.rests):
		return fmt.Errorf("%d waits are paid since %d ns with rests of %d, but counted %d since %d with %d", paid, begun, rests, p.waiters, p.begun, p.rests)
	case paid > 0 && !p.alarm.on:
		return fmt.Errorf("waiting is paid, but no payday is set")
	case e.letsGo() && !p.alarm.on:
		return fmt.Errorf("people wait who were called and cannot be paid, and stay")
	case paid != int64(served) && e.pays():
		return fmt.Errorf("%d wait inside, %d are paid", served, paid)
	}
	return e.checkGate()
}

// checkGate verifies that just those stand outside who find no place, hold nothing and are not
// paid, and that the gate is open when enough are there.
func (e *Engine) checkGate() error {
	g, outside, busy := &e.gate, 0, 0
	for id, w := range e.workers {
		if w.holds != nil {
			busy++
		}
		if !w.outside {
			continue
		}
		outside++
		if place := w.place(); !w.on || w.holds != nil || !w.paidTo.IsZero() || place > len(g.outside) || g.outside[place-1] != w {
			return fmt.Errorf("%s stands outside as number %d: on duty %t, with a task %t, paid %t", id, place, w.on, w.holds != nil, !w.paidTo.IsZero())
		}
	}
	inside := e.inside()
	switch {
	case outside != len(g.outside):
		return fmt.Errorf("%d stand outside, but %d are listed", outside, len(g.outside))
	case outside > 0 && !g.full(inside):
		return fmt.Errorf("%d stand outside, but only %d are inside", outside, inside)
	case g.full(inside-1) && inside > busy:
		return fmt.Errorf("%d are inside, of whom %d hold a task; at most %d are to be", inside, busy, g.Max)
	case g.On && g.open != (e.present > 0 && (g.open || inside >= g.Min)):
		return fmt.Errorf("%d are inside, and the gate is open: %t", inside, g.open)
	case !g.On && g.open:
		return fmt.Errorf("there is no gate, and it is open")
	}
	return nil
}

// check verifies one batch: work is conserved, no task has more people than it
// wants or one person twice, and the money suffices for what is in hand.
func (b *batch) check() error {
	live, counted, wanted, given := 0, b.completed, 0, 0
	open := b.openTasks()
	for _, t := range open {
		if err := t.check(); err != nil {
			return err
		}
		live += int(t.live)
		counted -= int(t.counted)
		wanted += int(t.planned)
		given += len(t.given)
	}
	for _, a := range b.log.list {
		if a != nil {
			given--
		}
	}
	if given != 0 || len(open) != b.open {
		return fmt.Errorf("%d tasks are open, counted %d; the log has %d assignments too few", len(open), b.open, given)
	}
	if untouched := b.untouched(); untouched < 0 {
		return fmt.Errorf("%d tasks, but %d labelled and %d open", b.spec.Tasks, b.labelled, b.open)
	} else if b.backlog.invited == nil {
		wanted += untouched * b.firstWant(1)
		if b.backlog.order == nil && untouched != b.backlog.except.waiting()+int(b.spec.Tasks)-int(b.backlog.fresh)+1-b.backlog.removedFrom(b.backlog.fresh)-b.backlog.knownFrom(b.backlog.fresh) {
			return fmt.Errorf("%d tasks untouched, but the first fresh one is %d of %d", untouched, b.backlog.fresh, b.spec.Tasks)
		}
		if wanted+counted != b.planned { // counted: answers of tasks with a label
			return fmt.Errorf("planned %d, but tasks want %d and %d are done", b.planned, wanted, counted)
		}
	}
	if err := cmp.Or(b.checkOrder(open), b.checkChecks(open), b.checkSendBacks(open)); err != nil {
		return err
	}
	switch {
	case live != b.running:
		return fmt.Errorf("%d in hand, counted %d", live, b.running)
	case b.waiting() < 0:
		return fmt.Errorf("planned %d, but %d done and %d running", b.planned, b.completed, b.running)
	case b.open == b.learning() && b.untouched() == 0 && !b.spec.Open:
		return fmt.Errorf("all %d tasks have labels or were taken out, and it goes on", b.spec.Tasks)
	}
	return b.checkPromises(open)
}

// check verifies one task that somebody was given and that has no label.
func (t *task) check() error {
	b := t.batch
	seen := make(map[crowd.WorkerID]bool, len(t.given))
	inHand, answers := int32(0), int32(0)
	for _, a := range t.given {
		if a.live() || a.counted {
			if seen[a.worker.id] {
				return fmt.Errorf("%s is %s's twice", t.id(), a.worker.id)
			}
			seen[a.worker.id] = true
		}
		if a.live() {
			inHand++
		}
		if a.counted && !a.disregarded {
			answers++
		}
		if a.task != t || t.closed || b.log.get(a.n) != a || (a.state == crowd.Assigned) != (a.worker.holds == a) {
			return fmt.Errorf("%s is %s, but its worker, its task or the log says otherwise", a.id(), a.state)
		}
	}
	switch {
	case inHand != t.live:
		return fmt.Errorf("%s: %d in hand, counted %d", t.id(), inHand, t.live)
	case answers != t.counted:
		return fmt.Errorf("%s: %d answers that count, counted %d", t.id(), answers, t.counted)
	case t.slots() < 0 || t.removed && t.slots() > 0:
		return fmt.Errorf("%s: %d in hand and %d answers, but %d wanted", t.id(), t.live, t.counted, t.planned)
	case t.removed != b.backlog.isRemoved(t.n):
		return fmt.Errorf("%s was taken out: %t, the list says otherwise", t.id(), t.removed)
	case t.live == 0 && t.slots() == 0:
		return fmt.Errorf("%s has all of its %d answers and no label", t.id(), t.planned)
	}
	if b.backlog.invitedTo(t.n) == 0 && (t.place != 0) != (t.slots() > 0) {
		return fmt.Errorf("%s: wants %d people, in the list: %t", t.id(), t.slots(), t.place != 0)
	}
	return nil
}

// checkPromises verifies what the batch owes those who hold its tasks.
func (b *batch) checkPromises(open []*task) error {
	promised, leaving := crowd.Money(0), 0
	for _, t := range open {
		for _, a := range t.given {
			if a.live() {
				promised += a.reward()
			}
		}
		if t.removed {
			leaving++
		}
	}
	switch {
	case promised != b.promised || leaving != b.leaving:
		return fmt.Errorf("%s promised and %d tasks on their way out, counted %s and %d", promised, leaving, b.promised, b.leaving)
	case promised > b.escrow:
		return fmt.Errorf("%s in the budget, but %s promised", b.escrow, promised)
	}
	return nil
}

// checkOrder verifies that of a batch with an SLA just the tasks that want a worker
// stand in its order, that the others without a label are kept aside, and that its
// next change is waited for.
func (b *batch) checkOrder(open []*task) error {
	o := b.backlog.order
	if o == nil {
		return nil
	}
	wants, ordered := b.untouched(), 0
	for _, t := range open {
		if t.isCheck {
			continue
		}
		ordered++
		_, _, stands := o.queue.Get(int64(t.n))
		_, aside := o.away[t.n]
		if o.open[t.n] != t || stands != (t.slots() > 0) || aside == stands {
			return fmt.Errorf("%s wants %d people; it stands in the order: %t, aside: %t", t.id(), t.slots(), stands, aside)
		}
		if stands {
			wants++
		}
	}
	at, changes := o.queue.NextChange()
	switch {
	case len(o.open) != ordered || len(o.away) > ordered:
		return fmt.Errorf("%d tasks are open, but the order knows %d, of them %d aside", ordered, len(o.open), len(o.away))
	case o.queue.Len() != wants:
		return fmt.Errorf("%d tasks want a worker, but %d stand in the order", wants, o.queue.Len())
	case o.change.on != changes || changes && !o.change.at.Equal(at):
		return fmt.Errorf("the order changes (%t) at %s, and is waited for (%t) at %s", changes, at, o.change.on, o.change.at)
	}
	return nil
}

// checkNobodyIdles verifies that nothing fits any worker who waits.
func (e *Engine) checkNobodyIdles() error {
	if err := e.waiting.check(); err != nil {
		return err
	}
	for w := e.waiting.head; w != nil; w = w.next {
		for _, b := range e.batches {
			if e.hindrance(b) == crowd.Eligible && w.fits(b) {
				return fmt.Errorf("%s waits, although %s has something for them", w.id, b.spec.ID)
			}
		}
	}
	return nil
}
