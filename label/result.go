package label

import (
	"iter"
	"slices"

	"github.com/throng-dev/throng/crowd"
)

// MaxCells bounds the tables that a Method fills, T·K and, where it learns
// confusion matrices, W·K²: 2^27 numbers, 1 GiB. Answers that are nearly all
// different (free text) are no classes, and reach it.
const MaxCells = 1 << 27

// Result is what a Method makes of a Dataset.
type Result struct {
	Data       *Dataset
	Method     string // the method that was really used: some fall back to "majority"
	Iterations int    // rounds made; 0 for methods that make none
	Converged  bool   // the last round changed no probability by as much as the tolerance
	// Labels holds for each task the most probable class; with Median the middle one, with
	// Central the most central. With Mean and PerOption, whose labels may be no class, it
	// is the answer that is nearest, or what most chose.
	Labels []Class
	Ties   []bool // of each task: other classes are as good as its label
	// Model says how workers answer, or is nil where the method learns no such
	// thing.
	Model *Confusion
	// Groups are the workers who copy from each other, as Robust finds them.
	Groups []CopyGroup

	q             []float64  // q_ik at i*K+k; nil: the shares of the votes
	probabilities bool       // q are probabilities, not shares of votes
	equal         [][2]Class // Median, Central, Mean: the two best classes of each task, which may be one; else nil

	// What some methods have in place of classes and their probabilities; else nil.
	values     []string  // of each task: its label, which may be no class
	confidence []float64 // of each task
	options    []string  // PerOption: what can be chosen
	chosen     []float64 // PerOption: the probability of option o for task i at i·len(options)+o
}

// tieWithin is how near to the maximum, in probability, a class is tied with
// it. Exact ties of a model may differ by rounding, some 1e-15 an answer; votes
// that differ do so by more as long as a task has under 10^9 answers.
const tieWithin = 1e-9

// newResult picks the labels for q.
func newResult(d *Dataset, method string, q []float64) *Result {
	r := &Result{Data: d, Method: method, Converged: true, q: q}
	r.pickAll()
	return r
}

// pickAll sets Labels and Ties.
func (r *Result) pickAll() {
	r.Labels = make([]Class, len(r.Data.tasks))
	r.Ties = make([]bool, len(r.Data.tasks))
	for i := range r.Labels {
		r.Labels[i], r.Ties[i] = r.pick(i)
	}
}

// pick returns the label of a task and whether it is tied.
func (r *Result) pick(task int) (best Class, tie bool) {
	first := true
	for k := range r.tied(task) {
		switch {
		case first:
			best, first = k, false
		default:
			tie = true
			if seedOf(r.Data.tasks[task]).wins(r.Data.classes[k], r.Data.classes[best]) {
				best = k
			}
		}
	}
	return best, tie
}

// tied ranges over the best classes of a task, the most probable or the middle
// ones: one, or those tied.
func (r *Result) tied(task int) func(yield func(Class) bool) {
	if r.equal != nil {
		return func(yield func(Class) bool) {
			low, high := r.equal[task][0], r.equal[task][1]
			if yield(low) && high != low {
				yield(high)
			}
		}
	}
	q := r.Posterior(task)
	return func(yield func(Class) bool) {
		top := maxOf(q)
		for k, p := range q {
			if p >= top-tieWithin && !yield(Class(k)) {
				return
			}
		}
	}
}

// Posterior returns the probability q_ik of each class k for a task i, or its share of the
// votes where the method gives no probabilities; they sum to 1. The caller must not change
// it.
func (r *Result) Posterior(task int) []float64 {
	k := len(r.Data.classes)
	if r.q == nil {
		row := make([]float64, k)
		for class, share := range r.votes(task) {
			row[class] = share
		}
		return row
	}
	return r.q[task*k : (task+1)*k : (task+1)*k]
}

// votes ranges over the classes that a task was answered, in order, with the share of each.
func (r *Result) votes(task int) iter.Seq2[Class, float64] {
	return func(yield func(Class, float64) bool) {
		_, labels := r.Data.Answers(task)
		sorted := slices.Sorted(slices.Values(labels))
		for from := 0; from < len(sorted); {
			to := from
			for to < len(sorted) && sorted[to] == sorted[from] {
				to++
			}
			if !yield(sorted[from], float64(to-from)/float64(len(sorted))) {
				return
			}
			from = to
		}
	}
}

// Label returns a task's label: the name of its class, or with Mean a number and with
// PerOption a set.
func (r *Result) Label(task int) string {
	if r.values != nil {
		return r.values[task]
	}
	return r.Data.classes[r.Labels[task]]
}

// Confidence returns how sure a task's label is, 0 to 1: the probability q_ik of its class
// k, which is max_k q_ik but with Median; with Mean, Central and PerOption what they say.
func (r *Result) Confidence(task int) float64 {
	if r.confidence != nil {
		return r.confidence[task]
	}
	if r.q == nil {
		for class, share := range r.votes(task) {
			if class == r.Labels[task] {
				return share
			}
		}
		return 0
	}
	return r.Posterior(task)[r.Labels[task]]
}

// Distribution ranges over what a task's label may be, with the probability of each, or
// its share of the votes, in the order of the classes; what has none is left out. With
// PerOption they are the options, each with the probability that the label has it.
func (r *Result) Distribution(task int) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		if r.q == nil && r.options == nil {
			for class, share := range r.votes(task) {
				if !yield(r.Data.classes[class], share) {
					return
				}
			}
			return
		}
		names, p := r.Data.classes, r.q
		if r.options != nil {
			names, p = r.options, r.chosen
		}
		for k, name := range names {
			if share := p[task*len(names)+k]; share > 0 && !yield(name, share) {
				return
			}
		}
	}
}

// Accuracy returns the share of right labels among the n tasks whose truth is
// known, with ties shared evenly: where m classes are tied and the truth is
// among them, the task counts 1/m. It is 0 of 0 where nothing is known. Truth
// must be of r.Data.
func (r *Result) Accuracy(truth Truth) (share float64, n int) {
	right := 0.0
	for i := range r.Labels {
		want := truth.of(i)
		if want == None {
			continue
		}
		n++
		tied, hit := 0, false
		for k := range r.tied(i) {
			tied++
			hit = hit || k == want
		}
		if hit {
			right += 1 / float64(tied)
		}
	}
	if n == 0 {
		return 0, 0
	}
	return right / float64(n), n
}

// Agreement returns, for each worker, the share of the worker's answers that
// equal the label which the task was given.
//
// Source: the worker's agreement with the aggregate (Wawa) of Toloka's crowd-kit,
// here for any method.
func (r *Result) Agreement() []float64 {
	share := make([]float64, len(r.Data.workers))
	for i, want := range r.Labels {
		workers, labels := r.Data.Answers(i)
		for n, j := range workers {
			if labels[n] == want {
				share[j]++
			}
		}
	}
	for j, n := range r.Data.Answered() {
		share[j] /= float64(n)
	}
	return share
}

// checkCells refuses a table of rows·cols numbers that is over MaxCells.
func checkCells(d *Dataset, rows, cols int) error {
	if cols > 0 && rows > MaxCells/cols {
		return crowd.Errorf(crowd.TooLarge, "%d different answers from %d workers to %d tasks are too many to be treated as classes",
			len(d.classes), len(d.workers), len(d.tasks))
	}
	return nil
}

// maxOf returns the greatest number of q, which is not empty.
func maxOf(q []float64) float64 {
	top := q[0]
	for _, p := range q[1:] {
		if p > top {
			top = p
		}
	}
	return top
}
