package sched

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// groups keeps batches apart: a policy of its own orders the batches of each group,
// and an index orders the groups that have a candidate. A group of which no batch
// suits the worker is passed over.
//
// A decision costs O(log groups) and the inner policy's decision, for each group
// tried; an event O(log groups) and the inner policy's.
type groups struct {
	fresh func() Policy
	place func(slot uint32) entry // where a group stands in the order
	list  []bucket                // by slot, which the owner gives out
	parts map[crowd.BatchID]part
	ix    index // the groups with a candidate, in one class
}

type bucket struct {
	running    int64
	open       int    // batches
	candidates int    // of those, assignable ones
	inner      Policy // nil while open is 0
}

// A part is what a batch contributes to its group.
type part struct {
	group      uint32 // slot
	running    uint32
	assignable bool
}

func newGroups(fresh func() Policy, place func(slot uint32) entry) groups {
	return groups{fresh: fresh, place: place, parts: map[crowd.BatchID]part{}}
}

// set puts a batch into a group, which may have changed in what its owner keeps of it.
func (g *groups) set(slot uint32, b *Batch) {
	old, known := g.parts[b.ID]
	if known && (old.group != slot || !b.Open()) {
		g.Remove(b.ID)
		old, known = part{}, false
	}
	x := &g.list[slot]
	if b.Open() {
		if !known {
			x.open++
		}
		now := part{slot, clampCount(b.Running), b.Assignable}
		x.replace(old, now)
		if !known || now != old {
			g.parts[b.ID] = now
		}
		if x.inner == nil {
			x.inner = g.fresh()
		}
		x.inner.Set(b)
	}
	g.order(slot)
}

func (g *groups) Remove(id crowd.BatchID) {
	old, known := g.parts[id]
	if !known {
		return
	}
	delete(g.parts, id)
	x := &g.list[old.group]
	x.replace(old, part{})
	x.open--
	if x.open == 0 {
		x.inner = nil
	} else {
		x.inner.Remove(id)
	}
	g.order(old.group)
}

// replace changes what a batch contributes.
func (x *bucket) replace(old, now part) {
	x.running += int64(now.running) - int64(old.running)
	if old.assignable {
		x.candidates--
	}
	if now.assignable {
		x.candidates++
	}
}

// order puts the group where it belongs.
func (g *groups) order(slot uint32) {
	if g.list[slot].candidates == 0 {
		g.ix.drop(slot)
		return
	}
	g.ix.set(cell{}, g.place(slot))
}

func (g *groups) Next(now time.Time, w Worker) crowd.BatchID {
	walk := g.ix.walk(nil)
	for e, ok := walk.next(); ok; e, ok = walk.next() {
		if id := g.list[e.Slot].inner.Next(now, w); id != 0 {
			return id
		}
	}
	return 0
}

// key returns the batch's place within its group, and the group.
func (g *groups) key(id crowd.BatchID) (slot uint32, inner Key, ok bool) {
	at, ok := g.parts[id]
	if !ok {
		return 0, Key{}, false
	}
	inner, _ = g.list[at.group].inner.Key(id)
	return at.group, inner, true
}
