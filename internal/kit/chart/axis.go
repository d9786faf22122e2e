package chart

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// span is the range of the values seen.
type span struct {
	lo, hi float64
	n      int
}

func (s *span) add(values ...float64) {
	for _, v := range values {
		if s.n == 0 || v < s.lo {
			s.lo = v
		}
		if s.n == 0 || v > s.hi {
			s.hi = v
		}
		s.n++
	}
}

// skips counts the values that cannot be drawn.
type skips struct {
	bad int // NaN, infinite
	low int // not positive, on a logarithmic axis
}

func (s *skips) add(t skips) { s.bad += t.bad; s.low += t.low }

func (s skips) note() string {
	var parts []string
	if s.bad > 0 {
		parts = append(parts, format.WithCommas(s.bad, "point")+" without a finite value")
	}
	if s.low > 0 {
		parts = append(parts, format.WithCommas(s.low, "point")+" at or below zero (logarithmic axis)")
	}
	if len(parts) == 0 {
		return ""
	}
	return "Not shown: " + strings.Join(parts, ", ") + "."
}

// finite reports whether v can be drawn at all.
func finite(v float64) bool { return math.Abs(v) <= widest } // not so of NaN

func (k Kind) log() bool { return k == Log || k == LogTime }

// accepts reports whether v can be drawn on an axis of this kind. If not, it counts
// the value in s.
func (k Kind) accepts(v float64, s *skips) bool {
	switch {
	case !finite(v):
		s.bad++
		return false
	case k.log() && v <= 0:
		s.low++
		return false
	}
	return true
}

// axis is an axis with its range. On a logarithmic axis lo, hi and the result of at
// are decimal logarithms.
type axis struct {
	Axis
	lo, hi float64
	unit   float64  // of the numbers at the ticks: 60 for minutes
	name   string   // label and unit
	groups []string // instead of numbers
}

func (a axis) at(v float64) float64 {
	if a.Kind.log() {
		return math.Log10(v)
	}
	return v
}

// fraction returns the position of v between the ends of the axis, 0 to 1.
func (a axis) fraction(v float64) float64 { return (a.at(v) - a.lo) / (a.hi - a.lo) }

// inRange reports whether v is in the range of the spec, if it has one.
func (a Axis) inRange(v float64) bool { return a.Min >= a.Max || (v >= a.Min && v <= a.Max) }

// widest is the largest magnitude on an axis: differences must not overflow,
// nor values in another unit.
const widest = 1e300

// resolve gives the axis its range: that of the spec, else that of the data with
// padding (a share of the range) on both sides, so that markers and line ends are
// not cut.
func (a Axis) resolve(s span, padding float64) axis {
	out := axis{Axis: a, unit: 1}
	lo, hi := s.lo, s.hi
	fixed := a.Min < a.Max && finite(a.Min) && finite(a.Max) && (!a.Kind.log() || a.Min > 0)
	if fixed {
		lo, hi = a.Min, a.Max
	} else if s.n == 0 {
		lo, hi = 0, 1
		if a.Kind.log() {
			lo = 0.1
		}
	}
	lo, hi = math.Max(lo, -widest), math.Min(hi, widest)
	if a.Kind.log() && !(lo > 0) { // the logarithm of zero would have no end of ticks
		lo, hi = 0.1, math.Max(1, hi)
	}
	out.lo, out.hi = out.at(lo), out.at(hi)
	if !fixed {
		out.pad(lo, hi, padding)
	}
	unit := a.Unit
	switch {
	case a.Kind == Time:
		out.unit, unit = timeUnit(math.Max(math.Abs(out.lo), math.Abs(out.hi)))
		if s.n == 0 && !fixed {
			unit = ""
		}
	case a.Kind == LogTime:
		unit = "" // every tick has its own
	case a.Kind == Percent:
		out.unit, unit = 0.01, "%"
	}
	out.name = clean(a.Label)
	if unit = clean(unit); unit != "" {
		out.name = strings.TrimSpace(out.name + " (" + unit + ")")
	}
	return out
}

// pad widens the range lo to hi of the data, and begins it at zero where that is
// asked for or near. No padding reaches beyond zero.
func (a *axis) pad(lo, hi, padding float64) {
	log := a.Kind.log()
	switch {
	case a.hi-a.lo > 0 && a.hi-a.lo > 1e-12*math.Max(math.Abs(a.lo), math.Abs(a.hi)):
	case log:
		a.lo, a.hi = a.lo-0.5, a.hi+0.5
	case lo == 0:
		a.hi = 1
	default: // one value: itself in the middle, or at the top of an axis from zero
		d := math.Abs(lo) * 0.1
		a.lo, a.hi = lo-d, lo+d
	}
	above, below := padding*(a.hi-a.lo), padding*(a.hi-a.lo)
	if zero := !log && (a.Zero || (lo > 0 && lo < 0.3*hi)); zero && a.lo > 0 {
		a.lo, below = 0, 0
	} else if zero && a.Zero && a.hi < 0 {
		a.hi, above = 0, 0
	}
	if lo == 0 && !log {
		below = 0
	}
	if hi == 0 && lo < 0 && !log {
		above = 0
	}
	a.lo, a.hi = a.lo-below, a.hi+above
}

// timeUnit returns the unit in which a time of so many seconds reads best.
func timeUnit(longest float64) (float64, string) {
	const eps = 1.001
	switch {
	case longest < 2e-3:
		return 1e-6, "µs"
	case longest < 2:
		return 1e-3, "ms"
	case longest <= 120*eps:
		return 1, "s"
	case longest <= 7200*eps:
		return 60, "min"
	case longest <= 3*86400*eps:
		return 3600, "h"
	}
	return 86400, "d"
}

// tick is a place on an axis. Those without a text are short.
type tick struct {
	at   float64 // as axis.at returns
	text string
}

// ticks returns about so many ticks at most, at round numbers.
func (a axis) ticks(most int) []tick {
	most = max(most, 2)
	switch {
	case a.groups != nil:
		return lists.Map(lists.Indices(len(a.groups)), func(i int) tick { return tick{float64(i), a.groups[i]} })
	case a.Kind.log():
		return a.logTicks(most)
	case a.Kind == Clock:
		return a.clockTicks(most)
	}
	out := a.evenTicks(a.lo, a.hi, most)
	for n := most + 1; len(out) < 2 && n <= most+enoughMore; n++ { // a single one says nothing of the scale
		out = a.evenTicks(a.lo, a.hi, n)
	}
	return out
}

// enoughMore ticks than were asked for make two in any range, unless those may be at whole
// numbers only: the distance of round numbers halves at least once by then.
const enoughMore = 4

func (a axis) evenTicks(lo, hi float64, most int) []tick {
	step := niceStep((hi-lo)/a.unit, most, a.unit)
	if a.Whole {
		if step = math.Max(step, 1); step != math.Trunc(step) {
			step *= 2 // 2.5
		}
	}
	eps := 1e-9 * step
	first := math.Ceil(lo/a.unit/step - 1e-9)
	var out []tick
	for i := 0; i < 100; i++ {
		v := (first + float64(i)) * step
		if v > hi/a.unit+eps {
			break
		}
		if math.Abs(v) < eps {
			v = 0
		}
		out = append(out, tick{v * a.unit, numberText(v, step)})
	}
	return out
}

// clockSteps are the distances, in seconds, of ticks on an axis of the time of day.
var clockSteps = []float64{1, 5, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400}

func (a axis) clockTicks(most int) []tick {
	step := clockSteps[len(clockSteps)-1]
	for _, s := range clockSteps {
		if (a.hi-a.lo)/s <= float64(most) {
			step = s
			break
		}
	}
	layout := "15:04"
	if step < 60 {
		layout = "15:04:05"
	}
	if days := (a.hi - a.lo) / 86400; days > float64(most) {
		step, layout = 86400*math.Ceil(days/float64(most)), "2 Jan"
	}
	var out []tick
	for v := math.Ceil(a.lo/step) * step; v <= a.hi && len(out) < 100; v += step {
		out = append(out, tick{v, time.Unix(int64(v), 0).UTC().Format(layout)})
	}
	return out
}

// niceStep is the smallest round step that makes at most so many ticks over a
// width. Minutes and hours are round at other numbers: 15, not 20.
func niceStep(width float64, most int, unit float64) float64 {
	var rounds []float64
	switch unit {
	case 60:
		rounds = []float64{10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600}
	case 3600:
		rounds = []float64{3, 6, 12, 24, 48, 72, 120, 240}
	}
	want := width / float64(most)
	power := math.Pow(10, math.Floor(math.Log10(want)))
	if !(power > 0) || math.IsInf(power, 0) {
		return math.Max(want, math.SmallestNonzeroFloat64)
	}
	step := 10 * power
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m == 2.5 && unit >= 60 {
			continue // round for numbers, not for hours
		}
		if m*power >= want*0.999 {
			step = m * power
			break
		}
	}
	for _, r := range rounds { // none of seconds, which look like plain numbers
		if r >= want*0.999 && want > rounds[0]/2 {
			return r
		}
	}
	return step
}

// numberText writes v as exactly as the step between ticks needs.
func numberText(v, step float64) string {
	size := math.Max(math.Abs(v), step)
	switch {
	case v == 0:
		return "0"
	case size >= 1e15 || size < 1e-5:
		return strconv.FormatFloat(v, 'g', 4, 64)
	case size >= 1e9 && step >= 1e7:
		return shortened(v/1e9, step/1e9) + "G"
	case size >= 1e6 && step >= 1e4:
		return shortened(v/1e6, step/1e6) + "M"
	}
	return shortened(v, step)
}

func shortened(v, step float64) string {
	digits := 0
	for step > 0 && digits < 10 && math.Abs(step-math.Round(step)) > 1e-6*step {
		step *= 10
		digits++
	}
	return thousands(strconv.FormatFloat(v, 'f', digits, 64))
}

// thousands puts commas into the whole part of a decimal number, and a true
// minus before it.
func thousands(t string) string {
	sign := ""
	if strings.HasPrefix(t, "-") {
		sign, t = "−", t[1:]
	}
	if whole, rest, _ := strings.Cut(t, "."); len(whole) == 4 && rest != "" {
		return sign + t
	}
	return sign + format.Group(t, ",")
}

// timeRounds are the durations at which a logarithmic axis of time has ticks.
var timeRounds = []struct {
	seconds float64
	text    string
	main    bool // kept where only few fit
}{
	{1e-6, "1 µs", true}, {1e-5, "10 µs", true}, {1e-4, "100 µs", true},
	{1e-3, "1 ms", true}, {1e-2, "10 ms", true}, {1e-1, "100 ms", true},
	{1, "1 s", true}, {3, "3 s", false}, {10, "10 s", true}, {30, "30 s", false},
	{60, "1 min", true}, {180, "3 min", false}, {600, "10 min", true}, {1800, "30 min", false},
	{3600, "1 h", true}, {3 * 3600, "3 h", false}, {10 * 3600, "10 h", true},
	{86400, "1 d", false}, {3 * 86400, "3 d", true}, {10 * 86400, "10 d", false}, {30 * 86400, "30 d", true}, {100 * 86400, "100 d", false}, {365 * 86400, "1 y", true},
}

// logTicks returns ticks at powers of ten with short ones between them, or at round
// durations on an axis of time, or at round numbers where the range is narrow.
func (a axis) logTicks(most int) []tick {
	if a.Kind == LogTime {
		if ticks := a.durationTicks(most); ticks != nil {
			return ticks
		}
	}
	if a.hi-a.lo < 0.7 { // less than from 1 to 5: round numbers, spaced unevenly
		return a.narrowTicks(most)
	}
	return a.decadeTicks(most)
}

// logTolerance is a difference of decimal logarithms that cannot be seen.
const logTolerance = 1e-9

// durationTicks returns ticks at round durations; nil if there are too few.
func (a axis) durationTicks(most int) []tick {
	var all, main []tick
	for _, r := range timeRounds {
		at := math.Log10(r.seconds)
		if at < a.lo-logTolerance || at > a.hi+logTolerance {
			continue
		}
		all = append(all, tick{at, r.text})
		if r.main {
			main = append(main, tick{at, r.text})
		}
	}
	if len(all) >= 2 && len(all) <= most {
		return all
	}
	if len(main) < 2 {
		return nil
	}
	every := (len(main) + most - 1) / most
	for i := range main {
		if i%every != 0 {
			main[i].text = "" // stays as a short one
		}
	}
	return main
}

func (a axis) narrowTicks(most int) []tick {
	lo, hi := math.Pow(10, a.lo), math.Pow(10, a.hi)
	name := ""
	if a.Kind == LogTime {
		a.unit, name = timeUnit(hi)
		name = " " + name
	}
	ticks := a.evenTicks(lo, hi, most)
	for i := range ticks {
		ticks[i] = tick{math.Log10(ticks[i].at), ticks[i].text + name}
	}
	return ticks
}

func (a axis) decadeTicks(most int) []tick {
	first, last := math.Floor(a.lo-logTolerance), math.Ceil(a.hi+logTolerance)
	decades := a.hi - a.lo
	every := math.Max(1, math.Ceil(decades/float64(most)))
	texts := map[int]bool{1: true}
	if decades*3 <= float64(most) {
		texts[2], texts[5] = true, true
	} else if decades*2 <= float64(most) {
		texts[3] = true
	}
	var out []tick
	for d := first; d <= last; d++ {
		for m := 1; m < 10; m++ {
			at := d + math.Log10(float64(m))
			if at < a.lo-logTolerance || at > a.hi+logTolerance || (m > 1 && every > 1) {
				continue
			}
			t := tick{at: at}
			if texts[m] && math.Mod(math.Abs(d), every) == 0 {
				v := float64(m) * math.Pow(10, d)
				t.text = numberText(v, v)
				if d < -4 {
					t.text = strconv.FormatFloat(v, 'e', 0, 64)
				}
			}
			out = append(out, t)
		}
	}
	return out
}
