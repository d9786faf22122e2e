// Package stats summarises repetitions: means with their intervals, paired
// differences, quantiles.
package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// A Summary describes a sample of figures. NaNs are left out and counted.
type Summary struct {
	N      int     `json:"n"`
	Mean   float64 `json:"mean"`
	SD     float64 `json:"sd"`   // of the population the sample is from (n-1); NaN for one figure, which does not tell it
	CI95   float64 `json:"ci95"` // half width of the 95 % interval of the mean (Student's t); NaN for one figure
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	NaN    int     `json:"nan,omitempty"`
}

// Summarise describes the figures; of none, everything is NaN. One that is
// infinite leaves no deviation and no interval.
func Summarise(values []float64) Summary {
	kept := sorted(values)
	n := len(kept)
	s := Summary{N: n, NaN: len(values) - n, Mean: math.NaN(), Median: math.NaN(), Min: math.NaN(), Max: math.NaN(), SD: math.NaN(), CI95: math.NaN()}
	if n == 0 {
		return s
	}
	s.Mean, s.Median, s.Min, s.Max = Mean(kept), quantile(kept, 0.5), kept[0], kept[n-1]
	if n == 1 {
		return s
	}
	s.SD = math.Sqrt(squares(kept, s.Mean) / float64(n-1))
	s.CI95 = studentT975(float64(n-1)) * s.SD / math.Sqrt(float64(n))
	return s
}

// studentT975 is the 97.5 % quantile of Student's t with nu degrees of freedom:
// the t > 0 at which I_x(nu/2, 1/2) = 0.05 for x = nu/(t²+nu), where I is the
// regularised incomplete beta function (Abramowitz and Stegun, 26.7.1). Package
// distuv computes it likewise, but would link all of gonum's linear algebra.
func studentT975(nu float64) float64 {
	p := 0.975
	x := mathext.InvRegIncBeta(nu/2, 0.5, 2*(1-p))
	return math.Sqrt(nu * (1 - x) / x)
}

// Paired describes a[i] - b[i]: the difference of two policies on common random
// numbers. Pairs with a NaN are left out. The two are equally long.
func Paired(a, b []float64) Summary {
	return Summarise(lists.Map(lists.Indices(len(a)), func(i int) float64 { return a[i] - b[i] }))
}

// Mean returns the mean; NaN of no figures.
func Mean(values []float64) float64 {
	return lists.Sum(values, func(v float64) float64 { return v }) / float64(len(values))
}

// squares sums the squares of the distances from the mean.
func squares(values []float64, mean float64) float64 {
	return lists.Sum(values, func(v float64) float64 { return (v - mean) * (v - mean) })
}

// Finite reports whether all figures are neither NaN nor infinite.
func Finite(list ...float64) bool {
	return !slices.ContainsFunc(list, func(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) })
}

// PopulationSD returns the standard deviation of the figures themselves, not an
// estimate of that of a population they are drawn from; NaN of no figures.
func PopulationSD(values []float64) float64 {
	return math.Sqrt(squares(values, Mean(values)) / float64(len(values)))
}

// Quantile interpolates linearly between neighbours; q from 0 to 1, and what lies
// beyond is the end. It is NaN of no figures. NaNs are left out.
func Quantile(values []float64, q float64) float64 { return quantile(sorted(values), q) }

func sorted(values []float64) []float64 {
	kept := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.Sort(kept)
	return kept
}

func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 || math.IsNaN(q) {
		return math.NaN()
	}
	at := min(max(q, 0), 1) * float64(len(sorted)-1)
	i := int(at)
	part := at - float64(i)
	if part == 0 || sorted[i] == sorted[i+1] {
		return sorted[i] // no part of a step, which may be infinite
	}
	return sorted[i] + part*(sorted[i+1]-sorted[i])
}
