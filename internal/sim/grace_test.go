package sim

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// TestAGrace puts off what follows from answers, and changes nothing else: the same
// people give the same answers, each of which counts so much later.
func TestAGrace(t *testing.T) {
	run := func(grace time.Duration, policy string, enough *engine.Enough) Outcome {
		setup := Setup{
			Horizon: time.Hour, Tenants: []Tenant{{Name: "n"}}, Kinds: []Kind{{Name: "k", Service: Constant(10), Answers: []string{"a", "b"}}},
			Groups: []Group{{Arrive: Arrivals{Count: 5}}},
			Batches: []Batch{
				{Tasks: 60, Grace: grace, Rule: label.Agree(2, 3), Enough: enough, Lifetime: 50 * time.Minute},
				{Tasks: 500, Grace: grace, Rule: label.Count(1), Enough: enough},
			},
		}
		out, err := (&Run{Setup: &setup, Policy: policy, Seed: 1, Check: true}).Do()
		if err != nil {
			t.Fatal(err)
		}
		return *out
	}
	for _, policy := range []string{"fs", "fifo", "dafs", "tenant-fair(wcfs(fs,k=2))"} {
		at, later := run(0, policy, nil), run(5*time.Minute, policy, nil)
		if later.Labels != at.Labels || later.Batches[1].Answers != at.Batches[1].Answers || later.Batches[1].Spent != at.Batches[1].Spent {
			t.Errorf("%s: %d labels, %d answers for %s; with a grace %d, %d for %s", policy, at.Labels, at.Batches[1].Answers, at.Batches[1].Spent, later.Labels, later.Batches[1].Answers, later.Batches[1].Spent)
		}
		if by := later.Batches[1].Completed - at.Batches[1].Completed; by != 5*time.Minute {
			t.Errorf("%s: a batch of single answers is completed %s later, want as much as its grace", policy, by)
		}
	}
	if out := run(5*time.Minute, "fs", &engine.Enough{Labels: 30}); out.Batches[1].Labelled < 30 || out.Batches[1].Completed < 0 {
		t.Errorf("a batch that is to end with 30 labels has %d, and completed at %s", out.Batches[1].Labelled, out.Batches[1].Completed)
	}
}
