package app_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/batches"
)

// TestTrainingWithoutNewcomers: a training batch in a pool without a training says so at
// its launch, and what would begin one.
func TestTrainingWithoutNewcomers(t *testing.T) {
	w := newWorld(t, 2)
	v := w.batch(w.launch(1, func(n *batches.NewBatch) { n.Training = true }))
	if v.Reason != crowd.NoTraining || !strings.Contains(v.Because(), "the pool has no training") || !strings.Contains(v.Remedy, "throng pool set p1 --training N") {
		t.Errorf("it waits since %s: %q; %q", v.Reason, v.Because(), v.Remedy)
	}
}

// TestTrainingBehindAnOpenGate: it is the warm-up of the next closed gate, and needs no
// training of the pool.
func TestTrainingBehindAnOpenGate(t *testing.T) {
	w := newWorld(t, 2)
	w.gated(1, 0)
	w.launch(9)
	w.next(w.workers[0]) // opens the gate
	v := w.batch(w.launch(1, func(n *batches.NewBatch) { n.Training = true }))
	if v.Reason != crowd.NoTraining || !strings.Contains(v.Remedy, "when the pool's gate is closed again") || strings.Contains(v.Remedy, "--training") {
		t.Errorf("it waits since %s: %q", v.Reason, v.Remedy)
	}
}

// TestWhoIsAwayCannotTakeATask: of the people of an open pool, those who have not asked for
// work are not here.
func TestWhoIsAwayCannotTakeATask(t *testing.T) {
	w := newWorld(t, 2)
	id := w.launch(1)
	if got := must(w.Batches.Why(w.ctx, w.ann, id))(t).Workers; got[crowd.Eligible] != 0 || got[crowd.NotOnDuty] == 0 {
		t.Errorf("nobody has asked for work, and of the people are %v", got)
	}
}
