package sim

import (
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/heap"
)

// world is a run under way: the engine, and all that drives it under virtual time.
type world struct {
	run     *Run
	setup   *Setup
	engine  *engine.Engine
	epoch   time.Time
	horizon int64
	now     int64 // ns since the start
	queue   heap.Queue[event]
	changes engine.Changes
	unread  int // commands since the changes were last read
	err     error

	cast    *Cast
	batches []batchState
	byID    map[crowd.BatchID]int32
	toCome  int     // batches that have not arrived
	open    []int32 // batches that have arrived and not ended
	workers []workerState
	vacant  []int32        // places in workers of those who are gone
	firstID crowd.WorkerID // of those who come; those before it are of a Start's pool
	comers  crowd.WorkerID // new people so far
	people  map[crowd.WorkerID]int32
	missed  map[crowd.AssignmentID]crowd.WorkerID // workers who have vanished with a task
	returns []crowd.WorkerID                      // who comes back, by events of workerReturns
	called  uint64                                // arrivals so far of a Start's members
	gates   []gate
	present int
	working int
	waiting int
	stopped int64 // until when the emergency stop lasts
	spent   crowd.Money

	figure                                                                                  Rand // see draw
	service, answers, truths, speeds, sessions, pauses, patience, habits, switches, members Stream

	out     Outcome
	sampler sampler
	books   books
	viewed  []BatchView // the memory of views
	audit   *audit
}

// batchState is a batch while the run lasts.
type batchState struct {
	kind        int32
	place       int32 // in world.open, -1 when it is not there
	class       int32
	endsItself  bool // when it has enough, before its last task is done
	perWorker   bool // several people answer a task, so its figures are each worker's own
	checks      bool // some hand-outs are checks
	running     int32
	completed   int32 // provisional answers among them
	provisional int32 // that do not count yet
	planned     int32
	lease       int64
	id          crowd.BatchID
	priority    float64
	x           float64 // x_b: see books; of the figures above, while it is open and somebody works on it
}

// workerState is a person.
type workerState struct {
	id       crowd.WorkerID
	self     uint64 // the same worker under every policy
	group    int32
	batch    int32  // index of the batch of the task in hand
	last     int32  // of the last assignment, -1: none
	gen      uint32 // of the plans
	visit    uint32 // how many had this place before
	doing    doing
	leaving  bool
	speed    float64
	since    int64 // when the present activity began
	came     int64
	waits    uint64 // so far
	pauses   uint64
	holds    engine.Handout
	practice []uint16 // tasks done, by kind; nil unless somebody learns
}

type doing uint8

func (w *world) time() time.Time { return w.epoch.Add(time.Duration(w.now)) }

func (w *world) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
