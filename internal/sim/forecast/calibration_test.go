package forecast_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/throng-dev/throng/internal/sim/forecast"
)

// tally counts forecasts whose truth is known.
type tally struct {
	n, in, below int
	said         float64 // deadlines to be met
	met          int
	distances    []float64 // ln(true seconds / seconds of the median)
	widths       []float64 // ln(high/low)
	scores       []float64 // of the bands
}

// add compares a forecast with a world that has gone on.
func (c *tally) add(t *testing.T, w *truth, f *forecast.Result) {
	t.Helper()
	for _, b := range f.Batches {
		end := w.state[b.ID].EndedAt
		x := b.Finish[0]
		if end.IsZero() || x.Median.IsZero() {
			t.Fatalf("%s: not done in time to compare (%+v; truth %s)", b.ID, x, end)
		}
		c.n++
		c.in += btoi(!end.Before(x.Low) && (x.High.IsZero() || !end.After(x.High)))
		c.below += btoi(end.Before(x.Median))
		c.distances = append(c.distances, math.Log(end.Sub(f.At).Seconds() / *x.MedianIn))
		if x.HighIn != nil {
			low, high, truth := math.Log(*x.LowIn), math.Log(*x.HighIn), math.Log(end.Sub(f.At).Seconds())
			c.widths = append(c.widths, high-low)
			c.scores = append(c.scores, high-low+10*max(low-truth, truth-high, 0))
		}
		if x.Chance != nil {
			c.said += x.Chance.Value
			c.met += btoi(!end.After(b.Deadline))
		}
	}
}

func (c *tally) share(k int) float64 { return float64(k) / float64(c.n) }

// check: of ten truths, about eight must fall into the band, and about as many
// before as after the median.
func (c *tally) check(t *testing.T, worlds int) {
	t.Helper()
	if c.n < 3*worlds/2 {
		t.Errorf("only %d forecasts were looked at", c.n)
	}
	if x := c.share(c.in); x < 0.68 || x > 0.92 {
		t.Errorf("%.2f of the truths are in the 80 %% band", x)
	}
	if x := c.share(c.below); x < 0.35 || x > 0.65 {
		t.Errorf("%.2f of the truths come before the median", x)
	}
}

func middle(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// off is the median of how far the medians are from the truth, in logarithms.
func (c *tally) off() float64 {
	list := slices.Clone(c.distances)
	for i := range list {
		list[i] = math.Abs(list[i])
	}
	return middle(list)
}

// score is the mean interval score of the 80 % bands, in logarithms: how wide a
// band is, and ten times as much as the truth lies outside. It is least, on
// average, for the true quantiles (Gneiting and Raftery 2007, §6.2).
func (c *tally) score() float64 {
	sum := 0.0
	for _, x := range c.scores {
		sum += x / float64(len(c.scores))
	}
	return sum
}

func (c *tally) String() string {
	return fmt.Sprintf("%d forecasts: %.2f in the band, %.2f before the median, bias %+.3f, off by %.3f, band of %.2f, score %.3f; deadlines: %.1f said, %d met",
		c.n, c.share(c.in), c.share(c.below), middle(c.distances), c.off(), middle(c.widths), c.score(), c.said, c.met)
}
