package sched

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/random"
)

// The policies named -code are those of the simulator that the paper's authors
// published. It departs from the paper in ways that its figures depend on, so
// that they can be reproduced only by what the program does. They are here to
// compare; the other policies are for work.
//
// The program looks at candidates only: batches of which something may be handed
// out. (The paper, and the other policies here, count every open batch in the
// fairness index.) It knows no priorities. A batch with a deadline is one of its
// deadline-aware ones, whatever Production says.
//
// Where the program takes the first batch in the order of its list, the least id
// goes first here. Where it shuffles the list, these policies draw from a hash of
// the state of the candidates and of the option seed: the same state gets the
// same answer, also after a restart, and any change gets a draw of its own.

// A codeOrder hands out by a key of each batch, then id: edf-code and fs-code.
// O(log B).
type codeOrder struct {
	name string
	by   codeRanking
	book book
	ix   index // the candidates
}

// A codeRanking is the key of a codeOrder, least first.
type codeRanking interface {
	rank(*record) uint64
	explain(*record, *Key)
}

func (p *codeOrder) Name() string { return p.name }

func (p *codeOrder) Set(b *Batch) {
	if !b.Open() {
		p.Remove(b.ID)
		return
	}
	slot, _, _ := p.book.set(b)
	r := &p.book.records[slot]
	if !r.assignable {
		p.ix.drop(slot)
		return
	}
	p.ix.set(cell{class: r.class}, entry{Key: p.by.rank(r), ID: int64(r.id), Slot: slot})
}

func (p *codeOrder) Remove(id crowd.BatchID) {
	if slot, known := p.book.remove(id); known {
		p.ix.drop(slot)
	}
}

func (p *codeOrder) Next(_ time.Time, w Worker) crowd.BatchID {
	walk := p.ix.walk(w)
	for e, ok := walk.next(); ok; e, ok = walk.next() {
		if id := crowd.BatchID(e.ID); w.MayBatch(id) {
			return id
		}
	}
	return 0
}

func (p *codeOrder) Key(id crowd.BatchID) (Key, bool) {
	_, r, known := p.book.find(id)
	if !known {
		return Key{}, false
	}
	k := newKey(p.name, r)
	p.by.explain(r, &k)
	k.Rank = append(k.Rank, Number(id)) // before the turn, which the program does not know
	return k, true
}

// edfCode: earliest deadline first, then id; best-effort batches, whose deadline
// is infinite in the program, last, by id.
type edfCode struct{}

func (edfCode) rank(r *record) uint64 { return fromInt(r.deadline) }

func (edfCode) explain(r *record, k *Key) {
	k.Rank = instant(r.deadline)
	if r.deadline == noDeadline {
		k.Words = "earliest deadline first, then id: no deadline, so after every batch with one"
		return
	}
	k.Words = "earliest deadline first, then id: due " + instantNote(r.deadline)
	k.Figures = []Figure{{"deadline", k.Rank[0], instantNote(r.deadline)}}
}

// fsCode: least R/T first, then id.
type fsCode struct{}

func (fsCode) ratio(r *record) float64 { return float64(r.running) / float64(r.planned) }

func (f fsCode) rank(r *record) uint64 { return fromFloat(f.ratio(r)) }

func (f fsCode) explain(r *record, k *Key) {
	w := f.ratio(r)
	k.Words = "least w = R/T first, then id"
	k.Rank = []Number{Number(w)}
	k.Figures = []Figure{
		{"R", Number(r.running), "running"},
		{"T", Number(r.planned), "planned"},
		{"w", Number(w), "R/T"},
	}
}

// codeWeights are the weights w of the program and their steps, by which one more
// assignment changes them in its fairness index:
//
//	best-effort  w = R/T,                             step = 1/T
//	deadline     w = 1/T Σ_{i=0}^{R-1} g((C+R-i)/T),  step = g(C/T)
//
// with g = ln (option log=true) or the identity. C+R is what the program has as
// the size less the tasks not yet assigned. Beside eq. 3 the argument is what has
// been started where the paper has what is left, and the step is not divided by T
// and does not continue the sum; ln makes w ≤ 0 and the step negative, -∞ for a
// batch with nothing completed.
//
// Sums of logarithms are kept without rounding, so w follows from the figures
// alone; it is rounded once, and once more by the division. The program adds up
// in floating point. With more running than wanted, which the program cannot have,
// those wanted count.
type codeWeights struct {
	log  bool
	sums []lnSum // by slot; only of deadline batches under log
}

// A codeWeight is w and its step.
type codeWeight struct{ w, step float64 }

// An lnSum is Σ -ln(n/planned) over n in (from, to], kept from event to event.
type lnSum struct {
	planned, from, to uint32
	sum               exact
}

// at returns the weight of the record in a slot.
func (c *codeWeights) at(slot uint32, r *record) codeWeight {
	t, running := float64(r.planned), min(r.running, r.left())
	if r.deadline == noDeadline {
		return codeWeight{float64(running) / t, 1 / t}
	}
	if !c.log { // in closed form, exact in integers
		done, more := uint64(r.completed), uint64(running)
		return codeWeight{float64(done*more+more*(more+1)/2) / t / t, float64(r.completed) / t}
	}
	for int(slot) >= len(c.sums) {
		c.sums = append(c.sums, lnSum{})
	}
	s := &c.sums[slot]
	s.move(r.planned, r.completed, r.completed+running)
	return codeWeight{0 - s.sum.float()/t, math.Log(float64(r.completed) / t)} // 0 - 0 is 0, -0 would not do
}

// move makes the sum that of other bounds: O(|Δfrom| + |Δto|), and O(to - from)
// when planned changes.
func (s *lnSum) move(planned, from, to uint32) {
	if s.planned != planned || gap(s.from, from)+gap(s.to, to) > uint64(to-from) {
		*s = lnSum{planned: planned, from: from, to: from}
	}
	for ; s.to < to; s.to++ {
		s.sum.add(s.term(s.to + 1))
	}
	for ; s.from > from; s.from-- {
		s.sum.add(s.term(s.from))
	}
	for ; s.to > to; s.to-- {
		s.sum.sub(s.term(s.to))
	}
	for ; s.from < from; s.from++ {
		s.sum.sub(s.term(s.from + 1))
	}
}

func (s *lnSum) term(n uint32) float64 { return -math.Log(float64(n) / float64(s.planned)) }

// coded is what sdafs-code and dafs-code have in common: the weights of the
// candidates, in order, and a hash of their state to draw from.
type coded struct {
	name    string
	seed    uint64
	weights codeWeights
	book    book
	got     []codeWeight // by slot
	hashes  []uint64     // by slot, of candidates
	hash    uint64       // the sum of the candidates' hashes
	order   ranks
	byW     tree // the candidates by w, then id
}

func (p *coded) Name() string { return p.name }

// A weightChange is what a call of Set or Remove changed of a batch as a candidate.
type weightChange struct {
	slot     uint32
	id       crowd.BatchID
	was, is  bool // a candidate
	old, now codeWeight
}

// update keeps an open batch.
func (p *coded) update(b *Batch) weightChange {
	slot, _, _ := p.book.set(b)
	r := &p.book.records[slot]
	if int(slot) == len(p.got) {
		p.got, p.hashes = append(p.got, codeWeight{}), append(p.hashes, 0)
	}
	c := weightChange{slot: slot, id: r.id, was: p.order.has(slot), is: r.assignable, old: p.got[slot]}
	p.got[slot] = p.weights.at(slot, r)
	c.now = p.got[slot]
	hash := uint64(0)
	if c.is {
		hash = r.hash()
	}
	p.hash += hash - p.hashes[slot]
	p.hashes[slot] = hash
	p.place(&c)
	return c
}

// forget drops a batch.
func (p *coded) forget(id crowd.BatchID) (c weightChange, known bool) {
	slot, known := p.book.remove(id)
	if !known {
		return c, false
	}
	c = weightChange{slot: slot, id: id, was: p.order.has(slot), old: p.got[slot]}
	p.hash -= p.hashes[slot]
	p.hashes[slot] = 0
	p.place(&c)
	return c, true
}

// place puts the slot where it belongs in the order.
func (p *coded) place(c *weightChange) {
	if c.was && c.is && c.old.w == c.now.w {
		return
	}
	if c.was {
		p.order.remove(&p.byW, c.slot)
	}
	if c.is {
		p.order.insert(&p.byW, c.slot, fromSigned(c.now.w), int64(c.id))
	}
}

// ask offers the slot's batch to the worker.
func (p *coded) ask(slot uint32, w Worker) (crowd.BatchID, bool) {
	r := &p.book.records[slot]
	return r.id, w.MayClass(r.class) && w.MayBatch(r.id)
}

// hash is a hash of all that can change of a batch at work. The turn is in it, so
// that a batch given back and handed out again is a new state.
func (r *record) hash() uint64 {
	h := random.Mix(uint64(r.id) + random.Golden)
	h = random.Mix(h ^ (uint64(r.planned)<<32 | uint64(r.running)))
	h = random.Mix(h ^ (uint64(r.completed)<<32 | r.turn&(1<<32-1)))
	return h
}

// draw returns a number from 0 to n-1, each as likely as the others (but for
// n/2^64): a function of the state of the candidates, of the seed and of which
// draw of a decision it is.
func (p *coded) draw(which uint64, n int) int {
	h := random.Mix(p.hash ^ random.Mix(p.seed+random.Golden))
	h = random.Mix(h + which*random.Golden)
	high, _ := bits.Mul64(h, uint64(n))
	return int(high)
}

// figures returns what the weight is made of.
func (p *coded) figures(slot uint32, r *record) []Figure {
	g, kind, got := "R/T", "best-effort", p.got[slot]
	if r.deadline != noDeadline {
		kind = "deadline"
		g = "1/T Σ_{i<R} (C+R-i)/T"
		if p.weights.log {
			g = "1/T Σ_{i<R} ln((C+R-i)/T)"
		}
	}
	return []Figure{
		{"R", Number(r.running), "running"},
		{"T", Number(r.planned), "planned"},
		{"C", Number(r.completed), "completed"},
		{"w", Number(got.w), "weight of this " + kind + " batch: " + g},
		{"plus", Number(got.w + got.step), "weight that the program reckons with after one more assignment"},
	}
}

// sdafsCode hands out from the candidate with the least w; the program finds it
// in a shuffled list, so that equals are as likely as one another.
//
// Refused one, the policy goes on in the order of w. Among equals one is drawn to
// begin with, and the rest follow by id, round to the beginning. A decision costs
// O(log B), and as much for each candidate refused.
type sdafsCode struct{ coded }

func (p *sdafsCode) Set(b *Batch) {
	if !b.Open() {
		p.Remove(b.ID)
		return
	}
	p.update(b)
}

func (p *sdafsCode) Remove(id crowd.BatchID) { p.forget(id) }

func (p *sdafsCode) Next(_ time.Time, w Worker) crowd.BatchID {
	for from := 0; from < p.order.size(p.byW); {
		to, start := p.equals(from)
		for n := range to - from {
			place := start + n
			if place >= to {
				place -= to - from
			}
			if id, yes := p.ask(p.order.at(p.byW, place), w); yes {
				return id
			}
		}
		from = to
	}
	return 0
}

// equals returns the end of the run of equal weights that begins at a place, and
// the place of the one drawn to begin with.
func (p *sdafsCode) equals(from int) (to, start int) {
	key := p.order.key(p.order.at(p.byW, from))
	to = p.order.upTo(p.byW, key)
	return to, from + p.draw(key, to-from)
}

func (p *sdafsCode) Key(id crowd.BatchID) (Key, bool) {
	slot, r, known := p.book.find(id)
	if !known {
		return Key{}, false
	}
	k := newKey(p.name, r)
	k.Figures = p.figures(slot, r)
	w := Number(p.got[slot].w)
	k.Words = fmt.Sprintf("least w = %g first; among equals one is drawn, then by id from there, round to the beginning", float64(w))
	round := Number(0)
	if r.assignable {
		from := p.order.below(p.byW, p.order.key(slot))
		if _, start := p.equals(from); p.order.place(p.byW, slot) < start {
			round = 1
		}
	}
	k.Figures = append(k.Figures, Figure{"round", round, "1: among equals it comes after the round, its id being less than that of the one drawn"})
	k.Rank = []Number{w, round, Number(id)}
	return k, true
}

var (
	_ Policy = (*codeOrder)(nil)
	_ Policy = (*sdafsCode)(nil)
)
