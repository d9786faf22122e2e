package authors

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// A dafs hands out as the program's DAFS. For a shuffled list of the candidates it
// computes, for each i,
//
//	f_i = -max_b S_i/x_b,   x: the weights, but of i weight and step;  S_i = Σ x_b
//
// and takes the numpy.argmax of f. Nothing is guarded, so what happens at zeros,
// infinities and numbers that are none (NaN) is as much a part of the rule as the
// formula:
//
//   - S/0 is +∞ for S > 0, -∞ for S < 0, NaN for S = 0; -∞/-∞ is NaN too;
//   - Python's max keeps its first element unless a later one is greater, so a NaN
//     decides it in the first place of the list, and is passed over elsewhere;
//   - numpy.argmax takes the first NaN if there is one, else the first maximum.
//
// That is O(B²). Here a decision is O(B), by kinds of candidates. S stands for the
// sum before, d for the step of i.
//
//	d = -∞   (log, nothing completed; "fresh") S_i = -∞, and the quotient of i
//	         itself is NaN. First in the list, i is chosen. Else f_i = -∞ if
//	         another weight is negative, +∞ if none is.
//	S_i = 0  f_i = 0, or NaN if the first of the list has the weight 0 now.
//	S_i > 0  f_i = -∞ if a weight is 0 then, which only raising the one zero can
//	         prevent; else -S_i/m, with m the least positive weight then.
//	S_i < 0  f_i = -S_i/m, with m the negative weight nearest to 0 then.
//
// Sums and quotients are compared without rounding.
//
// Chance. f depends on the shuffle by its first element only, and given that, the
// rest is shuffled evenly: so the first is drawn from all candidates, and taken if
// it is among the best; else one of the best is drawn. Where no f is finite, as
// with two idle batches and none started under deadline, that is any candidate.
//
// Rounding is the one difference. The program adds up S_i again for each i, in
// floating point, which may tell equals apart by a last bit; here equal steps are
// equal.
//
// Refused its choice, the policy goes on by least w, then id; the program has no
// such case.
type dafs struct {
	weighted
	sum       *big.Float // S
	negatives int        // how many weights are below 0
	zeros     int        // how many are 0
	shortlist []*batch   // the memory of best, kept from decision to decision
}

func newDAFS(w weighted) sched.Policy { return &dafs{weighted: w, sum: newExact()} }

func (p *dafs) Set(in *sched.Batch) {
	p.count(p.open[in.ID], -1)
	p.count(p.update(in), 1)
}

func (p *dafs) Remove(id crowd.BatchID) {
	p.count(p.open[id], -1)
	p.weighted.Remove(id)
}

// count adds a candidate to S and to the counts of weights (n is 1), or takes it
// out (-1).
func (p *dafs) count(b *batch, n int) {
	if b == nil || !b.candidate {
		return
	}
	switch w := b.weight.w; {
	case w < 0:
		p.negatives += n
	case w == 0:
		p.zeros += n
		return
	}
	p.sum.Add(p.sum, exactly(float64(n)*b.weight.w))
}

func (p *dafs) Next(_ time.Time, w sched.Worker) crowd.BatchID {
	if len(p.order) == 0 {
		return 0
	}
	choice, _ := p.choose()
	if choice.suits(w) {
		return choice.id
	}
	for _, c := range p.order {
		if c.batch != choice && c.suits(w) {
			return c.id
		}
	}
	return 0
}

// The reasons of a choice, for Key.
const (
	becauseFirst    = "it was drawn to be first in the list, and there its f is not a number, which goes before all"
	becauseNaN      = "its f is not a number, which goes before all"
	becauseGreatest = "its f is the greatest"
	becauseAll      = "no f is finite, so any candidate may be drawn"
)

// choose returns the program's choice and why; there is a candidate.
func (p *dafs) choose() (choice *batch, why string) {
	head := p.order[p.draw(1, len(p.order))].batch
	h := head.weight
	if h.fresh() {
		return head, becauseFirst
	}
	best, vanishing := p.best()
	place := slices.Index(best, head)
	if vanishing {
		switch {
		case place >= 0 && h.w+h.step == 0:
			return head, becauseFirst
		case h.w == 0 && place >= 0 && len(best) > 1:
			others := slices.Delete(best, place, place+1)
			return others[p.draw(2, len(others))], becauseNaN
		case h.w == 0 && place < 0:
			return best[p.draw(2, len(best))], becauseNaN
		}
	}
	if infinite := p.infinite(); len(infinite) > 0 {
		best, place = infinite, -1 // head is not fresh
	}
	switch {
	case len(best) == 0:
		return head, becauseAll
	case place >= 0:
		return head, becauseGreatest
	}
	return best[p.draw(2, len(best))], becauseGreatest
}

// fresh reports whether the step is -∞.
func (w weight) fresh() bool { return math.IsInf(w.step, -1) }

// turns reports whether one more assignment turns the weight from 0 to negative.
func (w weight) turns() bool { return w.w == 0 && w.step < 0 }

// infinite returns the candidates with f = +∞ where none of them is first in the
// list, by id: those fresh without another negative weight.
func (p *dafs) infinite() []*batch {
	out := p.shortlist[:0]
	switch p.negatives {
	case 0:
		for _, c := range p.order {
			if c.weight.fresh() {
				out = append(out, c.batch)
			}
		}
		slices.SortFunc(out, func(a, b *batch) int { return cmp.Compare(a.id, b.id) })
	case 1:
		if only := p.order[0].batch; only.weight.fresh() {
			out = append(out, only)
		}
	}
	p.shortlist = out
	return out
}

// A quotient is f of a candidate, which is -sum/m without signs.
type quotient struct {
	weight
	sum float64 // |S_i|, rounded
	m   magnitude
}

// best returns the candidates that are not fresh with S_i = 0 if there are any
// (vanishing), else those with the greatest finite f. They are in the order of
// kind, step and id, from which the draws count.
func (p *dafs) best() (best []*batch, vanishing bool) {
	best = p.shortlist[:0]
	v := p.view()
	var most quotient
	for _, c := range p.order {
		b := c.batch
		if b.weight.fresh() {
			continue
		}
		sign, sum := v.raised(b.weight.step)
		if sign == 0 {
			if !vanishing {
				best, vanishing = best[:0], true
			}
			best = append(best, b)
			continue
		}
		m, finite := v.nearest(b, sign)
		if vanishing || !finite {
			continue
		}
		q := quotient{b.weight, sum, m}
		order := -1
		if len(best) > 0 {
			order = v.compare(&q, &most)
		}
		if order < 0 {
			best, most = best[:0], q
		}
		if order <= 0 {
			best = append(best, b)
		}
	}
	slices.SortFunc(best, func(a, b *batch) int {
		if a.weight.turns() != b.weight.turns() {
			if b.weight.turns() {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.weight.step, b.weight.step), cmp.Compare(a.id, b.id))
	})
	p.shortlist = best
	return best, vanishing
}

// A view is S and the weights next to 0, as they stand for one decision.
type view struct {
	total     *big.Float
	high, low float64 // S is their sum, but for 2^-106 of it
	zeros     int
	negative  [2]candidate // the negative weights nearest to 0
	positive  [2]candidate // the least positive weights
}

type candidate struct {
	*batch         // nil where there is none
	w      float64 // +∞ where there is none
}

func (p *dafs) view() *view {
	at := func(place int) candidate {
		if place < 0 || place >= len(p.order) {
			return candidate{nil, math.Inf(1)}
		}
		b := p.order[place].batch
		return candidate{b, math.Abs(b.weight.w)}
	}
	first := p.negatives + p.zeros
	v := &view{
		total: p.sum, zeros: p.zeros,
		negative: [2]candidate{at(p.negatives - 1), at(p.negatives - 2)},
		positive: [2]candidate{at(first), at(first + 1)},
	}
	v.high, _ = p.sum.Float64()
	v.low, _ = newExact().Sub(p.sum, exactly(v.high)).Float64()
	return v
}

// raised returns the sign of S + d, and its absolute value, rounded.
func (v *view) raised(d float64) (sign int, sum float64) {
	near := magnitudeOf(v.high, d)
	sum = near.near + near.rest + v.low*near.sign
	if sum < 0x1p-40*math.Abs(v.high) { // too much of it has cancelled out
		exact := newExact().Add(v.total, exactly(d))
		sum, _ = exact.Float64()
		return exact.Sign(), math.Abs(sum)
	}
	return int(near.sign), sum
}

// nearest returns |m| of a candidate, and false if its f is -∞.
func (v *view) nearest(b *batch, sign int) (m magnitude, finite bool) {
	w, list := b.weight, &v.negative
	if sign > 0 {
		list = &v.positive
		if left := v.zeros; w.w == 0 && w.step != 0 && left == 1 {
			// The one zero is raised.
		} else if left > 0 {
			return m, false
		}
	}
	other := list[0]
	if other.batch == b {
		other = list[1]
	}
	m = magnitude{near: other.w}
	if own := magnitudeOf(w.w, w.step); own.sign == float64(sign) && own.less(m) {
		m = own
	}
	return m, true
}

// A magnitude is |a + b| = near + rest of two numbers, near being it rounded: the
// sum of two float64 is none.
type magnitude struct{ near, rest, sign float64 }

// magnitudeOf returns |a + b| without rounding.
func magnitudeOf(a, b float64) magnitude {
	near := a + b
	part := near - a
	rest := (a - (near - part)) + (b - part) // what rounding took away
	switch {
	case near < 0:
		return magnitude{-near, -rest, -1}
	case near > 0:
		return magnitude{near, rest, 1}
	}
	return magnitude{}
}

func (m magnitude) less(o magnitude) bool {
	return m.near < o.near || m.near == o.near && m.rest < o.rest
}

// tolerance is the relative difference below which two products of rounded figures
// are compared without rounding.
const tolerance = 0x1p-48

// compare returns the sign of |f| of q less that of o.
func (v *view) compare(q, o *quotient) int {
	if q.step == o.step && q.m.near == o.m.near && q.m.rest == o.m.rest {
		return 0
	}
	ours, theirs := q.sum*o.m.near, o.sum*q.m.near // |S_i|/m, times both m
	if math.Abs(ours-theirs) > tolerance*max(ours, theirs) {
		return cmp.Compare(ours, theirs)
	}
	exact := func(step float64, m magnitude) *big.Float {
		sum := newExact().Add(v.total, exactly(step))
		return sum.Mul(sum.Abs(sum), newExact().Add(exactly(m.near), exactly(m.rest)))
	}
	return exact(q.step, o.m).Cmp(exact(o.step, q.m))
}

func (p *dafs) Key(id crowd.BatchID) (sched.Key, bool) {
	b := p.open[id]
	if b == nil {
		return sched.Key{}, false
	}
	k := p.key(b)
	sum, _ := p.sum.Float64()
	k.Figures = append(k.Figures, sched.Figure{Name: "S", Value: sched.Number(sum), Note: "sum of w over the candidates"})
	k.Rank = []sched.Number{1, sched.Number(b.weight.w), sched.Number(id)}
	k.Words = fmt.Sprintf("after the one chosen, by least w = %g, then id", b.weight.w)
	if !b.candidate {
		return k, true
	}
	k.Figures = append(k.Figures, sched.Figure{Name: "f", Value: sched.Number(p.fairness(b)), Note: "-max(S/w) after handing out from this batch, if it is not first in the list"})
	if choice, why := p.choose(); choice == b {
		k.Words = "chosen as in the authors' program: " + why
		k.Rank[0] = 0
	}
	return k, true
}

// fairness returns f of a candidate, rounded, where neither it nor one with the
// weight 0 is first in the list.
func (p *dafs) fairness(b *batch) float64 {
	w := b.weight
	if w.fresh() {
		if p.negatives > 1 || p.negatives == 1 && w.w >= 0 {
			return math.Inf(-1)
		}
		return math.Inf(1)
	}
	v := p.view()
	sign, sum := v.raised(w.step)
	if sign == 0 {
		return 0
	}
	m, finite := v.nearest(b, sign)
	if !finite {
		return math.Inf(-1)
	}
	return -sum / m.near
}
