package sla

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// A Request is one that waits before a limited resource: a service or a pool
// of people.
type Request struct {
	ID      int64
	Since   time.Time     // k: when it was made, real or predicted
	Start   time.Time     // of its process
	Tail    time.Duration // expected from its reply to the end of the process
	Bound   time.Time     // when the process's other branches are predicted to end it; zero: there are none
	Penalty *Penalty      // of the process; nil: it may take as long as it will
}

// Finish returns when the process is predicted to end if the reply comes after
// response: max(now + response + Tail, Bound).
func (r *Request) Finish(now time.Time, response time.Duration) time.Time {
	f := r.fate()
	n := nanos(now)
	return instant(max(add(add(n, int64(response)), f.tail), f.bound))
}

// Added returns d, by how much the penalty grows if the reply takes double the
// response time: L(finish after 2·response) − L(finish after response), at least
// 0. It is 0 if response is not positive.
//
// For a linear penalty it is the cost of the part of the delay that lies on the
// slope, exact when the whole delay does, else rounded down to a multiple of
// 1/32 of the response time (at least 1 ns): so that it, too, changes in steps.
//
// Source: Khazankin et al. 2011, listing 1, lines 5 to 11.
func (r *Request) Added(now time.Time, response time.Duration) crowd.Money {
	f := r.fate()
	return f.added(nanos(now), int64(response))
}

// NextChange returns the next instant after now at which Added changes if
// nothing but time does; false if it never does.
func (r *Request) NextChange(now time.Time, response time.Duration) (time.Time, bool) {
	f := r.fate()
	at, ok := f.next(nanos(now), int64(response))
	if !ok {
		return time.Time{}, false
	}
	return instant(at), true
}

func (r *Request) fate() fate {
	return fate{start: nanos(r.Start), tail: int64(r.Tail), bound: nanos(r.Bound), penalty: r.Penalty}
}

// A fate is what decides on a request's priority, in nanoseconds: 32 bytes.
type fate struct {
	start, tail, bound int64
	penalty            *Penalty
}

// ages returns the ages of the process at its end if only this request decided,
// for a reply after one and after two response times, and its age at the bound.
func (f *fate) ages(now, response int64) (one, two, bound int64) {
	reply := add(add(now, response), f.tail)
	bound = longAgo
	if f.bound != longAgo {
		bound = sub(f.bound, f.start)
	}
	return f.age(reply), f.age(add(reply, response)), bound
}

// age returns the age at an instant; at the end of the range it is without end,
// so that it has no next step.
func (f *fate) age(at int64) int64 {
	if at == never {
		return never
	}
	return sub(at, f.start)
}

func (f *fate) added(now, response int64) crowd.Money {
	one, two, bound := f.ages(now, response)
	return added(f.penalty, max(one, bound), max(two, bound), response)
}

// added returns L(late) − L(usual), where the delay is one response time. Of a
// linear penalty see Request.Added.
func added(p *Penalty, usual, late, response int64) crowd.Money {
	if p == nil || response <= 0 || late < int64(p.After) {
		return 0
	}
	if p.Kind != Linear {
		return p.At(time.Duration(late)) - p.At(time.Duration(usual))
	}
	lo, hi := max(usual, int64(p.After)), min(late, int64(p.top()))
	return p.over(sub(hi, lo), response)
}

// ramps is the number of steps in which a linear penalty's difference goes from
// nothing to that of a whole response time.
const ramps = 32

// step is the width of one of them.
func step(response int64) int64 { return (response-1)/ramps + 1 }

// notch rounds down what part of a delay lies on the slope.
func notch(part, response int64) int64 {
	if part >= response {
		return response
	}
	part = max(part, 0)
	return part - part%step(response)
}

// next returns the first instant after now at which added changes.
func (f *fate) next(now, response int64) (int64, bool) {
	if f.penalty == nil || response <= 0 {
		return 0, false
	}
	if f.penalty.Kind == Linear {
		return f.nextNotch(now, response)
	}
	return f.nextStep(now, response)
}

// nextStep is next for step functions. A step of one of the two ages changes the
// difference, and so does one of both at once unless the steps are equally high:
// a staged penalty with a response time of whole stages stays in step until it
// reaches its cap, so that the search goes on from there.
func (f *fate) nextStep(now, response int64) (int64, bool) {
	for {
		one, two, bound := f.ages(now, response)
		first, second := f.reach(now, one, bound), f.reach(now, two, bound)
		at := min(first, second)
		if first != second || at == never || f.added(at, response) != f.added(now, response) {
			return at, at != never
		}
		if !f.follow(now, at, response) {
			return 0, false
		}
		now = at
		_, two, _ = f.ages(now, response)
		if skip := sub(sub(int64(f.penalty.top()), int64(f.penalty.Every)), two); skip > 0 {
			now = add(now, skip)
		}
	}
}

// reach returns when an age, free to grow from now on but at least bound, comes
// to its next step.
func (f *fate) reach(now, age, bound int64) int64 {
	next, ok := f.penalty.NextStep(time.Duration(max(age, bound)))
	if !ok {
		return never
	}
	return add(now, sub(int64(next), age))
}

// nextNotch is next for the linear penalty: the part of the delay that lies on
// the slope, [usual, late] ∩ [After, top], grows or shrinks with time between
// the instants at which one of its ends begins or ceases to move.
func (f *fate) nextNotch(now, response int64) (int64, bool) {
	p := f.penalty
	top := int64(p.top())
	for {
		one, two, bound := f.ages(now, response)
		lo, loMoves, loTurn := lowEnd(one, bound, int64(p.After))
		hi, hiMoves, hiTurn := highEnd(two, bound, top)
		part, grows := sub(hi, lo), hiMoves-loMoves
		turn, change := min(loTurn, hiTurn), notchIn(part, grows, response)
		at := add(now, min(turn, change))
		if at == never || !f.follow(now, at, response) {
			return 0, false
		}
		if change <= turn && p.over(part, response) != p.over(part+grows*change, response) {
			return at, true
		}
		now = at
	}
}

// over returns what it costs that a part of a delay lies on the slope.
func (p *Penalty) over(part, response int64) crowd.Money {
	return p.slope(time.Duration(notch(part, response)))
}

// follow reports whether the ages grow with time between two instants: at the ends
// of the range they do not.
func (f *fate) follow(from, to, response int64) bool {
	one, two, _ := f.ages(from, response)
	then, late, _ := f.ages(to, response)
	return then-one == to-from && late-two == to-from && to != never
}

// lowEnd returns the lower end of the part of the delay on the slope, whether it
// moves (1 or 0), and after how long that turns.
func lowEnd(age, bound, after int64) (at, moves, turn int64) {
	switch {
	case age < bound:
		return max(bound, after), 0, sub(bound, age)
	case age < after:
		return after, 0, sub(after, age)
	}
	return age, 1, never
}

// highEnd is lowEnd for the upper end.
func highEnd(age, bound, top int64) (at, moves, turn int64) {
	switch {
	case max(age, bound) >= top:
		return top, 0, never
	case age < bound:
		return bound, 0, sub(bound, age)
	}
	return age, 1, sub(top, age)
}

// notchIn returns after how long the notch of a part that grows (1), rests (0)
// or shrinks (−1) changes, or never.
func notchIn(part, grows, response int64) int64 {
	width := step(response)
	switch {
	case grows > 0 && part < response:
		return sub(min(max(notch(part, response), 0)+width, response), part)
	case grows < 0 && part >= response:
		return part - response + 1
	case grows < 0 && part >= width:
		return part%width + 1
	}
	return never
}
