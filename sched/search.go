package sched

import (
	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/heap"
)

// A search finds the candidate of betaFair with the least (key, turn, id), and after
// a refusal the next one. It keeps its memory from one decision to the next.
//
// The first is found depth first, the better box before the other, leaving out
// boxes that cannot have it. Only a refusal sorts what was left out, and then the
// boxes and candidates are taken in order, the best first.
type search struct {
	policy  *betaFair
	measure *measure
	worker  Worker
	stack   []found
	later   []found // not before best
	best    found   // when it is exact
	front   heap.Front
}

// A found box is one of which no candidate has a lesser key; if it is exact, they
// all have this one.
type found struct {
	key   uint64
	ref   boxRef
	exact bool
}

func (s *search) next(p *betaFair, w Worker) crowd.BatchID {
	if len(p.can.nodes) == 0 || p.can.box(0).child == 0 {
		return 0
	}
	s.policy, s.measure, s.worker = p, p.measure(), w
	s.stack, s.later, s.best = s.stack[:0], s.later[:0], found{}
	defer func() { s.worker = nil }()
	if whole := (found{}); s.permitted(-1, whole.ref) {
		s.dive(whole)
	}
	for len(s.stack) > 0 {
		f := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		s.dive(f)
	}
	if !s.best.exact {
		return 0
	}
	if id := s.id(s.best); w.MayBatch(id) {
		return id
	}
	return s.afterRefusal()
}

// dive goes down from a box to the candidate that promises most, if any can still
// be before the best.
func (s *search) dive(f found) {
	for {
		if s.best.exact && !s.before(f, s.best) {
			s.later = append(s.later, f)
			return
		}
		if s.alike(f.ref) {
			s.contend(s.exactly(f))
			return
		}
		inner, n := s.open(f.ref)
		switch n {
		case 0:
			return
		case 1:
			f = inner[0]
		case 2:
			if s.before(inner[1], inner[0]) {
				inner[0], inner[1] = inner[1], inner[0]
			}
			s.stack = append(s.stack, inner[1])
			f = inner[0]
		}
	}
}

// contend makes f the best, or leaves it for later.
func (s *search) contend(f found) {
	if s.best.exact && !s.before(f, s.best) {
		s.later = append(s.later, f)
		return
	}
	if s.best.exact {
		s.later = append(s.later, s.best)
	}
	s.best = f
}

// afterRefusal goes on when the best was refused.
func (s *search) afterRefusal() crowd.BatchID {
	s.front = s.front[:0]
	for _, f := range s.later {
		s.push(f)
	}
	s.split(s.best)
	for len(s.front) > 0 {
		f := found{s.front[0].Key, boxRef(s.front[0].Heap), s.front[0].Pos > 0}
		s.front.Pop()
		switch {
		case f.exact:
			if id := s.id(f); s.worker.MayBatch(id) {
				return id
			}
			s.split(f)
		case s.alike(f.ref):
			s.push(s.exactly(f))
		default:
			inner, n := s.open(f.ref)
			for _, f := range inner[:n] {
				s.push(f)
			}
		}
	}
	return 0
}

func (s *search) push(f found) {
	b := s.policy.can.box(f.ref)
	spot := heap.Spot{Entry: heap.Entry{Key: f.key, Turn: b.turn, ID: int64(s.id(f)), Slot: b.first}, Heap: int32(f.ref)}
	if f.exact {
		spot.Pos = 1
	}
	s.front.Push(spot)
}

// split pushes what is in an exact box next to its first candidate.
func (s *search) split(f found) {
	t := &s.policy.can
	for b := t.box(f.ref); b.child > 0; b = t.box(f.ref) {
		inner := boxRef(b.child) << 1
		if t.box(inner).first != b.first {
			inner++
		}
		f.ref = inner ^ 1
		s.push(f)
		f.ref = inner
	}
}

// open returns the n boxes within a box that have candidates of classes the worker
// may do.
func (s *search) open(r boxRef) (inner [2]found, n int) {
	t := &s.policy.can
	v := t.box(r).child
	node := &t.nodes[v]
	for side := range boxRef(2) {
		ref := boxRef(v)<<1 | side
		if s.permitted(node.bit, ref) {
			inner[n] = found{key: s.measure.key(&node.box[side]), ref: ref}
			n++
		}
	}
	return inner, n
}

// permitted reports whether the worker may do some of a box within a node of the
// given bit. They are asked where a box has become of one class.
func (s *search) permitted(bit int16, r boxRef) bool {
	if bit >= classBits {
		return true
	}
	t := &s.policy.can
	b := t.box(r)
	if b.child > 0 && t.nodes[b.child].bit < classBits {
		return true
	}
	return s.worker.MayClass(t.keys[b.first].class)
}

// alike reports whether all candidates of a box have the same key.
func (s *search) alike(r boxRef) bool {
	t := &s.policy.can
	b := t.box(r)
	if b.child < 0 {
		return true
	}
	bit := t.nodes[b.child].bit
	return bit >= componentBits || bit >= classBits && s.measure.sum == 0 && !s.measure.zeroRule
}

// exactly returns a box of candidates that are alike, with their key.
func (s *search) exactly(f found) found {
	return found{s.policy.key(s.policy.can.box(f.ref).first), f.ref, true}
}

// before reports whether a may have a candidate that comes before all of b; if both
// are exact, whether the first of a comes before that of b.
func (s *search) before(a, b found) bool {
	if a.key != b.key {
		return a.key < b.key
	}
	t := &s.policy.can
	return t.before(t.box(a.ref), t.box(b.ref))
}

// id returns the first candidate of a box.
func (s *search) id(f found) crowd.BatchID {
	t := &s.policy.can
	return t.keys[t.box(f.ref).first].id
}
