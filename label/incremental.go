package label

import (
	"math"
	"slices"

	"github.com/throng-dev/throng/crowd"
)

// Live is Dawid and Skene's model kept up to date answer by answer: incremental
// expectation maximisation. It keeps the soft counts that a maximisation would make,
//
//	N_jkl = A_kl + Σ over answers (i,j,l) of q_ik     M_k = 1 + Σ_i q_ik
//
// and on a new, changed or withdrawn answer to a task i takes q_i out of them, makes
// it anew,
//
//	q_ik ∝ M_k · Π over answers (i,j,l) of N_jkl / Σ_m N_jkm
//
// and adds it back. The counts are those of the posteriors that stand, not of those
// that stood when an answer came, so that an answer taken out leaves none of itself
// behind; and a task's own share is out of them while its posterior is made, so that no
// posterior is evidence for itself. Tasks that are not touched keep their posterior until
// Sweep goes over them. Sweeps settle near DawidSkene's result, not at it: there each task
// is its own evidence.
//
// Tasks, workers and classes are numbers from 0; all are made by being named, classes
// up to the number given to NewLive. A task takes 8·K bytes and 8 an answer, a worker
// 8·K·(K+1).
//
// The state is a function of the calls in their order: the same calls make the same
// bits.
//
// Source: Neal and Hinton 1998, "A view of the EM algorithm that justifies
// incremental, sparse, and other variants", section 4, for the model of DawidSkene
// with its smoothing A.
type Live struct {
	model DawidSkene
	k     int
	n     []float64 // N_jkl at (j·K + l)·K + k
	sum   []float64 // Σ_l N_jkl at j·K + k
	mass  []float64 // M_k
	q     []float64 // q_ik at i·K + k
	tasks []liveTask
	next  []float64 // the posterior in the making
	given []int     // answers of each worker
	light []float64 // weight of each worker up to the last one with less than 1; nil: there is none
}

type liveTask struct {
	answers []liveAnswer // by worker
	gold    Class        // or None
}

type liveAnswer struct {
	worker int32
	class  Class
}

// NewLive returns the model without any answer, with the smoothing of m. Its errors
// are those of DawidSkene.Validate, of a class that can have no probability (a
// Strength or ClassMass of 0), and of a number of classes outside 1 to MaxLiveClasses.
func NewLive(m DawidSkene, classes int) (*Live, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.Strength == 0 || m.ClassMass == 0 || m.Diagonal == 0 || m.Diagonal == 1 {
		return nil, crowd.Fieldf("strength", "without some belief in every answer a single one can rule a class out: strength and class mass must be more than 0, diagonal between 0 and 1")
	}
	if classes < 1 || classes > MaxLiveClasses {
		return nil, crowd.Fieldf("classes", "must be between 1 and %d, not %d", MaxLiveClasses, classes)
	}
	l := &Live{model: m, k: classes, mass: make([]float64, classes), next: make([]float64, classes)}
	for k := range l.mass {
		l.mass[k] = m.ClassMass
	}
	return l, nil
}

// MaxLiveClasses is the most classes of a Live: its matrices have 8·K² bytes a worker.
const MaxLiveClasses = 256

// Set takes it that a worker answered a class to a task, in place of what they
// answered before. O(n_i·K).
func (l *Live) Set(task, worker int, class Class) {
	l.grow(task, worker)
	l.take(task)
	t := &l.tasks[task]
	at, there := t.find(int32(worker))
	if there {
		t.answers[at].class = class
	} else {
		t.answers = slices.Insert(t.answers, at, liveAnswer{int32(worker), class})
		l.given[worker]++
	}
	l.put(task)
}

// Remove takes out a worker's answer to a task; without one it does nothing.
func (l *Live) Remove(task, worker int) {
	if task >= len(l.tasks) {
		return
	}
	t := &l.tasks[task]
	at, there := t.find(int32(worker))
	if !there {
		return
	}
	l.take(task)
	t.answers = slices.Delete(t.answers, at, at+1)
	l.given[worker]--
	l.put(task)
}

// RemoveWorker takes out all answers of a worker and returns the tasks that they were
// to, in order. O(T + answers to these tasks · K).
func (l *Live) RemoveWorker(worker int) (touched []int) {
	for i := range l.tasks {
		if _, there := l.tasks[i].find(int32(worker)); there {
			l.Remove(i, worker)
			touched = append(touched, i)
		}
	}
	return touched
}

// SetGold fixes the class of a task that is known; None makes it unknown again.
func (l *Live) SetGold(task int, class Class) {
	l.grow(task, -1)
	l.take(task)
	l.tasks[task].gold = class
	l.put(task)
}

// SetWeight makes what a worker answers say less of tasks: their likelihood counts to the
// power of weight, 1 for all at first, and at 0 it says nothing,
//
//	q_ik ∝ M_k · Π over answers (i,j,l) of (N_jkl / Σ_m N_jkm)^w_j
//
// What they confuse is learnt as before. It holds for posteriors that are made from now on;
// Rebuild makes all again.
func (l *Live) SetWeight(worker int, weight float64) {
	l.grow(-1, worker)
	for len(l.light) <= worker {
		l.light = append(l.light, 1)
	}
	l.light[worker] = weight
}

// Classes returns the number of classes.
func (l *Live) Classes() int { return l.k }

// Posterior returns q_ik of a task; they sum to 1. Without an answer they are the
// shares of the classes so far. The caller must not keep it past the next call of a
// method that changes the model.
func (l *Live) Posterior(task int) []float64 {
	l.grow(task, -1)
	if l.tasks[task].open() {
		copy(l.next, l.mass)
		scale(l.next)
		return l.next
	}
	return l.row(task)
}

// Accuracy returns the probability that a worker answers right over the classes as
// they occur, Σ_k M_k/ΣM · N_jkk/Σ_l N_jkl, and how many answers it rests on. Of
// somebody without answers it is Diagonal, the prior belief.
func (l *Live) Accuracy(worker int) (accuracy float64, answers int) {
	if worker >= len(l.given) {
		return l.model.Diagonal, 0
	}
	total := 0.0
	for k, m := range l.mass {
		total += m
		accuracy += m * l.n[(worker*l.k+k)*l.k+k] / l.sum[worker*l.k+k]
	}
	return accuracy / total, l.given[worker]
}

// Sweep makes the posterior of every task again, in order, and returns the greatest
// change of any. The counts are then made again from the posteriors, so that no
// rounding adds up. O(answers·K + W·K²).
func (l *Live) Sweep() (change float64) {
	old := make([]float64, l.k)
	for i := range l.tasks {
		if l.tasks[i].open() {
			continue
		}
		copy(old, l.row(i))
		l.take(i)
		l.put(i)
		change = max(change, greatestChange(old, l.row(i)))
	}
	l.recount()
	return change
}

// Rebuild makes the model again from the answers that it has, as if they came now: first those to tasks
// whose class is known, then the others, task by task. Where many answers were taken out it
// forgets what rested on them: the posteriors of the other tasks, and what these say of people, are
// still of the time when they were there, and sweeps alone may confirm them. O(answers·K + W·K²).
func (l *Live) Rebuild() {
	clear(l.q)
	workers := len(l.given)
	l.n, l.sum = l.n[:0], l.sum[:0]
	for range workers {
		l.addPrior()
	}
	for k := range l.mass {
		l.mass[k] = l.model.ClassMass
	}
	for _, known := range []bool{true, false} {
		for i := range l.tasks {
			if t := &l.tasks[i]; !t.open() && (t.gold != None) == known {
				l.put(i)
			}
		}
	}
}

// Renew makes the posteriors again of some tasks, from number from on, which have answers
// answers together or a few more, and returns the number to go on from; after the last
// task comes 0. Called after every Set it is a sweep in small pieces: nobody waits for a
// whole one. renewed is told each number. O(answers·K).
func (l *Live) Renew(from, answers int, renewed func(task int)) (next int) {
	for n := 0; n < renewTasks && answers > 0; n++ {
		if from >= len(l.tasks) {
			return 0
		}
		if t := &l.tasks[from]; !t.open() {
			l.take(from)
			l.put(from)
			answers -= max(len(t.answers), 1)
			renewed(from)
		}
		from++
	}
	return from
}

// renewTasks is the most tasks, with or without answers, that one Renew looks at.
const renewTasks = 32

// open reports whether nothing is known of a task: its posterior counts for nothing.
func (t *liveTask) open() bool { return len(t.answers) == 0 && t.gold == None }

func (t *liveTask) find(worker int32) (at int, there bool) {
	return slices.BinarySearchFunc(t.answers, worker, func(a liveAnswer, w int32) int { return int(a.worker) - int(w) })
}

// grow makes room for a task and, unless it is −1, a worker.
func (l *Live) grow(task, worker int) {
	for len(l.tasks) <= task {
		l.tasks = append(l.tasks, liveTask{gold: None})
		for range l.k {
			l.q = append(l.q, 0)
		}
	}
	for len(l.given) <= worker {
		l.given = append(l.given, 0)
		l.addPrior()
	}
}

// addPrior appends a worker's counts A_kl.
func (l *Live) addPrior() {
	diagonal, off := l.model.prior(l.k)
	for answer := range l.k {
		for truth := range l.k {
			if truth == answer {
				l.n = append(l.n, diagonal)
			} else {
				l.n = append(l.n, off)
			}
		}
	}
	for range l.k {
		l.sum = append(l.sum, diagonal+off*float64(l.k-1))
	}
}

func (l *Live) row(task int) []float64 { return l.q[task*l.k : (task+1)*l.k : (task+1)*l.k] }

// take takes q of a task out of the counts.
func (l *Live) take(task int) {
	if !l.tasks[task].open() {
		l.count(task, -1)
	}
}

// put makes q of a task and adds it to the counts.
func (l *Live) put(task int) {
	t := &l.tasks[task]
	q := l.row(task)
	switch {
	case t.open():
		clear(q)
		return
	case t.gold != None:
		clear(q)
		q[t.gold] = 1
	default:
		copy(q, l.mass)
		for _, a := range t.answers {
			n := l.n[(int(a.worker)*l.k+int(a.class))*l.k:][:len(q)]
			sum := l.sum[int(a.worker)*l.k:][:len(q)]
			top := 0.0
			if j := int(a.worker); j < len(l.light) && l.light[j] != 1 {
				for k := range q {
					q[k] *= math.Pow(n[k]/sum[k], l.light[j])
					top = max(top, q[k])
				}
			} else {
				for k := range q {
					q[k] *= n[k] / sum[k]
					top = max(top, q[k])
				}
			}
			if top < 1e-200 { // long before it is too small for a float64
				for k := range q {
					q[k] /= top
				}
			}
		}
		scale(q)
	}
	l.count(task, 1)
}

// count adds q of a task to the counts, times sign.
func (l *Live) count(task int, sign float64) {
	q := l.row(task)
	for k, p := range q {
		l.mass[k] += sign * p
	}
	for _, a := range l.tasks[task].answers {
		n := l.n[(int(a.worker)*l.k+int(a.class))*l.k:][:len(q)]
		sum := l.sum[int(a.worker)*l.k:][:len(q)]
		for k, p := range q {
			n[k] += sign * p
			sum[k] += sign * p
		}
	}
}

// recount makes the counts from the posteriors.
func (l *Live) recount() {
	workers := len(l.given)
	l.n, l.sum = l.n[:0], l.sum[:0]
	for range workers {
		l.addPrior()
	}
	for k := range l.mass {
		l.mass[k] = l.model.ClassMass
	}
	for i := range l.tasks {
		if !l.tasks[i].open() {
			l.count(i, 1)
		}
	}
}

// scale makes weights, of which one is more than 0, sum to 1.
func scale(v []float64) {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	for n := range v {
		v[n] /= sum
	}
}

// Incremental is the Method of Live: it feeds the answers of a data set in its order,
// by task, and sweeps. Fed once they are what a requester saw while a batch ran; the
// sweeps bring them near DawidSkene's result. Gold is fixed from the start.
type Incremental struct {
	DawidSkene
	Sweeps int // 0 to 1,000
}

// DefaultIncremental returns DefaultDawidSkene's smoothing and two sweeps.
func DefaultIncremental() Incremental {
	return Incremental{DawidSkene: DefaultDawidSkene(), Sweeps: 2}
}

// Name returns "incremental".
func (Incremental) Name() string { return "incremental" }

// Fit feeds and sweeps. O((1+Sweeps) · answers·K, and answers a task times that while
// feeding).
func (m Incremental) Fit(d *Dataset, gold Truth) (*Result, error) {
	if m.Sweeps < 0 || m.Sweeps > 1000 {
		return nil, crowd.Fieldf("sweeps", "must be between 0 and 1000, not %d", m.Sweeps)
	}
	if err := gold.validFor(d); err != nil {
		return nil, err
	}
	if err := checkMatrices(d); err != nil {
		return nil, err
	}
	if len(d.classes) > MaxLiveClasses {
		return nil, crowd.Errorf(crowd.TooLarge, "%d different answers are too many to be treated as classes answer by answer: at most %d", len(d.classes), MaxLiveClasses)
	}
	live, err := NewLive(m.DawidSkene, len(d.classes))
	if err != nil {
		return nil, err
	}
	for i := range d.tasks {
		d.poll(i)
		if class := gold.of(i); class != None {
			live.SetGold(i, class)
		}
		workers, labels := d.Answers(i)
		for n, j := range workers {
			live.Set(i, int(j), labels[n])
		}
	}
	change := math.Inf(1)
	for range m.Sweeps {
		d.poll(0)
		change = live.Sweep()
	}
	r := newResult(d, m.Name(), live.q)
	r.probabilities = true
	r.Iterations, r.Converged, r.Model = m.Sweeps, change < m.Tolerance, live.confusion()
	return r, nil
}

// confusion returns the model as it stands.
func (l *Live) confusion() *Confusion {
	c := &Confusion{p: slices.Clone(l.mass), pi: slices.Clone(l.n)}
	scale(c.p)
	for j := range l.given {
		for answer := range l.k {
			for truth := range l.k {
				c.pi[(j*l.k+answer)*l.k+truth] /= l.sum[j*l.k+truth]
			}
		}
	}
	return c
}

var _ Method = Incremental{}
