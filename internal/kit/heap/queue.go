package heap

import (
	"math/bits"
	"time"
)

// A Queue holds events, each with its time: since the start of the world, or of
// whatever the owner counts from. Of two at the same time, the one that was pushed
// first comes first. The zero Queue is empty.
//
// Most events of a simulation push one other. So the place of what was popped stays
// open at the root until the next event is pushed, which then moves down from
// there, or until something else is asked of the queue.
//
// An event is kept in its entry, which has neither ID nor slot: with them, the four
// children of a node would not fit into two cache lines.
type Queue[T any] struct {
	heap   []timed[T]
	open   bool // heap[0] has been popped
	pushed uint64
}

type timed[T any] struct {
	at    time.Duration
	turn  uint64 // how many were pushed before
	event T
}

// less is 1 if a comes before b, else 0, as of entries.
func (a *timed[T]) less(b *timed[T]) uint64 {
	const sign = 1 << 63 // times are signed
	_, borrow := bits.Sub64(a.turn, b.turn, 0)
	_, borrow = bits.Sub64(uint64(a.at)^sign, uint64(b.at)^sign, borrow)
	return borrow
}

// Push adds an event. O(log n).
func (q *Queue[T]) Push(at time.Duration, event T) {
	q.pushed++
	e := timed[T]{at, q.pushed, event}
	if q.open {
		q.open = false
		q.sink(e, 0)
		return
	}
	q.heap = append(q.heap, e)
	heap, i := q.heap, len(q.heap)-1
	for i > 0 {
		parent := (i - 1) / arity
		if e.less(&heap[parent]) == 0 {
			break
		}
		heap[i] = heap[parent]
		i = parent
	}
	heap[i] = e
}

// Len returns the number of events.
func (q *Queue[T]) Len() int {
	if q.open {
		return len(q.heap) - 1
	}
	return len(q.heap)
}

// Next returns the time of the first event, or false.
func (q *Queue[T]) Next() (time.Duration, bool) {
	q.close()
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].at, true
}

// Pop removes and returns the first event; there must be one. O(log n).
func (q *Queue[T]) Pop() (time.Duration, T) {
	q.close()
	q.open = true
	first := &q.heap[0]
	event := first.event
	first.event = *new(T) // so that its memory can be freed
	return first.at, event
}

// DeleteFunc removes the events for which del returns true. O(n).
func (q *Queue[T]) DeleteFunc(del func(T) bool) {
	q.close()
	kept := q.heap[:0]
	for i := range q.heap {
		if !del(q.heap[i].event) {
			kept = append(kept, q.heap[i])
		}
	}
	clear(q.heap[len(kept):])
	q.heap = kept
	for i := (len(kept) - 2) / arity; i >= 0 && len(kept) > 1; i-- {
		q.sink(kept[i], i)
	}
}

// close fills the open place at the root.
func (q *Queue[T]) close() {
	if !q.open {
		return
	}
	q.open = false
	last := len(q.heap) - 1
	e := q.heap[last]
	q.heap[last] = timed[T]{}
	q.heap = q.heap[:last]
	if last > 0 {
		q.sink(e, 0)
	}
}

// sink moves e down from the open place i.
func (q *Queue[T]) sink(e timed[T], i int) {
	heap := q.heap
	for {
		first := arity*i + 1
		if first >= len(heap) {
			break
		}
		best := first
		for c := first + 1; c < min(first+arity, len(heap)); c++ {
			best += (c - best) * int(heap[c].less(&heap[best]))
		}
		if heap[best].less(&e) == 0 {
			break
		}
		heap[i] = heap[best]
		i = best
	}
	heap[i] = e
}
