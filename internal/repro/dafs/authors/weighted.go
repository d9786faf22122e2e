package authors

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/random"
	"github.com/throng-dev/throng/sched"
)

// A weight is the weight w of a batch in the program, and its step, by which one
// more assignment changes it in the program's fairness index:
//
//	best-effort  w = R/T,                             step = 1/T
//	deadline     w = 1/T Σ_{i=0}^{R-1} g((C+R-i)/T),  step = g(C/T)
//
// with g = ln (option log=true) or the identity. C+R is what the program has as
// the size less the tasks not yet assigned. Compared with eq. 3 the argument is
// what has been started where the paper has what is left, and the step is not
// divided by T and does not continue the sum; ln makes w ≤ 0 and the step negative,
// -∞ for a batch with nothing completed.
//
// Sums of logarithms are kept without rounding, so w follows from the figures
// alone; it is rounded once, and once more by the division. The program adds up
// in floating point. With more running than wanted, which the program cannot have,
// those wanted count.
type weight struct{ w, step float64 }

// weigh returns the weight of a batch.
func (b *batch) weigh(log bool) weight {
	t, running := float64(b.planned), min(b.running, b.planned-b.completed)
	switch {
	case b.best():
		return weight{float64(running) / t, 1 / t}
	case !log: // in closed form, exact in integers
		return weight{float64(b.completed*running+running*(running+1)/2) / t / t, float64(b.completed) / t}
	}
	return weight{0 - b.sum.move(b.planned, b.completed, b.completed+running)/t, math.Log(float64(b.completed) / t)} // 0 - 0 is 0, -0 would not do
}

// exactPrecision is enough, in bits, for sums and products of weights and steps to
// need no rounding.
const exactPrecision = 1024

func newExact() *big.Float { return new(big.Float).SetPrec(exactPrecision) }

func exactly(f float64) *big.Float { return newExact().SetFloat64(f) }

// A logSum is Σ -ln(n/planned) over n in (from, to], kept from event to event.
type logSum struct {
	planned, from, to int
	sum               *big.Float
}

// move makes the sum that of other bounds and returns it, rounded:
// O(|Δfrom| + |Δto|), and O(to - from) when planned changes.
func (s *logSum) move(planned, from, to int) float64 {
	if s.planned != planned || max(s.from-from, from-s.from)+max(s.to-to, to-s.to) > to-from {
		*s = logSum{planned: planned, from: from, to: from, sum: newExact()}
	}
	for ; s.to < to; s.to++ {
		s.sum.Add(s.sum, s.term(s.to+1))
	}
	for ; s.from > from; s.from-- {
		s.sum.Add(s.sum, s.term(s.from))
	}
	for ; s.to > to; s.to-- {
		s.sum.Sub(s.sum, s.term(s.to))
	}
	for ; s.from < from; s.from++ {
		s.sum.Sub(s.sum, s.term(s.from+1))
	}
	f, _ := s.sum.Float64()
	return f
}

func (s *logSum) term(n int) *big.Float { return exactly(-math.Log(float64(n) / float64(s.planned))) }

// weighted is what sdafs-code and dafs-code have in common: the candidates in the
// order of their weights, and a hash of their state to draw from.
type weighted struct {
	batches
	name string
	log  bool
	seed uint64
	hash uint64 // the sum of the candidates' hashes
}

func (p *weighted) Name() string { return p.name }

// update keeps a batch and returns it, or drops it if it is not open.
func (p *weighted) update(in *sched.Batch) *batch {
	if !in.Open() {
		p.Remove(in.ID)
		return nil
	}
	b := p.keep(in)
	b.weight = b.weigh(p.log)
	p.hash -= b.hash
	b.hash = 0
	if b.candidate {
		b.hash = b.stateHash()
	}
	p.hash += b.hash
	p.place(b, b.candidate, ordered(b.weight.w))
	return b
}

func (p *weighted) Remove(id crowd.BatchID) {
	if b := p.forget(id); b != nil {
		p.hash -= b.hash
	}
}

// stateHash is a hash of all that can change of a batch at work. The turn is in it,
// so that a batch given back and handed out again is a new state.
func (b *batch) stateHash() uint64 {
	h := random.Mix(uint64(b.id) + random.Golden)
	h = random.Mix(h ^ (uint64(b.planned)<<32 | uint64(b.running)))
	return random.Mix(h ^ (uint64(b.completed)<<32 | b.turn&(1<<32-1)))
}

// draw returns a number from 0 to n-1, each as likely as the others (but for
// n/2^64): a function of the state of the candidates, of the seed and of which
// draw of a decision it is.
func (p *weighted) draw(which uint64, n int) int {
	h := random.Mix(p.hash ^ random.Mix(p.seed+random.Golden))
	h = random.Mix(h + which*random.Golden)
	high, _ := bits.Mul64(h, uint64(n))
	return int(high)
}

// figures returns what the weight is made of.
func (p *weighted) figures(b *batch) []sched.Figure {
	g, kind := "R/T", "best-effort"
	if !b.best() {
		kind = "deadline"
		g = "1/T Σ_{i<R} (C+R-i)/T"
		if p.log {
			g = "1/T Σ_{i<R} ln((C+R-i)/T)"
		}
	}
	return []sched.Figure{
		{Name: "R", Value: sched.Number(b.running), Note: "running"},
		{Name: "T", Value: sched.Number(b.planned), Note: "planned"},
		{Name: "C", Value: sched.Number(b.completed), Note: "completed"},
		{Name: "w", Value: sched.Number(b.weight.w), Note: "weight of this " + kind + " batch: " + g},
		{Name: "plus", Value: sched.Number(b.weight.w + b.weight.step), Note: "weight in the program's index after one more assignment"},
	}
}

// key returns the part of a key that both policies share.
func (p *weighted) key(b *batch) sched.Key {
	k := newKey(p.name, b)
	k.Figures = p.figures(b)
	return k
}

// A sdafs hands out from the candidate with the least w. The program finds it in a
// shuffled list, so that equals are as likely as one another.
//
// Refused one, the policy goes on in the order of w. Among equals one is drawn to
// begin with, and the rest follow by id, round to the beginning. A decision costs
// O(log B), and each candidate refused O(1).
type sdafs struct{ weighted }

func newSDAFS(w weighted) sched.Policy { return &sdafs{w} }

func (p *sdafs) Set(in *sched.Batch) { p.update(in) }

func (p *sdafs) Next(_ time.Time, w sched.Worker) crowd.BatchID {
	for from := 0; from < len(p.order); {
		to, start := p.equals(from)
		for n := range to - from {
			place := start + n
			if place >= to {
				place -= to - from
			}
			if c := p.order[place]; c.suits(w) {
				return c.id
			}
		}
		from = to
	}
	return 0
}

// equals returns the end of the run of equal weights that begins at a place, and
// the place of the one drawn to begin with.
func (p *sdafs) equals(from int) (to, start int) {
	key := p.order[from].key
	to = p.below(key + 1)
	return to, from + p.draw(key, to-from)
}

func (p *sdafs) Key(id crowd.BatchID) (sched.Key, bool) {
	b := p.open[id]
	if b == nil {
		return sched.Key{}, false
	}
	k := p.key(b)
	k.Words = fmt.Sprintf("least w = %g first; among equals one is drawn, then by id from there, round to the beginning", b.weight.w)
	round := sched.Number(0)
	if b.candidate {
		if _, start := p.equals(p.below(b.key)); p.rank(b) < start {
			round = 1
		}
	}
	k.Figures = append(k.Figures, sched.Figure{Name: "round", Value: round, Note: "1: among equals it comes after the round, its id being less than that of the one drawn"})
	k.Rank = []sched.Number{sched.Number(b.weight.w), round, sched.Number(id)}
	return k, true
}
