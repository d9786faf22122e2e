package sla

import "math/bits"

// An entry is one request in a heap: its key and the ties, inline, so that a
// comparison touches no other memory. 32 bytes: the four children of a node fill
// two cache lines.
type entry struct {
	key  uint64
	turn uint64 // the first tie
	id   int64  // the last tie
	slot uint32 // where the queue keeps the rest
}

// less is 1 if e comes before o, else 0: by key, then turn, then id. It is the
// borrow of a subtraction of the three as one long number, to compute with
// rather than to branch on.
func (e *entry) less(o *entry) uint64 {
	_, borrow := bits.Sub64(sortable(e.id), sortable(o.id), 0)
	_, borrow = bits.Sub64(e.turn, o.turn, borrow)
	_, borrow = bits.Sub64(e.key, o.key, borrow)
	return borrow
}

// sortable maps signed numbers to unsigned ones of the same order; signed is its
// inverse.
func sortable(n int64) uint64 { return uint64(n) ^ 1<<63 }
func signed(u uint64) int64   { return int64(u ^ 1<<63) }

// arity is the number of children of a heap node: half as deep as two would be,
// for comparisons within the same cache lines.
const arity = 4

// A heap holds at most one entry for each slot, the first at position 0, and
// knows where each is. Slots are small integers that the owner gives out.
type heap struct {
	entries []entry
	places  []int32 // by slot; nowhere if it has no entry
}

const nowhere = -1

// at returns the slot's entry, or nil.
func (h *heap) at(slot uint32) *entry {
	if int(slot) >= len(h.places) || h.places[slot] == nowhere {
		return nil
	}
	return &h.entries[h.places[slot]]
}

// set adds the entry, or replaces the one of its slot.
func (h *heap) set(e entry) {
	for int(e.slot) >= len(h.places) {
		h.places = append(h.places, nowhere)
	}
	if i := h.places[e.slot]; i != nowhere {
		h.fix(int(i), e)
		return
	}
	h.entries = append(h.entries, e)
	h.up(len(h.entries)-1, e)
}

// drop takes the slot's entry out, if it has one.
func (h *heap) drop(slot uint32) {
	if h.at(slot) == nil {
		return
	}
	i, last := int(h.places[slot]), len(h.entries)-1
	e := h.entries[last]
	h.entries = h.entries[:last]
	h.places[slot] = nowhere
	if i < last {
		h.fix(i, e)
	}
}

// push appends the entry of a slot that has none, out of order: order must follow.
func (h *heap) push(e entry) {
	for int(e.slot) >= len(h.places) {
		h.places = append(h.places, nowhere)
	}
	h.places[e.slot] = int32(len(h.entries))
	h.entries = append(h.entries, e)
}

// clear takes all entries out.
func (h *heap) clear() {
	for i := range h.entries {
		h.places[h.entries[i].slot] = nowhere
	}
	h.entries = h.entries[:0]
}

// order makes a heap of entries in any order. O(n).
func (h *heap) order() {
	for i := (len(h.entries) - 2) / arity; i >= 0 && len(h.entries) > 1; i-- {
		h.down(i, h.entries[i])
	}
}

// fix sets e down at or around the hole at position i.
func (h *heap) fix(i int, e entry) {
	if i > 0 && e.less(&h.entries[(i-1)/arity]) != 0 {
		h.up(i, e)
		return
	}
	h.down(i, e)
}

// up moves e from the hole at position i towards the root and sets it down.
func (h *heap) up(i int, e entry) {
	for i > 0 {
		parent := (i - 1) / arity
		if e.less(&h.entries[parent]) == 0 {
			break
		}
		h.put(i, h.entries[parent])
		i = parent
	}
	h.put(i, e)
}

// down moves e from the hole at position i away from the root and sets it down.
func (h *heap) down(i int, e entry) {
	for {
		first := arity*i + 1
		if first >= len(h.entries) {
			break
		}
		best := first
		for c := first + 1; c < min(first+arity, len(h.entries)); c++ {
			best += (c - best) * int(h.entries[c].less(&h.entries[best]))
		}
		if h.entries[best].less(&e) == 0 {
			break
		}
		h.put(i, h.entries[best])
		i = best
	}
	h.put(i, e)
}

func (h *heap) put(i int, e entry) {
	h.entries[i] = e
	h.places[e.slot] = int32(i)
}

// A front is the positions of a heap that a walk may visit next, itself a binary
// heap by their entries. A walk over the heap in order costs O(log k) for its
// k-th entry and leaves the heap as it is.
type front []int32

// grow adds the children of position i.
func (f *front) grow(h *heap, i int32) {
	first := arity*int(i) + 1
	for c := first; c < min(first+arity, len(h.entries)); c++ {
		f.push(h, int32(c))
	}
}

func (f *front) push(h *heap, pos int32) {
	*f = append(*f, pos)
	s, i := *f, len(*f)-1
	for i > 0 {
		parent := (i - 1) / 2
		if h.entries[pos].less(&h.entries[s[parent]]) == 0 {
			break
		}
		s[i] = s[parent]
		i = parent
	}
	s[i] = pos
}

// pop takes out the first position.
func (f *front) pop(h *heap) int32 {
	s := *f
	top, last := s[0], len(s)-1
	pos := s[last]
	s = s[:last]
	*f = s
	for i := 0; last > 0; {
		c := 2*i + 1
		if c >= last {
			s[i] = pos
			break
		}
		if c+1 < last {
			c += int(h.entries[s[c+1]].less(&h.entries[s[c]]))
		}
		if h.entries[s[c]].less(&h.entries[pos]) == 0 {
			s[i] = pos
			break
		}
		s[i] = s[c]
		i = c
	}
	return top
}
