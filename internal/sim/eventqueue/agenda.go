// Package eventqueue holds what is to happen in a simulated world, in the order of
// time: the first thing that every next-event simulation needs.
package eventqueue

import (
	"math/bits"
	"time"
)

// An Agenda holds things to come, each with its time: since the start of the
// world, or of whatever the world counts from. Of two at the same time, the one
// that was planned first comes first. The zero Agenda is empty.
//
// It is a heap in which each entry has four children, which is half as deep as
// one with two, for comparisons that lie together. Most things that happen plan
// one other. So the place of what was taken out stays open at the root until the
// next thing is planned, which then moves down from there, or until something
// else is asked of the heap.
type Agenda[T any] struct {
	heap    []entry[T]
	open    bool // heap[0] has been taken out
	planned uint64
}

type entry[T any] struct {
	at   time.Duration
	turn uint64 // how many were planned before
	what T
}

// before is 1 if a comes before b, else 0: the borrow of a subtraction of time and
// turn as one long number. To branch on what no processor can predict costs more.
func (a *entry[T]) before(b *entry[T]) uint64 {
	const sign = 1 << 63 // times are signed
	_, borrow := bits.Sub64(a.turn, b.turn, 0)
	_, borrow = bits.Sub64(uint64(a.at)^sign, uint64(b.at)^sign, borrow)
	return borrow
}

// Plan puts down that something happens at a time. O(log n).
func (a *Agenda[T]) Plan(at time.Duration, what T) {
	a.planned++
	e := entry[T]{at, a.planned, what}
	if a.open {
		a.open = false
		a.sink(e, 0)
		return
	}
	a.heap = append(a.heap, e)
	heap, i := a.heap, len(a.heap)-1
	for i > 0 {
		parent := (i - 1) / 4
		if e.before(&heap[parent]) == 0 {
			break
		}
		heap[i] = heap[parent]
		i = parent
	}
	heap[i] = e
}

// Len is how many things are to come.
func (a *Agenda[T]) Len() int {
	if a.open {
		return len(a.heap) - 1
	}
	return len(a.heap)
}

// Next returns the time of the first thing to come, or false.
func (a *Agenda[T]) Next() (time.Duration, bool) {
	a.close()
	if len(a.heap) == 0 {
		return 0, false
	}
	return a.heap[0].at, true
}

// Take takes out the first thing to come; there must be one. O(log n).
func (a *Agenda[T]) Take() (time.Duration, T) {
	a.close()
	a.open = true
	first := &a.heap[0]
	what := first.what
	first.what = *new(T) // lest it be kept
	return first.at, what
}

// Drop takes everything out that is void. O(n).
func (a *Agenda[T]) Drop(void func(T) bool) {
	a.close()
	kept := a.heap[:0]
	for i := range a.heap {
		if !void(a.heap[i].what) {
			kept = append(kept, a.heap[i])
		}
	}
	clear(a.heap[len(kept):])
	a.heap = kept
	for i := len(kept)/4 + 1; i >= 0; i-- { // those behind have no children
		if i < len(kept) {
			a.sink(kept[i], i)
		}
	}
}

// close takes the open place away.
func (a *Agenda[T]) close() {
	if !a.open {
		return
	}
	a.open = false
	last := len(a.heap) - 1
	e := a.heap[last]
	a.heap[last] = entry[T]{}
	a.heap = a.heap[:last]
	if last > 0 {
		a.sink(e, 0)
	}
}

// sink moves e down from the open place i.
func (a *Agenda[T]) sink(e entry[T], i int) {
	heap := a.heap
	for {
		first := 4*i + 1
		if first >= len(heap) {
			break
		}
		best := first
		for c := first + 1; c < min(first+4, len(heap)); c++ {
			best += (c - best) * int(heap[c].before(&heap[best]))
		}
		if heap[best].before(&e) == 0 {
			break
		}
		heap[i] = heap[best]
		i = best
	}
	heap[i] = e
}
