package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// An answer to a batch with a grace is provisional until that is over: it is kept, and
// its worker may take it back. Until then it keeps its place among the answers that the
// task wants, and what was promised for it stays promised; but nobody works on it any
// more, and for labels, pay and all that follows from them it has not come yet. When its
// grace is over, it counts as an answer that comes then. Whatever ends the batch lets its
// provisional answers count first, so that a grace costs nobody their pay.

// grace is what a batch knows of its provisional answers.
type grace struct {
	timer
	list []*provisional // in the order in which they come to count
}

// provisional is an answer that does not count yet.
type provisional struct {
	of *assignment
	Answer
	sendsBack *SendBack // nil: it is an answer to the task
}

// len counts the provisional answers.
func (g *grace) len() int {
	if g == nil {
		return 0
	}
	return len(g.list)
}

// times reports whether t is the timer of g.
func (g *grace) times(t *timer) bool { return g != nil && t == &g.timer }

// inHand is how many assignments people hold: R_b.
func (b *batch) inHand() int { return b.running - b.grace.len() }

// countsAt is when a, which is provisional, comes to count.
func (b *batch) countsAt(a *assignment) time.Time {
	return b.grace.list[b.grace.find(a)].At.Add(b.spec.Grace)
}

func (g *grace) find(a *assignment) int {
	return slices.IndexFunc(g.list, func(p *provisional) bool { return p.of == a })
}

// keepProvisional keeps the answer to an assignment that its worker holds.
func (e *Engine) keepProvisional(now time.Time, a *assignment, body, key string, verdict *SendBack) Outcome {
	b := a.task.batch
	x := Answer{Assignment: a.id(), Worker: a.worker.id, At: now, Body: body, Key: key, SendBack: verdict.comment()}
	e.elapse(now)
	e.atWork(b, -1)
	a.state, a.key = crowd.Provisional, x.Key
	e.addProvisional(b, &provisional{a, x, verdict})
	e.changes.Provisional = append(e.changes.Provisional, x)
	e.idle(now, a.worker)
	e.touch(now, b, nil)
	e.run(now)
	return a.outcomeInGrace()
}

// outcomeInGrace is what came of an answer, provisional or not.
func (a *assignment) outcomeInGrace() Outcome {
	out := a.outcome() // apart, so that the compiler inlines it where most answers pass
	if a.state == crowd.Provisional {
		out.CountsAt = a.task.batch.countsAt(a)
	}
	return out
}

func (e *Engine) addProvisional(b *batch, p *provisional) {
	b.grace.list = append(b.grace.list, p)
	e.taking[p.Worker] = append(e.taking[p.Worker], p)
	if b.gave != nil {
		b.gave[p.Worker]++
	}
	if !b.grace.on {
		e.timers.set(&b.grace.timer, p.At.Add(b.spec.Grace))
	}
}

// dropProvisional takes answer i out of those that are provisional, as it is taken back or
// comes to count.
func (e *Engine) dropProvisional(b *batch, i int) *provisional {
	g := b.grace
	p := g.list[i]
	g.list = slices.Delete(g.list, i, i+1)
	if list := slices.DeleteFunc(e.taking[p.Worker], func(x *provisional) bool { return x == p }); len(list) > 0 {
		e.taking[p.Worker] = list
	} else {
		delete(e.taking, p.Worker)
	}
	if b.gave != nil {
		b.gave[p.Worker]--
	}
	if len(g.list) > 0 {
		e.timers.set(&g.timer, g.list[0].At.Add(b.spec.Grace))
	} else {
		e.timers.unset(&g.timer)
	}
	return p
}

// countDue lets those answers to b count whose grace is over.
func (e *Engine) countDue(now time.Time, b *batch) {
	for b.grace.len() > 0 && !b.grace.list[0].At.Add(b.spec.Grace).After(now) {
		e.countProvisional(now, b, 0)
		e.run(now)
	}
}

// countAll lets all answers to b count.
func (e *Engine) countAll(now time.Time, b *batch) {
	for b.grace.len() > 0 {
		e.countProvisional(now, b, 0)
	}
}

// countProvisional lets answer i of those to b that are provisional count.
func (e *Engine) countProvisional(now time.Time, b *batch, i int) {
	p := e.dropProvisional(b, i)
	v := e.verdictDue(now, p)
	p.of.claim(-1)
	p.of.state, p.of.counted = crowd.Submitted, true
	e.count(now, p.of, p.At)
	if v != nil {
		e.verdict(now, p.of, v)
	}
	p.Counted, p.Kept = true, true
	p.Paid, p.Held, p.Due = b.holds(p.of.reward(), now)
	e.changes.Answers = append(e.changes.Answers, p.Answer)
	e.touch(now, b, p.of.task)
}

// Undo takes a provisional answer back: the worker holds its task again, with a whole
// lease, and what they hold else goes back as if they had returned it. It returns the
// hand-out and the answer that they had given. To say it twice is no error.
func (e *Engine) Undo(now time.Time, id crowd.WorkerID, aid crowd.AssignmentID) (Handout, Answer, error) {
	a, w := e.assignment(aid), e.worker(id)
	switch {
	case a == nil:
		return Handout{}, Answer{}, ErrForgotten
	case a.worker.id != id:
		return Handout{}, Answer{}, errNotYours(aid)
	case a.state == crowd.Assigned:
		a.worker.seen = now
		return a.handout(), Answer{}, nil
	case a.state != crowd.Provisional || w == nil:
		return Handout{}, Answer{}, NoUndo(aid, a.state)
	case w.suspended:
		return Handout{}, Answer{}, crowd.Errorf(crowd.Forbidden, "%s", crowd.WorkerSuspended.Text())
	case !w.on && e.retainer.Called:
		return Handout{}, Answer{}, crowd.Errorf(crowd.OffDuty, "%s", crowd.NotOnDuty.Text())
	case w.shutOut():
		return Handout{}, Answer{}, crowd.Errorf(crowd.Conflict, "%s", crowd.PoolFull.Text())
	case !w.on:
		e.comeOn(now, w)
		e.updateGate(now)
	}
	waited := w.waiting
	e.putDown(now, w)
	w.seen = now
	answer := e.takeBack(now, w, a)
	if waited {
		e.changes.Served = append(e.changes.Served, a.handout())
	}
	e.run(now)
	return a.handout(), answer, nil
}

// NoUndo is the error of taking back what can not be: the answer to an assignment that is in
// another state, or in a pool that its worker has left.
func NoUndo(aid crowd.AssignmentID, state crowd.AssignmentState) error {
	if state.Answered() {
		return crowd.Errorf(crowd.Conflict, "the answer to %s counts, or came late: it can no longer be taken back", aid)
	}
	if state == crowd.Provisional {
		return crowd.Errorf(crowd.Conflict, "you have left the pool of %s: its answer can no longer be taken back", aid)
	}
	return crowd.Errorf(crowd.Conflict, "%s is %s: there is no answer to take back", aid, state)
}

// putDown has w wait no longer, and takes what they hold out of their hands as if they
// had returned it, for something else that they are about to hold.
func (e *Engine) putDown(now time.Time, w *worker) {
	if w.waiting {
		e.leaveQueue(now, w)
	}
	a := w.holds
	if a == nil {
		return
	}
	a.state = crowd.Returned
	w.remember(a)
	e.elapse(now)
	e.hold(a, -1)
	w.holds = nil
	e.changes.Ends = append(e.changes.Ends, End{Assignment: a.id(), State: crowd.Returned, At: now})
	e.wantsAnother(now, a)
}

// takeBack puts the task of a provisional answer into w's hands, whose it is.
func (e *Engine) takeBack(now time.Time, w *worker, a *assignment) Answer {
	b := a.task.batch
	p := e.dropProvisional(b, b.grace.find(a))
	a.worker, a.state, a.key = w, crowd.Assigned, "" // they may have left the pool and come back
	e.elapse(now)
	e.atWork(b, 1)
	w.holds, w.last, w.paidTo = a, b.spec.ID, time.Time{}
	e.timers.set(&w.lease, now.Add(b.spec.Lease))
	if b.spec.Training && w.training < MaxTraining { // it had counted among those that they learnt from
		e.setTraining(now, w, w.training+1)
	}
	if i := slices.IndexFunc(e.changes.Provisional, func(x Answer) bool { return x.Assignment == p.Assignment }); i >= 0 {
		e.changes.Provisional = slices.Delete(e.changes.Provisional, i, i+1) // it was never told
	} else {
		e.changes.Undone = append(e.changes.Undone, Undone{Assignment: a.id(), Worker: w.id, At: now, Expires: w.lease.at})
	}
	e.touch(now, b, nil)
	return p.Answer
}

// Undoable is an answer that its worker may take back.
type Undoable struct {
	Assignment crowd.AssignmentID
	Task       crowd.TaskID
	At         time.Time
	CountsAt   time.Time
}

// Undoable lists the answers that a worker may take back, the latest first.
func (e *Engine) Undoable(id crowd.WorkerID) []Undoable {
	list := make([]Undoable, 0, len(e.taking[id]))
	for _, p := range e.taking[id] {
		list = append(list, Undoable{Assignment: p.Assignment, Task: p.of.task.id(), At: p.At, CountsAt: p.At.Add(p.of.task.batch.spec.Grace)})
	}
	slices.SortFunc(list, func(x, y Undoable) int { return cmp.Or(y.At.Compare(x.At), cmp.Compare(y.Assignment, x.Assignment)) })
	return list
}

// CountNow lets all provisional answers of a worker count, who may take none of them back
// from then on.
func (e *Engine) CountNow(now time.Time, id crowd.WorkerID) {
	for len(e.taking[id]) > 0 {
		p := e.taking[id][0]
		b := p.of.task.batch
		e.countProvisional(now, b, b.grace.find(p.of))
		e.run(now)
	}
}

// restoreProvisional restores the provisional answers to a batch.
func (e *Engine) restoreProvisional(b *batch, list []AssignmentSnapshot) error {
	var kept []*provisional
	for i := range list {
		s := &list[i]
		if s.State != crowd.Provisional {
			continue
		}
		if b.grace == nil {
			return fmt.Errorf("%s is provisional, and its batch has no grace", s.ID)
		}
		a := b.log.get(s.ID.N())
		a.claim(1)
		kept = append(kept, &provisional{a, Answer{Assignment: s.ID, Worker: s.Worker, At: s.AnsweredAt, Body: s.Body, Key: s.Key, SendBack: s.SendBack.comment()}, s.SendBack})
	}
	slices.SortFunc(kept, func(x, y *provisional) int {
		return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Assignment, y.Assignment))
	})
	for _, p := range kept {
		e.addProvisional(b, p)
	}
	return nil
}

// checkGrace verifies that just the provisional answers wait to count, in order, and that
// the first one is waited for.
func (e *Engine) checkGrace() error {
	waiting, found := 0, 0
	for _, list := range e.taking {
		waiting += len(list)
	}
	for _, b := range e.batches {
		n := 0
		for _, a := range b.log.list {
			if a != nil && a.state == crowd.Provisional {
				n++
			}
		}
		found += n
		if n != b.grace.len() {
			return fmt.Errorf("%s: %d answers are provisional, but %d wait to count", b.spec.ID, n, b.grace.len())
		}
		if n == 0 {
			continue
		}
		g := b.grace
		if !slices.IsSortedFunc(g.list, func(x, y *provisional) int { return x.At.Compare(y.At) }) || !g.on || !g.at.Equal(g.list[0].At.Add(b.spec.Grace)) {
			return fmt.Errorf("%s: its provisional answers are out of order, or not waited for (%t, at %s)", b.spec.ID, g.on, g.at)
		}
	}
	if waiting != found {
		return fmt.Errorf("%d answers are provisional, but their workers may take back %d", found, waiting)
	}
	return nil
}
