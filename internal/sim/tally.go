package sim

import (
	"math"
	"slices"
)

// A tally collects figures. Its results are NaN where there are none.
type tally struct{ values []float64 }

func (t *tally) add(f float64) { t.values = append(t.values, f) }

func (t *tally) mean() float64 {
	sum := 0.0
	for _, f := range t.values {
		sum += f
	}
	return sum / float64(len(t.values))
}

// sd is the standard deviation of the figures themselves, not an estimate of
// that of a population they are drawn from.
func (t *tally) sd() float64 {
	mean, sum := t.mean(), 0.0
	for _, f := range t.values {
		sum += (f - mean) * (f - mean)
	}
	return math.Sqrt(sum / float64(len(t.values)))
}

// quantile interpolates between neighbours; q from 0 to 1.
func (t *tally) quantile(q float64) float64 {
	if len(t.values) == 0 {
		return math.NaN()
	}
	slices.Sort(t.values)
	at := q * float64(len(t.values)-1)
	i := int(at)
	if i+1 == len(t.values) {
		return t.values[i]
	}
	return t.values[i] + (at-float64(i))*(t.values[i+1]-t.values[i])
}
