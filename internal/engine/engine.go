package engine

import (
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/pool"
	"github.com/throng-dev/throng/sched"
)

// Config sets up an engine.
type Config struct {
	Pool    crowd.PoolID // names the pool's account and duties
	Policy  sched.Policy
	Observe bool // fill Changes.Events
	// LongestWait is the most that a wait is paid between two payments, which are a minute
	// apart while the clock goes on; 0: an hour. A longer one is a step of the clock.
	LongestWait time.Duration
	// Seed decides which hand-outs are checks. Nobody may know it who is checked.
	Seed uint64
}

// Engine is the state machine of one pool.
type Engine struct {
	cfg     Config
	policy  sched.Policy
	stopped bool   // emergency stop of everything
	turn    uint64 // hand-outs so far

	tenants map[crowd.TenantID]*tenant
	workers map[crowd.WorkerID]*worker
	lent    map[crowd.WorkerID]*worker              // who belong to the pool and are in another
	recent  *worker                                 // the last one looked up: most ask for work right after their answer
	gone    map[crowd.WorkerID][]crowd.AssignmentID // worker.again of those who have left the pool
	taking  map[crowd.WorkerID][]*provisional       // answers that their workers may take back
	batches map[crowd.BatchID]*batch                // launched and not ended
	classes classes
	waiting waitingQueue // event 1's queue: workers for whom nothing was ready
	timers  timers

	retainer  Retainer
	gate      gate
	wages     retainerAccount
	present   int // on duty
	busy      int // hold a task
	learning  int // of them, one to learn from
	counters  pool.Counters
	counted   time.Time     // up to when the counters' person-times are counted
	elapsed   time.Duration // until then since the engine was made
	waits     waits
	withdrawn withdrawals

	consumed   [RemoveTask + 1]uint64 // events by kind
	unconsumed uint64                 // events that began to wait in their queue
	queue      []pending              // events of the command being worked off
	decisions  []label.Decision       // what they are about
	found      found                  // what the worker whom the policy asked last may be given
	seen       sched.Batch            // what the policy was last shown
	free       freeList
	offers     []*batch // batches that may have something for a waiting worker
	stale      []*batch // batches that the policy has to hear of
	ahead      lookAhead
	places     places
	ended      []BatchShare // see Shares
	dirty      []*batch     // batches whose progress is to be kept
	judged     []*batch     // batches that may have enough labels now
	assessed   []assessed   // people whose figures quality rules look at
	changes    Changes
	author     crowd.WorkerID // see Act
}

// New makes an engine without batches or workers.
func New(cfg Config) *Engine {
	e := &Engine{
		cfg:     cfg,
		policy:  cfg.Policy,
		tenants: make(map[crowd.TenantID]*tenant),
		workers: make(map[crowd.WorkerID]*worker),
		lent:    make(map[crowd.WorkerID]*worker),
		gone:    make(map[crowd.WorkerID][]crowd.AssignmentID),
		taking:  make(map[crowd.WorkerID][]*provisional),
		batches: make(map[crowd.BatchID]*batch),
		classes: classes{list: []class{{}}, index: make(map[string]sched.Class)}, // class 0 asks for nothing
	}
	e.wages.empty = true
	return e
}

// Act runs a command of somebody, whose transfers and notes of tasks carry them as their author.
func (e *Engine) Act(author crowd.WorkerID, command func()) {
	e.author = author
	command()
	e.author = 0
}

// Take moves what has changed since the last Take into out, whose slices are
// reused. A store makes it durable in one transaction; a simulation may read
// it, or throw it away.
func (e *Engine) Take(out *Changes) {
	for _, b := range e.dirty {
		b.dirty = false
		e.changes.Progress = append(e.changes.Progress, Progress{})
		b.progress(&e.changes.Progress[len(e.changes.Progress)-1])
		e.free.retireBatch(b)
	}
	e.dirty = emptied(e.dirty)
	out.reset()
	*out, e.changes = e.changes, *out
}

func (c *Changes) reset() {
	clear(c.Answers) // they hold text
	clear(c.Labels)
	clear(c.Reports)
	clear(c.Provisional)
	clear(c.Actions)
	clear(c.Reviews)
	clear(c.Notes)
	clear(c.SentBack)
	clear(c.Revised)
	c.Handouts, c.Ends, c.Answers, c.Labels = c.Handouts[:0], c.Ends[:0], c.Answers[:0], c.Labels[:0]
	c.Transfers, c.Duties, c.Progress = c.Transfers[:0], c.Duties[:0], c.Progress[:0]
	c.Revisions, c.Removals, c.Reports = c.Revisions[:0], c.Removals[:0], c.Reports[:0]
	c.Actions, c.Undoings, c.Reviews = c.Actions[:0], c.Undoings[:0], c.Reviews[:0]
	c.Provisional, c.Undone = c.Provisional[:0], c.Undone[:0]
	c.Disregarded, c.Unlabelled, c.Notes, c.SentBack, c.Revised = c.Disregarded[:0], c.Unlabelled[:0], c.Notes[:0], c.SentBack[:0], c.Revised[:0]
	c.Gates, c.Served, c.Shifts, c.Events = c.Gates[:0], c.Served[:0], c.Shifts[:0], c.Events[:0]
}

// SetPolicy changes the scheduling policy while everything goes on.
func (e *Engine) SetPolicy(p sched.Policy) {
	e.policy, e.places = p, places{}
	for _, b := range e.sortedBatches() {
		if b.backlog.order != nil {
			b.backlog.order.reform(formOf(p))
			e.reorder(b)
		}
		p.Set(e.view(b))
	}
}

// PolicyName returns the policy's text form.
func (e *Engine) PolicyName() string { return e.policy.Name() }

// ValidWeight checks a tenant's weight.
func ValidWeight(w float64) error { return within("weight", "weight", w) }

// SetTenant adds a tenant or changes its weight and emergency stop.
func (e *Engine) SetTenant(now time.Time, t Tenant) error {
	if t.ID < 1 {
		return crowd.Fieldf("tenant", "%d is not a tenant id", int64(t.ID))
	}
	if err := ValidWeight(t.Weight); err != nil {
		return err
	}
	if t.MaxPriority != 0 {
		if err := ValidPriority("max_priority", t.MaxPriority); err != nil {
			return err
		}
	}
	if e.tenants[t.ID] == nil {
		e.tenants[t.ID] = new(tenant)
	}
	e.tenants[t.ID].Tenant = t
	for _, b := range e.sortedBatches() {
		if b.spec.Tenant == t.ID {
			e.touch(now, b, nil)
			e.mayServe(b)
		}
	}
	e.run(now)
	return nil
}

// Stop is the emergency stop of the whole pool: nothing is handed out until it
// is lifted; what is held may be submitted.
func (e *Engine) Stop(now time.Time, stopped bool) {
	e.stopped = stopped
	for _, b := range e.sortedBatches() {
		e.touch(now, b, nil)
		e.mayServe(b)
	}
	e.run(now)
}

// Tick does what is due: leases run out, provisional answers come to count, lifetimes end,
// people are not heard of any more, waiting is paid, delays become more expensive.
func (e *Engine) Tick(now time.Time) {
	for t := e.timers.due(now); t != nil; t = e.timers.due(now) {
		switch {
		case t.batch != nil && t.batch.grace.times(t):
			e.countDue(now, t.batch)
		case t.batch != nil && t != &t.batch.life:
			e.onChange(now, t.batch)
		case t.batch != nil:
			e.endEarly(now, t.batch)
		case t.worker == nil:
			e.onPayday(now)
		case t.worker.holds != nil:
			e.release(now, t.worker.holds, crowd.Expired)
		default:
			e.goOff(now, t.worker, Silent)
		}
	}
	e.run(now)
}

// NextTimer returns when Tick has something to do, or false.
func (e *Engine) NextTimer() (time.Time, bool) { return e.timers.next() }

// touch says that b has changed, and t in it if not nil: the task's place
// among those that want a worker, the policy's view and the record to be kept
// follow.
func (e *Engine) touch(now time.Time, b *batch, t *task) {
	if t != nil {
		b.backlog.place(now, t)
	}
	if !b.dirty {
		b.dirty = true
		e.dirty = append(e.dirty, b)
	}
	e.reorder(b)
	if b.spec.Enough != nil && !b.judged {
		b.judged = true
		e.judged = append(e.judged, b)
	}
}

// mayServe says that b may have something for a worker who waits and for whom
// it had nothing before: a task is back, or wants more people, or is new, or
// nothing hinders it any more.
func (e *Engine) mayServe(b *batch) {
	if !b.offered && e.waiting.len() > 0 {
		b.offered = true
		e.offers = append(e.offers, b)
	}
}

// refresh tells the policy what has changed since it was last asked.
func (e *Engine) refresh() {
	for _, b := range e.stale {
		b.stale = false
		if b.state.Open() {
			e.policy.Set(e.view(b))
		} else {
			e.free.retireBatch(b)
		}
	}
	e.stale = emptied(e.stale)
	if len(e.ahead.batches) > 0 && e.ahead.update(e.present) {
		for _, b := range e.ahead.batches {
			e.policy.Set(e.view(b))
		}
	}
}

// view is what the policy may know of b, until the next view.
func (e *Engine) view(b *batch) *sched.Batch {
	v := &e.seen // in place: it is large, and every event changes one or two
	v.ID, v.Tenant, v.TenantWeight, v.TenantTurn, v.Class = b.spec.ID, b.spec.Tenant, b.tenant.Weight, b.tenant.turn, b.class
	v.Arrived, v.Priority, v.Reward = b.launchedAt, b.spec.Priority, b.spec.Reward
	provisional := b.grace.len() // nobody works on them any more
	v.Planned, v.Running, v.Completed = b.planned, b.running-provisional, b.completed+provisional
	v.Deadline, v.Production, v.TaskTime = b.spec.Deadline, b.spec.Production, b.expectedTime()
	v.Turn, v.Assignable = b.turn, e.hindrance(b) == crowd.Eligible
	e.urgency(b, v)
	return v
}

// hindrance says why nothing of b can be handed out to anybody, or Eligible.
func (e *Engine) hindrance(b *batch) crowd.Reason {
	switch {
	case e.stopped || b.stopped || b.tenant.Stopped:
		return crowd.EmergencyStop
	case b.state == crowd.BatchOnHold:
		return crowd.BatchPaused
	case b.state != crowd.BatchRunning:
		return crowd.BatchEnded
	case b.hasEnough():
		return crowd.EnoughLabels
	case b.waiting() == 0 && b.running == 0: // an open batch: another one would have ended
		return crowd.NoTaskYet
	case b.waiting() == 0:
		return crowd.NothingWaiting
	case !b.canPay(b.spec.Reward):
		return crowd.BudgetSpent
	}
	return crowd.Eligible
}
