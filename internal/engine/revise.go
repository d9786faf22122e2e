package engine

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// In a batch whose spec says so, the worker whose answer counts may give another one in its place: it is revised.
// The pay stays as it is, and so does all that tells how many answers there were, and when. The label is made
// again by the rule as it is now, from as many answers as before; where they do not suffice any more, the task is
// asked again of others, as after an answer that is disregarded.
//
// Of a check the first answer goes on to count for trust and rules, so that nobody can mend what it has shown. It is never
// refused for want of money, or as decided: it has no label of answers. That tells which tasks are no checks. One to a
// training task stays: what is right has been told.

// MaxRevisions is how often an answer is revised at most.
const MaxRevisions = 5

// GivenAnswer is an answer of somebody, as the store has it.
type GivenAnswer struct {
	Worker      crowd.WorkerID
	State       crowd.AssignmentState
	At          time.Time // when it was given first
	Late        bool
	Counted     bool // when it came
	Disregarded bool
	Body        string // as it was given last
	Revised     int    // how often
	PayDecided  bool   // somebody has approved or refused its pay
	// PayDue is when its pay is decided by itself; zero: it is not held.
	PayDue time.Time
}

// Revise is what somebody answers in place of what they have answered.
type Revise struct {
	Body, Key string
	Given     GivenAnswer
	Of        AnsweredTask // Assignments are needed only with a label
	Settled   uint64       // what Engine.Settled returned before Given and Of were read, when all of that was durable
}

// RevisedAnswer is an answer that counts, and that its worker has revised.
type RevisedAnswer struct {
	Assignment crowd.AssignmentID
	Worker     crowd.WorkerID
	At         time.Time
	N          int // among the revisions of the answer, from 1
	Body       string
	Key        string
	Check      bool // it is one to a check: the first answer goes on to count
}

// RevisableUntil is until when an answer to a batch of the spec can be revised that was given at a time.
func (s *Spec) RevisableUntil(at time.Time, late bool) time.Time {
	if !late {
		at = at.Add(s.Grace)
	}
	return at.Add(s.Revise)
}

// ErrDecided is the error of revising an answer to a task whose label somebody has decided, or will not be made again. It does
// not say by what: the worker is not told that an answer is disregarded or a label corrected.
func ErrDecided(id crowd.AssignmentID) error {
	return crowd.Errorf(crowd.Conflict, "what comes of the task of %s is decided: its answer can no longer be revised", id)
}

// ErrTaught is the error of revising an answer to a training task: its worker has been told what is right.
func ErrTaught(id crowd.AssignmentID) error {
	return crowd.Errorf(crowd.Conflict, "the task of %s was for training, and you have been told what is right: its answer stays", id)
}

// MayRevise says why the answer to an assignment cannot be revised at a time, if so: as far as it follows from the
// answer.
func (x *GivenAnswer) MayRevise(now time.Time, id crowd.AssignmentID, s *Spec) error {
	no := func(format string, args ...any) error { return crowd.Errorf(crowd.Conflict, format, args...) }
	switch until := s.RevisableUntil(x.At, x.Late); {
	case s.Revise == 0:
		return no("the answers to %s are not revised once they count", s.ID)
	case x.State == crowd.Provisional:
		return no("the answer to %s does not count yet: take it back", id)
	case !x.State.Answered():
		return no("%s is %s: there is no answer to revise", id, x.State)
	case !x.Counted:
		return no("the answer to %s came late and does not count: it cannot be revised", id)
	case !now.Before(until):
		return no("the answer to %s could be revised until %s", id, until.UTC().Format(time.RFC3339))
	case x.Revised >= MaxRevisions:
		return no("the answer to %s was revised %d times, and no more are taken", id, MaxRevisions)
	case x.PayDecided || !x.PayDue.IsZero() && !now.Before(x.PayDue):
		return no("the pay of %s is decided: its answer can no longer be revised", id)
	case x.Disregarded:
		return ErrDecided(id)
	}
	return nil
}

// Same reports whether a body is what was answered last: then there is nothing to revise.
func (x *GivenAnswer) Same(body string) bool {
	return x.State.Answered() && x.Counted && x.Body == body
}

// Revise puts another answer of somebody in the place of one that counts. The same one again changes nothing. If
// the answers do not suffice for a label any more, the budget has to suffice for asking others.
func (e *Engine) Revise(now time.Time, id crowd.WorkerID, x *Revise) error {
	aid := x.Of.Assignment
	b, err := e.launched(aid.Batch())
	switch {
	case x.Given.Worker != id:
		return errNotYours(aid)
	case err != nil:
		return err
	case x.Settled != b.settled:
		return ErrSettled
	case b.spec.Revise > 0 && x.Given.Same(x.Body):
		return nil
	}
	if err := x.Given.MayRevise(now, aid, &b.spec); err != nil {
		return err
	}
	if b.checks.teaches(x.Of.N) {
		return ErrTaught(aid)
	}
	if err := e.mayAnswer(id, b); err != nil {
		return err
	}
	var d disregarding
	d.findReviews(e.batches[b.reviewedIn], []AnsweredTask{x.Of})
	known, open := b.backlog.isKnown(x.Of.N), b.openAmong([]uint32{x.Of.N})[x.Of.N]
	switch {
	case b.backlog.isRemoved(x.Of.N) || x.Of.Label != nil && (x.Of.Decided || d.reviewed(&x.Of)):
		return ErrDecided(aid)
	case known: // it stays what it has shown
	case open != nil:
		a := open.counts(aid, id)
		if a == nil {
			return ErrSettled
		}
		e.reviseOpen(now, a, x.Key)
	case x.Of.Label == nil: // it has its label since
		return ErrSettled
	default:
		if err := e.reviseLabelled(now, b, id, &d, x); err != nil {
			return err
		}
	}
	b.settled++ // what somebody else has read of the task
	e.changes.Revised = append(e.changes.Revised, RevisedAnswer{
		Assignment: aid, Worker: id, At: now, N: x.Given.Revised + 1, Body: x.Body, Key: x.Key, Check: known,
	})
	e.hear(now, id)
	e.run(now)
	return nil
}

// mayAnswer says why somebody who gets nothing of b any more may not change what they have answered either.
func (e *Engine) mayAnswer(id crowd.WorkerID, b *batch) error {
	w := e.workers[id]
	switch {
	case w != nil && w.suspended:
		return crowd.Errorf(crowd.Forbidden, "%s", crowd.WorkerSuspended.Text())
	case b.pauses(id) || w != nil && w.forWhom.bars(b.spec.Tenant) != crowd.Eligible:
		return crowd.Errorf(crowd.Forbidden, "you get no more tasks of %s, and what you have answered stays", b.spec.ID)
	}
	return nil
}

// reviseOpen revises an answer to a task without a label, which wants as many answers as before.
func (e *Engine) reviseOpen(now time.Time, a *assignment, key string) {
	t := a.task
	a.key = key
	if p := t.batch.posterior; p != nil {
		p.remove(t.n, a.worker.id)
		e.follow(p, t, a.worker.id, key)
	}
	if t.live == 0 {
		e.produce(pending{kind: TryToAggregate, task: t})
	}
	e.touch(now, t.batch, t)
}

// reviseLabelled revises an answer to a task that has a label, which is withdrawn and made again.
func (e *Engine) reviseLabelled(now time.Time, b *batch, id crowd.WorkerID, d *disregarding, x *Revise) error {
	r := reopened{b.remake(&x.Of, func(*AssignmentSnapshot) bool { return false }), &x.Of}
	a := r.counts(x.Of.Assignment, id)
	if a == nil {
		return ErrSettled
	}
	before := a.key
	a.key = x.Key
	if b.posterior != nil || !b.decide(r.task).Enough {
		if err := d.price(b, nil, []*task{r.task}); err != nil || d.Missing > 0 {
			return &crowd.Error{Code: crowd.BudgetTooSmall, Field: "answer", Message: "with this answer others would have to be asked, for which there is no money: your answer stays"}
		}
	}
	a.key = before // by which it counted among those that agree
	if b.waiting() == 0 {
		b.waitsFrom = now
	}
	lowest := b.log.first
	for _, given := range r.given {
		lowest = min(lowest, given.n)
	}
	if b.posterior != nil {
		b.posterior.setAll(r.task) // after a restart it may know some of them only
		b.posterior.remove(r.n, id)
		e.follow(b.posterior, r.task, id, x.Key)
	}
	b.log.reach(lowest)
	e.reopen(now, &r)
	a.key = x.Key
	e.dropReview(now, d, &x.Of)
	e.touch(now, b, nil)
	e.mayServe(b)
	return nil
}
