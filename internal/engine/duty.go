package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Retainer says how a pool keeps its people on call.
type Retainer struct {
	// Called lets only those work who were brought on duty by StartDuty; else
	// asking for work is enough.
	Called bool
	// Silence is how long somebody who holds nothing and does not wait may stay
	// unheard of before they count as gone. 0: for ever.
	Silence time.Duration
	// Rate is paid for a minute of waiting, from the pool's account; 0: nothing.
	Rate crowd.Money
	// Promise is how long somebody who is called has to be payable for: see
	// pool.Reading.Affordable. Less than a minute counts as a minute.
	Promise time.Duration
	// Training is the number of tasks of training batches that a newcomer does
	// before others.
	Training int
}

// Bounds of a retainer.
const (
	MaxRate     = 1000 * crowd.Unit // a minute
	MaxTraining = 1000
	minSilence  = time.Second
	maxSilence  = 24 * time.Hour
)

// Validate checks the figures.
func (r *Retainer) Validate() error {
	var list crowd.Errors
	list.Refuse(r.Silence != 0 && (r.Silence < minSilence || r.Silence > maxSilence), "silence", "%s is not between %s and %s", r.Silence, minSilence, maxSilence)
	list.Refuse(r.Rate < 0 || r.Rate > MaxRate, "rate", "%s is not a pay for a minute of waiting (at most %s)", r.Rate, MaxRate)
	list.Refuse(r.Promise < 0 || r.Promise > maxSilence, "promise", "%s is not between 0s and %s", r.Promise, maxSilence)
	list.Refuse(r.Training < 0 || r.Training > MaxTraining, "training", "%d is not a number of tasks (0 to %d)", r.Training, MaxTraining)
	return list.Err()
}

// Departure says why somebody went off duty.
type Departure string

// The departures. Of those the first two count as abandonment.
const (
	Left     Departure = "left"     // by themselves
	Silent   Departure = "silent"   // was not heard of any more
	Released Departure = "released" // was let go
	Moved    Departure = "moved"    // to another pool
	Unpaid   Departure = "unpaid"   // the pool's money for waiting has run out
)

// Duty is a change in who is on duty, or in how much somebody has to learn.
type Duty struct {
	Pool     crowd.PoolID
	Worker   crowd.WorkerID
	On       bool
	At       time.Time // of the change
	Since    time.Time // on duty since then; zero if off
	Why      Departure // if off
	Training int       // tasks of training batches still to do
}

// duty is a worker's state on call.
type duty struct {
	on       bool
	kept     bool // on, as last told in Changes.Duties
	outside  bool // on, without a place inside the gate
	training int
	leaves   Departure // was told to go with this: see departure
	seen     time.Time // heard of last
	idle     time.Time // without a task since then
	paidTo   time.Time // waiting is paid up to here
	since    time.Time
	rest     int64       // of rate × ns: what was less than a micro-unit
	earned   crowd.Money // by waiting, since they came on duty
}

// departure is what w goes with as soon as they hold nothing, or "". Who is suspended
// while they hold a task finishes it first, and stays if that is lifted before.
func (w *worker) departure() Departure {
	if w.on && w.suspended {
		return Released
	}
	return w.leaves
}

// SetRetainer changes how the pool keeps people on call. Who is on duty stays so.
func (e *Engine) SetRetainer(now time.Time, r Retainer) error {
	if err := r.Validate(); err != nil {
		return err
	}
	e.payAll(now)
	e.retainer = r
	for _, w := range e.onDuty() {
		if !w.kept {
			e.keepDuty(now, w, "")
		}
		if w.holds == nil && !w.waiting {
			e.expectToHear(w)
		}
	}
	e.restartPay(now)
	return nil
}

// onDuty lists the people on duty in order of id.
func (e *Engine) onDuty() []*worker {
	var list []*worker
	for _, w := range e.workers {
		if w.on {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(x, y *worker) int { return cmp.Compare(x.id, y.id) })
	return list
}

// StartDuty brings a worker on duty. Who is on duty already stays so, also if they
// were about to go.
func (e *Engine) StartDuty(now time.Time, id crowd.WorkerID) error {
	return e.startDuty(now, id, now)
}

// MoveIn is StartDuty for somebody who comes from another pool, in which they were heard of
// last at heard: a move is no sign of life.
func (e *Engine) MoveIn(now time.Time, id crowd.WorkerID, heard time.Time) error {
	return e.startDuty(now, id, heard)
}

// MayStartDuty says why a worker cannot come on duty, whoever is needed; nil: they can.
func (e *Engine) MayStartDuty(id crowd.WorkerID) error {
	switch w := e.worker(id); {
	case w == nil:
		return crowd.Errorf(crowd.NotFound, "%s is not a worker of this pool", id)
	case w.suspended:
		return crowd.Errorf(crowd.Forbidden, "%s", crowd.WorkerSuspended.Text())
	}
	return nil
}

func (e *Engine) startDuty(now time.Time, id crowd.WorkerID, heard time.Time) error {
	if err := e.MayStartDuty(id); err != nil {
		return err
	}
	w := e.worker(id)
	w.leaves = ""
	if !w.on {
		e.comeOn(now, w)
		w.seen = heard
	}
	if heard.After(w.seen) {
		w.seen = heard
	}
	if w.holds == nil && !w.waiting {
		e.expectToHear(w)
	}
	e.run(now)
	return nil
}

// comeOn brings w on duty.
func (e *Engine) comeOn(now time.Time, w *worker) {
	e.elapse(now)
	full := e.gate.full(e.inside())
	e.present++
	e.changes.Shifts = append(e.changes.Shifts, Shift{Worker: w.id, On: true})
	w.on, w.since, w.seen, w.idle, w.leaves, w.earned = true, now, now, now, "", 0
	e.keepDuty(now, w, "")
	e.gate.changed = true
	if full {
		e.putOutside(now, w)
	}
}

// EndDuty takes a worker off duty; who holds a task first finishes it. It says
// whether they are off duty now.
func (e *Engine) EndDuty(now time.Time, id crowd.WorkerID, why Departure) (bool, error) {
	w := e.worker(id)
	if w == nil {
		return false, crowd.Errorf(crowd.NotFound, "%s is not a worker of this pool", id)
	}
	if w.on && w.holds != nil {
		w.leaves = why
		return false, nil
	}
	e.goOff(now, w, why)
	e.run(now)
	return true, nil
}

// goOff takes w, who holds nothing, off duty.
func (e *Engine) goOff(now time.Time, w *worker, why Departure) {
	if !w.on {
		return
	}
	if w.waiting {
		w.seen = now // their request is open
	}
	e.leaveQueue(now, w)
	e.elapse(now)
	e.takeIn(w)
	e.present--
	e.gate.changed = true
	switch why {
	case Left, Silent:
		e.counters.Abandoned++
	case Released, Unpaid:
		e.counters.Released++
	}
	w.lease.stop()
	w.on, w.since, w.leaves, w.paidTo, w.rest = false, time.Time{}, "", time.Time{}, 0
	e.changes.Shifts = append(e.changes.Shifts, Shift{Worker: w.id, Why: why})
	e.keepDuty(now, w, why)
}

// keepDuty makes a change of duty durable, where the pool keeps it: in one without
// a gate that everybody may enter for nothing, whoever asks for work is on duty again. Who
// was told to be on duty is also told to be off it.
func (e *Engine) keepDuty(now time.Time, w *worker, why Departure) {
	if e.retainer.Called || e.retainer.Rate > 0 || e.gate.On || w.kept {
		e.tellDuty(now, w, why)
	}
}

func (e *Engine) tellDuty(now time.Time, w *worker, why Departure) {
	w.kept = w.on
	e.changes.Duties = append(e.changes.Duties,
		Duty{Pool: e.cfg.Pool, Worker: w.id, On: w.on, At: now, Since: w.since, Why: why, Training: w.training})
}

// hear notes a sign of life of a worker.
func (e *Engine) hear(now time.Time, id crowd.WorkerID) {
	w := e.worker(id)
	if w == nil {
		return
	}
	w.seen = now
	if w.on && w.holds == nil && !w.waiting {
		e.expectToHear(w)
	}
}

// expectToHear starts the time after which w, who holds nothing and does not
// wait, counts as gone.
func (e *Engine) expectToHear(w *worker) {
	if e.retainer.Silence > 0 {
		e.timers.set(&w.lease, w.seen.Add(e.retainer.Silence))
	} else {
		w.lease.stop()
	}
}

// enterQueue lets w wait for a task: event 1's queue. From here on their waiting
// is paid.
func (e *Engine) enterQueue(now time.Time, w *worker) {
	if w.waiting {
		return
	}
	e.waiting.push(w)
	w.lease.stop()
	e.startPay(now, w)
}

// leaveQueue ends w's waiting, if they wait.
func (e *Engine) leaveQueue(now time.Time, w *worker) {
	if !w.waiting {
		return
	}
	e.waiting.remove(w)
	e.stopPay(now, w)
}

// Train says how many tasks of training batches a worker still has to do before
// they get others.
func (e *Engine) Train(now time.Time, id crowd.WorkerID, tasks int) error {
	w := e.worker(id)
	switch {
	case w == nil:
		return crowd.Errorf(crowd.NotFound, "%s is not a worker of this pool", id)
	case tasks < 0 || tasks > MaxTraining:
		return crowd.Fieldf("training", "%d is not a number of tasks (0 to %d)", tasks, MaxTraining)
	}
	e.setTraining(now, w, tasks)
	if w.waiting {
		e.serve(now, w)
	}
	e.run(now)
	return nil
}

func (e *Engine) setTraining(now time.Time, w *worker, tasks int) {
	if w.training == tasks {
		return
	}
	flips := (w.training > 0) != (tasks > 0)
	w.training = tasks
	if flips {
		w.classes = nil
		e.waiting.changed(w)
	}
	e.tellDuty(now, w, "")
}

// learn counts a training task that w has done.
func (e *Engine) learn(now time.Time, w *worker, b *batch) {
	if b.spec.Training && w.training > 0 {
		e.setTraining(now, w, w.training-1)
	}
}
