package pool

import (
	"testing"
	"time"
)

// TestThePaperMovesWhomItLikes: work that waits, and how long somebody has been in a pool, bound
// our moves, which are loans; those of the paper take whoever is idle.
func TestThePaperMovesWhomItLikes(t *testing.T) {
	t.Parallel()
	for name, person := range map[string]Person{"somebody needed": {ID: 1}, "somebody who has just come": {ID: 1, Moved: epoch}} {
		for paper, control := range map[bool]*Control{true: NewPaperControl(nil), false: NewControl(nil)} {
			if err := control.Set(2, "", Settings{Elasticity: "rules", Rules: []Rule{{"queue > 0", "transfer 1 from lends"}}}); err != nil {
				t.Fatal(err)
			}
			if err := control.Set(1, "lends", Settings{}); err != nil {
				t.Fatal(err)
			}
			lends := Reading{Pool: 1, Affordable: -1, Workers: 1, Idle: []Person{person}}
			if person.Moved.IsZero() {
				lends.Queue = 3
			}
			d := control.Step(epoch.Add(time.Second), []Reading{lends, {Pool: 2, Affordable: -1, Queue: 1}}, fixed(0.5))
			if moved := len(d[0].Moves) == 1; moved != paper {
				t.Errorf("%s, as in the paper %t: moved %t, %q", name, paper, moved, d[1].Why)
			}
		}
	}
}
