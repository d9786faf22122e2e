package sched

import (
	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/random"
)

// An idTable maps batches to small integers: a hash table with open addressing
// and linear probing. Each event and each candidate of a decision looks a batch
// up, several times under a wrapper; batch ids count up, so multiplying spreads
// them evenly and the first probe mostly hits.
type idTable struct {
	cells []idCell // a power of two, none, or at most three quarters of them in use
	used  int
	shift uint8 // 64 less the binary logarithm of len(cells)
}

type idCell struct {
	id    crowd.BatchID
	value uint32 // one more than what is kept; 0: the cell is free
}

// home is where the search for an id starts. The factor is 2^64 divided by the
// golden ratio. Source: Knuth, The Art of Computer Programming 3, §6.4.
func (t *idTable) home(id crowd.BatchID) int {
	return int(uint64(id) * random.Golden >> t.shift)
}

// get returns what is kept for the id, and 0 and false if there is nothing.
func (t *idTable) get(id crowd.BatchID) (uint32, bool) {
	if t.used == 0 {
		return 0, false
	}
	c := &t.cells[t.search(id)]
	if c.value == 0 {
		return 0, false
	}
	return c.value - 1, true
}

// search returns the place of the id, or of the free cell where it would be.
func (t *idTable) search(id crowd.BatchID) int {
	i := t.home(id)
	for t.cells[i].value != 0 && t.cells[i].id != id {
		i = (i + 1) & (len(t.cells) - 1)
	}
	return i
}

// put keeps a value, less than 2^32 - 1, for the id.
func (t *idTable) put(id crowd.BatchID, value uint32) {
	if 4*(t.used+1) > 3*len(t.cells) {
		t.grow()
	}
	c := &t.cells[t.search(id)]
	if c.value == 0 {
		t.used++
	}
	*c = idCell{id, value + 1}
}

func (t *idTable) grow() {
	old := t.cells
	if len(old) == 0 {
		t.cells, t.shift = make([]idCell, 8), 64-3
		return
	}
	t.cells = make([]idCell, 2*len(old))
	t.shift--
	for _, c := range old {
		if c.value != 0 {
			t.cells[t.search(c.id)] = c
		}
	}
}

// remove forgets the id. The cells behind it that would no longer be found move
// up.
func (t *idTable) remove(id crowd.BatchID) {
	if t.used == 0 {
		return
	}
	hole := t.search(id)
	if t.cells[hole].value == 0 {
		return
	}
	t.used--
	last := len(t.cells) - 1
	for i := (hole + 1) & last; t.cells[i].value != 0; i = (i + 1) & last {
		if home := t.home(t.cells[i].id); (i-home)&last >= (i-hole)&last {
			t.cells[hole] = t.cells[i]
			hole = i
		}
	}
	t.cells[hole] = idCell{}
}
