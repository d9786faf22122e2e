package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/pool"
)

// elapse counts the person-time up to now, before the number of people on duty
// or at work changes.
func (e *Engine) elapse(now time.Time) {
	if now == e.counted { // most answers and the hand-outs that follow
		return
	}
	if dt := span(e.counted, now); dt > 0 && !e.counted.IsZero() {
		e.counters.OnDuty += dt * time.Duration(e.present)
		e.counters.Worked += dt * time.Duration(e.busy-e.learning)
		e.counters.Idled += dt * time.Duration(max(e.present-e.busy, 0))
		e.elapsed += dt
	}
	e.counted = now
}

// span is to.Sub(from), for less: both are times of the clock, and so within the
// years (1678 to 2262) whose nanoseconds 64 bits hold.
func span(from, to time.Time) time.Duration {
	return time.Duration(to.UnixNano() - from.UnixNano())
}

// waits remembers how long the work that was handed out lately had waited.
type waits struct {
	list []wait // a ring
	next int
}

type wait struct {
	at   int64 // ns since 1970
	took time.Duration
}

const (
	mostWaits = 512
	lately    = 10 * time.Minute
)

func (w *waits) add(now time.Time, b *batch) {
	if b.spec.Training {
		return
	}
	x := wait{now.UnixNano(), span(b.waitsFrom, now)}
	if len(w.list) < mostWaits {
		w.list = append(w.list, x)
		return
	}
	w.list[w.next] = x
	w.next = (w.next + 1) % mostWaits
}

// p95 is the 95th percentile of the waits, 0 if there were none.
func (w *waits) p95(now time.Time) time.Duration {
	n, since := 0, now.UnixNano()-int64(lately)
	for i := range w.list {
		if w.list[i].at >= since {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	var longest [mostWaits/20 + 1]time.Duration // from the longest down: the last of them is looked for
	top := longest[:n-(n*95+99)/100+1]
	for _, x := range w.list {
		if x.at < since || x.took <= top[len(top)-1] {
			continue
		}
		d := x.took
		i := len(top) - 1
		for ; i > 0 && top[i-1] < d; i-- {
			top[i] = top[i-1]
		}
		top[i] = d
	}
	return top[len(top)-1]
}

// Reading returns the pool as a control step sees it. Work waits from the launch
// of its batch on, that of an open batch since its backlog was last empty. What the engine does not know is left to the caller: who is
// coming, how long they take, what people prefer and know.
func (e *Engine) Reading(now time.Time) pool.Reading {
	e.elapse(now)
	r := pool.Reading{Pool: e.cfg.Pool, Rate: float64(e.retainer.Rate) / float64(crowd.Unit), Workers: e.present, Counters: e.counters, WaitP95: e.waits.p95(now), Affordable: e.affordable(now), Withdrawn: e.withdrawn.since(now.Add(-lately))}
	for _, b := range e.batches {
		if b.spec.Training || e.hindrance(b) != crowd.Eligible {
			continue
		}
		r.Queue += b.waiting()
		r.OldestWait = max(r.OldestWait, now.Sub(b.waitsFrom))
	}
	idle := make([]*worker, 0, max(e.present-e.busy, 0))
	r.Working = make([]pool.Person, 0, e.busy)
	for _, w := range e.workers {
		switch {
		case w.on && w.departure() == Moved:
			r.Going = append(r.Going, pool.Person{ID: w.id})
		case w.on && w.departure() == Left:
			r.Leaving = append(r.Leaving, pool.Person{ID: w.id})
		case !w.on || w.departure() != "":
		case w.outside && !e.retainer.Called: // an open pool neither called them nor pays them
			r.Outside = append(r.Outside, pool.Person{ID: w.id})
		case w.training > 0:
			r.Learning = append(r.Learning, pool.Person{ID: w.id})
		case w.holds != nil:
			r.Working = append(r.Working, pool.Person{ID: w.id})
		default:
			idle = append(idle, w)
		}
	}
	slices.SortFunc(idle, func(x, y *worker) int {
		return cmp.Or(outsideFirst(x, y), x.idle.Compare(y.idle), cmp.Compare(x.id, y.id))
	})
	slices.SortFunc(r.Working, func(x, y pool.Person) int {
		return cmp.Or(e.workers[x.ID].since.Compare(e.workers[y.ID].since), cmp.Compare(x.ID, y.ID))
	})
	for _, list := range [...][]pool.Person{r.Learning, r.Going, r.Leaving, r.Outside} {
		slices.SortFunc(list, func(x, y pool.Person) int { return cmp.Compare(x.ID, y.ID) })
	}
	r.Idle = make([]pool.Person, len(idle))
	for i, w := range idle {
		r.Idle[i] = pool.Person{ID: w.id, Worked: w.idle.After(w.since), NoWork: w.waiting && !w.outside && !e.gate.closed()}
	}
	r.Busy, r.Training = len(r.Working), len(r.Learning)
	r.Workers = r.Busy + r.Training + len(idle)
	r.NoWork = e.noWork()
	return r
}

// TaskTime is what one of the answers in the queue is expected to take, on
// average: as asked for, and as observed. 0: nothing is in the queue.
func (e *Engine) TaskTime() time.Duration {
	sum, n := 0.0, 0
	for _, b := range e.batches {
		if !b.spec.Training && e.hindrance(b) == crowd.Eligible {
			sum += b.expectedTime().Seconds() * float64(b.waiting())
			n += b.waiting()
		}
	}
	if n == 0 {
		return 0
	}
	return time.Duration(sum / float64(n) * float64(time.Second))
}

// affordable is how many more people can be promised pay for waiting.
func (e *Engine) affordable(now time.Time) int {
	if e.retainer.Rate == 0 {
		return -1
	}
	return max(int(float64(e.wages.funds-e.owed(now))/e.keepsOne())-e.present, 0)
}

// keepsOne is what has to be there for somebody who is called: see Retainer.Promise.
func (e *Engine) keepsOne() float64 {
	return float64(e.retainer.Rate) * max(e.retainer.Promise, time.Minute).Minutes()
}

// PaysNobody reports whether the pool calls its people, nobody is on duty, and its money for waiting
// keeps nobody: so nobody is called. It stays so until there is more.
func (e *Engine) PaysNobody() bool {
	return e.retainer.Called && e.retainer.Rate > 0 && e.present == 0 && float64(e.wages.funds) < e.keepsOne()
}

// RetainerFunds is the pool's money for waiting.
type RetainerFunds struct {
	Funds crowd.Money // balance of the pool's account
	Owed  crowd.Money // earned by those who wait, and not paid yet
	Paid  crowd.Money // for waiting, since the engine was made
	Empty bool
}

// RetainerFunds returns the pool's money for waiting.
func (e *Engine) RetainerFunds(now time.Time) RetainerFunds {
	p := &e.wages
	return RetainerFunds{Funds: p.funds, Owed: e.owed(now), Paid: p.paid, Empty: (p.empty || p.funds == 0) && e.retainer.Rate > 0}
}

// Use is the time that people have spent on a tenant's counted answers since the
// engine was made.
type Use struct {
	Tenant crowd.TenantID
	Worked time.Duration
	Open   bool // has a running batch
}

// Uses lists the tenants by use, in order of id.
func (e *Engine) Uses() []Use {
	open := make(map[crowd.TenantID]bool)
	for _, b := range e.batches {
		open[b.spec.Tenant] = true
	}
	var list []Use
	for id, t := range e.tenants {
		if t.used > 0 || open[id] {
			list = append(list, Use{id, t.used, open[id]})
		}
	}
	slices.SortFunc(list, func(x, y Use) int { return cmp.Compare(x.Tenant, y.Tenant) })
	return list
}

// OnCall is a person of the pool as seen by the pool.
type OnCall struct {
	Worker   crowd.WorkerID
	On       bool
	Since    time.Time
	Idle     time.Time // without a task since then; zero: holds one
	Waiting  bool      // for a task, right now
	Seen     time.Time
	Leaves   Departure // as soon as they have finished
	Training int
	Earned   crowd.Money // by waiting since they came on duty, up to now
	Outside  int         // place among those whom the gate does not let in, from 1; 0: they are inside
}

func (w *worker) onCall(now time.Time) OnCall {
	c := OnCall{Worker: w.id, On: w.on, Since: w.since, Idle: w.idle, Waiting: w.waiting, Seen: w.seen, Leaves: w.departure(), Training: w.training, Earned: w.earned, Outside: w.place()}
	if w.holds != nil {
		c.Idle = time.Time{}
	}
	if w.waiting && !w.paidTo.IsZero() {
		due, _ := w.engine.due(now, w)
		c.Earned += due
	}
	return c
}

// OnCall returns one person, or false if they are not of this pool.
func (e *Engine) OnCall(now time.Time, id crowd.WorkerID) (OnCall, bool) {
	if w := e.workers[id]; w != nil {
		return w.onCall(now), true
	}
	return OnCall{}, false
}

// People lists who is on duty, in order of id.
func (e *Engine) People(now time.Time) []OnCall {
	list := e.onDuty()
	people := make([]OnCall, len(list))
	for i, w := range list {
		people[i] = w.onCall(now)
	}
	return people
}
