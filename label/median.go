package label

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/throng-dev/throng/crowd"
)

// Median labels a task with the median of its answers, which must be numbers:
// points of a scale such as a rating, whose order means something while the
// distances between them may not. With the n answers to a task sorted,
// x_1 ≤ … ≤ x_n,
//
//	label = x_⌈n/2⌉, or x_{n/2} and x_{n/2+1} tied where n is even and they differ
//
// so a label is always an answer that somebody gave, and never a mean of two.
// The probabilities are the shares of the votes, q_ik = c_ik / n_i, so that a
// Confidence is the share of the answers that say the label. All answers weigh
// the same, and gold is not used.
//
// Source: Stevens 1946, "On the theory of scales of measurement", table 1: the
// median is the location of an ordinal scale.
type Median struct{}

// Name returns "median".
func (Median) Name() string { return "median" }

// UsesGold returns false.
func (Median) UsesGold() bool { return false }

// Takes returns Numbers.
func (Median) Takes() Answers { return Numbers }

// Fit sorts the answers to each task. A class that is not a number is an
// Invalid error. O(answers · log(answers a task)).
func (m Median) Fit(d *Dataset, gold Truth) (*Result, error) {
	if err := gold.validFor(d); err != nil {
		return nil, err
	}
	values, err := numbersOf(d)
	if err != nil {
		return nil, err
	}
	r := &Result{Data: d, Method: m.Name(), Converged: true, equal: make([][2]Class, len(d.tasks))}
	var sorted []Class
	for i := range d.tasks {
		_, labels := d.Answers(i)
		sorted = append(sorted[:0], labels...)
		slices.SortFunc(sorted, func(a, b Class) int { return cmp.Or(cmp.Compare(values[a], values[b]), int(a-b)) })
		r.equal[i] = [2]Class{sorted[(len(sorted)-1)/2], sorted[len(sorted)/2]}
	}
	r.pickAll()
	return r, nil
}

// Check refuses an answer that is not a number.
func (Median) Check(label string) error {
	_, err := numberOf(label)
	return err
}

func numberOf(class string) (float64, error) {
	v, err := strconv.ParseFloat(class, 64)
	if err != nil || math.IsNaN(v) {
		return 0, crowd.Errorf(crowd.Invalid, "%.80q is not a number: only numbers have a median", class)
	}
	return v, nil
}

// numbersOf returns the number that each class is, or an Invalid error.
func numbersOf(d *Dataset) ([]float64, error) {
	values := make([]float64, len(d.classes))
	for k, class := range d.classes {
		var err error
		if values[k], err = numberOf(class); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// medianOf returns the median of answers, at least one, as Median has it, and
// how many of them say it. Answers that are no numbers come after the numbers.
// It allocates nothing up to fewAnswers answers.
func medianOf(task seed, answers []string) (label string, tie bool, votes int) {
	var buf [fewAnswers]string
	sorted := append(buf[:0], answers...)
	slices.SortFunc(sorted, compareNumbers)
	label = sorted[(len(sorted)-1)/2]
	if high := sorted[len(sorted)/2]; high != label {
		tie = true
		if task.wins(high, label) {
			label = high
		}
	}
	for _, a := range sorted {
		if a == label {
			votes++
		}
	}
	return label, tie, votes
}

// compareNumbers orders texts by the numbers that they are.
func compareNumbers(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

var _ Method = Median{}
