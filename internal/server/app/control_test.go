package app_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// paysWaiting makes the world's pool an open one that pays whoever waits.
func (w *world) paysWaiting() {
	w.t.Helper()
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Retainer = engine.Retainer{Rate: crowd.Unit / 20}; return nil }))(w.t)
	must(w.Pools.Fund(w.ctx, w.admin, w.pool, 100*crowd.Unit))(w.t)
}

// restored lets a commit of the pool fail, so that its engine is made again from
// what is kept.
func (w *world) restored(f *faulty) {
	w.t.Helper()
	w.launch(1)
	f.set(notKept)
	_, err := w.Work.Next(w.ctx, w.workers[0], 0)
	refused(w.t, err, crowd.Unavailable)
	f.set(nil)
	w.clock.advance(time.Second)
	ok(w.t, w.Ready(w.ctx))
}

// TestSharesAfterAPoolWasRestored: what the engine counts begins again, so that
// earlier use is compared with nothing.
func TestSharesAfterAPoolWasRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	f := w.unreliable()
	w.paysWaiting()
	p := w.workers[0]
	borne := func(d time.Duration) [2]crowd.Money {
		t.Helper()
		a, b := w.balance(w.a), w.balance(w.b)
		w.waits(p, d)
		w.step(time.Minute)
		return [2]crowd.Money{a - w.balance(w.a), b - w.balance(w.b)}
	}
	for range 3 {
		w.works(p, w.a)
	}
	w.step(0) // here its window begins
	w.works(p, w.a)
	if paid := borne(time.Minute); paid[0] == 0 || paid[1] != 0 {
		t.Errorf("only the first tenant used the pool: they bear %s", paid)
	}
	w.restored(f)
	must(w.submit(p, w.next(p).Assignment, yes))(t) // what restored has launched, in no time
	w.works(p, w.a)
	w.works(p, w.b)
	for range 2 { // also when it is settled again
		paid := borne(30 * time.Second)
		if ratio := float64(paid[0]) / float64(paid[1]); paid[0] == 0 || ratio < 0.9 || ratio > 1.1 {
			t.Errorf("they bear %s, and used the pool as long as one another", paid)
		}
	}
	// What was settled is not charged again.
	before := w.balance(w.a) + w.balance(w.b)
	w.step(time.Minute)
	if now := w.balance(w.a) + w.balance(w.b); now != before {
		t.Errorf("%s is charged although nobody waited", before-now)
	}
}

// TestSharesForgetWhatIsAnHourOld: later only who used the pool since then bears
// what waiting costs.
func TestSharesForgetWhatIsAnHourOld(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.paysWaiting()
	p := w.workers[0]
	w.step(0)
	w.works(p, w.a)
	w.step(time.Minute)
	for _, x := range []struct {
		after time.Duration // since the step before, with half a minute of waiting in it
		alone bool          // the second tenant bears it
	}{{20 * time.Minute, false}, {20 * time.Minute, false}, {20 * time.Minute, true}} {
		w.works(p, w.b)
		w.waits(p, 30*time.Second)
		a, b := w.balance(w.a), w.balance(w.b)
		w.step(x.after - 40*time.Second)
		if a, b = a-w.balance(w.a), b-w.balance(w.b); b == 0 || (a == 0) != x.alone {
			t.Errorf("the tenants bear %s and %s, want the second alone to: %t", a, b, x.alone)
		}
	}
}

// TestSharesByWeight: waiting that nobody has caused is borne by those who have
// running batches, by their weights; without any, by the pool.
func TestSharesByWeight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.paysWaiting()
	w.step(0)
	w.waits(w.workers[0], 30*time.Second)
	w.step(time.Minute)
	if a, b := w.balance(w.a), w.balance(w.b); a != money || b != money {
		t.Errorf("without a batch %s and %s are left", a, b)
	}
	funds := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t).Status.Funds
	if funds.Paid == 0 || funds.Funds != 100*crowd.Unit-funds.Paid {
		t.Errorf("the pool bears it: %+v", funds)
	}
	must(w.Tenants.Update(w.ctx, w.admin, w.b, accounts.TenantEdit{Weight: ptr(3.0)}))(t)
	for _, tenant := range []crowd.TenantID{w.a, w.b} {
		id := w.draft(1, func(b *batches.NewBatch) {
			b.Tenant, b.Requirements = tenant, []engine.Requirement{{Name: "nurse", Min: 1}}
		})
		must(w.Batches.Launch(w.ctx, w.admin, id, true))(t) // nobody can do it
	}
	a, b := w.balance(w.a), w.balance(w.b)
	w.waits(w.workers[0], 40*time.Second)
	w.step(time.Minute)
	a, b = a-w.balance(w.a), b-w.balance(w.b)
	if ratio := float64(b) / float64(a); a == 0 || ratio < 2.99 || ratio > 3.01 {
		t.Errorf("they bear %s and %s, of weights 1 and 3", a, b)
	}
}

// TestATenantWithoutMoneyBearsWhatItHas: the pool bears the rest, and is not paid
// it later.
func TestATenantWithoutMoneyBearsWhatItHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.warns.Store(true)
	w.paysWaiting()
	p := w.workers[0]
	w.step(0)
	w.works(p, w.b)
	const left = crowd.Money(7)
	ok(t, w.Tenants.Deposit(w.ctx, w.admin, w.b, left-w.balance(w.b), ""))
	w.waits(p, 30*time.Second)
	w.step(time.Minute)
	funds := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t).Status.Funds
	if b := w.balance(w.b); b != 0 || funds.Funds != 100*crowd.Unit-funds.Paid+left || funds.Paid < crowd.Unit/40 {
		t.Errorf("it has %s left, and the pool %+v", b, funds)
	}
	ok(t, w.Tenants.Deposit(w.ctx, w.admin, w.b, crowd.Unit, ""))
	w.step(time.Minute)
	if b := w.balance(w.b); b != crowd.Unit {
		t.Errorf("with money again it has %s", b)
	}
}

// TestSamplesTellWhatWaitingCost since the one before, also after the pool was
// restored.
func TestSamplesTellWhatWaitingCost(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	f := w.unreliable()
	w.paysWaiting()
	w.step(0)
	var want []crowd.Money
	last := crowd.Money(0)
	for _, d := range []time.Duration{40 * time.Second, 20 * time.Second, 0, 30 * time.Second} {
		if d > 0 {
			w.waits(w.workers[0], d)
		}
		w.step(time.Minute)
		paid := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t).Status.Funds.Paid
		want, last = append(want, paid-last), paid
	}
	w.restored(f)
	must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(t)
	w.waits(w.workers[0], 10*time.Second)
	w.step(time.Minute)
	want = append(want, must(w.Pools.Get(w.ctx, w.admin, w.pool))(t).Status.Funds.Paid)
	var got []crowd.Money
	for _, x := range must(w.Pools.Samples(w.ctx, w.admin, w.pool, time.Time{}))(t)[1:] {
		got = append(got, x.Waiting)
	}
	if !slices.Equal(got, want) || want[0] == 0 || want[1] == 0 || want[2] != 0 || want[4] == 0 {
		t.Errorf("the samples tell %s, want %s", got, want)
	}
}

// TestThatTheMoneyHasRunOutIsLoggedOnce, and once more when it runs out again;
// between them that there is money again.
func TestThatTheMoneyHasRunOutIsLoggedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.onCall(pool.Settings{Min: 1})
	logged := func() (n, again int) {
		t.Helper()
		for range 3 {
			w.step(time.Second)
		}
		for _, a := range w.actions() {
			if a.Kind == store.ActionRelease && len(a.Why) == 1 && a.N == 0 {
				n++
			}
			if a.Kind == store.ActionFunded {
				again++
			}
		}
		return n, again
	}
	for i, x := range []struct {
		add         crowd.Money
		want, again int
	}{{0, 0, 0}, {-100 * crowd.Unit, 1, 0}, {0, 1, 0}, {crowd.Unit, 1, 1}, {0, 1, 1}, {-crowd.Unit, 2, 1}} {
		if x.add != 0 {
			must(w.Pools.Fund(w.ctx, w.admin, w.pool, x.add))(t)
		}
		if n, again := logged(); n != x.want || again != x.again {
			t.Errorf("%d: it is logged %d times, and %d times that there is money again, want %d and %d", i, n, again, x.want, x.again)
		}
	}
}

// TestWhoIsReleased: the idle, of these who likes the pool least and then who has
// been idle longest; then those at work who have been on duty longest.
func TestWhoIsReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	w.onCall(pool.Settings{Min: 5})
	w.step(time.Second)
	w.launch(4)
	comes := func(i int, works bool) {
		t.Helper()
		w.clock.advance(time.Second)
		must(w.Duty.Start(w.ctx, w.workers[i]))(t)
		if works {
			w.next(w.workers[i])
		}
	}
	for _, i := range []int{3, 0, 2} {
		comes(i, true)
	}
	comes(4, false)
	comes(1, false)
	leave := func() (list []string) {
		t.Helper()
		for _, p := range w.workers {
			if v := w.duty(p); !v.On || v.Leaves == engine.Released {
				list = append(list, p.User.Name)
			}
		}
		return list
	}
	for _, want := range [][]string{{"worker5"}, {"worker2", "worker5"}, {"worker2", "worker4", "worker5"}, {"worker1", "worker2", "worker4", "worker5"}} {
		n := len(w.workers) - len(want)
		must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error {
			now.Control = pool.Settings{Elasticity: fmt.Sprintf("static(n=%d)", n)}
			return nil
		}))(t)
		w.step(time.Second)
		if got := leave(); !slices.Equal(got, want) {
			t.Errorf("of five %d are to stay, and %s leave, want %s", n, got, want)
		}
	}
}

// TestActionsAfter: what is new in a pool's log is told whole, however much it is, up
// to a page.
func TestActionsAfter(t *testing.T) {
	w := newWorld(t, 1)
	add := func(n int) {
		ok(t, w.store.AddActions(w.ctx, slices.Repeat([]store.Action{{Pool: w.pool, At: w.clock.now(), Kind: store.ActionRecruit, N: 1, Why: []string{}}}, n)))
	}
	after := func(id int64) []store.Action { return must(w.Pools.ActionsAfter(w.ctx, w.pool, id))(t) }
	for _, n := range []int{1, 49, 50, 51, 120} {
		var last int64
		if seen := after(0); len(seen) > 0 {
			last = seen[0].ID
		}
		add(n)
		if list := after(last); len(list) != n || list[0].ID < list[n-1].ID || list[n-1].ID <= last {
			t.Errorf("of %d new actions, %d are told", n, len(list))
		}
	}
	add(1000)
	if n := len(after(0)); n != 1000 {
		t.Errorf("of all, %d are told, want a page of 1000", n)
	}
}

// TestAClockThatStepsForwardPaysNothing: waiting is paid as far as payments a minute apart
// explain it.
func TestAClockThatStepsForwardPaysNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.clock.halt()
	w.paysWaiting()
	for _, p := range w.workers {
		ctx, cancel := context.WithCancel(w.ctx)
		ended := make(chan struct{})
		go func() { defer close(ended); _, _ = w.Work.Next(ctx, p, time.Minute) }()
		t.Cleanup(func() { cancel(); <-ended })
		w.until(func() bool { return w.duty(p).Waiting })
	}
	paid := func() crowd.Money {
		t.Helper()
		return must(w.Pools.Get(w.ctx, w.admin, w.pool))(t).Status.Funds.Paid
	}
	w.step(time.Minute)
	if got, want := paid(), 2*crowd.Unit/20; got != want {
		t.Errorf("%s is paid for a minute of two people, want %s", got, want)
	}
	w.step(24 * time.Hour)
	if got, most := paid(), 6*crowd.Unit/20; got > most {
		t.Errorf("after a step of a day %s is paid, want %s at most", got, most)
	}
	before := paid()
	w.step(time.Minute)
	if got, want := paid()-before, 2*crowd.Unit/20; got != want {
		t.Errorf("then %s is paid for a minute, want %s", got, want)
	}
}

// TestAPoolIsRenamedBesideOldRules: rules that would be refused today do not name it, those
// that take people from it do.
func TestAPoolIsRenamedBesideOldRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	night := w.other()
	kept := must(w.store.Pool(w.ctx, night))(t)
	kept.Control.Elasticity, kept.Control.Rules = "rules", []pool.Rule{{When: "1/0 > 2", Do: "release 1"}}
	ok(t, w.store.UpdatePool(w.ctx, kept))
	w.reopen()
	rename := func(name string) error {
		return second(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Name = name; return nil }))
	}
	ok(t, rename("day"))
	kept.Control.Rules = append(kept.Control.Rules, pool.Rule{When: "queue > 2", Do: "transfer 1 from day"})
	ok(t, w.store.UpdatePool(w.ctx, kept))
	w.reopen()
	refused(t, rename("morning"), crowd.Conflict)
}
