package orchestrator

import (
	"container/heap"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// timer is something to do at a time: to try a call again, or to advance a run.
type timer struct {
	at   time.Time
	n    int64 // in order of adding
	call *call // nil: a run
	run  crowd.RunID
}

// timerQueue holds timers, the first that is due first.
type timerQueue struct {
	list  timerHeap
	added int64
}

func (q *timerQueue) add(t timer) {
	t.at = t.at.Truncate(time.Microsecond) // as precise as the orchestrator's clock, so that it is due when the clock says so
	q.added++
	t.n = q.added
	heap.Push(&q.list, t)
}

// due takes out the first timer that is due.
func (q *timerQueue) due(now time.Time) (timer, bool) {
	if len(q.list) == 0 || q.list[0].at.After(now) {
		return timer{}, false
	}
	return heap.Pop(&q.list).(timer), true
}

// next returns when the first timer is due; zero: there is none.
func (q *timerQueue) next() time.Time {
	if len(q.list) == 0 {
		return time.Time{}
	}
	return q.list[0].at
}

// timerHeap is a heap.Interface.
type timerHeap []timer

func (h timerHeap) Len() int      { return len(h) }
func (h timerHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h timerHeap) Less(i, j int) bool {
	if c := h[i].at.Compare(h[j].at); c != 0 {
		return c < 0
	}
	return h[i].n < h[j].n
}
func (h *timerHeap) Push(x any) { *h = append(*h, x.(timer)) }
func (h *timerHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
