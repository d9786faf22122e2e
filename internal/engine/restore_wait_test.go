package engine_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/sched"
)

// TestTheWaitGoesOnAfterARestart, of an open batch from when its first task came that waits.
func TestTheWaitGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	for ago, want := range map[time.Duration]time.Duration{3 * time.Minute: 3 * time.Minute, 2 * time.Hour: time.Hour, -time.Minute: 0} {
		s := benchSpec1(1)
		s.Open = true
		e, err := engine.Restore(start, engine.Config{Policy: sched.MustParse("fifo")}, &engine.Snapshot{
			Tenants: []engine.Tenant{{ID: 1, Weight: 1}},
			Batches: []engine.BatchSnapshot{{Spec: s, Came: start.Add(-ago), Progress: engine.Progress{Batch: 1, State: crowd.BatchRunning, Tasks: 5, Open: true, Fresh: 1,
				OldestOpen: 1, Planned: 5, Escrow: 100 * crowd.Unit, LaunchedAt: start.Add(-time.Hour)}}},
		})
		must(t, err)
		if got := e.Reading(start); got.Queue != 5 || got.OldestWait != want {
			t.Errorf("came %s ago: %d wait, the oldest %s, want %s", ago, got.Queue, got.OldestWait, want)
		}
	}
}

// TestTheWaitIsKept: where it is kept since when something waits, a restart goes by that, and not by the launch.
func TestTheWaitIsKept(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} {
		s := benchSpec1(1)
		s.Tasks, s.Open = 5, open
		e, err := engine.Restore(start, engine.Config{Policy: sched.MustParse("fifo")}, &engine.Snapshot{
			Tenants: []engine.Tenant{{ID: 1, Weight: 1}},
			Batches: []engine.BatchSnapshot{{Spec: s, Came: start.Add(-time.Minute), Progress: engine.Progress{Batch: 1, State: crowd.BatchRunning, Tasks: 5, Open: open, Fresh: 1,
				OldestOpen: 1, Planned: 5, Escrow: 100 * crowd.Unit, LaunchedAt: start.Add(-time.Hour), WaitsFrom: start.Add(-3 * time.Minute)}}},
		})
		must(t, err)
		if got := e.Reading(start); got.Queue != 5 || got.OldestWait != 3*time.Minute {
			t.Errorf("open %t: %d wait, the oldest %s", open, got.Queue, got.OldestWait)
		}
	}
}
