// Package sched decides which batch a free worker is given a task from.
//
// A Policy is told what changed, one batch at a time, and names the next batch
// for a worker. It keeps ordered indexes: O(log B) per event and per decision
// for B open batches. Exceptions say so where they are: decisions at a finite β,
// of wcfs after a start, and the policies of the paper's program ("…-code").
// Everything here is pure and deterministic: the answer is a function of the
// batches last set and of the hand-outs so far, never of the order in which
// equal information arrived, and every tie ends in an id (in the policies of the
// paper's program, which draws lots, in a hash of all that and a seed). A Policy
// is not safe for concurrent use, not even Next.
//
// The formulas are those of Difallah et al. 2019, "Deadline-Aware Fair
// Scheduling for Multi-Tenant Crowd-Powered Systems", ACM TSC 2(1) ("the
// paper" below).
package sched

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Class numbers a distinct set of requirements on workers (qualifications and
// the like). Batches with the same requirements share a class, so that a
// worker who lacks one skips all of them in one step.
type Class uint32

// Batch is all that a policy may know of a batch. The paper's letters are in
// brackets. A batch is open while Completed < Planned.
type Batch struct {
	ID           crowd.BatchID
	Tenant       crowd.TenantID
	TenantWeight float64 // the tenant's weight, in the same bounds as Priority; read by tenant-fair
	Class        Class
	Arrived      time.Time     // when it was launched
	Priority     float64       // [P_b] MinPriority to MaxPriority
	Reward       crowd.Money   // for one assignment; read by by-reward
	Planned      int           // [T_b] assignments wanted in all, ≥ 1
	Running      int           // [R_b] assignments in somebody's hands
	Completed    int           // [C_b] answers that count
	Deadline     time.Time     // zero: none
	Production   bool          // deadline-aware: the paper's production batch; else best-effort
	TaskTime     time.Duration // expected time of one assignment, > 0
	// Turn is the number of hand-outs in the pool when this batch was last
	// served, or launched. Among equals the batch that has waited longest since
	// its turn goes first; last comes the id.
	Turn uint64
	// TenantTurn is the same of the tenant: the number of hand-outs in the pool
	// when any batch of it was last served, 0 if none was. Read by tenant-fair,
	// which also learns it from the Turns it sees; so it matters only when a
	// policy is filled again after a restart.
	TenantTurn uint64
	// Due is when the most urgent of its waiting tasks must have been handed out for
	// a penalty not to fall due. Zero: nothing was promised, or none can be escaped
	// any more. Read by penalty, like all that follow but the last.
	Due time.Time
	// Falls is when that penalty falls due, unless the item of the task has ended by
	// then. Zero counts as Due.
	Falls time.Time
	// Stake is the penalty that falls due.
	Stake crowd.Money
	// Work is the time of people that the item is expected to take from now to its
	// end, ≥ 0; 0 counts as TaskTime.
	Work time.Duration
	// Look is how far ahead a penalty is weighed against work, the same for all batches
	// of a pool at any time, ≥ 0.
	Look time.Duration
	// Added is the penalty that one more expected time of an assignment of delay
	// adds for that task.
	Added crowd.Money
	// Since is when that task came; without a promise, when the batch was launched.
	Since time.Time
	// Assignable says that something of the batch may be handed out now. A
	// batch that is open but not assignable (all of it is in somebody's hands,
	// it is paused, its budget is spent) still counts in the fairness index.
	Assignable bool
}

// Worker is what a policy may ask about the worker for whom a batch is sought.
type Worker interface {
	// LastBatch is the batch of the worker's last assignment, or 0.
	LastBatch() crowd.BatchID
	// MayClass reports whether the worker meets the requirements of a class.
	MayClass(Class) bool
	// MayBatch reports whether the batch, of a class the worker meets, has a task
	// for this very worker.
	MayBatch(crowd.BatchID) bool
}

// Policy orders the open batches of one pool.
type Policy interface {
	// Name is the policy's text form, as Parse reads it.
	Name() string
	// Set adds a batch or replaces what is known of it; one that is not open is
	// forgotten. Figures that Batch.Validate refuses are taken for the nearest
	// that it does not. The policy reads the Batch and does not keep it: it is
	// handed over in place because every event hands over one or two. O(log B).
	Set(*Batch)
	// Remove forgets a batch; one that is not there is ignored. O(log B).
	Remove(crowd.BatchID)
	// Next names the first assignable batch in the policy's order at a time that
	// the worker may work on, or 0. It is told of the hand-out that follows by
	// Set. Time does not run backwards from call to call.
	//
	// Candidates are asked about (MayBatch) strictly in the policy's order, each
	// once at most, until the first yes, which is the answer: wrappers and
	// explanations build on it. The Worker must not call the policy back.
	Next(time.Time, Worker) crowd.BatchID
	// Key returns the batch's place in the order, as of the last Next, in words
	// and figures, for "throng explain", and false for a batch that is not there.
	Key(crowd.BatchID) (Key, bool)
}
