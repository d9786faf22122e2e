package sched

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
	places     []place        // by slot
	front      []spot         // the walk's memory, kept from walk to walk
}

// set adds the entry to a cell or moves it there.
func (ix *index) set(c cell, e entry) {
	for int(e.slot) >= len(ix.places) {
		ix.places = append(ix.places, place{shard: -1})
	}
	at := ix.places[e.slot]
	if at.shard >= 0 {
		if h := &ix.shards[at.shard]; h.cell == c {
			if h.entries[at.pos] != e {
				h.fix(int(at.pos), e, ix.places)
			}
			return
		}
		ix.drop(e.slot)
	}
	handle := ix.shardOf(c)
	h := &ix.shards[handle]
	ix.places[e.slot].shard = handle
	h.entries = append(h.entries, e)
	h.up(len(h.entries)-1, e, ix.places)
}

// drop takes the slot's entry out, if it is in.
func (ix *index) drop(slot uint32) {
	if !ix.has(slot) {
		return
	}
	at := ix.places[slot]
	ix.places[slot].shard = -1
	h := &ix.shards[at.shard]
	last := len(h.entries) - 1
	e := h.entries[last]
	h.entries = h.entries[:last]
	if int(at.pos) < last {
		h.fix(int(at.pos), e, ix.places)
	}
	if last == 0 {
		ix.retire(at.shard)
	}
}

// has reports whether the slot has an entry.
func (ix *index) has(slot uint32) bool {
	return int(slot) < len(ix.places) && ix.places[slot].shard >= 0
}

// shardOf returns the handle of the cell's shard, making it live if need be.
func (ix *index) shardOf(c cell) int32 {
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
	h.cell, h.bias, h.live = c, 0, int32(len(ix.live))
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

// A spot is an entry that a walk may visit next, and where it lies.
type spot struct {
	entry
	shard, pos int32
}

// spot returns the entry at position i as a walk sees it.
func (h *shard) spot(handle int32, i int) spot {
	s := spot{h.entries[i], handle, int32(i)}
	s.key += h.bias
	return s
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
			ix.push(h.spot(handle, 0))
		}
	}
	return walk{ix: ix}
}

// next visits the next entry; false at the end.
func (k *walk) next() (entry, bool) {
	ix := k.ix
	if k.visited {
		ix.advance()
	}
	k.visited = len(ix.front) > 0
	if !k.visited {
		return entry{}, false
	}
	return ix.front[0].entry, true
}

// advance replaces the root of the front by its children in the shard.
func (ix *index) advance() {
	at := ix.front[0]
	h := &ix.shards[at.shard]
	first := arity*int(at.pos) + 1
	if first >= len(h.entries) {
		last := len(ix.front) - 1
		s := ix.front[last]
		ix.front = ix.front[:last]
		if last > 0 {
			ix.sink(s)
		}
		return
	}
	ix.sink(h.spot(at.shard, first))
	for c := first + 1; c < min(first+arity, len(h.entries)); c++ {
		ix.push(h.spot(at.shard, c))
	}
}

// push adds s to the front.
func (ix *index) push(s spot) {
	ix.front = append(ix.front, s)
	front, i := ix.front, len(ix.front)-1
	for i > 0 {
		parent := (i - 1) / 2
		if !s.before(&front[parent].entry) {
			break
		}
		front[i] = front[parent]
		i = parent
	}
	front[i] = s
}

// sink puts s in the place of the root of the front.
func (ix *index) sink(s spot) {
	front, i := ix.front, 0
	for {
		c := 2*i + 1
		if c >= len(front) {
			break
		}
		if c+1 < len(front) {
			c += int(front[c+1].less(&front[c].entry))
		}
		if !front[c].before(&s.entry) {
			break
		}
		front[i] = front[c]
		i = c
	}
	front[i] = s
}
