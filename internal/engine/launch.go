package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Launch adds a batch and starts handing it out. Its budget is reserved: moved
// from the tenant's account to the batch's. The caller has made sure that the
// tenant has the money. Of an open batch without a budget what its tasks can cost
// at most is reserved, as by Grow.
func (e *Engine) Launch(now time.Time, s Spec) error {
	b, err := e.launchable(now, s)
	if err != nil {
		return err
	}
	if err := e.begin(now, b); err != nil {
		return err
	}
	e.run(now)
	return nil
}

// launchable makes the batch of a definition, if it can be launched.
func (e *Engine) launchable(now time.Time, s Spec) (*batch, error) {
	if err := s.Validate(now); err != nil {
		return nil, err
	}
	if e.batches[s.ID] != nil {
		return nil, crowd.Errorf(crowd.Conflict, "%s is running already", s.ID)
	}
	if err := s.hasLessons(); err != nil {
		return nil, err
	}
	if e.tenants[s.Tenant] == nil {
		return nil, crowd.Fieldf("tenant", "%s is not known to the pool", s.Tenant)
	}
	if err := e.tenants[s.Tenant].Allows(s.Priority); err != nil {
		return nil, err
	}
	b := e.newBatch(s)
	if !s.SmallCrowdOK {
		if err := e.crowdSuffices(b, b.fewest); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// begin starts to hand out a new batch.
func (e *Engine) begin(now time.Time, b *batch) error {
	s := &b.spec
	reserve, err := b.reserveFor(0, s.Tasks)
	if err != nil {
		return err
	}
	b.escrow = reserve + s.Budget
	b.state, b.launchedAt, b.waitsFrom, b.turn = crowd.BatchRunning, now, now, e.turn
	b.planned = b.plannedAtFirst()
	if b.checks != nil {
		e.newKnown(now, b, slices.Sorted(maps.Keys(b.backlog.known)), func(n uint32) string { return b.backlog.known[n] })
	}
	if o := b.backlog.order; o != nil {
		for n := uint32(1); n <= s.Tasks; n++ {
			if b.backlog.isKnown(n) {
				continue
			}
			o.add(now, n, now, Item{})
		}
	}
	e.wanted(now, b, b.planned)
	e.add(b)
	e.transfer(Transfer{At: now, Kind: Reserve, From: Account{TenantAccount, int64(s.Tenant)}, To: Account{BatchAccount, int64(s.ID)}, Amount: b.escrow})
	e.touch(now, b, nil)
	e.mayServe(b)
	return nil
}

func (e *Engine) newBatch(s Spec) *batch {
	b, classes := taken(&e.free.batches), len(e.classes.list)
	b.spec, b.tenant, b.class = s, e.tenants[s.Tenant], e.classes.of(&s)
	if len(e.classes.list) > classes {
		e.newClass()
	}
	b.backlog = newBacklog(&s)
	b.spec.Invited = nil // the backlog has it
	if s.SLA != nil {
		b.backlog.order = newOrder(b, formOf(e.policy), s.SLA)
	}
	b.fewest = firstOf(s.Rule)
	b.followAnswers()
	b.useChecks()
	b.useQuality()
	if s.Review != nil && s.Review.NewWorkers > 0 {
		b.experience = make(map[crowd.WorkerID]int)
	}
	if s.PerWorker > 0 {
		b.gave = make(map[crowd.WorkerID]int)
	}
	b.log.begin()
	b.life.batch = b
	if s.Grace > 0 {
		b.grace = &grace{timer: timer{batch: b}}
	}
	return b
}

func (e *Engine) add(b *batch) {
	e.batches[b.spec.ID] = b
	if !b.spec.EndsAt.IsZero() {
		e.timers.set(&b.life, b.spec.EndsAt)
	}
}

// plannedAtFirst is the number of assignments that all tasks want before any
// answer came.
func (b *batch) plannedAtFirst() int {
	if b.backlog.invited == nil {
		return (int(b.spec.Tasks) - len(b.backlog.known)) * b.firstWant(1)
	}
	planned := 0
	for n := uint32(1); n <= b.spec.Tasks; n++ {
		planned += b.firstWant(n)
	}
	return planned
}

// crowdSuffices checks that the pool has as many people who may do the batch
// as a task that everybody may do wants answers from.
func (e *Engine) crowdSuffices(b *batch, wanted int) error {
	if b.spec.Training { // who is to be trained may not be here yet
		return nil
	}
	c := e.crowdOf(b, wanted)
	if c.TooSmall() {
		ways := "add workers"
		if len(c.Lacks) > 0 {
			ways = "qualify somebody"
		}
		if c.SufficesForFewer() {
			ways += ", ask for fewer"
		}
		return crowd.Fieldf("redundancy", "%s (%s, or allow a small crowd: allow_small_crowd)", c, ways)
	}
	if g := &e.gate; g.full(wanted - 1) {
		return crowd.Fieldf("redundancy", "a task needs answers from %d different people, but the pool's gate lets in %d, who keep their places while they ask for work (ask for fewer, have max of the pool raised, or allow a small crowd: allow_small_crowd)", wanted, g.Max)
	}
	return nil
}

// mayEver reports whether w may work on b at all, whatever is left of it.
func (e *Engine) mayEver(w *worker, b *batch) crowd.Reason {
	switch {
	case w.suspended:
		return crowd.WorkerSuspended
	case !w.meets(b.spec.Tenant, e.classes.list[b.class].requires):
		return crowd.NotQualified
	}
	if r := w.forWhom.bars(b.spec.Tenant); r != crowd.Eligible {
		return r
	}
	if b.pauses(w.id) {
		return crowd.PausedByRule
	}
	if !b.backlog.shared {
		if _, ok := b.backlog.invited.lists[w.id]; !ok {
			return crowd.NotInvited
		}
	}
	if r := e.gate.handsOut(b.spec.Training, w.training > 0); r != crowd.GateClosed { // which opens
		return r
	}
	return crowd.Eligible
}

// TopUp adds to a batch's budget from its tenant's account. The caller has made
// sure that the tenant has the money.
func (e *Engine) TopUp(now time.Time, id crowd.BatchID, amount crowd.Money) error {
	b, err := e.launched(id)
	if err != nil {
		return err
	}
	if amount <= 0 || amount > crowd.MaxMoney-b.escrow {
		return crowd.Fieldf("amount", "%s is not an amount to add (more than 0, and the budget at most %s)", amount, crowd.MaxMoney)
	}
	e.reserve(now, b, amount)
	e.touch(now, b, nil)
	e.mayServe(b)
	e.run(now)
	return nil
}

// Pause stops handing out a batch; what is held may be submitted.
func (e *Engine) Pause(now time.Time, id crowd.BatchID) error {
	return e.move(now, id, crowd.BatchOnHold)
}

// Resume hands a paused batch out again.
func (e *Engine) Resume(now time.Time, id crowd.BatchID) error {
	return e.move(now, id, crowd.BatchRunning)
}

// Cancel gives a batch up: tasks without a label get none.
func (e *Engine) Cancel(now time.Time, id crowd.BatchID) error {
	return e.move(now, id, crowd.BatchCancelled)
}

// End ends a batch early: tasks with answers get their label from what there is.
func (e *Engine) End(now time.Time, id crowd.BatchID) error {
	return e.move(now, id, crowd.BatchStopped)
}

func (e *Engine) launched(id crowd.BatchID) (*batch, error) {
	if b := e.batches[id]; b != nil {
		return b, nil
	}
	return nil, crowd.Errorf(crowd.NotFound, "%s is not running", id)
}

func (e *Engine) move(now time.Time, id crowd.BatchID, to crowd.BatchState) error {
	b, err := e.launched(id)
	if err != nil {
		return err
	}
	switch {
	case b.state == to:
		return nil // said twice
	case !b.state.May(to):
		return crowd.Errorf(crowd.Conflict, "%s is %s and cannot become %s", id, b.state, to)
	case to == crowd.BatchStopped:
		e.endEarly(now, b)
	case to.Ended():
		e.end(now, b, to)
	default:
		b.state = to
		e.touch(now, b, nil)
		e.mayServe(b)
	}
	e.run(now)
	return nil
}

// endEarly labels what has answers, and ends the batch.
func (e *Engine) endEarly(now time.Time, b *batch) {
	e.countAll(now, b)
	for _, t := range b.openTasks() {
		if t.counted > 0 && !t.removed && !t.isCheck {
			d := b.decide(t)
			if !d.Enough { // it may be, with people at work who began before an edit
				d = b.decideNow(t)
				d.Undecided = true
			}
			e.label(now, t, &d)
		}
	}
	e.end(now, b, crowd.BatchStopped)
}

// end takes a batch out of the pool: what is held is withdrawn, what is left of
// the budget goes back to the tenant, and nothing more is planned. Provisional answers
// count.
func (e *Engine) end(now time.Time, b *batch, state crowd.BatchState) {
	e.countAll(now, b)
	for _, t := range b.openTasks() {
		for _, a := range t.given {
			if a.state == crowd.Assigned {
				a.state = crowd.Withdrawn
				e.letGo(now, a)
				e.changes.Ends = append(e.changes.Ends, End{Assignment: a.id(), State: crowd.Withdrawn, At: now})
			}
		}
		e.forget(t)
	}
	e.transfer(Transfer{At: now, Kind: Release, From: Account{BatchAccount, int64(b.spec.ID)}, To: Account{TenantAccount, int64(b.spec.Tenant)}, Amount: b.escrow})
	b.released = b.escrow
	e.wanted(now, b, b.completed-b.planned)
	b.escrow, b.planned, b.state, b.endedAt, b.spec.Open = 0, b.completed, state, now, false
	e.touch(now, b, nil)
	e.timers.unset(&b.life)
	if o := b.backlog.order; o != nil {
		e.timers.unset(&o.change)
		e.ahead.leave(o)
	}
	e.policy.Remove(b.spec.ID)
	e.keepHeld(b)
	delete(e.batches, b.spec.ID)
	e.sealReviews(now, b)
}
