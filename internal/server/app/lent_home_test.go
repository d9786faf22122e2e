package app_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// balancing is a world of two pools that balance: the workers stand in the order in which
// they were made, the last of them belong to the other pool.
func balancing(t *testing.T, here, there int) (w *world, other crowd.PoolID) {
	t.Helper()
	w = newWorld(t, here+there)
	w.balancedBy(pool.MustParseBalance("search"))
	w.clock.halt()
	balanced := func(now *store.Pool) {
		now.Control = pool.Settings{Balance: true, Expect: pool.Expect{TaskTime: 10 * time.Second}}
	}
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { balanced(now); return nil }))(t)
	other = w.other(balanced)
	for _, p := range w.workers[here:] {
		must(w.Transfers.Move(w.ctx, w.admin, p.User.ID, other))(t)
	}
	return w, other
}

// in is the pool in which somebody is.
func (w *world) in(p *access.Principal) crowd.PoolID { return w.as(p.User.ID).User.Pool }

// asks lets somebody ask for work, and go on without waiting.
func (w *world) asks(p *access.Principal) {
	w.t.Helper()
	must(w.Work.Next(w.ctx, w.as(p.User.ID), 0))(w.t)
}

// TestWhoStandsOutsideGoesHome: somebody who is lent and finds no place inside a gate
// counts for the pool that they belong to, and goes home when it has work.
func TestWhoStandsOutsideGoesHome(t *testing.T) {
	t.Parallel()
	w, other := balancing(t, 2, 1)
	lent := w.workers[2]
	w.asks(lent)
	w.launch(8)
	w.step(time.Second)
	if w.in(lent) != w.pool {
		t.Fatalf("nobody was lent: %+v", w.actions())
	}
	for _, p := range w.workers { // the one who is lent comes last
		w.asks(p)
		w.clock.advance(time.Second)
	}
	must(w.submit(lent, w.next(lent).Assignment, yes))(t)
	w.gated(1, 2)
	w.asks(lent)
	w.step(time.Second)
	if v := w.duty(lent); v.Outside != 1 {
		t.Fatalf("they are not outside: %+v", v.OnCall)
	}
	if s := must(w.Pools.Get(w.ctx, w.admin, other))(t).Status; s.Lent != 1 || s.Own() != 1 {
		t.Errorf("the pool that lends: %d lent, %d people", s.Lent, s.Own())
	}
	must(w.Batches.Launch(w.ctx, w.admin, w.draft(1, func(b *batches.NewBatch) { b.Pool = other }), true))(t)
	w.step(time.Second)
	if w.in(lent) != other {
		t.Fatalf("they are still outside; log: %+v", w.actions())
	}
	w.asks(lent)
	if !w.duty(lent).Idle.IsZero() {
		t.Error("at home they get no work")
	}
}

// TestWhoLeftWithoutAWordIsNotSentRound: while both pools have a queue nobody is moved
// by turns, and whoever is not heard of goes off duty when that time is over, counted from
// their last request, wherever they are.
func TestWhoLeftWithoutAWordIsNotSentRound(t *testing.T) {
	t.Parallel()
	w, other := balancing(t, 1, 2)
	gone := w.workers[1:]
	w.asks(gone[0])
	w.clock.advance(20 * time.Second)
	w.asks(gone[1])
	w.launch(50)
	w.step(time.Second)
	for _, p := range gone {
		if w.in(p) != w.pool {
			t.Fatalf("%s was not lent: %+v", p.User.Name, w.actions())
		}
	}
	must(w.Batches.Launch(w.ctx, w.admin, w.draft(5, func(b *batches.NewBatch) { b.Pool = other }), true))(t)
	for second := 22; second < 100; second++ {
		w.step(time.Second)
		for i, heard := range []int{0, 20} {
			if on := w.duty(gone[i]).On; on != (second < heard+60) {
				t.Fatalf("%d seconds after the last request: on duty %t", second-heard, on)
			}
		}
	}
	moves := 0
	for _, a := range w.actions() {
		if a.Kind == store.ActionTransfer && a.By == 0 {
			moves++
		}
	}
	if moves > 4 { // there and back
		t.Errorf("two people moved %d times", moves)
	}
}
