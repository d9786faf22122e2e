package pool

import (
	"testing"
	"time"
)

// TestLimitsStopTheSum: a pool that is held at a limit for long does not overshoot.
func TestLimitsStopTheSum(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		s          Settings
		workers    int
		affordable int
		stays      bool
	}{
		"free":     {Settings{}, 10, -1, false},
		"max":      {Settings{Max: 10}, 10, -1, true},
		"funds":    {Settings{}, 10, 0, true},
		"min":      {Settings{Min: 30}, 30, -1, true},
		"too many": {Settings{}, 30, -1, false},
	} {
		tc.s.Elasticity = "ct-p(kp=1,ki=0.01)"
		c, now, counters := primed(t, tc.s)
		for range 100 {
			d := c.Step(now, &Reading{Pool: 1, Workers: tc.workers, Affordable: tc.affordable, Counters: counters}, fixed(0))
			if tc.stays && !d.Idle() {
				t.Fatalf("%s: %+v", name, d)
			}
		}
		if (c.pid.sum == 0) != tc.stays {
			t.Errorf("%s: the sum is %g", name, c.pid.sum)
		}
	}
	// a cool-down is a limit, too
	c, now, counters := primed(t, Settings{Elasticity: "ct-p(kp=1,ki=0.01)", Cooldown: time.Hour})
	c.grew = now
	c.Step(now, &Reading{Pool: 1, Workers: 40, Affordable: -1, Counters: counters}, fixed(0))
	if c.pid.sum != 0 {
		t.Errorf("in a cool-down: the sum is %g", c.pid.sum)
	}
	// and so is c* of ct-t
	c, now, counters = primed(t, Settings{Elasticity: "ct-t(kp=0.5,ki=0.5)"})
	for n := range 5 {
		now = now.Add(10 * time.Second)
		counters.Arrived, counters.Completed, counters.Worked = counters.Arrived+9, counters.Completed+3, counters.Worked+90*time.Second
		if d := c.Step(now, &Reading{Pool: 1, Workers: 60, Affordable: -1, Counters: counters}, fixed(0)); d.Recruit != 0 || c.pid.last <= 0 || c.pid.sum != 0 {
			t.Errorf("step %d of ct-t above c*: %d are called, the error is %g, the sum %g", n, d.Recruit, c.pid.last, c.pid.sum)
		}
	}
}
