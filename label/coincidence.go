package label

import (
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/random"
	"github.com/throng-dev/throng/internal/kit/stats"
)

// Coincidences counts which answers stand next to each other at the same task, answer by
// answer, so that Krippendorff's α is known at any time without a look at the data:
//
//	o_kl = Σ_i (c_ik c_il − [k=l] c_ik) / (n_i − 1)   over the tasks with two answers or more
//
// An answer more or less costs O(classes at the task), α O(K²).
//
// Source: Krippendorff 2011, "Computing Krippendorff's alpha-reliability".
type Coincidences struct {
	k int
	o []float64 // o_kl at k·K + l
}

// NewCoincidences returns the counts of no answers in so many classes, 1 to
// MaxLiveClasses.
func NewCoincidences(classes int) (*Coincidences, error) {
	if classes < 1 || classes > MaxLiveClasses {
		return nil, crowd.Fieldf("classes", "must be between 1 and %d, not %d", MaxLiveClasses, classes)
	}
	return &Coincidences{classes, make([]float64, classes*classes)}, nil
}

// Change counts a task again whose answers were before and are now after.
func (c *Coincidences) Change(before, after []Class) {
	c.count(before, -1)
	c.count(after, 1)
}

// count adds the pairs of a task's answers, so many times.
func (c *Coincidences) count(answers []Class, times float64) {
	if len(answers) < 2 {
		return
	}
	each := times / float64(len(answers)-1)
	for x, a := range answers {
		row := c.o[int(a)*c.k:]
		for y, b := range answers {
			if x != y {
				row[b] += each
			}
		}
	}
}

// Alpha returns Krippendorff's α for classes that are no numbers, or with at for numbers:
// the place of each class on an interval scale. It is false where α is not defined, as
// with the function Alpha.
func (c *Coincidences) Alpha(at []float64) (alpha float64, ok bool) {
	total := make([]float64, c.k)
	n := 0.0
	for k := range total {
		for _, o := range c.o[k*c.k : (k+1)*c.k] {
			total[k] += o
		}
		n += total[k]
	}
	observed, expected := 0.0, 0.0
	for k := range total {
		for l := range k {
			distance := 1.0
			if at != nil {
				distance = (at[k] - at[l]) * (at[k] - at[l])
			}
			observed += 2 * c.o[k*c.k+l] * distance
			expected += 2 * total[k] * total[l] * distance
		}
	}
	if !(expected > 1e-9) {
		return 0, false
	}
	return 1 - (n-1)*observed/expected, true
}

// AlphaInterval returns α, as Alpha does, with the bounds between which it lies in 95 of a
// hundred draws of as many tasks from these, with replacement (percentile bootstrap). The
// draws are the same for the same data. It is false where α is not defined, or not in the
// draws. Its time is that of up to 1,000 times Alpha, fewer for large data.
//
// Source: Efron and Tibshirani 1993, "An introduction to the bootstrap", section 13.3; for
// α Hayes and Krippendorff 2007.
func AlphaInterval(d *Dataset, scale Scale) (alpha, low, high float64, ok bool) {
	alpha, ok = Alpha(d, scale)
	if !ok {
		return 0, 0, 0, false
	}
	draws := min(1000, max(100, 100_000_000/max(1, d.Len())))
	rng := random.Source(1)
	var several []int // tasks with two answers or more: others tell nothing
	for i := range d.tasks {
		if _, labels := d.Answers(i); len(labels) > 1 {
			several = append(several, i)
		}
	}
	var drawn []float64
	for range draws {
		if a, ok := Alpha(d.draw(several, &rng), scale); ok {
			drawn = append(drawn, a)
		}
	}
	if len(drawn) < draws/2 {
		return 0, 0, 0, false
	}
	return alpha, stats.Quantile(drawn, .025), stats.Quantile(drawn, .975), true
}

// draw returns as many tasks as are listed, each one of them at random.
func (d *Dataset) draw(tasks []int, rng *random.Source) *Dataset {
	out := &Dataset{tasks: make([]string, len(tasks)), workers: d.workers, classes: d.classes, start: make([]int, 1, len(tasks)+1)}
	for range tasks {
		i := tasks[rng.IntN(len(tasks))]
		from, to := d.start[i], d.start[i+1]
		out.worker, out.label = append(out.worker, d.worker[from:to]...), append(out.label, d.label[from:to]...)
		out.start = append(out.start, len(out.label))
	}
	return out
}

// PairAgreement is how far two workers agree on the tasks that both answered.
type PairAgreement struct {
	A, B  int // workers, A < B
	Tasks int // that both answered
	Same  int // of them, with equal answers
	// Kappa is Cohen's κ: their agreement beyond what their own shares of answers give by
	// chance, 1 − D_o/D_e. KappaOK is false where chance agrees perfectly.
	Kappa   float64
	KappaOK bool
}

// PairAgreements returns all pairs of workers who share at least so many tasks (≥ 1), in
// order. O(Σ n_i² + pairs·K).
//
// Source: Cohen 1960, "A coefficient of agreement for nominal scales".
func PairAgreements(d *Dataset, least int) ([]PairAgreement, error) {
	if err := checkPairs(d); err != nil {
		return nil, err
	}
	type counts struct {
		tasks, same int
		a, b        map[Class]int
	}
	pairs := make(map[[2]int32]*counts)
	for i := range d.tasks {
		workers, labels := d.Answers(i)
		for x, a := range workers {
			for y := x + 1; y < len(workers); y++ {
				b := workers[y]
				if a == b { // an answer that was repeated
					continue
				}
				c := pairs[[2]int32{a, b}]
				if c == nil {
					c = &counts{a: map[Class]int{}, b: map[Class]int{}}
					pairs[[2]int32{a, b}] = c
				}
				c.tasks++
				c.a[labels[x]]++
				c.b[labels[y]]++
				if labels[x] == labels[y] {
					c.same++
				}
			}
		}
	}
	var list []PairAgreement
	for who, c := range pairs {
		if c.tasks < least {
			continue
		}
		p := PairAgreement{A: int(who[0]), B: int(who[1]), Tasks: c.tasks, Same: c.same}
		chance := 0 // times tasks²
		for k, n := range c.a {
			chance += n * c.b[k]
		}
		if all := c.tasks * c.tasks; chance < all {
			p.Kappa, p.KappaOK = float64(c.same*c.tasks-chance)/float64(all-chance), true
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(x, y PairAgreement) int {
		if x.A != y.A {
			return x.A - y.A
		}
		return x.B - y.B
	})
	return list, nil
}
