package engine

import (
	"iter"

	"github.com/throng-dev/throng/crowd"
)

// Those who belong to the pool and are on duty in another are known here too: a batch may
// count on them, as they come back when it has work for them. They hold nothing here, and
// are not on duty.

// lend takes note that somebody who belongs to the pool is lent to another.
func (e *Engine) lend(in Worker) {
	w := &worker{id: in.ID, engine: e, again: e.gone[in.ID]}
	w.know(&in)
	e.lent[in.ID] = w
}

// ForgetLent takes note that the pool has lent somebody no longer. If they came home, they
// are told by SetWorker.
func (e *Engine) ForgetLent(id crowd.WorkerID) { delete(e.lent, id) }

// members goes through those of the pool: who is in it, and who is lent to others.
func (e *Engine) members() iter.Seq[*worker] {
	return func(yield func(*worker) bool) {
		for _, w := range e.workers {
			if !yield(w) {
				return
			}
		}
		for _, w := range e.lent {
			if !yield(w) {
				return
			}
		}
	}
}

// member returns one of the members, or nil.
func (e *Engine) member(id crowd.WorkerID) *worker {
	if w := e.workers[id]; w != nil {
		return w
	}
	return e.lent[id]
}

// noWork returns who of those lent would find nothing to do here.
func (e *Engine) noWork() map[crowd.WorkerID]bool {
	var none map[crowd.WorkerID]bool
	for id, w := range e.lent {
		if e.hasWorkFor(w) {
			continue
		}
		if none == nil {
			none = make(map[crowd.WorkerID]bool)
		}
		none[id] = true
	}
	return none
}

// hasWorkFor reports whether w could be given something of the queue.
func (e *Engine) hasWorkFor(w *worker) bool {
	for _, b := range e.batches {
		if !b.spec.Training && b.waiting() > 0 && e.hindrance(b) == crowd.Eligible && e.mayEver(w, b) == crowd.Eligible && w.refusal(b) == crowd.Eligible {
			return true
		}
	}
	return false
}

// know takes over what is known of a worker.
func (w *worker) know(in *Worker) {
	w.quals, w.granted, w.suspended, w.forWhom, w.classes = in.Qualifications, in.Granted, in.Suspended, nil, nil
	if len(in.BlockedBy)+len(in.StaffOf)+len(in.Serves) > 0 {
		w.forWhom = &forWhom{in.BlockedBy, in.StaffOf, in.Serves}
	}
}
