package sim

import "time"

// An event is something that will happen to somebody.
type event struct {
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

// later puts an event in the event queue, so many ns after the start.
func (w *world) later(at int64, e event) { w.eventQueue.Push(time.Duration(at), e) }
