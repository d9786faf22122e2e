package calibrate

import (
	"maps"
	"math"
	"slices"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
)

// A design is a log as numbers.
type design struct {
	kinds           []string
	workers, visits int
	r               Rounding
	least           float64 // least seconds above 0

	answers []Answer
	seconds []float64
	y       []float64 // ln seconds
	lnN     []float64
	kind    []int
	worker  []int
	cell    []int // visit and kind
	cells   int
	owner   []int  // worker of a cell
	about   []int  // kind of a cell
	sums    []sums // of the cells, once they are needed
}

func newDesign(log *Log, r Rounding) *design {
	d := &design{r: r, answers: log.Answers, seconds: lists.Map(log.Answers, func(a Answer) float64 { return a.Seconds })}
	type cell struct{ visit, kind int }
	kinds, workers, visits, cells := map[string]int{}, map[string]int{}, map[int]int{}, map[cell]int{}
	d.least = leastPositive(d.seconds)
	for _, a := range log.Answers {
		number(kinds, a.Kind)
	}
	d.kinds = slices.Sorted(maps.Keys(kinds))
	for k, name := range d.kinds {
		kinds[name] = k
	}
	for _, a := range log.Answers {
		k := kinds[a.Kind]
		w := number(workers, a.Worker)
		c := number(cells, cell{number(visits, a.visit), k})
		if c == len(d.owner) {
			d.owner = append(d.owner, w)
			d.about = append(d.about, k)
		}
		d.y = append(d.y, math.Log(r.middle(a.Seconds, d.least)))
		d.lnN = append(d.lnN, math.Log(float64(a.N)))
		d.kind = append(d.kind, k)
		d.worker = append(d.worker, w)
		d.cell = append(d.cell, c)
	}
	d.workers, d.visits, d.cells = len(workers), len(visits), len(cells)
	return d
}

// number returns the number of a key, a new one if it has none.
func number[K comparable](of map[K]int, key K) int {
	n, ok := of[key]
	if !ok {
		n = len(of)
		of[key] = n
	}
	return n
}

// sums are what least squares within cells need: sums over the answers of
// products of deviations from the mean of the cell. x1 is whether the worker
// switched, x2 is ln n.
type sums struct {
	n, cells           int // of the cells in which either varies
	s11, s12, s22      float64
	s1y, s2y, syy      float64
	switching, growing int // cells in which x1 and x2 vary
	inSwitch, inGrow   int // and their answers
}

func (s *sums) add(o sums) {
	s.n += o.n
	s.cells += o.cells
	s.s11 += o.s11
	s.s12 += o.s12
	s.s22 += o.s22
	s.s1y += o.s1y
	s.s2y += o.s2y
	s.syy += o.syy
	s.switching += o.switching
	s.growing += o.growing
	s.inSwitch += o.inSwitch
	s.inGrow += o.inGrow
}

// within returns the sums of each cell. The first answer of a visit is left
// out: nobody knows what the worker came from, and they may still have read the
// instructions.
func (d *design) within() []sums {
	type mean struct {
		n         int
		x1, x2, y float64
	}
	means := make([]mean, d.cells)
	each := func(do func(c int, x1, x2, y float64)) {
		for i := range d.y {
			if !d.answers[i].First {
				x1 := 0.0
				if d.answers[i].Switched {
					x1 = 1
				}
				do(d.cell[i], x1, d.lnN[i], d.y[i])
			}
		}
	}
	each(func(c int, x1, x2, y float64) {
		m := &means[c]
		m.n++
		m.x1 += x1
		m.x2 += x2
		m.y += y
	})
	out := make([]sums, d.cells)
	each(func(c int, x1, x2, y float64) {
		m, s := &means[c], &out[c]
		n := float64(m.n)
		x1, x2, y = x1-m.x1/n, x2-m.x2/n, y-m.y/n
		s.s11 += x1 * x1
		s.s12 += x1 * x2
		s.s22 += x2 * x2
		s.s1y += x1 * y
		s.s2y += x2 * y
		s.syy += y * y
	})
	for c := range out {
		s := &out[c]
		const none = 1e-9
		if s.s11 < none && s.s22 < none {
			*s = sums{}
			continue
		}
		s.n, s.cells = means[c].n, 1
		if s.s11 >= none {
			s.switching, s.inSwitch = 1, means[c].n
		}
		if s.s22 >= none {
			s.growing, s.inGrow = 1, means[c].n
		}
	}
	return out
}

// solve returns the coefficients of ln seconds on having switched and on ln n,
// by least squares within cells, with the usual standard errors. An effect that
// shows in no cell is NaN.
func (s *sums) solve() (b1, se1, b2, se2 float64) {
	b1, se1, b2, se2 = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	det := s.s11*s.s22 - s.s12*s.s12
	switch {
	case s.switching > 0 && s.growing > 0 && det > 1e-9*s.s11*s.s22:
		b1 = (s.s22*s.s1y - s.s12*s.s2y) / det
		b2 = (s.s11*s.s2y - s.s12*s.s1y) / det
		v := s.variance(2, b1*s.s1y+b2*s.s2y)
		se1, se2 = math.Sqrt(v*s.s22/det), math.Sqrt(v*s.s11/det)
	case s.growing > 0:
		b2 = s.s2y / s.s22
		se2 = math.Sqrt(s.variance(1, b2*s.s2y) / s.s22)
	case s.switching > 0:
		b1, se1 = s.alone()
	}
	return b1, se1, b2, se2
}

// alone returns the coefficient of having switched where practice is ignored.
func (s *sums) alone() (b, se float64) {
	if s.switching == 0 {
		return math.NaN(), math.NaN()
	}
	b = s.s1y / s.s11
	return b, math.Sqrt(s.variance(1, b*s.s1y) / s.s11)
}

// variance is that of what is left; NaN without a degree of freedom.
func (s *sums) variance(coefficients int, explained float64) float64 {
	free := s.n - s.cells - coefficients
	if free < 1 {
		return math.NaN()
	}
	return max(s.syy-explained, 0) / float64(free)
}

// effects estimates switch and learning: over all kinds, of each kind, and what
// is to be written of each.
func (m *Model) effects(d *design) {
	t := d.totals(nil)
	b, se := t.switching.alone()
	m.SwitchAlone = effect(b, se, math.Exp, 1, t.switching.inSwitch, t.switching.switching)
	b1, se1, b2, se2 := t.all.solve()
	m.Switch = effect(b1, se1, math.Exp, 1, t.all.inSwitch, t.all.switching)
	m.Learning = effect(b2, se2, identity, -1, t.all.inGrow, t.all.growing)
	for k := range t.each {
		own := &t.each[k]
		c1, e1, c2, e2 := own.solve()
		m.Kinds[k].Switch = effect(c1, e1, math.Exp, 1, own.inSwitch, own.switching)
		m.Kinds[k].Learning = effect(c2, e2, identity, -1, own.inGrow, own.growing)
	}
	w1, w2 := t.shrunk()
	for k, kind := range m.Kinds {
		kind.SwitchFactor, kind.LearningExponent = math.Exp(w1[k]), -w2[k]
		if kind.SwitchFactor < 1 {
			m.note("%s: seems to be faster after another kind (×%.2f): written as no cost", kind.Name, kind.SwitchFactor)
			kind.SwitchFactor = 1
		}
		if kind.LearningExponent < 0 {
			m.note("%s: seems to become slower with practice (n^%.2f): written as no learning", kind.Name, -kind.LearningExponent)
			kind.LearningExponent = 0
		}
	}
}

// totals are sums over cells.
type totals struct {
	all       sums
	switching sums   // of the cells in which somebody switched, and not always
	each      []sums // by kind
}

// totals adds up the cells, those of each worker as often as times says; nil:
// once.
func (d *design) totals(times []int) totals {
	if d.sums == nil {
		d.sums = d.within()
	}
	t := totals{each: make([]sums, len(d.kinds))}
	for c := range d.sums {
		weight := 1
		if times != nil {
			weight = times[d.owner[c]]
		}
		for range weight {
			t.all.add(d.sums[c])
			t.each[d.about[c]].add(d.sums[c])
			if d.sums[c].switching > 0 {
				t.switching.add(d.sums[c])
			}
		}
	}
	return t
}

// shrunk returns what is written of each kind: the coefficients of having
// switched and of ln n.
func (t *totals) shrunk() (b1, b2 []float64) {
	all1, _, all2, _ := t.all.solve()
	own1, own2 := make([]guess, len(t.each)), make([]guess, len(t.each))
	for k := range t.each {
		c1, e1, c2, e2 := t.each[k].solve()
		own1[k], own2[k] = guess{c1, e1, t.each[k].n}, guess{c2, e2, t.each[k].n}
	}
	return together(own1, all1), together(own2, all2)
}

func identity(x float64) float64 { return x }

// effect makes an estimate of a coefficient and its standard error, with the
// interval ±1.96 standard errors.
func effect(b, se float64, of func(float64) float64, sign float64, n, cells int) Effect {
	return Effect{Value: of(sign * b), Lo: of(sign*b - 1.96*se), Hi: of(sign*b + 1.96*se), N: n, Cells: cells}
}

// A guess is a kind's own estimate.
type guess struct {
	b, se float64
	n     int
}

// together draws the kinds' own estimates towards each other: with the variance
// τ² between kinds (DerSimonian and Laird 1986, "Meta-analysis in clinical
// trials") a kind's weight on its own estimate is τ²/(τ²+se²). A kind with too
// few answers, or none in which the effect shows, gets that of all.
func together(own []guess, all float64) []float64 {
	if math.IsNaN(all) {
		return make([]float64, len(own))
	}
	usable := func(g guess) bool { return g.n >= Few && g.se > 0 && !math.IsNaN(g.b) }
	var w, ww, wb, n float64
	for _, g := range own {
		if usable(g) {
			v := 1 / (g.se * g.se)
			n++
			w += v
			ww += v * v
			wb += v * g.b
		}
	}
	centre, tau2 := all, 0.0
	if n > 1 {
		centre = wb / w
		q := 0.0
		for _, g := range own {
			if usable(g) {
				q += (g.b - centre) * (g.b - centre) / (g.se * g.se)
			}
		}
		tau2 = max(0, (q-(n-1))/(w-ww/w))
	}
	out := make([]float64, len(own))
	for i, g := range own {
		out[i] = centre
		switch {
		case usable(g) && n == 1:
			out[i] = g.b
		case usable(g):
			own := tau2 / (tau2 + g.se*g.se)
			out[i] = own*g.b + (1-own)*centre
		}
	}
	return out
}

// median of figures, NaN of none.
func median(v []float64) float64 { return stats.Quantile(v, 0.5) }
