package engine

import (
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
)

// Edit is a change to a running batch; nil fields stay as they are.
type Edit struct {
	Priority   *float64
	Deadline   *time.Time // the zero time takes the deadline away
	Production *bool
	// Reward is paid for what is handed out from now on; who holds a task is paid what
	// they were promised.
	Reward *crowd.Money
	// Rule is the redundancy of all tasks without a label. Those that have enough
	// answers by it get their label at once; labels stay.
	Rule *label.Rule
	// Enough ends the batch by itself; its zero value takes that away.
	Enough *Enough
	// Stopped is the emergency stop of the batch, or its lifting.
	Stopped *bool

	// SmallCrowdOK asks for answers of more people than the pool has.
	SmallCrowdOK bool
	// Reserve is the most that may be added to the budget from the tenant's account where
	// the change can cost more than is left. The caller has made sure that the tenant
	// has it.
	Reserve crowd.Money
	// Release gives back to the tenant what the budget then holds beyond the most that
	// the batch can still cost.
	Release bool
}

// of is what a batch is after the edit.
func (x *Edit) of(s Spec) Spec {
	if x.Priority != nil {
		s.Priority = *x.Priority
	}
	if x.Deadline != nil {
		s.Deadline = *x.Deadline
	}
	if x.Production != nil {
		s.Production = *x.Production
	}
	if x.Reward != nil {
		s.Reward = *x.Reward
	}
	if x.Rule != nil {
		s.Rule = *x.Rule
	}
	switch {
	case x.Enough == nil:
	case *x.Enough == Enough{}:
		s.Enough = nil
	default:
		s.Enough = x.Enough
	}
	return s
}

// Edit changes a batch while it runs: all of it, or nothing if a part is refused. One
// that makes it more expensive is refused, with crowd.BudgetTooSmall, if the budget does
// not suffice for all that is left.
func (e *Engine) Edit(now time.Time, id crowd.BatchID, edit Edit) error {
	b, err := e.launched(id)
	if err != nil {
		return err
	}
	next := edit.of(b.spec)
	if err := e.mayBecome(now, b, &next, &edit); err != nil {
		return err
	}
	missing, err := b.missing(&next)
	if err != nil {
		return err
	}
	if missing > edit.Reserve {
		field := "redundancy"
		switch {
		case next.Reward != b.spec.Reward:
			field = "reward"
		case !next.Enough.same(b.spec.Enough) && next.Rule == b.spec.Rule:
			field = "enough"
		}
		return tooLittle(field, missing)
	}
	e.reserve(now, b, missing)
	if edit.Stopped != nil {
		b.stopped = *edit.Stopped
	}
	e.become(now, b, &next)
	e.touch(now, b, nil)
	e.mayServe(b)
	e.run(now)
	if edit.Release { // tasks may have got their labels by it
		e.releaseSpare(now, b)
	}
	return nil
}

// mayBecome checks what has changed from b's spec to next.
func (e *Engine) mayBecome(now time.Time, b *batch, next *Spec, edit *Edit) error {
	if next.Priority != b.spec.Priority {
		allowed := b.tenant.Tenant
		if next.Priority < b.spec.Priority { // it may be beyond a bound that was set since
			allowed.MaxPriority = 0
		}
		if err := allowed.Allows(next.Priority); err != nil {
			return err
		}
	}
	if !next.Deadline.Equal(b.spec.Deadline) {
		if err := validDeadline(next.Deadline, now); err != nil {
			return err
		}
	}
	if err := validReward(next.Reward); err != nil {
		return err
	}
	if next.Enough != nil {
		if err := next.Enough.validate(next.Reward); err != nil {
			return err
		}
	}
	if next.Rule == b.spec.Rule {
		return nil
	}
	if err := next.Rule.Validate(); err != nil {
		return err
	}
	if err := validClasses(next.Rule); err != nil {
		return err
	}
	if err := tooMany(int64(next.Tasks), next); err != nil {
		return err
	}
	if next.Rule.Fewest() <= b.spec.Rule.Fewest() || edit.SmallCrowdOK {
		return nil
	}
	return e.crowdSuffices(b, next.Rule.Fewest())
}

// become makes b what next says.
func (e *Engine) become(now time.Time, b *batch, next *Spec) {
	was := b.spec
	b.spec = *next
	revision := Revision{Batch: b.spec.ID}
	if was.Reward != next.Reward {
		revision.Was = PastReward{Last: b.log.next() - 1, Reward: was.Reward}
		b.keepPast(revision.Was)
	}
	if was.Rule != next.Rule {
		e.replanAll(now, b, was.Rule)
	}
	b.enough = b.enough && next.Enough != nil
	if was.Reward != next.Reward || was.Rule != next.Rule || was.Production != next.Production || !was.Enough.same(next.Enough) {
		e.revised(b, revision)
	}
}

// revised says what b is now.
func (e *Engine) revised(b *batch, r Revision) {
	r.Batch, r.Rule, r.Reward, r.Production, r.Enough = b.spec.ID, b.spec.Rule, b.spec.Reward, b.spec.Production, b.spec.Enough
	e.changes.Revisions = append(e.changes.Revisions, r)
}

// keepPast remembers a reward that is paid no more for what is handed out. All are kept, since a
// task that has its label may be asked again, of which somebody may answer late.
func (b *batch) keepPast(p PastReward) {
	if n := len(b.past); n == 0 || b.past[n-1].Last < p.Last {
		b.past = append(b.past, p)
	}
}

// replanAll follows a new rule, in place of was: each task without a label wants as many
// answers as it says, but no fewer than it has and people work on.
func (e *Engine) replanAll(now time.Time, b *batch, was label.Rule) {
	if b.waiting() == 0 {
		b.waitsFrom = now
	}
	b.fewest = b.spec.Rule.Fewest()
	b.followAnswers()
	b.eachUntouched(func(n uint32, tasks int) {
		more := tasks * (b.firstWant(n) - firstOf(b.backlog.capped(was, n)))
		b.planned += more
		e.wanted(now, b, more)
	})
	for _, t := range b.openTasks() {
		if t.isCheck {
			continue
		}
		e.replan(now, t, b.wanted(t))
		e.touch(now, b, t)
		if t.live == 0 && t.counted > 0 {
			e.produce(pending{kind: TryToAggregate, task: t})
		}
	}
}

// wanted is how many annotations an open task should have: what the rule says, but no
// fewer than it has and people work on.
func (b *batch) wanted(t *task) int32 { return max(int32(b.decide(t).Want), t.counted+t.live) }

// untouched is the number of tasks that nobody was given yet.
func (b *batch) untouched() int {
	return int(b.spec.Tasks) - b.labelled - (b.open - b.openChecks()) - (len(b.backlog.removed) - b.leaving)
}

// eachUntouched calls f with the numbers of the tasks that nobody was given yet. Where
// all are alike it is called once, with how many they are and any number.
func (b *batch) eachUntouched(f func(n uint32, tasks int)) {
	if b.backlog.invited == nil {
		f(1, b.untouched())
		return
	}
	open := make(map[uint32]bool, b.open)
	for _, t := range b.openTasks() {
		open[t.n] = true
	}
	for n := uint32(1); n <= b.spec.Tasks; n++ {
		if !open[n] && !b.backlog.isRemoved(n) && b.backlog.untouchedOne(n) {
			f(n, 1)
		}
	}
}

// An Addition is more tasks for a running batch, numbered on from those that it has.
type Addition struct {
	Had     uint32            // tasks that the caller knows it to have
	Tasks   uint32            // that are added
	Known   map[uint32]string // keys of those answers that are known, by the numbers of their tasks
	Lessons []uint32          // those of Known that teach, ascending
	Reserve crowd.Money       // the most that may be added to its budget from the tenant's account, which has it
}

// Add gives a running batch more tasks. The budget has to suffice for all that is left then.
func (e *Engine) Add(now time.Time, id crowd.BatchID, x Addition) error {
	b, err := e.launched(id)
	switch {
	case err != nil:
		return err
	case b.spec.Open:
		return crowd.Errorf(crowd.Conflict, "%s is of a step, whose workflow gives it its tasks", id)
	case x.Had != b.spec.Tasks:
		return crowd.Errorf(crowd.Conflict, "%s has %d tasks, not %d: somebody else has added some", id, b.spec.Tasks, x.Had)
	case x.Tasks == 0:
		return nil
	}
	next := b.spec
	if err := b.mayKnow(x.Known, x.Lessons, x.Had+1, x.Had+x.Tasks); err != nil {
		return err
	}
	if err := tooMany(int64(next.Tasks)+int64(x.Tasks), &next); err != nil {
		return err
	}
	next.Tasks += x.Tasks
	missing, err := b.missing(&next)
	if err != nil {
		return err
	}
	if missing > x.Reserve {
		return tooLittle("tasks", missing)
	}
	e.extend(now, b, x.Tasks, missing, x.Known, x.Lessons)
	if o := b.backlog.order; o != nil {
		for n := x.Had + 1; n <= b.spec.Tasks; n++ {
			if b.backlog.isKnown(n) {
				continue
			}
			o.add(now, n, now, Item{})
		}
	}
	e.revised(b, Revision{Added: x.Tasks})
	e.touch(now, b, nil)
	e.mayServe(b)
	e.run(now)
	return nil
}

// Remove takes tasks without a label out of a running batch: all of them, or none. They
// are handed out no more and get no label; their answers are kept, and who holds one is
// paid for theirs. To say it twice is no error.
func (e *Engine) Remove(now time.Time, id crowd.BatchID, numbers ...uint32) error {
	b, err := e.launched(id)
	switch {
	case err != nil:
		return err
	case b.backlog.except != nil:
		return crowd.Errorf(crowd.Conflict, "%s asks others than in the steps before it: no task is taken out of such a batch", id)
	}
	open := b.openAmong(numbers)
	for _, n := range numbers {
		switch {
		case n < 1 || n > b.spec.Tasks:
			return crowd.Fieldf("task", "%s has no task %d (it has %d)", id, n, b.spec.Tasks)
		case b.backlog.isKnown(n):
			return crowd.Errorf(crowd.Conflict, "%s is there to check people, or to teach them: its answer is known", id.Task(n))
		case !b.backlog.isRemoved(n) && open[n] == nil && !b.backlog.untouchedOne(n):
			return crowd.Errorf(crowd.Conflict, "%s has its label already", id.Task(n))
		}
	}
	had := len(b.backlog.removed)
	for _, n := range numbers {
		if !b.backlog.isRemoved(n) {
			e.removeOne(now, b, n, open[n])
		}
	}
	if len(b.backlog.removed) > had {
		e.endIfDone(now, b)
		e.run(now)
	}
	return nil
}

// removeOne takes out task n, of which it is known that it can be; t is nil if it was not
// handed out.
func (e *Engine) removeOne(now time.Time, b *batch, n uint32, t *task) {
	if b.backlog.removed == nil {
		b.backlog.removed = make(map[uint32]struct{})
	}
	b.backlog.removed[n] = struct{}{}
	e.changes.Removals = append(e.changes.Removals, Removal{Task: b.spec.ID.Task(n), At: now})
	if t == nil {
		want := b.firstWant(n)
		b.planned -= want
		e.wanted(now, b, -want)
		b.backlog.takeOut(n)
	} else {
		t.removed = true
		b.leaving++
		e.replan(now, t, t.counted+t.live)
		if t.live == 0 {
			e.produce(pending{kind: TryToAggregate, task: t})
		}
	}
	e.touch(now, b, t)
}

// openAmong returns those of the tasks that were handed out and have no label, in one walk
// through what was handed out.
func (b *batch) openAmong(numbers []uint32) map[uint32]*task {
	open := make(map[uint32]*task, len(numbers))
	for _, n := range numbers {
		open[n] = nil
	}
	for _, a := range b.log.list {
		if a == nil {
			continue
		}
		if _, asked := open[a.task.n]; asked {
			open[a.task.n] = a.task
		}
	}
	return open
}

// restoreRemoved takes out the tasks that were taken out. Of those in open, which have
// assignments, somebody may hold one yet.
func (b *batch) restoreRemoved(list []uint32, open map[crowd.TaskID]*task) {
	if len(list) == 0 {
		return
	}
	b.backlog.removed = make(map[uint32]struct{}, len(list))
	for _, n := range list {
		b.backlog.removed[n] = struct{}{}
		switch t := open[b.spec.ID.Task(n)]; {
		case t == nil:
			b.backlog.takeOut(n)
		case t.live == 0:
			t.removed = true
			t.forget()
		default:
			t.removed = true
			b.leaving++
		}
	}
	b.backlog.skip()
}

// removedFrom counts the tasks from n on that were taken out.
func (b *backlog) removedFrom(n uint32) (count int) {
	for r := range b.removed {
		if r >= n {
			count++
		}
	}
	return count
}
