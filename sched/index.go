package sched

import "github.com/throng-dev/throng/internal/kit/heap"

// An entry is one batch (or tenant) in an index.
type entry = heap.Entry

// A cell is what tells the shards of an index apart: a class of batches, or a
// class within a group of batches that a policy tells apart.
type cell struct {
	group uint32
	class Class
}

// An index keeps entries in order, a heap for each cell.
//
// For n entries: set and drop cost O(log n); a walk costs O(#cells) to start
// and O(log k) for its k-th entry, and leaves the heaps as they are. Slots are
// small integers that the owner of the index gives out; an entry is found by
// its slot without a search.
type index struct {
	shards     []shard        // by handle
	live       []int32        // handles of the shards that hold something
	freeShards []int32        // handles of the shards that do not
	byCell     map[cell]int32 // handles of the live shards
	shardOf    []int32        // by slot: the handle of the entry's shard; -1: none
	positions  []int32        // by slot: the entry's position in its shard
	front      heap.Front     // the walk's memory, kept from walk to walk
}

// set adds the entry to a cell or moves it there.
func (ix *index) set(c cell, e entry) {
	for int(e.Slot) >= len(ix.shardOf) {
		ix.shardOf, ix.positions = append(ix.shardOf, -1), append(ix.positions, 0)
	}
	if handle := ix.shardOf[e.Slot]; handle >= 0 {
		if h := &ix.shards[handle]; h.cell == c {
			if i := int(ix.positions[e.Slot]); h.entries[i] != e {
				h.entries.Fix(i, e, ix.positions)
			}
			return
		}
		ix.drop(e.Slot)
	}
	handle := ix.open(c)
	ix.shardOf[e.Slot] = handle
	ix.shards[handle].entries.Push(e, ix.positions)
}

// drop removes the slot's entry, if it has one.
func (ix *index) drop(slot uint32) {
	if !ix.has(slot) {
		return
	}
	handle := ix.shardOf[slot]
	ix.shardOf[slot] = -1
	h := &ix.shards[handle]
	h.entries.Remove(int(ix.positions[slot]), ix.positions)
	if len(h.entries) == 0 {
		ix.retire(handle)
	}
}

// has reports whether the slot has an entry.
func (ix *index) has(slot uint32) bool {
	return int(slot) < len(ix.shardOf) && ix.shardOf[slot] >= 0
}

// open returns the handle of the cell's shard, which it makes live if need be.
func (ix *index) open(c cell) int32 {
	if handle, ok := ix.byCell[c]; ok {
		return handle
	}
	var handle int32
	if n := len(ix.freeShards); n > 0 {
		handle, ix.freeShards = ix.freeShards[n-1], ix.freeShards[:n-1]
	} else {
		handle = int32(len(ix.shards))
		ix.shards = append(ix.shards, shard{})
	}
	h := &ix.shards[handle]
	h.cell, h.live = c, int32(len(ix.live))
	ix.live = append(ix.live, handle)
	if ix.byCell == nil {
		ix.byCell = map[cell]int32{}
	}
	ix.byCell[c] = handle
	return handle
}

// retire takes an empty shard out of the live ones.
func (ix *index) retire(handle int32) {
	h := &ix.shards[handle]
	last := len(ix.live) - 1
	moved := ix.live[last]
	ix.live[h.live] = moved
	ix.shards[moved].live = h.live
	ix.live = ix.live[:last]
	h.live = -1
	delete(ix.byCell, h.cell)
	ix.freeShards = append(ix.freeShards, handle)
}

// A shard is the heap of the entries of one cell.
type shard struct {
	cell
	entries heap.Heap
	live    int32 // the shard's position in index.live, or -1 when empty
}

// start adds the first entry of a shard to those that a walk may visit next.
func (ix *index) start(h *shard, handle int32) {
	ix.front.Push(heap.Spot{Entry: h.entries[0], Heap: handle})
}

// A walk visits the entries of some cells of an index in order, the best first.
// It ends when the index changes or another walk of it begins.
//
// The front is a binary heap of the entries that may be next. The one visited
// last stays at its root until the walk goes on, when its children take its
// place: a walk that ends at its first entry moves nothing.
type walk struct {
	ix      *index
	visited bool // the root of the front
}

// walk begins a walk over the cells whose class the worker may do, or over every
// cell for a nil worker.
func (ix *index) walk(w Worker) walk {
	ix.front = ix.front[:0]
	for _, handle := range ix.live {
		h := &ix.shards[handle]
		if w == nil || w.MayClass(h.class) {
			ix.start(h, handle)
		}
	}
	return walk{ix: ix}
}

// next visits the next entry; false at the end.
func (k *walk) next() (entry, bool) {
	ix := k.ix
	if k.visited {
		ix.front.Advance(ix.shards[ix.front[0].Heap].entries)
	}
	k.visited = len(ix.front) > 0
	if !k.visited {
		return entry{}, false
	}
	return ix.front[0].Entry, true
}
