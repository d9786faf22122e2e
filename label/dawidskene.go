package label

import (
	"math"
	"slices"

	"github.com/throng-dev/throng/crowd"
)

// DawidSkene learns, without any known answer, how each worker confuses the
// classes, and weighs the answers by it: expectation maximisation with a little
// prior belief that workers are right (maximum a posteriori). With the prior
// pseudo-counts A_kk = s·d and A_kl = s(1−d)/(K−1) for l ≠ k, and class mass m:
//
//	start   q_ik = c_ik / n_i
//	repeat  p_k   = (m + Σ_i q_ik) / (m·K + T)
//	        π_jkl ∝ A_kl + Σ over answers (i,j,l) of q_ik,   Σ_l π_jkl = 1
//	        q_ik  ∝ p_k · Π over answers (i,j,l) of π_jkl,   Σ_k q_ik = 1
//	until   max |q − q before| < tolerance, or the last iteration
//
// With gold, q starts from the skill that the gold answers show (see
// goldSkills), and the gold tasks are held at their known class throughout.
//
// Below MinRedundancy answers a task and without gold there is nothing to learn
// from, and the model collapses: then Fit falls back to Majority, and says so in
// Result.Method.
//
// Source: Dawid and Skene 1979, "Maximum likelihood estimation of observer
// error-rates using the EM algorithm", Applied Statistics 28(1). The smoothing is
// ours, and its defaults were tried on public data sets. With Strength
// and ClassMass 0 it is the method of the original paper.
type DawidSkene struct {
	Strength   float64 // s ≥ 0: how many answers the prior on a row of a matrix is worth
	Diagonal   float64 // d, 0 to 1: the accuracy that the prior believes in
	ClassMass  float64 // m ≥ 0: how many tasks the prior on each class is worth
	Iterations int     // at most so many rounds, 1 to 100,000
	Tolerance  float64 // ≥ 0, a probability; at 0 exactly Iterations rounds are made
}

// DefaultDawidSkene returns the settings to use unless there is a reason: s = 2,
// d = 0.7, m = 1, 10 iterations, tolerance 1e-4. More iterations are no more
// accurate on public data, and worse calibrated.
func DefaultDawidSkene() DawidSkene {
	return DawidSkene{Strength: 2, Diagonal: 0.7, ClassMass: 1, Iterations: 10, Tolerance: 1e-4}
}

// MinRedundancy is the mean number of answers a task below which DawidSkene
// falls back to the vote: a single answer a task shows nobody's errors.
const MinRedundancy = 2

// PlainDawidSkene returns the settings of the original paper: no smoothing, until
// nothing changes. It is for comparisons; on workers with few answers it overfits.
func PlainDawidSkene() DawidSkene { return DawidSkene{Iterations: 1000, Tolerance: 1e-10} }

// Name returns "ds-map", or "ds" for the method of the original paper, without
// smoothing.
func (m DawidSkene) Name() string {
	if m.Strength == 0 && m.ClassMass == 0 {
		return "ds"
	}
	return "ds-map"
}

// UsesGold returns true.
func (DawidSkene) UsesGold() bool { return true }

// Takes returns Classes.
func (DawidSkene) Takes() Answers { return Classes }

// Validate checks the settings; it names the first one that is out of range.
func (m DawidSkene) Validate() error {
	switch {
	case !(m.Strength >= 0) || math.IsInf(m.Strength, 0):
		return crowd.Fieldf("strength", "must be 0 or more, not %v", m.Strength)
	case !(m.Diagonal >= 0 && m.Diagonal <= 1):
		return crowd.Fieldf("diagonal", "must be between 0 and 1, not %v", m.Diagonal)
	case !(m.ClassMass >= 0) || math.IsInf(m.ClassMass, 0):
		return crowd.Fieldf("class_mass", "must be 0 or more, not %v", m.ClassMass)
	}
	return validRounds(m.Iterations, m.Tolerance)
}

// Fit runs the iterations. O(iterations · (answers·K + W·K² + T·K)).
func (m DawidSkene) Fit(d *Dataset, gold Truth) (*Result, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := gold.validFor(d); err != nil {
		return nil, err
	}
	withGold := gold.Known() > 0
	if !withGold && d.Redundancy() < MinRedundancy {
		return Majority{}.Fit(d, nil)
	}
	if err := checkMatrices(d); err != nil {
		return nil, err
	}
	var start []float64
	if withGold {
		start = skillPosterior(d, goldSkills(d, gold))
		clamp(start, len(d.classes), gold)
	} else {
		start = voteShares(d)
	}
	return m.run(d, gold, start).result(m.Name()), nil
}

// checkMatrices refuses a data set whose posteriors or confusion matrices would be
// over MaxCells.
func checkMatrices(d *Dataset) error {
	k, w := len(d.classes), len(d.workers)
	if err := checkCells(d, len(d.tasks), k); err != nil {
		return err
	}
	return checkCells(d, w*k, k)
}

// run makes the iterations from posteriors q, which it changes. Unlike those of Fit,
// tasks of d may have no answers.
func (m DawidSkene) run(d *Dataset, gold Truth, q []float64) *dawidSkene {
	k := len(d.classes)
	fit := &dawidSkene{
		DawidSkene: m, d: d, gold: gold, k: k, q: q,
		logP:  make([]float64, k),
		logPi: make([]float64, len(d.workers)*k*k),
	}
	for fit.rounds < m.Iterations && !fit.converged {
		fit.maximise()
		fit.converged = fit.expect() < m.Tolerance
		fit.rounds++
	}
	return fit
}

// result returns what the fit, which is over then, makes of the tasks.
func (f *dawidSkene) result(method string) *Result {
	r := newResult(f.d, method, f.q)
	r.probabilities = true
	r.Iterations, r.Converged, r.Model = f.rounds, f.converged, f.model()
	return r
}

// dawidSkene is a fit under way. All answers of worker j that say l touch one
// run of K neighbours in logPi, at (j·K + l)·K.
type dawidSkene struct {
	DawidSkene
	d     *Dataset
	gold  Truth
	k     int
	q     []float64 // q_ik at i·K + k
	logP  []float64 // ln p_k
	logPi []float64 // ln π_jkl at (j·K + l)·K + k

	rounds    int
	converged bool
}

// maximise makes p and π from q.
func (f *dawidSkene) maximise() {
	k := f.k
	clear(f.logP)
	f.fillPrior()
	for i := range f.d.tasks {
		f.d.poll(i)
		q := f.q[i*k : (i+1)*k]
		for c, p := range q {
			f.logP[c] += p
		}
		workers, labels := f.d.Answers(i)
		for n, j := range workers {
			row := f.row(j, labels[n])
			for c, p := range q {
				row[c] += p
			}
		}
	}

	mass := f.ClassMass*float64(k) + float64(len(f.d.tasks))
	for c := range f.logP {
		f.logP[c] = math.Log((f.ClassMass + f.logP[c]) / mass)
	}
	sum := make([]float64, k)
	for j := range f.d.workers {
		f.d.poll(j * k * k)
		counts := f.logPi[j*k*k : (j+1)*k*k]
		clear(sum)
		for row := range slices.Chunk(counts, k) {
			for c, n := range row {
				sum[c] += n
			}
		}
		for row := range slices.Chunk(counts, k) {
			for c, n := range row {
				if sum[c] == 0 { // never seen on this class, and no prior: any answer is as likely
					row[c] = -math.Log(float64(k))
					continue
				}
				row[c] = math.Log(n / sum[c])
			}
		}
	}
}

// prior returns the pseudo-counts A_kk and A_kl, l ≠ k, of one of k classes.
func (m DawidSkene) prior(k int) (diagonal, off float64) {
	if k > 1 {
		off = m.Strength * (1 - m.Diagonal) / float64(k-1)
	}
	return m.Strength * m.Diagonal, off
}

// fillPrior sets the counts of every worker to A.
func (f *dawidSkene) fillPrior() {
	diagonal, off := f.prior(f.k)
	for n := range f.logPi {
		f.logPi[n] = off
	}
	for j := range f.d.workers {
		for c := range f.k {
			f.row(int32(j), Class(c))[c] = diagonal
		}
	}
}

// expect makes q from p and π, and returns the greatest change of any q_ik.
func (f *dawidSkene) expect() float64 {
	k, change := f.k, 0.0
	next := make([]float64, k)
	for i := range f.d.tasks {
		f.d.poll(i)
		if f.gold.of(i) != None {
			continue
		}
		copy(next, f.logP)
		workers, labels := f.d.Answers(i)
		for n, j := range workers {
			row := f.row(j, labels[n])[:len(next)]
			for c := range next {
				next[c] += row[c]
			}
		}
		normaliseLogs(next)
		q := f.q[i*k : (i+1)*k]
		for c, p := range next {
			if moved := math.Abs(p - q[c]); moved > change {
				change = moved
			}
			q[c] = p
		}
	}
	return change
}

// row returns ln π_jkl for all k.
func (f *dawidSkene) row(j int32, l Class) []float64 {
	at := (int(j)*f.k + int(l)) * f.k
	return f.logPi[at : at+f.k : at+f.k]
}

// model returns p and π of the last maximisation; the fit is over then.
func (f *dawidSkene) model() *Confusion {
	for n, v := range f.logPi {
		f.logPi[n] = math.Exp(v)
	}
	for c, v := range f.logP {
		f.logP[c] = math.Exp(v)
	}
	return &Confusion{p: f.logP, pi: f.logPi}
}

// normaliseLogs turns logarithms of weights into shares that sum to 1. At
// least one weight is not zero.
func normaliseLogs(v []float64) {
	top, sum := maxOf(v), 0.0
	for n, x := range v {
		v[n] = math.Exp(x - top)
		sum += v[n]
	}
	for n := range v {
		v[n] /= sum
	}
}

var _ Method = DawidSkene{}
