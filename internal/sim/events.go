package sim

import "time"

// An event is something that will happen to somebody.
type event struct {
	who  int32  // worker, batch or fault, by kind
	gen  uint32 // a worker's: void if their plans have changed since
	kind eventKind
}

type eventKind uint8

const (
	batchArrives  eventKind = iota // who: batch
	workerArrives                  // who: a group's next worker
	workerReturns                  // who: index in world.returns
	answerComes                    // who: worker; the task in hand is done
	workerGivesUp                  // who: worker; the task in hand is skipped or returned
	heartbeat                      // who: worker; still at it
	backFromPause                  // who: worker
	sessionEnds                    // who: worker
	patienceEnds                   // who: worker; has waited long enough
	faultStrikes                   // who: fault
	stopEnds                       // of an emergency stop
)

// schedule plans an event so many ns after the start.
func (w *world) schedule(at int64, e event) { w.queue.Push(time.Duration(at), e) }
