package label

import (
	"math"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// goldSkills estimates each worker's accuracy from gold tasks alone:
//
//	s_j = (1.4 + right) / (2 + seen)
//
// the mean of a Beta(1.4, 0.6) belief, 0.7 where a worker saw none; always
// strictly between 0 and 1.
//
// Source: the mean of a beta posterior, as in Gelman et al., Bayesian Data
// Analysis, 2013, section 2.4.
func goldSkills(d *Dataset, gold Truth) []float64 {
	right, seen := d.Right(gold)
	return lists.Map(lists.Indices(len(right)), func(j int) float64 { return (1.4 + float64(right[j])) / (2 + float64(seen[j])) })
}

// skillPosterior weighs each answer by the skill of who gave it, all classes
// being as likely beforehand and all errors as likely among themselves:
//
//	q_ik ∝ Π over answers (i,j,l) of (s_j if l = k, else (1 − s_j)/(K − 1))
//
// Skills are strictly between 0 and 1.
//
// Source: the documentation of Toloka's dynamic overlap.
func skillPosterior(d *Dataset, skill []float64) []float64 {
	k := len(d.classes)
	q := make([]float64, len(d.tasks)*k)
	if k == 1 {
		for i := range q {
			q[i] = 1
		}
		return q
	}
	for i := range d.tasks {
		d.poll(i)
		row := q[i*k : (i+1)*k]
		workers, labels := d.Answers(i)
		// A factor that all classes share drops out: what counts is how much
		// likelier an answer is where it is right than where it is wrong.
		for n, j := range workers {
			row[labels[n]] += math.Log(skill[j] * float64(k-1) / (1 - skill[j]))
		}
		normaliseLogs(row)
	}
	return q
}

// clamp sets the rows of gold tasks to certainty.
func clamp(q []float64, k int, gold Truth) {
	for i, want := range gold {
		if want != None {
			clear(q[i*k : (i+1)*k])
			q[i*k+int(want)] = 1
		}
	}
}
