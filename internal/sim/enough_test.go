package sim

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/engine"
)

// TestABatchThatHasEnough ends by itself in simulation as it does live, and counts as
// completed; one person gives no more answers than they may.
func TestABatchThatHasEnough(t *testing.T) {
	for name, c := range map[string]struct {
		enough    *engine.Enough
		perWorker int
		labels    [2]int // least and most
		completed bool
	}{
		"nothing is said": {nil, 0, [2]int{100, 100}, true},
		"labels":          {&engine.Enough{Labels: 30}, 0, [2]int{30, 33}, true}, // and what four people held
		"share":           {&engine.Enough{Share: 0.5}, 0, [2]int{50, 53}, true},
		"spent":           {&engine.Enough{Spent: 20 * DefaultReward}, 0, [2]int{20, 20}, true},
		"per worker":      {nil, 7, [2]int{28, 28}, false},
	} {
		t.Run(name, func(t *testing.T) {
			setup := Setup{
				Horizon: time.Hour, Tenants: []Tenant{{Name: "n"}}, Kinds: []Kind{{Name: "k", Service: Constant(10)}},
				Groups:  []Group{{Arrive: Arrivals{Count: 4}}},
				Batches: []Batch{{Tasks: 100, Enough: c.enough, PerWorker: c.perWorker}},
			}
			out, err := (&Run{Setup: &setup, Policy: "fs", Seed: 1, Check: true}).Do()
			if err != nil {
				t.Fatal(err)
			}
			b := out.Batches[0]
			if b.Labelled < c.labels[0] || b.Labelled > c.labels[1] || (b.Completed >= 0) != c.completed {
				t.Errorf("%d labels, completed at %s; want %v labels, completed: %t", b.Labelled, b.Completed, c.labels, c.completed)
			}
		})
	}
}
