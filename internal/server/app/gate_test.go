package app_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// gated gives the pool a gate.
func (w *world) gated(least, most int) {
	w.t.Helper()
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error {
		now.Gate, now.Control.Min, now.Control.Max = true, least, most
		return nil
	}))(w.t)
}

// whyNothing is the one reason for which somebody gets nothing.
func (w *world) whyNothing(p *access.Principal) crowd.Reason {
	w.t.Helper()
	why := must(w.Work.WhyNothing(w.ctx, p))(w.t)
	for reason := range why {
		if len(why) == 1 {
			return reason
		}
	}
	w.t.Fatalf("the reasons are %v", why)
	return 0
}

// TestAGateOfAnOpenPool: of three people the first waits, the second brings work for
// both, and the third stands outside until one of them goes, also after a restart.
func TestAGateOfAnOpenPool(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.clock.halt()
	batch := w.launch(9)
	w.gated(2, 2)
	first, second, third := w.workers[0], w.workers[1], w.workers[2]
	asks := func(p *access.Principal) *work.HeldTask {
		t.Helper()
		return must(w.Work.Next(w.ctx, p, 0))(t)
	}
	if asks(first) != nil || w.whyNothing(first) != crowd.GateClosed {
		t.Fatal("the first one of two is served")
	}
	if v := w.duty(first); v.GateNote() != "Work begins when 2 people are here; 1 is." {
		t.Errorf("the first one hears %q", v.GateNote())
	}
	closed := "the pool's gate is closed: work begins when 2 people are on duty, and 1 more must come; to begin without them: "
	for who, want := range map[*access.Principal]string{w.ann: closed + "ask an administrator for throng pool set p1 --no-gate", w.admin: closed + "throng pool set p1 --no-gate"} {
		if why := must(w.Batches.Why(w.ctx, who, batch))(t); why.Reason != crowd.GateClosed || why.Text != want {
			t.Errorf("the batch waits for %s: %q", why.Reason, why.Text)
		}
	}
	if q := must(w.Pools.Queue(w.ctx, w.admin, w.pool, 10))(t); q.Placed != 0 || q.All != 1 || q.Batches[0].Place != 0 || q.Batches[0].Why() != crowd.GateClosed.Text() {
		t.Errorf("the queue before a closed gate: %+v", q)
	}
	w.reopen()
	if v := w.duty(first); !v.On || v.Gate.Open {
		t.Fatalf("after a restart: %+v", v)
	}
	if asks(second) == nil || asks(first) == nil {
		t.Fatal("two are there, and not both are served")
	}
	if asks(third) != nil || w.whyNothing(third) != crowd.PoolFull {
		t.Fatal("the third one is served")
	}
	full := "the pool is full: 2 people are inside, at most 2, and 1 outside; who is inside keeps their place while they ask for work, also in vain, and gives it up by going off duty; to let in more: "
	for who, want := range map[*access.Principal]string{w.ann: full + "ask an administrator for throng pool set p1 --max N, or --no-gate", w.admin: full + "throng pool set p1 --max N, or --no-gate"} {
		if why := must(w.Batches.Why(w.ctx, who, batch))(t); why.Reason != crowd.PoolFull || why.Text != want || why.Workers[crowd.PoolFull] != 1 {
			t.Errorf("the batch waits for %s: %q", why.Reason, why.Text)
		}
	}
	_, err := w.Batches.Launch(w.ctx, w.ann, w.draft(2, times(3)), false)
	if refused(t, err, crowd.Invalid); !strings.Contains(err.Error(), "but the pool's gate lets in 2, who keep their places") {
		t.Errorf("three people are wanted, of whom two are let in: %v", err)
	}
	must(w.Batches.Launch(w.ctx, w.ann, w.draft(2, times(2)), false))(t)
	must(w.Batches.Launch(w.ctx, w.ann, w.draft(2, times(3)), true))(t)
	must(w.Duty.End(w.ctx, third))(t)
	if why := must(w.Batches.Why(w.ctx, w.ann, batch))(t); why.Reason != crowd.NoWorkerReady || why.Workers[crowd.NotOnDuty] != 1 || why.Workers[crowd.PoolFull] != 0 {
		t.Errorf("with nobody outside, the batch waits for %s, and the people are %v", why.Reason, why.Workers)
	}
	if asks(third) != nil {
		t.Fatal("the third one is served")
	}
	w.reopen()
	v := w.duty(third)
	if v.Outside != 1 || !v.Gate.Open || v.Gate.Inside != 2 || v.GateNote() != "The pool is full: you are number 1 of those who wait outside. Waiting there is not paid." {
		t.Fatalf("outside, after a restart: %+v %q", v.OnCall, v.GateNote())
	}
	ok(t, w.Work.Return(w.ctx, first, asks(first).Assignment))
	must(w.Duty.End(w.ctx, first))(t)
	if asks(third) == nil {
		t.Error("a place is free, and the third one is not served")
	}
	if v := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t).GateNow; v.String() != "open: 2 people, at most 2" {
		t.Errorf("the pool's gate: %s", v)
	}
}

// TestAFullPoolIsNotWhy a batch waits that somebody inside could take a task of: they are
// told apart from whoever is outside.
func TestAFullPoolIsNotWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.clock.halt()
	batch := w.launch(9)
	w.gated(1, 2)
	for _, p := range w.workers[:2] {
		must(w.submit(p, w.next(p).Assignment, yes))(t)
	}
	must(w.Work.Next(w.ctx, w.workers[2], 0))(t)
	why := must(w.Batches.Why(w.ctx, w.ann, batch))(t)
	if why.Reason != crowd.NoWorkerReady || why.Workers[crowd.Eligible] != 2 || why.Workers[crowd.PoolFull] != 1 {
		t.Errorf("it waits for %s, and the people are %v", why.Reason, why.Workers)
	}
}

// TestBoundsThatBoundNobody: those of an open pool without a gate are refused, unless
// they stand there from before, or somebody is moved.
func TestBoundsThatBoundNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	change := func(f func(now *store.Pool)) error {
		_, err := w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { f(now); return nil })
		return err
	}
	var named *crowd.Error
	if err := change(func(now *store.Pool) { now.Control.Min, now.Control.Max = 2, 2 }); !errors.As(err, &named) || named.Code != crowd.Invalid || named.Field != "min" {
		t.Errorf("min and max of an open pool: %v", err)
	}
	if err := change(func(now *store.Pool) { now.Control.Max = 2 }); !errors.As(err, &named) || named.Field != "max" {
		t.Errorf("max of an open pool: %v", err)
	}
	if err := change(func(now *store.Pool) { now.Gate = true }); !errors.As(err, &named) || named.Field != "gate" {
		t.Errorf("a gate without bounds: %v", err)
	}
	ok(t, change(func(now *store.Pool) { now.Control.Max, now.Control.Balance = 2, true }))
	ok(t, change(func(now *store.Pool) { now.Control.Balance = false }))
	rules := []pool.Rule{{When: "workers < 1", Do: "transfer 1 from second"}}
	w.newPool("second", "fifo")
	ok(t, change(func(now *store.Pool) { now.Control.Max, now.Control.Rules = 0, rules }))
	if err := change(func(now *store.Pool) { now.Control.Max = 2 }); !errors.As(err, &named) || named.Field != "max" {
		t.Errorf("max of an open pool with rules that are not in force: %v", err)
	}
	ok(t, change(func(now *store.Pool) { now.Control.Max, now.Control.Elasticity = 2, "rules" }))
	ok(t, change(func(now *store.Pool) { now.Control.Elasticity = "static" }))
	if v := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t); !v.BoundsUnused() {
		t.Error("bounds that only rules beside the elasticity would keep are said to be used")
	}
	ok(t, change(func(now *store.Pool) { now.Gate = true }))
	ok(t, change(func(now *store.Pool) { now.Gate, now.Retainer.Called, now.Control.Max = false, true, 3 }))
	ok(t, change(func(now *store.Pool) { now.Retainer.Called = false }))
	if v := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t); !v.BoundsUnused() {
		t.Error("an open pool without a gate is said to be bounded")
	}
	ok(t, change(func(now *store.Pool) { now.Control.Max = 0 }))
	if v := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t); v.BoundsUnused() {
		t.Error("bounds that are cleared are said to be unused")
	}
}

// TestThoseOutsideAreNotOnDuty: one number is on duty, of which the preference is the mean.
func TestThoseOutsideAreNotOnDuty(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	w.clock.halt()
	w.gated(1, 2)
	for _, p := range w.workers {
		must(w.Work.Next(w.ctx, p, 0))(t)
		must(w.Duty.ChangeWishes(w.ctx, p, setWishes(recruit.Wishes{Prefers: map[crowd.PoolID]float64{w.pool: 0.5}})))(t)
	}
	w.step(10 * time.Second)
	v := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t)
	if v.OnDuty != 2 || v.Status.Workers != 2 || v.GateNow.Outside != 2 || v.Status.Preference != 0.5 {
		t.Errorf("%d on duty, %d workers in the figures, %d outside, preference %g", v.OnDuty, v.Status.Workers, v.GateNow.Outside, v.Status.Preference)
	}
	sum := 0
	for _, s := range must(w.Pools.RecentSamples(w.ctx, w.admin, w.pool, time.Minute))(t) {
		sum += s.Workers
		if s.Preference != 0.5 {
			t.Errorf("a sample has the preference %g", s.Preference)
		}
	}
	if sum != 2 {
		t.Errorf("the samples have %d people", sum)
	}
}

// TestKeptBoundsDoNothing: bounds that an open pool has from before, or for its moves, let
// nobody go who came by themselves, and call nobody.
func TestKeptBoundsDoNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][]func(now *store.Pool){
		"a gate before": {
			func(now *store.Pool) { now.Gate, now.Control.Min, now.Control.Max = true, 2, 2 },
			func(now *store.Pool) { now.Gate = false },
		},
		"called before": {
			func(now *store.Pool) { now.Retainer.Called, now.Control.Max = true, 2 },
			func(now *store.Pool) { now.Retainer.Called = false },
		},
		"too few":         {func(now *store.Pool) { now.Gate, now.Control.Min = true, 9 }, func(now *store.Pool) { now.Gate = false }},
		"with balance":    {func(now *store.Pool) { now.Control.Balance, now.Control.Max = true, 2 }},
		"with elasticity": {func(now *store.Pool) { now.Control.Elasticity = "static(n=1)" }},
		"under its gate":  {func(now *store.Pool) { now.Gate, now.Control.Min, now.Control.Max = true, 4, 4 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 3)
			w.clock.halt()
			for _, f := range change {
				must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { f(now); return nil }))(t)
			}
			w.launch(9)
			for range 5 {
				for _, p := range w.workers {
					must(w.Work.Next(w.ctx, p, 0))(t)
				}
				w.step(time.Second)
			}
			for _, x := range w.actions() {
				if x.Kind != store.ActionSet {
					t.Errorf("%s %d: %q", x.Kind, x.N, x.Why)
				}
			}
			for _, p := range w.workers {
				if v := w.duty(p); !v.On || v.Leaves != "" {
					t.Errorf("%s is on duty: %t, leaves: %q", p.User.Name, v.On, v.Leaves)
				}
			}
		})
	}
}

// TestThePolicyIsNamedOnlyIfItIsTheReason: a batch that is the first in the queue does
// not wait for others.
func TestThePolicyIsNamedOnlyIfItIsTheReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	older := w.launch(9)
	w.next(w.workers[0])
	b := w.launch(2)
	if v := w.batch(b); v.Reason != crowd.NoWorkerReady || v.Place.N != 1 || v.Place.Of != 2 {
		t.Errorf("%s waits for %s, its place in the queue is %+v", b, v.Reason, v.Place)
	}
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Policy = "fifo"; return nil }))(t)
	if why := must(w.Batches.Why(w.ctx, w.ann, b))(t); why.Reason != crowd.OtherBatchFirst || why.Ahead != 1 {
		t.Errorf("behind %s, %s waits for %s, %d ahead", older, b, why.Reason, why.Ahead)
	}
}

// TestWhoIsOutsideNeedsNoMoney: a pool's money for waiting lasts as long as those inside
// use it.
func TestWhoIsOutsideNeedsNoMoney(t *testing.T) {
	t.Parallel()
	v := control.PoolView{Counts: engine.Counts{OnDuty: 3}}
	v.Retainer.Rate, v.Status.Funds.Funds = crowd.Unit, 20*crowd.Unit
	if !v.Low() {
		t.Error("20.00 are enough for three people for ten minutes, at 1.00 a minute")
	}
	v.OnDuty, v.GateNow.Outside = 2, 1
	if v.Low() {
		t.Error("20.00 are not enough for two people inside")
	}
}

// TestWhoeverAClosedGateWaitsForIsLetIn also without a call, where the pool's money is not
// enough to call everybody: nobody waits, paid, before a gate that could never open.
func TestWhoeverAClosedGateWaitsForIsLetIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	w.clock.halt()
	w.onCall(pool.Settings{Min: 3, Max: 3}, func(now *store.Pool) { now.Gate = true })
	view := func() *control.PoolView {
		t.Helper()
		v := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t)
		return &v
	}
	if need := view().GateNeeds(); need != 0 {
		t.Errorf("with money enough, %s is needed", need)
	}
	must(w.Pools.Fund(w.ctx, w.admin, w.pool, -99*crowd.Unit))(t) // of 1.50 for three people in ten minutes
	if need := view().GateNeeds(); need != 3*crowd.Unit/2 {
		t.Errorf("with money for two of three, %s is needed", need)
	}
	w.step(time.Second)
	for _, p := range w.called()[:2] {
		must(w.Duty.Start(w.ctx, p))(t)
	}
	w.step(time.Second)
	if len(w.called()) != 0 || view().Coming != 0 {
		t.Fatalf("without money %d are called, and %d coming", len(w.called()), view().Coming)
	}
	off := lists.Filter(w.workers, func(p *access.Principal) bool { return !w.duty(p).On })
	third, fourth := off[0], off[1]
	before := w.duty(third)
	if !before.Needed || before.Call != nil {
		t.Errorf("before they come: %+v", before)
	}
	must(w.Duty.Start(w.ctx, third))(t)
	must(w.Duty.Start(w.ctx, third))(t) // said twice
	if v := view(); !v.GateNow.Open || v.OnDuty != 3 || v.GateNeeds() != 0 {
		t.Errorf("with the third: %s, %d on duty, needed %s", v.GateNow, v.OnDuty, v.GateNeeds())
	}
	if v := w.duty(fourth); v.Needed || v.Seen() == before.Seen() {
		t.Errorf("once the gate is open, the fourth: %+v", v)
	}
	_, err := w.Duty.Start(w.ctx, fourth)
	refused(t, err, crowd.OffDuty)
	w.step(time.Second)
	if v := view(); v.OnDuty != 3 {
		t.Errorf("after a step %d are on duty", v.OnDuty)
	}
}

// TestWhoSignsOutLeavesTheirPlace: inside a full gate a place is free as soon as somebody signs out
// everywhere, or, if they hold a task, when its lease runs out.
func TestWhoSignsOutLeavesTheirPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.clock.halt()
	w.gated(0, 1)
	first, second, third := w.workers[0], w.workers[1], w.workers[2]
	asks := func(p *access.Principal) *work.HeldTask {
		t.Helper()
		return must(w.Work.Next(w.ctx, p, 0))(t)
	}
	there := w.withPassword(first)
	here := w.signIn(there.User.Name)
	if asks(first) != nil || asks(second) != nil || w.whyNothing(second) != crowd.PoolFull {
		t.Fatal("the second one is inside")
	}
	ok(t, w.Accounts.SignOut(w.ctx, here))
	if v := w.duty(second); v.Gate.Outside != 1 {
		t.Errorf("signed in elsewhere, the first one has lost the place: %+v", v.Gate)
	}
	ok(t, w.Accounts.SignOut(w.ctx, there))
	if v := w.duty(second); v.Gate.Outside != 0 || v.Gate.Inside != 1 {
		t.Errorf("signed out, the first one keeps the place: %+v", v.Gate)
	}
	w.launch(3)
	if asks(second) == nil || asks(third) != nil {
		t.Fatal("the third one is inside")
	}
	ok(t, w.Accounts.SignOut(w.ctx, w.withPassword(second)))
	if v := w.duty(third); v.Gate.Outside != 1 {
		t.Errorf("who holds a task has lost the place: %+v", v.Gate)
	}
	w.clock.advance(engine.DefaultLease + time.Second)
	if asks(third) == nil {
		t.Error("the lease has run out, and the third one is still outside")
	}
}

// TestWhoWaitsForNothingIsTold: where the pool's money for waiting is used up, those who wait in an
// open pool are told that waiting is not paid, and told anew when it is again; the pool costs
// nothing meanwhile.
func TestWhoWaitsForNothingIsTold(t *testing.T) {
	t.Parallel()
	const rate = crowd.Unit / 20
	w := newWorld(t, 1)
	w.clock.halt()
	w.gated(2, 2)
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Retainer.Rate = rate; return nil }))(t)
	ann := w.workers[0]
	must(w.Work.Next(w.ctx, ann, 0))(t)
	w.step(time.Second)
	v := w.duty(ann)
	seen := v.Seen()
	if v.Rate() != 0 || !v.Unpaid || !v.On {
		t.Errorf("without money, waiting pays %s, unpaid: %t", v.Rate(), v.Unpaid)
	}
	if x := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t); x.Status.CostPerHour != 0 || !x.Low() {
		t.Errorf("without money, waiting costs %g an hour; low: %t", x.Status.CostPerHour, x.Low())
	}
	for _, money := range []crowd.Money{crowd.Unit, -crowd.Unit} {
		told, stop, err := w.Duty.Watch(w.ctx, ann)
		ok(t, err)
		must(w.Pools.Fund(w.ctx, w.admin, w.pool, money))(t)
		w.step(time.Second)
		select {
		case <-told:
		case <-time.After(10 * time.Second):
			t.Errorf("after %s more, they are not told", money)
		}
		stop()
		v := w.duty(ann)
		want := rate
		if money < 0 {
			want = 0
		}
		if v.Rate() != want || v.Unpaid != (want == 0) || v.Seen() == seen {
			t.Errorf("after %s more, waiting pays %s, unpaid: %t", money, v.Rate(), v.Unpaid)
		}
		seen = v.Seen()
	}
}
