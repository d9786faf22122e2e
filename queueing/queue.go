// Package queueing answers how long tasks wait for a given number of people, and
// how many people are best. It models a pool as an M/M/c queue: tasks arrive as a
// Poisson process of rate λ, each of c servers (people) finishes tasks at rate μ,
// tasks wait in one line. Estimators of the rates, from what was seen lately, are
// here too.
//
// Everything is a pure function of its arguments. Rates are per second, or per
// any other unit of time, but all of the same one; times come out in it.
//
// Sources: "[C]" is Haas and Franklin 2017, "Cioppino: Multi-Tenant Crowd
// Management" (HCOMP), by equation number; "[G]" is Gross, Shortle, Thompson and
// Harris 2008, "Fundamentals of Queueing Theory" (4th edition).
package queueing

import (
	"fmt"
	"math"
)

// Limits of what is taken. Within them nothing overflows: λ/μ is between 1e-200
// and MaxServers, E[W] at most 1e117, and an objective at most 1e120.
const (
	MaxServers = 1<<31 - 1
	MinRate    = 1e-100 // the least rate above 0
	MaxRate    = 1e100
	MaxSalary  = 1e100
)

// Queue is an M/M/c queue. Its methods are meant for what New accepts; on
// another stable Queue value they are as good as float64 lets them be, and on one
// with λ ≥ cμ everybody waits for ever: WaitProbability and WaitTail are 1,
// MeanWait, MeanQueue and WaitQuantile +Inf, MeanIdle and the costs 0.
type Queue struct {
	Lambda  float64 // λ, arrivals per unit of time
	Mu      float64 // μ, tasks that one server finishes per unit of time
	Servers int     // c
}

// New returns the queue of c servers. λ is 0 or from MinRate to MaxRate, μ from
// MinRate to MaxRate, c from 1 to MaxServers; else the error is a *DomainError.
// It is an *UnstableError if λ ≥ cμ, decided exactly, without rounding cμ. λ = 0
// is a queue in which nobody waits.
func New(lambda, mu float64, servers int) (Queue, error) {
	least, err := LeastStable(lambda, mu)
	if err != nil {
		return Queue{}, err
	}
	if servers < 1 || servers > MaxServers {
		return Queue{}, &DomainError{"servers", float64(servers), fmt.Sprintf("must be from 1 to %d", MaxServers)}
	}
	if servers < least {
		return Queue{}, &UnstableError{lambda, mu, servers, least}
	}
	return Queue{lambda, mu, servers}, nil
}

// LeastStable returns the least c ≥ 1 with λ < cμ: ⌊λ/μ⌋+1, decided exactly. The
// domain and the errors are those of New; it is an error too if no c up to
// MaxServers is stable.
func LeastStable(lambda, mu float64) (int, error) {
	if err := checkRates(lambda, mu); err != nil {
		return 0, err
	}
	a := lambda / mu
	if a >= MaxServers+1 {
		return 0, tooMuch(lambda)
	}
	// Whole numbers need no rounding, so a is in the right step of ⌊λ/μ⌋, or was
	// rounded up to the whole number at its end.
	c := int64(a) + 1
	if c > 1 && surplus(lambda, mu, c-1) > 0 {
		c--
	}
	if c > MaxServers {
		return 0, tooMuch(lambda)
	}
	return int(c), nil
}

// surplus returns cμ−λ, rounded once: its sign is exact, and it is right to 2⁻⁵³ of
// itself however near cμ is to λ.
func surplus(lambda, mu float64, c int64) float64 { return math.FMA(float64(c), mu, -lambda) }

// erlangs returns a = λ/μ and d = c−a, both right to 2⁻⁵² of themselves.
func (q Queue) erlangs() (a, d float64) {
	return q.Lambda / q.Mu, surplus(q.Lambda, q.Mu, int64(q.Servers)) / q.Mu
}

// Offered returns a = λ/μ, the offered load in erlangs: how many servers are busy
// on average. Source: [G] chapter 2.
func (q Queue) Offered() float64 { return q.Lambda / q.Mu }

// Utilisation returns ρ = λ/(cμ), the share of the time for which a server is
// busy; below 1 in a stable queue. Source: [C] 3.1.
func (q Queue) Utilisation() float64 { return q.Lambda / q.Mu / float64(q.Servers) }

// WaitProbability returns Π_W = P(W > 0), the chance that a task must wait
// (Erlang C). Source: [C] 3.1; [G] chapter 2.
func (q Queue) WaitProbability() float64 {
	a, d := q.erlangs()
	if d <= 0 {
		return 1
	}
	return erlangC(q.Servers, a, d, erlangB(q.Servers, a, d))
}

// LossProbability returns the chance that a task would be lost if nobody could
// wait (Erlang B of the same a and c, the M/M/c/c queue). Source: [G] chapter 2.
func (q Queue) LossProbability() float64 {
	a, d := q.erlangs()
	return erlangB(q.Servers, a, d)
}

// MeanWait returns E[W] = Π_W / ((1−ρ)cμ), the mean time from arrival to start,
// of all tasks, also those that do not wait. Source: [C] eq. 1.
func (q Queue) MeanWait() float64 {
	a, d := q.erlangs()
	if d <= 0 {
		return math.Inf(1)
	}
	return erlangC(q.Servers, a, d, erlangB(q.Servers, a, d)) / d / q.Mu
}

// MeanQueue returns E[L] = Π_W ρ/(1−ρ) = λ E[W], the mean number of tasks that
// wait, without those in work. Source: [C] 3.1.
func (q Queue) MeanQueue() float64 {
	a, d := q.erlangs()
	if d <= 0 {
		return math.Inf(1)
	}
	return erlangC(q.Servers, a, d, erlangB(q.Servers, a, d)) * (a / d)
}

// MeanIdle returns c − a, the mean number of servers with nothing to do.
// Source: [G] chapter 2.
func (q Queue) MeanIdle() float64 {
	_, d := q.erlangs()
	return max(0, d)
}

// Cost returns E[Cost] = s·max(0, c − E[L]) for a salary s per server and unit of
// time, in money per that unit. The paper means it as the cost of idle servers,
// but c − E[L] is not their number: that is c − a, and IdleCost is what it costs.
// With short queues Cost is close to s·c, the pay of everybody. Source: [C] eq. 2.
func (q Queue) Cost(salary float64) float64 {
	return salary * max(0, float64(q.Servers)-q.MeanQueue())
}

// IdleCost returns s·(c − a), what it costs to pay idle servers s per unit of
// time. See Cost for the paper's form. Source: [G] chapter 2.
func (q Queue) IdleCost(salary float64) float64 { return salary * q.MeanIdle() }

// WaitTail returns P(W > t) = Π_W exp(−(cμ−λ)t) for t ≥ 0, and 1 for t < 0.
// Source: [G] chapter 2.
func (q Queue) WaitTail(t float64) float64 {
	if t < 0 {
		return 1
	}
	over := surplus(q.Lambda, q.Mu, int64(q.Servers))
	if over <= 0 {
		return 1
	}
	return q.WaitProbability() * math.Exp(-over*t)
}

// WaitQuantile returns the least t with P(W ≤ t) ≥ p:
// max(0, ln(Π_W/(1−p))/(cμ−λ)). It is +Inf for p = 1 if anybody waits, and NaN if
// p is not from 0 to 1. Source: the inverse of WaitTail.
func (q Queue) WaitQuantile(p float64) float64 {
	if !(p >= 0 && p <= 1) {
		return math.NaN()
	}
	wait, over := q.WaitProbability(), surplus(q.Lambda, q.Mu, int64(q.Servers))
	switch {
	case p == 0 || wait <= 1-p:
		return 0
	case over <= 0:
		return math.Inf(1)
	}
	return math.Log(wait/(1-p)) / over
}

// ClearTime returns L/(cμ), the expected time until the last of the L tasks that
// wait is taken up, if nobody comes or goes and all c are busy: the sum of L
// times between departures, each of mean 1/(cμ). It is 0 for no queue, +Inf for a
// queue and no workers, NaN for a negative number or μ ≤ 0. Source: [C] eq. 3.
func ClearTime(queue, workers int, mu float64) float64 {
	switch {
	case queue < 0 || workers < 0 || !(mu > 0):
		return math.NaN()
	case queue == 0:
		return 0
	}
	return float64(queue) / float64(workers) / mu
}

// ClearTimeTraining is ClearTime for a queue that newcomers are trained for: k of
// them join the workers, who go on meanwhile, when the last one is trained.
// Training takes exponential times of rate tr each, so
// E[t_train] = H_k/tr with the harmonic number H_k, in which the workers take up
// L_tr = workers·μ·E[t_train] tasks:
//
//	L ≤ L_tr:  L/(workers·μ)
//	else:      E[t_train] + (L − L_tr)/((workers + k)·μ)
//
// workers is c^TS − k of the paper: those who work already. The paper puts the
// mean of the training time for the time itself, so this is an approximation. It
// is ClearTime for k = 0, and NaN for a negative number or a rate ≤ 0.
// Source: [C] eq. 4.
func ClearTimeTraining(queue, workers, newcomers int, mu, training float64) float64 {
	if newcomers == 0 {
		return ClearTime(queue, workers, mu)
	}
	if queue < 0 || workers < 0 || newcomers < 0 || !(mu > 0) || !(training > 0) {
		return math.NaN()
	}
	train := harmonic(newcomers) / training
	meanwhile := float64(workers) * mu * train
	if float64(queue) <= meanwhile {
		return ClearTime(queue, workers, mu)
	}
	return train + (float64(queue)-meanwhile)/((float64(workers)+float64(newcomers))*mu)
}

// harmonic returns 1 + 1/2 + … + 1/n, right to 1e-15 of itself.
func harmonic(n int) float64 {
	if n < 32 {
		sum := 0.0
		for k := n; k > 0; k-- {
			sum += 1 / float64(k)
		}
		return sum
	}
	// Euler and Maclaurin; the next term is 1/(240 n⁸), below 4e-15.
	const gamma = 0.57721566490153286060651209008240243
	x := float64(n)
	y := 1 / (x * x)
	return math.Log(x) + gamma + 0.5/x - y*(1.0/12-y*(1.0/120-y/252))
}

// A DomainError is about an argument that is outside its domain.
type DomainError struct {
	Name  string // of the argument, such as "lambda"
	Value float64
	Want  string // what would be right
}

func (e *DomainError) Error() string { return fmt.Sprintf("%s: %s, not %g", e.Name, e.Want, e.Value) }

// An UnstableError is about a queue that grows for ever, λ ≥ cμ.
type UnstableError struct {
	Lambda, Mu float64
	Servers    int
	Least      int // the least number of servers that is stable
}

func (e *UnstableError) Error() string {
	return fmt.Sprintf("the queue is unstable: %g arrive per unit of time and %d × %g can be done, so it grows for ever; the least stable number of servers is %d",
		e.Lambda, e.Servers, e.Mu, e.Least)
}

func checkRates(lambda, mu float64) error {
	if lambda != 0 && !(lambda >= MinRate && lambda <= MaxRate) {
		return &DomainError{"lambda", lambda, fmt.Sprintf("must be 0, or from %g to %g", MinRate, MaxRate)}
	}
	if !(mu >= MinRate && mu <= MaxRate) {
		return &DomainError{"mu", mu, fmt.Sprintf("must be from %g to %g", MinRate, MaxRate)}
	}
	return nil
}

func tooMuch(lambda float64) error {
	return &DomainError{"lambda", lambda, fmt.Sprintf("must be less than what %d servers can do", MaxServers)}
}
