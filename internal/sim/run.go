package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sched"
)

// A Run is one repetition under one policy.
type Run struct {
	Setup  *Setup
	Policy string // a text form that ParsePolicy reads
	Seed   uint64
	Rep    int
	// Check verifies after every event everything that must hold, and stops
	// at the first breach.
	Check  bool
	Record Record
	// Start, when not nil, is a pool to go on from, in place of an empty one.
	Start *Start
	// Observe, when not nil, is called after each hand-out. The list is its
	// until it returns.
	Observe func(at time.Duration, batch int, open []BatchView)
}

// A Record is what a run keeps in addition to its totals.
type Record struct {
	Samples    int  // how many samples over time, at most; 0: none
	Allocation bool // what runs of each batch, at each sample
	Finished   bool // when tasks were finished, by size class
}

// A BatchView is an open batch as an observer sees it.
type BatchView struct {
	Batch              int // index in the outcome
	Planned, Completed int // T, C: answers
	Running            int // R
	Priority           float64
	Production         bool
	Deadline           time.Duration // from the start of the run; 0: none
}

// Do runs it. The error is Invalid where the setup makes no sense, and any
// breach that Check found.
func (r *Run) Do() (*Outcome, error) { return r.DoContext(context.Background()) }

// DoContext is Do that stops soon after the context ends, with its error.
func (r *Run) DoContext(ctx context.Context) (*Outcome, error) {
	w, err := newWorld(r)
	if err != nil {
		return nil, err
	}
	w.loop(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if w.err != nil {
		return nil, fmt.Errorf("repetition %d of policy %s, seed %d, at %s: %w", r.Rep+1, r.Policy, r.Seed, time.Duration(w.now), w.err)
	}
	w.finish()
	return &w.out, nil
}

func tenantID(i int) crowd.TenantID { return crowd.TenantID(i + 1) }

func classOf(classes []Class, tasks int) int32 {
	for i, c := range classes {
		if c.Most == 0 || tasks <= c.Most {
			return int32(i)
		}
	}
	return int32(len(classes) - 1)
}

// ParsePolicy reads the text form of a policy: those of package sched, and
// market, which exists only where nobody decides.
func ParsePolicy(text string) (sched.Policy, error) {
	if p, ok, err := parseMarket(text); ok {
		return p, err
	}
	return sched.Parse(text)
}
