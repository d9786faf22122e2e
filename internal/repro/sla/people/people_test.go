package people_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/repro/sla/people"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sla"
)

func small() *people.World {
	const m = time.Minute
	one := func(takes time.Duration) people.Step { return people.Step{Time: takes, Rule: label.Count(1), Share: 1} }
	return &people.World{
		Steps: []people.Step{one(6 * m), one(8 * m), one(20 * m)}, People: 2, Items: 4,
		Promises: []people.Promise{{Penalty: sla.Penalty{Kind: sla.Staged, After: 30 * m, Cost: 2 * crowd.Unit, Every: 10 * m}}},
	}
}

// TestOptimum: no policy costs less than the optimum, and some cost more; with as many
// people as items nobody waits, and all cost as much.
func TestOptimum(t *testing.T) {
	t.Parallel()
	more, same := 0, 0
	for seed := range uint64(20) {
		w := small()
		best := w.Optimum(seed)
		for _, policy := range []string{"fifo", "wfs", "penalty", "penalty(form=atc)", "penalty(form=loop)"} {
			got, err := w.Run(policy, seed)
			if err != nil {
				t.Fatal(err)
			}
			if got < best {
				t.Errorf("seed %d: %s costs %s, less than the optimum, %s", seed, policy, got, best)
			}
			if got > best {
				more++
			} else {
				same++
			}
		}
		w.People = w.Items
		if got, err := w.Run("fifo", seed); err != nil || got != w.Optimum(seed) {
			t.Errorf("seed %d: with people enough %s, the optimum is %s (%v)", seed, got, w.Optimum(seed), err)
		}
	}
	if more < 10 || same < 1 {
		t.Errorf("%d cost more than the optimum, %d as much", more, same)
	}
}
