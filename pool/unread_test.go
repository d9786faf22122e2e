package pool

import (
	"testing"
	"time"
)

// TestWhoIsLentToAPoolThatIsNotRead still belongs to the pool that lent them: nobody is
// called in their place.
func TestWhoIsLentToAPoolThatIsNotRead(t *testing.T) {
	t.Parallel()
	control := NewControl(nil)
	if err := control.Set(1, "", Settings{Elasticity: "static(n=3)"}); err != nil {
		t.Fatal(err)
	}
	home := Reading{Pool: 1, Workers: 2, Affordable: -1, Idle: []Person{{ID: 1}, {ID: 2}}}
	host := Reading{Pool: 2, Workers: 1, Busy: 1, Affordable: -1, Working: []Person{{ID: 3, Home: 1}}}
	for n, readings := range [][]Reading{{home, host}, {home}, {home}, {home, host}} {
		if d := control.Step(epoch.Add(time.Duration(n)*time.Second), readings, fixed(0.5))[0]; d.Recruit != 0 || d.Saw.Lent != 1 {
			t.Errorf("step %d: %d are called, with %d lent: %q", n, d.Recruit, d.Saw.Lent, d.Why)
		}
	}
}
