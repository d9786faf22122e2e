package pools

import (
	"cmp"
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/pool"
)

// A Setup is what worlds are drawn from. It is read only: repetitions share it.
type Setup struct {
	Horizon time.Duration // when a run ends, up to MaxHorizon
	Step    time.Duration // from one control step to the next, at least MinStep; 0: DefaultStep
	// Salary is paid for a minute of waiting (the paper: 0.05). It is also the
	// salary of a pool's Target that has none.
	Salary crowd.Money
	Pools  []Pool // at least one
	People People
	// Balance is a balancer as pool.ParseBalance reads it; "": none. It decides who
	// comes to those pools whose Settings.Balance is true and that have no
	// Settings.Balancer.
	Balance string
	// ForGood has moves as in the paper: who moves belongs to the other pool from
	// then on. Otherwise they are lent: see pool.NewPaperControl.
	ForGood bool
}

// A Pool is one application of the paper: its work and its people.
type Pool struct {
	Name string
	// The work: tasks of one answer each. What the three say comes together.
	Arrivals []Phase         // Poisson, the rate changing at each phase
	Times    []time.Duration // a task at each, ascending
	Bursts   []Burst         // many tasks at once
	// Service is the time of one task in seconds. A mean that is not finite is
	// refused.
	Service sim.Dist
	// Start is how many people are on duty at the beginning, or StartOptimal or
	// StartMean.
	Start int
	// Training is how long somebody who comes from another pool learns, in
	// seconds; nil: there is nothing to learn. Recruits know what they were
	// recruited for.
	Training sim.Dist
	Settings pool.Settings
}

// What Pool.Start may be other than a number of people.
const (
	// StartOptimal is c* of the first phase.
	StartOptimal = -1
	// StartMean is c* of the mean load over the whole run: the paper's static
	// baseline "begins with the optimal pool size for the entire workload".
	StartMean = -2
)

// A Phase is a rate of arrivals from a time on.
type Phase struct {
	From time.Duration
	Rate float64 // tasks a second
}

// A Burst is a number of tasks that arrive at once.
type Burst struct {
	At    time.Duration
	Tasks int
}

// People is the crowd, and what makes its people leave.
type People struct {
	// Abandon is the paper's α: who finishes a task leaves with this probability.
	Abandon float64
	// Stay is how long a person stays on duty before they abandon it, in seconds, after
	// the task in hand. Nil: as long as they are wanted.
	Stay sim.Dist
	// Recruitment is the time from being asked to coming in seconds (the paper's
	// generated data: exponential with mean 1/r); nil: at once.
	Recruitment sim.Dist
	Recruiting  Recruiting
	// Outside is how many people can be had beyond those at the start; 0: as many
	// as one likes. Who has left does not come back.
	Outside int
	// Prefers is everybody's preference for each pool, from 0 to 1; nil: each
	// person's own, uniform in [0, 1) and then normalised to sum to 1 over the
	// pools (section 6.1 of the paper).
	Prefers []float64
	// Trace takes the place of Stay, Recruitment and every pool's Service.
	Trace *Trace
}

// Recruiting is how the recruitment times become a stream of people. "Recruitment
// time is modeled as a Poisson process with rate r" (section 6.1 of the paper)
// can be read in either way.
type Recruiting string

const (
	// Each recruit comes in their own time, independently of the others: two who
	// are asked come twice as fast as one. It is the default.
	Each Recruiting = "each"
	// Process is one stream of people for the whole crowd: the times are those
	// between one person and the next, whichever pool asks. The person comes for the pool
	// that asked first; if none does at that moment, nobody comes.
	Process Recruiting = "process"
)

// The bounds of a setup.
const (
	DefaultStep = time.Second
	MinStep     = time.Millisecond
	MaxHorizon  = 365 * 24 * time.Hour
	MaxPools    = 100
	MaxStart    = 100_000
	MaxRate     = 100_000.0 // tasks a second
	MaxBurst    = 1_000_000
)

// longestTask bounds service, training and recruitment times, so that no lease
// runs out: a person of this world does not vanish.
const longestTask = engine.MaxLease - time.Second

// Validate checks that a setup makes sense. The error is Invalid.
func (s *Setup) Validate() error {
	switch {
	case s.Horizon <= 0 || s.Horizon > MaxHorizon:
		return crowd.Fieldf("horizon", "%s is not between 0s and %s", s.Horizon, MaxHorizon)
	case s.Step != 0 && (s.Step < MinStep || s.Step > s.Horizon):
		return crowd.Fieldf("step", "%s is not between %s and the horizon, %s", s.Step, MinStep, s.Horizon)
	case s.Salary < 0 || s.Salary > engine.MaxRate:
		return crowd.Fieldf("salary", "%s is not a pay for a minute of waiting (at most %s)", s.Salary, engine.MaxRate)
	case len(s.Pools) == 0 || len(s.Pools) > MaxPools:
		return crowd.Fieldf("pools", "%d pools: from 1 to %d", len(s.Pools), MaxPools)
	}
	names := map[string]bool{}
	for i := range s.Pools {
		p := &s.Pools[i]
		if p.Name == "" || names[p.Name] {
			return crowd.Fieldf("name", "each pool has a name of its own, not %q", p.Name)
		}
		names[p.Name] = true
		if err := p.validate(s); err != nil {
			return err
		}
	}
	if err := s.People.validate(len(s.Pools)); err != nil {
		return err
	}
	_, err := s.control()
	return err
}

func (p *Pool) validate(s *Setup) error {
	for i, a := range p.Arrivals {
		switch {
		case !(a.Rate >= 0 && a.Rate <= MaxRate):
			return crowd.Fieldf("rate", "%s: %g tasks a second are not between 0 and %g", p.Name, a.Rate, MaxRate)
		case a.From < 0 || i > 0 && a.From <= p.Arrivals[i-1].From:
			return crowd.Fieldf("from", "%s: the phases come one after the other, from 0 on, not at %s", p.Name, a.From)
		}
	}
	for i, at := range p.Times {
		if at < 0 || i > 0 && at < p.Times[i-1] {
			return crowd.Fieldf("times", "%s: the times ascend from 0, and %s does not", p.Name, at)
		}
	}
	for i, b := range p.Bursts {
		switch {
		case b.At < 0 || i > 0 && b.At < p.Bursts[i-1].At:
			return crowd.Fieldf("bursts", "%s: the bursts come one after the other, from 0 on, not at %s", p.Name, b.At)
		case b.Tasks < 1 || b.Tasks > MaxBurst:
			return crowd.Fieldf("bursts", "%s: %d tasks are not between 1 and %d", p.Name, b.Tasks, MaxBurst)
		}
	}
	switch {
	case p.Start < StartMean || p.Start > MaxStart:
		return crowd.Fieldf("start", "%s: %d people are not between 0 and %d", p.Name, p.Start, MaxStart)
	case s.People.Trace == nil && !usable(p.Service, true):
		return crowd.Fieldf("service", "%s: a task takes some time, more than 0 and at most %s on average", p.Name, longestTask)
	case p.Training != nil && !usable(p.Training, false):
		return crowd.Fieldf("training", "%s: learning takes at most %s on average", p.Name, longestTask)
	}
	if n := p.tasks(s.Horizon); n > crowd.MaxBatchID/2 {
		return crowd.Fieldf("rate", "%s: some %.3g tasks are too many for one run (at most %d)", p.Name, n, crowd.MaxBatchID/2)
	}
	return nil
}

// usable reports whether d is there and has a mean that a task may have.
func usable(d sim.Dist, positive bool) bool {
	if d == nil {
		return false
	}
	m := d.Mean()
	return m >= 0 && m <= longestTask.Seconds() && (m > 0 || !positive)
}

func (c *People) validate(pools int) error {
	switch {
	case !(c.Abandon >= 0 && c.Abandon <= 1):
		return crowd.Fieldf("abandon", "%g is not a probability", c.Abandon)
	case c.Stay != nil && !usable(c.Stay, true):
		return crowd.Fieldf("stay", "people stay for some time, more than 0 and at most %s on average", longestTask)
	case c.Recruitment != nil && !usable(c.Recruitment, c.Recruiting == Process):
		return crowd.Fieldf("recruitment", "people come after at most %s on average", longestTask)
	case c.Recruiting != "" && c.Recruiting != Each && c.Recruiting != Process:
		return crowd.Fieldf("recruiting", "%q is neither %s nor %s", c.Recruiting, Each, Process)
	case c.Recruiting == Process && c.Recruitment == nil && c.Trace == nil:
		return crowd.Fieldf("recruitment", "a process needs the time between one person and the next")
	case c.Outside < 0:
		return crowd.Fieldf("outside", "%d people are less than none", c.Outside)
	case c.Prefers != nil && len(c.Prefers) != pools:
		return crowd.Fieldf("prefers", "%d preferences for %d pools", len(c.Prefers), pools)
	}
	for _, p := range c.Prefers {
		if !(p >= 0 && p <= 1) {
			return crowd.Fieldf("prefers", "%g is not between 0 and 1", p)
		}
	}
	if c.Trace != nil {
		return c.Trace.validate()
	}
	return nil
}

func (s *Setup) step() time.Duration { return cmp.Or(s.Step, DefaultStep) }

// mu is how many tasks a second one person does in pool i.
func (s *Setup) mu(i int) float64 {
	if t := s.People.Trace; t != nil {
		return 1 / stats.Mean(t.Tasks)
	}
	return 1 / s.Pools[i].Service.Mean()
}

// settings are those of pool i, its salary the world's where it has none.
func (s *Setup) settings(i int) pool.Settings {
	t := s.Pools[i].Settings
	if t.Target.Salary == 0 {
		t.Target.Salary = float64(s.Salary) / float64(crowd.Unit)
	}
	return t
}

// start is how many people pool i begins with.
func (s *Setup) start(i int) (int, error) {
	p := &s.Pools[i]
	switch p.Start {
	case StartOptimal:
		return s.best(i, p.rates(s.Horizon)[0].Rate)
	case StartMean:
		return s.best(i, p.tasks(s.Horizon)/s.Horizon.Seconds())
	}
	return p.Start, nil
}

// optimum is c* of pool i at a rate of arrivals, by the true figures. It is an
// error if there is none.
func (s *Setup) optimum(i int, lambda float64) (int, error) {
	t := s.settings(i).Target
	return t.Best(lambda, s.mu(i), cmp.Or(t.Salary, pool.DefaultSalary))
}

// best is the optimum as the number of people to start with.
func (s *Setup) best(i int, lambda float64) (int, error) {
	c, err := s.optimum(i, lambda)
	if err != nil {
		return 0, crowd.Fieldf("start", "%s: %s", s.Pools[i].Name, err)
	}
	return min(c, MaxStart), nil
}

// tasks is how many tasks are expected up to the horizon.
func (p *Pool) tasks(horizon time.Duration) float64 {
	n := 0.0
	for i, a := range p.Arrivals {
		end := horizon
		if i+1 < len(p.Arrivals) {
			end = min(end, p.Arrivals[i+1].From)
		}
		n += a.Rate * max(0, (end-a.From).Seconds())
	}
	for _, at := range p.Times {
		if at <= horizon {
			n++
		}
	}
	for _, b := range p.Bursts {
		if b.At <= horizon {
			n += float64(b.Tasks)
		}
	}
	return n
}

// rates is what the true c* goes by: the Poisson rate of each phase, or, where
// nothing else is said, the mean over the run.
func (p *Pool) rates(horizon time.Duration) []Phase {
	if len(p.Arrivals) == 0 {
		return []Phase{{0, p.tasks(horizon) / horizon.Seconds()}}
	}
	if p.Arrivals[0].From > 0 {
		return append([]Phase{{}}, p.Arrivals...)
	}
	return p.Arrivals
}

// nanos is a number of seconds, kept between 0 and longestTask.
func nanos(s float64) int64 {
	if !(s > 0) {
		return 0
	}
	return int64(math.Round(min(s, longestTask.Seconds()) * 1e9))
}
