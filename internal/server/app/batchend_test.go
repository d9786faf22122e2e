package app_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// endingStore has something happen after the n-th time that a batch is read.
type endingStore struct {
	store.Store
	n    atomic.Int64 // counts down
	then func()
}

func (s *endingStore) Batch(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) (store.Batch, error) {
	b, err := s.Store.Batch(ctx, tenant, id)
	if s.n.Add(-1) == 0 {
		s.then()
	}
	return b, err
}

// TestABatchAddsUpAtItsEnd: whenever a batch ends while it is looked at, what is shown of it adds
// up: planned = completed + running + waiting.
func TestABatchAddsUpAtItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	ending := &endingStore{}
	w.wrap = func(st store.Store) store.Store { ending.Store = st; return ending }
	w.reopen()
	ended := 0
	for n := 1; ; n++ {
		id := w.launch(1)
		mine := w.next(w.workers[0])
		ending.then = func() { must(w.submit(w.workers[0], mine.Assignment, yes))(t) }
		ending.n.Store(int64(n))
		v := must(w.Batches.Get(w.ctx, w.ann, id))(t)
		if p := &v.Progress; v.Planned() != p.Completed+v.Running+v.Waiting || p.State.Open() != (p.Completed == 0) {
			t.Errorf("it ends after read %d: %s, planned %d, completed %d, running %d, waiting %d", n, p.State, v.Planned(), p.Completed, v.Running, v.Waiting)
		}
		if ending.n.Load() > 0 {
			break // it was not read as often
		}
		ended++
	}
	if ended < 2 {
		t.Errorf("it was read %d times", ended)
	}
}
