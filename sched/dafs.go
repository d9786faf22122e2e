package sched

import (
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// maxmin hands out so that J∞ of the workforce vector after the assignment is
// greatest: DAFS with the workforce dafs (§3.3), the β-fair family's β → ∞ with
// the others.
//
//	J∞(x) = -max_b (Σ_c x_c)/x_b = -S/m,   S = Σ x_c,  m = min x_b   (eq. 2)
//
// x ranges over all open batches, assignable or not. Handing out from i raises
// x_i to x_i+δ_i and gives J∞ = -(S+δ_i)/m_i, where m_i is the new minimum.
// That is the old minimum x_a for every i but the argmin a itself, for which
// m_a = min(x_a+δ_a, the second least x). So, by J∞, all batches but a are in
// the order of δ, least first, and a has its own place somewhere in it: the
// order is a walk along an index by δ with one batch merged in, and its first is
// the argmin of δ or of x. O(log B) an event; a decision costs what a walk does.
// The paper's own way is O(B²).
//
// Exactness. S is summed without rounding, x and δ are functions of the batch's
// figures, and the comparison of (S+δ_a)/m_a with (S+δ_i)/x_a is decided in
// exact arithmetic whenever floating point cannot decide.
//
// Zero components. While x_b = 0 for some b after the assignment, J∞ = -∞
// whatever is chosen. Then batches with x_b = 0 go first, by δ, then the others,
// by δ. With one zero component, raising it is the only choice with a finite J∞,
// which is the same rule. If no batch with x_b = 0 can be handed out, the others
// go by δ. Equal J∞ (and so equal δ): turn, then id.
//
// What follows from that: with fewer workers than batches some component is always
// zero, and the batches with the least steps, the big and the important ones, take
// turns among themselves; those with great steps wait until these are done.
type maxmin struct {
	name string
	x    workforce
	book book
	comp []component // by slot
	sum  exact       // S
	all  index       // every open batch by x, in one class
	can  index       // the candidates: those with x = 0 first, then by δ
}

// A component is x_b and δ_b of an open batch.
type component struct{ x, delta float64 }

// started marks, in the candidates' keys, a batch with x > 0: the sign bit, which
// is free because δ ≥ 0.
const started = 1 << 63

func (p *maxmin) Name() string { return p.name }

func (p *maxmin) Set(b *Batch) {
	if !b.Open() {
		p.Remove(b.ID)
		return
	}
	slot, r, known := p.book.set(b)
	if int(slot) == len(p.comp) {
		p.comp = append(p.comp, component{})
	}
	c := &p.comp[slot]
	old := c.x
	c.x, c.delta = p.x.at(slot, r)
	if !known {
		p.sum.add(c.x)
	} else if old != c.x {
		p.sum.sub(old)
		p.sum.add(c.x)
	}
	p.all.set(cell{}, entry{Key: fromFloat(c.x), ID: int64(r.id), Slot: slot})
	if !r.assignable {
		p.can.drop(slot)
		return
	}
	key := fromFloat(c.delta)
	if c.x > 0 {
		key |= started
	}
	p.can.set(cell{class: r.class}, r.entry(key, slot))
}

func (p *maxmin) Remove(id crowd.BatchID) {
	if slot, known := p.book.remove(id); known {
		p.sum.sub(p.comp[slot].x)
		p.all.drop(slot)
		p.can.drop(slot)
	}
}

func (p *maxmin) Next(_ time.Time, w Worker) crowd.BatchID {
	a, merge := p.loneLeast()
	walk := p.can.walk(w)
	if merge && !(p.can.has(a.slot) && w.MayClass(p.book.records[a.slot].class)) {
		merge = false
	}
	for e, ok := walk.next(); ok; e, ok = walk.next() {
		if merge && (e.Slot == a.slot || p.leastFirst(&a, &e)) {
			merge = false
			if id := p.book.records[a.slot].id; w.MayBatch(id) {
				return id
			}
			a.tried = true
		}
		if a.tried && e.Slot == a.slot {
			continue
		}
		if id := crowd.BatchID(e.ID); w.MayBatch(id) {
			return id
		}
	}
	return 0
}

// A lone is the one batch with the least x, where that is not 0.
type lone struct {
	slot   uint32
	second float64 // the least x of the others, +Inf if there are none
	tried  bool
}

// loneLeast returns the argmin of x and true if it is alone and x > 0. If it is
// not alone, raising it leaves the minimum where it is, as with any other batch;
// if x = 0, the rule for zero components puts it in its place.
func (p *maxmin) loneLeast() (lone, bool) {
	if len(p.all.live) == 0 {
		return lone{}, false
	}
	entries := p.all.shards[p.all.live[0]].entries
	least := entries[0].Key
	if least == 0 {
		return lone{}, false
	}
	second := fromFloat(math.Inf(1))
	for _, e := range entries.Children(0) {
		second = min(second, e.Key)
	}
	return lone{slot: entries[0].Slot, second: math.Float64frombits(second)}, second > least
}

// leastFirst reports whether handing out from the lone least batch a goes before
// handing out from e: by J∞, then turn, then id.
func (p *maxmin) leastFirst(a *lone, e *entry) bool {
	c, i := p.comp[a.slot], p.comp[e.Slot]
	switch p.compareJ(c, a.second, i.delta) {
	case 1:
		return true
	case -1:
		return false
	}
	r := &p.book.records[a.slot]
	return r.turn < e.Turn || r.turn == e.Turn && int64(r.id) < e.ID
}

// tolerance is the relative difference below which two products of three rounded
// factors may be in the wrong order: each carries at most four roundings of
// 2^-53.
const tolerance = 0x1p-49

// compareJ returns the sign of J∞ after raising the lone least component c less
// J∞ after raising another one by delta: of (S+delta)/x_a - (S+δ_a)/m_a.
func (p *maxmin) compareJ(c component, second, delta float64) int {
	s := p.sum.float()
	m := min(c.x+c.delta, second)
	other, self := (s+delta)*m, (s+c.delta)*c.x
	switch diff := other - self; {
	case diff > tolerance*other:
		return 1
	case diff < -tolerance*self:
		return -1
	}
	return p.compareExactly(c, second, delta)
}

func (p *maxmin) compareExactly(c component, second, delta float64) int {
	number := func(f float64) *big.Float { return new(big.Float).SetPrec(exactPrecision).SetFloat64(f) }
	sum := func(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(exactPrecision).Add(a, b) }
	times := func(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(exactPrecision).Mul(a, b) }
	s, x, d := p.sum.big(), number(c.x), number(c.delta)
	m := sum(x, d)
	if limit := number(second); limit.Cmp(m) < 0 {
		m = limit
	}
	return times(sum(s, number(delta)), m).Cmp(times(sum(s, d), x))
}

func (p *maxmin) Key(id crowd.BatchID) (Key, bool) {
	slot, r, known := p.book.find(id)
	if !known {
		return Key{}, false
	}
	k := newKey(p.name, r)
	c, s := p.comp[slot], p.sum.float()
	minimum := p.minimumAfter(slot)
	j := -(s + c.delta) / minimum
	if minimum == 0 {
		j = math.Inf(-1)
	}
	k.Figures = append(workforceFigures(r, c.x, c.delta),
		Figure{"S", Number(s), "sum of x over the open batches"},
		Figure{"m", Number(minimum), "least x after handing out from this batch"},
		Figure{"J", Number(j), "J∞ after handing out from this batch: -(S+delta)/m"})
	if math.Float64frombits(p.all.shards[p.all.live[0]].entries[0].Key) > 0 { // the least x; there is an open batch
		k.Words = fmt.Sprintf("greatest J∞ first: %g", j)
		k.Rank = []Number{Number(-j)}
		return k, true
	}
	k.Words = "a batch has no workforce (x = 0), so J∞ is -∞ or depends on raising it: those with x = 0 first, then least delta"
	k.Rank = []Number{1, Number(c.delta)}
	if c.x == 0 {
		k.Rank[0] = 0
	}
	return k, true
}

// minimumAfter returns the least x after one more assignment of the slot's batch.
func (p *maxmin) minimumAfter(slot uint32) float64 {
	entries := p.all.shards[p.all.live[0]].entries
	if entries[0].Slot != slot {
		return math.Float64frombits(entries[0].Key)
	}
	c := p.comp[slot]
	minimum := c.x + c.delta
	for _, e := range entries.Children(0) {
		minimum = min(minimum, math.Float64frombits(e.Key))
	}
	return minimum
}

var _ Policy = (*maxmin)(nil)
