package dafs

import (
	"math"
	"slices"
	"testing"

	"github.com/throng-dev/throng/internal/repro/experiment"
)

// TestRatioRow: a scenario that lacks either figure is none of the ratio, five are too few
// of medians, and a ratio whose denominator may be 0 has an interval without end.
func TestRatioRow(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, c := range []struct {
		what    string
		s       experiment.Statistic
		a, b    []float64
		verdict experiment.Verdict
		why     string
	}{
		{"five of means", experiment.Mean, []float64{2, 4, 6, 8, 10}, []float64{1, 2, 3, 4, 5}, experiment.Reproduced, ""},
		{"four and two that lack one", experiment.Mean, []float64{2, nan, 4, 6, 8, 10}, []float64{1, 2, 2, 3, 4, nan}, experiment.Imprecise, "few-repetitions"},
		{"five of medians", experiment.Median, []float64{2, 4, 6, 8, 10}, []float64{1, 2, 3, 4, 5}, experiment.Imprecise, "few-repetitions"},
		{"six of medians", experiment.Median, []float64{2, 4, 6, 8, 10, 12}, []float64{1, 2, 3, 4, 5, 6}, experiment.Reproduced, ""},
		{"mostly over 0", experiment.Median, slices.Repeat([]float64{2}, 9), []float64{0, 0, 0, 0, 1, 1, 1, 1, 1}, experiment.Imprecise, "wide-interval"},
		{"over 0", experiment.Median, slices.Repeat([]float64{2}, 9), make([]float64, 9), experiment.Imprecise, "few-repetitions"},
		{"of none", experiment.Mean, []float64{nan, nan}, []float64{1, 2}, experiment.Imprecise, "few-repetitions"},
	} {
		r := ratioRow("A against B", "figure", c.s, c.a, c.b).Against(experiment.Figure{Value: 2, Unit: 0.1}, "§", "a reason")
		if r.Verdict != c.verdict || r.Why != c.why {
			t.Errorf("%s: %+v", c.what, r)
		}
	}
}
