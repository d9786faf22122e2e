package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// waitsHalfAMinute has a worker come on duty and wait for a task: thirty seconds of it
// are over, and it goes on. The channel tells how it ended.
func (w *world) waitsHalfAMinute(p *access.Principal) <-chan error {
	w.t.Helper()
	must(w.Duty.Start(w.ctx, p))(w.t)
	waited := make(chan error, 1)
	go func() { waited <- second(w.Work.Next(w.ctx, p, time.Minute)) }()
	w.until(func() bool { return w.duty(p).Waiting })
	w.clock.advance(30 * time.Second)
	return waited
}

// TestAPoolThatOpens calls nobody, and pays no waiting: those who were asked are
// thanked, and those on duty stay for nothing.
func TestAPoolThatOpens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 6)
	w.clock.halt()
	w.onCall(pool.Settings{Min: 3, Elasticity: "ct-p", Stability: "rule(least=3)"})
	w.step(time.Second)
	p := w.workers[0]
	waited := w.waitsHalfAMinute(p)
	if n := len(w.called()); n == 0 {
		t.Fatal("nobody is called: the test looks at nothing")
	}
	v := must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error {
		now.Retainer.Called, now.Control.Elasticity = false, ""
		return nil
	}))(t)
	if v.Retainer.Rate != 0 {
		t.Errorf("it pays %s a minute", v.Retainer.Rate)
	}
	for range 3 {
		w.step(time.Minute)
		v = must(w.Pools.Get(w.ctx, w.admin, w.pool))(t)
		if n, calls := len(w.called()), must(w.Pools.Calls(w.ctx, w.admin, w.pool))(t); n != 0 || len(calls) != 0 || v.Coming != 0 {
			t.Errorf("%d are called, %d are coming, the open calls: %+v", n, v.Coming, calls)
		}
		if d := w.duty(p); !d.On || !d.Waiting || d.Earned != crowd.Unit/40 || v.Status.Funds.Paid != crowd.Unit/40 || v.Status.Funds.Owed != 0 {
			t.Errorf("they %+v; the money is %+v", d.OnCall, v.Status.Funds)
		}
	}
	if why := strings.Join(v.Status.Next.Why, "\n"); v.Status.Next.Recruit != 0 || !strings.Contains(why, "the pool is open") {
		t.Errorf("it wants %d and says %q", v.Status.Next.Recruit, why)
	}
	must(w.Duty.End(w.ctx, p))(t)
	ok(t, <-waited)
	if off := must(w.Duty.WhyOff(w.ctx, w.workers[1]))(t); off.Call == nil || off.Call.State != store.CallWithdrawn {
		t.Errorf("somebody who was asked hears %+v", off)
	}
}

// TestAPoolIsOpenAtOnce: before the next control step, too, nobody is coming, there is no
// open call, and waiting costs nothing.
func TestAPoolIsOpenAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 6)
	w.clock.halt()
	w.onCall(pool.Settings{Min: 3})
	w.step(time.Second)
	waited := w.waitsHalfAMinute(w.workers[0])
	w.step(time.Second)
	v := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t)
	if v.Coming == 0 || v.Status.Coming == 0 || v.Status.CostPerHour == 0 || len(w.called()) == 0 {
		t.Fatalf("%d are coming (%d at the last look), waiting costs %g: the test looks at nothing", v.Coming, v.Status.Coming, v.Status.CostPerHour)
	}
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error {
		now.Retainer.Called, now.Control = false, pool.Settings{}
		return nil
	}))(t)
	v = must(w.Pools.Get(w.ctx, w.admin, w.pool))(t)
	calls := must(w.Pools.Calls(w.ctx, w.admin, w.pool))(t)
	if v.Coming != 0 || v.Status.Coming != 0 || v.Status.CostPerHour != 0 || len(calls) != 0 || len(w.called()) != 0 {
		t.Errorf("%d are coming (%d at the last look), waiting costs %g, the open calls: %+v", v.Coming, v.Status.Coming, v.Status.CostPerHour, calls)
	}
	must(w.Duty.End(w.ctx, w.workers[0]))(t)
	ok(t, <-waited)
}

// TestPayEndsWithTheRate: what was earned until then is paid.
func TestPayEndsWithTheRate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.clock.halt()
	w.onCall(pool.Settings{Min: 1})
	w.step(time.Second)
	p := w.workers[0]
	waited := w.waitsHalfAMinute(p)
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Retainer.Rate = 0; return nil }))(t)
	for range 2 {
		if d, m := w.duty(p), must(w.Pools.Get(w.ctx, w.admin, w.pool))(t).Status.Funds; !d.Waiting || d.Earned != crowd.Unit/40 || m.Paid != crowd.Unit/40 || m.Owed != 0 {
			t.Errorf("they %+v; the money is %+v", d.OnCall, m)
		}
		w.step(2 * time.Minute)
	}
	must(w.Duty.End(w.ctx, p))(t)
	ok(t, <-waited)
}

// TestThankedBeforeTheirLastDuty: whoever came too late hears that they were not needed,
// but no more once they have been on duty since.
func TestThankedBeforeTheirLastDuty(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.clock.halt()
	w.onCall(pool.Settings{Min: 1})
	w.step(time.Second)
	asked := w.called()
	if len(asked) != 2 {
		t.Fatalf("%d people were asked, want 2", len(asked))
	}
	must(w.Duty.Start(w.ctx, asked[0]))(t)
	late := asked[1]
	if off := must(w.Duty.WhyOff(w.ctx, late))(t); off.Call == nil || off.Why != "" {
		t.Errorf("who came too late: %+v", off)
	}
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error {
		now.Retainer.Called, now.Retainer.Rate = false, crowd.Unit/40 // who comes without a call is kept, too
		return nil
	}))(t)
	w.clock.advance(31 * time.Second)
	must(w.Duty.Start(w.ctx, late))(t)
	must(w.Duty.End(w.ctx, late))(t)
	if off := must(w.Duty.WhyOff(w.ctx, late))(t); off.Call != nil || off.Why != engine.Left {
		t.Errorf("who was on duty since: %+v, the call %+v", off, off.Call)
	}
}
