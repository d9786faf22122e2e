package app_test

import (
	"encoding/json"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// TestEditingEndsNothing: who may change batches, but not end them, ends none by an edit or by
// taking tasks out, whether it would end at once or when those who hold tasks have answered;
// who may end them too does.
func TestEditingEndsNothing(t *testing.T) {
	t.Parallel()
	const cent = crowd.Unit / 100
	type settings = batches.RunningSettings
	change := func(f func(*settings)) func(*world, crowd.BatchID) func(p *access.Principal) error {
		return func(w *world, id crowd.BatchID) func(p *access.Principal) error {
			return func(p *access.Principal) error {
				return second(w.Batches.Change(w.ctx, p, id, func(x *settings) error { f(x); return nil }))
			}
		}
	}
	remove := func(first uint32, also ...uint32) func(*world, crowd.BatchID) func(p *access.Principal) error {
		return func(w *world, id crowd.BatchID) func(p *access.Principal) error {
			return func(p *access.Principal) error {
				return second(w.Batches.RemoveTask(w.ctx, p, id.Task(first), also...))
			}
		}
	}
	for name, c := range map[string]struct {
		tasks, answers int // of worker 0
		held           bool
		new            func(*batches.NewBatch)
		edit           func(*world, crowd.BatchID) func(p *access.Principal) error
		goesOn         bool // it is no end
	}{
		"all tasks without a label are taken out":           {tasks: 3, answers: 1, new: times(1), edit: remove(2, 3, 3)},
		"so are they while somebody holds one":              {tasks: 3, answers: 1, held: true, new: times(1), edit: remove(2, 3)},
		"one stays":                                         {tasks: 3, answers: 1, new: times(1), edit: remove(2), goesOn: true},
		"each task has enough answers for a label":          {tasks: 2, answers: 2, new: times(2), edit: change(func(x *settings) { x.Redundancy = label.Count(1) })},
		"one task has none":                                 {tasks: 3, answers: 2, new: times(2), edit: change(func(x *settings) { x.Redundancy = label.Count(1) }), goesOn: true},
		"each has enough answers by a rule of another kind": {tasks: 2, answers: 2, new: times(3), edit: change(func(x *settings) { x.Redundancy = label.Agree(1, 2) })},
		"fewer tasks are the share that is enough": {tasks: 3, answers: 1, edit: remove(3),
			new: func(b *batches.NewBatch) { b.Enough = &engine.Enough{Share: 0.5} }},
		"fewer tasks have the confidence that is enough": {tasks: 3, answers: 1, edit: remove(3),
			new: func(b *batches.NewBatch) { b.Enough = &engine.Enough{Confidence: 0.5} }},
		"one more answer costs more than may be spent": {tasks: 3, answers: 1, edit: change(func(x *settings) { x.Reward = 3 * cent }),
			new: func(b *batches.NewBatch) {
				b.Reward, b.Budget, b.Enough = cent, crowd.Unit, &engine.Enough{Spent: 3 * cent}
			}},
		"what people hold is all that may be spent": {tasks: 3, answers: 1, held: true, edit: change(func(x *settings) { x.Enough = engine.Enough{Spent: 2 * cent} }),
			new: func(b *batches.NewBatch) { b.Reward = cent }},
		"all are taken out with one that was before": {tasks: 4, answers: 1, new: times(1), edit: func(w *world, id crowd.BatchID) func(*access.Principal) error {
			must(w.Batches.RemoveTask(w.ctx, w.admin, id.Task(3)))(w.t)
			return remove(2, 3, 4)(w, id)
		}},
		"one more answer may be paid": {tasks: 3, answers: 1, edit: change(func(x *settings) { x.Enough = engine.Enough{Spent: 2 * cent} }), goesOn: true,
			new: func(b *batches.NewBatch) { b.Reward = cent }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 3)
			with := func(name string, permissions ...string) *access.Principal {
				must(w.Accounts.CreateRole(w.ctx, w.admin, store.Role{Tenant: w.a, Name: name, Permissions: append(permissions, "batches.read", "batches.edit")}))(t)
				return w.holding(access.Role(name), w.a)
			}
			id := w.launch(c.tasks, c.new)
			w.answerAll(0, c.answers, func(string) json.RawMessage { return yes })
			if c.held {
				w.next(w.workers[1])
			}
			edit, had, before := c.edit(w, id), w.balance(w.a), w.batch(id)
			err := edit(with("editor"))
			if c.goesOn {
				ok(t, err)
				if v := w.batch(id); !v.Progress.State.Open() || w.balance(w.a) != had {
					t.Errorf("it is %s, and the account has %s, before %s", v.Progress.State, w.balance(w.a), had)
				}
				return
			}
			refused(t, err, crowd.Forbidden)
			if v := w.batch(id); !v.Progress.State.Open() || v.RunningSettings() != before.RunningSettings() || v.Progress.Removed != before.Progress.Removed || w.balance(w.a) != had {
				t.Errorf("it is %+v, before %+v, and the account has %s, before %s", v.Batch, before.Batch, w.balance(w.a), had)
			}
			ok(t, edit(with("starter", "batches.launch")))
			if v := w.batch(id); v.Progress.State.Open() != c.held {
				t.Errorf("who may end it edits it, and it is %s", v.Progress.State)
			}
			ok(t, w.store.CheckLedger(w.ctx))
		})
	}
}
