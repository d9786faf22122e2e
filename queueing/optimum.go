package queueing

import (
	"fmt"
	"math"
)

// Weights say what is good: η E[W] + (1−η) E[Cost] is to be small. The unit of
// time of the salary need not be that of the rates: the paper has E[W] in seconds
// and a salary of 0.05 per minute. Source: [C] 3.1.
type Weights struct {
	Eta    float64 // η from 0 (only cost counts) to 1 (only waiting counts)
	Salary float64 // s ≥ 0, up to MaxSalary, per server
}

// Choice is a number of servers and what comes of it.
type Choice struct {
	Servers   int
	Wait      float64 // E[W]
	Cost      float64 // E[Cost]
	Objective float64 // η E[W] + (1−η) E[Cost]
}

// A NoOptimumError says that no number of servers is best, as one more never
// costs anything and always shortens the wait.
type NoOptimumError struct{ Eta, Salary float64 }

func (e *NoOptimumError) Error() string {
	name, value := "salary", e.Salary
	if e.Eta == 1 {
		name, value = "eta", e.Eta
	}
	return fmt.Sprintf("no number of servers is best: with %s %g they cost nothing, so one more always helps; take eta below 1 and a salary above 0", name, value)
}

// tie is by how much of itself a saving must pass a cost to count. What differs
// by less is a tie, beyond what float64 tells, and fewer servers win it.
const tie = 1e-12

// Optimum returns c*, the least c that minimises f(c) = η E[W] + (1−η) E[Cost]
// over the stable numbers of servers, in O(√a) steps.
//
// Why it is exact. Write W and L for E[W] and E[L] = λW, m for the least stable c
// and K = η − (1−η)sλ. Where L ≤ c, f is h(c) = K·W(c) + (1−η)s·c; where L > c,
// the cost is 0 and f is ηW(c), which is above h(c).
//
//  1. L > c can hold at c = m only. For c ≥ m+1, c−a > 1, and
//     L = Π_W a/(c−a) < a < c.
//  2. W is strictly convex in c (Dyer and Proll 1977, "On the validity of marginal
//     analysis for allocating servers in M/M/c queues") and falls.
//  3. If K ≥ 0, h is convex. f is h, but for f(m) ≥ h(m), and raising the first
//     value of a convex sequence leaves it convex. So c* is the first c at which
//     the next one does not save more than it costs: K(W(c) − W(c+1)) ≤ (1−η)s,
//     or, if L > c at m, the better of m and the first such c > m.
//  4. If K < 0, h is strictly concave and rises: a server more shortens the line,
//     and the paper's cost counts who waits as a saving. So c* is m or, if L > c
//     there, the better of m and m+1.
//
// So the paper's claim that f is convex holds if K ≥ 0 and fails if K < 0;
// docs/queueing.md has figures. Differences of less than 1e-12 of the cost of a
// server are ties.
//
// If λ = 0 nobody is needed, and the choice is 0 servers, at any weights. Else
// (1−η)s = 0 gives a *NoOptimumError. Other errors are those of New.
// Source: [C] 3.1.
func Optimum(lambda, mu float64, w Weights) (Choice, error) {
	if !(w.Eta >= 0 && w.Eta <= 1) {
		return Choice{}, &DomainError{"eta", w.Eta, "must be from 0 to 1"}
	}
	if !(w.Salary >= 0 && w.Salary <= MaxSalary) {
		return Choice{}, &DomainError{"salary", w.Salary, fmt.Sprintf("must be from 0 to %g", MaxSalary)}
	}
	least, err := LeastStable(lambda, mu)
	if err != nil {
		return Choice{}, err
	}
	if lambda == 0 {
		return Choice{}, nil
	}
	price := (1 - w.Eta) * w.Salary
	if price == 0 {
		return Choice{}, &NoOptimumError{w.Eta, w.Salary}
	}
	s := at(lambda, mu, least)
	factor := w.Eta - price*lambda
	clamped := s.meanQueue() > float64(least)
	if factor > 0 {
		for factor*s.gain() > price*mu*(1+tie) {
			if s.servers == MaxServers {
				return Choice{}, tooMuch(lambda)
			}
			s.next()
		}
	}
	if !clamped {
		return choice(lambda, mu, s.servers, w), nil
	}
	if least == MaxServers {
		return choice(lambda, mu, least, w), nil
	}
	first, other := choice(lambda, mu, least, w), choice(lambda, mu, max(s.servers, least+1), w)
	if first.Objective <= other.Objective*(1+tie) {
		return first, nil
	}
	return other, nil
}

func choice(lambda, mu float64, servers int, w Weights) Choice {
	q := Queue{lambda, mu, servers}
	a, d := q.erlangs()
	s := state{a: a, d0: d, d: d, servers: servers, b: erlangB(servers, a, d)}
	wait := s.meanWait() / mu
	cost := w.Salary * max(0, float64(servers)-s.meanQueue())
	return Choice{Servers: servers, Wait: wait, Cost: cost, Objective: w.Eta*wait + (1-w.Eta)*cost}
}

// LeastFor returns the least c with E[W] ≤ wait, as MeanWait computes it, in
// O(√a) steps: E[W] falls with c. wait is above 0; +Inf gives the least stable c.
// For λ = 0 it is 0. Errors are those of New. Source: [C] eq. 1.
func LeastFor(lambda, mu, wait float64) (int, error) {
	if !(wait > 0) {
		return 0, &DomainError{"wait", wait, "must be above 0"}
	}
	return search(lambda, mu,
		func(s state) bool { return s.meanWait() <= wait*mu },
		func(q Queue) bool { return q.MeanWait() <= wait })
}

// LeastForTail returns the least c with P(W > t) ≤ p, as WaitTail computes it, in
// O(√a) steps: the chance falls with c. t is 0 or more and finite, p above 0 and
// at most 1. For λ = 0 it is 0. Errors are those of New. Source: [G] chapter 2.
func LeastForTail(lambda, mu, t, p float64) (int, error) {
	if !(t >= 0) || math.IsInf(t, 1) {
		return 0, &DomainError{"t", t, "must be 0 or more, and finite"}
	}
	if !(p > 0 && p <= 1) {
		return 0, &DomainError{"p", p, "must be above 0 and at most 1"}
	}
	return search(lambda, mu,
		func(s state) bool { return s.waitProbability()*math.Exp(-s.d*mu*t) <= p },
		func(q Queue) bool { return q.WaitTail(t) <= p })
}

// search returns the least number of servers that is good enough, from the least
// stable one upwards: first by enough, step by step, and then by exactly, so that
// rounding on the way does not decide.
func search(lambda, mu float64, enough func(state) bool, exactly func(Queue) bool) (int, error) {
	least, err := LeastStable(lambda, mu)
	if err != nil {
		return 0, err
	}
	if lambda == 0 {
		return 0, nil
	}
	s := at(lambda, mu, least)
	for !enough(s) && s.servers < MaxServers {
		s.next()
	}
	c := s.servers
	for c > least && exactly(Queue{lambda, mu, c - 1}) {
		c--
	}
	for !exactly(Queue{lambda, mu, c}) {
		if c == MaxServers {
			return 0, tooMuch(lambda)
		}
		c++
	}
	return c, nil
}

// state is a stable queue in a walk over numbers of servers. Times are in units
// of 1/μ. The walk ends soon, whatever it looks for: some 40√a + 200 servers above
// a, B is too small for a float64 and nobody waits.
type state struct {
	a       float64 // λ/μ
	d0, d   float64 // c−a at the start of the walk and now
	steps   float64
	servers int // c
	b       float64
}

func at(lambda, mu float64, servers int) state {
	a, d := Queue{lambda, mu, servers}.erlangs()
	return state{a: a, d0: d, d: d, servers: servers, b: erlangB(servers, a, d)}
}

// next adds a server: B(c+1) = aB/(c+1+aB), which makes the error of B smaller.
// Source: [G] chapter 2.
func (s *state) next() {
	s.servers++
	s.steps++
	s.d = s.d0 + s.steps
	s.b = s.a * s.b / (float64(s.servers) + s.a*s.b)
}

func (s state) waitProbability() float64 { return erlangC(s.servers, s.a, s.d, s.b) }
func (s state) meanWait() float64        { return s.waitProbability() / s.d }
func (s state) meanQueue() float64       { return s.waitProbability() * (s.a / s.d) }

// gain returns what one more server saves of the mean wait, μ(W(c) − W(c+1)). With
// μW(c) = cB/(d(aB+d)) and, by the recursion of B, μW(c+1) = aB/((d+1)(aB+d+1)),
// the difference over one denominator is, after c = a+d,
//
//	B{a[aB + 2d+1] + d(d+1)[aB + d+1]} / (d(d+1)(aB+d)(aB+d+1)),
//
// in which nothing is subtracted: it is as good as B, however small.
func (s state) gain() float64 {
	ab, e := s.a*s.b, s.d+1
	return s.b * (s.a*(ab+s.d+e) + s.d*e*(ab+e)) / (s.d * e * (ab + s.d) * (ab + e))
}
