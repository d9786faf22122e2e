package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// A reviewer who sees that a label is wrong, and not what is right, sends it back with a comment. Their review
// is done, and paid as any. The answers that the label was made of are disregarded, the label is withdrawn, and
// the task is asked again of others than those who answered it, and than whoever sent it back.
//
// What they said is no answer to the task: it is disregarded itself, and the task of the review is taken out, so
// that no label is made of it. In a batch with a grace the verdict acts when it comes to count. Until then the
// engine keeps what it needs to know of the task, which it has forgotten.

// MaxSendBacks is how many labels of one task are sent back at most. Two other crowds have been asked then: that
// they are sent back once more says more about the task than about the answers, and each time is paid anew.
const MaxSendBacks = 2

// SendBack is the verdict of a reviewer that a label is wrong.
type SendBack struct {
	Comment string       // which whoever gets the task from then on is told
	Of      AnsweredTask // whose label it is; Assignment is not needed
	Settled uint64       // what Engine.Settled returned before Of was read, when all of that was durable
}

// comment is the comment of a verdict; "": there is none.
func (x *SendBack) comment() string {
	if x == nil {
		return ""
	}
	return x.Comment
}

// SendBack commits the verdict of whoever holds a review that its label is wrong. Like an answer it counts once,
// however often it is sent, and is provisional where the batch of reviews has a grace. body is what is kept as
// the answer. It is refused if the label is there no more, if somebody has decided it, if it was sent back
// MaxSendBacks times, or if the money for asking again and for a further review is not there: then the reviewer
// still holds the review.
func (e *Engine) SendBack(now time.Time, id crowd.WorkerID, aid crowd.AssignmentID, body string, x SendBack) (Outcome, error) {
	a := e.assignment(aid)
	switch {
	case a == nil:
		return Outcome{}, ErrForgotten
	case a.worker.id != id:
		return Outcome{}, errNotYours(aid)
	case a.state.Answered() || a.state == crowd.Provisional:
		return a.again(), nil
	case a.state != crowd.Assigned:
		return Outcome{}, NoSendBack(aid, a.state)
	}
	t, err := e.returning(a, &x)
	if err != nil {
		return Outcome{}, err
	}
	r := a.task.batch
	a.worker.seen = now
	e.learn(now, a.worker, r)
	if r.grace != nil {
		return e.keepProvisional(now, a, body, "", &x), nil
	}
	e.takeReviewOut(now, a)
	e.letGo(now, a)
	a.state, a.counted = crowd.Submitted, true
	e.count(now, a, now)
	e.verdict(now, a, &verdict{&x, true, t})
	answer := Answer{Assignment: aid, Worker: id, At: now, Body: body, Counted: true, SendBack: x.Comment}
	answer.Paid, answer.Held, answer.Due = r.holds(a.reward(), now)
	e.changes.Answers = append(e.changes.Answers, answer)
	out := a.outcome()
	e.touch(now, r, a.task)
	e.run(now)
	return out, nil
}

// NoSendBack is the error of sending a label back with a review that is in another state than in the reviewer's
// hands.
func NoSendBack(aid crowd.AssignmentID, state crowd.AssignmentState) error {
	return crowd.Errorf(crowd.Conflict, "%s is %s: a label is sent back by who holds its review", aid, state)
}

// again is what came of an answer that is sent once more.
func (a *assignment) again() Outcome {
	out := a.outcomeInGrace()
	out.Duplicate, out.Ended = true, a.late && !a.counted && a.task.batch.state.Ended()
	return out
}

// returning looks into sending back the label whose review a is. It returns the task as it is asked again.
func (e *Engine) returning(a *assignment, x *SendBack) (*reopened, error) {
	r, of := a.task.batch, &x.Of
	no := func(format string, args ...any) error {
		return &crowd.Error{Code: crowd.Conflict, Field: "send_back", Message: fmt.Sprintf(format, args...) + ": accept the label or answer the task"}
	}
	b := e.batches[r.spec.ReviewOf]
	switch {
	case r.spec.ReviewOf == 0:
		return nil, crowd.Fieldf("send_back", "%s is no review: answer the task", a.task.id())
	case r.backlog.isRemoved(a.task.n) || of.Label == nil || of.Review != a.task.id():
		return nil, &crowd.Error{Code: crowd.Conflict, Field: "send_back", Message: "the label was withdrawn meanwhile, and is no more there to be sent back: answer the task"}
	case b == nil:
		return nil, no("%s has ended, and nobody is asked again", r.spec.ReviewOf)
	case x.Settled != b.settled:
		return nil, ErrSettled
	case of.Decided:
		return nil, no("somebody has decided meanwhile what the label is, and that stays")
	case len(of.SentBackBy) >= MaxSendBacks:
		return nil, no("%d labels of this task were sent back before, and no more are", MaxSendBacks)
	case b.backlog.isKnown(of.N) || b.backlog.order != nil || b.backlog.except != nil:
		return nil, no("the label stays, whatever its answers are")
	}
	t := &reopened{b.remake(of, (*AssignmentSnapshot).Counts), of}
	var d disregarding
	poor := func(in *batch, forWhat string) error {
		err := no("%s has no money %s", in.spec.ID, forWhat).(*crowd.Error)
		err.Code = crowd.BudgetTooSmall
		return err
	}
	if err := d.price(b, nil, []*task{t.task}); err != nil || d.Missing > 0 || !b.canPay(b.spec.Reward) {
		return nil, poor(b, "to ask again")
	}
	if most, ok := r.most(&r.spec); !ok || most > r.escrow-r.spec.Reward { // the new label may be reviewed, too
		return nil, poor(r, "for a further review")
	}
	return t, nil
}

// takeReviewOut takes the task of a review out whose holder a is: no label is made of what they say.
func (e *Engine) takeReviewOut(now time.Time, a *assignment) {
	if r := a.task.batch; !r.backlog.isRemoved(a.task.n) {
		e.removeOne(now, r, a.task.n, a.task)
	}
}

// verdict is a SendBack that is carried out.
type verdict struct {
	*SendBack
	says  bool      // false: the label was withdrawn before, and it says nothing
	asked *reopened // the task, as it is asked again; nil: the label stays
}

// verdict carries out that a label is sent back, as the answer to its review counts and is paid.
func (e *Engine) verdict(now time.Time, a *assignment, x *verdict) {
	e.changes.Disregarded = append(e.changes.Disregarded, DisregardedAnswer{Assignment: a.id(), At: now})
	a.disregarded = true
	a.task.uncount(a)
	a.task.planned = a.task.counted + a.task.live
	by, t := a.worker.id, x.asked
	if x.says {
		e.changes.SentBack = append(e.changes.SentBack, SentBack{
			Review: a.task.id(), Assignment: a.id(), Task: a.task.batch.spec.ReviewOf.Task(x.Of.N), By: by, At: now, Comment: x.Comment, Acts: t != nil,
		})
	}
	if t == nil {
		return
	}
	b := t.batch
	b.settled++
	if b.waiting() == 0 {
		b.waitsFrom = now
	}
	lowest := b.log.first
	for _, given := range t.given {
		lowest = min(lowest, given.n)
	}
	for i := range x.Of.Assignments {
		if s := &x.Of.Assignments[i]; s.Counts() {
			e.changes.Disregarded = append(e.changes.Disregarded, DisregardedAnswer{Assignment: s.ID, At: now})
			if b.posterior != nil {
				b.posterior.remove(t.n, s.Worker)
			}
		}
	}
	e.changes.Notes = append(e.changes.Notes, TaskNote{Task: t.id(), At: now, Text: x.Comment, By: by, ByReviewer: true})
	if b.posterior != nil {
		e.relearn(b, &disregarding{closed: []reopened{*t}})
	}
	b.log.reach(lowest)
	t.of.SentBackBy = append(slices.Clone(t.of.SentBackBy), by)
	e.reopen(now, t)
	e.touch(now, b, nil)
	e.mayServe(b)
}

// verdictDue is the verdict of an answer that comes to count; nil: it is an answer to the task. If the label cannot
// be sent back any more, it stays.
func (e *Engine) verdictDue(now time.Time, p *provisional) *verdict {
	if p.sendsBack == nil {
		return nil
	}
	r := p.of.task.batch
	v := &verdict{SendBack: p.sendsBack, says: !r.backlog.isRemoved(p.of.task.n)}
	if b := e.batches[r.spec.ReviewOf]; b != nil {
		v.Settled = b.settled // it was kept up to date
	}
	if t, err := e.returning(p.of, v.SendBack); err == nil {
		v.asked = t
	}
	e.takeReviewOut(now, p.of)
	return v
}

// sentBackHere are the verdicts of the reviews of b's labels that do not count yet.
func (e *Engine) sentBackHere(b *batch, each func(*SendBack)) {
	r := e.batches[b.reviewedIn]
	if r == nil || r.grace == nil {
		return
	}
	for _, p := range r.grace.list {
		if p.sendsBack != nil {
			each(p.sendsBack)
		}
	}
}

// resettle follows a change of an assignment of b that the engine has forgotten.
func (e *Engine) resettle(b *batch, id crowd.AssignmentID, change func(*AssignmentSnapshot)) {
	e.sentBackHere(b, func(x *SendBack) {
		for i := range x.Of.Assignments {
			if s := &x.Of.Assignments[i]; s.ID == id {
				change(s)
			}
		}
	})
}

// DecideLabel says whether somebody on staff has decided what the label of a task is, or has taken that back: what is
// decided is not sent back by a verdict that comes to count.
func (e *Engine) DecideLabel(id crowd.TaskID, decided bool) {
	if b := e.batches[id.Batch()]; b != nil {
		e.sentBackHere(b, func(x *SendBack) {
			if x.Of.N == id.N() {
				x.Of.Decided = decided
			}
		})
	}
}

// bar keeps people from task n, who have sent a label of it back.
func (b *backlog) bar(n uint32, people []crowd.WorkerID) {
	if len(people) == 0 {
		return
	}
	if b.sentBack == nil {
		b.sentBack = make(map[uint32][]crowd.WorkerID)
	}
	b.sentBack[n] = slices.Clone(people)
}

// sentBackBy reports whether w has sent a label of task n back.
func (b *backlog) sentBackBy(n uint32, w crowd.WorkerID) bool {
	return b.sentBack != nil && slices.Contains(b.sentBack[n], w)
}

// whySentBack says why w, who finds none of the tasks left, does not.
func (b *backlog) whySentBack(w crowd.WorkerID) crowd.Reason {
	for _, people := range b.sentBack {
		if slices.Contains(people, w) {
			return crowd.AnsweredElsewhere
		}
	}
	return crowd.AlreadyDid
}

// restoreSendBacks keeps those who have sent labels back from the tasks that are asked again.
func (b *batch) restoreSendBacks(s *BatchSnapshot, open map[crowd.TaskID]*task) {
	if b.spec.Review == nil {
		return
	}
	for n, people := range s.NotBy {
		if t := open[b.spec.ID.Task(n)]; t != nil && !t.closed { // else it was taken out since
			b.backlog.bar(n, people)
		}
	}
}

// checkSendBacks verifies that nobody holds a task whose label they have sent back.
func (b *batch) checkSendBacks(open []*task) error {
	asked := 0
	for _, t := range open {
		people := b.backlog.sentBack[t.n]
		if len(people) > 0 {
			asked++
		}
		for _, a := range t.given {
			if a.live() && slices.Contains(people, a.worker.id) {
				return fmt.Errorf("%s holds %s, and has sent its label back", a.worker.id, t.id())
			}
		}
	}
	if asked != len(b.backlog.sentBack) {
		return fmt.Errorf("%d tasks are asked again since they were sent back, of %d", asked, len(b.backlog.sentBack))
	}
	return nil
}
