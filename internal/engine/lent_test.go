package engine_test

import (
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/sched"
)

// TestWhoIsLentDoesNotComeHomeForTraining: while a gate is closed training is for everybody
// who waits before it, and no reason for somebody to leave the pool that they help; other
// work is, also before the gate opens, unless it is paused.
func TestWhoIsLentDoesNotComeHomeForTraining(t *testing.T) {
	t.Parallel()
	e := engine.New(engine.Config{Pool: poolID, Policy: sched.MustParse("fs")})
	must(t, e.SetTenant(start, engine.Tenant{ID: 1, Weight: 1}))
	must(t, e.SetGate(start, engine.Gate{On: true, Min: 2}))
	const lent = crowd.WorkerID(1)
	must(t, e.SetWorker(start, engine.Worker{ID: lent, Lent: true}))
	launch := func(id crowd.BatchID, training bool) {
		t.Helper()
		s := benchSpec(id, 3)
		s.Training, s.SmallCrowdOK = training, true
		must(t, e.Launch(start, s))
	}
	launch(1, true)
	if r := e.Reading(start); !r.NoWork[lent] {
		t.Error("somebody who is lent has work at home where there is training only")
	}
	launch(2, false)
	if r := e.Reading(start); r.NoWork[lent] {
		t.Error("somebody who is lent has no work at home, where a batch waits for the gate to open")
	}
	must(t, e.Pause(start, 2))
	if r := e.Reading(start); !r.NoWork[lent] {
		t.Error("somebody who is lent has work at home where the only batch is paused")
	}
}
