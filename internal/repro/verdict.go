package repro

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/throng-dev/throng/internal/kit/stats"
)

// A statistic is a mean or a median over repetitions.
type statistic string

const (
	mean   statistic = "mean"
	median statistic = "median"
)

// An estimate is a figure with its 95 % interval.
type estimate struct{ value, low, high float64 }

// of estimates a statistic from a sample. NaNs are left out.
func (s statistic) of(values []float64) estimate {
	if s == median {
		return medianOf(values)
	}
	m := stats.Summarise(values)
	return estimate{m.Mean, m.Mean - m.CI95, m.Mean + m.CI95}
}

// medianOf takes the interval from order statistics: the narrowest symmetric pair
// of ranks that holds the median with 95 % or more, whatever the distribution.
// A sample too small for that has all of it.
func medianOf(values []float64) estimate {
	kept := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.Sort(kept)
	n := len(kept)
	if n == 0 {
		return estimate{math.NaN(), math.NaN(), math.NaN()}
	}
	atMost := func(k int) float64 { return mathext.RegIncBeta(float64(n-k), float64(k+1), 0.5) } // binomial, p = 1/2
	k := 0                                                                                       // how many at each end are outside
	for k+1 < (n+1)/2 && atMost(k+1) <= 0.025 {
		k++
	}
	return estimate{stats.Quantile(kept, 0.5), kept[k], kept[n-1-k]}
}

// shareOf estimates the probability of a thing that happened k times in n, by
// Wilson's interval.
func shareOf(k, n int) estimate {
	p, z, of := float64(k)/float64(n), 1.96, float64(n)
	middle := (p + z*z/(2*of)) / (1 + z*z/of)
	half := z / (1 + z*z/of) * math.Sqrt(p*(1-p)/of+z*z/(4*of*of))
	return estimate{p, max(middle-half, 0), min(middle+half, 1)}
}

// A figure is a published one with what is not known of it.
type figure struct {
	value float64
	own   float64 // half the width of its own 95 % interval
	unit  float64 // of the last digit that is printed
	same  bool    // ours are the very same runs, so that chance has no part
}

// ofMean returns a published mean over n scenarios of which the standard
// deviation is known.
func ofMean(value, sd float64, n int, unit float64) figure {
	return figure{value: value, own: 1.96 * sd / math.Sqrt(float64(n)), unit: unit}
}

// ofBox returns a median over n scenarios that was read off a box plot with the
// box from q1 to q3; the notch is that of McGill, Tukey and Larsen 1978.
func ofBox(x box, n int) figure {
	return figure{value: x.median, own: 1.57 * (x.q3 - x.q1) / math.Sqrt(float64(n)), unit: 0.0002}
}

// judge says whether a published figure is the estimate's: see the package comment.
func (f figure) judge(e estimate) Verdict {
	side := e.high - e.value
	if f.value < e.value {
		side = e.value - e.low
	}
	if math.IsNaN(side) {
		side = 0 // one figure has no interval: the published one's own is all the room there is
	}
	room := math.Hypot(side, f.own)
	if f.same {
		room = 0
	}
	if math.Abs(f.value-e.value) <= room+f.unit/2+1e-9 {
		return Reproduced
	}
	return Differs
}

// row compares a sample of ours with a published figure.
func row(policy, metric, unit string, s statistic, sample []float64, f figure, source, why string) Row {
	r := ours(policy, metric, unit, s, sample)
	r.Published, r.Source = Number(f.value), source
	r.Verdict = f.judge(r.estimate())
	if r.Verdict == Differs {
		r.Why = why
		if r.Low.Missing() {
			r.Why = "of less than two figures there is no interval: it is not decided"
		}
	}
	return r
}

// ours is a row that has nothing to be compared with.
func ours(policy, metric, unit string, s statistic, sample []float64) Row {
	e := s.of(sample)
	r := bare(policy, metric, unit, e)
	r.Statistic = fmt.Sprintf("%s of %d", s, len(sample))
	r.Name += ", " + string(s)
	return r
}

func bare(policy, metric, unit string, e estimate) Row {
	name := metric
	if policy != "" {
		name = policy + ": " + metric
	}
	return Row{
		Name: name, Policy: policy, Metric: metric, Unit: unit, Published: missing,
		Ours: Number(e.value), CI95: Number((e.high - e.low) / 2), Low: Number(e.low), High: Number(e.high),
		Verdict: NotInPaper,
	}
}

func (r *Row) estimate() estimate {
	return estimate{float64(r.Ours), float64(r.Low), float64(r.High)}
}

// A side is where a figure must lie for a claim to hold.
type side struct {
	least, most float64
}

var (
	above  = func(x float64) side { return side{x, math.Inf(1)} }
	below  = func(x float64) side { return side{math.Inf(-1), x} }
	within = func(a, b float64) side { return side{a, b} }
)

// claim compares a figure with what the paper says in words: it is reproduced if
// the whole interval lies where the words say, and differs if none of it does or
// the middle does not.
func claim(policy, metric, unit string, s statistic, sample []float64, words string, must side, source, why string) Row {
	r := ours(policy, metric, unit, s, sample)
	r.Claim, r.Source = words, source
	r.decide(must, why)
	return r
}

func (r *Row) decide(must side, why string) {
	if float64(r.Low) >= must.least && float64(r.High) <= must.most {
		r.Verdict = Reproduced
		return
	}
	r.Verdict = Differs
	r.Why = why
	if float64(r.Ours) >= must.least && float64(r.Ours) <= must.most {
		r.Why = "the figure is on the side of the claim, but its interval does not exclude the other side: with so many repetitions it is not decided"
	}
}

// notSimulatable turns a row into one that says so, and why.
func (r Row) notSimulatable(words, why, source string) Row {
	r.Verdict, r.Claim, r.Why, r.Source = NotSimulatable, words, why, source
	return r
}
