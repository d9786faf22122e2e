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

// TestWhoIsAwayCannotTakeATask: of the people of an open pool, those who have not asked for
// work are not here.
func TestWhoIsAwayCannotTakeATask(t *testing.T) {
	w := newWorld(t, 2)
	id := w.launch(1)
	if got := must(w.Batches.Why(w.ctx, w.ann, id))(t).Workers; got[crowd.Eligible] != 0 || got[crowd.NotOnDuty] == 0 {
		t.Errorf("nobody has asked for work, and of the people are %v", got)
	}
}
