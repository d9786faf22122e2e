package app_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

// withPassword gives a worker a password and a browser's session.
func (w *world) withPassword(p *access.Principal) *access.Principal {
	w.t.Helper()
	link := must(w.Accounts.NewSetupLink(w.ctx, w.admin, p.User.ID))(w.t)
	return must(w.Accounts.Authenticate(w.ctx, must(w.Accounts.Setup(w.ctx, link, goodPassword))(w.t), netip.Addr{}))(w.t)
}

func (w *world) signIn(name string) *access.Principal {
	w.t.Helper()
	return must(w.Accounts.Authenticate(w.ctx, must(w.session(name, goodPassword))(w.t), netip.Addr{}))(w.t)
}

// TestBackAfterATimeOut: their lease runs out, nothing is heard of them and they are
// off duty; they sign in again and are given work (event 1, third producer).
func TestBackAfterATimeOut(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		p := w.withPassword(w.workers[0])
		w.launch(2)
		held := w.next(p).Assignment
		<-time.After(time.Minute + time.Second)
		if must(w.Work.Current(w.ctx, p))(t) != nil {
			t.Fatal("their lease has run out, and they hold the task")
		}
		<-time.After(2 * time.Minute)
		if v := w.duty(p); v.On || v.Waiting {
			t.Fatalf("nothing was heard of them, and they are %+v", v.OnCall)
		}
		p = w.signIn("worker1")
		if w.duty(p).On {
			t.Fatal("signed in, but they have not asked for work")
		}
		again := w.next(p)
		if again.Assignment == held || !w.duty(p).On {
			t.Errorf("they have %s again, on duty: %t", again.Assignment, w.duty(p).On)
		}
		if out := must(w.submit(p, again.Assignment, yes))(t); !out.Counted {
			t.Errorf("their answer: %+v", out)
		}
	})
}

// TestLoggedOutWhileWaiting: who signs out leaves the queue at once, and when they
// come back they have a place at its end.
func TestLoggedOutWhileWaiting(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		p, other := w.withPassword(w.workers[0]), w.workers[1]
		x := w.poll(w.ctx, p, time.Minute)
		y := w.poll(w.ctx, other, time.Minute)
		if !x.waits() || !w.duty(p).Waiting {
			t.Fatal("they do not wait")
		}
		start := time.Now()
		ok(t, w.Accounts.SignOut(w.ctx, p))
		x.gets(t, 0)
		if took := time.Since(start); took > time.Second {
			t.Errorf("it took %s", took)
		}
		p = w.signIn("worker1")
		if v := w.duty(p); v.Waiting || !v.On {
			t.Fatalf("signed out while waiting, they are %+v", v.OnCall)
		}
		x = w.poll(w.ctx, p, time.Minute)
		if !w.duty(p).Waiting {
			t.Fatal("back again, they have no place")
		}
		first := w.launch(1)
		y.gets(t, first) // the other has waited longer
		if !x.waits() {
			t.Fatal("one task went to two")
		}
		second := w.launch(1)
		x.gets(t, second)
	})
}

// TestATokenThatEndsWhileWaiting: who waits for a task with a token that is taken away
// or runs out, or with a session that a new password ends, gets none that comes later.
func TestATokenThatEndsWhileWaiting(t *testing.T) {
	for name, end := range map[string]func(w *world, p *access.Principal, token store.Token){
		"taken away": func(w *world, p *access.Principal, token store.Token) {
			ok(w.t, second(w.Accounts.RevokeToken(w.ctx, p, 0, token.ID)))
		},
		"runs out": func(*world, *access.Principal, store.Token) { <-time.After(31 * time.Second) },
		"a new password": func(w *world, p *access.Principal, _ store.Token) {
			w.withPassword(p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 1, func(t *testing.T, w *world) {
				p := w.withPassword(w.workers[0])
				token, secret, err := w.Accounts.CreateToken(w.ctx, p, accounts.NewToken{Name: "program", Life: 30 * time.Second})
				ok(t, err)
				with := must(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{}))(t)
				if name == "a new password" {
					with = p
				}
				x := w.poll(w.ctx, with, time.Minute)
				if !x.waits() {
					t.Fatal("they do not wait")
				}
				start := time.Now()
				end(w, p, token)
				x.gets(t, 0)
				if took := time.Since(start); took > 31*time.Second {
					t.Errorf("it took %s", took)
				}
				w.launch(1)
				if must(w.Work.Current(w.ctx, p))(t) != nil {
					t.Error("they were given a task")
				}
				if must(w.Work.Next(w.ctx, p, 0))(t) == nil {
					t.Error("with another token they get nothing")
				}
			})
		})
	}
}

// TestATokenOfARequesterEnds: it is none that workers wait with.
func TestATokenOfARequesterEnds(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		p := w.workers[0]
		_, other, err := w.Accounts.CreateToken(w.ctx, w.ann, accounts.NewToken{Name: "hers"})
		ok(t, err)
		x := w.poll(w.ctx, p, time.Minute)
		hers := must(w.Accounts.Authenticate(w.ctx, other, netip.Addr{}))(t)
		refused(t, second(w.Accounts.RevokeToken(w.ctx, p, 0, hers.Token.ID)), crowd.NotFound)
		ok(t, second(w.Accounts.RevokeToken(w.ctx, w.ann, 0, hers.Token.ID)))
		if !x.waits() || !w.duty(p).Waiting {
			t.Error("they were taken out of the queue")
		}
	})
}

// TestATaskWhileLoggedOut: what they hold stays theirs until its lease runs out; then
// it is somebody else's.
func TestATaskWhileLoggedOut(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		p, other := w.withPassword(w.workers[0]), w.workers[1]
		w.launch(1)
		held := w.next(p).Assignment
		ok(t, w.Accounts.SignOut(w.ctx, p))
		if work := must(w.Work.Next(w.ctx, other, 0))(t); work != nil {
			t.Fatal("their task was handed to somebody else at once")
		}
		p = w.signIn("worker1")
		if again := w.next(p).Assignment; again != held {
			t.Errorf("back again, they hold %s, not %s", again, held)
		}
		ok(t, w.Accounts.SignOut(w.ctx, p))
		<-time.After(2 * time.Minute)
		work := w.next(other)
		if work.Assignment == held {
			t.Error("the same assignment")
		}
		p = w.signIn("worker1")
		if must(w.Work.Next(w.ctx, p, 0))(t) != nil {
			t.Error("there is something for them: the only task was theirs before")
		}
	})
}

// TestLoggedOutOnCall: in a pool that pays for waiting, the pay ends with the
// log-out, and duty with the silence; who is off duty comes back by a call.
func TestLoggedOutOnCall(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error {
			now.Retainer = engine.Retainer{Rate: crowd.Unit, Silence: time.Minute, Promise: 10 * time.Minute}
			return nil
		}))(t)
		must(w.Pools.Fund(w.ctx, w.admin, w.pool, 100*crowd.Unit))(t)
		p := w.withPassword(w.workers[0])
		must(w.Duty.Start(w.ctx, p))(t)
		x := w.poll(w.ctx, p, time.Minute)
		<-time.After(30 * time.Second)
		ok(t, w.Accounts.SignOut(w.ctx, p))
		x.gets(t, 0)
		p = w.signIn("worker1")
		earned := w.duty(p).Earned
		<-time.After(20 * time.Second)
		if v := w.duty(p); v.Earned != earned || earned != crowd.Unit/2 || !v.On {
			t.Errorf("they earned %s, then %s", earned, v.Earned)
		}
		<-time.After(2 * time.Minute)
		if w.duty(p).On {
			t.Fatal("they are on duty after minutes of silence")
		}
		must(w.Duty.Start(w.ctx, p))(t)
		id := w.launch(1)
		if got := w.next(p).Batch; got != id {
			t.Errorf("they got %s", got)
		}
	})
}

// TestASignOutOfAnotherIsNone: a requester's or a stranger's sign-out leaves
// workers alone, and a wrong token signs nobody out of the queue.
func TestASignOutOfAnotherIsNone(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		p := w.workers[0]
		x := w.poll(w.ctx, p, time.Minute)
		ok(t, w.Accounts.SignOut(w.ctx, w.ann))
		refused(t, w.Accounts.SignOut(w.ctx, &access.Principal{User: p.User}), crowd.NotFound)
		if !x.waits() || !w.duty(p).Waiting {
			t.Error("they were taken out of the queue")
		}
	})
}
