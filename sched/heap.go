package sched

import "math/bits"

// An entry is one batch (or tenant) in an ordered index: its key and the ties,
// inline, so that a comparison touches no other memory. 32 bytes: the four
// children of a node fill two cache lines.
type entry struct {
	key  uint64 // the policy's key in an order-preserving form (see ordered.go)
	turn uint64 // the first tie: longest wait first
	id   int64  // the last tie
	slot uint32 // where the owner of the index keeps the rest
}

// before is the total order of every index: key, then turn, then id. It is the
// borrow of a subtraction of the three as one long number: comparing them one by
// one would branch on data that no processor can predict.
func (e *entry) before(o *entry) bool { return e.less(o) != 0 }

// less is 1 if e is before o, else 0: to compute with, rather than to branch on.
func (e *entry) less(o *entry) uint64 {
	const sign = 1 << 63 // ids are signed
	_, borrow := bits.Sub64(uint64(e.id)^sign, uint64(o.id)^sign, 0)
	_, borrow = bits.Sub64(e.turn, o.turn, borrow)
	_, borrow = bits.Sub64(e.key, o.key, borrow)
	return borrow
}

// arity is the number of children of a heap node. Four makes the heap half as
// deep as two would, for comparisons within the same cache lines.
const arity = 4

// A shard is the heap of the entries of one cell, the first at the root.
type shard struct {
	cell
	bias    uint64 // added to the keys of the entries in a walk
	entries []entry
	live    int32 // the shard's position in index.live, or -1 when empty
}

// A place says where the entry of a slot is; shard is -1 when it is nowhere.
type place struct{ shard, pos int32 }

// up moves e from the hole at position i towards the root and sets it down.
func (h *shard) up(i int, e entry, places []place) {
	for i > 0 {
		parent := (i - 1) / arity
		if !e.before(&h.entries[parent]) {
			break
		}
		h.put(i, h.entries[parent], places)
		i = parent
	}
	h.put(i, e, places)
}

// down moves e from the hole at position i away from the root and sets it down.
func (h *shard) down(i int, e entry, places []place) {
	for {
		first := arity*i + 1
		if first >= len(h.entries) {
			break
		}
		best := first
		for c := first + 1; c < min(first+arity, len(h.entries)); c++ {
			best += (c - best) * int(h.entries[c].less(&h.entries[best]))
		}
		if !h.entries[best].before(&e) {
			break
		}
		h.put(i, h.entries[best], places)
		i = best
	}
	h.put(i, e, places)
}

// fix sets e down at or around the hole at position i.
func (h *shard) fix(i int, e entry, places []place) {
	if i > 0 && e.before(&h.entries[(i-1)/arity]) {
		h.up(i, e, places)
		return
	}
	h.down(i, e, places)
}

func (h *shard) put(i int, e entry, places []place) {
	h.entries[i] = e
	places[e.slot].pos = int32(i)
}
