package sched

import "math"

// A workforce is the paper's x: how each component x_b of the weighted
// workforce vector follows from the figures of its batch. Dimensionless (fs:
// assignments; wfs: assignments per unit of priority), ≥ 0.
//
//	fs         x_b = R_b                the 2016 form, §3.2.1
//	fs-ratio   x_b = R_b/T_b            §3.2.1
//	wfs        x_b = R_b/P_b            §3.2.2
//	wfs-ratio  x_b = R_b/(P_b T_b)      §3.2.2
//	dafs       x_b = 1/(P_b T_b) Σ_{i=0}^{R_b-1} f((L_b-i)/T_b)   eq. 3,
//	           for production batches, and wfs-ratio's for best-effort ones
//
// The step δ_b is what one more running assignment adds to x_b: for eq. 3 its
// next term, f((L_b-R_b)/T_b)/(P_b T_b).
//
// The sum of eq. 3 runs over f(n/T_b) for n from L_b-R_b+1 to L_b, so a start,
// a finish or a give-back changes it by one term, which is all that is computed:
// O(|ΔL|+|ΔR|), and O(R_b) when T_b changes. The terms are added up exactly, so
// x_b depends on the batch's figures alone.
//
// Corner cases. With R_b = 0, x_b = 0. A batch with more running than is left
// (R_b > L_b, as after T_b was lowered) counts no terms for n ≤ 0, and its step
// is then f(0) = 0.
type workforce struct {
	form form
	f    calibration
	sums []termSum // by slot; only of production batches under dafs
}

// A form names a workforce function.
type form string

const (
	formFS       form = "fs"
	formFSRatio  form = "fs-ratio"
	formWFS      form = "wfs"
	formWFSRatio form = "wfs-ratio"
	formDAFS     form = "dafs"
)

// A calibration is f of eq. 3, applied to the fraction y in (0, 1] of the batch
// that is left.
//
// The paper takes "a logarithmic function". ln(y) itself will not do: it is ≤ 0
// there, so a started production batch would have x_b < 0, below every idle
// batch, and J∞, which divides by x_b, would change its sign. ln(1+y) is
// positive, grows with y as eq. 3 wants, and is 0 at 0.
type calibration string

const (
	log1p    calibration = "log1p"    // f(y) = ln(1+y); the default
	identity calibration = "identity" // f(y) = y
)

// A termSum is Σ f(n/T) over n in (waiting, left], kept from one event to the
// next.
type termSum struct {
	planned, left, waiting uint32 // what sum was computed for; planned 0: nothing
	sum                    exact
	at                     uint32  // 0: none
	term                   float64 // f(at/planned): the step, and the term that the next start adds
}

// at returns x and δ of the record in a slot.
func (w *workforce) at(slot uint32, r *record) (x, delta float64) {
	running := float64(r.running)
	switch w.form {
	case formFS:
		return running, 1
	case formFSRatio:
		return running / float64(r.planned), 1 / float64(r.planned)
	case formWFS:
		return running / r.priority, 1 / r.priority
	}
	scale := r.priority * float64(r.planned)
	if w.form == formWFSRatio || !r.production {
		return running / scale, 1 / scale
	}
	x = w.sum(slot, r) / scale
	if w.f == identity {
		return x, w.f.of(r.waiting(), r.planned) / scale
	}
	return x, w.sums[slot].of(r.waiting()) / scale
}

// of is log1p.of(n, s.planned), kept for the next call.
func (s *termSum) of(n uint32) float64 {
	if n == 0 || n != s.at {
		s.at, s.term = n, log1p.of(n, s.planned)
	}
	return s.term
}

// of returns f(n/planned).
func (f calibration) of(n, planned uint32) float64 {
	y := float64(n) / float64(planned)
	if f == identity {
		return y
	}
	return math.Log1p(y)
}

// sum returns Σ_{n=waiting+1}^{left} f(n/planned).
func (w *workforce) sum(slot uint32, r *record) float64 {
	left, waiting := r.left(), r.waiting()
	if w.f == identity { // in closed form, exact in integers
		l, k := uint64(left), uint64(waiting)
		return float64((l*(l+1)-k*(k+1))/2) / float64(r.planned)
	}
	for int(slot) >= len(w.sums) {
		w.sums = append(w.sums, termSum{})
	}
	s := &w.sums[slot]
	if fresh := uint64(left - waiting); s.planned != r.planned || s.distance(left, waiting) > fresh {
		*s = termSum{planned: r.planned, left: waiting, waiting: waiting}
	}
	s.move(left, waiting)
	return s.sum.float()
}

// distance is the number of terms by which the sum differs from the wanted one,
// an upper bound of it when the two have none in common.
func (s *termSum) distance(left, waiting uint32) uint64 {
	return gap(s.left, left) + gap(s.waiting, waiting)
}

func gap(a, b uint32) uint64 { return uint64(max(a, b) - min(a, b)) }

// move adds and takes away the terms by which the sum differs.
func (s *termSum) move(left, waiting uint32) {
	for ; s.left < left; s.left++ {
		s.sum.add(log1p.of(s.left+1, s.planned))
	}
	for ; s.waiting > waiting; s.waiting-- {
		s.sum.add(s.of(s.waiting))
	}
	for ; s.left > left; s.left-- {
		s.sum.sub(log1p.of(s.left, s.planned))
	}
	for ; s.waiting < waiting; s.waiting++ {
		s.sum.sub(log1p.of(s.waiting+1, s.planned))
	}
}
