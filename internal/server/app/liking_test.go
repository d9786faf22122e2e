package app_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// TestOnlyThoseWhoLikeAPoolAreCalled: with a least preference a pool calls those who like
// it at least so much, of whom somebody who has stated nothing is none; the others have no
// place of the call, and nobody is left to ask when those who like it are here.
func TestOnlyThoseWhoLikeAPoolAreCalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	w.clock.halt()
	states := func(i int, likes float64) {
		must(w.Duty.ChangeWishes(w.ctx, w.workers[i], func(x *recruit.Wishes) error {
			x.Prefers = map[crowd.PoolID]float64{w.pool: likes}
			return nil
		}))(t)
	}
	for i, likes := range []float64{0.9, 0.2, 0.6, 0.59} { // the fifth states nothing
		states(i, likes)
	}
	w.onCall(pool.Settings{Min: 4, LeastPreference: 0.6})
	expect := func(when string, want ...*access.Principal) {
		t.Helper()
		got := w.called()
		ok := len(got) == len(want)
		for i := range min(len(got), len(want)) {
			ok = ok && got[i] == want[i]
		}
		if !ok {
			t.Fatalf("%s: %d are called, want those %d who like the pool", when, len(got), len(want))
		}
	}
	w.step(time.Second)
	expect("at first", w.workers[0], w.workers[2])
	for _, i := range []int{1, 3, 4} {
		if v := w.duty(w.workers[i]); v.Call != nil {
			t.Errorf("worker %d likes the pool too little, and has a place", i)
		}
		_, err := w.Duty.Start(w.ctx, w.workers[i])
		refused(t, err, crowd.OffDuty)
		if !strings.Contains(err.Error(), "at least 0.6") {
			t.Errorf("worker %d is told %q", i, err)
		}
		w.toldWhy(w.workers[i])
	}
	w.reopen()
	states(3, 0.7) // and is asked from then on
	w.step(time.Second)
	expect("after another one likes it", w.workers[0], w.workers[2], w.workers[3])
	states(2, 0.1) // who was asked keeps the place
	for _, i := range []int{0, 2, 3} {
		must(w.Duty.Start(w.ctx, w.workers[i]))(t)
	}
	w.step(time.Second)
	expect("when all of them are here")
	if v := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t); v.OnDuty != 3 || v.Coming != 0 || !strings.Contains(strings.Join(v.Status.Next.Why, "\n"), "nobody is left to ask who has a preference of at least 0.6 for the pool") {
		t.Errorf("%d are on duty, %d coming; %+v", v.OnDuty, v.Coming, v.Status.Next)
	}
}

// TestMinusZeroIsZero: a setting that is given as minus zero is zero, which is no change.
func TestMinusZeroIsZero(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	before := len(w.actions())
	minus := math.Copysign(0, -1)
	v := must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error {
		now.Control.LeastPreference, now.Control.Target = minus, pool.Target{Eta: minus, Salary: minus, Tail: minus}
		return nil
	}))(t)
	for _, x := range []float64{v.Control.LeastPreference, v.Control.Target.Eta, v.Control.Target.Salary, v.Control.Target.Tail} {
		if math.Signbit(x) {
			t.Errorf("minus zero is kept: %+v", v.Control)
		}
	}
	if log := w.actions(); len(log) != before {
		t.Errorf("it is logged: %+v", log[0])
	}
}

// TestALeastPreferenceIsForPoolsThatCall: an open pool, which calls nobody, takes none, and
// keeps the one that it had.
func TestALeastPreferenceIsForPoolsThatCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	set := func(called bool, least float64) error {
		_, err := w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error {
			now.Retainer.Called, now.Control.LeastPreference = called, least
			return nil
		})
		return err
	}
	refuses := func(least float64) {
		t.Helper()
		var wrong *crowd.Error
		if err := set(false, least); !errors.As(err, &wrong) || wrong.Field != "least_preference" || !strings.Contains(wrong.Message, "open pool") {
			t.Errorf("an open pool is given %g: %v", least, err)
		}
	}
	refuses(0.6)
	ok(t, set(true, 0.6))
	ok(t, set(false, 0.6))
	refuses(0.7)
	ok(t, set(false, 0))
	refuses(0.6)
}

// toldWhy expects that somebody hears everywhere that the pool does not call them, and why.
func (w *world) toldWhy(p *access.Principal) {
	w.t.Helper()
	_, next := w.Work.Next(w.ctx, p, 0)
	_, start := w.Duty.Start(w.ctx, p)
	for what, err := range map[string]error{"work/next": next, "duty": start} {
		refused(w.t, err, crowd.OffDuty)
		if text := err.Error(); !strings.Contains(text, "at least 0.6, and yours is ") || strings.Contains(text, "will be called") || strings.Contains(text, "is here already") {
			w.t.Errorf("%s: %s is told %q", what, p.User.Name, err)
		}
	}
	if v := w.duty(p); !strings.Contains(v.Unliked, "at least 0.6, and yours is ") {
		w.t.Errorf("the duty of %s says %q", p.User.Name, v.Unliked)
	}
}

// TestWhoLikesAPoolTooLittleIsToldWhyAlsoWithoutACall: nobody likes the pool enough, so
// there is no call; they are not told that everybody is here.
func TestWhoLikesAPoolTooLittleIsToldWhyAlsoWithoutACall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.clock.halt()
	w.onCall(pool.Settings{Min: 1, LeastPreference: 0.6})
	w.step(time.Second)
	w.toldWhy(w.workers[0])
	seen := w.duty(w.workers[0])
	if !strings.Contains(seen.Unliked, "yours is 0.5, as you have stated none") {
		t.Errorf("it says %q", seen.Unliked)
	}
	must(w.Duty.ChangeWishes(w.ctx, w.workers[0], func(x *recruit.Wishes) error {
		x.Prefers = map[crowd.PoolID]float64{w.pool: 0.75}
		return nil
	}))(t)
	if v := w.duty(w.workers[0]); v.Unliked != "" || v.Seen() == seen.Seen() {
		t.Errorf("who likes it enough is told %q", v.Unliked)
	}
	w.step(time.Second)
	if len(w.called()) != 1 {
		t.Error("who likes it enough is not called")
	}
}

// TestWhoJoinsAPoolThatChoosesIsAsked: an invitation to a pool with a least preference asks
// how its work is liked, one to a pool without does not.
func TestWhoJoinsAPoolThatChoosesIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	link := w.link("new@example.org")
	asks := func() int { return len(must(w.Invitations.Open(w.ctx, link))(t).Asks) }
	w.onCall(pool.Settings{})
	if n := asks(); n != 0 {
		t.Errorf("a pool that calls anybody asks of %d pools", n)
	}
	w.onCall(pool.Settings{LeastPreference: 0.6})
	if n := asks(); n != 1 {
		t.Errorf("a pool that chooses asks of %d pools", n)
	}
}

// TestWhoLikesAPoolTooLittleIsNotWaitedFor: a closed gate waits for people whom the pool would
// call; somebody who likes it less is not told that they are needed.
func TestWhoLikesAPoolTooLittleIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.clock.halt()
	w.onCall(pool.Settings{Min: 1, Max: 3, LeastPreference: 0.6}, func(now *store.Pool) { now.Gate = true })
	if v := w.duty(w.workers[0]); v.Needed || v.Unliked == "" || v.Gate.Lacks() != 1 {
		t.Errorf("who likes it too little: %+v", v)
	}
	must(w.Duty.ChangeWishes(w.ctx, w.workers[0], func(x *recruit.Wishes) error {
		x.Prefers = map[crowd.PoolID]float64{w.pool: 0.75}
		return nil
	}))(t)
	if v := w.duty(w.workers[0]); !v.Needed || v.Unliked != "" {
		t.Errorf("who likes it enough: %+v", v)
	}
}
