package engine

import (
	"math"
	"time"

	"github.com/throng-dev/throng/internal/kit/heap"
)

// timer is something that is due at a time: the lease of the task that a
// worker holds, or else their silence; the lifetime of a batch, or the grace of its
// answers; or, of neither, the pool's payday. Each worker, each batch and the pool has one.
type timer struct {
	at     time.Time
	on     bool   // else stopped, though it may still be in the heap
	key    uint64 // at, as the heap orders it
	worker *worker
	batch  *batch
	place  int // in timers.bySlot, from 1; 0: not there
}

// entry is the timer as the heap has it. What the timers are for breaks ties, so that
// the order in which they were set does not matter.
func (t *timer) entry() heap.Entry {
	e := heap.Entry{Key: t.key, Slot: uint32(t.place - 1)}
	if t.worker != nil {
		e.ID = int64(t.worker.id)
	}
	if t.batch != nil {
		e.Turn = uint64(t.batch.spec.ID)
		if t.batch.grace.times(t) {
			e.ID = -1
		}
	}
	return e
}

// timers are those that are set, the first that is due first.
//
// Most leases are stopped long before they run out, and the worker's next one
// starts at once. So a timer that is stopped, or set to a later time, stays where
// it is: an entry may be earlier than its timer, and is moved when it comes to the front.
type timers struct {
	heap   heap.Indexed
	bySlot []*timer
	free   []uint32 // slots
}

// first returns the timer that is due first, or nil.
func (h *timers) first() *timer {
	for len(h.heap.Entries) > 0 {
		e := &h.heap.Entries[0]
		switch t := h.bySlot[e.Slot]; {
		case !t.on:
			h.unset(t)
		case e.Key < t.key:
			h.heap.Set(t.entry())
		default:
			return t
		}
	}
	return nil
}

func (h *timers) next() (time.Time, bool) {
	if t := h.first(); t != nil {
		return t.at, true
	}
	return time.Time{}, false
}

// due unsets and returns the first timer that is due, or nil.
func (h *timers) due(now time.Time) *timer {
	t := h.first()
	if t == nil || t.at.After(now) {
		return nil
	}
	h.unset(t)
	return t
}

// set starts t, or moves it.
func (h *timers) set(t *timer, at time.Time) {
	t.at, t.on, t.key = at, true, math.MaxUint64 // what is beyond 2262 is as late as that
	if at.Unix() < math.MaxInt64/int64(time.Second) {
		const sign = 1 << 63 // times are signed
		t.key = uint64(at.UnixNano()) ^ sign
	}
	switch {
	case t.place > 0:
		if t.key >= h.heap.At(uint32(t.place-1)).Key {
			return
		}
	case len(h.free) > 0:
		last := len(h.free) - 1
		t.place = int(h.free[last]) + 1
		h.free, h.bySlot[t.place-1] = h.free[:last], t
	default:
		h.bySlot = append(h.bySlot, t)
		t.place = len(h.bySlot)
	}
	h.heap.Set(t.entry())
}

// stop stops a timer that is likely to be set again.
func (t *timer) stop() { t.on = false }

// unset stops t and takes it out of the heap.
func (h *timers) unset(t *timer) {
	t.on = false
	if t.place == 0 {
		return
	}
	slot := uint32(t.place - 1)
	h.heap.Remove(slot)
	h.bySlot[slot], h.free, t.place = nil, append(h.free, slot), 0
}
