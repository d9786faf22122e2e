package experiment

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
)

// A Statistic is a mean or a median over repetitions.
type Statistic string

const (
	Mean   Statistic = "mean"
	Median Statistic = "median"
)

// An Estimate is a figure with its 95 % interval.
type Estimate struct{ Value, Low, High float64 }

// Of estimates the statistic from a sample. NaNs are left out.
func (s Statistic) Of(values []float64) Estimate {
	if s == Median {
		return medianOf(values)
	}
	m := stats.Summarise(values)
	return Estimate{m.Mean, m.Mean - m.CI95, m.Mean + m.CI95}
}

// medianOf takes the interval from order statistics: the narrowest symmetric pair
// of ranks that holds the median with 95 % or more, whatever the distribution.
// A sample too small for that has all of it.
func medianOf(values []float64) Estimate {
	kept := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.Sort(kept)
	n := len(kept)
	if n == 0 {
		return Estimate{math.NaN(), math.NaN(), math.NaN()}
	}
	// atMost is the binomial distribution with p = 1/2.
	atMost := func(k int) float64 { return mathext.RegIncBeta(float64(n-k), float64(k+1), 0.5) }
	k := 0 // how many at each end are outside
	for k+1 < (n+1)/2 && atMost(k+1) <= 0.025 {
		k++
	}
	return Estimate{stats.Quantile(kept, 0.5), kept[k], kept[n-1-k]}
}

// ShareOf estimates the probability of a thing that happened k times in n, by
// Wilson's interval.
func ShareOf(k, n int) Estimate {
	p, z, of := float64(k)/float64(n), 1.96, float64(n)
	middle := (p + z*z/(2*of)) / (1 + z*z/of)
	half := z / (1 + z*z/of) * math.Sqrt(p*(1-p)/of+z*z/(4*of*of))
	return Estimate{p, max(middle-half, 0), min(middle+half, 1)}
}

// A Figure is a published one with what is not known of it.
type Figure struct {
	Value float64
	Own   float64 // half the width of its own 95 % interval, by its own sample; 0: not known
	Unit  float64 // of the last digit that is printed
	Same  bool    // ours are the very same runs, so that chance has no part
}

// OfMean returns a published mean over n scenarios of which the standard
// deviation is known.
func OfMean(value, sd float64, n int, unit float64) Figure {
	return Figure{Value: value, Own: 1.96 * sd / math.Sqrt(float64(n)), Unit: unit}
}

// OfMedian returns a median over n scenarios that was read off a box plot with the
// box from q1 to q3. Its uncertainty is the notch of McGill, Tukey and Larsen 1978.
func OfMedian(median, q1, q3 float64, n int) Figure {
	return Figure{Value: median, Own: 1.57 * (q3 - q1) / math.Sqrt(float64(n)), Unit: 0.0002}
}

// Judge reports whether a published figure is the estimate's: see the package comment.
func (f Figure) Judge(e Estimate) Verdict {
	side := e.High - e.Value
	if f.Value < e.Value {
		side = e.Value - e.Low
	}
	if math.IsNaN(side) {
		side = 0 // one figure has no interval: the published one's own is all that is known
	}
	distance := math.Hypot(side, f.Own)
	if f.Same {
		distance = 0
	}
	if math.Abs(f.Value-e.Value) <= distance+f.Unit/2+1e-9 {
		return Reproduced
	}
	return Differs
}

// The fewest repetitions for a verdict. An interval of Student's t of fewer than
// five rests on the figures being normal. Of fewer than six no two order statistics
// hold the median with 95 %.
const (
	leastOfMean   = 5
	leastOfMedian = 6
)

// Row is a row of the statistic of a sample, compared with nothing so far.
func (s Statistic) Row(policy, metric, unit string, sample []float64) Row {
	finite := lists.Count(sample, func(v float64) bool { return !math.IsNaN(v) })
	r := NewRow(policy, metric, unit, s.Of(sample)).Of("%s of %d", s, len(sample)).Repeated(s, finite)
	r.Name += ", " + string(s)
	return r
}

// NewRow is a row of an estimate, compared with nothing so far.
func NewRow(policy, metric, unit string, e Estimate) Row {
	name := metric
	if policy != "" {
		name = policy + ": " + metric
	}
	return Row{
		Name: name, Policy: policy, Metric: metric, Unit: unit, Published: Missing, PublishedCI95: Missing,
		Ours: Number(e.Value), CI95: Number((e.High - e.Low) / 2), Low: Number(e.Low), High: Number(e.High),
		NoVerdict: NotInPaper,
	}
}

// Repeated sets how many repetitions tell something of the figure, and by which
// statistic. A figure that is not of repetitions, a count or the statistic of the very
// same runs, has none.
func (r Row) Repeated(s Statistic, n int) Row {
	r.reps, r.least = max(n, 1), leastOfMean
	if s == Median {
		r.least = leastOfMedian
	}
	return r
}

// Few reports whether the figure is of too few repetitions for a verdict, or of none:
// there is no figure then.
func (r Row) Few() bool { return r.reps > 0 && (r.reps < r.least || r.Ours.Missing()) }

// As sets the kind of a row that has a verdict.
func (r Row) As(k Kind) Row {
	if r.Verdict != "" {
		r.Kind = k
	}
	return r
}

// Of sets what statistic of how many the figure is.
func (r Row) Of(format string, args ...any) Row {
	r.Statistic = fmt.Sprintf(format, args...)
	return r
}

// Against compares a row with a published figure; why is the reason if they differ.
func (r Row) Against(f Figure, source, why string) Row {
	r.Kind, r.NoVerdict, r.Source, r.Published = OfFigure, "", source, Number(f.Value)
	r.Verdict = f.Judge(Estimate{float64(r.Ours), float64(r.Low), float64(r.High)})
	if r.Verdict == Differs {
		r.Why = why
	}
	if f.Own > 0 && !f.Same {
		r.PublishedCI95 = Number(f.Own)
	}
	if !f.Same {
		r = r.orImprecise()
	}
	return r
}

// orImprecise takes a verdict back that rests on too few repetitions, or on an
// interval, ours or the published figure's own, that is wider than the published
// figure. Where the two differ all the same, the reason stays.
func (r Row) orImprecise() Row {
	wide := func(width Number) bool {
		return r.Verdict != Imprecise && !r.Published.Missing() && float64(width) > math.Abs(float64(r.Published))
	}
	code := ""
	switch {
	case r.Few():
		r.Verdict, r.Why = Imprecise, "few-repetitions"
	case wide(r.High - r.Low):
		code = "wide-interval"
	case wide(2 * r.PublishedCI95):
		code = "wide-published"
	}
	if code != "" {
		if r.Why != "" {
			code += ", "
		}
		r.Verdict, r.Why = Imprecise, code+r.Why
	}
	return r
}

// A Side is where a figure must lie for a claim to hold.
type Side struct {
	least, most float64
}

var (
	Above  = func(x float64) Side { return Side{x, math.Inf(1)} }
	Below  = func(x float64) Side { return Side{math.Inf(-1), x} }
	Within = func(a, b float64) Side { return Side{a, b} }
)

// Claims compares a row with what the paper says in words: it is reproduced if the
// whole interval lies where the words say, differs if none of it does, and is else
// too imprecise to say.
func (r Row) Claims(words string, must Side, source, why string) Row {
	r.Kind, r.NoVerdict, r.Claim, r.Source, r.Verdict = OfClaim, "", words, source, Reproduced
	low, high := float64(r.Low), float64(r.High)
	switch {
	case low >= must.least && high <= must.most:
	case low <= must.most && high >= must.least:
		r.Verdict, r.Why = Imprecise, "undecided"
	default:
		r.Verdict, r.Why = Differs, why
	}
	return r.orImprecise()
}

// Orders is Claims of which of two is the greater.
func (r Row) Orders(words string, must Side, source, why string) Row {
	return r.Claims(words, must, source, why).As(OfOrder)
}

// AtLeast compares a row of a method of ours with a published figure that it is to
// reach.
func (r Row) AtLeast(published float64, source, why string) Row {
	r.Published = Number(published)
	return r.Claims("at least", Above(published), source, why).As(OfOurs)
}

// AgreesWithStandIn is why a row without a verdict says what its stand-in says.
const AgreesWithStandIn = "stand-in-agrees"

// StandIn takes the verdict of a row that is not compared with a published figure,
// which is not to be had, but with a program that stands in for it. Its reason says
// whether the two agree.
func (r Row) StandIn() Row {
	if r.Verdict == Reproduced {
		r.Why = AgreesWithStandIn
	}
	r.Kind, r.Verdict, r.NoVerdict = "", "", NotInPaper
	return r
}

// NotSimulatable turns a row into one that says so, and why.
func (r Row) NotSimulatable(words, why, source string) Row {
	r.Kind, r.Verdict, r.NoVerdict, r.Claim, r.Why, r.Source = "", "", NotSimulatable, words, why, source
	return r
}
