package engine

import (
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// timer is something that is due at a time: the lease of the task that a
// worker holds, or the lifetime of a batch. Each worker and each batch has one.
type timer struct {
	at     time.Time
	worker *worker
	batch  *batch
	place  int // in the heap, from 1; 0: not set
}

func (t *timer) owner() (w crowd.WorkerID, b crowd.BatchID) {
	if t.worker != nil {
		return t.worker.id, 0
	}
	return 0, t.batch.spec.ID
}

// timers is a heap in which each entry has up to four children, and timers know
// their places. Entries have the time at hand, so that comparing touches
// nothing else.
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

func (h timers) next() (time.Time, bool) {
	if len(h) == 0 {
		return time.Time{}, false
	}
	return h[0].timer.at, true
}

// due unsets and returns the first timer that is due, or nil.
func (h *timers) due(now time.Time) *timer {
	if len(*h) == 0 || (*h)[0].timer.at.After(now) {
		return nil
	}
	t := (*h)[0].timer
	h.unset(t)
	return t
}

// set starts t, or moves it.
func (h *timers) set(t *timer, at time.Time) {
	t.at = at
	if t.place == 0 {
		*h = append(*h, alarm{})
		t.place = len(*h)
	}
	ns := int64(math.MaxInt64)
	if at.Unix() < math.MaxInt64/int64(time.Second) {
		ns = at.UnixNano()
	}
	h.settle(alarm{ns, t}, t.place-1)
}

func (h *timers) unset(t *timer) {
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
