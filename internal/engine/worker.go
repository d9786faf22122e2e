package engine

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// worker is a worker of the pool. It answers the policy's questions.
type worker struct {
	// What every cycle looks at stands first: it is in two lines of the processor's cache.
	id        crowd.WorkerID
	engine    *Engine
	holds     *assignment // at most one
	last      crowd.BatchID
	classes   []int8 // by class: 0 not known yet, 1 meets it, -1 does not
	waiting   bool
	suspended bool
	borrowed  bool
	forWhom   *forWhom             // nil: they work for every tenant
	again     []crowd.AssignmentID // of tasks that may come back to them: see remember

	duty
	lease timer // of what they hold, or of their silence

	quals   map[string]int
	granted []Grant
	inQueue
}

// LastBatch implements sched.Worker.
func (w *worker) LastBatch() crowd.BatchID { return w.last }

// MayClass implements sched.Worker.
func (w *worker) MayClass(c sched.Class) bool {
	if w.engine.gate.closed() { // not kept, as it opens
		return w.may(&w.engine.classes.list[c])
	}
	for int(c) >= len(w.classes) {
		w.classes = append(w.classes, 0)
	}
	if w.classes[c] == 0 {
		w.classes[c] = -1
		if w.may(&w.engine.classes.list[c]) {
			w.classes[c] = 1
		}
	}
	return w.classes[c] > 0
}

// may reports whether batches of the class are for w now.
func (w *worker) may(k *class) bool {
	return w.engine.gate.handsOut(k.training, w.training > 0) == crowd.Eligible && w.meets(k.tenant, k.requires)
}

// MayBatch implements sched.Worker.
func (w *worker) MayBatch(id crowd.BatchID) bool {
	e := w.engine
	b := e.batches[id]
	if b == nil || w.barred(b) != crowd.Eligible {
		return false
	}
	t, n, reason := b.backlog.next(w.id)
	if reason != crowd.Eligible {
		return false
	}
	if b.checks != nil {
		known := b.lesson(w.id)
		if known == 0 {
			known = e.check(b, w.id)
		}
		if known > 0 {
			e.found = found{batch: b, n: known, check: true}
			return true
		}
	}
	e.found = found{batch: b, task: t, n: n}
	return true
}

// fits reports whether w could take something of b, which has something.
func (w *worker) fits(b *batch) bool {
	return !w.outside && w.MayClass(b.class) && w.refusal(b) == crowd.Eligible
}

// takes is fits for what they have not had before.
func (w *worker) takes(b *batch) bool {
	return !w.outside && w.MayClass(b.class) && w.barred(b) == crowd.Eligible && b.backlog.refusal(w.id) == crowd.Eligible
}

// refusal says why w gets nothing of b, whose class they meet and which has
// something to hand out.
func (w *worker) refusal(b *batch) crowd.Reason {
	if r := w.barred(b); r != crowd.Eligible {
		return r
	}
	r := b.backlog.refusal(w.id)
	if r != crowd.Eligible && w.takesAgain(b) {
		return crowd.Eligible
	}
	return r
}

// barred says why w gets nothing of b whatever is left of it, or Eligible.
func (w *worker) barred(b *batch) crowd.Reason {
	if r := w.forWhom.bars(b.spec.Tenant); r != crowd.Eligible {
		return r
	}
	if b.gave != nil && b.gave[w.id] >= b.spec.PerWorker {
		return crowd.AnsweredEnough
	}
	if b.pauses(w.id) {
		return crowd.PausedByRule
	}
	return crowd.Eligible
}

// forWhom says for which tenants somebody does not work.
type forWhom struct {
	blockedBy, staffOf []crowd.TenantID
	serves             []crowd.TenantID // no others; empty: all but those
}

// bars says why somebody does not work for a tenant, or Eligible.
func (f *forWhom) bars(tenant crowd.TenantID) crowd.Reason {
	switch {
	case f == nil:
		return crowd.Eligible
	case len(f.serves) > 0 && !slices.Contains(f.serves, tenant):
		return crowd.ServesOthers
	case slices.Contains(f.staffOf, tenant):
		return crowd.OwnStaff
	case slices.Contains(f.blockedBy, tenant):
		return crowd.WorkerBlocked
	}
	return crowd.Eligible
}

func (w *worker) meets(tenant crowd.TenantID, list []Requirement) bool {
	return Meets(w.quals, w.granted, tenant, list)
}

// SetWorker adds a worker to the pool or changes what is known of them. A
// change of qualification counts from the next hand-out on.
func (e *Engine) SetWorker(now time.Time, in Worker) error {
	if in.ID < 1 {
		return crowd.Fieldf("worker", "%d is not a worker id", int64(in.ID))
	}
	if in.Lent {
		e.lend(in)
		return nil
	}
	delete(e.lent, in.ID)
	w := e.workers[in.ID]
	if w == nil {
		w = e.newWorker(in.ID)
		e.workers[in.ID] = w
	}
	w.know(&in)
	e.waiting.changed(w)
	w.borrowed = in.Borrowed
	switch {
	case w.suspended && w.holds == nil:
		e.goOff(now, w, Released)
		e.run(now)
	case w.waiting:
		e.serve(now, w)
	}
	return nil
}

func (e *Engine) newWorker(id crowd.WorkerID) *worker {
	w := &worker{id: id, engine: e, again: e.gone[id]}
	delete(e.gone, id)
	w.lease.worker = w
	return w
}

// RemoveWorker takes a worker out of the pool. Who holds a task finishes it
// first.
func (e *Engine) RemoveWorker(now time.Time, id crowd.WorkerID) error {
	w := e.workers[id]
	switch {
	case w == nil:
		return crowd.Errorf(crowd.NotFound, "no such worker in this pool")
	case w.holds != nil:
		return crowd.Errorf(crowd.Conflict, "%s holds %s and has to finish or return it first", id, w.holds.id())
	}
	e.setTraining(now, w, 0)
	e.goOff(now, w, Moved)
	e.run(now)
	e.timers.unset(&w.lease)
	e.recent = nil
	if len(w.again) > 0 {
		e.gone[id] = w.again
	}
	delete(e.workers, id)
	return nil
}

// class is what a batch asks of its workers: a list of requirements, and
// whether they are newcomers in training or not.
type class struct {
	tenant   crowd.TenantID // whose qualifications are required; 0: none, or the installation's
	requires []Requirement
	training bool
}

// classes numbers the distinct classes.
type classes struct {
	list  []class
	index map[string]sched.Class
}

// of returns the class of a batch.
func (c *classes) of(s *Spec) sched.Class {
	if len(s.Requirements) == 0 && !s.Training {
		return 0
	}
	sorted := slices.Clone(s.Requirements)
	slices.SortFunc(sorted, func(x, y Requirement) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(x.Owner, y.Owner))
	})
	var tenant crowd.TenantID
	if slices.ContainsFunc(sorted, func(r Requirement) bool { return r.Owner != "" }) {
		tenant = s.Tenant
	}
	var key strings.Builder
	key.WriteString(strconv.FormatInt(int64(tenant), 10))
	key.WriteByte('\n')
	if s.Training {
		key.WriteByte('\n') // no name has one
	}
	for _, r := range sorted {
		key.WriteString(strconv.Itoa(r.Min))
		key.WriteByte(' ')
		key.WriteString(r.FullName())
		key.WriteByte('\n')
	}
	number, ok := c.index[key.String()]
	if !ok {
		number = sched.Class(len(c.list))
		c.list = append(c.list, class{tenant, sorted, s.Training})
		c.index[key.String()] = number
	}
	return number
}
