package authors

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// A batch is what a policy keeps of one.
type batch struct {
	id                          crowd.BatchID
	deadline                    time.Time // noDeadline for none
	turn                        uint64
	class                       sched.Class
	planned, running, completed int
	candidate                   bool   // something of it may be handed out
	placed                      bool   // it is in the order of the candidates
	key                         uint64 // its key there

	weight weight // of sdafs-code and dafs-code
	sum    logSum // of a deadline batch, with logarithms
	hash   uint64 // of the state of a candidate, else 0
}

// noDeadline is later than every deadline.
var noDeadline = time.Unix(0, math.MaxInt64).UTC()

func (b *batch) best() bool { return b.deadline.Equal(noDeadline) } // best-effort

// fill takes over what is known of the batch, each figure brought into its domain.
func (b *batch) fill(in *sched.Batch) {
	count := func(n int) int { return int(min(max(int64(n), 0), sched.MaxPlanned)) }
	b.id, b.turn, b.class, b.candidate = in.ID, in.Turn, in.Class, in.Assignable
	b.planned, b.running, b.completed = count(in.Planned), count(in.Running), count(in.Completed)
	b.deadline = noDeadline
	if !in.Deadline.IsZero() && in.Deadline.Before(noDeadline) {
		b.deadline = in.Deadline.UTC()
	}
}

// batches keeps the open batches, and the candidates in the order of a key.
type batches struct {
	open  map[crowd.BatchID]*batch
	order []position // the candidates by key, then id
}

// A position is where a candidate stands in the order. It has the key and the id, so
// that a search looks at no batch.
type position struct {
	key uint64
	id  crowd.BatchID
	*batch
}

func (p position) compare(o position) int {
	return cmp.Or(cmp.Compare(p.key, o.key), cmp.Compare(p.id, o.id))
}

// keep returns what is kept of an open batch, made if need be, with its figures.
func (s *batches) keep(in *sched.Batch) *batch {
	b := s.open[in.ID]
	if b == nil {
		if s.open == nil {
			s.open = map[crowd.BatchID]*batch{}
		}
		b = &batch{}
		s.open[in.ID] = b
	}
	b.fill(in)
	return b
}

// place puts a batch into the order of the candidates with a key, or takes it out.
func (s *batches) place(b *batch, candidate bool, key uint64) {
	if b.placed && candidate && b.key == key {
		return
	}
	if b.placed {
		at := s.rank(b)
		s.order = slices.Delete(s.order, at, at+1)
	}
	b.placed, b.key = candidate, key
	if candidate {
		s.order = slices.Insert(s.order, s.rank(b), position{key, b.id, b})
	}
}

// rank returns how many candidates stand before a batch in the order.
func (s *batches) rank(b *batch) int {
	at, _ := slices.BinarySearchFunc(s.order, position{key: b.key, id: b.id}, position.compare)
	return at
}

// below returns how many candidates have a key less than key.
func (s *batches) below(key uint64) int {
	return sort.Search(len(s.order), func(i int) bool { return s.order[i].key >= key })
}

// forget drops a batch and returns it; nil if it is not there.
func (s *batches) forget(id crowd.BatchID) *batch {
	b := s.open[id]
	if b != nil {
		s.place(b, false, 0)
		delete(s.open, id)
	}
	return b
}

// suits reports whether the worker may do the batch.
func (b *batch) suits(w sched.Worker) bool { return w.MayClass(b.class) && w.MayBatch(b.id) }

// newKey returns the part of a key that all policies share.
func newKey(policy string, b *batch) sched.Key {
	return sched.Key{Policy: policy, Batch: b.id, Candidate: b.candidate, Turn: b.turn}
}

// ordered maps a float64 that is a number to a key in the same order.
func ordered(f float64) uint64 {
	raw := math.Float64bits(f + 0) // + 0 turns -0 into 0
	if raw>>63 == 0 {
		return raw | 1<<63
	}
	return ^raw
}
