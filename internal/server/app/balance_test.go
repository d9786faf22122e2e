package app_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/recruit"
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
	}
	w.clock.advance(2 * time.Minute) // else whoever just came is not moved on
	for _, p := range w.workers {
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

// TestABalancerOfItsOwn: it is changed while the server runs, counts from the next
// control step on, stands with the decisions, and survives a restart.
func TestABalancerOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.balancedBy(pool.MustParseBalance("search"))
	expect := pool.Expect{TaskTime: 10 * time.Second}
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Control = pool.Settings{Balance: true, Expect: expect}; return nil }))(t)
	other := w.other(func(now *store.Pool) {
		now.Control = pool.Settings{Balance: true, Balancer: "search(omega=1)", Expect: expect}
	})
	for _, p := range w.workers { // they like it better where they are
		must(w.Duty.ChangeWishes(w.ctx, p, func(x *recruit.Wishes) error {
			x.Prefers = map[crowd.PoolID]float64{w.pool: 0.8, other: 0.4}
			return nil
		}))(t)
		must(w.Duty.Start(w.ctx, p))(t)
	}
	must(w.Batches.Launch(w.ctx, w.admin, w.draft(1, func(b *batches.NewBatch) { b.Pool = other }), true))(t)
	moved := func() (n int) {
		w.step(time.Second)
		for _, p := range w.workers {
			if w.as(p.User.ID).User.Pool == other {
				n++
			}
		}
		return n
	}
	if n := moved(); n != 0 {
		t.Errorf("%d moved to where they like it less; log: %+v", n, w.actions())
	}
	why := must(w.Pools.Get(w.ctx, w.admin, other))(t).Status.Next.Why
	if !slices.ContainsFunc(why, func(s string) bool { return strings.Contains(s, " not lent: it would gain nothing") }) {
		t.Errorf("why nobody moved: %q", why)
	}
	w.reopen()
	if v := must(w.Pools.Get(w.ctx, w.admin, other))(t); v.Control.Balancer != "search(omega=1)" || v.BalancedBy != "search(omega=1)" {
		t.Errorf("kept %q, in force %q", v.Control.Balancer, v.BalancedBy)
	}
	for _, p := range w.workers { // an open pool that pays no waiting does not keep who is on duty
		must(w.Duty.Start(w.ctx, p))(t)
	}
	if n := moved(); n != 0 {
		t.Errorf("after a restart %d moved", n)
	}
	set := func(text string) error {
		_, err := w.Pools.Change(w.ctx, w.admin, other, func(now *store.Pool) error { now.Control.Balancer = text; return nil })
		return err
	}
	if err := set("search(omega=7)"); crowd.CodeOf(err) != crowd.Invalid || !strings.HasPrefix(err.Error(), "balancer: ") {
		t.Errorf("omega of 7: %v", err)
	}
	ok(t, set("search(omega=0.1)"))
	if n := moved(); n != 1 {
		t.Errorf("%d moved; log: %+v", n, w.actions())
	}
	said := slices.ContainsFunc(w.actions(), func(a store.Action) bool {
		return a.Kind == store.ActionTransfer && slices.Contains(a.Why, "search(omega=0.1): 1 from "+must(w.Pools.Get(w.ctx, w.admin, w.pool))(t).Name+", for 1 in the queue")
	})
	if !said {
		t.Errorf("no decision says by which balancer: %+v", w.actions())
	}
}
