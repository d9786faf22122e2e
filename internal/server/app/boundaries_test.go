package app_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// TestLimitsOnBothSides: what lies just within each limit is taken, and what
// lies just outside is refused.
func TestLimitsOnBothSides(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.clock.halt()
	n := 0
	fresh := func(prefix string, length int) string { // a name that nobody has
		n++
		name := fmt.Sprintf("%s%d", prefix, n)
		return name + strings.Repeat("x", max(0, length-len(name)))
	}
	tenant := func(name string, weight float64) error {
		return second(w.Tenants.Create(w.ctx, w.admin, accounts.NewTenant{Name: name, Weight: weight}))
	}
	user := func(u accounts.NewUser) error {
		_, _, err := w.Accounts.CreateUser(w.ctx, w.admin, u)
		return err
	}
	secret := func(name, value string, hosts ...string) error {
		return w.Tenants.PutSecret(w.ctx, w.ann, w.a, store.TenantSecret{Name: name, Value: value, Hosts: hosts})
	}
	token := func(x accounts.NewToken) error {
		_, _, err := w.Accounts.CreateToken(w.ctx, w.ann, x)
		return err
	}
	exam := func(change func(*accounts.NewTest)) error {
		x := accounts.NewTest{Tenant: w.a, Name: fresh("t", 3), Template: []byte(yesOrNo), Questions: alive(2), PassMark: 50}
		change(&x)
		return second(w.Tests.Create(w.ctx, w.admin, x))
	}
	invite := func(change func(*accounts.NewInvitations)) error {
		x := accounts.NewInvitations{Pool: w.pool, Addresses: []string{fresh("a", 3) + "@example.org"}}
		change(&x)
		return second(w.Invitations.Invite(w.ctx, w.admin, x))
	}
	calling := func(c store.Calling) error {
		return second(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Calling = c; return nil }))
	}
	likes := func(x float64) error {
		return second(w.Duty.ChangeWishes(w.ctx, w.workers[0], setWishes(recruit.Wishes{Prefers: map[crowd.PoolID]float64{w.pool: x}})))
	}
	draft := func(change func(*batches.NewBatch)) error {
		d := w.definition()
		change(&d)
		return second(w.Batches.Create(w.ctx, w.ann, d))
	}
	running := w.launch(1)
	const week, year = 7 * 24 * time.Hour, 365 * 24 * time.Hour
	for name, x := range map[string]struct{ within, outside func() error }{
		"the name of a tenant":  {func() error { return tenant(fresh("n", 100), 1) }, func() error { return tenant(fresh("n", 101), 1) }},
		"a tenant's weight":     {func() error { return tenant(fresh("n", 5), engine.MaxPriority) }, func() error { return tenant(fresh("n", 5), engine.MaxPriority*1.001) }},
		"no weight":             {func() error { return tenant(fresh("n", 5), engine.MinPriority) }, func() error { return tenant(fresh("n", 5), engine.MinPriority*0.999) }},
		"a deposit":             {func() error { return w.Tenants.Deposit(w.ctx, w.admin, w.b, 1, "") }, func() error { return w.Tenants.Deposit(w.ctx, w.admin, w.b, 0, "") }},
		"a large deposit":       {func() error { return w.Tenants.Deposit(w.ctx, w.admin, w.b, crowd.MaxMoney, "") }, func() error { return w.Tenants.Deposit(w.ctx, w.admin, w.b, crowd.MaxMoney+1, "") }},
		"the note of a deposit": {func() error { return w.Tenants.Deposit(w.ctx, w.admin, w.b, 1, strings.Repeat("x", 500)) }, func() error { return w.Tenants.Deposit(w.ctx, w.admin, w.b, 1, strings.Repeat("x", 501)) }},
		"a user's name":         {func() error { return user(accounts.NewUser{Name: fresh("u", 64), Pool: w.pool}) }, func() error { return user(accounts.NewUser{Name: fresh("u", 65), Pool: w.pool}) }},
		"a full name": {func() error {
			return user(accounts.NewUser{Name: fresh("u", 5), FullName: strings.Repeat("x", 200), Pool: w.pool})
		},
			func() error {
				return user(accounts.NewUser{Name: fresh("u", 5), FullName: strings.Repeat("x", 201), Pool: w.pool})
			}},
		"a qualification": {func() error {
			return user(accounts.NewUser{Name: fresh("u", 5), Pool: w.pool, Qualifications: map[string]int{"q": 100, "r": 0}})
		}, func() error {
			return user(accounts.NewUser{Name: fresh("u", 5), Pool: w.pool, Qualifications: map[string]int{"q": 101}})
		}},
		"the name of a token":    {func() error { return token(accounts.NewToken{Name: strings.Repeat("x", 100)}) }, func() error { return token(accounts.NewToken{Name: strings.Repeat("x", 101)}) }},
		"no name of a token":     {func() error { return token(accounts.NewToken{Name: "x"}) }, func() error { return token(accounts.NewToken{Name: " "}) }},
		"the life of a token":    {func() error { return token(accounts.NewToken{Name: "x", Life: 0}) }, func() error { return token(accounts.NewToken{Name: "x", Life: -1}) }},
		"the name of a secret":   {func() error { return secret(strings.Repeat("K", 64), "x") }, func() error { return secret(strings.Repeat("K", 65), "x") }},
		"the length of a secret": {func() error { return secret("K", strings.Repeat("x", 4096)) }, func() error { return secret("K", strings.Repeat("x", 4097)) }},
		"no secret":              {func() error { return secret("K", "x") }, func() error { return secret("K", "") }},
		"hosts of a secret":      {func() error { return secret("K", "x", slices.Repeat([]string{"a.example"}, 20)...) }, func() error { return secret("K", "x", slices.Repeat([]string{"a.example"}, 21)...) }},

		"a pass mark":     {func() error { return exam(func(x *accounts.NewTest) { x.PassMark = 100 }) }, func() error { return exam(func(x *accounts.NewTest) { x.PassMark = 101 }) }},
		"no pass mark":    {func() error { return exam(func(x *accounts.NewTest) { x.PassMark = 1 }) }, func() error { return exam(func(x *accounts.NewTest) { x.PassMark = 0 }) }},
		"tries":           {func() error { return exam(func(x *accounts.NewTest) { x.Tries = accounts.MaxTries }) }, func() error { return exam(func(x *accounts.NewTest) { x.Tries = accounts.MaxTries + 1 }) }},
		"few tries":       {func() error { return exam(func(x *accounts.NewTest) { x.Tries = 1 }) }, func() error { return exam(func(x *accounts.NewTest) { x.Tries = -1 }) }},
		"questions drawn": {func() error { return exam(func(x *accounts.NewTest) { x.Draw = 2 }) }, func() error { return exam(func(x *accounts.NewTest) { x.Draw = 3 }) }},
		"many questions drawn": {func() error {
			return exam(func(x *accounts.NewTest) { x.Questions, x.Draw = alive(101), accounts.MaxDrawn })
		}, func() error {
			return exam(func(x *accounts.NewTest) { x.Questions, x.Draw = alive(101), accounts.MaxDrawn+1 })
		}},
		"all questions drawn": {func() error { return exam(func(x *accounts.NewTest) { x.Questions = alive(accounts.MaxDrawn) }) }, func() error { return exam(func(x *accounts.NewTest) { x.Questions = alive(accounts.MaxDrawn + 1) }) }},
		"questions": {func() error {
			return exam(func(x *accounts.NewTest) { x.Questions, x.Draw = alive(accounts.MaxQuestions), 1 })
		}, func() error {
			return exam(func(x *accounts.NewTest) { x.Questions, x.Draw = alive(accounts.MaxQuestions+1), 1 })
		}},
		"the wait for a try": {func() error { return exam(func(x *accounts.NewTest) { x.Wait = year }) }, func() error { return exam(func(x *accounts.NewTest) { x.Wait = year + 1 }) }},
		"the time for a try": {func() error { return exam(func(x *accounts.NewTest) { x.TimeLimit = 24 * time.Hour }) }, func() error { return exam(func(x *accounts.NewTest) { x.TimeLimit = 24*time.Hour + 1 }) }},
		"a short try":        {func() error { return exam(func(x *accounts.NewTest) { x.TimeLimit = 10 * time.Second }) }, func() error { return exam(func(x *accounts.NewTest) { x.TimeLimit = 10*time.Second - 1 }) }},
		"the name of a test": {func() error { return exam(func(x *accounts.NewTest) { x.Name = fresh("t", 100) }) }, func() error { return exam(func(x *accounts.NewTest) { x.Name, x.Grants = fresh("t", 101), "q" }) }},

		"the note to the invited": {func() error {
			return invite(func(x *accounts.NewInvitations) { x.Note = strings.Repeat("x", accounts.MaxNote) })
		},
			func() error {
				return invite(func(x *accounts.NewInvitations) { x.Note = strings.Repeat("x", accounts.MaxNote+1) })
			}},
		"the life of a link": {func() error { return invite(func(x *accounts.NewInvitations) { x.Life = accounts.MaxInviteFor }) },
			func() error { return invite(func(x *accounts.NewInvitations) { x.Life = accounts.MaxInviteFor + 1 }) }},
		"a short life of a link": {func() error { return invite(func(x *accounts.NewInvitations) { x.Life = time.Hour }) },
			func() error { return invite(func(x *accounts.NewInvitations) { x.Life = time.Hour - 1 }) }},
		"an address": {func() error {
			return accounts.ValidAddress(strings.Repeat("a", 64) + "@" + strings.Repeat("b", 185) + ".org")
		},
			func() error {
				return accounts.ValidAddress(strings.Repeat("a", 64) + "@" + strings.Repeat("b", 186) + ".org")
			}},

		"people asked for one":  {func() error { return calling(store.Calling{Ask: 100, Answer: time.Minute, Life: time.Hour}) }, func() error { return calling(store.Calling{Ask: 100.01, Answer: time.Minute, Life: time.Hour}) }},
		"too few asked":         {func() error { return calling(store.Calling{Ask: 1, Answer: time.Minute, Life: time.Hour}) }, func() error { return calling(store.Calling{Ask: 0.99, Answer: time.Minute, Life: time.Hour}) }},
		"the time to answer":    {func() error { return calling(store.Calling{Ask: 1, Answer: 5 * time.Second, Life: time.Hour}) }, func() error { return calling(store.Calling{Ask: 1, Answer: 5*time.Second - 1, Life: time.Hour}) }},
		"a long time to answer": {func() error { return calling(store.Calling{Ask: 1, Answer: week, Life: week}) }, func() error { return calling(store.Calling{Ask: 1, Answer: week + 1, Life: week + 1}) }},
		"the life of a call":    {func() error { return calling(store.Calling{Ask: 1, Answer: time.Minute, Life: time.Minute}) }, func() error { return calling(store.Calling{Ask: 1, Answer: time.Minute, Life: time.Minute - 1}) }},
		"a long call":           {func() error { return calling(store.Calling{Ask: 1, Answer: time.Minute, Life: week}) }, func() error { return calling(store.Calling{Ask: 1, Answer: time.Minute, Life: week + 1}) }},
		"a preference":          {func() error { return likes(1) }, func() error { return likes(1.001) }},
		"no preference":         {func() error { return likes(0) }, func() error { return likes(-0.001) }},

		"a priority": {func() error { return draft(func(b *batches.NewBatch) { b.Priority = accounts.DefaultMaxPriority }) }, func() error {
			return draft(func(b *batches.NewBatch) { b.Priority = accounts.DefaultMaxPriority * 1.001 })
		}},
		"a lease":      {func() error { return draft(func(b *batches.NewBatch) { b.Lease = engine.MinLease }) }, func() error { return draft(func(b *batches.NewBatch) { b.Lease = engine.MinLease - 1 }) }},
		"a long lease": {func() error { return draft(func(b *batches.NewBatch) { b.Lease = engine.MaxLease }) }, func() error { return draft(func(b *batches.NewBatch) { b.Lease = engine.MaxLease + 1 }) }},
		"a reward":     {func() error { return draft(func(b *batches.NewBatch) { b.Reward = 1 }) }, func() error { return draft(func(b *batches.NewBatch) { b.Reward = 0 }) }},
		"its own end":  {func() error { return draft(func(b *batches.NewBatch) { b.EndsAt = w.clock.now().Add(time.Second) }) }, func() error { return draft(func(b *batches.NewBatch) { b.EndsAt = w.clock.now() }) }},

		"a short password": {func() error { return auth.ValidPassword(strings.Repeat("p", auth.MinPassword)) }, func() error { return auth.ValidPassword(strings.Repeat("p", auth.MinPassword-1)) }},
		"a long password":  {func() error { return auth.ValidPassword(strings.Repeat("p", auth.MaxPassword)) }, func() error { return auth.ValidPassword(strings.Repeat("p", auth.MaxPassword+1)) }},
	} {
		if err := x.within(); err != nil {
			t.Errorf("%s, within: %v", name, err)
		}
		if code := crowd.CodeOf(x.outside()); code != crowd.Invalid && code != crowd.TooLarge && code != crowd.BudgetTooSmall {
			t.Errorf("%s, outside: %q", name, code)
		}
	}
	have := w.balance(w.a)
	for _, x := range []struct {
		amount crowd.Money
		want   crowd.Code
	}{{0, crowd.Invalid}, {crowd.MaxMoney + 1, crowd.Invalid}, {crowd.MaxMoney, crowd.BudgetTooSmall}, {have + 1, crowd.BudgetTooSmall}, {have - 1, ""}, {2, crowd.BudgetTooSmall}, {1, ""}, {1, crowd.BudgetTooSmall}} {
		_, err := w.Batches.TopUp(w.ctx, w.ann, running, x.amount)
		if crowd.CodeOf(err) != x.want || err != nil && crowd.ErrorsOf(err)[0].Field != "amount" {
			t.Errorf("a top-up of %d, of %d at first: %v", x.amount, have, err)
		}
	}
}

// TestTheMomentOfExpiry: what is good until a moment is good just before it, and
// not at it.
func TestTheMomentOfExpiry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.clock.halt()
	until := func(what string, d time.Duration, good func() error, over crowd.Code) {
		t.Helper()
		w.clock.advance(d - time.Microsecond)
		if err := good(); err != nil {
			t.Errorf("%s, just before: %v", what, err)
		}
		w.clock.advance(time.Microsecond)
		if code := crowd.CodeOf(good()); code != over {
			t.Errorf("%s, at its end: %q, want %q", what, code, over)
		}
	}
	_, secret, err := w.Accounts.CreateToken(w.ctx, w.ann, accounts.NewToken{Name: "short", Life: time.Hour})
	ok(t, err)
	authenticate := func(secret string) func() error {
		return func() error { return second(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{})) }
	}
	until("a token", time.Hour, authenticate(secret), crowd.Unauthenticated)

	_, link, err := w.Accounts.CreateUser(w.ctx, w.admin, accounts.NewUser{Name: "late", Tenants: []crowd.TenantID{w.a}})
	ok(t, err)
	until("a link to set a password", 7*24*time.Hour, func() error { return second(w.Accounts.SetupUser(w.ctx, link)) }, crowd.NotFound)
	link = must(w.Accounts.NewSetupLink(w.ctx, w.admin, w.bob.User.ID))(t)
	session := must(w.Accounts.Setup(w.ctx, link, knownPassword))(t)
	until("a session", 14*24*time.Hour, authenticate(session), crowd.Unauthenticated)

	i := must(w.Invitations.Invite(w.ctx, w.admin, accounts.NewInvitations{Pool: w.pool, Addresses: []string{"a@example.org"}, Life: time.Hour}))(t).Invited[0]
	until("an invitation", i.ExpiresAt.Truncate(time.Second).Sub(w.clock.now()), func() error { return second(w.Invitations.Open(w.ctx, i.Token)) }, crowd.Conflict)

	// A try may be submitted for so long after its time, and no longer.
	exam := must(w.Tests.Create(w.ctx, w.admin, accounts.NewTest{Name: "timed", Template: []byte(yesOrNo), Questions: alive(2), PassMark: 1, TimeLimit: time.Minute, Open: true, Tries: 2, Wait: time.Hour}))(t)
	must(w.Tests.StartTry(w.ctx, w.workers[0], exam.ID))(t)
	w.clock.advance(time.Minute + 5*time.Second)
	if v := must(w.Tests.Take(w.ctx, w.workers[0], exam.ID))(t); v.Current == nil {
		t.Error("the try is over within the time that answers take")
	}
	w.clock.advance(time.Microsecond)
	if v := must(w.Tests.Take(w.ctx, w.workers[0], exam.ID))(t); v.Current != nil {
		t.Error("the try goes on after its time")
	}
	w.clock.advance(time.Hour - 5*time.Second - 2*time.Microsecond) // an hour after its end, not after the grace
	_, err = w.Tests.StartTry(w.ctx, w.workers[0], exam.ID)
	refused(t, err, crowd.TooMany)
	w.clock.advance(time.Microsecond)
	must(w.Tests.StartTry(w.ctx, w.workers[0], exam.ID))(t)
}

// TestTheBurstOfGuesses: a burst of wrong passwords, then one in so long.
func TestTheBurstOfGuesses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.clock.halt()
	guess := func(want crowd.Code) {
		t.Helper()
		_, err := w.session("Ann", "wrong wrong wrong")
		refused(t, err, want)
	}
	for range 10 {
		guess(crowd.Unauthenticated)
	}
	guess(crowd.TooMany)
	w.clock.advance(10*time.Second - time.Millisecond)
	guess(crowd.TooMany)
	w.clock.advance(time.Millisecond)
	guess(crowd.Unauthenticated)
	guess(crowd.TooMany)
	w.clock.advance(24 * time.Hour) // no more than the burst is saved up
	for range 10 {
		guess(crowd.Unauthenticated)
	}
	guess(crowd.TooMany)
}

// TestACallEndsAtItsTime, and asks others when those asked have not answered
// in time.
func TestACallEndsAtItsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.clock.halt()
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error {
		now.Retainer = engine.Retainer{Called: true, Silence: time.Minute, Promise: time.Minute}
		now.Calling = store.Calling{Ask: 1, Answer: time.Minute, Life: 5 * time.Minute}
		return nil
	}))(t)
	now := w.clock.now()
	call := must(w.store.CreateCall(w.ctx, store.Call{Pool: w.pool, At: now, EndsAt: now.Add(5 * time.Minute), Wanted: 1, State: store.CallOpen}))(t)
	at := w.clock.stopped.Load()
	w.reopen()
	w.clock.stopped.Store(at)
	asked := func() int {
		ok(t, w.Control.Step(w.ctx))
		return len(must(w.store.Notices(w.ctx, call))(t))
	}
	if n := asked(); n != 1 {
		t.Fatalf("%d people are asked for one", n)
	}
	w.clock.advance(time.Minute - time.Microsecond)
	if n := asked(); n != 1 {
		t.Errorf("%d people are asked before the first had to answer", n)
	}
	w.clock.advance(time.Microsecond)
	if n := asked(); n != 2 {
		t.Errorf("%d people are asked when the first has not answered", n)
	}
	w.clock.advance(4*time.Minute - time.Microsecond)
	asked()
	if c := must(w.store.Call(w.ctx, call))(t); c.State != store.CallOpen {
		t.Errorf("just before its end the call is %s", c.State)
	}
	w.clock.advance(time.Microsecond)
	asked()
	if c := must(w.store.Call(w.ctx, call))(t); c.State != store.CallExpired {
		t.Errorf("at its end the call is %s", c.State)
	}
}

// TestACallForMorePeopleIsProlonged: whoever is asked for later has as long to come
// as the first.
func TestACallForMorePeopleIsProlonged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	w.clock.halt()
	w.onCall(pool.Settings{Min: 1}) // calls last ten minutes
	w.step(time.Second)
	only := func() store.Call {
		t.Helper()
		list := must(w.Pools.Calls(w.ctx, w.admin, w.pool))(t)
		if len(list) != 1 {
			t.Fatalf("%d calls are open", len(list))
		}
		return list[0].Call
	}
	first := only()
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Control.Min = 2; return nil }))(t)
	w.step(6 * time.Minute)
	more := only()
	if more.ID != first.ID || more.Wanted != 2 || !more.EndsAt.Equal(first.EndsAt.Add(6*time.Minute)) {
		t.Errorf("the call is %+v, want it for 2 and 6 minutes longer than %s", more, first.EndsAt)
	}
	w.step(6 * time.Minute) // the first two would not be called any more
	if more = only(); more.ID != first.ID {
		t.Errorf("after its first end the call is %+v", more)
	}
	w.reopen()
	if kept := must(w.store.Call(w.ctx, first.ID))(t); kept.State != store.CallOpen || !kept.EndsAt.Equal(more.EndsAt) {
		t.Errorf("kept is %+v", kept)
	}
	w.clock.advance(4 * time.Minute)
	ok(t, w.Control.Step(w.ctx))
	if c := must(w.store.Call(w.ctx, first.ID))(t); c.State != store.CallExpired {
		t.Errorf("at its end the call is %s", c.State)
	}
}

// TestAFailedPoolRestsForASecond, and not longer.
func TestAFailedPoolRestsForASecond(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.clock.halt()
	f := w.unreliable()
	w.launch(1)
	f.set(notKept)
	_, err := w.Work.Next(w.ctx, w.workers[0], 0)
	refused(t, err, crowd.Unavailable)
	f.set(nil)
	w.clock.advance(time.Second - time.Microsecond)
	_, err = w.Work.Next(w.ctx, w.workers[0], 0)
	refused(t, err, crowd.Unavailable)
	w.clock.advance(time.Microsecond)
	w.next(w.workers[0])
}

// TestSamplesAndAdviceAtTheirTimes: a sample every ten seconds, and advice that
// stays the same once a minute.
func TestSamplesAndAdviceAtTheirTimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.clock.halt()
	w.onCall(pool.Settings{Min: 2, Advise: true})
	for _, x := range []struct {
		after           time.Duration // the step before
		samples, advice int
	}{
		{0, 1, 1},
		{10*time.Second - time.Microsecond, 1, 1},
		{time.Microsecond, 2, 1},
		{50*time.Second - time.Microsecond, 3, 1},
		{time.Microsecond, 3, 2},
		{10*time.Second - 2*time.Microsecond, 3, 2}, // since the last sample
		{time.Microsecond, 4, 2},
	} {
		w.step(x.after)
		advice := 0
		for _, a := range w.actions() {
			if a.Advice {
				advice++
			}
		}
		samples := len(must(w.Pools.Samples(w.ctx, w.admin, w.pool, time.Time{}))(t))
		if samples != x.samples || advice != x.advice {
			t.Errorf("%s after the step before: %d samples and %d times advice, want %d and %d", x.after, samples, advice, x.samples, x.advice)
		}
	}
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Control.Min = 3; return nil }))(t)
	w.step(0)
	if last := w.actions()[0]; last.N != 3 || !last.Advice {
		t.Errorf("other advice is not given at once: the last entry is %+v", last)
	}
}

// TestASampleThatWasNotKeptIsTakenAgain by the next control step, with what
// waiting has cost meanwhile.
func TestASampleThatWasNotKeptIsTakenAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	f := &failingStore{}
	w.wrap = func(s store.Store) store.Store { f.Store = s; return f }
	w.reopen()
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Retainer = engine.Retainer{Rate: crowd.Unit / 20}; return nil }))(t)
	must(w.Pools.Fund(w.ctx, w.admin, w.pool, crowd.Unit))(t)
	w.step(time.Second)
	w.waits(w.workers[0], 30*time.Second)
	want := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t).Status.Funds.Paid
	f.begin(storeCall{"AddSamples", 1})
	if err := w.Control.Step(marked(w.ctx)); !errors.Is(err, errLost) {
		t.Fatalf("the step without its sample returns %v", err)
	}
	f.end()
	w.step(0)
	samples := must(w.Pools.Samples(w.ctx, w.admin, w.pool, time.Time{}))(t)
	if n := len(samples); n != 2 || samples[1].Waiting != want || want == 0 {
		t.Errorf("%d samples, want 2, the last with %s for waiting: %+v", n, want, samples)
	}
}

// TestManyBadRows: the first hundred are reported one by one, the rest counted.
func TestManyBadRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for _, n := range []int{99, 100, 101} {
		id := w.draft(0)
		report, err := w.Batches.Upload(w.ctx, w.ann, id, strings.NewReader("thing,_gold\n"+strings.Repeat("x,maybe\n", n)), batches.Upload{})
		refused(t, err, crowd.Invalid)
		if report.Bad != n || len(report.Problems) != min(n, 100) {
			t.Errorf("of %d bad rows %d are counted and %d told", n, report.Bad, len(report.Problems))
		}
	}
}

// TestHoldersUpToALimit: and how many there are beyond.
func TestHoldersUpToALimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.launch(3)
	for _, p := range w.workers {
		w.next(p)
	}
	for limit, want := range map[int][2]int{2: {2, 1}, 3: {3, 0}, 4: {3, 0}} {
		list, more, err := w.Batches.Holders(context.Background(), w.admin, id, limit)
		ok(t, err)
		if len(list) != want[0] || more != want[1] {
			t.Errorf("up to %d: %d holders and %d more", limit, len(list), more)
		}
		for i, h := range list {
			if h.By.Name != w.workers[i].User.Name || h.By.ID != w.workers[i].User.ID {
				t.Errorf("holder %d is %s, %s", i, h.By.Name, h.By.ID)
			}
		}
	}
}

// secretKey is a secret of a tenant.
var secretKey = store.TenantSecret{Name: "KEY", Value: "x"}
