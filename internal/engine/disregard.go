package engine

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// What somebody answered can be taken out of a running batch: their answers are disregarded. They stay kept and
// paid, and all that tells of what people did goes on with them: how many answers a batch was given and
// what for, how many each person gave, what each has shown. But no label is made of them any more. A task without a label
// is planned anew from the answers that are left. Of a task with a label it is withdrawn, and made again if
// the answers that are left suffice, or else asked of others. The person does not get these tasks again.
//
// The engine has forgotten the tasks that have labels: the caller reads them from the store.

// Disregard says which answers of somebody are disregarded.
type Disregard struct {
	Worker crowd.WorkerID
	Tasks  []AnsweredTask // a task at most once
	// Settled is what Engine.Settled returned before Tasks were read, when all of that was durable.
	Settled uint64
	// Reserve is the most that may be added to the budget from the tenant's account where asking
	// again can cost more than is left. The caller has made sure that the tenant has it.
	Reserve crowd.Money
	// Note is told to whoever gets one of the tasks that are decided anew; "": nothing is.
	Note string
}

// AnsweredTask is a task that somebody answered, as the store has it.
type AnsweredTask struct {
	N          uint32
	Assignment crowd.AssignmentID // whose answer is to be disregarded; it counts
	Label      *Label             // nil: it has none
	// Decided is whether somebody has corrected the label, or has reviewed it: then it stays, and nobody
	// is asked again.
	Decided bool
	Review  crowd.TaskID // of the label; 0: none was asked for
	Invited []crowd.WorkerID
	// SentBackBy lists who has sent a label of the task back, once for each time.
	SentBackBy []crowd.WorkerID
	// Assignments holds all assignments of the task in order of their ids; needed only of one
	// with a label.
	Assignments []AssignmentSnapshot
}

// Disregarded is what it comes to that answers are disregarded, or would.
type Disregarded struct {
	Answers    int // that are disregarded
	Tasks      int // that are decided anew
	Withdrawn  int // labels that are withdrawn
	Relabelled int // tasks that have a label again at once
	// Missed is how many tasks were passed over, since the store had their label later than they were read.
	Missed  int
	Cost    crowd.Money // the most that it makes the batch more expensive by
	Missing crowd.Money // what the budget lacks for that
	Spare   crowd.Money // what the budget has beyond what the batch can cost before; below 0: it lacks that
}

// disregarding is a Disregard looked into.
type disregarding struct {
	Disregarded
	marked []*AnsweredTask // that stay as they are
	open   []*assignment   // of tasks without a label
	closed []reopened

	reviews *batch           // of labels of the batch; nil: there is none
	given   map[uint32]*task // reviews of labels of the tasks, of those in somebody's hands, or given back
}

// reopened is a task that had its label, made again and not yet among those of its batch.
type reopened struct {
	*task
	of *AnsweredTask
}

// Settled is another number whenever an answer to a task with a label has come, says something else than
// before, or is disregarded: what was read of such a task holds no longer.
func (e *Engine) Settled(id crowd.BatchID) uint64 {
	if b := e.batches[id]; b != nil {
		return b.settled
	}
	return 0
}

// settle counts a change of an assignment that the engine has forgotten:
// of what is kept of it change says what is different.
func (e *Engine) settle(id crowd.AssignmentID, change func(*AssignmentSnapshot)) {
	if b := e.batches[id.Batch()]; b != nil {
		b.settled++
		e.resettle(b, id, change)
	}
}

// WouldDisregard returns what Disregard would come to. How many tasks would have a label again at once is not
// foreseen where that follows from the answers to others (label.Rule.FollowsAnswers).
func (e *Engine) WouldDisregard(id crowd.BatchID, x *Disregard) (Disregarded, error) {
	b, err := e.launched(id)
	if err != nil {
		return Disregarded{}, err
	}
	d, err := e.lookInto(b, x)
	return d.Disregarded, err
}

// ErrSettled is the error of a Disregard whose tasks have changed since they were read.
var ErrSettled = &crowd.Error{Code: crowd.Conflict, Message: "answers have come late meanwhile; try again"}

// Disregard takes what somebody answered out of a running batch. The budget has to suffice for all that the
// batch can cost then.
func (e *Engine) Disregard(now time.Time, id crowd.BatchID, x Disregard) (Disregarded, error) {
	b, err := e.launched(id)
	if err != nil {
		return Disregarded{}, err
	}
	d, err := e.lookInto(b, &x)
	if err != nil {
		return Disregarded{}, err
	}
	if d.Missing > x.Reserve {
		return d.Disregarded, tooLittle("budget", d.Missing)
	}
	if d.Answers == 0 {
		return d.Disregarded, nil
	}
	labels := len(e.changes.Labels)
	b.settled++ // what somebody else has read of these tasks
	e.reserve(now, b, d.Missing)
	if b.waiting() == 0 {
		b.waitsFrom = now
	}
	e.disregard(now, b, &x, &d)
	e.touch(now, b, nil)
	e.mayServe(b)
	e.run(now)
	d.Relabelled = 0
	for _, l := range e.changes.Labels[labels:] {
		if l.Task.Batch() == id && slices.ContainsFunc(d.closed, func(r reopened) bool { return r.of.N == l.Task.N() }) {
			d.Relabelled++
		}
	}
	return d.Disregarded, nil
}

// lookInto finds out what x comes to.
func (e *Engine) lookInto(b *batch, x *Disregard) (d disregarding, err error) {
	switch {
	case b.backlog.order != nil || b.backlog.except != nil:
		return d, crowd.Errorf(crowd.Conflict, "the tasks of %s are of a workflow, or reviews: what was made of their answers cannot be made anew", b.spec.ID)
	case x.Settled != b.settled:
		return d, ErrSettled
	}
	numbers := make([]uint32, len(x.Tasks))
	for i := range x.Tasks {
		numbers[i] = x.Tasks[i].N
	}
	d.findReviews(e.batches[b.reviewedIn], x.Tasks)
	open := b.openAmong(numbers)
	after := make(map[*task]*task) // what open tasks become
	var more []*task               // those that will be open, too
	for i := range x.Tasks {
		t := &x.Tasks[i]
		switch at := open[t.N]; {
		case b.backlog.isKnown(t.N) || at == nil && (b.backlog.isRemoved(t.N) || t.Label != nil && (t.Decided || d.reviewed(t))):
			d.marked = append(d.marked, t)
		case at != nil:
			if a := at.counts(t.Assignment, x.Worker); a != nil {
				d.open = append(d.open, a)
				left := *at
				left.given = slices.Clone(at.given)
				left.uncount(a)
				after[at] = &left
			}
		case t.Label == nil:
			d.Missed++
		default:
			r := reopened{b.remake(t, func(a *AssignmentSnapshot) bool { return a.ID == t.Assignment }), t}
			d.closed = append(d.closed, r)
			if b.posterior == nil && r.counted > 0 && b.decide(r.task).Enough {
				d.Relabelled++
			} else {
				more = append(more, r.task)
			}
		}
	}
	d.Answers, d.Tasks, d.Withdrawn = len(d.marked)+len(d.open)+len(d.closed), len(d.open)+len(d.closed), len(d.closed)
	return d, d.price(b, after, more)
}

// findReviews finds out which reviews of labels of tasks are to be done yet; r may be nil.
func (d *disregarding) findReviews(r *batch, tasks []AnsweredTask) {
	if r == nil {
		return
	}
	var numbers []uint32
	for i := range tasks {
		if x := tasks[i].Review; x.Batch() == r.spec.ID {
			numbers = append(numbers, x.N())
		}
	}
	d.reviews, d.given = r, r.openAmong(numbers)
}

// reviewed reports whether somebody has reviewed the label of a task since it was read.
func (d *disregarding) reviewed(t *AnsweredTask) bool {
	r, n := d.reviews, t.Review.N()
	return r != nil && t.Review.Batch() == r.spec.ID && d.given[n] == nil && !r.backlog.untouchedOne(n) && !r.backlog.isRemoved(n)
}

// dropReview takes out the review that was asked of a label that is withdrawn: the reviewer would not know what it
// is of, and may have answered the task since. Who holds it finishes it, and it says nothing.
func (e *Engine) dropReview(now time.Time, d *disregarding, t *AnsweredTask) {
	if r, n := d.reviews, t.Review.N(); r != nil && t.Review.Batch() == r.spec.ID && !r.backlog.isRemoved(n) {
		e.removeOne(now, r, n, d.given[n])
	}
}

// price finds out what it can cost more that b's open tasks become what after says, and that there are more.
func (d *disregarding) price(b *batch, after map[*task]*task, more []*task) error {
	tasks := b.openTasks()
	before, fits := b.mostWith(&b.spec, tasks)
	for i, t := range tasks {
		if left := after[t]; left != nil {
			tasks[i] = left
		}
	}
	most, ok := b.mostWith(&b.spec, append(tasks, more...))
	switch {
	case !ok && fits:
		return crowd.Fieldf("budget", "the batch can cost more than %s then", crowd.MaxMoney)
	case ok && most > before:
		d.Cost, d.Missing, d.Spare = most-before, max(most-b.escrow, 0), b.escrow-before
	}
	return nil
}

// counts returns the assignment of t if it is w's, and its answer counts.
func (t *task) counts(id crowd.AssignmentID, w crowd.WorkerID) *assignment {
	for _, a := range t.given[:t.counted] {
		if a.n == id.N() && a.worker.id == w {
			return a
		}
	}
	return nil
}

// remake makes a task again that the engine has forgotten, without the answers that are disregarded: it wants no
// more answers than are left.
func (b *batch) remake(x *AnsweredTask, out func(*AssignmentSnapshot) bool) *task {
	t := &task{batch: b, n: x.N, given: make([]*assignment, 0, len(x.Assignments))}
	var counted, rest []*AssignmentSnapshot
	for i := range x.Assignments {
		s := &x.Assignments[i]
		if s.Counts() && !out(s) {
			counted = append(counted, s)
		} else {
			rest = append(rest, s)
		}
	}
	slices.SortStableFunc(counted, func(x, y *AssignmentSnapshot) int { return x.AnsweredAt.Compare(y.AnsweredAt) })
	t.counted = int32(len(counted))
	for _, s := range append(counted, rest...) {
		t.given = append(t.given, &assignment{
			task: t, n: s.ID.N(), worker: &worker{id: s.Worker}, state: s.State, at: s.At, key: s.Key,
			counted: s.Counted, late: s.Late, disregarded: s.Disregarded || s.Counted && out(s),
		})
	}
	t.planned = t.counted
	return t
}

// disregard carries out what was looked into.
func (e *Engine) disregard(now time.Time, b *batch, x *Disregard, d *disregarding) {
	w := x.Worker
	mark := func(id crowd.AssignmentID, n uint32) {
		e.changes.Disregarded = append(e.changes.Disregarded, DisregardedAnswer{Assignment: id, At: now})
		if b.posterior != nil && !b.checks.teaches(n) {
			b.posterior.remove(n, w)
		}
	}
	anew := func(id crowd.AssignmentID, n uint32) {
		mark(id, n)
		if x.Note != "" {
			e.changes.Notes = append(e.changes.Notes, TaskNote{Task: b.spec.ID.Task(n), At: now, Text: x.Note, By: e.author})
		}
	}
	for _, a := range d.open {
		anew(a.id(), a.task.n)
	}
	lowest := b.log.first
	for i := range d.closed {
		t := &d.closed[i]
		anew(t.of.Assignment, t.n)
		for _, a := range t.given {
			lowest = min(lowest, a.n)
		}
	}
	for _, t := range d.marked {
		mark(t.Assignment, t.N)
	}
	if b.posterior != nil {
		e.relearn(b, d)
	}
	for _, a := range d.open {
		e.planWithout(now, a)
	}
	b.log.reach(lowest)
	for i := range d.closed {
		e.reopen(now, &d.closed[i])
		e.dropReview(now, d, d.closed[i].of)
	}
}

// planWithout plans an open task anew without one of the answers to it.
func (e *Engine) planWithout(now time.Time, a *assignment) {
	t, b := a.task, a.task.batch
	a.disregarded = true
	t.uncount(a)
	want := t.counted + t.live
	if !t.removed {
		want = b.wanted(t)
	}
	more := int(want-t.planned) + 1 // the batch was given the answer, and wants what its tasks want on top
	t.planned = want
	b.planned += more
	e.wanted(now, b, more)
	e.touch(now, b, t)
	if t.live == 0 && t.counted > 0 {
		e.produce(pending{kind: TryToAggregate, task: t})
	}
}

// reopen takes a task that had its label among the open ones of its batch, and decides it anew.
func (e *Engine) reopen(now time.Time, r *reopened) {
	t, b := r.task, r.batch
	for _, a := range t.given {
		b.log.list[a.n-b.log.first] = a
		if w := e.workers[a.worker.id]; w != nil {
			a.worker = w
		} else {
			a.worker.engine = e
		}
	}
	for _, a := range t.given {
		if !mayComeBack(a.state) {
			continue
		}
		if w := a.worker; e.workers[w.id] == w {
			w.remember(a)
		} else { // they have left the pool
			w.again = e.gone[w.id]
			w.remember(a)
			e.gone[w.id] = w.again
		}
	}
	b.open++
	b.labelled--
	b.certainty -= r.of.Label.Confidence
	if b.labelled == 0 {
		b.certainty = 0
	}
	e.changes.Unlabelled = append(e.changes.Unlabelled, Unlabelled{Task: t.id(), At: now})
	if b.backlog.invitedTo(t.n) > 0 {
		b.backlog.invited.reopen(t.n, r.of.Invited)
	}
	b.backlog.start(t)
	b.backlog.bar(t.n, r.of.SentBackBy)
	if b.posterior != nil {
		b.posterior.open[t.n] = t
	}
	if b.quality != nil {
		e.noteLabel(t, r.of.Label.Value, -1)
	}
	if t.counted > 0 {
		e.produce(pending{kind: TryToAggregate, task: t})
	} else {
		d := b.decide(t)
		e.decided(UpdateTask, t, &d)
	}
}

// relearn makes b's model again without what is disregarded, as a restart would, before it decides: else it took what
// rested on these answers for true. Open tasks of which it is sure now want no more.
func (e *Engine) relearn(b *batch, d *disregarding) {
	touched := make(map[*task]bool, len(d.open)) // which are decided in any case
	for _, a := range d.open {
		touched[a.task] = true
	}
	for i := range d.closed {
		b.posterior.setAll(d.closed[i].task)
	}
	b.posterior.model.Rebuild()
	b.posterior.settle()
	for _, t := range b.openTasks() {
		if !touched[t] && t.live == 0 && t.counted > 0 && !t.removed && !t.isCheck && b.decide(t).Enough {
			e.produce(pending{kind: TryToAggregate, task: t})
		}
	}
}

// remove takes what somebody answered to a task out of the model.
func (p *posterior) remove(n uint32, who crowd.WorkerID) {
	if j, known := p.workers[who]; known {
		p.model.Remove(int(n)-1, j)
	}
}
