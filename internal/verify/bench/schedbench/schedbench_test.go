package schedbench_test

import (
	"testing"

	"github.com/throng-dev/throng/internal/verify/bench/schedbench"
	"github.com/throng-dev/throng/sched"
)

// TestRunMeasuresEveryPolicyAndSize also keeps sched.Names measurable.
func TestRunMeasuresEveryPolicyAndSize(t *testing.T) {
	rows := schedbench.Run([]int{10, 100}, sched.Names()[:2])
	if len(rows) != 4 {
		t.Fatalf("got %d rows, want 4", len(rows))
	}
	for _, r := range rows {
		if r.NsPerDecision <= 0 || r.NsPerEvent <= 0 {
			t.Errorf("%s with %d batches took no time: %+v", r.Policy, r.Batches, r)
		}
	}
}
