// Package heap has the priority queues of the algorithms: a Heap whose entries are
// found by small integers, the Front of a walk over heaps in order, and a Queue of
// events by time.
//
// They compare keys inline and without a branch: which of two random keys is less
// cannot be predicted, and a comparison by a function, as in container/heap, costs a
// call. That is why a Queue is no Heap of other entries.
package heap

import "math/bits"

// An Entry is one item of a heap: its key and the ties, inline, so that a
// comparison touches no other memory. At 32 bytes the four children of a node fill
// two cache lines.
type Entry struct {
	Key  uint64
	Turn uint64 // the first tie
	ID   int64  // the last tie
	Slot uint32 // where the owner keeps the rest
}

// Before reports whether e comes before o: by key, then turn, then ID.
func (e *Entry) Before(o *Entry) bool { return e.less(o) != 0 }

// less is 1 if e is before o, else 0: the borrow of a subtraction of the three as
// one long number.
func (e *Entry) less(o *Entry) uint64 {
	const sign = 1 << 63 // IDs are signed
	_, borrow := bits.Sub64(uint64(e.ID)^sign, uint64(o.ID)^sign, 0)
	_, borrow = bits.Sub64(e.Turn, o.Turn, borrow)
	_, borrow = bits.Sub64(e.Key, o.Key, borrow)
	return borrow
}

// arity is the number of children of a node. Four makes a heap half as deep as two
// would, for comparisons within the same cache lines.
const arity = 4

// A Heap has the first of its entries at position 0. Its methods take the positions
// of entries by slot, which they keep up to date; several heaps may share them, if
// no slot is in two.
type Heap []Entry

// Children returns the entries of which position i is the parent.
func (h Heap) Children(i int) []Entry {
	first := min(arity*i+1, len(h))
	return h[first:min(first+arity, len(h))]
}

// Push adds an entry. O(log n).
func (h *Heap) Push(e Entry, positions []int32) {
	*h = append(*h, e)
	h.up(len(*h)-1, e, positions)
}

// Remove removes the entry at position i. O(log n).
func (h *Heap) Remove(i int, positions []int32) {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	if i < last {
		h.Fix(i, e, positions)
	}
}

// Fix replaces the entry at position i. O(log n).
func (h Heap) Fix(i int, e Entry, positions []int32) {
	if i > 0 && e.Before(&h[(i-1)/arity]) {
		h.up(i, e, positions)
		return
	}
	h.down(i, e, positions)
}

// Init makes a heap of entries in any order. O(n).
func (h Heap) Init(positions []int32) {
	for i := (len(h) - 2) / arity; i >= 0 && len(h) > 1; i-- {
		h.down(i, h[i], positions)
	}
}

// AppendUpTo appends the slots of the k entries at or below position i whose keys
// are at most key, in no order. O(k).
func (h Heap) AppendUpTo(slots []uint32, key uint64, i int) []uint32 {
	if i >= len(h) || h[i].Key > key {
		return slots
	}
	slots = append(slots, h[i].Slot)
	for c := arity*i + 1; c <= arity*i+arity; c++ {
		slots = h.AppendUpTo(slots, key, c)
	}
	return slots
}

// up moves e from the hole at position i towards the root and sets it down.
func (h Heap) up(i int, e Entry, positions []int32) {
	for i > 0 {
		parent := (i - 1) / arity
		if !e.Before(&h[parent]) {
			break
		}
		h.put(i, h[parent], positions)
		i = parent
	}
	h.put(i, e, positions)
}

// down moves e from the hole at position i away from the root and sets it down.
func (h Heap) down(i int, e Entry, positions []int32) {
	for {
		first := arity*i + 1
		if first >= len(h) {
			break
		}
		best := first
		for c := first + 1; c < min(first+arity, len(h)); c++ {
			best += (c - best) * int(h[c].less(&h[best]))
		}
		if !h[best].Before(&e) {
			break
		}
		h.put(i, h[best], positions)
		i = best
	}
	h.put(i, e, positions)
}

func (h Heap) put(i int, e Entry, positions []int32) {
	h[i] = e
	positions[e.Slot] = int32(i)
}
