package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
)

// minus is a minus sign as long as a plus.
const minus = "\u2212"

// scale is how figures of a unit are written for people.
type scale struct {
	factor float64
	unit   string // with its space
}

// scaleOf chooses the scale in which a figure of a metric reads well.
func scaleOf(m sim.Metric, about float64) scale {
	switch about = math.Abs(about); m.Unit {
	case "1":
		return scale{100, " %"}
	case "s":
		switch {
		case about >= 2*86400:
			return scale{1.0 / 86400, " d"}
		case about >= 2*3600:
			return scale{1.0 / 3600, " h"}
		case about >= 2*60:
			return scale{1.0 / 60, " min"}
		}
		return scale{1, " s"}
	case "1/s":
		return scale{3600, " /h"}
	}
	return scale{1, ""}
}

// Words writes a mean with its interval, such as "41.2 ± 0.8 %"; "–" where
// there is nothing to say.
func Words(m sim.Metric, s stats.Summary) string { return words(m, s, s.Mean, "") }

// Words is the function of that name, with the number of repetitions that have
// a figure where they are not all: then it is a mean over those only.
func (r *Report) Words(m sim.Metric, s stats.Summary) string { return Words(m, s) + r.among(s) }

// PairedWords is the function of that name, with the number of repetitions in
// which both policies have a figure where they are not all.
func (r *Report) PairedWords(m sim.Metric, diff, of stats.Summary) string {
	return PairedWords(m, diff, of) + r.among(diff)
}

func (r *Report) among(s stats.Summary) string { return among(s, r.Reps) }

// among says of how many repetitions a figure is, where it is not of all.
func among(s stats.Summary, reps int) string {
	if s.N == 0 || s.N == reps {
		return ""
	}
	return fmt.Sprintf(" (n = %d)", s.N)
}

// Partly reports whether some figure is not of all repetitions.
func (r *Report) Partly() bool {
	return slices.ContainsFunc(r.Policies, func(p *Policy) bool {
		return slices.ContainsFunc(p.Figures, func(s stats.Summary) bool { return r.among(s) != "" })
	})
}

// PairedWords writes a difference, in the scale in which the figures are
// written that it is between.
func PairedWords(m sim.Metric, diff, of stats.Summary) string {
	if diff.N > 0 && diff.Min == 0 && diff.Max == 0 {
		return "the same"
	}
	return words(m, diff, of.Mean, "+")
}

func words(m sim.Metric, s stats.Summary, about float64, plus string) string {
	if s.N == 0 || math.IsNaN(s.Mean) {
		return "–"
	}
	if math.IsInf(s.Mean, 0) {
		return strconv.FormatFloat(s.Mean, 'g', -1, 64)
	}
	by := scaleOf(m, about)
	mean, half := s.Mean*by.factor, s.CI95*by.factor
	if half <= noise*math.Abs(mean) {
		half = 0
	}
	digits := places(max(math.Abs(mean), math.Abs(about*by.factor)), half)
	if half == 0 || mean == 0 && math.IsNaN(half) {
		digits = fewest(mean, digits)
	}
	if plus != "" && mean != 0 {
		// A difference is not written as "0.00 ± 0.00": that would read as "the same".
		most := max(math.Abs(mean), half) // NaN of one repetition is left out
		if math.IsNaN(half) {
			most = math.Abs(mean)
		}
		digits = max(digits, min(1-magnitude(most), maxDigits))
		if most < 0.5*math.Pow(10, -maxDigits) {
			return "nearly the same"
		}
	}
	text := signed(mean, digits)
	if plus != "" && mean > 0 && strings.Trim(text, "0.") != "" {
		text = plus + text
	}
	switch {
	case half == 0:
		text += " ± 0"
	case !math.IsNaN(half):
		text += " ± " + signed(half, digits)
	}
	if plus != "" && by.unit == " %" {
		return text + " points" // a difference of two shares is none
	}
	return text + by.unit
}

// places is how many digits behind the point are worth writing: two that count
// of the interval, but not more than four that count of the figure; three of a
// figure without an interval.
func places(size, half float64) int {
	most := 2 - magnitude(size)
	if half > 0 {
		most = min(most+1, 1-magnitude(half))
	}
	return min(max(most, 0), maxDigits)
}

// maxDigits is how many digits behind the point are written at most.
const maxDigits = 6

// fewest is how many of the digits behind the point are not zeros at the end:
// what never differs is written as short as it is.
func fewest(f float64, digits int) int {
	text := strconv.FormatFloat(f, 'f', digits, 64)
	_, rest, _ := strings.Cut(text, ".")
	return len(strings.TrimRight(rest, "0"))
}

// magnitude is the power of ten of a figure; 0 of zero.
func magnitude(f float64) int {
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return int(math.Floor(math.Log10(f)))
}

func signed(f float64, digits int) string {
	text := format.Group(strconv.FormatFloat(math.Abs(f), 'f', digits, 64), ",")
	if f < 0 && strings.Trim(text, "0.,") != "" {
		return minus + text
	}
	return text
}

// fewestAlike is how many repetitions that all have the same difference tell that there is one. Of
// fewer, whole numbers are the same by chance, which looks like no spread at all.
const fewestAlike = 5

// Clear reports whether 0 lies outside the interval of a difference.
func Clear(diff stats.Summary) bool {
	if diff.CI95 == 0 && diff.N < fewestAlike {
		return false
	}
	return math.Abs(diff.Mean) > diff.CI95 // never, where there is no interval
}

// mainMetrics are the metrics that are shown first: what most people ask for.
var mainMetrics = []string{
	"deadline_success_ratio", "mean_tardiness_s", "mean_deadline", "mean_best_effort",
	"mean_completion_s", "p95_completion_s", "makespan_s", "unfinished", "starved",
	"throughput_per_s", "jain", "cost", "switches", "utilisation", "label_accuracy",
}

// MainMetrics are the report's metrics that most people ask for.
func (r *Report) MainMetrics() []sim.Metric {
	var list []sim.Metric
	for _, name := range mainMetrics {
		list = append(list, lists.Filter(r.Metrics, func(m sim.Metric) bool { return m.Name == name })...)
	}
	return list
}

// Figure returns a policy's figure of a metric.
func (p *Policy) Figure(m sim.Metric) stats.Summary { return p.Figures[sim.MetricAt(m.Name)] }

// Difference returns a policy's difference to the first policy; of the first
// policy itself there is none.
func (p *Policy) Difference(m sim.Metric) (stats.Summary, bool) {
	if p.Paired == nil {
		return stats.Summary{}, false
	}
	return p.Paired[sim.MetricAt(m.Name)], true
}
