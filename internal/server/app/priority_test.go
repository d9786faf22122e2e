package app_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
)

// TestThePriorityOfATenantIsBounded: nothing is given more than an administrator
// allows, at any door; what runs already keeps what it has.
func TestThePriorityOfATenantIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	with := func(priority float64) func(*batches.NewBatch) {
		return func(b *batches.NewBatch) { b.Priority = priority }
	}
	bound := func(most float64) {
		must(w.Tenants.Update(w.ctx, w.admin, w.a, accounts.TenantEdit{MaxPriority: &most}))(t)
	}
	create := func(priority float64) error {
		d := w.definition()
		d.Priority = priority
		return second(w.Batches.Create(w.ctx, w.ann, d))
	}
	ok(t, create(accounts.DefaultMaxPriority))
	refused(t, create(accounts.DefaultMaxPriority+1), crowd.Invalid)
	refused(t, second(w.Tenants.Update(w.ctx, w.ann, w.a, accounts.TenantEdit{MaxPriority: ptr(7.0)})), crowd.Forbidden)
	refused(t, second(w.Tenants.Update(w.ctx, w.admin, w.a, accounts.TenantEdit{MaxPriority: ptr(0.0)})), crowd.Invalid)
	running, draft := w.launch(1, with(50)), w.draft(1, with(50))

	bound(20)
	refused(t, create(20.5), crowd.Invalid)
	refused(t, second(w.Batches.Launch(w.ctx, w.ann, draft, false)), crowd.Invalid)
	refused(t, second(w.Batches.EditDraft(w.ctx, w.ann, draft, func(b *batches.NewBatch) error { b.Name = "other"; return nil })), crowd.Invalid)
	edit := func(priority float64) error {
		return second(w.Batches.Change(w.ctx, w.ann, running, func(x *batches.RunningSettings) error { x.Priority = priority; return nil }))
	}
	refused(t, edit(49), crowd.Invalid)
	ok(t, second(w.Batches.Change(w.ctx, w.ann, running, func(x *batches.RunningSettings) error { // the priority as it is
		x.Deadline = w.clock.now().Add(time.Hour)
		return nil
	})))
	w.clock.advance(2 * time.Hour)
	ok(t, edit(50)) // the deadline as it is, though it has passed
	ok(t, edit(20))
	refused(t, edit(50), crowd.Invalid)

	w.reopen()
	refused(t, edit(50), crowd.Invalid)
	bound(50)
	ok(t, edit(50))
	must(w.Batches.Launch(w.ctx, w.ann, draft, false))(t)
}
