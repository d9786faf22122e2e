package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
	"github.com/throng-dev/throng/sla"
)

// Terms is what is promised of a batch's tasks. Each task is a step on the way of
// an item, which began before the task and ends after it.
type Terms struct {
	Penalty sla.Penalty   // what an item costs by its age at its end
	Others  []sla.Penalty `json:",omitempty"` // of items of the classes 1, 2, …; Penalty is of class 0
	Tail    time.Duration // expected from a task's label to the end of its item's way; ≥ 0
	Work    time.Duration // of people, expected on that way after the label; 0 to MaxWork
}

// MaxWork is the most work that an item may have before it.
const MaxWork = 10 * 365 * 24 * time.Hour

func (t *Terms) validate() error {
	if t.Tail < 0 {
		return crowd.Fieldf("tail", "%s is no time from a label to the end of an item's way (0 or more)", t.Tail)
	}
	if t.Work < 0 || t.Work > MaxWork {
		return crowd.Fieldf("work", "%s is no work of people from a label to the end of an item's way (0 to %s)", t.Work, MaxWork)
	}
	if len(t.Others) > sla.MaxClasses-1 {
		return crowd.Fieldf("classes", "%d classes of items are too many: at most %d", 1+len(t.Others), sla.MaxClasses)
	}
	for i := range t.Others {
		if err := t.Others[i].Validate(); err != nil {
			return err
		}
	}
	return t.Penalty.Validate()
}

// of is the penalty of a class.
func (t *Terms) of(class int) *sla.Penalty {
	if class == 0 {
		return &t.Penalty
	}
	return &t.Others[class-1]
}

// hasClass checks that there is a class.
func (t *Terms) hasClass(class int) error {
	if class < 0 || class > len(t.Others) {
		return crowd.Fieldf("class", "there is no class %d of items (from 0 to %d)", class, len(t.Others))
	}
	return nil
}

// order keeps the tasks of a batch with an SLA that want a worker in the order of
// package sla, in the form of the pool's policy (see sched.PenaltyForm). The
// response time is the expected time of one assignment.
//
// A request counts from when its task came to the batch, also if the task comes
// back or wants one more person: its item has waited all that time, and who has
// begun goes before who has not. So among equals the order is that of the
// numbers.
//
// Finding a worker's task passes over those before it that they have held:
// O(k log k) for k of them. Whether there is one at all is known from the
// backlog's list and costs no walk.
type order struct {
	queue   *sla.Queue
	terms   Terms
	several bool                   // there are items that are promised different things
	share   int64                  // of lookAhead.work
	place   int                    // among lookAhead.batches, from 1; 0: none
	open    map[uint32]*task       // handed out, without a label
	away    map[uint32]sla.Request // of those among them that want nobody at the moment
	at      time.Time              // the latest time that the queue was told
	change  timer                  // until the queue's next change
}

func newOrder(b *batch, form sla.Form, terms *Terms) *order {
	t := *terms
	t.Others = slices.Clone(t.Others)
	return &order{
		queue: sla.NewQueue(form, max(b.spec.TaskTime, leastResponse)), terms: t,
		several: slices.ContainsFunc(t.Others, func(p sla.Penalty) bool { return p != t.Penalty }),
		open:    make(map[uint32]*task), away: make(map[uint32]sla.Request), change: timer{batch: b},
	}
}

// leastResponse is the least response time that an order assumes. On the slope
// of a linear penalty each task moves once in so much time.
const leastResponse = time.Second

// formOf is the form of the queues under a policy.
func formOf(p sched.Policy) sla.Form { return sla.Form(sched.PenaltyForm(p.Name())) }

// add lets a new task wait.
func (o *order) add(now time.Time, n uint32, since time.Time, item Item) {
	if item.Born.IsZero() {
		item.Born = since
	}
	o.put(now, sla.Request{ID: int64(n), Since: since, Start: item.Born, Bound: item.Bound, Penalty: o.terms.of(item.Class)})
}

func (o *order) put(now time.Time, r sla.Request) {
	r.Tail, o.at = o.terms.Tail, now
	o.queue.Put(now, r)
}

// back lets a task wait that wants a worker again.
func (o *order) back(now time.Time, n uint32) {
	if r, ok := o.away[n]; ok {
		delete(o.away, n)
		o.put(now, r)
	}
}

// leave takes a task out that wants nobody, or has its label.
func (o *order) leave(t *task) {
	if r, _, ok := o.queue.Get(int64(t.n)); ok {
		o.queue.Drop(r.ID)
		o.away[t.n] = r
	}
	if t.closed {
		delete(o.away, t.n)
		delete(o.open, t.n)
	}
}

// next returns the first task that w has not held and may do, or else 0: the task itself
// if somebody was given it before.
func (o *order) next(w crowd.WorkerID, except *exclusions) (*task, uint32) {
	for r := range o.queue.All() {
		n := uint32(r.ID)
		if t := o.open[n]; (t == nil || !t.heldBy(w)) && !except.bars(n, w) {
			return t, n
		}
	}
	return nil, 0
}

// expect takes over the expected time of one assignment as the response time
// when it has moved by more than a tenth: that costs a full pass.
func (o *order) expect(now time.Time, response time.Duration) {
	response = max(response, leastResponse)
	used := o.queue.Response()
	if moved := max(response-used, used-response); moved > used/10 {
		o.at = now
		o.queue.SetResponse(now, response)
	}
}

// lookAhead has the order weigh items that are promised different things as the policy
// weighs batches. One response time is too little where many wait: whoever is due next would
// go first, whatever it costs that others come too late. It reports whether that changed
// the order, and with it perhaps when it changes next: what was due is done.
func (o *order) lookAhead(look time.Duration) bool {
	if !o.several || o.queue.Form() != sla.ATC || o.queue.Look() == look {
		return false
	}
	o.queue.SetLook(o.at, look)
	return true
}

// reform changes the form of the queue.
func (o *order) reform(form sla.Form) {
	if o.queue.Form() == form {
		return
	}
	fresh := sla.NewQueue(form, o.queue.Response())
	for r := range o.queue.All() {
		fresh.Put(o.at, r)
	}
	o.queue = fresh
}

// restore lets the tasks without a label wait. When they came is not kept: no
// earlier than their own items and those before them were born, and that is taken
// for it. It keeps the order among equals, that of the numbers.
func (o *order) restore(now time.Time, items []ItemSnapshot, b *batch) error {
	items = slices.Clone(items)
	slices.SortFunc(items, func(x, y ItemSnapshot) int { return cmp.Compare(x.N, y.N) })
	since, last := b.launchedAt, uint32(0)
	for _, it := range items {
		if it.N > b.spec.Tasks {
			break // not told of yet
		}
		if it.N <= last {
			return fmt.Errorf("the item of %s stands there twice", b.spec.ID.Task(it.N))
		}
		last = it.N
		if it.Born.After(since) && !it.Born.After(now) {
			since = it.Born
		}
		if err := o.terms.hasClass(it.Class); err != nil {
			return fmt.Errorf("the item of %s: %w", b.spec.ID.Task(it.N), err)
		}
		o.add(now, it.N, since, Item{Born: it.Born, Bound: it.Bound, Class: it.Class})
	}
	if want := int(b.spec.Tasks) - b.labelled; o.queue.Len() != want {
		return fmt.Errorf("%d tasks have no label, but there are items of %d", want, o.queue.Len())
	}
	return nil
}

// A Rest is what items have before them after a label of a batch, as in Terms.
type Rest struct{ Tail, Work time.Duration }

// hasClasses refuses items of classes that the batch does not have.
func (b *batch) hasClasses(items []Item) error {
	terms := &Terms{}
	if o := b.backlog.order; o != nil {
		terms = &o.terms
	}
	for i := range items {
		if err := terms.hasClass(items[i].Class); err != nil {
			return err
		}
	}
	return nil
}

// SetRest changes the expected time and work from a label of the batch to the end of
// its item's way, for all of its tasks. It is not kept: after a restart the batch has
// those of its Spec again.
func (e *Engine) SetRest(now time.Time, id crowd.BatchID, rest Rest) error {
	b, err := e.promised(id)
	if err != nil {
		return err
	}
	o := b.backlog.order
	terms := o.terms
	terms.Tail, terms.Work = rest.Tail, rest.Work
	if err := terms.validate(); err != nil {
		return err
	}
	o.terms.Tail, o.terms.Work, o.at = rest.Tail, rest.Work, now
	o.queue.SetTail(now, rest.Tail)
	e.reorder(b)
	return nil
}

// SetBound changes when the other branches of the way of task n's item are
// expected to end; zero: there are none. Of a task with a label it changes
// nothing.
func (e *Engine) SetBound(now time.Time, id crowd.BatchID, n uint32, bound time.Time) error {
	b, err := e.promised(id)
	if err != nil {
		return err
	}
	if n < 1 || n > b.spec.Tasks {
		return crowd.Fieldf("task", "%s has no task %d (it has %d)", id, n, b.spec.Tasks)
	}
	o := b.backlog.order
	if r, _, ok := o.queue.Get(int64(n)); ok {
		r.Bound = bound
		o.put(now, r)
		e.reorder(b)
	} else if r, ok := o.away[n]; ok {
		r.Bound = bound
		o.away[n] = r
	}
	return nil
}

// promised returns a running batch that has an SLA.
func (e *Engine) promised(id crowd.BatchID) (*batch, error) {
	b, err := e.launched(id)
	if err == nil && b.backlog.order == nil {
		return nil, crowd.Errorf(crowd.Conflict, "%s was launched without an SLA", id)
	}
	return b, err
}

// onChange does what the calendar of b's order says is due.
func (e *Engine) onChange(now time.Time, b *batch) {
	b.backlog.order.at = now
	b.backlog.order.queue.Advance(now)
	e.reorder(b)
}

// reorder says that the order of b's tasks may have changed: the policy has to
// hear of its first one, and the next change is waited for.
func (e *Engine) reorder(b *batch) {
	if !b.stale {
		b.stale = true
		e.stale = append(e.stale, b)
	}
	if o := b.backlog.order; o != nil && b.state.Open() {
		e.awaitChange(o)
	}
}

func (e *Engine) awaitChange(o *order) {
	if at, ok := o.queue.NextChange(); ok {
		e.timers.set(&o.change, at)
	} else {
		o.change.stop()
	}
}

// urgency is what the policy may know of the first of b's tasks, in v.
func (e *Engine) urgency(b *batch, v *sched.Batch) {
	v.Due, v.Falls, v.Stake, v.Added, v.Since, v.Work, v.Look = time.Time{}, time.Time{}, 0, 0, b.launchedAt, 0, 0
	o := b.backlog.order
	if o == nil {
		return
	}
	e.ahead.count(b)
	if o.lookAhead(e.ahead.look) {
		e.awaitChange(o)
	}
	r, added, ok := o.queue.Head()
	if !ok {
		return
	}
	v.Added, v.Since = added, r.Since
	if step, ok := o.queue.HeadStep(); ok {
		answers := b.firstWant(uint32(r.ID))
		if t := o.open[uint32(r.ID)]; t != nil {
			answers = int(t.slots())
		}
		v.Due, v.Falls, v.Stake = step.Due, step.Falls, step.Cost
		v.Work, v.Look = b.rest(answers), e.ahead.look
	}
}
