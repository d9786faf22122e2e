package app_test

import (
	"context"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
)

// slowStore is a store that is slow at one batch: a change of its draft waits for
// goOn.
type slowStore struct {
	store.Store
	slow       crowd.BatchID
	came, goOn chan struct{}
}

func (s *slowStore) UpdateDraft(ctx context.Context, b store.Batch) error {
	if b.Spec.ID == s.slow {
		close(s.came)
		<-s.goOn
	}
	return s.Store.UpdateDraft(ctx, b)
}

// While one draft is being changed, whatever that takes, others are changed and
// launched; the same one waits.
func TestDraftsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	mine, other, third := w.draft(1), w.draft(1), w.draft(1)
	slow := &slowStore{slow: mine, came: make(chan struct{}), goOn: make(chan struct{})}
	w.wrap = func(st store.Store) store.Store { slow.Store = st; return slow }
	w.reopen()
	same := func(*batches.NewBatch) error { return nil }
	edited, launched := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := w.Batches.EditDraft(w.ctx, w.admin, mine, same)
		edited <- err
	}()
	<-slow.came
	must(w.Batches.Launch(w.ctx, w.admin, other, false))(t)
	must(w.Batches.EditDraft(w.ctx, w.admin, third, same))(t)
	must(w.Batches.Upload(w.ctx, w.admin, third, things(2), batches.Upload{}))(t)
	must(w.Batches.Cancel(w.ctx, w.admin, third))(t)
	go func() {
		_, err := w.Batches.Launch(w.ctx, w.admin, mine, false)
		launched <- err
	}()
	select {
	case err := <-launched:
		t.Errorf("launched while it was being changed: %v", err)
	default:
	}
	close(slow.goOn)
	ok(t, <-edited)
	ok(t, <-launched)
}
