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
	edit := func(e batches.BatchEdit) error { return second(w.Batches.Edit(w.ctx, w.ann, running, e)) }
	refused(t, edit(batches.BatchEdit{Priority: ptr(49.0)}), crowd.Invalid)
	ok(t, edit(batches.BatchEdit{Priority: ptr(50.0), Deadline: ptr(w.clock.now().Add(time.Hour))})) // as it is
	ok(t, edit(batches.BatchEdit{Priority: ptr(20.0)}))
	refused(t, edit(batches.BatchEdit{Priority: ptr(50.0)}), crowd.Invalid)

	w.reopen()
	refused(t, edit(batches.BatchEdit{Priority: ptr(50.0)}), crowd.Invalid)
	bound(50)
	ok(t, edit(batches.BatchEdit{Priority: ptr(50.0)}))
	must(w.Batches.Launch(w.ctx, w.ann, draft, false))(t)
}
