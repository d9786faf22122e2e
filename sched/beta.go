package sched

import (
	"fmt"
	"math"
	"slices"
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
// Batches with equal (x, δ) are equally good, so it is the distinct pairs that
// are compared: O(D) after each change for D pairs, where the other policies take
// O(log B).
//
// Numbers. What is computed is not J but ln(Σ'/Σ), the logarithm of the factor by
// which the sum changes, from log1p and expm1 of small quantities: batches are
// told apart that change J in its 15th digit, and no power overflows. Sums are
// taken in the order of (x, δ), so that they follow from the state alone.
//
// Zero components. For β < 1 eq. 1 holds as it stands; when all are zero, J_β = 1
// whatever is chosen. For β ≥ 1 a zero makes J_β = -∞, and the rule of maxmin
// holds: batches with x_b = 0 first, by δ, then the others, by δ. Equal J: turn,
// then id.
type betaFair struct {
	name    string
	beta    float64 // < +Inf
	x       workforce
	book    book
	groupOf []uint32 // by slot
	handles map[component]uint32
	groups  []group  // by handle
	free    []uint32 // handles
	order   []uint32 // handles in use, by (x, δ)
	sum     exact    // S
	stale   bool     // the scores are those of an earlier state
	can     index    // the candidates, a cell for each group and class, by turn
}

// A group is the open batches with one pair (x, δ).
type group struct {
	component
	count int
	logX  float64 // ln x
	score float64 // the greater, the greater J after raising one of the group
	key   uint64  // the score as the bias of the group's cells, least first
}

func (p *betaFair) Name() string { return p.name }

func (p *betaFair) Set(b *Batch) {
	if !b.Open() {
		p.Remove(b.ID)
		return
	}
	slot, r, known := p.book.set(b)
	if int(slot) == len(p.groupOf) {
		p.groupOf = append(p.groupOf, 0)
	}
	x, delta := p.x.at(slot, r)
	if c := (component{x, delta}); !known || p.groups[p.groupOf[slot]].component != c {
		if known {
			p.leave(slot)
		}
		p.join(slot, c)
	}
	if !r.assignable {
		p.can.drop(slot)
		return
	}
	p.can.set(cell{p.groupOf[slot], r.class}, r.entry(0, slot))
}

func (p *betaFair) Remove(id crowd.BatchID) {
	if slot, known := p.book.remove(id); known {
		p.can.drop(slot)
		p.leave(slot)
	}
}

// join counts the slot's batch in the group of c.
func (p *betaFair) join(slot uint32, c component) {
	handle, known := p.handles[c]
	if !known {
		handle = p.newGroup(c)
	}
	p.groups[handle].count++
	p.groupOf[slot] = handle
	p.sum.add(c.x)
	p.stale = true
}

// leave takes the slot's batch out of its group.
func (p *betaFair) leave(slot uint32) {
	handle := p.groupOf[slot]
	g := &p.groups[handle]
	g.count--
	p.sum.sub(g.x)
	p.stale = true
	if g.count == 0 {
		at, _ := p.search(g.component)
		p.order = slices.Delete(p.order, at, at+1)
		delete(p.handles, g.component)
		p.free = append(p.free, handle)
	}
}

func (p *betaFair) newGroup(c component) uint32 {
	g := group{component: c, logX: math.Log(c.x)}
	var handle uint32
	if n := len(p.free); n > 0 {
		handle, p.free = p.free[n-1], p.free[:n-1]
		p.groups[handle] = g
	} else {
		handle = uint32(len(p.groups))
		p.groups = append(p.groups, g)
	}
	if p.handles == nil {
		p.handles = map[component]uint32{}
	}
	p.handles[c] = handle
	at, _ := p.search(c)
	p.order = slices.Insert(p.order, at, handle)
	return handle
}

func (p *betaFair) search(c component) (int, bool) {
	return slices.BinarySearchFunc(p.order, c, func(handle uint32, c component) int {
		g := &p.groups[handle]
		switch {
		case g.x < c.x || g.x == c.x && g.delta < c.delta:
			return -1
		case g.component == c:
			return 0
		}
		return 1
	})
}

func (p *betaFair) Next(_ time.Time, w Worker) crowd.BatchID {
	p.refresh()
	for _, handle := range p.can.live {
		h := &p.can.shards[handle]
		h.bias = p.groups[h.group].key
	}
	walk := p.can.walk(w)
	for e, ok := walk.next(); ok; e, ok = walk.next() {
		if id := crowd.BatchID(e.ID); w.MayBatch(id) {
			return id
		}
	}
	return 0
}

// refresh computes the scores again if anything has changed.
func (p *betaFair) refresh() {
	if !p.stale {
		return
	}
	p.stale = false
	if p.zeroRule() {
		for _, handle := range p.order {
			g := &p.groups[handle]
			g.key = fromFloat(g.delta)
			if g.x > 0 {
				g.key |= started
			}
		}
		return
	}
	v := p.measure()
	for _, handle := range p.order {
		g := &p.groups[handle]
		g.score = v.score(p, g)
		g.key = fromSigned(-g.score)
	}
}

// zeroRule reports whether a component is zero where that makes J_β = -∞.
func (p *betaFair) zeroRule() bool {
	return p.beta >= 1 && len(p.order) > 0 && p.groups[p.order[0]].x == 0
}

// A measure is what of the whole vector the scores depend on.
type measure struct {
	sum      float64 // S
	batches  float64 // B
	greatest float64 // the greatest x
	logRef   float64 // ln of the x by which powers are scaled, so that none is above 1
	powers   float64 // Σ (x/ref)^(1-β)
	entropy  float64 // -Σ p ln p
}

func (p *betaFair) measure() measure {
	v := measure{sum: p.sum.float()}
	if v.sum == 0 {
		return v
	}
	last := &p.groups[p.order[len(p.order)-1]]
	v.greatest, v.logRef = last.x, last.logX
	if p.beta > 1 { // a negative power is greatest for the least x, which is > 0
		v.logRef = p.groups[p.order[0]].logX
	}
	logSum := math.Log(v.sum)
	for _, handle := range p.order {
		g := &p.groups[handle]
		n := float64(g.count)
		v.batches += n
		if g.x > 0 && !math.IsInf(p.beta, -1) {
			v.powers += n * math.Exp((1-p.beta)*(g.logX-v.logRef))
			v.entropy -= n * g.x / v.sum * (g.logX - logSum)
		}
	}
	return v
}

// score returns a number that grows with J_β after one batch of g is raised.
func (v *measure) score(p *betaFair, g *group) float64 {
	if v.sum == 0 {
		return 0
	}
	share := g.delta / v.sum
	grown := math.Log1p(share) // ln(S'/S)
	switch {
	case math.IsInf(p.beta, -1):
		return grown - max(0, math.Log((g.x+g.delta)/v.greatest))
	case p.beta == 0:
		before := g.x / v.sum
		after := before + share
		return grown - (share*v.entropy+xLogX(after)-xLogX(before))/(1+share)
	case p.beta == 1:
		return math.Log1p(g.delta/g.x) - v.batches*grown
	}
	change := v.powersGrown(p, g) + (p.beta-1)*grown // ln(Σ'/Σ) of eq. 1's sum
	if p.beta > 0 && p.beta < 1 {
		return change
	}
	return -change // [·]^(1/β) falls with its sum for β < 0; the sign is -1 for β > 1
}

// powersGrown returns ln of the factor by which Σ x^(1-β) changes when one batch
// of g is raised.
func (v *measure) powersGrown(p *betaFair, g *group) float64 {
	e := 1 - p.beta
	if g.x == 0 {
		return math.Log1p(math.Exp(e*(math.Log(g.delta)-v.logRef)) / v.powers)
	}
	raised := e * math.Log1p(g.delta/g.x) // ln of the factor of the batch's own power
	weight := math.Exp(e*(g.logX-v.logRef)) / v.powers
	if part := weight * math.Expm1(raised); part > -0.5 {
		return math.Log1p(part)
	}
	// The batch has more than half of the sum (at most one has) and loses it:
	// add up the others rather than subtract.
	rest := 0.0
	for _, handle := range p.order {
		o := &p.groups[handle]
		n := float64(o.count)
		if o == g {
			n--
		}
		rest += n * math.Exp(e*(o.logX-v.logRef))
	}
	return math.Log(rest/v.powers + weight*math.Exp(raised))
}

func xLogX(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Log(x)
}

func (p *betaFair) Key(id crowd.BatchID) (Key, bool) {
	slot, r, known := p.book.find(id)
	if !known {
		return Key{}, false
	}
	p.refresh()
	g := &p.groups[p.groupOf[slot]]
	k := newKey(p.name, r)
	v := p.measure()
	k.Figures = append(workforceFigures(r, g.x, g.delta),
		Figure{"beta", Number(p.beta), "fairness parameter"},
		Figure{"S", Number(v.sum), "sum of x over the open batches"})
	if p.zeroRule() {
		k.Words = "a batch has no workforce (x = 0), so J is -∞ or depends on raising it: those with x = 0 first, then least delta"
		k.Rank = []Number{1, Number(g.delta)}
		if g.x == 0 {
			k.Rank[0] = 0
		}
		return k, true
	}
	j := v.index(p, g)
	k.Words = fmt.Sprintf("greatest J_β first: %g after handing out from this batch", j)
	if p.beta == 1 {
		k.Words = "greatest J_β first: as β → 1, greatest Σ ln(x/S)"
	}
	k.Figures = append(k.Figures,
		Figure{"J", Number(j), "J_β after handing out from this batch (eq. 1)"},
		Figure{"score", Number(g.score), "change of J on a logarithmic scale, by which the order is made"})
	k.Rank = []Number{Number(-g.score)}
	return k, true
}

// index returns J_β after one batch of g is raised.
func (v *measure) index(p *betaFair, g *group) float64 {
	score := v.score(p, g)
	switch {
	case v.sum == 0:
		return 1
	case math.IsInf(p.beta, -1):
		return v.sum / v.greatest * math.Exp(score)
	case p.beta == 0:
		return math.Exp(v.entropy + score)
	case p.beta == 1:
		return v.batches
	}
	change := -score
	if p.beta > 0 && p.beta < 1 {
		change = score
	}
	logSum := math.Log(v.powers) + (1-p.beta)*(v.logRef-math.Log(v.sum)) + change
	return math.Copysign(math.Exp(logSum/p.beta), 1-p.beta)
}

var _ Policy = (*betaFair)(nil)
