package app_test

import (
	"testing"

	"github.com/throng-dev/throng/internal/server/batches"
)

// A batch for whose tasks the people may not give enough answers says so while it runs.
func TestPeopleMayGiveTooFewAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id := w.draft(5, func(b *batches.NewBatch) { b.PerWorker = 2 })
	must(w.Batches.Launch(w.ctx, w.admin, id, true))(t)
	for _, want := range []string{
		"5 answers are wanted, but the pool has 2 who may do it and each may give 2",
		"4 answers more are wanted, but the pool has 2 who may do it and, of 2 each, 3 more to give",
	} {
		if v := w.batch(id); !v.Crowd.TooSmall() || v.Crowd.String() != want || v.CrowdRemedy == "" {
			t.Errorf("%q, remedy %q; want %q", v.Crowd, v.CrowdRemedy, want)
		}
		must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(t)
	}
	w.worker("late")
	if v := w.batch(id); v.Crowd.TooSmall() {
		t.Errorf("with somebody new: %s", v.Crowd)
	}
}
