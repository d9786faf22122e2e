package pools

import "time"

// An event is something that will happen.
type event struct {
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

// later puts an event in the event queue, so many ns after the start.
func (w *world) later(at int64, e event) { w.eventQueue.Push(time.Duration(at), e) }

// first is when the next event is; there is always a control step to come.
func (w *world) first() int64 {
	at, _ := w.eventQueue.Next()
	return int64(at)
}
