package sched

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// betaFair hands out so that the fairness index J_β of the workforce vector after
// the assignment is greatest, for a finite β or β → -∞. (maxmin is β → ∞.)
//
//	J_β(x) = sign(1-β) [ Σ_b (x_b/S)^(1-β) ]^(1/β),   S = Σ x_c      (eq. 1)
//
// β = -1 is Jain's index; the greater β, the more it values fairness over
// efficiency. At the two points where eq. 1 says nothing, its limits are taken:
//
//	β → 0    exp(-Σ p_b ln p_b), p_b = x_b/S: the entropy
//	β → 1    the order of Σ ln(x_b/S): proportional fairness. (J itself tends to
//	         ±B whatever is chosen; this is how it differs on the way, from
//	         either side.)
//	β → -∞   S/max x_b
//
// The candidates lie in a tree of boxes by (ρ, δ), ρ = x/δ, and no choice in a box
// can be better than its bound (see measure.bound): a decision goes where the bound
// is best and leaves out what cannot be the first. An event costs O(log B) in
// practice (see boxes). A decision was seen to open one path or two for each
// permitted class and each R near the best. There is no such bound for all worlds:
// where very many different batches are equally good but for rounding, they are all
// compared.
//
// Numbers. What is computed is not J but ln(Σ'/Σ), the logarithm of the factor by
// which the sum changes, from log1p and expm1 of small quantities: batches are
// told apart that change J in its 15th digit. Sums are exact, so that they follow
// from the state alone; where powers may overflow (|1-β| > 6), their logarithms are
// kept. Where J_β cannot be told from a limit, that is taken: of β → 0 for
// |β| < 2^-40. A β beyond ±1000 counts as ±1000.
//
// Zero components. For β < 1 eq. 1 holds as it stands; when all are zero, J_β = 1
// whatever is chosen. For β ≥ 1 a zero makes J_β = -∞, and the rule of maxmin
// holds: batches with x_b = 0 first, by δ, then the others, by δ. Equal J: turn,
// then id.
type betaFair struct {
	name   string
	beta   float64 // < +Inf
	curve  curve
	x      workforce
	book   book
	raises []raise // by slot
	open   int     // batches
	idle   int     // those with x = 0
	sum    exact   // S
	powers wide    // Σ x^e
	above  exact   // Σ x ln x over x > 1
	below  exact   // -Σ x ln x over x < 1
	all    index   // for β → -∞: every open batch with x > 0, the greatest x first
	can    boxes   // the candidates
	now    measure
	stale  bool // now is of an earlier state
	search search
}

func newBetaFair(name string, beta float64, x workforce) *betaFair {
	p := &betaFair{name: name, beta: beta, curve: newCurve(beta), x: x, stale: true}
	p.can.least = p.curve.least()
	return p
}

func (p *betaFair) Name() string { return p.name }

func (p *betaFair) Set(b *Batch) {
	if !b.Open() {
		p.Remove(b.ID)
		return
	}
	slot, r, known := p.book.set(b)
	if int(slot) == len(p.raises) {
		p.raises = append(p.raises, raise{})
	}
	x, delta := p.x.at(slot, r)
	at := component{x, delta}
	if known && p.raises[slot].component == at && r.assignable && p.can.has(slot) && p.can.keys[slot].class == r.class {
		p.can.serve(slot, r.turn)
		return
	}
	if known {
		p.leave(slot)
	}
	raise, leaf := p.curve.raise(at)
	p.join(slot, raise)
	if !r.assignable {
		p.can.drop(slot)
		return
	}
	leaf.turn = r.turn
	p.can.put(slot, boxKey{r.class, fromFloat(raise.rho()), fromFloat(delta), fromFloat(x), r.id}, leaf)
}

func (p *betaFair) Remove(id crowd.BatchID) {
	if slot, known := p.book.remove(id); known {
		p.can.drop(slot)
		p.leave(slot)
	}
}

// join adds the slot's batch to the sums.
func (p *betaFair) join(slot uint32, r raise) {
	p.raises[slot] = r
	p.stale = true
	p.open++
	if r.x == 0 {
		p.idle++
		return
	}
	p.sum.add(r.x)
	switch p.curve.kind {
	case byPower, byLog:
		p.powers.add(p.curve.term(r.power))
	case byEntropy:
		p.above.add(max(r.power, 0))
		p.below.add(max(-r.power, 0))
	case byMost:
		p.all.set(cell{}, entry{Key: ^fromFloat(r.x), Slot: slot})
	}
}

// leave takes the slot's batch out of the sums.
func (p *betaFair) leave(slot uint32) {
	p.stale = true
	p.open--
	r := &p.raises[slot]
	if r.x == 0 {
		p.idle--
		return
	}
	p.sum.sub(r.x)
	switch p.curve.kind {
	case byPower, byLog:
		p.powers.sub(p.curve.term(r.power))
	case byEntropy:
		p.above.sub(max(r.power, 0))
		p.below.sub(max(-r.power, 0))
	case byMost:
		p.all.drop(slot)
	}
}

// without returns ln(Σ x^e) without the slot's batch: -Inf if it is alone.
func (p *betaFair) without(power float64) float64 {
	f, scale := p.curve.term(power)
	p.powers.sub(f, scale)
	rest := p.powers.log()
	p.powers.add(f, scale)
	return rest
}

// measure returns what of the whole vector the scores depend on.
func (p *betaFair) measure() *measure {
	if !p.stale {
		return &p.now
	}
	p.stale = false
	v := measure{curve: p.curve, margin: p.curve.rounding(), sum: p.sum.float(), batches: float64(p.open), zeroRule: p.beta >= 1 && p.idle > 0}
	p.now = v
	if v.sum == 0 || v.zeroRule {
		return &p.now
	}
	v.perSum = 1 / v.sum
	switch e := v.e; v.kind {
	case byPower:
		v.powers = p.powers.float()
		v.perPowers = 1 / v.powers
		v.peak = math.Pow(v.powers*v.perSum, 1/(e-1))
	case byLog:
		v.powers = p.powers.log()
		v.peak = math.Exp((v.powers - math.Log(v.sum)) / (e - 1))
	case byEntropy:
		v.powers = (p.above.float() - p.below.float()) / v.sum
		v.peak = math.Exp(v.powers)
	case byMost:
		v.powers = math.Float64frombits(^p.all.shards[p.all.live[0]].entries[0].Key)
		v.peak = v.powers
	}
	p.now = v
	return &p.now
}

// key returns the score of a batch as the key of an index, least first.
func (p *betaFair) key(slot uint32) uint64 {
	v, r := p.measure(), &p.raises[slot]
	if v.zeroRule {
		if r.x > 0 {
			return fromFloat(r.delta) | started
		}
		return fromFloat(r.delta)
	}
	return fromSigned(-p.score(v, r))
}

// score returns a number that grows with J_β after the batch is raised.
func (p *betaFair) score(v *measure, r *raise) float64 {
	if v.losesMost(r) {
		return v.change(p.lessened(v, r), r)
	}
	return v.score(r)
}

// lessened returns ln(Σ'/Σ) where a batch has more than half of the sum, as at most
// one has, and loses it: the others are summed up rather than subtracted.
func (p *betaFair) lessened(v *measure, r *raise) float64 {
	return logAdd(p.without(r.power), v.e*math.Log(r.x+r.delta)) - v.powers
}

func (p *betaFair) Key(id crowd.BatchID) (Key, bool) {
	slot, r, known := p.book.find(id)
	if !known {
		return Key{}, false
	}
	k := newKey(p.name, r)
	v, c := p.measure(), &p.raises[slot]
	k.Figures = append(workforceFigures(r, c.x, c.delta),
		Figure{"beta", Number(p.beta), "fairness parameter"},
		Figure{"S", Number(v.sum), "sum of x over the open batches"})
	if v.zeroRule {
		k.Words = "a batch has no workforce (x = 0), so J is -∞ or depends on raising it: those with x = 0 first, then least delta"
		k.Rank = []Number{1, Number(c.delta)}
		if c.x == 0 {
			k.Rank[0] = 0
		}
		return k, true
	}
	score := p.score(v, c)
	j := v.index(score)
	k.Words = fmt.Sprintf("greatest J_β first: %g after handing out from this batch", j)
	if p.curve.kind == byShares {
		k.Words = "greatest J_β first: as β → 1, greatest Σ ln(x/S)"
	}
	k.Figures = append(k.Figures,
		Figure{"J", Number(j), "J_β after handing out from this batch (eq. 1)"},
		Figure{"score", Number(score), "change of J on a logarithmic scale, by which the order is made"})
	k.Rank = []Number{Number(-score)}
	return k, true
}

func (p *betaFair) Next(_ time.Time, w Worker) crowd.BatchID { return p.search.next(p, w) }

var _ Policy = (*betaFair)(nil)
