package engine

import (
	"slices"

	"github.com/throng-dev/throng/crowd"
)

// A worker who returned a task, or let its lease run out, may get it again once there
// is nothing else for them, in any batch, and nobody who has not had it waits
// for it. What they skipped, reported or answered never comes back, so that nobody answers a
// task twice. Of several, the one that they were given first comes first.

const (
	triesMost = 3   // hand-outs of one task to one worker, so that nobody can be given it for ever
	againMost = 100 // tasks that a worker may have to come back to, so that looking at them stays cheap
)

// mayComeBack reports whether a task that was let go in a state may go to the same
// worker again.
func mayComeBack(s crowd.AssignmentState) bool { return s == crowd.Returned || s == crowd.Expired }

// remember keeps that a's task may come back to its worker, if they have less than
// againMost to come back to.
func (w *worker) remember(a *assignment) {
	if a.task.isCheck { // nobody is given one twice
		return
	}
	same := func(id crowd.AssignmentID) bool {
		b := w.engine.assignment(id)
		return b != nil && b.task == a.task
	}
	if slices.ContainsFunc(w.again, same) {
		return
	}
	if len(w.again) >= againMost {
		w.again = slices.DeleteFunc(w.again, func(id crowd.AssignmentID) bool { return w.letGo(id) == nil })
	}
	if len(w.again) < againMost {
		w.again = append(w.again, a.id())
	}
}

// letGo returns the task of an assignment of w that may come back to them, if it
// wants somebody or may yet do so; or nil.
func (w *worker) letGo(id crowd.AssignmentID) *task {
	a := w.engine.assignment(id)
	if a == nil || !mayComeBack(a.state) || a.task.keptBy(w.id, a) || a.task.tries(w.id) >= triesMost || a.task.batch.backlog.sentBackBy(a.task.n, w.id) {
		return nil
	}
	return a.task
}

// tries counts the hand-outs of t to w.
func (t *task) tries(w crowd.WorkerID) int {
	n := 0
	for _, a := range t.given {
		if a.worker.id == w {
			n++
		}
	}
	return n
}

// keptBy reports whether w holds t, has answered, skipped or reported it, or lost it otherwise, in
// another assignment than but.
func (t *task) keptBy(w crowd.WorkerID, but *assignment) bool {
	return slices.ContainsFunc(t.given, func(a *assignment) bool {
		return a != but && a.worker.id == w && !mayComeBack(a.state)
	})
}

// comesBack reports whether t, of b, may go to w again now.
func (w *worker) comesBack(t *task, b *batch) bool {
	return t != nil && t.batch == b && t.slots() > 0 && w.barred(b) == crowd.Eligible
}

// takesAgain reports whether something of b, which is not hindered, may go to w again.
func (w *worker) takesAgain(b *batch) bool {
	return slices.ContainsFunc(w.again, func(id crowd.AssignmentID) bool {
		return id.Batch() == b.spec.ID && w.comesBack(w.letGo(id), b)
	})
}

// askAgain finds what may go to w again, of what they were given first.
func (e *Engine) askAgain(w *worker) found {
	var first *assignment
	for _, id := range w.again {
		t := w.letGo(id)
		if t == nil || e.hindrance(t.batch) != crowd.Eligible || !w.MayClass(t.batch.class) || !w.comesBack(t, t.batch) {
			continue
		}
		if a := e.assignment(id); first == nil || a.at.Before(first.at) || a.at.Equal(first.at) && id < first.id() {
			first = a
		}
	}
	if first == nil {
		return found{}
	}
	return found{batch: first.task.batch, task: first.task}
}
