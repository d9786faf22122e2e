package sched

import (
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// The domain of the figures of a batch. The bounds of Priority and TenantWeight
// keep every sum exact (see exact); a factor of 10^12 between two batches is
// more than anybody can mean.
const (
	MinPriority = 1e-6
	MaxPriority = 1e6
	MaxPlanned  = crowd.MaxInBatch
)

// Validate returns nil, or an Invalid error that names the first figure that is
// out of its domain. It is for the edges, where figures come in; Set does not
// call it.
func (b Batch) Validate() error {
	switch {
	case b.ID < 1:
		return crowd.Fieldf("id", "must be at least 1, not %d", int64(b.ID))
	case !(b.TenantWeight >= MinPriority && b.TenantWeight <= MaxPriority):
		return crowd.Fieldf("tenant_weight", "must be from %s to %s, not %s", format.Number(MinPriority), format.Number(MaxPriority), format.Number(b.TenantWeight))
	case !(b.Priority >= MinPriority && b.Priority <= MaxPriority):
		return crowd.Fieldf("priority", "must be from %s to %s, not %s", format.Number(MinPriority), format.Number(MaxPriority), format.Number(b.Priority))
	case b.Planned < 1 || int64(b.Planned) > MaxPlanned:
		return crowd.Fieldf("planned", "must be from 1 to %d, not %d", int64(MaxPlanned), b.Planned)
	case b.Running < 0 || int64(b.Running) > MaxPlanned:
		return crowd.Fieldf("running", "must be from 0 to %d, not %d", int64(MaxPlanned), b.Running)
	case b.Completed < 0 || int64(b.Completed) > MaxPlanned:
		return crowd.Fieldf("completed", "must be from 0 to %d, not %d", int64(MaxPlanned), b.Completed)
	case b.TaskTime <= 0:
		return crowd.Fieldf("task_time", "must be above 0, not %s", b.TaskTime)
	case b.Reward < 0 || b.Reward > crowd.MaxMoney:
		return crowd.Fieldf("reward", "must be from 0 to %s, not %s", crowd.MaxMoney, b.Reward)
	case b.Stake < 0 || b.Stake > crowd.MaxMoney:
		return crowd.Fieldf("stake", "must be from 0 to %s, not %s", crowd.MaxMoney, b.Stake)
	case b.Added < 0 || b.Added > crowd.MaxMoney:
		return crowd.Fieldf("added", "must be from 0 to %s, not %s", crowd.MaxMoney, b.Added)
	}
	return nil
}

// Open reports whether answers are still wanted: Completed < Planned.
func (b *Batch) Open() bool { return b.Completed < b.Planned }

// A record is what a policy keeps of a batch: the Batch brought into its
// domain, compact and without pointers.
//
// This is the one place that decides what Set makes of figures that Validate
// refuses: the nearest figure of the domain, and 1 for a priority or weight
// that is not a number. Set never fails and never stops the work.
type record struct {
	id                          crowd.BatchID
	priority                    float64
	arrived, deadline           int64 // ns since 1970; noDeadline for none
	taskTime                    time.Duration
	turn                        uint64
	planned, running, completed uint32
	class                       Class
	production, assignable      bool
}

// noDeadline is later than every deadline.
const noDeadline = math.MaxInt64

func (r *record) fill(b *Batch) {
	r.id = b.ID
	r.priority = clampWeight(b.Priority)
	r.arrived = nanos(b.Arrived)
	r.deadline = noDeadline
	if !b.Deadline.IsZero() {
		r.deadline = min(nanos(b.Deadline), noDeadline-1)
	}
	r.taskTime = max(b.TaskTime, 1)
	r.turn = b.Turn
	r.planned = clampCount(b.Planned)
	r.running = clampCount(b.Running)
	r.completed = clampCount(b.Completed)
	r.class = b.Class
	r.production = b.Production
	r.assignable = b.Assignable
}

func clampWeight(f float64) float64 {
	if f != f {
		return 1
	}
	return min(max(f, MinPriority), MaxPriority)
}

func clampCount(n int) uint32 { return uint32(min(max(int64(n), 0), MaxPlanned)) }

// left is L_b, the assignments that are running or not yet started: ≥ 1 while
// the batch is open.
func (r *record) left() uint32 { return r.planned - min(r.completed, r.planned) }

// waiting is L_b - R_b, the assignments not yet started. It is 0 when more are
// running than are wanted, as after Planned was lowered.
func (r *record) waiting() uint32 { return r.left() - min(r.running, r.left()) }

// entry returns the record as an index entry with the given key.
func (r *record) entry(key uint64, slot uint32) entry {
	return entry{Key: key, Turn: r.turn, ID: int64(r.id), Slot: slot}
}

// A book gives each batch a slot, a small integer by which everything else is
// found, and keeps its record.
type book struct {
	slots   idTable
	records []record // by slot
	free    []uint32
}

// set is put of the batch's record, made where it is kept.
func (b *book) set(in *Batch) (slot uint32, r *record, known bool) {
	slot, known = b.slot(in.ID)
	r = &b.records[slot]
	r.fill(in)
	return slot, r, known
}

// slot returns the batch's slot, made if need be; known reports whether it was
// there already.
func (b *book) slot(id crowd.BatchID) (slot uint32, known bool) {
	if slot, known = b.slots.get(id); known {
		return slot, true
	}
	if n := len(b.free); n > 0 {
		slot, b.free = b.free[n-1], b.free[:n-1]
	} else {
		slot = uint32(len(b.records))
		b.records = append(b.records, record{})
	}
	b.slots.put(id, slot)
	return slot, false
}

// remove frees the batch's slot and returns it, and false if it has none.
func (b *book) remove(id crowd.BatchID) (slot uint32, known bool) {
	if slot, known = b.slots.get(id); known {
		b.slots.remove(id)
		b.free = append(b.free, slot)
	}
	return slot, known
}

// find returns the batch's slot and record.
func (b *book) find(id crowd.BatchID) (slot uint32, r *record, known bool) {
	if slot, known = b.slots.get(id); known {
		r = &b.records[slot]
	}
	return slot, r, known
}
