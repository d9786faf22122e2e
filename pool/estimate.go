package pool

import (
	"cmp"
	"time"

	"github.com/throng-dev/throng/queueing"
)

// What an estimate must rest on before anything is decided by it.
const (
	// λ is known after a fifth of the window, or this many arrivals.
	knownArrivals = 20
	// μ is known after this many answers; Expect.TaskTime counts as as many.
	knownAnswers = 5
	// slow is how many windows those rates look back on that change slowly and
	// rest on few events: μ and the recruitment. (The paper, section 3.2: "we
	// expect μ to remain fairly stable over time".)
	slow = 12
)

// estimates holds what was seen of a pool, over its window.
type estimates struct {
	span       time.Duration
	arrivals   *queueing.Window // answers wanted, a second
	done       *queueing.Window // answers that counted, a second
	leaving    *queueing.Window // people who leave by themselves, a second
	service    *queueing.Window // answers by one person who works, a second
	recruiting *queueing.Window // one over the time from being asked to coming

	seen     bool
	at       time.Time // of the last step
	counters Counters  // at the last step
	mu       float64   // the last that was known; 0: never
}

func newEstimates(span time.Duration) *estimates {
	return &estimates{
		span:     span,
		arrivals: queueing.NewWindow(span), done: queueing.NewWindow(span), leaving: queueing.NewWindow(span),
		service: queueing.NewWindow(slow * span), recruiting: queueing.NewWindow(slow * span),
	}
}

// change is what happened since the last step. Its zero value is that nothing is
// known of it: this is the first step, or the world was restarted.
type change struct {
	length    time.Duration
	arrived   float64
	withdrawn float64 // of what arrived, also in earlier steps
	completed float64
	abandoned float64
	happened  bool // any of it, or somebody came
}

// observe takes a reading in and returns what has changed.
func (e *estimates) observe(now time.Time, t *Counters, withdrawn []Withdrawal) change {
	before, last, seen := e.counters, e.at, e.seen
	e.counters, e.at, e.seen = *t, now, true
	step := now.Sub(last)
	if !seen || step <= 0 || t.before(&before) {
		return change{}
	}
	c := change{
		length:    step,
		arrived:   float64(t.Arrived - before.Arrived),
		withdrawn: float64(t.Withdrawn - before.Withdrawn),
		completed: float64(t.Completed - before.Completed),
		abandoned: float64(t.Abandoned - before.Abandoned),
	}
	c.happened = c.arrived+c.withdrawn+c.completed+c.abandoned > 0 || t.Joined > before.Joined
	e.arrivals.Add(now, c.arrived, step.Seconds())
	e.withdraw(c.withdrawn, withdrawn, step)
	e.done.Add(now, c.completed, step.Seconds())
	e.leaving.Add(now, c.abandoned, step.Seconds())
	e.service.Add(now, c.completed, (t.Worked - before.Worked).Seconds())
	e.recruiting.Add(now, float64(t.Joined-before.Joined), (t.Awaited - before.Awaited).Seconds())
	return c
}

// withdraw takes answers that are wanted no more off the arrivals: the last ones of a list. What
// came between two steps, which are a step apart, was entered with the later one.
func (e *estimates) withdraw(answers float64, list []Withdrawal, step time.Duration) {
	for i := len(list) - 1; i >= 0 && answers > 0; i-- {
		w := &list[i]
		n := min(answers, float64(w.Answers))
		e.arrivals.Withdraw(w.From, w.To.Add(step), n)
		answers -= n
	}
}

// before reports whether t is older than other in some count: the world was restarted.
func (t *Counters) before(other *Counters) bool {
	return t.Arrived < other.Arrived || t.Withdrawn < other.Withdrawn || t.Completed < other.Completed || t.Joined < other.Joined ||
		t.Abandoned < other.Abandoned || t.Released < other.Released ||
		t.Worked < other.Worked || t.OnDuty < other.OnDuty || t.Awaited < other.Awaited || t.Idled < other.Idled
}

// serviceRate is μ, 0 if it is not known. A pool in which nobody has worked for
// long keeps the last one: a task does not take longer for that.
func (e *estimates) serviceRate(now time.Time, expect Expect, hint time.Duration) float64 {
	s := e.service.Rate(now)
	if prior := expect.TaskTime.Seconds(); prior > 0 {
		if s.Events == 0 && e.mu > 0 {
			return e.mu
		}
		e.mu = (s.Events + knownAnswers) / (s.Exposure + knownAnswers*prior)
	} else if s.Events >= knownAnswers && s.Exposure > 0 {
		e.mu = s.Value
	}
	if h := hint.Seconds(); e.mu == 0 && h > 0 { // not kept: what is seen takes its place
		return (s.Events + knownAnswers) / (s.Exposure + knownAnswers*h)
	}
	return e.mu
}

// metrics is what follows from a reading.
func (c *Controller) metrics(now time.Time, r *Reading, of staff, ch change) Metrics {
	e := c.seen
	m := Metrics{
		Queue: r.Queue, Workers: r.Workers, Busy: r.Busy, Training: r.Training, Coming: r.Coming, Lent: of.lent, Borrowed: of.borrowed, CStar: Unknown,
		Idle:       max(0, r.Workers-r.Busy-r.Training),
		Mu:         e.serviceRate(now, c.settings.Expect, r.TaskTime),
		Throughput: e.done.Rate(now).Value, Abandonment: e.leaving.Rate(now).Value, Recruitment: e.recruiting.Rate(now).Value,
		WaitP95: c.waited.p95(now, r.WaitP95).Seconds(), OldestWait: r.OldestWait.Seconds(),
		Backlog: ch.arrived - ch.withdrawn - ch.completed,
	}
	m.CostPerHour = float64(m.Idle) * r.Rate * 60
	if r.Workers > 0 {
		m.Preference = min(1, max(0, r.Preference/float64(r.Workers)))
	}
	arrivals := e.arrivals.Rate(now)
	m.Lambda = arrivals.Events / max(arrivals.Exposure, e.shortest())
	if own := m.Own(); m.Mu > 0 && own > 0 {
		m.Utilisation = m.Lambda / (m.Mu * float64(own))
	}
	if m.Mu > 0 && (arrivals.Exposure >= e.span.Seconds()/5 || arrivals.Events >= knownArrivals) {
		m.CStar = c.optimum(m.Lambda, m.Mu, c.settings.Target.salary(r))
	}
	return m
}

// waited is the last Reading.WaitP95.
type waited struct {
	last    time.Duration
	at      time.Time
	resumed bool // it is of before a restart; what was handed out since then had not waited
}

// lately is for how long something was handed out lately.
const lately = 10 * time.Minute

// p95 is what a reading says of it, or lately before a restart has said.
func (w *waited) p95(now time.Time, read time.Duration) time.Duration {
	if w.resumed && read == 0 && now.Sub(w.at) < lately {
		return w.last
	}
	*w = waited{last: read, at: now}
	return read
}

// shortest is the least time over which arrivals are taken to have come, in
// seconds: else a batch that is launched in the first second would be a rate.
func (e *estimates) shortest() float64 { return min(10, e.span.Seconds()/5) }

// salary is what an idle person costs for a minute.
func (t *Target) salary(r *Reading) float64 { return cmp.Or(t.Salary, r.Rate, DefaultSalary) }

// optimum is c*; Unknown if there is none (a load without bounds). It is computed
// again only when λ, μ or the salary have changed.
func (c *Controller) optimum(lambda, mu, salary float64) int {
	if o := &c.best; o.lambda == lambda && o.mu == mu && o.salary == salary {
		return o.servers
	}
	servers, err := c.settings.Target.Best(lambda, mu, salary)
	if err != nil {
		servers = Unknown
	}
	c.best = optimum{lambda, mu, salary, servers}
	return servers
}

type optimum struct {
	lambda, mu, salary float64
	servers            int
}

// Best is c*, the best number of people for lambda answers wanted a second, of
// which one person completes mu a second, at a salary in money a minute. It is an
// error if there is none: a load without bounds.
func (t *Target) Best(lambda, mu, salary float64) (int, error) {
	switch {
	case t.Wait > 0 && t.Tail > 0:
		return queueing.LeastForTail(lambda, mu, t.Wait.Seconds(), t.Tail)
	case t.Wait > 0:
		return queueing.LeastFor(lambda, mu, t.Wait.Seconds())
	}
	choice, err := queueing.Optimum(lambda, mu, queueing.Weights{Eta: cmp.Or(t.Eta, DefaultEta), Salary: salary})
	return choice.Servers, err
}
