package app_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/sim/forecast"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/pool"
)

// lending has three people on duty in the first pool, which wants three, and a
// second one, which wants nobody of its own and has a batch: they move there.
func lending(t *testing.T) (w *world, other crowd.PoolID, lent *access.Principal) {
	w = newWorld(t, 4)
	w.balancedBy(pool.MustParseBalance("search"))
	expect := pool.Expect{TaskTime: 10 * time.Second}
	w.onCall(pool.Settings{Elasticity: "static(n=3)", Balance: true, Expect: expect}, func(now *store.Pool) { now.Retainer.Silence = 0 })
	other = w.other(func(now *store.Pool) {
		now.Retainer.Called, now.Retainer.Silence = true, 0
		now.Control = pool.Settings{Elasticity: "static(n=0)", Balance: true, Expect: expect}
	})
	w.step(time.Second)
	for range 3 {
		for _, p := range w.called() {
			if v := w.duty(p); !v.On {
				must(w.Duty.Start(w.ctx, p))(t)
				break
			}
		}
	}
	batch := w.draft(1, func(b *batches.NewBatch) { b.Pool = other })
	must(w.Batches.Launch(w.ctx, w.admin, batch, true))(t)
	w.step(time.Second)
	for _, p := range w.workers {
		if w.as(p.User.ID).User.Pool == other {
			lent = p
		}
	}
	if lent == nil {
		t.Fatalf("nobody moved: %+v", w.actions())
	}
	lent = w.as(lent.User.ID)
	must(w.submit(lent, w.next(lent).Assignment, yes))(t)
	return w, other, lent
}

// TestALoanCallsNobody: whoever is lent counts for the pool that they come from,
// so nobody is called in their place, nor let go where they are, also after a
// restart. Off duty they are in their own pool again.
func TestALoanCallsNobody(t *testing.T) {
	t.Parallel()
	w, other, lent := lending(t)
	status := func(id crowd.PoolID) control.PoolStatus { return must(w.Pools.Get(w.ctx, w.admin, id))(t).Status }
	look := func() {
		t.Helper()
		w.step(time.Second)
		for range 3 {
			w.step(70 * time.Second)
		}
		if s := status(w.pool); s.Lent != 1 || s.Own() != 3 || s.Coming != 0 || s.Next.Recruit != 0 {
			t.Errorf("the pool that lends: %+v, %+v", s.Metrics, s.Next)
		}
		if s := status(other); s.Borrowed != 1 || s.Own() != 0 || s.Next.Release != 0 {
			t.Errorf("the pool that borrows: %+v, %+v", s.Metrics, s.Next)
		}
		if u := w.as(lent.User.ID).User; u.Pool != other || u.Home != w.pool || u.MovedAt.IsZero() {
			t.Errorf("in %s, of %s, since %s", u.Pool, u.Home, u.MovedAt)
		}
	}
	look()
	w.reopen()
	look()
	list := must(w.Pools.People(w.ctx, w.admin, other))(t)
	if len(list) != 1 || list[0].Home != w.pool {
		t.Errorf("%+v", list)
	}

	must(w.Duty.End(w.ctx, w.as(lent.User.ID)))(t)
	w.step(time.Second)
	if u := w.as(lent.User.ID).User; u.Pool != w.pool || u.Home != 0 || w.duty(w.as(lent.User.ID)).On {
		t.Errorf("%+v", u)
	}
}

// TestWhoIsLentMovesForGood when an administrator says so.
func TestWhoIsLentMovesForGood(t *testing.T) {
	t.Parallel()
	w, other, lent := lending(t)
	third := w.newPool("third", "fifo").ID
	must(w.Transfers.Move(w.ctx, w.admin, lent.User.ID, third))(t)
	w.step(time.Second)
	if u := w.as(lent.User.ID).User; u.Pool != third || u.Home != 0 {
		t.Errorf("in %s, of %s; lent to %s", u.Pool, u.Home, other)
	}
}

// TestForecastOfALoan: who is lent is foreseen to work in the pool that they belong to, and
// in the one in which they are; the same from a copy of the pool's state.
func TestForecastOfALoan(t *testing.T) {
	t.Parallel()
	w, other, lent := lending(t)
	for _, id := range []crowd.PoolID{w.pool, other} {
		// Without the one who is lent, the first pool has fewer people than a task asks.
		want := map[crowd.PoolID]int{w.pool: 3, other: 1}[id]
		batch := w.draft(4, func(b *batches.NewBatch) { b.Pool, b.Redundancy = id, label.Count(want) })
		must(w.Batches.Launch(w.ctx, w.admin, batch, true))(t)
		if u := w.as(lent.User.ID).User; u.Pool != other || u.Home != w.pool {
			t.Fatalf("nobody is lent: in %s, of %s", u.Pool, u.Home)
		}
		s := must(w.Batches.PoolState(w.ctx, w.admin, id))(t)
		var copied forecast.State
		ok(t, json.Unmarshal(must(json.Marshal(s))(t), &copied))
		o := forecast.Options{Reps: 20, Seed: 1, Horizon: 24 * time.Hour}
		seen := must(forecast.Forecast(w.ctx, s, o))(t)
		if again := must(forecast.Forecast(w.ctx, &copied, o))(t); !reflect.DeepEqual(again, seen) {
			t.Errorf("%s: from a copy of its state it is %+v, want %+v", id, again, seen)
		}
		if len(seen.Batches) != 1 || seen.Batches[0].Finish[0].Unfinished > 0.2 {
			t.Errorf("%s: %+v", id, seen.Batches)
		}
		if x := seen.Basis.Present; x < 0.99 || x > 1 { // nobody else has asked for work
			t.Errorf("%s: %g people are there, want the one who is lent", id, x)
		}
	}
}

// TestWhoIsLentIsTold: who helps in another pool sees whose they are and since when, also
// after a restart, and no longer once they are back.
func TestWhoIsLentIsTold(t *testing.T) {
	t.Parallel()
	w, other, lent := lending(t)
	since := w.as(lent.User.ID).User.MovedAt
	for range 2 {
		v := w.duty(w.as(lent.User.ID))
		if v.Pool.ID != other || v.Lent == nil || v.Lent.Home != w.pool || v.Lent.HomeName != "main" || since.IsZero() || !v.Lent.Since.Equal(since) {
			t.Errorf("in %s, %+v, want of %s since %s", v.Pool.ID, v.Lent, w.pool, since)
		}
		w.reopen()
	}
	for _, p := range w.workers {
		if v := w.duty(w.as(p.User.ID)); p.User.ID != lent.User.ID && v.Lent != nil {
			t.Errorf("%s, who is at home: %+v", p.User.Name, v.Lent)
		}
	}
	away := w.duty(w.as(lent.User.ID))
	before := away.Seen()
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Name = "days"; return nil }))(t)
	if v := w.duty(w.as(lent.User.ID)); v.Lent.HomeName != "days" || v.Seen() == before {
		t.Errorf("the home has another name: %+v; told as new %t", v.Lent, v.Seen() != before)
	}
	must(w.Duty.End(w.ctx, w.as(lent.User.ID)))(t)
	w.step(time.Second)
	if v := w.duty(w.as(lent.User.ID)); v.Pool.ID != w.pool || v.Lent != nil {
		t.Errorf("back in %s, %+v", v.Pool.ID, v.Lent)
	}
}

// TestWhoIsLentIsLetGo by the pool that they come from, and the call of the pool in which they are
// goes on: nobody who comes there is thanked.
func TestWhoIsLentIsLetGo(t *testing.T) {
	t.Parallel()
	w, other, lent := lending(t)
	for _, name := range []string{"one", "two"} {
		w.person(accounts.NewUser{Name: name, Pool: other})
	}
	must(w.Pools.Fund(w.ctx, w.admin, other, 100*crowd.Unit))(t)
	must(w.Pools.Change(w.ctx, w.admin, other, func(now *store.Pool) error {
		now.Retainer.Rate, now.Retainer.Promise = crowd.Unit/20, 10*time.Minute
		now.Calling = store.Calling{Ask: 2, Answer: time.Hour, Life: 2 * time.Hour}
		now.Control.Elasticity, now.Control.Balance = "static(n=2)", false
		return nil
	}))(t)
	w.step(time.Second)
	calls := must(w.Pools.Calls(w.ctx, w.admin, other))(t)
	if len(calls) != 1 {
		t.Fatalf("the calls are %+v", calls)
	}
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Control.Elasticity = "static(n=0)"; return nil }))(t)
	for range 4 {
		w.step(2 * time.Minute)
	}
	released := false
	for _, a := range must(w.Pools.Actions(w.ctx, w.admin, other, 0, 100))(t) {
		released = released || a.Kind == store.ActionRelease && a.N == 1
	}
	if !released || w.duty(w.as(lent.User.ID)).On {
		t.Fatalf("they are not let go: %t", released)
	}
	if now := must(w.Pools.Calls(w.ctx, w.admin, other))(t); len(now) != 1 || now[0].ID != calls[0].ID || now[0].State != store.CallOpen {
		t.Errorf("the calls are %+v, and were %+v", now, calls)
	}
}
