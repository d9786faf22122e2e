package sla

import (
	"time"

	"github.com/throng-dev/throng/crowd"
)

// A Plan is the shape of a process: its steps, numbered so that each comes
// after its predecessors. A sequence is a chain; a flow is a fork and a join; a
// condition is steps that may be skipped, and predictions take the latest
// branch, as if none were.
type Plan struct {
	after [][]int // predecessors of each step
}

// NewPlan returns the plan in which step i follows the steps after[i], which
// must be smaller than i and not named twice. It keeps no reference to after.
func NewPlan(after [][]int) (*Plan, error) {
	p := &Plan{after: make([][]int, len(after))}
	for i, steps := range after {
		seen := make(map[int]bool, len(steps))
		for _, j := range steps {
			if j < 0 || j >= i {
				return nil, crowd.Fieldf("after", "step %d follows step %d: a step follows steps of smaller numbers only", i, j)
			}
			if seen[j] {
				return nil, crowd.Fieldf("after", "step %d follows step %d twice", i, j)
			}
			seen[j] = true
		}
		p.after[i] = append([]int(nil), steps...)
	}
	return p, nil
}

// Len returns the number of steps.
func (p *Plan) Len() int { return len(p.after) }

// After returns the predecessors of a step. The caller must not change them.
func (p *Plan) After(step int) []int { return p.after[step] }

// Tails returns, for each step, the time from its end to the end of the
// process if every step takes as long as expected: the sum along the longest
// branch. A negative expectation counts as zero. It panics unless there is one
// expectation for each step.
// Source: Khazankin et al. 2011, section IV.C.
func (p *Plan) Tails(expect []time.Duration) []time.Duration {
	if len(expect) != len(p.after) {
		panic("sla: Tails needs one expectation for each step")
	}
	tails := make([]time.Duration, len(p.after))
	for i := len(p.after) - 1; i >= 0; i-- {
		through := time.Duration(add(int64(tails[i]), int64(max(expect[i], 0))))
		for _, j := range p.after[i] {
			tails[j] = max(tails[j], through)
		}
	}
	return tails
}
