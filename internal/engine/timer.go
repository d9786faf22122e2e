package engine

import (
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// timer is something that is due at a time: the lease of the task that a
// worker holds, or else their silence; the lifetime of a batch; or, of neither, the
// pool's payday. Each worker, each batch and the pool has one.
type timer struct {
	at     time.Time
	on     bool  // else stopped, though it may still be in the heap
	alarm  int64 // at, as the heap orders it
	worker *worker
	batch  *batch
	place  int // in the heap, from 1; 0: not there
}

func (t *timer) owner() (w crowd.WorkerID, b crowd.BatchID) {
	if t.worker != nil {
		w = t.worker.id
	}
	if t.batch != nil {
		b = t.batch.spec.ID
	}
	return w, b
}

// timers is a heap in which each entry has up to four children, and timers know
// their places. Entries have the time at hand, so that comparing touches
// nothing else.
//
// Most leases are stopped long before they run out, and the worker's next one
// starts at once. So a timer that is stopped, or set to a later time, stays where
// it is: an entry may be earlier than its timer, and is put right when it comes to
// the front.
type timers []alarm

type alarm struct {
	at    int64 // ns since 1970; what is beyond 2262 is as late as that
	timer *timer
}

// fanOut is the number of children of an entry.
const fanOut = 4

// before orders by time, then by what the timers are for, so that the order in
// which they were set does not matter.
func (a alarm) before(b alarm) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	aw, ab := a.timer.owner()
	bw, bb := b.timer.owner()
	if ab != bb {
		return ab < bb
	}
	return aw < bw
}

// first returns the timer that is due first, or nil.
func (h *timers) first() *timer {
	for len(*h) > 0 {
		a := (*h)[0]
		switch {
		case !a.timer.on:
			h.unset(a.timer)
		case a.at < a.timer.alarm:
			h.settle(alarm{a.timer.alarm, a.timer}, 0)
		default:
			return a.timer
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
	t.at, t.on, t.alarm = at, true, math.MaxInt64
	if at.Unix() < math.MaxInt64/int64(time.Second) {
		t.alarm = at.UnixNano()
	}
	switch {
	case t.place == 0:
		*h = append(*h, alarm{})
		t.place = len(*h)
	case t.alarm >= (*h)[t.place-1].at:
		return
	}
	h.settle(alarm{t.alarm, t}, t.place-1)
}

// stop stops a timer that is likely to be set again.
func (t *timer) stop() { t.on = false }

// unset stops t and takes it out of the heap.
func (h *timers) unset(t *timer) {
	t.on = false
	if t.place == 0 {
		return
	}
	s, hole := *h, t.place-1
	last := s[len(s)-1]
	s[len(s)-1] = alarm{}
	*h = s[:len(s)-1]
	t.place = 0
	if last.timer != t {
		h.settle(last, hole)
	}
}

// settle puts a where it belongs, given a hole in the heap.
func (h timers) settle(a alarm, hole int) {
	for hole > 0 && a.before(h[(hole-1)/fanOut]) {
		h.put(h[(hole-1)/fanOut], hole)
		hole = (hole - 1) / fanOut
	}
	for {
		first := fanOut*hole + 1
		if first >= len(h) {
			break
		}
		child := first
		for c := first + 1; c < min(first+fanOut, len(h)); c++ {
			if h[c].before(h[child]) {
				child = c
			}
		}
		if !h[child].before(a) {
			break
		}
		h.put(h[child], hole)
		hole = child
	}
	h.put(a, hole)
}

func (h timers) put(a alarm, hole int) { h[hole], a.timer.place = a, hole+1 }
