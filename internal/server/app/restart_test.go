package app_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// killed is a restart after a kill: what had not reached the store is lost.
func (w *world) killed() {
	w.t.Helper()
	to := filepath.Join(w.t.TempDir(), "killed.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(w.path + suffix)
		ok(w.t, err)
		ok(w.t, os.WriteFile(to+suffix, data, 0o600))
	}
	w.close() // too late: the copy goes on
	w.path = to
	w.open()
}

// stands waits for work for a while, paid, and stays on duty.
func (w *world) stands(worker int, d time.Duration) {
	w.t.Helper()
	p := w.workers[worker]
	ctx, stop := context.WithCancel(w.ctx)
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		_, _ = w.Work.Next(ctx, p, time.Minute)
	}()
	w.until(func() bool { return w.duty(p).Waiting })
	w.clock.advance(d)
	stop()
	<-waited
	w.until(func() bool { return !w.duty(p).Waiting })
}

// learning is a pool that has called three people, of whom two came, who have waited
// and worked: of its load, its speed and how people come and go something is known.
func learning(t *testing.T) *world {
	w := newWorld(t, 6)
	w.clock.halt()
	w.onCall(pool.Settings{Elasticity: "static(n=3)", Window: 2 * time.Minute}, func(now *store.Pool) { now.Retainer.Silence = 0 })
	w.step(time.Second)
	w.step(10 * time.Second)
	called := w.called()
	for _, p := range called[:2] {
		must(w.Duty.Start(w.ctx, p))(t)
	}
	if called[0] != w.workers[0] || called[1] != w.workers[1] {
		t.Fatal("others are called")
	}
	w.step(time.Second)
	w.stands(0, 30*time.Second)
	for range 6 {
		w.works(w.workers[1], w.a)
		w.step(time.Second)
	}
	must(w.Duty.End(w.ctx, w.workers[1]))(t)
	w.step(time.Second)
	return w
}

// TestARestartForgetsNothing: what was earned so far, the estimates of the pool and
// who is coming are after a restart, and after a kill, what they were.
func TestARestartForgetsNothing(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(*world){"a restart": (*world).reopen, "a kill": (*world).killed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := learning(t)
			look := func() control.PoolView { return must(w.Pools.Get(w.ctx, w.admin, w.pool))(t) }
			was := look()
			m := was.Status.Metrics
			if m.Lambda == 0 || m.Mu == 0 || m.Abandonment == 0 || m.Recruitment == 0 || m.Throughput == 0 || m.CStar == pool.Unknown || was.Coming == 0 {
				t.Fatalf("nothing is known that could be lost: %+v, %d coming", m, was.Coming)
			}
			earned := w.duty(w.workers[0]).Earned
			if earned != crowd.Unit/40 {
				t.Fatalf("they earned %s in half a minute", earned)
			}
			for range 2 {
				again(w)
				if now := look(); now.Coming != was.Coming || now.OnDuty != was.OnDuty {
					t.Errorf("%d are coming and %d on duty, before %d and %d", now.Coming, now.OnDuty, was.Coming, was.OnDuty)
				}
				if v := w.duty(w.workers[0]); v.Earned != earned || !v.On {
					t.Errorf("they have earned %s, before %s", v.Earned, earned)
				}
				w.step(0)
				n := look().Status.Metrics
				n.Coming, n.Backlog = m.Coming, m.Backlog // with whom the last step called; of the last step
				if n != m {
					t.Errorf("seen: %+v\nbefore %+v", n, m)
				}
			}
			w.stands(0, 30*time.Second)
			if v := w.duty(w.workers[0]); v.Earned != 2*earned {
				t.Errorf("then they have earned %s", v.Earned)
			}
			must(w.Duty.End(w.ctx, w.workers[0]))(t)
			w.step(time.Second)
			again(w)
			if v := w.duty(w.workers[0]); v.Earned != 0 && v.On {
				t.Errorf("off duty: %+v", v)
			}
		})
	}
}

// TestARestartKeepsTheCooldown: people who were called just before a restart are not
// let go just after it.
func TestARestartKeepsTheCooldown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 6)
	w.clock.halt()
	control := pool.Settings{Elasticity: "static(n=3)", Cooldown: 2 * time.Minute}
	w.onCall(control, func(now *store.Pool) { now.Retainer.Silence = 0 })
	w.step(time.Second)
	w.killed()
	fewer := func(now *store.Pool) error { now.Control.Elasticity = "static(n=1)"; return nil }
	must(w.Pools.Change(w.ctx, w.admin, w.pool, fewer))(t)
	coming := func() int { return must(w.Pools.Get(w.ctx, w.admin, w.pool))(t).Coming }
	w.step(time.Minute)
	if n := coming(); n != 3 {
		t.Errorf("a minute after three were called %d are coming", n)
	}
	w.step(61 * time.Second)
	if n := coming(); n != 1 {
		t.Errorf("after the cool-down %d are coming", n)
	}
}

// TestEstimatesGoOn: after a restart time passes as before: what is seen then is added
// to what was seen, and what was before the window is forgotten.
func TestEstimatesGoOn(t *testing.T) {
	t.Parallel()
	w := learning(t)
	lambda := func() float64 { return must(w.Pools.Get(w.ctx, w.admin, w.pool))(t).Status.Lambda }
	was := lambda()
	w.reopen()
	w.step(time.Second)
	w.launch(10)
	w.step(time.Second)
	if now := lambda(); now < 1.5*was {
		t.Errorf("λ is %g, before ten came %g", now, was)
	}
	for range 15 {
		w.step(10 * time.Second)
	}
	if now := lambda(); math.Abs(now) > 1e-9 {
		t.Errorf("after the window λ is %g", now)
	}
}

// TestWhatCouldNotBeKeptIsKeptAtTheNextStep: a step whose store fails loses nothing of what
// was learnt to a kill after the next one, in which nothing happens.
func TestWhatCouldNotBeKeptIsKeptAtTheNextStep(t *testing.T) {
	t.Parallel()
	w, f := newWorld(t, 1), &failingStore{}
	w.wrap = func(s store.Store) store.Store { f.Store = s; return f }
	w.reopen()
	w.clock.halt()
	w.onCall(pool.Settings{Elasticity: "static(n=0)", Window: 2 * time.Minute}, func(now *store.Pool) { now.Retainer.Silence = 0 })
	w.step(10 * time.Second)
	w.launch(10)
	w.clock.advance(time.Second)
	f.begin(storeCall{"PutStates", 1})
	if err := w.Control.Step(marked(w.ctx)); !errors.Is(err, errLost) {
		t.Fatalf("the step that could keep nothing returns %v", err)
	}
	f.end()
	lambda := func() float64 { return must(w.Pools.Get(w.ctx, w.admin, w.pool))(t).Status.Lambda }
	was := lambda()
	w.step(time.Second)
	w.killed()
	w.step(time.Second)
	if now := lambda(); was == 0 || now < 0.9*was {
		t.Errorf("λ is %g after the kill, before %g", now, was)
	}
}
