// Package pool decides how many people a pool should hold, when more of them
// are called, when some are let go, and who moves to another pool.
//
// It is pure: a Reading of each pool goes in at every control step, a Decision
// comes out. It reads no clock and draws random numbers only from the stream
// that it is handed, so a pool behaves the same live and in simulation. Sources
// are named after the sections and equations of Haas and Franklin, "Cioppino:
// Multi-Tenant Crowd Management" (HCOMP 2017), called the paper.
package pool

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Reading is one pool as its world sees it at a control step.
type Reading struct {
	Pool crowd.PoolID

	Workers  int // on duty: Busy, idle, and in Training; without those who were let go and still finish something
	Busy     int // hold a task of the pool's own work
	Training int // still learn it
	Coming   int // asked by earlier decisions, not here yet, and may still come
	Queue    int // answers that are wanted and in nobody's hands

	// Open is a pool in which whoever asks for work is on duty: nobody is called, and nobody
	// is let go, as they would come back at once. There Settings.Min and Max bound what is
	// wanted for other reasons, and are no reason themselves to call anybody.
	Open bool
	// Exhausted: nobody is left to ask, or asked in reserve. A call would bring nobody, so none is wanted.
	Exhausted bool

	Counters   Counters      // all that happened since the world began
	WaitP95    time.Duration // 95th percentile of the waits of what was handed out lately; 0: nothing was
	OldestWait time.Duration // of what is still in the queue; 0: nothing is

	// Rate is paid for a minute of waiting, in money; 0: nothing.
	Rate float64
	// TaskTime is what one of the answers in the queue is expected to take by
	// those who ask for it; 0: not known. It stands in for μ until enough answers
	// were seen.
	TaskTime time.Duration
	// Affordable is how many more people the pool's funds can keep waiting;
	// negative: as many as one likes.
	Affordable int
	// Preference is the sum of the preferences for this pool of the people on
	// duty in it, each from 0 to 1 (the inner sum of the paper's equation 5).
	Preference float64
	// TrainingTime is how long a newcomer is expected to learn (1/tr of the
	// paper); 0: there is nothing to learn.
	TrainingTime time.Duration
	// Idle lists the people on duty who hold nothing and are not in training,
	// the longest idle first. Nobody else is moved.
	Idle []Person
	// Working lists those of Busy, the longest on duty first, Learning those of
	// Training, in any order. Who is in none of the lists can be let go, but is not
	// named in Decision.Go.
	Working, Learning []Person
	// Outside lists those who are on duty and not of Workers: in an open pool, who has no
	// place inside its gate. Those whom other pools have lent may go home.
	Outside []Person
	// NoWork holds the people who belong to the pool and are lent to others, for whom
	// nothing of its queue is.
	NoWork map[crowd.WorkerID]bool
	// Going lists those who move to another pool as soon as they have finished what
	// they hold. They are not of Workers.
	Going []Person
	// Leaving lists those who go off duty by themselves as soon as they have finished what
	// they hold. They are not of Workers, and not yet of Counters.Abandoned.
	Leaving []Person
	// Withdrawn tells of the answers that Counters.Withdrawn has counted last when they came to
	// be wanted, in the order in which they were withdrawn. What was withdrawn long before may be missing.
	Withdrawn []Withdrawal
}

// Withdrawal is answers that are wanted no more.
type Withdrawal struct {
	From, To time.Time // they came to be wanted between these
	Answers  int64
}

// listed is how many of Workers the lists name.
func (r *Reading) listed() int { return len(r.Idle) + len(r.Working) + len(r.Learning) }

// Counters counts what happened in a pool since its world began. A control step
// looks at the differences to the step before; Counters that run backwards (the
// world was restarted) starts again.
type Counters struct {
	Arrived   int64 // answers that came to be wanted
	Withdrawn int64 // of these, those that were wanted no more before they came
	Completed int64 // answers that counted
	Joined    int64 // people who came on duty because they were asked
	Abandoned int64 // people who left by themselves, or were not heard of any more
	Released  int64 // people who were let go

	Worked  time.Duration // person-time spent with tasks, those still in hand included; not with those to learn from
	OnDuty  time.Duration // person-time on duty
	Awaited time.Duration // person-time from being asked to coming, those still coming included
	Idled   time.Duration // person-time on duty without a task: what is paid as waiting
}

// Person is somebody on duty.
type Person struct {
	ID crowd.WorkerID
	// Home is the pool that has lent them; 0: they are of the pool that they are on
	// duty in.
	Home crowd.PoolID
	// Moved is when they last came from another pool; zero: never, or long ago.
	Moved time.Time
	// Prefers has the person's preference for each pool, from 0 to 1, in the
	// order of the readings of the step; nil: all the same.
	Prefers []float64
	// Knows says, in the same order, for which pools they need no training;
	// nil: for their own only.
	Knows []bool
	// Worked says that they have held a task since they came on duty here.
	Worked bool
	// NoWork says of somebody idle that they wait, and nothing of this pool's queue is for them.
	NoWork bool
	// Stays says that the control does not move them: their work is in this pool only.
	Stays bool
}

// Move takes a person from one pool to another. From and To are the same where
// somebody stays where they are and only their Home changes.
type Move struct {
	Worker   crowd.WorkerID
	From, To crowd.PoolID
	// Home is the pool that they belong to from then on. With another one than To
	// they are lent: they count for Home, and return there when they go off duty.
	Home crowd.PoolID
}

// Decision is what a control step wants done in one pool, and why. A pool that
// only takes advice gets the same decision; whoever carries decisions out
// looks at Advice.
type Decision struct {
	Pool     crowd.PoolID
	Recruit  int              // people to call; 0 if Release or Withdraw is not
	Withdraw int              // people asked for and not here yet who are no longer wanted; at most Coming
	Release  int              // people on duty to let go, each after what they hold
	Go       []crowd.WorkerID // who they are, at most Release of them; the others are of those whom no list of the Reading names
	Lent     int              // of Release, people whom other pools have lent to this one
	Moves    []Move           // out of this pool, or of people in it who belong to another one from now on
	Advice   bool             // decided, and not to be done
	Saw      Metrics
	Why      []string // for people: one line for each part that had a say, the limits included
}

// Idle reports whether there is nothing to do.
func (d *Decision) Idle() bool {
	return d.Recruit == 0 && d.Withdraw == 0 && d.Release == 0 && len(d.Moves) == 0
}
