package app_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// hooked is a real store in which a test takes part. A hook that is nil does
// nothing.
type hooked struct {
	store.Store
	updatePool func()
	addSamples func()
	updateCall func(keep func() error) error
	commit     func(c *engine.Changes) error
	snapshot   func(crowd.PoolID) error
	listed     int // how often the pools were
}

func (h *hooked) ListPools(ctx context.Context) ([]store.Pool, error) {
	h.listed++
	return h.Store.ListPools(ctx)
}

func (h *hooked) UpdatePool(ctx context.Context, p store.Pool) error {
	if h.updatePool != nil {
		h.updatePool()
	}
	return h.Store.UpdatePool(ctx, p)
}

func (h *hooked) AddSamples(ctx context.Context, list []store.Sample) error {
	if h.addSamples != nil {
		h.addSamples()
	}
	return h.Store.AddSamples(ctx, list)
}

func (h *hooked) UpdateCall(ctx context.Context, c store.Call, list []store.Notice) error {
	keep := func() error { return h.Store.UpdateCall(ctx, c, list) }
	if h.updateCall != nil {
		return h.updateCall(keep)
	}
	return keep()
}

func (h *hooked) Commit(ctx context.Context, c *engine.Changes) error {
	if h.commit != nil {
		if err := h.commit(c); err != nil {
			return err
		}
	}
	return h.Store.Commit(ctx, c)
}

func (h *hooked) Snapshot(ctx context.Context, id crowd.PoolID) (*engine.Snapshot, error) {
	if h.snapshot != nil {
		if err := h.snapshot(id); err != nil {
			return nil, err
		}
	}
	return h.Store.Snapshot(ctx, id)
}

// hooked puts a hooked store into a world. Hooks are set while nothing runs.
func (w *world) hooked(h *hooked) {
	w.wrap = func(s store.Store) store.Store { h.Store = s; return h }
	w.reopen()
}

// waits lets somebody wait for work for so long, paid, and go off duty.
func (w *world) waits(p *access.Principal, d time.Duration) {
	w.t.Helper()
	waited := make(chan error, 1)
	go func() {
		_, err := w.Work.Next(w.ctx, p, time.Minute)
		waited <- err
	}()
	w.until(func() bool { return w.duty(p).Waiting })
	w.clock.advance(d)
	must(w.Duty.End(w.ctx, p))(w.t)
	ok(w.t, <-waited)
}

// works lets somebody do one task of a tenant's.
func (w *world) works(p *access.Principal, tenant crowd.TenantID) {
	w.t.Helper()
	w.launch(1, func(b *batches.NewBatch) { b.Tenant = tenant })
	task := w.next(p)
	w.clock.advance(10 * time.Second)
	must(w.submit(p, task.Assignment, yes))(w.t)
}

func (w *world) other(change ...func(now *store.Pool)) crowd.PoolID {
	w.t.Helper()
	p := w.newPool("other", "fifo")
	for _, f := range change {
		must(w.Pools.Change(w.ctx, w.admin, p.ID, func(now *store.Pool) error { f(now); return nil }))(w.t)
	}
	return p.ID
}

// TestSettingsChangeWithinAStep: an admin changes a pool while a control step
// charges the tenants. Neither waits for the other for ever.
func TestSettingsChangeWithinAStep(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t, 1), &hooked{}
	w.hooked(h)
	w.onCall(pool.Settings{Min: 1})
	w.step(time.Second)
	must(w.Duty.Start(w.ctx, w.workers[0]))(t)
	w.works(w.workers[0], w.a)
	w.waits(w.workers[0], 30*time.Second)
	before := w.balance(w.a)
	w.clock.advance(time.Minute)
	within, ended := make(chan struct{}), make(chan error, 2)
	h.addSamples = func() { close(within) } // the step has begun, and has not charged anybody yet
	h.updatePool = func() {
		go func() { ended <- w.Control.Step(w.ctx) }()
		<-within
	}
	go func() {
		ended <- second(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Control = pool.Settings{}; return nil }))
	}()
	for range 2 {
		select {
		case err := <-ended:
			ok(t, err)
		case <-time.After(10 * time.Second):
			t.Fatal("the step and the change wait for each other")
		}
	}
	if w.balance(w.a) == before {
		t.Error("nobody was charged: the test looks at nothing")
	}
}

// TestWhoSaysItTwiceTakesOnePlace: two requests of one person to come on duty, on
// their way at once.
func TestWhoSaysItTwiceTakesOnePlace(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		f := w.unreliable()
		w.onCall(pool.Settings{Min: 2})
		w.step(time.Second)
		release, ended := make(chan struct{}), make(chan error, 3)
		f.set(func(keep func() error) error { <-release; return keep() })
		go func() { ended <- second(w.Pools.Fund(w.ctx, w.admin, w.pool, 1)) }()
		synctest.Wait()
		for range 2 { // both see that they are off duty, and hear it after the commit
			go func() { ended <- second(w.Duty.Start(w.ctx, w.workers[0])) }()
			synctest.Wait()
		}
		close(release)
		for range 3 {
			ok(t, <-ended)
		}
		calls := must(w.Pools.Calls(w.ctx, w.admin, w.pool))(t)
		if len(calls) != 1 || calls[0].Came != 1 || calls[0].Wanted != 2 {
			t.Errorf("one of two came; the calls: %+v", calls)
		}
	})
}

// TestWhoCameIsKeptWithTheirCall: the store fails as somebody comes. They are on duty,
// and their notice says that they came just if the call counts them.
func TestWhoCameIsKeptWithTheirCall(t *testing.T) {
	t.Parallel()
	for name, update := range map[string]func(keep func() error) error{"kept": keptUnheard, "not kept": notKept} {
		t.Run(name, func(t *testing.T) {
			w, h := newWorld(t, 3), &hooked{}
			w.hooked(h)
			w.onCall(pool.Settings{Min: 3})
			w.step(time.Second)
			h.updateCall = update
			if v := must(w.Duty.Start(w.ctx, w.workers[0]))(t); !v.On {
				t.Error("they came and are not on duty")
			}
			h.updateCall = nil
			must(w.Duty.Start(w.ctx, w.workers[1]))(t)
			call := must(w.Pools.Calls(w.ctx, w.admin, w.pool))(t)[0]
			came := 0
			for _, n := range call.Notices {
				if n.State == store.NoticeCame {
					came++
				}
			}
			want := 1
			if name == "kept" {
				want = 2
			}
			if call.Came != want || came != want {
				t.Errorf("the call counts %d, notices %d, want %d", call.Came, came, want)
			}
		})
	}
}

// TestWhoComesBackAtOnceWaits: somebody who waits goes off duty, comes again and
// waits again before the first of it is kept. Their new request goes on.
func TestWhoComesBackAtOnceWaits(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		f := w.unreliable()
		p := w.workers[0]
		old := w.poll(w.ctx, p, time.Minute)
		release, ended := make(chan struct{}), make(chan error, 3)
		f.set(func(keep func() error) error { <-release; return keep() })
		for _, f := range []func() error{
			func() error { return second(w.Pools.Fund(w.ctx, w.admin, w.pool, 1)) },
			func() error { return second(w.Duty.End(w.ctx, p)) },
			func() error { return second(w.Duty.Start(w.ctx, p)) },
		} {
			go func() { ended <- f() }()
			synctest.Wait()
		}
		again := w.poll(w.ctx, p, time.Minute)
		close(release)
		for range 3 {
			ok(t, <-ended)
		}
		old.gets(t, 0)
		if !again.waits() {
			t.Fatal("their new request ended with nothing, and they still count as waiting")
		}
		again.gets(t, w.launch(1))
	})
}

// TestThePoolKnowsItsPeopleAfterAFailure: somebody went off duty as the store
// failed. They can be called.
func TestThePoolKnowsItsPeopleAfterAFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	f := w.unreliable()
	w.onCall(pool.Settings{Min: 1})
	w.step(time.Second)
	must(w.Duty.Start(w.ctx, w.workers[0]))(t)
	f.set(keptUnheard)
	_, err := w.Duty.End(w.ctx, w.workers[0])
	refused(t, err, crowd.Unavailable)
	f.set(nil)
	w.step(2 * time.Second)
	if n := len(w.called()); n != 1 {
		t.Errorf("%d are called; the only one is off duty", n)
	}
}

// TestSamplesAfterAFailure: what waiting costs is counted from zero by a pool that
// begins again.
func TestSamplesAfterAFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	f := w.unreliable()
	w.onCall(pool.Settings{}, func(now *store.Pool) { now.Retainer = engine.Retainer{Rate: crowd.Unit / 20} })
	p := w.workers[0]
	w.step(time.Second)
	var want []crowd.Money
	for _, d := range []time.Duration{30 * time.Second, 12 * time.Second} {
		must(w.Duty.Start(w.ctx, p))(t)
		w.waits(p, d)
		want = append(want, must(w.Pools.Get(w.ctx, w.admin, w.pool))(t).Status.Funds.Paid)
		w.step(10 * time.Second)
		f.set(notKept)
		_, err := w.Pools.Fund(w.ctx, w.admin, w.pool, 1)
		refused(t, err, crowd.Unavailable)
		f.set(nil)
		w.clock.advance(time.Second)
	}
	samples := must(w.Pools.Samples(w.ctx, w.admin, w.pool, time.Time{}))(t)
	for i, x := range samples[len(samples)-2:] {
		if x.Waiting != want[i] || want[i] == 0 {
			t.Errorf("sample %d says %s for waiting, it was %s", i, x.Waiting, want[i])
		}
	}
}

// TestWhoGoesHomeIsNotBroughtOnDutyElsewhere: they were to move when they have finished
// their task, and leave then.
func TestWhoGoesHomeIsNotBroughtOnDutyElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	other := w.other()
	w.launch(2)
	for i, p := range w.workers {
		task := w.next(p)
		if there := must(w.Transfers.Move(w.ctx, w.admin, p.User.ID, other))(t); there {
			t.Error("they hold a task and are there")
		}
		want, on := other, false
		if i == 0 {
			must(w.Duty.End(w.ctx, p))(t)
		} else { // the admin thinks better of it
			must(w.Transfers.Move(w.ctx, w.admin, p.User.ID, w.pool))(t)
			want, on = w.pool, true
		}
		must(w.submit(p, task.Assignment, yes))(t)
		w.step(time.Second)
		if v := w.duty(w.as(p.User.ID)); v.On != on || v.Pool.ID != want {
			t.Errorf("worker %d is on duty %t in %s, want %t in %s", i+1, v.On, v.Pool.ID, on, want)
		}
	}
}

// TestMovedWhileTheyWait: whoever showed who they are before they were moved works where
// they are now.
func TestMovedWhileTheyWait(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		other := w.other()
		p := w.workers[0]
		must(w.Duty.Start(w.ctx, p))(t)
		var last recruit.DutyView
		moved := make(chan error, 1)
		go func() {
			var err error
			last, err = w.Duty.Await(w.ctx, p, time.Minute, func(v recruit.DutyView) bool { return v.On && v.Pool.ID == other })
			moved <- err
		}()
		synctest.Wait()
		must(w.Transfers.Move(w.ctx, w.admin, p.User.ID, other))(t)
		ok(t, <-moved)
		if !last.On || last.Pool.ID != other {
			t.Errorf("who waits for news of their duty is told that they are on duty %t in %s", last.On, last.Pool.ID)
		}
		must(w.Batches.Launch(w.ctx, w.admin, w.draft(1, func(b *batches.NewBatch) { b.Pool = other }), true))(t)
		work := must(w.Work.Next(w.ctx, p, 0))(t)
		if work == nil {
			t.Fatal("they get nothing")
		}
		must(w.submit(p, work.Assignment, yes))(t)
	})
}

// TestNobodyIsCalledForNothing: under an emergency stop, and when the money has
// run out. Who was called need not come.
func TestNobodyIsCalledForNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 6)
	w.onCall(pool.Settings{Min: 2})
	called := func(want int, why string) {
		t.Helper()
		w.step(time.Second)
		if n := len(w.called()); n != want {
			t.Errorf("%d are called, want %d", n, want)
		}
		if a := w.actions()[0]; why != "" && (a.Kind != store.ActionWithdraw || !strings.Contains(strings.Join(a.Why, "\n"), why)) {
			t.Errorf("the log says %+v", a)
		}
		w.step(2 * time.Minute)
		if n := len(w.called()); why != "" && n != 0 {
			t.Errorf("%d are called later", n)
		}
	}
	called(4, "")
	ok(t, w.Pools.StopEverything(w.ctx, w.admin, true))
	called(0, "emergency stop")
	ok(t, w.Pools.StopEverything(w.ctx, w.admin, false))
	called(4, "")
	must(w.Pools.Fund(w.ctx, w.admin, w.pool, -100*crowd.Unit))(t)
	called(0, "money")
	must(w.Pools.Fund(w.ctx, w.admin, w.pool, crowd.Unit))(t)
	called(4, "")
}

// TestNobodyMovesToAStoppedPool by a rule.
func TestNobodyMovesToAStoppedPool(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	other := w.other(func(now *store.Pool) {
		now.Control = pool.Settings{Elasticity: "rules", Rules: []pool.Rule{{When: "workers < 1", Do: "transfer 1 from main"}}}
		now.Stopped = true
	})
	must(w.Duty.Start(w.ctx, w.workers[0]))(t)
	w.step(time.Second)
	if v := w.duty(w.workers[0]); v.Pool.ID != w.pool {
		t.Error("they were moved to where nothing is handed out")
	}
	must(w.Pools.Change(w.ctx, w.admin, other, func(now *store.Pool) error { now.Stopped = false; return nil }))(t)
	w.step(time.Second)
	if v := w.duty(w.workers[0]); v.Pool.ID != other {
		t.Error("the rule does nothing")
	}
}

// TestOnePoolsTroubleIsItsOwn: a pool that cannot go on does not keep the others
// from being sized.
func TestOnePoolsTroubleIsItsOwn(t *testing.T) {
	t.Parallel()
	w, h, called := newWorld(t, 1), &hooked{}, engine.Retainer{Called: true}
	w.hooked(h)
	w.onCall(pool.Settings{Min: 1})
	other := w.other(func(now *store.Pool) { now.Control, now.Retainer = pool.Settings{Min: 1}, called })
	must(w.Transfers.Move(w.ctx, w.admin, w.workers[0].User.ID, other))(t)
	h.snapshot = func(id crowd.PoolID) error {
		if id == w.pool {
			return errBroken
		}
		return nil
	}
	h.commit = func(*engine.Changes) error { return errBroken }
	_, err := w.Pools.Fund(w.ctx, w.admin, w.pool, 1)
	refused(t, err, crowd.Unavailable)
	h.commit = nil
	w.clock.advance(2 * time.Second)
	if err := w.Control.Step(w.ctx); err == nil || !strings.Contains(err.Error(), w.pool.String()) {
		t.Errorf("of the pool that cannot go on it says %v", err)
	}
	if n := len(w.called()); n != 1 {
		t.Errorf("%d are called to the other pool", n)
	}
	f := must(w.Pools.Figures(w.ctx))(t)
	if len(f.Pools) != 1 || f.Pools[0].ID != other {
		t.Errorf("the figures are of %+v", f.Pools)
	}
}

// TestSharesAreOneCommit, however many tenants bear them.
func TestSharesAreOneCommit(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t, 1), &hooked{}
	w.hooked(h)
	w.onCall(pool.Settings{Min: 1})
	w.step(time.Second)
	must(w.Duty.Start(w.ctx, w.workers[0]))(t)
	w.works(w.workers[0], w.a)
	w.works(w.workers[0], w.b)
	w.waits(w.workers[0], 30*time.Second)
	var shares []int
	h.commit = func(c *engine.Changes) error {
		n := 0
		for _, x := range c.Transfers {
			if x.Kind == engine.WaitingShare {
				n++
			}
		}
		if n > 0 {
			shares = append(shares, n)
		}
		return nil
	}
	w.step(time.Minute)
	if len(shares) != 1 || shares[0] != 2 {
		t.Errorf("the commits have shares of %v tenants, want one of 2", shares)
	}
}

// TestWhatWasDoneIsLogged, even if the admin has gone meanwhile.
func TestWhatWasDoneIsLogged(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t, 1), &hooked{}
	w.hooked(h)
	w.launch(1)
	ctx, cancel := context.WithCancel(w.ctx)
	h.commit = func(*engine.Changes) error { cancel(); return nil }
	must(w.Pools.Change(ctx, w.admin, w.pool, func(now *store.Pool) error { now.Stopped = true; return nil }))(t)
	if ctx.Err() == nil {
		t.Fatal("they are still there")
	}
	if a := w.actions(); len(a) != 1 || a[0].Kind != store.ActionSet {
		t.Errorf("the log has %+v", a)
	}
}

// TestAPoolReadsItselfOnly when it begins: with many pools, to read all of them for
// each would take minutes.
func TestAPoolReadsItselfOnly(t *testing.T) {
	t.Parallel()
	w, h := newWorld(t, 0), &hooked{}
	w.other()
	w.hooked(h)
	if h.listed != 1 {
		t.Errorf("the pools were listed %d times", h.listed)
	}
}

// TestNewcomersLearnFirst, however they came to the pool.
func TestNewcomersLearnFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	other := w.other(func(now *store.Pool) { now.Retainer = engine.Retainer{Training: 2} })
	must(w.Batches.Launch(w.ctx, w.admin, w.draft(2, func(b *batches.NewBatch) { b.Pool, b.Training = other, true }), true))(t)
	added := w.person(accounts.NewUser{Name: "newcomer", Pool: other})
	must(w.Accounts.ChangeUser(w.ctx, w.admin, w.workers[0].User.ID, func(u *store.User) error { u.Pool = other; return nil }))(t)
	must(w.Transfers.Move(w.ctx, w.admin, w.workers[1].User.ID, other))(t)
	for range 2 {
		for _, p := range append(w.workers, added) {
			if v := w.duty(p); v.Training != 2 {
				t.Errorf("%s has %d tasks to learn from, want 2", p.User.Name, v.Training)
			}
		}
		w.reopen()
	}
	must(w.Accounts.ChangeUser(w.ctx, w.admin, added.User.ID, func(u *store.User) error { u.Email = "new@example.org"; return nil }))(t)
	task := w.next(added)
	must(w.submit(added, task.Assignment, yes))(t)
	if v := w.duty(added); v.Training != 1 {
		t.Errorf("after one task they have %d to learn from", v.Training)
	}
	for _, to := range []crowd.PoolID{w.pool, other} { // they leave before they know it all
		must(w.Transfers.Move(w.ctx, w.admin, added.User.ID, to))(t)
	}
	if v := w.duty(added); v.Training != 2 {
		t.Errorf("back again they have %d to learn from, want 2", v.Training)
	}
}

// TestEverybodyAtOnce lets control steps, moves, settings, money and people go on
// at the same time, and looks whether it ends and what is left.
func TestEverybodyAtOnce(t *testing.T) {
	t.Parallel()
	c := newTown(t, 7)
	const rounds = 25
	var done sync.WaitGroup
	repeat := func(f func(i int) error) {
		done.Go(func() {
			for i := range rounds {
				var e *crowd.Error
				if err := f(i); err != nil && !errors.As(err, &e) {
					t.Error(err)
				}
			}
		})
	}
	balanced := []pool.Settings{{Min: 1, Balance: true}, {Min: 3, Max: 4, Balance: true}}
	repeat(func(int) error { c.clock.advance(7 * time.Second); return c.Control.Step(c.ctx) })
	repeat(func(i int) error {
		return second(c.Pools.Change(c.ctx, c.admin, c.pools[i%3], func(now *store.Pool) error { now.Control = balanced[i%2]; return nil }))
	})
	repeat(func(i int) error {
		return second(c.Transfers.Move(c.ctx, c.admin, c.workers[i%len(c.workers)].User.ID, c.pools[i%3]))
	})
	repeat(func(i int) error { return second(c.Pools.Fund(c.ctx, c.admin, c.pools[i%3], crowd.Unit)) })
	repeat(func(int) error { return second(c.Pools.Figures(c.ctx)) })
	for _, p := range c.workers {
		repeat(func(i int) error {
			switch i % 4 {
			case 0, 1:
				return second(c.Duty.Start(c.ctx, p))
			case 2:
				return second(c.Work.Next(c.ctx, p, 0))
			}
			return second(c.Duty.End(c.ctx, p))
		})
	}
	done.Wait()
	ok(t, c.Control.Step(c.ctx))
	for _, p := range c.workers { // who came twice to a call is not counted here
		_, err := c.Duty.End(c.ctx, p)
		ok(t, err)
	}
	for id := int64(1); id < 1000; id++ {
		c.again[id] = 1000
	}
	ok(t, c.check())
}
