package engine

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// errNotYours answers everybody who names an assignment that they do not hold,
// whether it exists or not.
func errNotYours(id crowd.AssignmentID) error {
	return &crowd.Error{Code: crowd.NotFound, Field: "assignment", Message: id.String() + " is not an assignment of yours"}
}

// Ready says that a worker can take a task. It returns the hand-out and true,
// or false when nothing is ready: the worker then waits, and is named in
// Changes.Served once something fits. Who holds a task already gets the same
// one again; who waits already keeps their place.
func (e *Engine) Ready(now time.Time, id crowd.WorkerID) (Handout, bool, error) {
	w := e.worker(id)
	switch {
	case w == nil:
		return Handout{}, false, crowd.Errorf(crowd.NotFound, "%s is not a worker of this pool", id)
	case w.holds != nil:
		w.seen = now
		return w.holds.handout(), true, nil
	case w.suspended:
		return Handout{}, false, crowd.Errorf(crowd.Forbidden, "%s", crowd.WorkerSuspended.Text())
	case w.waiting: // nothing has come to fit, or they had been served: they keep their place
		w.seen = now
		return Handout{}, false, nil
	case !w.on && e.retainer.Called:
		return Handout{}, false, crowd.Errorf(crowd.OffDuty, "%s", crowd.NotOnDuty.Text())
	case !w.on:
		e.comeOn(now, w)
		e.updateGate(now) // those who waited for them are served first
	}
	w.seen = now
	e.produce(pending{kind: ReadyToWork, worker: w})
	e.run(now)
	if w.holds == nil {
		return Handout{}, false, nil
	}
	return w.holds.handout(), true, nil
}

// Leave says that a worker waits no longer (they closed the page, or logged out).
// What they hold stays theirs until the lease runs out; they stay on duty until they are
// not heard of for too long.
func (e *Engine) Leave(now time.Time, id crowd.WorkerID) {
	if w := e.workers[id]; w != nil && w.waiting {
		e.leaveQueue(now, w)
		w.seen = now
		e.expectToHear(w)
	}
}

// assign consumes event 1: the worker gets a task, or waits. Whoever waits already
// keeps their place.
func (e *Engine) assign(now time.Time, p *pending) {
	w := p.worker
	f := e.choose(now, w)
	switch {
	case f.batch != nil:
		e.leaveQueue(now, w)
		e.consume(now, p, consumerAssign)
		e.handOut(now, w, f)
	case !w.waiting:
		e.enqueued(now, p)
		e.enterQueue(now, w)
	}
}

// found is what a worker is about to be given: a task of a batch, or its number
// if nobody was given it yet.
type found struct {
	batch *batch
	task  *task
	n     uint32
	check bool // with task n, whose answer is known
}

// choose finds what w is given next, or nothing. Who is in training and finds
// nothing left to learn from has learnt enough.
func (e *Engine) choose(now time.Time, w *worker) found {
	if w.outside {
		return found{}
	}
	f := e.ask(now, w)
	if f.batch == nil && w.training > 0 {
		e.setTraining(now, w, 0)
		f = e.ask(now, w)
	}
	return f
}

// ask asks the policy for a batch that has something for w, and finds the task in
// it that is next for them; or else what may go to them again, or nothing.
func (e *Engine) ask(now time.Time, w *worker) found {
	e.refresh()
	e.found = found{}
	id := e.policy.Next(now, w)
	if b := e.found.batch; b == nil || b.spec.ID != id { // not the one that it asked about last
		e.found = found{}
		w.MayBatch(id)
	}
	if e.found.batch == nil && len(w.again) > 0 {
		return e.askAgain(w)
	}
	return e.found
}

// handOut gives w a task.
func (e *Engine) handOut(now time.Time, w *worker, f found) {
	b, t := f.batch, f.task
	if f.check {
		t = e.startCheck(now, b, w.id, f.n)
	} else if t == nil {
		t = e.start(b, f.n)
	}
	number := b.log.next()
	if number == 1 {
		b.firstStarted = now
	}
	a := taken(&e.free.assignments)
	a.n, a.task, a.worker, a.state, a.at = number, t, w, crowd.Assigned, now
	b.log.add(a)
	t.give(a)
	e.turn++
	b.turn, b.tenant.turn = e.turn, e.turn
	e.elapse(now)
	e.hold(a, 1)
	e.waits.add(now, b)
	w.holds, w.last, w.paidTo = a, b.spec.ID, time.Time{}
	e.timers.set(&w.lease, now.Add(b.spec.Lease))
	e.touch(now, b, t)
	e.changes.Handouts = append(e.changes.Handouts, a.handout())
}

// handout describes an assignment that its worker holds.
func (a *assignment) handout() Handout {
	return Handout{Assignment: a.id(), Task: a.task.id(), Worker: a.worker.id, At: a.at, Expires: a.worker.lease.at, Reward: a.reward()}
}

// offer serves waiting workers, longest wait first, if one of the batches that
// have come to have something fits. All others had nothing for them when they
// came, and a hand-out to one worker opens nothing for another. What is left goes
// to who had it before.
func (e *Engine) offer(now time.Time) {
	if len(e.offers) == 0 {
		return
	}
	for _, b := range e.offers {
		b.offered = false
	}
	hindered := func(b *batch) bool { return e.hindrance(b) != crowd.Eligible }
	e.offers = slices.DeleteFunc(e.offers, hindered)
	for _, takes := range []func(*worker) bool{
		func(w *worker) bool { return slices.ContainsFunc(e.offers, w.takes) },
		func(w *worker) bool { return len(w.again) > 0 && slices.ContainsFunc(e.offers, w.fits) },
	} {
		if len(e.offers) == 0 {
			break
		}
		e.waiting.eachOffered(e.offers, func(w *worker) bool {
			if takes(w) {
				e.serve(now, w)
				e.offers = slices.DeleteFunc(e.offers, hindered)
			}
			return len(e.offers) > 0
		})
	}
	e.offers = emptied(e.offers)
}

// serve gives a waiting worker a task, if there is one for them.
func (e *Engine) serve(now time.Time, w *worker) {
	if e.assign(now, &pending{kind: ReadyToWork, worker: w}); w.holds != nil {
		e.changes.Served = append(e.changes.Served, w.holds.handout())
	}
}

// Heartbeat says that the worker is still at it: the lease starts again.
func (e *Engine) Heartbeat(now time.Time, id crowd.WorkerID, aid crowd.AssignmentID) (time.Time, error) {
	a, err := e.held(id, aid)
	if err != nil {
		return time.Time{}, err
	}
	a.worker.seen = now
	lease := &a.worker.lease
	if x := now.Add(a.task.batch.spec.Lease); x.After(lease.at) {
		e.timers.set(lease, x)
	}
	return lease.at, nil
}

// worker returns a worker of the pool, or nil.
func (e *Engine) worker(id crowd.WorkerID) *worker {
	if e.recent == nil || e.recent.id != id {
		e.recent = e.workers[id]
	}
	return e.recent
}

// assignment returns an assignment of an open task, or nil.
func (e *Engine) assignment(id crowd.AssignmentID) *assignment {
	if b := e.batches[id.Batch()]; b != nil {
		return b.log.get(id.N())
	}
	return nil
}

// ReplaceKey gives an answer another key, since what it said is to be deleted: a label that is
// made later is not made of it. An assignment that the engine has forgotten is no error.
func (e *Engine) ReplaceKey(id crowd.AssignmentID, key string) {
	if a := e.assignment(id); a != nil {
		a.key = key
	} else {
		e.settle(id, func(a *AssignmentSnapshot) { a.Key = key })
	}
}

// held returns the assignment if the worker holds it now.
func (e *Engine) held(id crowd.WorkerID, aid crowd.AssignmentID) (*assignment, error) {
	a := e.assignment(aid)
	if a == nil || a.worker.id != id {
		return nil, errNotYours(aid)
	}
	if a.state != crowd.Assigned {
		return nil, crowd.Errorf(crowd.Conflict, "%s is %s already", aid, a.state)
	}
	return a, nil
}

// Return gives a task back: the worker is done for now.
func (e *Engine) Return(now time.Time, id crowd.WorkerID, aid crowd.AssignmentID) error {
	return e.giveBack(now, id, aid, crowd.Returned)
}

// Skip gives a task back because the worker wants another one: the caller asks
// with Ready.
func (e *Engine) Skip(now time.Time, id crowd.WorkerID, aid crowd.AssignmentID) error {
	return e.giveBack(now, id, aid, crowd.Skipped)
}

// Report gives a task back because something is wrong with it, and keeps what the worker
// says about it: they are not asked it again. Of several reports of an assignment the
// first one stands.
func (e *Engine) Report(now time.Time, id crowd.WorkerID, aid crowd.AssignmentID, text string) error {
	ends := len(e.changes.Ends)
	if err := e.giveBack(now, id, aid, crowd.Reported); err != nil {
		return err
	}
	if len(e.changes.Ends) > ends {
		a := e.changes.Ends[ends]
		e.changes.Reports = append(e.changes.Reports, Report{Assignment: aid, Worker: id, At: a.At, Text: text})
	}
	return nil
}

func (e *Engine) giveBack(now time.Time, id crowd.WorkerID, aid crowd.AssignmentID, state crowd.AssignmentState) error {
	if a := e.assignment(aid); a != nil && a.worker.id == id && a.state == state {
		return nil // said twice
	}
	a, err := e.held(id, aid)
	if err != nil {
		return err
	}
	a.worker.seen = now
	e.release(now, a, state)
	e.run(now)
	return nil
}

// release ends an assignment without an answer; its task wants a worker again.
func (e *Engine) release(now time.Time, a *assignment, state crowd.AssignmentState) {
	a.state = state
	if mayComeBack(state) {
		a.worker.remember(a)
	}
	e.letGo(now, a)
	e.changes.Ends = append(e.changes.Ends, End{Assignment: a.id(), State: state, At: now})
	e.wantsAnother(now, a)
}

// wantsAnother says that a's task wants a worker again, since a has ended without an answer.
func (e *Engine) wantsAnother(now time.Time, a *assignment) {
	t, b := a.task, a.task.batch
	if t.isCheck {
		e.endCheck(now, t)
		return
	}
	if want := b.wanted(t); want < t.planned { // it had more people than its rule asks for since an edit
		e.replan(now, t, want)
	}
	e.touch(now, b, t)
	e.mayServe(b)
	if t.live == 0 && (t.counted > 0 || t.removed) {
		e.produce(pending{kind: TryToAggregate, task: t})
	}
}

// hold counts people who begin (1) to hold a, or cease to (-1), and what they were
// promised for it.
func (e *Engine) hold(a *assignment, n int) {
	a.claim(n)
	e.atWork(a.task.batch, n)
}

// claim counts what begins (1) to have a place among those that its task wants, or ceases
// to (-1): what is held, and provisional answers.
func (a *assignment) claim(n int) {
	b := a.task.batch
	b.running += n
	a.task.live += int32(n)
	b.promised += crowd.Money(n) * a.reward()
}

// atWork counts people who begin (1) to work on a task of b, or cease to (-1).
func (e *Engine) atWork(b *batch, n int) {
	e.busy += n
	if b.spec.Training {
		e.learning += n
		return
	}
	b.held.hold(e.elapsed, n)
	b.tenant.held.hold(e.elapsed, n)
}

// letGo takes the task out of the worker's hands.
func (e *Engine) letGo(now time.Time, a *assignment) {
	e.elapse(now)
	e.hold(a, -1)
	e.idle(now, a.worker)
}

// idle says that w holds nothing any more. Who was to go off duty goes.
func (e *Engine) idle(now time.Time, w *worker) {
	w.holds, w.idle = nil, now
	if why := w.departure(); why != "" {
		e.goOff(now, w, why)
		return
	}
	e.expectToHear(w)
	if e.gate.On && e.gate.over(e.inside(), w) {
		e.putOutside(now, w)
		e.gate.changed = true
	}
}

// Outcome says what became of an answer.
type Outcome struct {
	Counted   bool        `json:"counted"`
	Late      bool        `json:"late"`
	Duplicate bool        `json:"duplicate"` // it had come before; the first one stands
	Ended     bool        `json:"ended"`     // late and not counted, and its batch has ended
	Paid      crowd.Money `json:"paid_micros"`
	// Held is what waits for approval; of an answer that had come before it may have been decided since.
	Held crowd.Money `json:"held_micros,omitzero"`
	// CountsAt is when a provisional answer comes to count; zero of others.
	CountsAt time.Time `json:"counts_at,omitzero"`
}

// ErrForgotten says that the engine no longer knows an assignment that was
// once handed out: its task has a label, or its batch has ended. The store
// knows what became of it.
var ErrForgotten = &crowd.Error{Code: crowd.NotFound, Field: "assignment", Message: "no longer open"}

// Submit commits an answer: it counts once, however often it is sent. Where the batch has
// a grace, it is provisional until that is over. A late
// one (after the lease ran out) counts only if the task still wants it and
// nobody else was given it, nor they themselves again. body is the whole answer in canonical form, key
// what is compared with other answers. The caller has checked that it fits the
// template.
func (e *Engine) Submit(now time.Time, id crowd.WorkerID, aid crowd.AssignmentID, body, key string) (Outcome, error) {
	var a *assignment
	if w := e.worker(id); w != nil && w.holds != nil && w.holds.id() == aid {
		a = w.holds
	} else if a = e.assignment(aid); a == nil {
		return Outcome{}, ErrForgotten
	}
	switch {
	case a.worker.id != id:
		return Outcome{}, errNotYours(aid)
	case a.state.Answered() || a.state == crowd.Provisional:
		return a.again(), nil
	case a.state != crowd.Assigned && !a.state.May(crowd.Submitted):
		return Outcome{}, crowd.Errorf(crowd.Conflict, "%s was %s, an answer can no longer be taken", aid, a.state)
	}
	t, b := a.task, a.task.batch
	if a.state == crowd.Assigned {
		a.worker.seen = now
		e.learn(now, a.worker, b)
		if b.grace != nil && !t.isLesson { // who has been told what is right takes nothing back
			return e.keepProvisional(now, a, body, key, nil), nil
		}
		e.letGo(now, a)
		a.counted = true
	} else {
		e.hear(now, id)
		a.late = true
		a.counted = t.slots() > 0 && b.canPay(a.reward()) && !t.keptBy(id, a) && b.takesOneMore(a.worker)
	}
	a.state, a.key = crowd.Submitted, key
	if a.counted {
		e.count(now, a, now)
	}
	out := a.outcome()
	out.Ended = a.late && !a.counted && b.state.Ended()
	answer := Answer{Assignment: aid, Worker: id, At: now, Body: body, Key: key, Late: out.Late, Counted: out.Counted}
	if a.counted {
		answer.Paid, answer.Held, answer.Due = b.holds(a.reward(), now)
	}
	e.changes.Answers = append(e.changes.Answers, answer)
	e.touch(now, b, t)
	e.run(now)
	return out, nil
}

// count counts and pays an answer, which came at a time.
func (e *Engine) count(now time.Time, a *assignment, at time.Time) {
	t, b := a.task, a.task.batch
	t.count(a)
	b.completed++
	if b.gave != nil {
		b.gave[a.worker.id]++
	}
	if b.experience != nil {
		b.experience[a.worker.id]++
	}
	if t.isCheck {
		b.score(a)
	}
	if b.quality != nil && !t.isLesson {
		e.noteAnswer(a, at)
	}
	if b.posterior != nil && !t.isLesson {
		e.follow(b.posterior, t, a.worker.id, a.key)
	}
	took := min(span(a.at, at), b.spec.Lease)
	b.worked += min(took, maxWorked-b.worked)
	b.tenant.used += took
	if !b.spec.Training {
		e.counters.Completed++
	}
	reward := a.reward()
	b.escrow -= reward
	b.spent += reward
	kind, payee := b.payee(a.worker)
	e.transfer(Transfer{At: now, Kind: kind, From: Account{BatchAccount, int64(b.spec.ID)}, To: payee, Amount: reward, Assignment: a.id()})
	if o := b.backlog.order; o != nil {
		o.expect(now, b.expectedTime())
	}
	e.produce(pending{kind: ReadyToAggregate, worker: a.worker, task: t})
}

// outcome is what came of an answer that is not provisional.
func (a *assignment) outcome() Outcome {
	out := Outcome{Counted: a.counted, Late: a.late}
	if a.counted {
		out.Paid, out.Held, _ = a.task.batch.holds(a.reward(), time.Time{})
	}
	return out
}

// KeepLate keeps an answer to an assignment that the engine has forgotten and
// the store says ran out: it does not count and is not paid. If its task is asked again since, it
// is submitted as any other.
func (e *Engine) KeepLate(now time.Time, id crowd.WorkerID, aid crowd.AssignmentID, body, key string) Outcome {
	if e.assignment(aid) != nil {
		if out, err := e.Submit(now, id, aid, body, key); err == nil {
			return out
		}
	}
	e.hear(now, id)
	e.settle(aid, func(a *AssignmentSnapshot) { a.State, a.AnsweredAt, a.Key, a.Late = crowd.Submitted, now, key, true })
	e.changes.Answers = append(e.changes.Answers, Answer{Assignment: aid, Worker: id, At: now, Body: body, Key: key, Late: true})
	return Outcome{Late: true}
}

// transfer notes a transfer of an amount, if it is one.
func (e *Engine) transfer(x Transfer) {
	if x.Amount > 0 {
		if x.Kind != Waiting { // that follows from time, whatever command it is paid with
			x.Author = e.author
		}
		e.changes.Transfers = append(e.changes.Transfers, x)
	}
}
