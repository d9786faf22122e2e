package orchestrator

import (
	"container/heap"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// agenda is what is to be done later: a call to be tried again, or a run to be
// looked at.
type agenda struct{ list entries }

type entry struct {
	at   time.Time
	n    int64 // in order of adding
	call *call
	run  crowd.RunID
}

type entries struct {
	heap []entry
	n    int64
}

func (e *entries) Len() int { return len(e.heap) }
func (e *entries) Less(i, j int) bool {
	if c := e.heap[i].at.Compare(e.heap[j].at); c != 0 {
		return c < 0
	}
	return e.heap[i].n < e.heap[j].n
}
func (e *entries) Swap(i, j int) { e.heap[i], e.heap[j] = e.heap[j], e.heap[i] }
func (e *entries) Push(x any)    { e.heap = append(e.heap, x.(entry)) }
func (e *entries) Pop() any {
	last := e.heap[len(e.heap)-1]
	e.heap = e.heap[:len(e.heap)-1]
	return last
}

func (a *agenda) add(x entry) {
	x.at = x.at.Truncate(time.Microsecond) // as precise as the conductor's clock: or it would be due, and not yet
	a.list.n++
	x.n = a.list.n
	heap.Push(&a.list, x)
}

// due takes out the first entry that is due.
func (a *agenda) due(now time.Time) (entry, bool) {
	if len(a.list.heap) == 0 || a.list.heap[0].at.After(now) {
		return entry{}, false
	}
	return heap.Pop(&a.list).(entry), true
}

// next returns when the first entry is due; zero: there is none.
func (a *agenda) next() time.Time {
	if len(a.list.heap) == 0 {
		return time.Time{}
	}
	return a.list.heap[0].at
}
