package sla

import (
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Of the form ATC, in response times. A step counts as one that can still be
// escaped if the request, served now, would be expected to escape it with so much
// to spare; and a step that costs e times as much goes first if it is no more
// than so much later. ADR 17 says over which worlds they were chosen, and among what:
// 0.3, 0.6 and 1 to spare, and a look ahead of 1/4 to 8.
const (
	spareTenths = 3
	lookAhead   = 1.0
)

// A Step is the next step of a request's penalty that can still be escaped.
type Step struct {
	Due   time.Time   // a request that is served before then is expected to escape it, with a margin of 0.3 response times
	Falls time.Time   // when Cost falls due if its process goes on
	Cost  crowd.Money // what falls due, > 0 but for what rounds to nothing
}

// NextStep returns the next step of the request's penalty that can still be
// escaped, or false if there is none: nothing was promised, or all of it is due.
//
// A linear penalty has no steps: each response time that its process goes on
// after Penalty.After counts as one, and so does what is left up to the end of the
// slope.
func (r *Request) NextStep(now time.Time, response time.Duration) (Step, bool) {
	f := r.fate()
	return f.toEscape(nanos(now), int64(response))
}

func (f *fate) toEscape(now, response int64) (Step, bool) {
	due, cost, ok := f.step(now, response)
	if !ok {
		return Step{}, false
	}
	return Step{instant(due), instant(add(due, f.takes(response))), cost}, true
}

// Urgency puts steps into order, the earliest first. It is Due, earlier by one
// response time for each factor of e that the step costs more than one unit of
// the currency.
//
// That is the order of the index c·exp(−slack/(k·p)) of apparent tardiness cost,
// where c is the cost, the slack is what is left until Due, p is the response
// time and k is 1: of two indexes the logarithms, times k·p, differ as the
// urgencies do, and the present instant is the same in both. So an urgency lasts
// until its step is due.
//
// Source: A. P. J. Vepsalainen, T. E. Morton, "Priority Rules for Job Shops with
// Weighted Tardiness Costs", Management Science 33(8), 1987; there with tardiness
// in place of steps.
func (s Step) Urgency(response time.Duration) time.Time {
	return instant(urgency(nanos(s.Due), s.Cost, int64(response)))
}

func urgency(due int64, cost crowd.Money, response int64) int64 {
	worth := math.Log(float64(max(cost, 1)) / float64(crowd.Unit))
	earlier := lookAhead * float64(response) * worth
	const most = 1 << 62 // ns, 146 years; what a number with a point is beyond 2^63 differs from processor to processor
	return min(sub(due, int64(min(max(earlier, -most), most))), never-1)
}

// step returns the next step that can be escaped at an instant: when it is due,
// and what it costs.
func (f *fate) step(now, response int64) (due int64, cost crowd.Money, ok bool) {
	p := f.penalty
	if p == nil || response <= 0 {
		return 0, 0, false
	}
	takes := f.takes(response)
	age := f.age(add(now, takes))
	if age == never {
		return 0, 0, false
	}
	if f.bound != longAgo {
		age = max(age, sub(f.bound, f.start))
	}
	from, at, ok := p.escape(age, response)
	if !ok {
		return 0, 0, false
	}
	due = sub(add(f.start, at), takes)
	if due == never {
		return 0, 0, false
	}
	return due, p.At(time.Duration(at)) - p.At(time.Duration(from)), true
}

// takes is how long a request that is served now is expected to take to the end of its
// process, with the margin.
func (f *fate) takes(response int64) int64 {
	spare := response/10*spareTenths + response%10*spareTenths/10
	return add(add(response, spare), f.tail)
}

// escape returns the age after the given one that a process must not reach, and
// the one up to which nothing of the step is due; or false if there is none.
func (p *Penalty) escape(age, response int64) (from, to int64, ok bool) {
	if p.Kind != Linear {
		next, ok := p.NextStep(time.Duration(age))
		return int64(next) - 1, int64(next), ok
	}
	top := int64(p.top())
	if p.Cost <= 0 || p.Every <= 0 || age >= top {
		return 0, 0, false
	}
	from = int64(p.After)
	if past := sub(age, from); past > 0 {
		from = add(from, past-past%response)
	}
	return from, min(add(from, response), top), true
}
