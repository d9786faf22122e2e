package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/instant"
)

// Snapshot is the kept state of a pool, from which an engine goes on as if
// nothing had happened.
type Snapshot struct {
	Stopped  bool
	Retainer Retainer
	Gate     Gate
	GateOpen bool
	Funds    crowd.Money // balance of the pool's account
	Tenants  []Tenant
	Workers  []Worker
	Duties   []Duty // of those on duty, and of those in training
	// Earned is what each of those on duty was paid for waiting since they came.
	Earned  map[crowd.WorkerID]crowd.Money
	Batches []BatchSnapshot // launched and not ended
}

// BatchSnapshot is the kept state of a batch.
type BatchSnapshot struct {
	Spec     Spec
	Progress Progress // of an open batch it also says how many tasks there are
	// Assignments holds, in order of their ids, every assignment of the tasks
	// without a label, and those of known tasks (Spec.Known) that are held or answered provisionally.
	Assignments []AssignmentSnapshot
	// Came is when the first task came that nobody was given yet, or the last one if all were
	// given; needed only with Spec.Open, where Progress.WaitsFrom is not known. Zero: not known.
	Came time.Time
	// Labelled lists the tasks with a label; needed only with Spec.Invited.
	Labelled []uint32
	// Removed lists the tasks that were taken out.
	Removed []uint32
	// Past lists the rewards before Spec.Reward, in order.
	Past []PastReward
	// NotBy says who must not do which tasks, of those without a label; needed only with
	// Spec.NotBy, and with Spec.Review, where it is who has sent the label of the task back.
	NotBy map[uint32][]crowd.WorkerID
	// Gave counts the counted answers to the batch by who gave them; needed only with
	// Spec.PerWorker or Review.NewWorkers.
	Gave map[crowd.WorkerID]int
	// Checked lists the assignments of the tasks with a known answer, in the order in which their
	// answers came; needed only with Spec.Checks.
	Checked []CheckSnapshot
	// Actions lists what quality rules did, in order of their numbers, and Standings what those who have
	// answered have shown; needed only with Spec.Quality.
	Actions   []Action
	Standings []Standing
	// Paused lists whom rules have paused in the batch whose labels this one reviews; needed only
	// with Spec.ReviewOf, of a batch that has ended.
	Paused []crowd.WorkerID
	// Answers lists counted answers to tasks with labels that are not disregarded, the latest MaxEvidence
	// of them, in the order of their ids; needed only with a rule that follows answers
	// (label.Rule.FollowsAnswers).
	Answers []CountedAnswer
	// Items holds every task without a label, those taken out among them; needed only with Spec.SLA. Those
	// beyond Progress.Tasks, of which the engine was not told yet, may be there or
	// not.
	Items []ItemSnapshot
}

// ItemSnapshot is the kept state of the item of a task.
type ItemSnapshot struct {
	N     uint32    // of the task
	Born  time.Time // zero: not kept; it counts from the launch
	Class int       // of the batch's Terms
	Bound time.Time // as last told; zero: none
}

// AssignmentSnapshot is the kept state of an assignment.
type AssignmentSnapshot struct {
	ID      crowd.AssignmentID
	Task    crowd.TaskID
	Worker  crowd.WorkerID
	State   crowd.AssignmentState
	At      time.Time
	Expires time.Time
	// Of a submitted or provisional one:
	AnsweredAt time.Time
	Key        string
	Body       string // of a provisional one only
	Late       bool
	Counted    bool // when it came
	Paid       crowd.Money
	// Disregarded is whether a counted answer was taken out since.
	Disregarded bool
	// SendBack is what a provisional answer is that sends a label back, with what is kept of the task now, and any
	// Settled; else nil.
	SendBack *SendBack
}

// Counts reports whether its answer is one that labels are made of.
func (a *AssignmentSnapshot) Counts() bool { return a.Counted && !a.Disregarded }

// Restore makes an engine from a snapshot. What is in people's hands stays
// there; since heartbeats are not kept, each lease starts again at now. The
// order of turns among batches, the workers' last batches and a policy's
// concessions start again: nobody is entitled to them. Of an open batch the engine knows
// as many tasks as it did (Progress.Tasks): the caller says Grow again for what the
// store may have beyond.
func Restore(now time.Time, cfg Config, s *Snapshot) (*Engine, error) {
	e := New(cfg)
	e.stopped = s.Stopped
	for _, t := range s.Tenants {
		if err := e.SetTenant(now, t); err != nil {
			return nil, err
		}
	}
	for _, w := range s.Workers {
		if err := e.SetWorker(now, w); err != nil {
			return nil, err
		}
	}
	if err := cmp.Or(s.Retainer.Validate(), s.Gate.Validate()); err != nil {
		return nil, err
	}
	e.retainer, e.wages.funds = s.Retainer, s.Funds
	e.wages.empty = s.Funds <= 0
	for _, d := range s.Duties {
		if w := e.workers[d.Worker]; w != nil {
			w.training = d.Training
			if d.On && !w.suspended {
				e.comeOn(now, w)
				w.since, w.earned = d.Since, s.Earned[d.Worker]
				e.expectToHear(w)
			}
			w.kept = d.On
		}
	}
	for i := range s.Batches {
		if err := e.restoreBatch(now, &s.Batches[i]); err != nil {
			return nil, fmt.Errorf("restore %s: %w", s.Batches[i].Spec.ID, err)
		}
	}
	e.refresh()
	e.dirty = e.dirty[:0]
	for _, b := range e.batches {
		b.dirty = false
	}
	e.gate.Gate, e.gate.open = s.Gate, s.GateOpen && s.Gate.On
	e.placeAll(now)
	e.changes = Changes{}
	e.updateGate(now) // the store may know it as it was before a change of settings
	return e, nil
}

// restoreBatch takes in a running batch as it was kept. It is long as the parts of a batch build on each
// other, in this order.
func (e *Engine) restoreBatch(now time.Time, s *BatchSnapshot) error {
	if e.tenants[s.Spec.Tenant] == nil {
		return fmt.Errorf("its tenant %s is not there", s.Spec.Tenant)
	}
	spec, p := s.Spec, &s.Progress
	if spec.Open {
		spec.Tasks, spec.Open = p.Tasks, p.Open
	}
	if err := CheckQuality(spec.Quality, spec.Checks != nil); err != nil {
		return err
	}
	b := e.newBatch(spec)
	b.past, b.settled = s.Past, uint64(now.UnixMicro())
	b.state, b.stopped = p.State, p.Stopped
	b.spec.Priority, b.spec.Deadline = p.Priority, p.Deadline
	b.backlog.fresh = p.Fresh
	b.planned, b.completed, b.labelled, b.certainty = p.Planned, p.Completed, p.Labelled, p.Certainty
	b.takenOver, b.total = p.TakenOver, p.Total
	if b.gave != nil {
		maps.Copy(b.gave, s.Gave)
	}
	if b.experience != nil {
		maps.Copy(b.experience, s.Gave)
	}
	b.escrow, b.spent, b.worked = p.Escrow, p.Spent, p.Worked
	b.launchedAt, b.waitsFrom, b.firstStarted = p.LaunchedAt, p.LaunchedAt, p.FirstStarted
	if !p.WaitsFrom.IsZero() {
		b.waitsFrom = p.WaitsFrom
	} else if s.Spec.Open {
		b.waitsFrom = now
		if !s.Came.IsZero() { // it has come to an empty backlog, or later
			b.waitsFrom = instant.Earlier(now, instant.Later(s.Came, p.LaunchedAt))
		}
	}
	b.restoreArrivals(now)
	if o := b.backlog.order; o != nil {
		o.expect(now, b.expectedTime())
		if err := o.restore(now, s.Items, b); err != nil {
			return err
		}
	}
	if inv := b.backlog.invited; inv != nil {
		for _, n := range s.Labelled {
			inv.close(n)
		}
	}
	open, err := e.restoreOpen(now, b, s)
	if err != nil {
		return err
	}
	if err := b.restoreChecks(s.Checked); err != nil {
		return err
	}
	if err := b.restoreQuality(s); err != nil {
		return err
	}
	e.add(b)
	e.restoreReviewed(b, s.Paused)
	b.restoreRemoved(s.Removed, open)
	b.restoreExclusions(s, open)
	b.restoreSendBacks(s, open)
	if b.posterior != nil {
		b.posterior.restore(s.Answers, b.openTasks(), b.checks, b.quality)
	}
	for _, t := range b.openTasks() {
		t.planned = b.wanted(t)
		if b.posterior != nil && !t.removed && !t.isCheck { // it was not sure of the task before, whatever it thinks now
			t.planned = int32(b.rule(t.n).Wanted(int(t.counted), int(t.live)))
		}
		b.backlog.place(now, t)
	}
	b.enough = b.spec.Enough != nil && b.hasLabels()
	e.touch(now, b, nil)
	return nil
}

// restoreOpen restores the tasks that somebody was given and that have no label, with their
// answers in the order in which they came.
func (e *Engine) restoreOpen(now time.Time, b *batch, s *BatchSnapshot) (map[crowd.TaskID]*task, error) {
	open := make(map[crowd.TaskID]*task)
	answered := make([]*AssignmentSnapshot, 0, len(s.Assignments))
	for i := range s.Assignments {
		a := &s.Assignments[i]
		if b.backlog.isKnown(a.Task.N()) {
			check := e.newCheck(b, a.Task.N())
			check.planned = 1
			if !check.isLesson { // of those that teach, Checked tells
				b.checks.record(a.Worker).seen[a.Task.N()] = struct{}{}
			}
			if err := e.restoreAssignment(now, check, a); err != nil {
				return nil, err
			}
			continue
		}
		if open[a.Task] == nil {
			open[a.Task] = e.start(b, a.Task.N())
			if o := b.backlog.order; o != nil {
				if _, _, ok := o.queue.Get(int64(a.Task.N())); !ok {
					return nil, fmt.Errorf("the item of %s is not there", a.Task)
				}
			}
		}
		if err := e.restoreAssignment(now, open[a.Task], a); err != nil {
			return nil, err
		}
		if a.Counts() {
			answered = append(answered, a)
		}
	}
	b.log.pass(s.Progress.Issued + 1)
	if err := e.restoreProvisional(b, s.Assignments); err != nil {
		return nil, err
	}
	slices.SortStableFunc(answered, func(x, y *AssignmentSnapshot) int { return x.AnsweredAt.Compare(y.AnsweredAt) })
	for _, a := range answered {
		open[a.Task].count(b.log.get(a.ID.N()))
	}
	return open, nil
}

func (e *Engine) restoreAssignment(now time.Time, t *task, s *AssignmentSnapshot) error {
	w := e.workers[s.Worker]
	if w == nil { // they have left the pool
		w = e.newWorker(s.Worker)
		defer func() { e.gone[w.id] = w.again }()
		if s.State == crowd.Assigned { // though they should have finished first: they may now
			w.suspended = true
			e.workers[w.id] = w
		}
	}
	b := t.batch
	if s.ID.Batch() != b.spec.ID || s.ID.N() < b.log.next() {
		return fmt.Errorf("%s is out of order: the next one is %s", s.ID, b.spec.ID.Assignment(b.log.next()))
	}
	a := taken(&e.free.assignments)
	*a = assignment{n: s.ID.N(), task: t, worker: w, state: s.State, at: s.At, key: s.Key, counted: s.Counted, late: s.Late, disregarded: s.Disregarded}
	b.log.pass(s.ID.N())
	b.log.add(a)
	t.give(a)
	if mayComeBack(s.State) {
		w.remember(a)
	}
	if s.State == crowd.Assigned {
		if w.holds != nil {
			return fmt.Errorf("%s holds both %s and %s", w.id, w.holds.id(), a.id())
		}
		if !w.on {
			e.comeOn(now, w)
		}
		w.holds = a
		e.hold(a, 1)
		e.timers.set(&w.lease, instant.Later(now.Add(b.spec.Lease), s.Expires))
	}
	return nil
}
