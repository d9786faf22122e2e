package app_test

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// suspend suspends somebody, or lifts that.
func (w *world) suspend(p *access.Principal, suspended bool) {
	w.t.Helper()
	must(w.Accounts.ChangeUser(w.ctx, w.admin, p.User.ID, func(u *store.User) error { u.Suspended = suspended; return nil }))(w.t)
}

// TestASuspensionReleasesWhatIsHeld: the task goes to who waits for it, at once and not
// when the lease runs out.
func TestASuspensionReleasesWhatIsHeld(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		w.paysWaiting()
		id := w.launch(1)
		held := w.next(w.workers[0])
		other := w.poll(w.ctx, w.workers[1], time.Minute)
		if !other.waits() {
			t.Fatal("there is one task, and two have some")
		}
		begin := time.Now()
		w.suspend(w.workers[0], true)
		other.gets(t, id)
		if took := time.Since(begin); took > time.Second {
			t.Errorf("it took %s", took)
		}
		if d, err := w.Duty.Get(w.ctx, w.workers[0]); err != nil || d.On {
			t.Errorf("they are on duty: %+v, %v", d.OnCall, err)
		}
		_, err := w.submit(w.workers[0], held.Assignment, yes)
		refused(t, err, crowd.Conflict)
		must(w.submit(w.workers[1], other.work.Assignment, yes))(t)
		if n := len(w.answers(id)); n != 1 {
			t.Errorf("%d answers, want 1", n)
		}
	})
}

// TestASuspensionEndsPaidWaiting: what was earned until then stays theirs, and nothing
// comes to it.
func TestASuspensionEndsPaidWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.clock.halt()
	w.onCall(pool.Settings{Min: 1})
	w.step(time.Second)
	p := w.workers[0]
	waited := w.waitsHalfAMinute(p)
	w.suspend(p, true)
	ok(t, <-waited) // not after a minute
	for range 2 {
		d, m := w.duty(p), must(w.Pools.Get(w.ctx, w.admin, w.pool))(t).Status.Funds
		if d.On || d.Waiting || m.Paid != crowd.Unit/40 || m.Owed != 0 {
			t.Errorf("they %+v; the money is %+v", d.OnCall, m)
		}
		w.step(2 * time.Minute)
	}
	if earned, _, err := w.Work.Earnings(w.ctx, p, 1); err != nil || earned != crowd.Unit/40 {
		t.Errorf("they have earned %s, %v", earned, err)
	}
	if n := len(w.called()); n != 0 {
		t.Errorf("%d people are called, the suspended among them", n)
	}
	refused(t, second(w.Duty.Start(w.ctx, p)), crowd.Forbidden)
}

// TestASuspensionEndsStreams of the person, and nobody else's; they open none until it is
// lifted.
func TestASuspensionEndsStreams(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		id := w.launch(1)
		watch := func(p *access.Principal) (<-chan struct{}, error) {
			changed, stop, err := w.Batches.Watch(w.ctx, p, id)
			if err == nil {
				t.Cleanup(stop)
			}
			return changed, err
		}
		hers, admins := must(watch(w.ann))(t), must(watch(w.admin))(t)
		boss := w.person(accounts.NewUser{Name: "boss", Admin: true})
		follow := must(w.Pools.Follow(w.ctx, boss, w.pool, nil))(t)
		defer follow.Stop()
		w.suspend(boss, true)
		w.suspend(w.ann, true)
		synctest.Wait()
		if _, open := <-hers; open {
			t.Error("the stream of who is suspended is open")
		}
		for open := true; open; {
			select {
			case _, open = <-follow.More:
			default:
				t.Fatal("the stream of an admin who is suspended is open")
			}
		}
		select {
		case _, open := <-admins:
			if !open {
				t.Error("another's stream has ended")
			}
		default:
		}
		refused(t, second(watch(w.ann)), crowd.Forbidden)
		w.suspend(w.ann, false)
		must(watch(w.ann))(t)
	})
}

// TestAfterASuspension people sign in anew: no session or token of before is good.
func TestAfterASuspension(t *testing.T) {
	w := withPassword(t)
	session := must(w.session("ann", goodPassword))(t)
	before := must(w.Accounts.Tokens(w.ctx, w.admin, w.ann.User.ID))(t)
	if len(before) == 0 {
		t.Fatal("they have no token: the test looks at nothing")
	}
	w.suspend(w.ann, true)
	_, err := w.session("ann", goodPassword)
	refused(t, err, crowd.Forbidden)
	w.suspend(w.ann, false)
	_, err = w.Accounts.Authenticate(w.ctx, session, netip.Addr{})
	refused(t, err, crowd.Unauthenticated)
	if left := must(w.Accounts.Tokens(w.ctx, w.admin, w.ann.User.ID))(t); len(left) != 0 {
		t.Errorf("tokens are left: %+v", left)
	}
	again := must(w.session("ann", goodPassword))(t)
	must(w.Accounts.Authenticate(w.ctx, again, netip.Addr{}))(t)
}

// lostCommits is a store that keeps no change of engines while it is told not to, such as
// when a server is killed between a suspension and its effects.
type lostCommits struct {
	store.Store
	after func() error
}

func (l *lostCommits) UpdateUser(ctx context.Context, u store.User) error {
	err := l.Store.UpdateUser(ctx, u)
	if l.after != nil && u.Suspended {
		return l.after()
	}
	return err
}

// TestASuspensionThatWasCutOff has its effects when the server starts again.
func TestASuspensionThatWasCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.close()
	l := &lostCommits{}
	w.wrap = func(s store.Store) store.Store { l.Store = s; return l }
	w.open()
	w.launch(1)
	w.next(w.workers[0])
	l.after = func() error { return context.Canceled }
	if _, err := w.Accounts.ChangeUser(w.ctx, w.admin, w.workers[0].User.ID, func(u *store.User) error { u.Suspended = true; return nil }); err == nil {
		t.Fatal("the suspension was not cut off")
	}
	l.after = nil
	if w.Work == nil || must(w.Work.Next(w.ctx, w.workers[1], 0))(t) != nil {
		t.Fatal("the task is free already: the test looks at nothing")
	}
	w.reopen()
	w.next(w.workers[1])
}
