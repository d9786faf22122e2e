package pool

import (
	"math"
	"testing"
	"time"
)

// TestMuIsKept: a pool in which nobody has worked for long keeps its μ.
func TestMuIsKept(t *testing.T) {
	t.Parallel()
	for _, expect := range []Expect{{}, {TaskTime: 30 * time.Second}} {
		c := mustNew(t, Settings{Expect: expect})
		r := &Reading{Affordable: -1}
		c.Step(epoch, r, fixed(0))
		r.Counters.Completed, r.Counters.Worked = 1000, 10_000*time.Second
		before := c.Step(epoch.Add(time.Minute), r, fixed(0)).Saw.Mu
		after := c.Step(epoch.Add(5*time.Hour), r, fixed(0)).Saw.Mu // this one holds the gap itself
		later := c.Step(epoch.Add(10*time.Hour), r, fixed(0)).Saw.Mu
		if math.Abs(before-0.1) > 0.001 || after != before || later != before {
			t.Errorf("%+v: μ %g, then %g and %g", expect, before, after, later)
		}
	}
}
