package chart_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/throng-dev/throng/internal/kit/chart"
)

// TestAHistogramOfValuesThatHardlyDiffer: bars are no narrower than the least width, so
// that they are seen, and densities stay readable.
func TestAHistogramOfValuesThatHardlyDiffer(t *testing.T) {
	for name, from := range map[string]float64{"at 0": 0, "later": 7.3} {
		values := make([]float64, 100)
		for i := range values {
			values[i] = from + float64(i)*1e-8
		}
		p := draw(t, chart.Histogram(chart.HistogramSpec{Head: chart.Head{Size: chart.Size{Width: 560, Height: 320}},
			X: chart.Axis{Label: "age", Kind: chart.Time, Zero: true}, Values: values, Least: 1}))
		if len(p.yTicks) < 2 {
			t.Fatalf("%s: ticks %v", name, p.yTicks)
		}
		for text := range p.yTicks {
			if f, err := strconv.ParseFloat(text, 64); err != nil || f > 2 {
				t.Errorf("%s: a density of %s", name, text)
			}
		}
		least, most := math.Inf(1), math.Inf(-1)
		for _, l := range p.of(first) {
			for _, at := range l.points {
				least, most = min(least, at[0]), max(most, at[0])
			}
		}
		if most-least < 20 {
			t.Errorf("%s: bars from %g to %g", name, least, most)
		}
	}
}
