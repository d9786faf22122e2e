package app_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// TestWhoDoesNotExistIsNotComing: a pool that wants three and has one person to ask waits
// for that one, and borrows two for the other places. Who joins later is asked.
func TestWhoDoesNotExistIsNotComing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	w.clock.halt()
	w.balancedBy(pool.MustParseBalance("search"))
	expect := pool.Expect{TaskTime: 10 * time.Second}
	night := w.other(func(now *store.Pool) {
		now.Retainer.Called, now.Retainer.Silence = true, 0
		now.Control = pool.Settings{Elasticity: "static(n=3)", Max: 3, Balance: true, Expect: expect}
	})
	move := func(i int) { must(w.Transfers.Move(w.ctx, w.admin, w.workers[i].User.ID, night))(t) }
	move(4)
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error {
		now.Retainer.Silence, now.Control = 0, pool.Settings{Balance: true, Expect: expect}
		return nil
	}))(t)
	for _, p := range w.workers[:3] {
		must(w.Duty.Start(w.ctx, p))(t)
	}
	must(w.Batches.Launch(w.ctx, w.admin, w.draft(9, func(b *batches.NewBatch) { b.Pool = night }), true))(t)
	for range 3 {
		w.step(time.Second)
	}
	v := must(w.Pools.Get(w.ctx, w.admin, night))(t)
	if v.Coming != 1 || v.Status.Borrowed != 2 {
		t.Errorf("%d are coming, %d are borrowed; want 1 and 2", v.Coming, v.Status.Borrowed)
	}
	if !slices.ContainsFunc(v.Status.Next.Why, func(s string) bool { return strings.Contains(s, "nobody is left to ask") }) {
		t.Errorf("why nobody more is called: %q", v.Status.Next.Why)
	}
	calls := func() int {
		list := must(w.Pools.Actions(w.ctx, w.admin, night, 0, 100))(t)
		return len(slices.DeleteFunc(list, func(a store.Action) bool { return a.Kind != store.ActionRecruit }))
	}
	if n := calls(); n != 1 {
		t.Errorf("people were called %d times", n)
	}
	move(3)
	w.step(time.Second)
	if v := must(w.Pools.Get(w.ctx, w.admin, night))(t); v.Coming != 2 || calls() != 1 {
		t.Errorf("somebody joined: %d are coming, by %d calls", v.Coming, calls())
	}
}

// TestWhoIsLetGoIsNotNeeded: a pool that lets people go keeps no places of a call that nobody
// was left to take, so that nobody is told to come who would be let go again.
func TestWhoIsLetGoIsNotNeeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.clock.halt()
	w.onCall(pool.Settings{Elasticity: "static(n=4)"}, func(now *store.Pool) { now.Retainer.Silence = 0 })
	w.step(time.Second)
	for _, p := range w.workers {
		must(w.Duty.Start(w.ctx, p))(t)
	}
	w.step(time.Second)
	if call := must(w.Duty.Get(w.ctx, w.workers[0]))(t); !call.On {
		t.Fatalf("they are %+v", call)
	}
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error {
		now.Retainer.Silence, now.Control = 0, pool.Settings{Elasticity: "static(n=1)"}
		return nil
	}))(t)
	w.step(5 * time.Minute) // beyond the cool-down
	off := 0
	for _, p := range w.workers {
		if v := must(w.Duty.Get(w.ctx, p))(t); !v.On {
			off++
			refused(t, second(w.Duty.Start(w.ctx, p)), crowd.OffDuty)
		}
	}
	if off != 1 {
		t.Errorf("%d are off duty, want one", off)
	}
}
