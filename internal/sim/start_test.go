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
