package label

import (
	"cmp"
	"math"
	"slices"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// Scale says what the classes of a data set have in common, and so how far two
// answers that differ disagree.
type Scale uint8

// The scales, each with the difference δ of two classes for which Alpha counts.
const (
	Nominal  Scale = iota // names in no order: δ = 1
	Ordinal               // numbers whose order counts, as of ratings: δ by their ranks
	Interval              // numbers whose distances count: δ = their difference
)

// String returns "nominal", "ordinal" or "interval".
func (s Scale) String() string {
	return [...]string{"nominal", "ordinal", "interval"}[s]
}

// Alpha returns Krippendorff's α for a scale: how far the answers agree beyond
// chance, 1 perfectly, 0 as by chance, below 0 less than that. With the pairs
// of answers to the same task (D_o) and all pairs (D_e), over the tasks with two
// answers or more, and m_i answers to task i of n in all:
//
//	D_o = 1/n Σ_i Σ_{x,y of i} δ²(x,y) / (m_i − 1)
//	D_e = 1/(n(n−1)) Σ_{x,y} δ²(x,y)
//	α   = 1 − D_o/D_e
//
// It is 0 and false where α is not defined: no task has two answers, all those
// answers are of one class, so that chance agrees perfectly too, or a class is
// no number (or too great a one) on a scale of numbers. O(answers), however many
// classes there are.
//
// Source: Krippendorff 2011, "Computing Krippendorff's alpha-reliability".
func Alpha(d *Dataset, scale Scale) (alpha float64, ok bool) {
	total := make([]float64, len(d.classes)) // n_k
	n := 0.0
	for i := range d.tasks {
		if _, labels := d.Answers(i); len(labels) > 1 {
			n += float64(len(labels))
			for _, k := range labels {
				total[k]++
			}
		}
	}
	var observed, expected float64
	if scale == Nominal {
		observed, expected = nominalPairs(d, total, n)
	} else {
		at, numbers := positions(d, scale, total)
		if !numbers {
			return 0, false
		}
		observed, expected = numberPairs(d, at)
	}
	if !(expected > 0) || math.IsInf(expected, 0) {
		return 0, false
	}
	return 1 - (n-1)*observed/expected, true
}

// nominalPairs returns Σ_i Σ_{x,y of i} δ²/(m_i−1) and Σ_{x,y} δ², which
// Alpha compares, where pairs of different classes count 1:
//
//	Σ_i (m_i² − Σ_k c_ik²)/(m_i − 1)   and   n² − Σ_k n_k²
func nominalPairs(d *Dataset, total []float64, n float64) (observed, expected float64) {
	count := newCounter(d)
	for i := range d.tasks {
		_, labels := d.Answers(i)
		if len(labels) < 2 {
			continue
		}
		m := float64(len(labels))
		differ := m * m
		for _, c := range count.of(labels) {
			differ -= float64(c) * float64(c)
		}
		observed += differ / (m - 1)
	}
	expected = n * n
	for _, c := range total {
		expected -= c * c
	}
	return observed, expected
}

// numberPairs is nominalPairs where a pair counts its squared distance. Over m
// numbers, Σ_{x,y} (x−y)² = 2m Σ_x (x−mean)².
func numberPairs(d *Dataset, at []float64) (observed, expected float64) {
	var all []Class
	for i := range d.tasks {
		if _, labels := d.Answers(i); len(labels) > 1 {
			observed += squaredDistances(labels, at) / float64(len(labels)-1)
			all = append(all, labels...)
		}
	}
	return observed, squaredDistances(all, at)
}

// squaredDistances returns Σ_{x,y} (x−y)². Numbers that are all the same give 0,
// not a rounding error: they are taken from the first.
func squaredDistances(labels []Class, at []float64) float64 {
	if len(labels) == 0 {
		return 0
	}
	zero, mean := at[labels[0]], 0.0
	for _, k := range labels {
		mean += at[k] - zero
	}
	mean /= float64(len(labels))
	return 2 * float64(len(labels)) * lists.Sum(labels, func(k Class) float64 { return (at[k] - zero - mean) * (at[k] - zero - mean) })
}

// positions places each class on its scale: at its number, or, on an ordinal
// one, at the mean rank of the answers that give that number, so that the
// distance of c and k is Krippendorff's Σ_{g=c..k} n_g − (n_c+n_k)/2. It is
// false if a class is no number.
func positions(d *Dataset, scale Scale, total []float64) (at []float64, numbers bool) {
	at, err := numbersOf(d)
	if err != nil || scale == Interval {
		return at, err == nil
	}
	order := make([]Class, len(at))
	for k := range order {
		order[k] = Class(k)
	}
	slices.SortFunc(order, func(a, b Class) int { return cmp.Compare(at[a], at[b]) })
	rank := make([]float64, len(at))
	before := 0.0
	for from := 0; from < len(order); {
		to, same := from, 0.0
		for ; to < len(order) && at[order[to]] == at[order[from]]; to++ { // "1" and "1.0" are one point
			same += total[order[to]]
		}
		for _, k := range order[from:to] {
			rank[k] = before + same/2
		}
		before, from = before+same, to
	}
	return rank, true
}

// Unanimity returns the share of tasks whose answers are all equal, among the
// tasks with two answers or more; 0 and false where there is none.
func Unanimity(d *Dataset) (share float64, ok bool) {
	same, tasks := 0, 0
	for i := range d.tasks {
		_, labels := d.Answers(i)
		if len(labels) < 2 {
			continue
		}
		tasks++
		if !slices.ContainsFunc(labels[1:], func(l Class) bool { return l != labels[0] }) {
			same++
		}
	}
	if tasks == 0 {
		return 0, false
	}
	return float64(same) / float64(tasks), true
}

// Entropy returns how undecided a task is, in nats: 0 where its label is
// certain, ln K where all K classes are equally probable:
//
//	H_i = −Σ_k q_ik ln q_ik
//
// Source: Shannon 1948, "A mathematical theory of communication", section 6.
func (r *Result) Entropy(task int) float64 {
	h := 0.0
	for _, p := range r.Posterior(task) {
		if p > 0 {
			h -= p * math.Log(p)
		}
	}
	return h
}

// counter counts the labels of one task after another, in time that does not
// depend on K.
type counter struct{ c []int }

func newCounter(d *Dataset) *counter { return &counter{make([]int, len(d.classes))} }

// of ranges over the classes that occur in labels, each once, with its count.
func (t *counter) of(labels []Class) func(yield func(Class, int) bool) {
	return func(yield func(Class, int) bool) {
		for _, l := range labels {
			t.c[l]++
		}
		defer func() {
			for _, l := range labels {
				t.c[l] = 0
			}
		}()
		for _, l := range labels {
			n := t.c[l]
			t.c[l] = 0
			if n > 0 && !yield(l, n) {
				return
			}
		}
	}
}
