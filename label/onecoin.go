package label

import (
	"math"

	"github.com/throng-dev/throng/crowd"
)

// OneCoin learns one figure of each worker, how often they are right, and takes
// their errors as spread evenly over the other classes: expectation maximisation
// with a Beta(Right, Wrong) belief in each worker and no belief about the classes.
//
//	start   q_ik = c_ik / n_i
//	repeat  s_j  = (Right + Σ over answers (i,j,l) of q_il) / (Right + Wrong + n_j)
//	        q_ik ∝ Π over answers (i,j,l) of (s_j if l = k, else (1−s_j)/(K−1))
//	until   max |q − q before| < Tolerance, or the last iteration
//
// With gold, q starts from the skill that the gold answers show, and the gold tasks
// are held at their known class. The shares of the classes are not estimated: with
// one coin a worker, estimated shares run away to a single class.
//
// It suits pools whose workers err without a lean to some class. Of workers who do
// lean it knows nothing: use DawidSkene for them.
//
// Source: Zhang, Chen, Zhou and Jordan 2014, "Spectral methods meet EM", one-coin
// model; the belief is ours, tried on public data.
type OneCoin struct {
	Right, Wrong float64 // > 0: pseudo-counts of the belief in a worker
	Iterations   int     // at most so many rounds, 1 to 100,000
	Tolerance    float64 // ≥ 0, a probability
}

// DefaultOneCoin returns the settings to use unless there is a reason: a belief of
// 4 right and 2 wrong answers, 50 iterations, tolerance 1e-4.
func DefaultOneCoin() OneCoin {
	return OneCoin{Right: 4, Wrong: 2, Iterations: 50, Tolerance: 1e-4}
}

// Name returns "onecoin".
func (OneCoin) Name() string { return "onecoin" }

// UsesGold returns true.
func (OneCoin) UsesGold() bool { return true }

// Takes returns Classes.
func (OneCoin) Takes() Answers { return Classes }

// Validate checks the settings; it names the first one that is out of range.
func (m OneCoin) Validate() error {
	switch {
	case !(m.Right > 0) || math.IsInf(m.Right, 0):
		return crowd.Fieldf("right", "must be more than 0, not %v", m.Right)
	case !(m.Wrong > 0) || math.IsInf(m.Wrong, 0):
		return crowd.Fieldf("wrong", "must be more than 0, not %v", m.Wrong)
	}
	return validRounds(m.Iterations, m.Tolerance)
}

// validRounds checks the settings that say when a fit ends.
func validRounds(iterations int, tolerance float64) error {
	switch {
	case iterations < 1 || iterations > 100_000:
		return crowd.Fieldf("iterations", "must be between 1 and 100000, not %d", iterations)
	case !(tolerance >= 0):
		return crowd.Fieldf("tolerance", "must be 0 or more, not %v", tolerance)
	}
	return nil
}

// Fit runs the iterations. O(iterations · (answers + T·K)).
func (m OneCoin) Fit(d *Dataset, gold Truth) (*Result, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := gold.validFor(d); err != nil {
		return nil, err
	}
	k := len(d.classes)
	if err := checkCells(d, len(d.tasks), k); err != nil {
		return nil, err
	}
	var q []float64
	if gold.Known() > 0 {
		q = skillPosterior(d, goldSkills(d, gold))
		clamp(q, k, gold)
	} else {
		q = voteShares(d)
	}
	answered := d.Answered()
	skill := make([]float64, len(d.workers))
	rounds, converged := 0, false
	for rounds < m.Iterations && !converged {
		clear(skill)
		for i := range d.tasks {
			d.poll(i)
			workers, labels := d.Answers(i)
			for n, j := range workers {
				skill[j] += q[i*k+int(labels[n])]
			}
		}
		for j, right := range skill {
			skill[j] = (m.Right + right) / (m.Right + m.Wrong + float64(answered[j]))
		}
		next := skillPosterior(d, skill)
		clamp(next, k, gold)
		converged = greatestChange(q, next) < m.Tolerance
		q = next
		rounds++
	}
	r := newResult(d, m.Name(), q)
	r.probabilities = true
	r.Iterations, r.Converged = rounds, converged
	return r, nil
}

// greatestChange returns max |a − b|.
func greatestChange(a, b []float64) (most float64) {
	for n, x := range a {
		most = max(most, math.Abs(x-b[n]))
	}
	return most
}

var _ Method = OneCoin{}
