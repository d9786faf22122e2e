package pools

import (
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/pool"
)

// An Outcome is what came of a run.
type Outcome struct {
	Seed  uint64
	Rep   int
	End   time.Duration
	Pools []PoolOutcome
	// Total is over all pools: counts and costs are summed, times of tasks are
	// over all tasks, preferences over all people; c* and the gaps are sums.
	Total PoolOutcome

	// Trace is how much of a trace was used; nil without one.
	Trace *TraceUse

	Series  []Series // by pool; nil unless recorded
	Actions []Action // in order of time; nil unless recorded
}

// A PoolOutcome is what came of one pool. What there is nothing to say of (the
// wait of no task) is NaN.
type PoolOutcome struct {
	Arrived   int64 // tasks
	Begun     int64 // put into somebody's hands
	Completed int64
	Queue     int // wanted and in nobody's hands at the end
	InHand    int // in somebody's hands at the end

	Throughput float64     // completed tasks a second
	Cost       crowd.Money // paid for waiting
	// Person-seconds: on duty, with a task (training too), without one.
	OnDuty, Worked, Idled float64
	Utilisation           float64 // Worked / OnDuty

	// The wait of tasks from their arrival to the first hand, in seconds, of those
	// begun; the quantile is right to 0.4 %. MeanWaitAll also counts those still in
	// the queue with what they have waited so far.
	MeanWait, P95Wait, MeanWaitAll float64

	MeanSize  float64 // people on duty
	MeanBest  float64 // c* of the true figures
	Gap       float64 // mean |size − c*| over time, by the true figures
	OwnGap    float64 // the same by c* as the control sees it, over the time in which it does
	EndSize   int
	EndComing int

	// People.
	Start               int
	Asked, Withdrawn    int64
	Refused             int64 // not even asked: the crowd was used up
	PassedOver          int64 // of the crowd, not asked: they like the pool too little
	Joined              int64
	Abandoned, Released int64
	MovedIn, MovedOut   int64

	// Preferences, from 0 to 1: mean over the time of people on duty, mean over
	// completed tasks, and means over those who moved out of what they left and
	// what they went to.
	Preference, WorkPreference float64
	MovedBefore, MovedAfter    float64
}

// A Series is a pool over time.
type Series struct{ Samples []Sample }

// A Sample is a pool as a control step saw it, before it was obeyed.
type Sample struct {
	At                                  time.Duration
	Size, Training, Idle, Queue, Coming int
	Best                                int         // c* of the true figures; pool.Unknown: there is none
	CStar                               int         // as the control sees it; pool.Unknown: not known yet
	Lambda, Mu                          float64     // as the control sees them
	Cost                                crowd.Money // so far
}

// An Action is something that was done, or only advised.
type Action struct {
	At     time.Duration
	Pool   int
	Kind   ActionKind
	N      int
	To     int // of a move: the pool
	Advice bool
}

// ActionKind is a kind of action.
type ActionKind string

// The kinds of action.
const (
	Recruit  ActionKind = "recruit"
	Withdraw ActionKind = "withdraw"
	Release  ActionKind = "release"
	Move     ActionKind = "move"
)

func actionsOf(at time.Duration, i int, d *pool.Decision) []Action {
	var list []Action
	add := func(kind ActionKind, n, to int) {
		if n > 0 {
			list = append(list, Action{At: at, Pool: i, Kind: kind, N: n, To: to, Advice: d.Advice})
		}
	}
	add(Recruit, d.Recruit, 0)
	add(Withdraw, d.Withdraw, 0)
	add(Release, d.Release, 0)
	for k := 0; k < len(d.Moves); {
		first := k
		for k < len(d.Moves) && d.Moves[k].To == d.Moves[first].To {
			k++
		}
		add(Move, k-first, int(d.Moves[first].To)-1)
	}
	return list
}

// finish closes the books at the horizon.
func (w *world) finish() *Outcome {
	w.now = w.horizon
	out := &Outcome{Seed: w.run.Seed, Rep: w.run.Rep, End: w.run.Horizon, Pools: make([]PoolOutcome, len(w.pools))}
	var all books
	for i := range w.pools {
		p := &w.pools[i]
		// Everybody is paid up to now.
		w.fail(p.engine.SetRetainer(w.time(), engine.Retainer{Called: true, Rate: w.run.Salary, Promise: time.Minute}))
		w.read(int32(i))
		p.elapse(w.now)
		r := p.engine.Reading(w.time())
		o := &p.books.out
		o.Arrived, o.Queue, o.InHand = r.Counters.Arrived, int(r.Counters.Arrived-o.Begun), int(o.Begun-o.Completed)
		o.OnDuty, o.Worked, o.Idled = r.Counters.OnDuty.Seconds(), r.Counters.Worked.Seconds(), r.Counters.Idled.Seconds()
		o.EndSize, o.EndComing = len(p.list), p.coming
		waiting := 0.0
		for n := p.arrived - int64(o.Queue); n < p.arrived; n++ {
			if s, ok := p.engine.Status(firstBatch + crowd.BatchID(n)); ok {
				waiting += w.time().Sub(s.LaunchedAt).Seconds()
			}
		}
		p.books.close(w.horizon, waiting)
		out.Pools[i] = *o
		all.add(&p.books, waiting)
	}
	all.close(w.horizon, all.waiting)
	out.Total = all.out
	if w.run.People.Trace != nil {
		used := w.crowd.used
		used.count(w.run.People.Trace)
		out.Trace = &used
	}
	if w.run.Record > 0 {
		out.Series, out.Actions = w.control.series, w.control.actions
	}
	w.happened(everyPool)
	return out
}

// close works the means out. waiting is how long the tasks in the queue have
// waited, together.
func (b *books) close(horizon int64, waiting float64) {
	o, t := &b.out, float64(horizon)
	o.Throughput = float64(o.Completed) / (t / 1e9)
	o.Utilisation = o.Worked / o.OnDuty
	o.MeanWait, o.P95Wait = b.wait/float64(o.Begun), b.waits.quantile(0.95)
	o.MeanWaitAll = (b.wait + waiting) / float64(o.Arrived)
	o.MeanSize, o.MeanBest, o.Gap = b.size/t, b.best/t, b.gap/t
	o.OwnGap = b.own / b.ownKnown
	o.Preference, o.WorkPreference = b.prefers/b.size, b.workPrefers/float64(o.Completed)
	o.MovedBefore, o.MovedAfter = b.movedBefore/float64(o.MovedOut), b.movedAfter/float64(o.MovedOut)
	if b.size == 0 {
		o.Preference = math.NaN()
	}
}

// add adds a pool's books to those of all.
func (b *books) add(p *books, waiting float64) {
	o, q := &b.out, &p.out
	o.Arrived, o.Begun, o.Completed = o.Arrived+q.Arrived, o.Begun+q.Begun, o.Completed+q.Completed
	o.Queue, o.InHand, o.Cost = o.Queue+q.Queue, o.InHand+q.InHand, o.Cost+q.Cost
	o.OnDuty, o.Worked, o.Idled = o.OnDuty+q.OnDuty, o.Worked+q.Worked, o.Idled+q.Idled
	o.EndSize, o.EndComing, o.Start = o.EndSize+q.EndSize, o.EndComing+q.EndComing, o.Start+q.Start
	o.Asked, o.Withdrawn, o.Refused = o.Asked+q.Asked, o.Withdrawn+q.Withdrawn, o.Refused+q.Refused
	o.PassedOver += q.PassedOver
	o.Joined, o.Abandoned, o.Released = o.Joined+q.Joined, o.Abandoned+q.Abandoned, o.Released+q.Released
	o.MovedIn, o.MovedOut = o.MovedIn+q.MovedIn, o.MovedOut+q.MovedOut
	b.size, b.prefers, b.best, b.gap = b.size+p.size, b.prefers+p.prefers, b.best+p.best, b.gap+p.gap
	b.own, b.ownKnown = b.own+p.own, max(b.ownKnown, p.ownKnown)
	b.wait, b.workPrefers, b.waiting = b.wait+p.wait, b.workPrefers+p.workPrefers, b.waiting+waiting
	b.movedBefore, b.movedAfter = b.movedBefore+p.movedBefore, b.movedAfter+p.movedAfter
	b.waits.merge(&p.waits)
}
