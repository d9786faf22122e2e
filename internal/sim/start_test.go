package sim

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// TestATaskInHandHasItsRestLeft: tasks take 100 s; a worker has had one for 40 s, so
// it is done after 60 s, and the next one after 160 s.
func TestATaskInHandHasItsRestLeft(t *testing.T) {
	t.Parallel()
	const batch, worker = crowd.BatchID(5), crowd.WorkerID(7)
	now := epoch.Add(time.Hour)
	began := now.Add(-40 * time.Second)
	spec := engine.Spec{
		ID: batch, Tenant: 1, Tasks: 2, Rule: label.Count(1), Reward: 10_000, Budget: 20_000, Priority: 1,
		Lease: time.Hour, TaskTime: time.Minute, SmallCrowdOK: true,
	}
	run := Run{
		Setup:  &Setup{Kinds: []Kind{{Service: Constant(100)}}, Groups: []Group{{}}},
		Policy: "fs", Seed: 1, Check: true,
		Start: &Start{
			Now: now, Batches: map[crowd.BatchID]StartBatch{batch: {Name: "half done"}},
			Snapshot: &engine.Snapshot{
				Tenants: []engine.Tenant{{ID: 1, Weight: 1}},
				Workers: []engine.Worker{{ID: worker}},
				Batches: []engine.BatchSnapshot{{
					Spec: spec,
					Progress: engine.Progress{
						Batch: batch, State: crowd.BatchRunning, Priority: 1, Fresh: 2, Issued: 1, OldestOpen: 1, Planned: 2,
						Escrow: 20_000, LaunchedAt: began, FirstStarted: began,
					},
					Assignments: []engine.AssignmentSnapshot{{
						ID: batch.Assignment(1), Task: batch.Task(1), Worker: worker, State: crowd.Assigned, At: began, Expires: began.Add(time.Hour),
					}},
				}},
			},
		},
	}
	o, err := run.Do()
	if err != nil {
		t.Fatal(err)
	}
	if o.Answers != 2 || o.End != 160*time.Second || !o.Done || o.Batches[0].Completed != 160*time.Second {
		t.Errorf("%d answers by %s, done %t, completed at %s; want 2 by 2m40s", o.Answers, o.End, o.Done, o.Batches[0].Completed)
	}
}

// TestWhoComesBackCarriesOn: of two people with a task in hand who are away one comes back after
// a minute; the other comes when anybody may, before the lease has run out. Each begins the task
// that they left again, of 100 s. A third, who holds nothing, comes back as well.
func TestWhoComesBackCarriesOn(t *testing.T) {
	t.Parallel()
	const batch = crowd.BatchID(5)
	now := epoch.Add(time.Hour)
	spec := engine.Spec{
		ID: batch, Tenant: 1, Tasks: 3, Rule: label.Count(1), Reward: 10_000, Budget: 30_000, Priority: 1,
		Lease: time.Hour, TaskTime: time.Minute, SmallCrowdOK: true,
	}
	held := func(n uint32) engine.AssignmentSnapshot {
		return engine.AssignmentSnapshot{ID: batch.Assignment(n), Task: batch.Task(n), Worker: crowd.WorkerID(n), State: crowd.Assigned, At: now.Add(-time.Minute), Expires: now.Add(time.Hour)}
	}
	run := Run{
		Setup: &Setup{
			Kinds: []Kind{{Service: Constant(100)}}, Groups: []Group{{}},
			Cast: func(uint64, int) (*Cast, error) { return &Cast{Visits: []Visit{{At: 10 * time.Minute}}}, nil },
		},
		Policy: "fs", Seed: 1, Check: true,
		Start: &Start{
			Now: now, Batches: map[crowd.BatchID]StartBatch{batch: {Name: "half done"}}, Members: []crowd.WorkerID{2},
			Lost: map[crowd.WorkerID]bool{1: true, 2: true}, Returns: map[crowd.WorkerID]time.Duration{1: time.Minute, 3: 2 * time.Minute},
			Snapshot: &engine.Snapshot{
				Tenants: []engine.Tenant{{ID: 1, Weight: 1}}, Workers: []engine.Worker{{ID: 1}, {ID: 2}, {ID: 3}},
				Batches: []engine.BatchSnapshot{{
					Spec: spec,
					Progress: engine.Progress{
						Batch: batch, State: crowd.BatchRunning, Priority: 1, Fresh: 3, Issued: 2, OldestOpen: 1, Planned: 3,
						Escrow: 30_000, LaunchedAt: now.Add(-time.Minute), FirstStarted: now.Add(-time.Minute),
					},
					Assignments: []engine.AssignmentSnapshot{held(1), held(2)},
				}},
			},
		},
		Observe: func(at time.Duration, _ int, open []BatchView) {
			want := map[time.Duration]int{time.Minute: 2, 2 * time.Minute: 3, 10 * time.Minute: 1}[at]
			if open[0].Running != want {
				t.Errorf("at %s %d tasks are in hand, want %d", at, open[0].Running, want)
			}
		},
	}
	o, err := run.Do()
	if err != nil {
		t.Fatal(err)
	}
	if o.Answers != 3 || o.Expired != 0 || o.Batches[0].Completed != 10*time.Minute+100*time.Second {
		t.Errorf("%d answers, %d leases ran out, completed at %s; want 3, none and 11m40s", o.Answers, o.Expired, o.Batches[0].Completed)
	}
}
