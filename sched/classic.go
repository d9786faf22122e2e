package sched

import "fmt"

// The orders of the paper's §2.4: first in, first out; shortest job first; earliest
// deadline first; round robin.

// fifo: least Arrived first (§2.4.1). Deliberately starves: the oldest batch
// takes every worker.
type fifo struct{}

func (fifo) rank(_ uint32, r *record) uint64 { return fromInt(r.arrived) }

func (fifo) explain(_ uint32, r *record, k *Key) {
	k.Words = "first in, first out: arrived " + instantNote(r.arrived)
	k.Rank = instant(r.arrived)
	k.Figures = []Figure{{"arrived", k.Rank[0], instantNote(r.arrived)}}
}

// sjf: least expected time of one assignment first (§2.4.2).
type sjf struct{}

func (sjf) rank(_ uint32, r *record) uint64 { return fromInt(int64(r.taskTime)) }

func (sjf) explain(_ uint32, r *record, k *Key) {
	k.Words = fmt.Sprintf("shortest job first: an assignment is expected to take %s", r.taskTime)
	k.Rank = []Number{Number(r.taskTime.Seconds())}
	k.Figures = []Figure{{"task_time", k.Rank[0], "seconds"}}
}

// edf: earliest deadline first, batches without one last (§2.4.3).
type edf struct{}

func (edf) rank(_ uint32, r *record) uint64 { return fromInt(r.deadline) }

func (edf) explain(_ uint32, r *record, k *Key) {
	k.Rank = instant(r.deadline)
	if r.deadline == noDeadline {
		k.Words = "earliest deadline first: no deadline, so after every batch with one"
		return
	}
	k.Words = "earliest deadline first: due " + instantNote(r.deadline)
	k.Figures = []Figure{{"deadline", k.Rank[0], instantNote(r.deadline)}}
}

// rr: the batch whose last turn is longest ago first (§2.4.4).
type rr struct{}

func (rr) rank(_ uint32, r *record) uint64 { return r.turn }

func (rr) explain(_ uint32, r *record, k *Key) {
	k.Words = fmt.Sprintf("round robin: last turn at hand-out %d of the pool", r.turn)
	k.Rank = []Number{Number(r.turn)}
}
