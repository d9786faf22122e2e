package sim

import "slices"

// An event is something that will happen to somebody at a time.
type event struct {
	at   int64  // ns since the start
	seq  uint64 // of two at the same time, the one that was planned first
	who  int32  // worker, batch or fault, by kind
	gen  uint32 // a worker's: void if his plans have changed since
	kind eventKind
}

type eventKind uint8

const (
	batchArrives  eventKind = iota // who: batch
	workerArrives                  // who: a group's next worker
	answerComes                    // who: worker; he is done with what he holds
	workerGivesUp                  // who: worker; he skips or returns what he holds
	heartbeat                      // who: worker; still at it
	backFromPause                  // who: worker
	sessionEnds                    // who: worker
	patienceEnds                   // who: worker; he has waited long enough
	faultStrikes                   // who: fault
	stopEnds                       // of an emergency stop
)

func (a *event) before(b *event) bool {
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

// agenda holds the events to come: a heap in which each entry has four
// children, which is half as deep as one with two, for comparisons that lie
// together.
type agenda struct {
	heap []event
	seq  uint64
}

func (a *agenda) push(e event) {
	a.seq++
	e.seq = a.seq
	a.heap = append(a.heap, e)
	i := len(a.heap) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&a.heap[parent]) {
			break
		}
		a.heap[i] = a.heap[parent]
		i = parent
	}
	a.heap[i] = e
}

// next returns the time of the first event, or false.
func (a *agenda) next() (int64, bool) {
	if len(a.heap) == 0 {
		return 0, false
	}
	return a.heap[0].at, true
}

func (a *agenda) pop() event {
	top := a.heap[0]
	last := len(a.heap) - 1
	e := a.heap[last]
	a.heap = a.heap[:last]
	if last == 0 {
		return top
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= last {
			break
		}
		best := first
		for c := first + 1; c < min(first+4, last); c++ {
			if a.heap[c].before(&a.heap[best]) {
				best = c
			}
		}
		if !a.heap[best].before(&e) {
			break
		}
		a.heap[i] = a.heap[best]
		i = best
	}
	a.heap[i] = e
	return top
}

// drop takes the events out that are void.
func (a *agenda) drop(void func(*event) bool) {
	a.heap = slices.DeleteFunc(a.heap, func(e event) bool { return void(&e) })
	slices.SortFunc(a.heap, func(x, y event) int {
		if x.before(&y) {
			return -1
		}
		return 1
	}) // sorted is a heap too
}
