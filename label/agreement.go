package label

import "math"

// Alpha returns Krippendorff's α for nominal data: how far the answers agree
// beyond chance, 1 perfectly, 0 as by chance, below 0 less than that. Over the
// tasks with two answers or more:
//
//	o_kk = Σ_i c_ik (c_ik − 1) / (n_i − 1)
//	n_k  = Σ_i c_ik,   n = Σ_k n_k
//	α    = 1 − (1 − Σ_k o_kk/n) / (1 − Σ_k n_k(n_k−1) / (n(n−1)))
//
// It is 0 and false where α is not defined: no task has two answers, or all
// those answers are of one class, so that chance agrees perfectly too.
// O(answers), however many classes there are.
//
// Source: Krippendorff 2011, "Computing Krippendorff's alpha-reliability";
// AGGREGATION.md §5.9.
func Alpha(d *Dataset) (alpha float64, ok bool) {
	var agree, n float64
	total := make([]float64, len(d.classes))
	count := newCounter(d)
	for i := range d.tasks {
		_, labels := d.Answers(i)
		if len(labels) < 2 {
			continue
		}
		n += float64(len(labels))
		pairs := 0.0
		for k, c := range count.of(labels) {
			total[k] += float64(c)
			pairs += float64(c) * float64(c-1)
		}
		agree += pairs / float64(len(labels)-1)
	}
	chance := 0.0
	for _, c := range total {
		chance += c * (c - 1)
	}
	if n == 0 || chance == n*(n-1) {
		return 0, false
	}
	return 1 - (1-agree/n)/(1-chance/(n*(n-1))), true
}

// Unanimity returns the share of tasks whose answers are all equal, among the
// tasks with two answers or more; 0 and false where there is none.
//
// Source: AGGREGATION.md §5.9.
func Unanimity(d *Dataset) (share float64, ok bool) {
	same, tasks := 0, 0
	for i := range d.tasks {
		_, labels := d.Answers(i)
		if len(labels) < 2 {
			continue
		}
		tasks++
		if allEqual(labels) {
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
// Source: AGGREGATION.md §5.9.
func (r *Result) Entropy(task int) float64 {
	h := 0.0
	for _, p := range r.Posterior(task) {
		if p > 0 {
			h -= p * math.Log(p)
		}
	}
	return h
}

func allEqual(labels []Class) bool {
	for _, l := range labels[1:] {
		if l != labels[0] {
			return false
		}
	}
	return true
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
