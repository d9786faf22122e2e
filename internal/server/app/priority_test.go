package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
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
	refused(t, edit(51), crowd.Invalid)
	ok(t, edit(49))                                                                               // which raises nothing
	ok(t, second(w.Batches.Change(w.ctx, w.ann, running, func(x *batches.RunningSettings) error { // the priority as it is
		x.Deadline = w.clock.now().Add(time.Hour)
		return nil
	})))
	w.clock.advance(2 * time.Hour)
	ok(t, edit(49)) // the deadline as it is, though it has passed
	ok(t, edit(20))
	refused(t, edit(50), crowd.Invalid)

	w.reopen()
	refused(t, edit(50), crowd.Invalid)
	bound(50)
	ok(t, edit(50))
	must(w.Batches.Launch(w.ctx, w.ann, draft, false))(t)
}

// TestThePriorityOfAStepIsBounded: a run whose step has more is refused when its file is
// checked for the tenant, when it is made, and when it is to start.
func TestThePriorityOfAStepIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	bound := func(most float64) {
		must(w.Tenants.Update(w.ctx, w.admin, w.a, accounts.TenantEdit{MaxPriority: &most}))(t)
	}
	text := `
workflow: urgent
inputs: {things: {columns: [id]}}
steps:
  look:
    from: {things: stream}
    crowd: {template: {kind: choose_one, question: "?", options: ["yes", "no"], show: [id]}, reward: 0.10, priority: 50}
`
	const wrong = "50 is beyond the tenant's highest, 3, which an administrator sets"
	n := orchestrator.NewRun{Tenant: w.a, Text: text}
	id := must(w.Runs.Make(w.ctx, w.ann, n))(t).Run.ID
	must(w.Runs.Load(w.ctx, w.ann, id, "things", file(t, thingsWithID(2))))(t)
	bound(3)
	_, err := w.Runs.Make(w.ctx, w.ann, n)
	if refused(t, err, crowd.Invalid); !strings.Contains(err.Error(), "line 7, column 118: priority: "+wrong) {
		t.Errorf("made: %v", err)
	}
	checked := must(w.Runs.Check(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: text}))(t)
	checked.Done()
	if len(checked.Problems) != 1 || checked.Problems[0].Line != 7 || checked.Problems[0].Message != "priority: "+wrong {
		t.Errorf("checked: %+v", checked.Problems)
	}
	err = second(w.Runs.Start(w.ctx, w.ann, id, false))
	if refused(t, err, crowd.Conflict); !strings.Contains(err.Error(), "the step look: "+wrong) {
		t.Errorf("started: %v", err)
	}
	bound(50)
	must(w.Runs.Start(w.ctx, w.ann, id, false))(t)
}
