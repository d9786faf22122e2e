package sched

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// TestSlotsOfPrioritiesAreFreed: a priority that no batch has any more takes no room, however
// often priorities change.
func TestSlotsOfPrioritiesAreFreed(t *testing.T) {
	t.Parallel()
	p := NewStrictPriority(func() Policy { return MustParse("fs") }).(*strict)
	const batches = 3
	for n := range 1000 {
		for id := range crowd.BatchID(batches) {
			p.Set(&Batch{ID: id + 1, Tenant: 1, Priority: float64(1 + n + int(id)), Planned: 1, TaskTime: time.Minute})
		}
	}
	if n := len(p.list) - len(p.free); n != batches || len(p.slots) != batches || len(p.list) > 2*batches {
		t.Errorf("%d batches have %d slots of %d, and %d priorities", batches, n, len(p.list), len(p.slots))
	}
}
