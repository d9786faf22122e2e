package engine

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
)

// Status is what there is to see of a running batch.
type Status struct {
	Progress
	Running int // in somebody's hands, or answered provisionally
	Waiting int // wanted and in nobody's hands
	Reason  crowd.Reason
	Stops   Stops
	Crowd   Crowd
	Here    int // people on duty who may do it, those at work among them
	// PaysNobody: nobody is called, for lack of money: see Engine.PaysNobody.
	PaysNobody bool
	// Provisional counts, of Running, the answers that do not count yet.
	Provisional int

	// As they are set now: see Edit.
	Reward     crowd.Money
	Rule       label.Rule
	Production bool
	Enough     *Enough // nil: only its last task ends it
}

// Stops are the emergency stops under which a batch is. Each is lifted by itself.
type Stops struct{ Pool, Tenant, Batch bool }

// String says in words what is stopped: "" if nothing is.
func (s Stops) String() string {
	var of []string
	for _, x := range []struct {
		on   bool
		what string
	}{{s.Pool, "its pool"}, {s.Tenant, "its tenant"}, {s.Batch, "the batch"}} {
		if x.on {
			of = append(of, x.what)
		}
	}
	if len(of) == 0 {
		return ""
	}
	return "hand-out is stopped (emergency stop of " + strings.Join(of, ", of ") + ")"
}

func (e *Engine) stopsOf(b *batch) Stops {
	return Stops{Pool: e.stopped, Tenant: b.tenant.Stopped, Batch: b.stopped}
}

// Status returns the state of a launched batch, or false if it is not running.
func (e *Engine) Status(id crowd.BatchID) (Status, bool) {
	b := e.batches[id]
	if b == nil {
		return Status{}, false
	}
	s := Status{Running: b.running, Waiting: b.waiting(), Reason: e.whyWaiting(b), Crowd: e.crowdOf(b, b.fewest),
		Stops: e.stopsOf(b), Here: e.here(b), PaysNobody: e.PaysNobody(), Provisional: b.grace.len(),
		Reward: b.spec.Reward, Rule: b.spec.Rule, Production: b.spec.Production, Enough: b.spec.Enough}
	b.progress(&s.Progress)
	return s, true
}

// here counts the people on duty who may do what is asked in b.
func (e *Engine) here(b *batch) (n int) {
	for w := range e.members() {
		if w.on && e.mayEver(w, b) == crowd.Eligible {
			n++
		}
	}
	return n
}

// whyWaiting says why nobody takes what waits in b, or Eligible when somebody
// may any moment.
func (e *Engine) whyWaiting(b *batch) crowd.Reason {
	if r := e.hindrance(b); r != crowd.Eligible {
		return r
	}
	if e.gate.holdsBack(b) {
		return crowd.GateClosed
	}
	may, here, outside, free := 0, false, false, false
	var busy []*worker
	for w := range e.members() {
		switch e.mayEver(w, b) {
		case crowd.Eligible:
		case crowd.NotInTraining:
			if !b.spec.Training { // they may do it later
				may++
			}
			continue
		default:
			continue
		}
		may++
		here = here || w.on
		if w.holds != nil {
			busy = append(busy, w)
		}
		if w.on && w.holds == nil && w.refusal(b) == crowd.Eligible {
			outside, free = outside || w.outside, free || !w.outside
		}
	}
	c := e.crowdOf(b, b.fewest)
	switch {
	case b.spec.Training && may == 0 && e.retainer.Training == 0:
		return crowd.NoTraining
	case may < b.firstWant(1) || c.Had > 0 || c.leftOver() < c.Wanted:
		return crowd.CrowdTooSmall
	case outside && !free: // else it does not wait for a place
		return crowd.PoolFull
	case len(busy) > 0 && b.inHand() == 0 && e.othersFirst(b, busy):
		return crowd.OtherBatchFirst
	case !here && e.lends(b):
		return crowd.Lent
	}
	return crowd.NoWorkerReady
}

// lends reports whether somebody who may do something of b is lent to another pool.
func (e *Engine) lends(b *batch) bool {
	for _, w := range e.lent {
		if e.mayEver(w, b) == crowd.Eligible && w.refusal(b) == crowd.Eligible {
			return true
		}
	}
	return false
}

// othersFirst reports whether one of these people, who may work on b, would be given
// another batch before it if they asked now. The order is the one that the policy was last
// told: this only reads, and to tell the policy of changes sooner can change what it decides.
func (e *Engine) othersFirst(b *batch, people []*worker) bool {
	for other := range e.before(b) {
		for _, w := range people {
			if w.refusal(b) == crowd.Eligible && e.mayEver(w, other) == crowd.Eligible && w.refusal(other) == crowd.Eligible {
				return true
			}
		}
	}
	return false
}

// before goes through the batches that stand before b in the policy's order. Training
// stands before training only: it is for others than the rest, and not in the Queue.
func (e *Engine) before(b *batch) iter.Seq[*batch] {
	return func(yield func(*batch) bool) {
		mine, stands := e.policy.Key(b.spec.ID) // not while it has no task
		if !stands {
			return
		}
		for id, other := range e.batches {
			if other.spec.Training != b.spec.Training {
				continue
			}
			if key, ok := e.policy.Key(id); ok && other != b && key.Before(mine) && !yield(other) {
				return
			}
		}
	}
}

// Why is the answer to "why is my task waiting?".
type Why struct {
	Batch   crowd.BatchID
	Reason  crowd.Reason
	Workers map[crowd.Reason]int // how many of the pool's workers, and of those whom it has lent, could not take it now, by reason
	Crowd   Crowd
	Ahead   int // running batches that stand before it in the policy's order
}

// WhyBatch explains what keeps a batch waiting.
func (e *Engine) WhyBatch(id crowd.BatchID) (Why, error) {
	b, err := e.launched(id)
	if err != nil {
		return Why{}, err
	}
	e.refresh()
	hindrance := e.hindrance(b)
	why := Why{Batch: id, Reason: e.whyWaiting(b), Crowd: e.crowdOf(b, b.fewest), Workers: make(map[crowd.Reason]int)}
	for _, w := range e.workers {
		r := e.mayEver(w, b)
		switch {
		case r != crowd.Eligible:
		case w.holds != nil:
			r = crowd.NoWorkerReady
		case !w.on && e.retainer.Called:
			r = crowd.NotOnDuty
		case hindrance != crowd.Eligible:
			r = hindrance
		case w.outside: // who is not here would have no place either, but is not waiting for one
			r = crowd.PoolFull
		case e.gate.holdsBack(b):
			r = crowd.GateClosed
		default:
			if r = w.refusal(b); r == crowd.Eligible && !w.on {
				r = crowd.NotOnDuty
			}
		}
		why.Workers[r]++
	}
	for _, w := range e.lent {
		r := e.mayEver(w, b)
		if r == crowd.Eligible {
			r = crowd.Lent
		}
		why.Workers[r]++
	}
	if !e.gate.holdsBack(b) { // else it has no place in the Queue either
		for range e.before(b) {
			why.Ahead++
		}
	}
	return why, nil
}

// WhyWorker is the answer to "why did I get nothing?": for each reason the
// number of running batches, or one reason of the worker's own.
func (e *Engine) WhyWorker(id crowd.WorkerID) (map[crowd.Reason]int, error) {
	w := e.workers[id]
	if w == nil {
		return nil, crowd.Errorf(crowd.NotFound, "%s is not a worker of this pool", id)
	}
	out := make(map[crowd.Reason]int)
	switch {
	case w.suspended:
		out[crowd.WorkerSuspended] = 1
		return out, nil
	case !w.on && e.retainer.Called:
		out[crowd.NotOnDuty] = 1
		return out, nil
	case w.shutOut():
		out[crowd.PoolFull] = 1
		return out, nil
	case len(e.batches) == 0:
		out[crowd.NoOpenBatch] = 1
		return out, nil
	}
	for _, b := range e.batches {
		if w.forWhom.bars(b.spec.Tenant) == crowd.ServesOthers {
			continue // these are not for them to know of
		}
		r := e.hindrance(b)
		if r == crowd.Eligible {
			r = e.mayEver(w, b)
		}
		if r == crowd.Eligible && e.gate.holdsBack(b) {
			r = crowd.GateClosed
		}
		if r == crowd.Eligible {
			r = w.refusal(b)
		}
		out[r]++
	}
	if len(out) == 0 {
		out[crowd.NoOpenBatch] = 1
	}
	return out, nil
}

// Holding lists who holds what: of one batch, or of the pool when id is 0, the
// longest held first.
func (e *Engine) Holding(id crowd.BatchID) []Handout {
	var list []Handout
	for _, w := range e.workers {
		if a := w.holds; a != nil && (id == 0 || a.task.batch.spec.ID == id) {
			list = append(list, a.handout())
		}
	}
	slices.SortFunc(list, func(x, y Handout) int {
		return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Assignment, y.Assignment))
	})
	return list
}

// Holds returns what a worker holds, or false.
func (e *Engine) Holds(id crowd.WorkerID) (Handout, bool) {
	if w := e.workers[id]; w != nil && w.holds != nil {
		return w.holds.handout(), true
	}
	return Handout{}, false
}

// Counts is the pool at a glance.
type Counts struct {
	Belong  int // belong to the pool, in it or lent to others
	Lent    int // of them, lent to others
	Working int // hold a task
	Waiting int // wait for one; as OnDuty, without those outside the gate
	OnDuty  int
	Batches int // launched and not ended
	Stopped bool
}

// WorkOf returns how many batches of some tenants are launched and have not ended, and how many
// answers they want that are in nobody's hands.
func (e *Engine) WorkOf(tenants []crowd.TenantID) (batches, waiting int) {
	for _, b := range e.batches {
		if slices.Contains(tenants, b.spec.Tenant) {
			batches++
			waiting += int(b.waiting())
		}
	}
	return batches, waiting
}

// Counts returns the pool at a glance.
func (e *Engine) Counts() Counts {
	waiting := e.waiting.len()
	for _, w := range e.gate.outside {
		if w.waiting {
			waiting--
		}
	}
	borrowed := 0
	for _, w := range e.workers {
		if w.borrowed {
			borrowed++
		}
	}
	return Counts{Belong: len(e.workers) - borrowed + len(e.lent), Lent: len(e.lent), Working: e.busy, Waiting: waiting, OnDuty: e.inside(),
		Batches: len(e.batches), Stopped: e.stopped}
}
