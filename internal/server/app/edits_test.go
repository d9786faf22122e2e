package app_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/pool"
)

// refusedEdit is an edit with one bad value.
type refusedEdit struct {
	field string // that the error names
	edit  func() error
}

// TestABadEditIsRefused: an edit is checked as a creation is, and a refused one
// leaves what was kept, also what was good in it.
func TestABadEditIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	night := w.newPool("night", "fifo").ID
	must(w.Pools.Change(w.ctx, w.admin, night, func(p *store.Pool) error {
		p.Control = pool.Settings{Elasticity: "rules", Rules: []pool.Rule{{When: "queue > 1", Do: "transfer 1 from main"}}}
		return nil
	}))(t)
	w.newPool("dawn", "fifo")
	e := edits{w, w.draft(2), w.launch(2)}
	subjects := []struct {
		what string
		kept func() any
		bad  []refusedEdit
	}{
		{"tenant", func() any { return must(w.store.Tenant(w.ctx, w.a))(t) }, e.ofTenant()},
		{"pool", func() any { return must(w.store.Pool(w.ctx, w.pool))(t) }, e.ofPool()},
		{"person", func() any { return must(w.store.User(w.ctx, w.workers[0].User.ID))(t) }, e.ofPerson()},
		{"draft", func() any { return must(w.store.Batch(w.ctx, 0, e.draft))(t) }, e.ofDraft()},
		{"batch", func() any {
			v := w.batch(e.running) // as it runs
			return []any{must(w.store.Batch(w.ctx, 0, e.running))(t), v.RunningSettings()}
		}, e.ofRunning()},
	}
	for _, s := range subjects {
		before := s.kept()
		for i, x := range s.bad {
			err := x.edit()
			if code := crowd.CodeOf(err); code != crowd.Invalid && code != crowd.BudgetTooSmall && code != crowd.NotFound && code != crowd.Conflict {
				t.Errorf("%s, edit %d (%s): %v", s.what, i+1, x.field, err)
			} else if got := crowd.ErrorsOf(err)[0].Field; got != x.field {
				t.Errorf("%s, edit %d: the error %v is of %q, want %q", s.what, i+1, err, got, x.field)
			}
			if after := s.kept(); !reflect.DeepEqual(after, before) {
				t.Errorf("%s, edit %d (%s) is refused, and kept:\n%+v\nbefore:\n%+v", s.what, i+1, x.field, after, before)
				before = after
			}
		}
	}
	list := must(w.Pools.List(w.ctx, w.admin))(t)
	if i := slices.IndexFunc(list, func(v control.PoolView) bool { return v.ID == w.pool }); !reflect.DeepEqual(list[i].Pool, must(w.store.Pool(w.ctx, w.pool))(t)) {
		t.Errorf("the pool runs with %+v", list[i].Pool)
	}
}

// edits makes the refused edits of a world, with a draft and a running batch.
type edits struct {
	*world
	draft, running crowd.BatchID
}

func (e edits) ofTenant() []refusedEdit {
	update := func(field string, x accounts.TenantEdit) refusedEdit {
		x.Stopped = ptr(true)
		return refusedEdit{field, func() error { return second(e.Tenants.Update(e.ctx, e.admin, e.a, x)) }}
	}
	change := func(field string, f func(*store.Tenant)) refusedEdit {
		return refusedEdit{field, func() error {
			return second(e.Tenants.Change(e.ctx, e.admin, e.a, func(t *store.Tenant) error { f(t); t.Stopped = true; return nil }))
		}}
	}
	return []refusedEdit{
		update("weight", accounts.TenantEdit{Weight: ptr(0.0)}),
		update("weight", accounts.TenantEdit{Weight: ptr(-1.0)}),
		update("weight", accounts.TenantEdit{Weight: ptr(math.NaN())}),
		update("weight", accounts.TenantEdit{Weight: ptr(engine.MaxPriority * 1.001)}),
		update("name", accounts.TenantEdit{Name: ptr("")}),
		update("name", accounts.TenantEdit{Name: ptr(strings.Repeat("x", 101))}),
		change("weight", func(t *store.Tenant) { t.Weight = 0 }),
		change("name", func(t *store.Tenant) { t.Name = "" }),
	}
}

func (e edits) ofPool() []refusedEdit {
	change := func(field string, f func(*store.Pool)) refusedEdit {
		return refusedEdit{field, func() error {
			return second(e.Pools.Change(e.ctx, e.admin, e.pool, func(p *store.Pool) error { f(p); p.Stopped = true; return nil }))
		}}
	}
	return []refusedEdit{
		change("name", func(p *store.Pool) { p.Name = "" }),
		change("name", func(p *store.Pool) { p.Name = "p7" }),
		change("", func(p *store.Pool) { p.Name = "other" }), // a rule names it
		change("policy", func(p *store.Pool) { p.Policy = "best" }),
		change("silence", func(p *store.Pool) { p.Retainer.Silence = time.Millisecond }),
		change("rate", func(p *store.Pool) { p.Retainer.Rate = -1 }),
		change("promise", func(p *store.Pool) { p.Retainer.Promise = -1 }),
		change("training", func(p *store.Pool) { p.Retainer.Training = engine.MaxTraining + 1 }),
		change("elasticity", func(p *store.Pool) { p.Control.Elasticity = "best" }),
		change("stability", func(p *store.Pool) { p.Control.Stability = "best" }),
		change("min", func(p *store.Pool) { p.Control.Min = -1 }),
		change("rules", func(p *store.Pool) {
			p.Control.Elasticity, p.Control.Rules = "rules", []pool.Rule{{When: "queue > 1", Do: "transfer 1 from nowhere"}}
		}),
		change("ask", func(p *store.Pool) { p.Calling.Ask = 0 }),
		change("answer", func(p *store.Pool) { p.Calling.Answer = 0 }),
		change("life", func(p *store.Pool) { p.Calling.Life = 0 }),
	}
}

// setWishes replaces a worker's wishes.
func setWishes(w recruit.Wishes) func(*recruit.Wishes) error {
	return func(now *recruit.Wishes) error { *now = w; return nil }
}

func (e edits) ofPerson() []refusedEdit {
	id := e.workers[0].User.ID
	change := func(field string, f func(*store.User)) refusedEdit {
		return refusedEdit{field, func() error {
			return second(e.Accounts.ChangeUser(e.ctx, e.admin, id, func(u *store.User) error { u.FullName = "One"; f(u); return nil }))
		}}
	}
	wishes := func(prefers map[crowd.PoolID]float64) refusedEdit {
		return refusedEdit{"prefers", func() error {
			return second(e.Duty.ChangeWishes(e.ctx, e.workers[0], setWishes(recruit.Wishes{Away: true, Prefers: prefers})))
		}}
	}
	return []refusedEdit{
		change("full_name", func(u *store.User) { u.FullName = strings.Repeat("x", 201) }),
		change("email", func(u *store.User) { u.Email = "nobody" }),
		change("pool", func(u *store.User) { u.Pool = 99 }),
		change("", func(u *store.User) { u.Tenants = []crowd.TenantID{99} }),
		change("qualifications", func(u *store.User) { u.Qualifications = map[string]int{"q": 101} }),
		change("qualifications", func(u *store.User) { u.Qualifications = map[string]int{"q": -1} }),
		change("qualifications", func(u *store.User) { u.Qualifications = map[string]int{"": 1} }),
		change("name", func(u *store.User) { u.Name = "" }),
		wishes(map[crowd.PoolID]float64{e.pool: 1.5}),
		wishes(map[crowd.PoolID]float64{99: 1}),
		wishes(map[crowd.PoolID]float64{3: 1}), // nobody is moved there
	}
}

func (e edits) ofDraft() []refusedEdit {
	edit := func(field string, f func(*batches.NewBatch)) refusedEdit {
		return refusedEdit{field, func() error {
			return second(e.Batches.EditDraft(e.ctx, e.ann, e.draft, func(n *batches.NewBatch) error { n.Production = true; f(n); return nil }))
		}}
	}
	past := e.clock.now().Add(-time.Hour)
	return []refusedEdit{
		edit("name", func(n *batches.NewBatch) { n.Name = "" }),
		edit("pool", func(n *batches.NewBatch) { n.Pool = 99 }),
		edit("kind", func(n *batches.NewBatch) { n.Template = []byte(`{"kind": "poll"}`) }),
		edit("reward", func(n *batches.NewBatch) { n.Reward = 0 }),
		edit("reward", func(n *batches.NewBatch) { n.Reward = crowd.MaxMoney + 1 }),
		edit("budget", func(n *batches.NewBatch) { n.Budget = 1 }),
		edit("budget", func(n *batches.NewBatch) { n.Budget = crowd.MaxMoney + 1 }),
		edit("task_time", func(n *batches.NewBatch) { n.TaskTime = -1 }),
		edit("lease", func(n *batches.NewBatch) { n.Lease = engine.MinLease - 1 }),
		edit("ends_at", func(n *batches.NewBatch) { n.EndsAt = past }),
		edit("deadline", func(n *batches.NewBatch) { n.Deadline = past }),
		edit("priority", func(n *batches.NewBatch) { n.Priority = -1 }),
		edit("agree", func(n *batches.NewBatch) { n.Redundancy = label.Agree(3, 2) }),
		edit("qualifications", func(n *batches.NewBatch) { n.Requirements = []engine.Requirement{{Name: "q", Min: 101}} }),
	}
}

func (e edits) ofRunning() []refusedEdit {
	past := e.clock.now().Add(-time.Hour)
	change := func(field string, f func(*batches.RunningSettings)) refusedEdit {
		return refusedEdit{field, func() error {
			return second(e.Batches.Change(e.ctx, e.ann, e.running, func(x *batches.RunningSettings) error { x.Stopped = true; f(x); return nil }))
		}}
	}
	return []refusedEdit{
		change("priority", func(x *batches.RunningSettings) { x.Priority = engine.MaxPriority * 1.001 }),
		change("priority", func(x *batches.RunningSettings) { x.Priority = math.NaN() }),
		change("priority", func(x *batches.RunningSettings) { x.Priority, x.Deadline = 0, time.Now().Add(time.Hour) }),
		change("deadline", func(x *batches.RunningSettings) { x.Priority, x.Deadline = 7, past }),
		{"amount", func() error { return second(e.Batches.TopUp(e.ctx, e.ann, e.running, 0)) }},
		{"amount", func() error { return second(e.Batches.TopUp(e.ctx, e.ann, e.running, money)) }},
	}
}
