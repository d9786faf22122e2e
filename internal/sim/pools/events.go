package pools

import "time"

// An event is something that will happen.
type event struct {
	n    uint64 // of a recruit: the number; of a person: which visit, void if it is over
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
	recruitComes                   // who: pool; n: the number
	somebodyComes                  // of the process, for the pool that asked first
	controlStep
)

// schedule plans an event so many ns after the start.
func (w *world) schedule(at int64, e event) { w.queue.Push(time.Duration(at), e) }

// first is when the next event is; there is always a control step to come.
func (w *world) first() int64 {
	at, _ := w.queue.Next()
	return int64(at)
}
