package sched

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// dafsCode hands out as the program's DAFS. For a shuffled list of the candidates
// it computes, for each i,
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
// That is O(B²). Here it is O(log B), by kinds of candidates. S stands for the sum
// before, d for the step of i.
//
//	d = -∞   (log, nothing completed; "fresh") S_i = -∞, and the quotient of i
//	         itself is NaN. First in the list, i is chosen. Else f_i = -∞ if
//	         another weight is negative, +∞ if none is.
//	S_i = 0  f_i = 0, or NaN if the first of the list has the weight 0 now.
//	S_i > 0  f_i = -∞ if a weight is 0 then, which only raising the one zero can
//	         prevent; else -S_i/m, with m the least positive weight then.
//	S_i < 0  f_i = -S_i/m, with m the negative weight nearest to 0 then.
//
// Raising i leaves m as it is, but for three kinds: the one with the negative
// weight nearest to 0, the one with the least positive weight, and those that turn
// from 0 to negative ("turning": log, a deadline, none running, some completed).
// For all others the greatest f is that of the S_i nearest to 0, so of the d next
// to -S on either side; the turning are in order of d too, once it is known on
// which side of m it lies. So the greatest f is found among a handful of runs of
// equal steps. They are compared without rounding; f itself is the same for a run.
//
// Chance. f depends on the shuffle by its first element only, and given that, the
// rest is shuffled evenly: so the first is drawn from all candidates, and taken if
// it is among the best; else one of the best is drawn. Where no f is finite, as
// with two idle batches and none started under deadline, that is any candidate.
//
// Rounding is the one difference. The program adds up S_i anew for each i, in
// floating point, which may tell equals apart by a last bit; here S_i is S + d, not
// rounded, and so is the quotient, and equal steps are equal.
//
// Refused its choice, the policy goes on by least w, then id; the program has no
// such case.
type dafsCode struct {
	coded
	sum       signedSum // S
	negatives int       // how many weights are below 0
	zeros     int       // how many are 0
	steps     ranks     // the candidates by step, then id, in a tree for each kind
	kinds     [kinds]tree
}

// A kind is what tells candidates apart in dafsCode.
type kind uint32

const (
	plainKind kind = iota // raising it leaves m as it is, but for the two at the ends
	turning               // from 0 to a negative weight
	fresh                 // the step is -∞
	kinds
)

func (w codeWeight) kind() kind {
	switch {
	case math.IsInf(w.step, -1):
		return fresh
	case w.w == 0 && w.step < 0:
		return turning
	}
	return plainKind
}

func (p *dafsCode) Set(b *Batch) {
	if !b.Open() {
		p.Remove(b.ID)
		return
	}
	p.follow(p.update(b))
}

func (p *dafsCode) Remove(id crowd.BatchID) {
	if c, known := p.forget(id); known {
		p.follow(c)
	}
}

// follow brings what is known of all candidates up to date.
func (p *dafsCode) follow(c weightChange) {
	if c.was && c.is && c.old == c.now || !c.was && !c.is {
		return
	}
	if c.was {
		p.sum.add(-c.old.w)
		p.tally(c.old.w, -1)
	}
	if c.is {
		p.sum.add(c.now.w)
		p.tally(c.now.w, 1)
	}
	if c.was && c.is && c.old.step == c.now.step && c.old.kind() == c.now.kind() {
		return
	}
	if c.was {
		p.steps.remove(&p.kinds[c.old.kind()], c.slot)
	}
	if c.is {
		p.steps.insert(&p.kinds[c.now.kind()], c.slot, fromSigned(c.now.step), int64(c.id))
	}
}

func (p *dafsCode) tally(w float64, n int) {
	switch {
	case w < 0:
		p.negatives += n
	case w == 0:
		p.zeros += n
	}
}

func (p *dafsCode) Next(_ time.Time, w Worker) crowd.BatchID {
	n := p.order.size(p.byW)
	if n == 0 {
		return 0
	}
	choice, _ := p.choose()
	if id, yes := p.ask(choice, w); yes {
		return id
	}
	for place := range n {
		if slot := p.order.at(p.byW, place); slot != choice {
			if id, yes := p.ask(slot, w); yes {
				return id
			}
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

// choose returns the slot of the program's choice and why; there is a candidate.
func (p *dafsCode) choose() (slot uint32, why string) {
	head := p.order.at(p.byW, p.draw(1, p.order.size(p.byW)))
	h := p.got[head]
	if h.kind() == fresh {
		return head, becauseFirst
	}
	s := p.sum.value()
	zero := p.vanishing(&s)
	if zero.n > 0 {
		place, in := zero.find(p, head)
		switch {
		case in && h.w+h.step == 0:
			return head, becauseFirst
		case h.w == 0 && in && zero.n > 1:
			k := p.draw(2, zero.n-1)
			if k >= place {
				k++
			}
			return zero.at(p, k), becauseNaN
		case h.w == 0 && !in:
			return zero.at(p, p.draw(2, zero.n)), becauseNaN
		}
	}
	best := p.infinite()
	if best.n == 0 {
		best = zero
	}
	if best.n == 0 {
		best = p.finite(&s)
	}
	if best.n == 0 {
		return head, becauseAll
	}
	if _, in := best.find(p, head); in {
		return head, becauseGreatest
	}
	return best.at(p, p.draw(2, best.n)), becauseGreatest
}

// A run is places of the order of a kind: from ≤ place < to.
type run struct {
	kind     kind
	from, to int
}

// runs is a set of candidates.
type runs struct {
	list [6]run
	used int
	n    int // candidates
}

func (s *runs) add(r run) {
	if r.from < r.to {
		s.list[s.used] = r
		s.used++
		s.n += r.to - r.from
	}
}

// at returns the k-th candidate of the set.
func (s *runs) at(p *dafsCode, k int) uint32 {
	i := 0
	for ; k >= s.list[i].to-s.list[i].from; i++ {
		k -= s.list[i].to - s.list[i].from
	}
	return p.steps.at(p.kinds[s.list[i].kind], s.list[i].from+k)
}

// find returns which candidate of the set the slot is.
func (s *runs) find(p *dafsCode, slot uint32) (k int, in bool) {
	kind := p.got[slot].kind()
	place := p.steps.place(p.kinds[kind], slot)
	for _, r := range s.list[:s.used] {
		if r.kind == kind && r.from <= place && place < r.to {
			return k + place - r.from, true
		}
		k += r.to - r.from
	}
	return 0, false
}

// A sumValue is S as it is compared with steps: of the steps of a kind, those
// below less make S + d < 0, those from more on make it > 0, and those between 0.
type sumValue struct {
	sign       int
	negated    float64 // -S, rounded
	beyond     int     // the sign of what rounding took away from it
	less, more [kinds]int
}

// cut finds the places of a kind at which S + d changes its sign.
func (p *dafsCode) cut(s *sumValue, k kind) {
	key := fromSigned(s.negated)
	s.less[k], s.more[k] = p.steps.below(p.kinds[k], key), p.steps.upTo(p.kinds[k], key)
	switch s.beyond {
	case 1:
		s.less[k] = s.more[k]
	case -1:
		s.more[k] = s.less[k]
	}
}

// vanishing returns the candidates with S + d = 0, and fills in s.
func (p *dafsCode) vanishing(s *sumValue) (out runs) {
	for _, k := range []kind{plainKind, turning} {
		p.cut(s, k)
		out.add(run{k, s.less[k], s.more[k]})
	}
	return out
}

// infinite returns the candidates with f = +∞ where none of them is first in the
// list: those fresh without another negative weight.
func (p *dafsCode) infinite() (out runs) {
	switch p.negatives {
	case 0:
		out.add(run{fresh, 0, p.steps.size(p.kinds[fresh])})
	case 1:
		if lone := p.order.at(p.byW, 0); p.got[lone].kind() == fresh {
			out.add(p.runOf(lone))
		}
	}
	return out
}

// runOf returns the slot as a run.
func (p *dafsCode) runOf(slot uint32) run {
	k := p.got[slot].kind()
	place := p.steps.place(p.kinds[k], slot)
	return run{k, place, place + 1}
}

// An option is a run whose f may be the greatest: f = -S_i/m, S_i = S + d.
type option struct {
	run
	s signedSum // S_i
	m magnitude
}

// A magnitude is |m| = near + rest, near being it rounded: m may be a weight and a
// step, whose sum is no float64.
type magnitude struct{ near, rest float64 }

// sumOf returns |a + b| without rounding.
func sumOf(a, b float64) magnitude {
	near := a + b
	part := near - a
	rest := (a - (near - part)) + (b - part) // what rounding took away
	if near < 0 {
		return magnitude{-near, -rest}
	}
	return magnitude{near, rest}
}

func (m magnitude) less(o magnitude) bool {
	return m.near < o.near || m.near == o.near && m.rest < o.rest
}

func lesser(m, o magnitude) magnitude {
	if o.less(m) {
		return o
	}
	return m
}

// finite returns the candidates with the greatest finite f, where no S_i is 0.
func (p *dafsCode) finite(s *sumValue) runs {
	f := frontier{dafsCode: p, sum: s}
	f.below()
	f.turningOnes()
	switch p.zeros {
	case 0:
		f.above()
	case 1:
		f.loneZero()
	}
	return f.best
}

// A frontier keeps the best options so far.
type frontier struct {
	*dafsCode
	sum    *sumValue
	option // one of the best
	best   runs
}

// offer considers an option: the run r with the step d.
func (f *frontier) offer(r run, d float64, m magnitude) {
	o := option{run: r, s: f.dafsCode.sum, m: m}
	o.s.add(d)
	switch c := o.compare(&f.option, f.best.n == 0); {
	case c > 0:
		f.option, f.best = o, runs{}
		f.best.add(r)
	case c == 0 && !f.holds(r):
		f.best.add(r)
	}
}

// holds says whether the best include the run, as they may if it is of one.
func (f *frontier) holds(r run) bool {
	for _, b := range f.best.list[:f.best.used] {
		if b.kind == r.kind && b.from <= r.from && r.to <= b.to {
			return true
		}
	}
	return false
}

// runAt returns the run of equal steps around a place, and the step.
func (f *frontier) runAt(k kind, place int) (run, float64) {
	slot := f.steps.at(f.kinds[k], place)
	key := f.steps.key(slot)
	return run{k, f.steps.below(f.kinds[k], key), f.steps.upTo(f.kinds[k], key)}, f.got[slot].step
}

// w returns the weight at a place of the order by w, +∞ where there is none.
func (p *dafsCode) w(place int) float64 {
	if place < 0 || place >= p.order.size(p.byW) {
		return math.Inf(1)
	}
	return p.got[p.order.at(p.byW, place)].w
}

// nearest is |m| for S_i < 0 while no weight changes.
func (p *dafsCode) nearest() magnitude {
	return magnitude{near: math.Abs(p.w(p.negatives - 1))}
}

// below offers the candidates of the plain kind with S_i < 0: the greatest step
// among them; and the one with the weight nearest to 0, whose own m is greater.
func (f *frontier) below() {
	less := f.sum.less[plainKind]
	if less == 0 {
		return
	}
	r, d := f.runAt(plainKind, less-1)
	f.offer(r, d, f.nearest())
	f.end(f.negatives-1, f.negatives-2, func(place int) bool { return place < less })
}

// above offers the candidates of the plain kind with S_i > 0 where no weight is 0:
// the least step among them, and the one with the least positive weight.
func (f *frontier) above() {
	more := f.sum.more[plainKind]
	if more == f.steps.size(f.kinds[plainKind]) {
		return
	}
	r, d := f.runAt(plainKind, more)
	f.offer(r, d, magnitude{near: f.w(f.negatives)})
	f.end(f.negatives, f.negatives+1, func(place int) bool { return place >= more })
}

// end offers the candidate at a place of the order by w whose weight is m: the new
// m is its weight then, or the weight at the place next, whichever is nearer to 0.
func (f *frontier) end(place, next int, within func(place int) bool) {
	slot := f.order.at(f.byW, place)
	w := f.got[slot]
	if w.kind() != plainKind {
		return
	}
	if r := f.runOf(slot); within(r.from) {
		f.offer(r, w.step, lesser(sumOf(w.w, w.step), magnitude{near: math.Abs(f.w(next))}))
	}
}

// loneZero offers the only candidate with the weight 0 where raising it makes all
// weights other than 0 and S_i > 0.
func (f *frontier) loneZero() {
	slot := f.order.at(f.byW, f.negatives)
	d := f.got[slot].step
	r := f.runOf(slot)
	if r.kind == fresh || d == 0 || r.from < f.sum.more[r.kind] {
		return
	}
	m := magnitude{near: f.w(f.negatives + 1)}
	if d > 0 {
		m = lesser(m, magnitude{near: d})
	}
	f.offer(r, d, m)
}

// turningOnes offers the best of the turning with S_i < 0. With t = |d| and a the
// |m| of before, -f = (t - S)/min(a, t). That falls with t up to a and then grows,
// if S < 0; it grows all the way, if S > 0, from t = S; and if S = 0, it is 1 up to
// a and then grows.
func (f *frontier) turningOnes() {
	root := f.kinds[turning]
	a := f.nearest()
	offerAt := func(place int) {
		if place >= 0 && place < f.steps.size(root) {
			r, d := f.runAt(turning, place)
			f.offer(r, d, lesser(a, magnitude{near: -d}))
		}
	}
	edge := fromSigned(-a.near)
	switch f.sum.sign {
	case -1:
		offerAt(f.steps.upTo(root, edge) - 1) // the least t ≥ a
		offerAt(f.steps.upTo(root, edge))     // the greatest t < a
	case 1:
		offerAt(f.sum.less[turning] - 1)
	case 0:
		from, to := f.steps.below(root, edge), f.steps.size(root)
		if from == to {
			offerAt(from - 1)
			return
		}
		d := f.got[f.steps.at(root, from)].step
		f.offer(run{turning, from, to}, d, magnitude{near: -d})
	}
}

// compare returns the sign of o's f less that of the best so far, 1 if there is
// none.
func (o *option) compare(best *option, none bool) int {
	if none {
		return 1
	}
	oSign, oSum := o.s.magnitude()
	bSign, bSum := best.s.magnitude()
	if oSign == bSign && oSum == bSum && o.m == best.m {
		return 0
	}
	ours, theirs := oSum.float()*best.m.near, bSum.float()*o.m.near // |S_i|/m, times both m
	switch diff := theirs - ours; {
	case diff > doubt*theirs:
		return 1
	case diff < -doubt*ours:
		return -1
	}
	exactly := func(s *exact, m magnitude) *big.Float {
		number := func(f float64) *big.Float { return new(big.Float).SetPrec(exactPrecision).SetFloat64(f) }
		m2 := new(big.Float).SetPrec(exactPrecision).Add(number(m.near), number(m.rest))
		return m2.Mul(m2, s.big())
	}
	return exactly(&bSum, o.m).Cmp(exactly(&oSum, best.m))
}

// A signedSum is an exact sum of numbers of either sign, in two's complement: the
// arithmetic of exact goes round at both ends.
type signedSum struct{ exact }

func (s *signedSum) add(f float64) {
	if f < 0 {
		s.exact.sub(-f)
		return
	}
	s.exact.add(f)
}

// magnitude returns the sign and the absolute value.
func (s *signedSum) magnitude() (int, exact) {
	m := s.exact
	switch {
	case m == exact{}:
		return 0, m
	case m[len(m)-1]>>63 == 0:
		return 1, m
	}
	carry := uint64(1)
	for i := range m {
		m[i], carry = bits.Add64(^m[i], 0, carry)
	}
	return -1, m
}

// value returns the sum, with the cuts to be filled in.
func (s *signedSum) value() sumValue {
	sign, m := s.magnitude()
	near := m.float()
	var of exact
	of.add(near)
	beyond := 0
	for i := len(m) - 1; i >= 0 && beyond == 0; i-- {
		beyond = cmp.Compare(m[i], of[i])
	}
	return sumValue{sign: sign, negated: 0 - float64(sign)*near, beyond: -sign * beyond}
}

// float returns the sum rounded.
func (s *signedSum) float() float64 {
	sign, m := s.magnitude()
	return float64(sign) * m.float()
}

func (p *dafsCode) Key(id crowd.BatchID) (Key, bool) {
	slot, r, known := p.book.find(id)
	if !known {
		return Key{}, false
	}
	k := newKey(p.name, r)
	w := p.got[slot].w
	k.Figures = append(p.figures(slot, r),
		Figure{"S", Number(p.sum.float()), "sum of w over the candidates"})
	k.Rank = []Number{1, Number(w), Number(id)}
	k.Words = fmt.Sprintf("after the one chosen, by least w = %g, then id", w)
	if !r.assignable {
		return k, true
	}
	f := p.fairness(slot)
	k.Figures = append(k.Figures, Figure{"f", Number(f), "-max(S/w) after handing out from this batch, if it is not first in the list"})
	if choice, why := p.choose(); choice == slot {
		k.Words = "chosen as in the authors' program: " + why
		k.Rank[0] = 0
	}
	return k, true
}

// fairness returns f of a candidate, rounded, where neither it nor one with the
// weight 0 is first in the list.
func (p *dafsCode) fairness(slot uint32) float64 {
	w := p.got[slot]
	before := func(yes bool) int {
		if yes {
			return 1
		}
		return 0
	}
	if w.kind() == fresh {
		if p.negatives > before(w.w < 0) {
			return math.Inf(-1)
		}
		return math.Inf(1)
	}
	then := w.w + w.step
	sum := p.sum
	sum.add(w.step)
	s := sum.float()
	// The weight at a place, or the next one if that is the slot's own.
	other := func(place, next int) float64 {
		if place >= 0 && place < p.order.size(p.byW) && p.order.at(p.byW, place) == slot {
			place = next
		}
		return p.w(place)
	}
	switch {
	case s == 0:
		return 0
	case s < 0:
		m := math.Abs(other(p.negatives-1, p.negatives-2))
		if then < 0 {
			m = min(m, -then)
		}
		return s / m
	case p.zeros > before(w.w == 0 && then != 0):
		return math.Inf(-1)
	}
	m := other(p.negatives+p.zeros, p.negatives+p.zeros+1)
	if then > 0 {
		m = min(m, then)
	}
	return -s / m
}

var _ Policy = (*dafsCode)(nil)
