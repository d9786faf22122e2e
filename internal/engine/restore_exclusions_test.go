package engine_test

import (
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/sched"
)

// TestTasksThatWerePassedOverKeepTheirOrder through a restart: somebody who may do them
// gets the first.
func TestTasksThatWerePassedOverKeepTheirOrder(t *testing.T) {
	t.Parallel()
	const passed = 20
	s := benchSpec1(1)
	s.Tasks, s.Open, s.NotBy = passed+1, true, []string{"draft"}
	not := make(map[uint32][]crowd.WorkerID)
	for n := uint32(1); n <= passed; n++ {
		not[n] = []crowd.WorkerID{1}
	}
	e, err := engine.Restore(start, engine.Config{Pool: poolID, Policy: sched.MustParse("fs")}, &engine.Snapshot{
		Tenants: []engine.Tenant{{ID: 1, Weight: 1}}, Workers: []engine.Worker{{ID: 1}, {ID: 2}},
		Batches: []engine.BatchSnapshot{{Spec: s, NotBy: not, Progress: engine.Progress{
			Batch: 1, State: crowd.BatchRunning, Priority: 1, Tasks: passed + 1, Open: true, Fresh: passed + 2, Issued: 1, OldestOpen: 2,
			Planned: passed + 1, Completed: 1, Labelled: 1, Escrow: passed * s.Reward, Spent: s.Reward, LaunchedAt: start, FirstStarted: start,
		}}},
	})
	must(t, err)
	for n := uint32(1); n <= passed; n++ {
		h, ok, err := e.Ready(start, 2)
		if err != nil || !ok || h.Task.N() != n {
			t.Fatalf("they get %+v, %t, %v, want task %d", h, ok, err, n)
		}
		if _, err := e.Submit(start, 2, h.Assignment, `"yes"`, "yes"); err != nil {
			t.Fatal(err)
		}
		must(t, e.Check())
	}
}
