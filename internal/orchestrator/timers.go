package orchestrator

import (
	"time"

	"github.com/throng-dev/throng/internal/kit/heap"
)

// timers hold what is to be done at some time, the first that is due first.
type timers[T any] struct{ queue heap.Queue[T] }

func (q *timers[T]) add(at time.Time, what T) {
	q.queue.Push(time.Duration(at.UnixNano()), what)
}

// due takes out the first that is due.
func (q *timers[T]) due(now time.Time) (what T, ok bool) {
	if at, ok := q.queue.Next(); !ok || at > time.Duration(now.UnixNano()) {
		return what, false
	}
	_, what = q.queue.Pop()
	return what, true
}

// next returns when the first is due; zero: there is none.
func (q *timers[T]) next() time.Time {
	at, ok := q.queue.Next()
	if !ok {
		return time.Time{}
	}
	return time.Unix(0, int64(at)).UTC()
}

// nextOf returns the earlier of two times, of which the zero time is never.
func nextOf(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
