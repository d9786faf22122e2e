package sla

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Kind is the form of a penalty function.
type Kind string

// The forms: steps of equal height (equation 1), one step (equation 2), and a
// slope.
const (
	Staged   Kind = "staged"
	Constant Kind = "constant"
	Linear   Kind = "linear"
)

// Kinds lists the forms.
func Kinds() []Kind { return []Kind{Staged, Constant, Linear} }

// MaxClasses is how many classes of items, each with a Penalty of its own, a process has at
// most.
const MaxClasses = 20

// A Penalty is what a process costs as a function L(t) of its age t at its end.
// With t₀ = After, p = Cost and u = Every:
//
//	staged    trunc((t − t₀)/u) · p  for t ≥ t₀
//	constant  p                      for t ≥ t₀   (equation 2)
//	linear    (t − t₀)/u · p         for t ≥ t₀
//
// and zero before t₀. L never falls, and stops at AtMost. Equation 1 is (trunc(t) − t₀) · p,
// with ages in seconds: the staged form where u is 1 s and t₀ whole seconds, as in all of
// the paper's experiments. The steps of another t₀ would begin with a part of p there, and
// with all of it here. The third form is ours.
//
// A nil *Penalty is the promise of nothing: it costs nothing at any age.
// Requests share a pointer; it must not be changed while a Queue holds it.
type Penalty struct {
	Kind   Kind          `json:"kind"`
	After  time.Duration `json:"after"`             // t₀ ≥ 0
	Cost   crowd.Money   `json:"cost"`              // p > 0: staged and linear for each Every, constant once
	Every  time.Duration `json:"every,omitempty"`   // u > 0; none for constant
	AtMost crowd.Money   `json:"at_most,omitempty"` // 0: crowd.MaxMoney
}

// Validate returns a *crowd.Error that names the field at fault, or nil. What
// the other methods return for a penalty that is not valid is not specified,
// but they do return.
func (p *Penalty) Validate() error {
	if p == nil {
		return nil
	}
	switch p.Kind {
	case Staged, Linear:
		if p.Every <= 0 {
			return crowd.Fieldf("every", "a %s penalty needs the time for which its cost is due, such as 1h", p.Kind)
		}
	case Constant:
		if p.Every != 0 {
			return crowd.Fieldf("every", "a constant penalty is due once: leave every out, or make it staged or linear")
		}
	default:
		return crowd.Fieldf("kind", "%q is not a kind of penalty: staged, constant or linear", string(p.Kind))
	}
	if p.After < 0 {
		return crowd.Fieldf("after", "%s is before the start: a penalty begins at an age of 0 or more", p.After)
	}
	if p.Cost <= 0 || p.Cost > crowd.MaxMoney {
		return crowd.Fieldf("cost", "a penalty costs more than 0 and at most %s, not %s", crowd.MaxMoney, p.Cost)
	}
	if p.AtMost < 0 || p.AtMost > crowd.MaxMoney {
		return crowd.Fieldf("at_most", "a penalty stops at an amount from 0 (no limit) to %s, not %s", crowd.MaxMoney, p.AtMost)
	}
	return nil
}

// At returns L(age), from 0 to AtMost or crowd.MaxMoney.
// Source: Khazankin et al. 2011, equations 1 and 2.
func (p *Penalty) At(age time.Duration) crowd.Money {
	if p == nil || age < p.After {
		return 0
	}
	switch p.Kind {
	case Constant:
		return min(p.Cost, p.cap())
	case Staged:
		if p.Every <= 0 {
			return 0
		}
		over := age - p.After
		return p.slope(over - over%p.Every)
	case Linear:
		return p.slope(age - p.After)
	}
	return 0
}

// NextStep returns the next age after the given one at which At changes; false
// if it never does. For the linear form, which changes all the time, it is the
// next kink: where the slope begins and where it ends.
func (p *Penalty) NextStep(age time.Duration) (time.Duration, bool) {
	if p == nil || p.Cost <= 0 {
		return 0, false
	}
	switch p.Kind {
	case Constant:
		return p.After, age < p.After
	case Linear:
		if age < p.After {
			return p.After, true
		}
		top := p.top()
		return top, age < top && top != never
	case Staged:
		return p.nextStage(age)
	}
	return 0, false
}

// nextStage is NextStep of the staged form: the end of the Every that the age is in.
func (p *Penalty) nextStage(age time.Duration) (time.Duration, bool) {
	if p.Every <= 0 || p.At(age) == p.cap() {
		return 0, false
	}
	over := max(age, p.After) - p.After
	next := time.Duration(add(add(int64(p.After), int64(over-over%p.Every)), int64(p.Every)))
	return next, next != never
}

// top returns the first age at which the slope has reached the cap, or never.
func (p *Penalty) top() time.Duration {
	if p.Cost <= 0 || p.Every <= 0 {
		return never
	}
	hi, lo := bits.Mul64(uint64(p.cap()), uint64(p.Every))
	if hi >= uint64(p.Cost) {
		return never
	}
	ramp, rest := bits.Div64(hi, lo, uint64(p.Cost))
	if ramp >= never {
		return never
	}
	if rest > 0 {
		ramp++
	}
	return time.Duration(add(int64(p.After), int64(ramp)))
}

// slope returns over/Every × Cost, rounded down, from 0 to the cap.
func (p *Penalty) slope(over time.Duration) crowd.Money {
	if over <= 0 || p.Every <= 0 || p.Cost <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(over), uint64(p.Cost))
	if hi >= uint64(p.Every) {
		return p.cap()
	}
	var m uint64
	if hi == 0 {
		m = lo / uint64(p.Every) // the usual case, and the faster division
	} else {
		m, _ = bits.Div64(hi, lo, uint64(p.Every))
	}
	return crowd.Money(min(m, uint64(p.cap())))
}

// cap returns the most that the penalty can be.
func (p *Penalty) cap() crowd.Money {
	if p.AtMost > 0 && p.AtMost < crowd.MaxMoney {
		return p.AtMost
	}
	return crowd.MaxMoney
}

// String writes the penalty as a promise reads: "10.00 for each 1s after 3s".
func (p *Penalty) String() string {
	if p == nil {
		return "none"
	}
	var s string
	switch p.Kind {
	case Staged:
		s = fmt.Sprintf("%s for each whole %s after %s", p.Cost, p.Every, p.After)
	case Constant:
		s = fmt.Sprintf("%s once after %s", p.Cost, p.After)
	case Linear:
		s = fmt.Sprintf("%s per %s after %s, in proportion", p.Cost, p.Every, p.After)
	default:
		s = fmt.Sprintf("unknown kind %q", string(p.Kind))
	}
	if p.AtMost > 0 {
		s += fmt.Sprintf(", at most %s", p.AtMost)
	}
	return s
}
