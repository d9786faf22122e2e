package queueing

import (
	"math"
	"time"
)

// windowParts is how many parts a window's span is cut into.
const windowParts = 64

// Window sums events and the exposure in which they happened, over the last span
// of time, to estimate a rate. It remembers parts of 1/64 of the span, in constant
// memory: what was added leaves between one span and 1+1/64 spans later, a whole
// part at a time. It is not safe for concurrent use.
//
// A rate is events/exposure, the maximum likelihood estimate for events that come
// at a constant rate while somebody is exposed to them. Four uses:
//
//   - Arrival rate λ. Events: tasks that arrived; exposure: seconds that passed.
//     Add both at each step, also when nothing arrived: then the exposure is the
//     span, or the time since the first look if that is shorter. For a time fixed
//     beforehand it has no bias, E = λ, and variance λ/exposure. Asked only at
//     moments at which a task has just arrived it counts one too many.
//   - Service rate μ. Events: tasks completed; exposure: the person-seconds
//     spent on tasks since the last step, by those too who have not finished.
//     Completions less μ times exposure are a martingale, so E[events] =
//     μ·E[exposure] exactly, whatever stops the watch; the quotient has
//     E = μ(1 + O(1/n)) for n events. Watched until the n-th completion, for an n
//     fixed beforehand, E = μ·n/(n−1). With exposure of completed tasks only, long
//     tasks would be missing and μ would be too large, by much if the span is
//     short.
//   - Abandonment, per person-second on duty. Events: people who left; exposure:
//     seconds of everybody on duty, who stay too. Bias as of μ.
//   - Recruitment, per person asked and second waited. Events: people who came;
//     exposure: seconds waited by everybody asked, those too who have not come yet
//     (the estimate for exponential times that are censored). Its reciprocal
//     estimates the mean time to come. Bias as of μ. With those who came only, it
//     would be too large by the same reason.
//
// In all, exposure is to be added as it passes, not at the end of a task: one that
// lasts longer than the span has exposure before its event, not with it. If the
// rate changed within the span the estimate is its mean, weighed by exposure.
//
// With nothing seen Known is false and the caller must take a figure from
// elsewhere; see Estimate. Source: Cox and Oakes 1984, "Analysis of Survival
// Data", chapter 3; [C] 2.3 for the window.
type Window struct {
	span, width time.Duration
	origin      time.Time
	started     bool
	newest      int64 // the part of the last Add, counted from origin
	parts       [windowParts + 1]part
}

type part struct {
	number           int64
	events, exposure float64
}

// NewWindow makes an empty window. The span must be above 0; it panics otherwise.
func NewWindow(span time.Duration) *Window {
	if span <= 0 {
		panic("queueing: the span of a window must be above 0")
	}
	width := span / windowParts
	if span%windowParts != 0 {
		width++
	}
	return &Window{span: span, width: width}
}

// Span returns what NewWindow was given.
func (w *Window) Span() time.Duration { return w.span }

// Add adds events, and the exposure since the last Add, at a time. A time before
// that of the last Add counts as it, and what is negative, infinite or NaN as 0,
// so that a clock that was set back does no harm.
func (w *Window) Add(at time.Time, events, exposure float64) {
	if !w.started {
		w.started, w.origin = true, at
	}
	w.newest = max(w.newest, w.partOf(at))
	p := &w.parts[w.newest%int64(len(w.parts))]
	if p.number != w.newest {
		*p = part{number: w.newest}
	}
	if events > 0 && !math.IsInf(events, 1) {
		p.events += events
	}
	if exposure > 0 && !math.IsInf(exposure, 1) {
		p.exposure += exposure
	}
}

// Withdraw takes back events that were added at times between from and to, as far as the window
// still remembers so many there, the latest first.
func (w *Window) Withdraw(from, to time.Time, events float64) {
	if !w.started || to.Before(w.origin) {
		return
	}
	oldest := max(w.partOf(from), w.newest-windowParts)
	for n := min(w.partOf(to), w.newest); n >= oldest && events > 0; n-- {
		if p := &w.parts[n%int64(len(w.parts))]; p.number == n {
			taken := min(p.events, events)
			p.events -= taken
			events -= taken
		}
	}
}

func (w *Window) partOf(at time.Time) int64 {
	return int64(max(0, at.Sub(w.origin)) / w.width)
}

// Rate estimates the rate from what was added in the span before now. It changes
// nothing. A now before the last Add counts as that.
func (w *Window) Rate(now time.Time) Estimate {
	var e Estimate
	if !w.started {
		return e
	}
	oldest := int64(0)
	if since := now.Sub(w.origin) - w.span; since > 0 {
		oldest = int64(since / w.width)
	}
	oldest = max(oldest, w.newest-windowParts)
	for i := range w.parts {
		if p := &w.parts[i]; p.number >= oldest && p.number <= w.newest {
			e.Events += p.events
			e.Exposure += p.exposure
		}
	}
	if e.Exposure > 0 {
		e.Known, e.Value = true, e.Events/e.Exposure
	}
	return e
}

// Estimate is an estimated rate, and what it rests on.
//
// With no exposure in the window nothing is known: Known is false and Value 0.
// With exposure but no event Value is 0, which is the estimate; an arrival rate
// may well be 0, but a service rate of 0 is of no use as a divisor: take
// PositiveOr. Events tells how good it is: its standard error is about
// Value/√Events.
type Estimate struct {
	Value    float64 // events per unit of exposure
	Events   float64
	Exposure float64
	Known    bool // there was exposure
}

// Or returns the value, or x if it is not known.
func (e Estimate) Or(x float64) float64 {
	if !e.Known {
		return x
	}
	return e.Value
}

// PositiveOr returns the value, or x if it is not known or 0.
func (e Estimate) PositiveOr(x float64) float64 {
	if e.Value > 0 {
		return e.Value
	}
	return x
}

// Estimators are the four rates of a pool; Window says what to add to each.
type Estimators struct {
	Arrivals    *Window // λ: tasks per second
	Service     *Window // μ: tasks per person-second of work
	Abandonment *Window // people per person-second on duty
	Recruitment *Window // people per person-second of being waited for
}

// NewEstimators makes four empty windows of one span, which must be above 0.
func NewEstimators(span time.Duration) *Estimators {
	return &Estimators{NewWindow(span), NewWindow(span), NewWindow(span), NewWindow(span)}
}
