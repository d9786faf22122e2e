package app_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// TestWhoHasLearntTheWorkMovesFirst: who left the training before its end counts as
// somebody who has to learn, and so does who never began it.
func TestWhoHasLearntTheWorkMovesFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.balancedBy(pool.MustParseBalance("search"))
	balanced := pool.Settings{Balance: true, Expect: pool.Expect{TaskTime: 10 * time.Second}}
	other := w.other(func(now *store.Pool) { now.Retainer, now.Control = engine.Retainer{Training: 1}, balanced })
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Control = balanced; return nil }))(t)
	elsewhere := func(b *batches.NewBatch) { b.Pool = other }
	practice := w.draft(3, elsewhere, func(b *batches.NewBatch) { b.Training = true })
	must(w.Batches.Launch(w.ctx, w.admin, practice, true))(t)
	began, learnt := w.workers[0], w.workers[2] // of equals the first moves
	for _, p := range w.workers {
		if p != w.workers[1] {
			must(w.Transfers.Move(w.ctx, w.admin, p.User.ID, other))(t)
		}
	}
	must(w.Duty.Start(w.ctx, began))(t)
	must(w.submit(learnt, w.next(learnt).Assignment, yes))(t)
	must(w.Batches.Cancel(w.ctx, w.admin, practice))(t)
	for _, p := range w.workers {
		must(w.Transfers.Move(w.ctx, w.admin, p.User.ID, w.pool))(t)
		must(w.Duty.Start(w.ctx, p))(t)
	}
	real := w.draft(1, elsewhere)
	must(w.Batches.Launch(w.ctx, w.admin, real, true))(t)
	w.step(time.Second)
	for _, p := range w.workers {
		want := w.pool
		if p == learnt {
			want = other
		}
		if got := w.as(p.User.ID).User.Pool; got != want {
			t.Errorf("%s is in %s, want %s; log: %+v", p.User.Name, got, want, w.actions())
		}
	}
}
