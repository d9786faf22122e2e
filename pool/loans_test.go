package pool

import (
	"slices"
	"testing"
	"time"
)

// TestWhoCameJustNowStays: who came from another pool within the cool-down, or is in
// training, is not let go, and the decision says why. When nobody goes, that is no letting
// go after which nobody is called.
func TestWhoCameJustNowStays(t *testing.T) {
	t.Parallel()
	const cooldown = 2 * time.Minute
	for name, x := range map[string]struct {
		came    time.Duration // ago, of both idle people
		release int
		why     string
	}{
		"within the cool-down": {cooldown - time.Second, 0, "0 of 3 are let go: the others are in training, or came from another pool less than 2 min ago"},
		"after it":             {cooldown, 2, "2 of 3 are let go: the others are in training, or came from another pool less than 2 min ago"},
	} {
		control := NewControl(nil)
		settings := func(n string) {
			t.Helper()
			if err := control.Set(1, "", Settings{Elasticity: "static(n=" + n + ")", Cooldown: cooldown}); err != nil {
				t.Fatal(err)
			}
		}
		step := func(now time.Time) Decision {
			moved := epoch.Add(-x.came)
			return control.Step(now, []Reading{{
				Pool: 1, Workers: 3, Affordable: -1,
				Idle: []Person{{ID: 1, Moved: moved}, {ID: 2, Moved: moved}}, Learning: []Person{{ID: 3}},
			}}, fixed(0.5))[0]
		}
		settings("0")
		d := step(epoch)
		if d.Release != x.release || len(d.Go) != x.release || !slices.Contains(d.Why, x.why) {
			t.Errorf("%s: %d are let go, %v: %q", name, d.Release, d.Go, d.Why)
		}
		settings("5")
		want := 0
		if x.release == 0 {
			want = 2
		}
		if d = step(epoch.Add(time.Second)); d.Recruit != want {
			t.Errorf("%s: a second later %d are called, want %d: %q", name, d.Recruit, want, d.Why)
		}
	}
}
