package workflows

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim"
)

// TestTooFewPeople: a step that too few people can finish, or that nobody pays for, ends the
// simulation with what is missing, though being late costs more and more for ever.
func TestTooFewPeople(t *testing.T) {
	alone := strings.Replace(oneQueue, "{penalty: constant, after: 90s, cost: 1.00}", "{penalty: staged, after: 90s, every: 10m, cost: 1.00}", 1)
	for name, x := range map[string]struct {
		text   string
		budget crowd.Money
		want   string
	}{
		"two at an item": {
			text: example(t, "insurance-claims"),
			want: "decide: the step cannot go on: a task needs answers from 2 different people, but the pool has 1 who may do it; try more people (--workers)",
		},
		"per_worker": {
			text: strings.Replace(alone, "reward: 0.05", "reward: 0.05, per_worker: 5", 1),
			want: "or given as many answers as one person may (5); try more people (--workers) or a higher per_worker of the step",
		},
		"no money": {text: alone, budget: crowd.Unit / 4, want: "the run may spend 0.25"},
	} {
		t.Run(name, func(t *testing.T) {
			p := planOf(t, x.text)
			st, closed, err := p.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer closed()
			steps := 0
			_, err = simulate(t.Context(), Setup{
				Text: x.text, Workers: 1, Policy: "fifo", Seed: 1, Store: st, Budget: x.budget,
				Load: &Load{Arrivals: sim.Arrivals{Gap: sim.Constant(120)}, For: 30 * time.Minute},
				meddle: func(w *world) bool {
					if steps++; steps > 10_000 {
						w.note(crowd.Errorf(crowd.Internal, "it does not end"))
					}
					return false
				},
			})
			if err == nil || !strings.Contains(err.Error(), x.want) {
				t.Errorf("got %v, want %q", err, x.want)
			}
		})
	}
}
