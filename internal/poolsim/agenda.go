package poolsim

// An event is something that will happen at a time.
type event struct {
	at   int64  // ns since the start
	seq  uint64 // of two at the same time, the one that was planned first
	n    uint64 // of a recruit: his number; of a person: which visit, void if it is over
	who  int32  // pool or person, by kind
	kind eventKind
}

type eventKind uint8

const (
	tasksArrive   eventKind = iota // who: pool; one by one, at random
	burstComes                     // who: pool; n: which one of its list
	timeComes                      // who: pool; n: which one of its list
	phaseBegins                    // who: pool; n: which one
	taskDone                       // who: person
	stayEnds                       // who: person
	recruitComes                   // who: pool; n: his number
	somebodyComes                  // of the process, whoever is asked for
	controlStep
)

func (a *event) before(b *event) bool {
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

// agenda holds the events to come: a heap in which each entry has four children.
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
