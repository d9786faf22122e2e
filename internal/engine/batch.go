package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// batch is a launched batch. Tasks that nobody was given yet cost no memory:
// they are the numbers from fresh to the end (or, when people are invited to
// single tasks, the numbers in their lists). Tasks with a label are forgotten.
type batch struct {
	// What every cycle looks at stands first, so that it is in few lines of the processor's cache.
	spec                  Spec // what Edit, Add, Grow and Seal change of it changes here
	tenant                *tenant
	class                 sched.Class
	dirty, stale, offered bool
	judged                bool // see Engine.judged
	stopped               bool // emergency stop of this batch
	enough                bool // it has as many labels as Spec.Enough asks for
	state                 crowd.BatchState

	turn      uint64
	open      int     // tasks that were handed out and have no label
	planned   int     // assignments wanted: T_b
	running   int     // in somebody's hands, or answered provisionally
	grace     *grace  // nil: answers count at once
	completed int     // counted answers: C_b
	labelled  int     // tasks with a label
	certainty float64 // sum of the labels' confidence
	takenOver TakenOver
	total     int         // see SetTotal
	escrow    crowd.Money // reserved and not paid
	promised  crowd.Money // of that, for what is running
	spent     crowd.Money
	worked    time.Duration
	held      heldTime               // but for training
	checks    *checks                // nil: there are none
	quality   *quality               // nil: it has no rules
	gave      map[crowd.WorkerID]int // counted answers, by who gave them; nil without Spec.PerWorker
	posterior *posterior             // nil, unless the rule follows it

	reviewedIn crowd.BatchID          // where its labels are reviewed; 0: nowhere
	reviewed   *quality               // what rules know of those whose labels it reviews; nil: there are none
	experience map[crowd.WorkerID]int // counted answers, by who gave them; nil without Review.NewWorkers
	past       []PastReward           // in order of Last
	waitsFrom  time.Time              // something of it has waited since then, as far as is known

	backlog backlog
	log     log // the assignments of tasks that were handed out and have no label

	ended    bool        // by itself, for Spec.Enough
	leaving  int         // open tasks that were taken out while somebody held them
	fewest   int         // annotations that a task wants before any came, if everybody may do every task
	released crowd.Money // of escrow, given back at the end
	settled  uint64      // see Engine.Settled
	life     timer       // until spec.EndsAt

	arrivals arrivals // of the answers that it wants

	launchedAt   time.Time
	firstStarted time.Time
	endedAt      time.Time
}

// task is a task that was handed out at least once and has no label yet.
type task struct {
	batch    *batch
	given    []*assignment // to everybody who ever held it: first the counted answers, in order
	place    uint64        // stamp in the backlog, 0 if not there
	n        uint32
	planned  int32 // annotations wanted: tid.num of the execution plan
	counted  int32 // answers
	live     int32 // in somebody's hands, or answered provisionally
	closed   bool
	removed  bool // taken out: wants no label, and nobody but who holds it
	isCheck  bool // a hand-out of a task whose answer is known, to one person
	isLesson bool // with isCheck: of one that teaches
}

// assignment is one worker's lease on one task, kept while the task is open.
// While the worker holds it, their timer knows when the lease ends.
type assignment struct {
	task    *task
	worker  *worker
	state   crowd.AssignmentState
	at      time.Time
	key     string // of the answer
	n       uint32 // number within the batch
	counted bool   // when it came, and was paid
	late    bool
	// disregarded is whether a counted answer was taken out since.
	disregarded bool
}

func (t *task) id() crowd.TaskID { return t.batch.spec.ID.Task(t.n) }

func (a *assignment) id() crowd.AssignmentID { return a.task.batch.spec.ID.Assignment(a.n) }

// open slots of the task: annotations wanted that nobody is working on.
func (t *task) slots() int32 { return t.planned - t.counted - t.live }

// give enters an assignment of the task.
func (t *task) give(a *assignment) {
	if t.given == nil {
		t.given = make([]*assignment, 0, t.planned)
	}
	t.given = append(t.given, a)
}

// count counts the answer of an assignment: behind those counted before.
func (t *task) count(a *assignment) {
	i := slices.Index(t.given, a)
	t.given[i], t.given[t.counted] = t.given[t.counted], a
	t.counted++
}

// uncount takes an answer out of the counted ones, whose order stays.
func (t *task) uncount(a *assignment) {
	i := slices.Index(t.given, a)
	copy(t.given[i:], t.given[i+1:t.counted])
	t.counted--
	t.given[t.counted] = a
}

// answers appends the keys of the counted answers, in order.
func (t *task) answers(keys []string) []string {
	for _, a := range t.given[:t.counted] {
		keys = append(keys, a.key)
	}
	return keys
}

func (t *task) heldBy(w crowd.WorkerID) bool {
	for _, a := range t.given {
		if a.worker.id == w {
			return true
		}
	}
	return false
}

// live reports whether an assignment has a place among those that its task wants.
func (a *assignment) live() bool { return a.state == crowd.Assigned || a.state == crowd.Provisional }

// waiting returns how many assignments are wanted and in nobody's hands.
func (b *batch) waiting() int { return b.planned - b.completed - b.running }

// canPay reports whether the budget pays one more assignment, at a reward, on top of
// those in people's hands.
func (b *batch) canPay(reward crowd.Money) bool {
	return reward <= b.escrow-b.promised && !b.beyondLimit(reward)
}

// rewardOf is what the answer of assignment n is paid: the reward in force when it was
// handed out.
func (b *batch) rewardOf(n uint32) crowd.Money {
	if len(b.past) == 0 { // as a rule: this much is inlined
		return b.spec.Reward
	}
	return b.pastReward(n)
}

func (b *batch) pastReward(n uint32) crowd.Money {
	for _, p := range b.past {
		if n <= p.Last {
			return p.Reward
		}
	}
	return b.spec.Reward
}

func (a *assignment) reward() crowd.Money { return a.task.batch.rewardOf(a.n) }

// maxWorked bounds the sum of observed times, some 146 years, so that it does not overflow.
const maxWorked = time.Duration(1 << 62)

// priorWeight is the number of observed answers that the requester's estimate
// of the task time counts for.
const priorWeight = 5

// expectedTime estimates the time of one assignment: the mean of what was
// observed, with the requester's figure counted as priorWeight observations.
func (b *batch) expectedTime() time.Duration {
	return (priorWeight*b.spec.TaskTime + b.worked) / time.Duration(priorWeight+b.completed)
}

// rule is the batch's rule for task n.
func (b *batch) rule(n uint32) label.Rule { return b.backlog.capped(b.spec.Rule, n) }

// fewAnswers is as many as a task has as a rule.
const fewAnswers = 8

// decide asks the rule about a task. One that was taken out, or is a check, is done as soon as
// nobody holds it.
func (b *batch) decide(t *task) label.Decision {
	if t.removed || t.isCheck {
		return label.Decision{Enough: t.live == 0, Want: int(t.counted + t.live)}
	}
	if b.posterior != nil { // decideAmong, written out: one call less in each cycle of a worker
		return b.posterior.decide(b.rule(t.n), t, int(t.live))
	}
	var buf [fewAnswers]string
	return b.rule(t.n).DecideWeighted(t.id(), t.answers(buf[:0]), t.weights(), int(t.live))
}

// decideAmong asks the rule about a task that live people work on.
func (b *batch) decideAmong(t *task, live int) label.Decision {
	if b.posterior != nil {
		return b.posterior.decide(b.rule(t.n), t, live)
	}
	var buf [fewAnswers]string
	return b.rule(t.n).DecideWeighted(t.id(), t.answers(buf[:0]), t.weights(), live)
}

// decideNow takes the answers that are there, at least one, as all there will be.
func (b *batch) decideNow(t *task) label.Decision {
	closed := b.spec.Rule.Closed(int(t.counted))
	if b.posterior != nil {
		return b.posterior.decide(closed, t, int(t.live))
	}
	return closed.DecideWeighted(t.id(), t.answers(nil), t.weights(), 0)
}

// firstWant is the number of annotations that task n wants before any came.
func (b *batch) firstWant(n uint32) int {
	if b.backlog.invitedTo(n) == 0 {
		return b.fewest
	}
	return firstOf(b.rule(n))
}

// firstOf is the number of annotations that a task of a rule wants before any came.
func firstOf(r label.Rule) int { return min(r.Fewest(), r.Most()) }

// start returns task n of b, which is about to be handed out for the first time.
func (e *Engine) start(b *batch, n uint32) *task {
	t := taken(&e.free.tasks)
	t.batch, t.n, t.planned = b, n, int32(b.firstWant(n))
	b.backlog.start(t)
	if b.posterior != nil {
		b.posterior.open[n] = t
	}
	b.open++
	return t
}

// progress fills in all of p, in place: every cycle does it.
func (b *batch) progress(p *Progress) {
	p.Batch, p.State, p.Stopped = b.spec.ID, b.state, b.stopped
	p.Priority, p.Deadline = b.spec.Priority, b.spec.Deadline
	p.Fresh, p.Issued, p.OldestOpen = b.backlog.fresh, b.log.next()-1, b.log.first
	p.Planned, p.Completed, p.Labelled, p.Certainty = b.planned, b.completed, b.labelled, b.certainty
	p.Escrow, p.Spent, p.Released, p.Worked = b.escrow, b.spent, b.released, b.worked
	p.WaitsFrom = b.waitsFrom
	p.HadEnough, p.TakenOver, p.Total, p.Known = b.ended, b.takenOver, b.total, len(b.backlog.known)
	p.LaunchedAt, p.EndedAt, p.FirstStarted = b.launchedAt, b.endedAt, b.firstStarted
	p.Tasks, p.Open, p.Removed = b.spec.Tasks, b.spec.Open, len(b.backlog.removed)
}

// openTasks returns the open tasks in order of their number.
func (b *batch) openTasks() []*task {
	list := make([]*task, 0, b.open)
	for _, a := range b.log.list {
		if a != nil && a == a.task.given[0] {
			list = append(list, a.task)
		}
	}
	slices.SortFunc(list, func(x, y *task) int { return cmp.Compare(x.n, y.n) })
	return list
}

func (e *Engine) sortedBatches() []*batch {
	list := make([]*batch, 0, len(e.batches))
	for _, b := range e.batches {
		list = append(list, b)
	}
	slices.SortFunc(list, func(x, y *batch) int { return cmp.Compare(x.spec.ID, y.spec.ID) })
	return list
}

// forget drops a task that has its label, or whose batch has ended.
func (e *Engine) forget(t *task) {
	t.forget()
	e.free.retire(t)
}

func (t *task) forget() {
	t.closed = true
	t.batch.open--
	if t.isCheck {
		t.batch.checks.open--
		if t.isLesson {
			t.batch.checks.learning--
		}
	}
	t.batch.backlog.remove(t)
	if p := t.batch.posterior; p != nil {
		delete(p.open, t.n)
	}
	for _, a := range t.given {
		t.batch.log.drop(a.n)
	}
}
