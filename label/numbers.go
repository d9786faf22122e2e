package label

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/stats"
)

// Mean labels a task with a mean of its answers, which must be numbers. The label need
// not be an answer that anybody gave. With the n answers to a task sorted, x_1 ≤ … ≤ x_n,
//
//	Trim = t      the mean of what is left when ⌊t·n⌋ answers are taken off at either end
//	ByPrecision   Σ w_j x_j / Σ w_j, with a weight for each worker
//
// The weights are inverse variances, with two answers of the mean variance s² as a belief
// about everybody, found by turns with the labels:
//
//	w_j = (n_j + 2) / (Σ over answers (i,j,x) of (x − label_i)² + 2·s²)
//
// The confidence of a label is the share of its answers that lie no further from it than
// is usual: within 1.4826 times the median distance of answers from labels, which is the
// standard deviation where errors are normal. Gold is not used.
//
// Sources: Tukey 1962, "The future of data analysis" (trimming); for the weights Raykar et
// al. 2010, "Learning from crowds", JMLR 11, section 5, with the belief added.
type Mean struct {
	Trim        float64 // 0 to .5, less than .5
	ByPrecision bool    // not with Trim
}

// PlainMean returns the mean of all answers.
func PlainMean() Mean { return Mean{} }

// TrimmedMean returns the mean without a fifth of the answers at either end.
func TrimmedMean() Mean { return Mean{Trim: .2} }

// WeightedMean returns the mean that is weighted by precision.
func WeightedMean() Mean { return Mean{ByPrecision: true} }

// Name returns "mean", "trimmed" or "weighted".
func (m Mean) Name() string {
	switch {
	case m.ByPrecision:
		return "weighted"
	case m.Trim > 0:
		return "trimmed"
	}
	return "mean"
}

// UsesGold returns false.
func (Mean) UsesGold() bool { return false }

// Takes returns Numbers.
func (Mean) Takes() Answers { return Numbers }

// precisionRounds is how often weights and labels take turns: the labels of public data
// change by less than a ten-thousandth of their spread after five.
const precisionRounds = 10

// Fit takes the means. A class that is not a number is an Invalid error. O(answers ·
// log(answers a task)).
func (m Mean) Fit(d *Dataset, gold Truth) (*Result, error) {
	if !(m.Trim >= 0 && m.Trim < .5) || m.Trim > 0 && m.ByPrecision {
		return nil, crowd.Fieldf("trim", "must be 0 or more and less than 0.5, and 0 for a weighted mean, not %v", m.Trim)
	}
	if err := gold.validFor(d); err != nil {
		return nil, err
	}
	values, err := finiteNumbersOf(d)
	if err != nil {
		return nil, err
	}
	at := m.means(d, values)
	if m.ByPrecision {
		for range precisionRounds {
			at = weightedMeans(d, values, precisions(d, values, at))
		}
	}
	r := &Result{Data: d, Method: m.Name(), Converged: true, Labels: make([]Class, len(at)), Ties: make([]bool, len(at)), equal: make([][2]Class, len(at))}
	r.values, r.confidence = make([]string, len(at)), nearShares(d, values, at)
	for i, x := range at {
		_, labels := d.Answers(i)
		r.values[i] = strconv.FormatFloat(x, 'g', 12, 64)
		r.Labels[i] = slices.MinFunc(labels, func(a, b Class) int {
			return cmp.Or(cmp.Compare(math.Abs(values[a]-x), math.Abs(values[b]-x)), int(a-b))
		})
		r.equal[i] = [2]Class{r.Labels[i], r.Labels[i]}
	}
	return r, nil
}

// means returns the trimmed mean of each task's answers.
func (m Mean) means(d *Dataset, values []float64) []float64 {
	at := make([]float64, len(d.tasks))
	var sorted []float64
	for i := range at {
		_, labels := d.Answers(i)
		sorted = sorted[:0]
		for _, k := range labels {
			sorted = append(sorted, values[k])
		}
		slices.Sort(sorted)
		off := int(m.Trim * float64(len(sorted)))
		at[i] = stats.Mean(sorted[off : len(sorted)-off])
	}
	return at
}

// precisions returns w_j.
func precisions(d *Dataset, values, at []float64) []float64 {
	squares := make([]float64, len(d.workers))
	all := 0.0
	for i := range d.tasks {
		workers, labels := d.Answers(i)
		for n, j := range workers {
			off := values[labels[n]] - at[i]
			squares[j] += off * off
			all += off * off
		}
	}
	variance := all / float64(d.Len())
	weight := make([]float64, len(squares))
	for j, n := range d.Answered() {
		weight[j] = 1
		if variance > 0 {
			weight[j] = float64(n+2) / (squares[j]/variance + 2)
		}
	}
	return weight
}

func weightedMeans(d *Dataset, values, weight []float64) []float64 {
	at := make([]float64, len(d.tasks))
	for i := range at {
		workers, labels := d.Answers(i)
		sum, total := 0.0, 0.0
		for n, j := range workers {
			sum += weight[j] * values[labels[n]]
			total += weight[j]
		}
		at[i] = sum / total
	}
	return at
}

// nearShares returns the share of each task's answers that lie no further from its label
// than is usual.
func nearShares(d *Dataset, values, at []float64) []float64 {
	off := make([]float64, 0, d.Len())
	for i := range d.tasks {
		_, labels := d.Answers(i)
		for _, k := range labels {
			off = append(off, math.Abs(values[k]-at[i]))
		}
	}
	usual := 0.0
	if len(off) > 0 {
		usual = 1.4826 * stats.Quantile(off, .5)
	}
	share := make([]float64, len(at))
	for i := range share {
		_, labels := d.Answers(i)
		for _, k := range labels {
			if math.Abs(values[k]-at[i]) <= usual+1e-12*math.Abs(at[i]) {
				share[i]++
			}
		}
		share[i] /= float64(len(labels))
	}
	return share
}

// finiteNumbersOf is numbersOf where an infinity is no number: it has no mean.
func finiteNumbersOf(d *Dataset) ([]float64, error) {
	values, err := numbersOf(d)
	for k, v := range values {
		if err == nil && math.IsInf(v, 0) {
			err = crowd.Errorf(crowd.Invalid, "%.80q is not a finite number: only such have a mean", d.classes[k])
		}
	}
	return values, err
}

// Check refuses an answer that is not a finite number.
func (Mean) Check(label string) error {
	v, err := numberOf(label)
	if err == nil && math.IsInf(v, 0) {
		return crowd.Errorf(crowd.Invalid, "%.80q is not a finite number: only such have a mean", label)
	}
	return err
}

var _ Method = Mean{}
