package app_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

const password = "correct horse battery"

// empty is a world with nobody in it.
func empty(t *testing.T) *world {
	w := &world{t: t, ctx: context.Background(), path: t.TempDir() + "/throng.db", clock: &clock{}}
	w.open()
	t.Cleanup(w.close)
	return w
}

func TestBootstrap(t *testing.T) {
	t.Parallel()
	w := empty(t)
	old := must(w.Accounts.Bootstrap(w.ctx))(t)
	link := must(w.Accounts.Bootstrap(w.ctx))(t)
	_, err := w.Accounts.Setup(w.ctx, old, password)
	refused(t, err, crowd.NotFound) // a newer link makes it void
	if name := must(w.Accounts.SetupUser(w.ctx, link))(t); name != "admin" {
		t.Errorf("the link is for %q", name)
	}
	_, err = w.session("admin", "")
	refused(t, err, crowd.Unauthenticated) // there is no default password
	_, err = w.Accounts.Authenticate(w.ctx, link, netip.Addr{})
	refused(t, err, crowd.Unauthenticated) // the link itself is no session
	_, err = w.Accounts.Setup(w.ctx, link, "short")
	refused(t, err, crowd.Invalid) // and the link is still good

	p := must(w.Accounts.Authenticate(w.ctx, must(w.Accounts.Setup(w.ctx, link, password))(t), netip.Addr{}))(t)
	if !p.Is(access.Admin) {
		t.Error("the first person is no admin")
	}
	_, err = w.Accounts.Setup(w.ctx, link, password+"!")
	refused(t, err, crowd.NotFound)
	if again := must(w.Accounts.Bootstrap(w.ctx))(t); again != "" {
		t.Error("a link although somebody can sign in")
	}
	w.reopen()
	if again := must(w.Accounts.Bootstrap(w.ctx))(t); again != "" {
		t.Error("a link after a restart")
	}
	must(w.session("ADMIN", password))(t) // names are compared without case
	_, err1 := w.session("admin", password+"!")
	_, err2 := w.session("nobody", password)
	if err1 == nil || err2 == nil || err1.Error() != err2.Error() {
		t.Errorf("a wrong password: %v; a wrong name: %v", err1, err2)
	}
}

func TestASetupLinkRunsOut(t *testing.T) {
	t.Parallel()
	w := empty(t)
	link := must(w.Accounts.Bootstrap(w.ctx))(t)
	w.clock.advance(8 * 24 * time.Hour)
	_, err := w.Accounts.SetupUser(w.ctx, link)
	refused(t, err, crowd.NotFound)
	_, err = w.Accounts.Setup(w.ctx, link, password)
	refused(t, err, crowd.NotFound)
}

// TestASetupLinkIsForOne lets several people use the same link at once.
func TestASetupLinkIsForOne(t *testing.T) {
	t.Parallel()
	w := empty(t)
	link := must(w.Accounts.Bootstrap(w.ctx))(t)
	var done sync.WaitGroup
	errs := make([]error, 3)
	for i := range errs {
		done.Go(func() { _, errs[i] = w.Accounts.Setup(w.ctx, link, password+strings.Repeat("!", i)) })
	}
	done.Wait()
	in := 0
	for i, err := range errs {
		if err == nil {
			in++
			must(w.session("admin", password+strings.Repeat("!", i)))(t)
		}
	}
	if in != 1 {
		t.Errorf("%d of %d used the link: %v", in, len(errs), errs)
	}
}

func TestANewPasswordEndsSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	session := must(w.Accounts.Setup(w.ctx, must(w.Accounts.NewSetupLink(w.ctx, w.admin, w.ann.User.ID))(t), password))(t)
	_, program, err := w.Accounts.CreateToken(w.ctx, w.ann, accounts.NewToken{Name: "program"})
	ok(t, err)
	link := must(w.Accounts.NewSetupLink(w.ctx, w.admin, w.ann.User.ID))(t)
	must(w.Accounts.Authenticate(w.ctx, session, netip.Addr{}))(t) // it goes on until the link is used
	later := must(w.Accounts.Setup(w.ctx, link, password+"!"))(t)
	_, err = w.Accounts.Authenticate(w.ctx, session, netip.Addr{})
	refused(t, err, crowd.Unauthenticated)
	must(w.Accounts.Authenticate(w.ctx, later, netip.Addr{}))(t)
	_, err = w.Accounts.Authenticate(w.ctx, program, netip.Addr{}) // who knew the old password may have made it
	refused(t, err, crowd.Unauthenticated)

	// Tokens that an admin made before there was a password stay.
	_, program, err = w.Accounts.CreateToken(w.ctx, w.admin, accounts.NewToken{Name: "program", For: w.bob.User.ID})
	ok(t, err)
	must(w.Accounts.Setup(w.ctx, must(w.Accounts.NewSetupLink(w.ctx, w.admin, w.bob.User.ID))(t), password))(t)
	must(w.Accounts.Authenticate(w.ctx, program, netip.Addr{}))(t)
}

func TestChangesAreSeenAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	fresh := func() string {
		t.Helper()
		_, secret, err := w.Accounts.CreateToken(w.ctx, w.admin, accounts.NewToken{Name: "t", For: w.ann.User.ID})
		ok(t, err)
		must(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{}))(t) // it is in the cache now
		return secret
	}
	out := func(secret string, code crowd.Code) {
		t.Helper()
		_, err := w.Accounts.Authenticate(w.ctx, secret, netip.Addr{})
		refused(t, err, code)
	}
	secret := fresh()
	must(w.Accounts.ChangeUser(w.ctx, w.admin, w.ann.User.ID, func(u *store.User) error { u.Suspended = true; return nil }))(t)
	out(secret, crowd.Forbidden)
	must(w.Accounts.ChangeUser(w.ctx, w.admin, w.ann.User.ID, func(u *store.User) error { u.Suspended = false; u.Tenants = []crowd.TenantID{}; return nil }))(t)
	out(secret, crowd.Unauthenticated) // a suspension has ended it
	secret = fresh()
	if p := must(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{}))(t); p.Is(access.Requester) {
		t.Error("still a requester")
	}
	ok(t, second(w.Accounts.RevokeToken(w.ctx, w.ann, 0, must(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{}))(t).Token.ID)))
	out(secret, crowd.Unauthenticated)
	secret = fresh()
	ok(t, w.Accounts.SignOut(w.ctx, must(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{}))(t)))
	out(secret, crowd.Unauthenticated)

	_, secret, err := w.Accounts.CreateToken(w.ctx, w.admin, accounts.NewToken{Name: "short", Life: time.Minute, For: w.ann.User.ID})
	ok(t, err)
	must(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{}))(t)
	w.clock.advance(time.Minute)
	out(secret, crowd.Unauthenticated)
}

// slowUsers is a store that lets a test act between the reading of a user and
// the return of what was read.
type slowUsers struct {
	store.Store
	read func()
}

func (s *slowUsers) User(ctx context.Context, id crowd.WorkerID) (store.User, error) {
	u, err := s.Store.User(ctx, id)
	if f := s.read; f != nil {
		s.read = nil
		f()
	}
	return u, err
}

// TestASuspensionOvertakesASignIn: what was read of a person before they were
// suspended does not stay in the cache.
func TestASuspensionOvertakesASignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	_, secret, err := w.Accounts.CreateToken(w.ctx, w.ann, accounts.NewToken{Name: "t"})
	ok(t, err)
	w.close()
	var slow *slowUsers
	w.wrap = func(s store.Store) store.Store { slow = &slowUsers{Store: s}; return slow }
	w.open()
	slow.read = func() {
		must(w.Accounts.ChangeUser(w.ctx, w.admin, w.ann.User.ID, func(u *store.User) error { u.Suspended = true; return nil }))(t)
	}
	must(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{}))(t) // it was so when they asked
	_, err = w.Accounts.Authenticate(w.ctx, secret, netip.Addr{})
	refused(t, err, crowd.Forbidden)
}

func TestTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	carl := w.person(accounts.NewUser{Name: "carl", Tenants: []crowd.TenantID{w.a, w.b}, Pool: w.pool})
	make := func(p *access.Principal, n accounts.NewToken) (*access.Principal, error) {
		n.Name = "program"
		token, secret, err := w.Accounts.CreateToken(w.ctx, p, n)
		if err != nil {
			return nil, err
		}
		q := must(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{}))(t)
		if q.Token.ID != token.ID || token.ID == 0 || token.CreatedAt.IsZero() {
			t.Errorf("told of %+v, kept %+v", token, q.Token)
		}
		return q, nil
	}
	forA := must(make(carl, accounts.NewToken{Tenant: w.a, Life: time.Hour}))(t)
	if forA.Is(access.Worker) || !slices.Equal(forA.Tenants(), []crowd.TenantID{w.a}) {
		t.Errorf("a token for a tenant: worker %t, %v", forA.Is(access.Worker), forA.Tenants())
	}
	if child := must(make(forA, accounts.NewToken{Tenant: w.a}))(t); !child.Token.ExpiresAt.Equal(forA.Token.ExpiresAt) {
		t.Errorf("a token outlives the one that made it: %s, %s", child.Token.ExpiresAt, forA.Token.ExpiresAt)
	}
	working := must(make(carl, accounts.NewToken{Roles: []access.Role{access.Worker}}))(t)
	if child := must(make(working, accounts.NewToken{}))(t); child.Is(access.Requester) {
		t.Error("a token has more roles than the one that made it")
	}
	root := must(make(w.admin, accounts.NewToken{Roles: []access.Role{access.Admin}}))(t)
	if child := must(make(root, accounts.NewToken{For: carl.User.ID}))(t); !child.Is(access.Worker) {
		t.Error("an admin's own limits go over to others")
	}

	for name, x := range map[string]struct {
		by   *access.Principal
		new  accounts.NewToken
		want crowd.Code
	}{
		"for all tenants by a token for one":       {forA, accounts.NewToken{}, crowd.NotFound},
		"for another tenant by a token for one":    {forA, accounts.NewToken{Tenant: w.b}, crowd.NotFound},
		"for a tenant that is not one's own":       {w.ann, accounts.NewToken{Tenant: w.b}, crowd.NotFound},
		"for a role that one does not have":        {w.ann, accounts.NewToken{Roles: []access.Role{access.Admin}}, crowd.Invalid},
		"for a role that the token does not":       {working, accounts.NewToken{Roles: []access.Role{access.Requester}}, crowd.Invalid},
		"for somebody else by somebody":            {w.ann, accounts.NewToken{For: carl.User.ID}, crowd.Forbidden},
		"for the past":                             {w.ann, accounts.NewToken{Life: -1}, crowd.Invalid},
		"for a role that is not there":             {w.ann, accounts.NewToken{Roles: []access.Role{"king"}}, crowd.Invalid},
		"for somebody's role that they have not":   {w.admin, accounts.NewToken{For: w.ann.User.ID, Roles: []access.Role{access.Worker}}, crowd.Invalid},
		"for somebody's tenant that is not theirs": {w.admin, accounts.NewToken{For: w.ann.User.ID, Tenant: w.b}, crowd.NotFound},
		"for somebody who is not there by admin":   {w.admin, accounts.NewToken{For: 999}, crowd.NotFound},
	} {
		_, err := make(x.by, x.new)
		if crowd.CodeOf(err) != x.want {
			t.Errorf("%s: %v, want code %q", name, err, x.want)
		}
	}
}

func TestWhomARequesterMayAdd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	mine := []crowd.TenantID{w.a}
	for name, x := range map[string]struct {
		accounts.NewUser
		want crowd.Code
	}{
		"an admin":                        {accounts.NewUser{Admin: true, Tenants: mine}, crowd.Forbidden},
		"a worker":                        {accounts.NewUser{Pool: w.pool, Tenants: mine}, crowd.Forbidden},
		"somebody of no tenant":           {accounts.NewUser{}, crowd.Forbidden},
		"a requester of another tenant":   {accounts.NewUser{Tenants: []crowd.TenantID{w.a, w.b}}, crowd.NotFound},
		"somebody with a qualification":   {accounts.NewUser{Tenants: mine, Qualifications: map[string]int{"nurse": 100}}, crowd.Forbidden},
		"somebody with a name of spaces":  {accounts.NewUser{Name: "a b", Tenants: mine}, crowd.Invalid},
		"somebody with no address":        {accounts.NewUser{Email: "x", Tenants: mine}, crowd.Invalid},
		"somebody who is there":           {accounts.NewUser{Name: "BOB", Tenants: mine}, crowd.Conflict},
		"a requester of their own tenant": {accounts.NewUser{Name: "eve", Tenants: mine}, ""},
	} {
		if x.Name == "" {
			x.Name = "dan"
		}
		_, _, err := w.Accounts.CreateUser(w.ctx, w.ann, x.NewUser)
		if crowd.CodeOf(err) != x.want {
			t.Errorf("%s: %v, want code %q", name, err, x.want)
		}
	}
	tenants := []crowd.TenantID{w.b, w.a, w.a}
	w.person(accounts.NewUser{Name: "both", Tenants: tenants})
	if !slices.Equal(tenants, []crowd.TenantID{w.b, w.a, w.a}) {
		t.Error("the caller's list was changed")
	}
	for _, u := range must(w.Accounts.Users(w.ctx, w.ann, w.a, 0, 10))(t) {
		if slices.Contains(u.Tenants, w.b) {
			t.Errorf("ann learns that %s is of bob's tenant", u.Name)
		}
	}
}

func TestAWorkerMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	night := w.newPool("night", "fifo")
	id := w.launch(1)
	held := w.next(w.workers[0])
	me := w.workers[0].User.ID
	_, err := w.Accounts.ChangeUser(w.ctx, w.admin, me, func(u *store.User) error { u.Pool = night.Pool.ID; return nil })
	refused(t, err, crowd.Conflict) // they hold a task
	ok(t, w.Work.Return(w.ctx, w.workers[0], held.Assignment))
	must(w.Accounts.ChangeUser(w.ctx, w.admin, me, func(u *store.User) error { u.Pool = night.Pool.ID; return nil }))(t)
	if work := must(w.Work.Next(w.ctx, w.as(me), 0))(t); work != nil {
		t.Errorf("the night pool hands out %s of %s", work.Task, id)
	}
	for _, p := range must(w.Pools.List(w.ctx, w.admin))(t) {
		if want := map[string]int{"main": 0, "night": 1}[p.Name]; p.Belong != want {
			t.Errorf("%s has %d workers, want %d", p.Name, p.Belong, want)
		}
	}
	must(w.Accounts.ChangeUser(w.ctx, w.admin, me, func(u *store.User) error { u.Pool = crowd.PoolID(0); return nil }))(t)
	_, err = w.Work.Next(w.ctx, w.as(me), 0)
	refused(t, err, crowd.Forbidden)
}

// TestWhoIsNoWorkerAnyMoreIsNotCalled, though others are.
func TestWhoIsNoWorkerAnyMoreIsNotCalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	gone, stays := w.workers[0].User.ID, w.workers[1].User.ID
	must(w.Accounts.ChangeUser(w.ctx, w.admin, gone, func(u *store.User) error { u.Pool = crowd.PoolID(0); return nil }))(t)
	w.onCall(pool.Settings{Min: 2})
	w.step(time.Second)
	for id, want := range map[crowd.WorkerID]int{gone: 0, stays: 1} {
		if got := must(w.store.WorkerNotices(w.ctx, id, 10))(t); len(got) != want {
			t.Errorf("%s is asked %d times, want %d", id, len(got), want)
		}
	}
}

// brokenUsers is a store that does not keep changes of users.
type brokenUsers struct{ store.Store }

var errBroken = errors.New("it did not want to")

func (brokenUsers) UpdateUser(context.Context, store.User) error { return errBroken }

// TestAWorkerWhoCouldNotMoveGoesOn: they are taken out of their pool before the
// store is told, and must not be lost there.
func TestAWorkerWhoCouldNotMoveGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.launch(1)
	w.close()
	w.wrap = func(s store.Store) store.Store { return brokenUsers{s} }
	w.open()
	if _, err := w.Accounts.ChangeUser(w.ctx, w.admin, w.workers[0].User.ID, func(u *store.User) error { u.Pool = crowd.PoolID(0); return nil }); !errors.Is(err, errBroken) {
		t.Fatalf("got %v", err)
	}
	w.next(w.workers[0])
}

// TestGuessingIsSlow: after a burst of wrong passwords a name has to wait, the
// right password included; then one may try again.
func TestGuessingIsSlow(t *testing.T) {
	w := newWorld(t, 0)
	must(w.Accounts.Setup(w.ctx, must(w.Accounts.NewSetupLink(w.ctx, w.admin, w.ann.User.ID))(t), password))(t)
	wrong := 0
	for ; wrong < 1000; wrong++ {
		_, err := w.session(strings.ToUpper("ann"), password+"?")
		if crowd.CodeOf(err) == crowd.TooMany {
			break
		}
		refused(t, err, crowd.Unauthenticated)
	}
	if wrong < 3 || wrong > 20 {
		t.Errorf("%d wrong passwords were allowed at once", wrong)
	}
	_, err := w.session("ann", password)
	refused(t, err, crowd.TooMany)
	_, err = w.session("bob", password)
	refused(t, err, crowd.Unauthenticated) // other names are not held up
	w.clock.advance(time.Minute)
	must(w.session("ann", password))(t)
}

// hangUp is a store whose caller hangs up once a method has kept something.
type hangUp struct {
	store.Store
	cancel context.CancelFunc
}

func (h *hangUp) CreateUser(ctx context.Context, u store.User) (crowd.WorkerID, error) {
	id, err := h.Store.CreateUser(ctx, u)
	h.cancel()
	return id, err
}

func (h *hangUp) EndAccess(ctx context.Context, e store.Ending) error {
	err := h.Store.EndAccess(ctx, e)
	h.cancel()
	return err
}

func TestWhoHangsUpLeavesNobodyWithoutALink(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	h := &hangUp{}
	w.wrap = func(s store.Store) store.Store { h.Store = s; return h }
	w.reopen()
	var ctx context.Context
	ctx, h.cancel = context.WithCancel(w.ctx)
	u, link, err := w.Accounts.CreateUser(ctx, w.ann, accounts.NewUser{Name: "late", Tenants: []crowd.TenantID{w.a}})
	if err != nil || link == "" || ctx.Err() == nil {
		t.Fatalf("made with the link %q: %v, hung up: %v", link, err, ctx.Err())
	}
	ctx, h.cancel = context.WithCancel(w.ctx)
	again, err := w.Accounts.NewSetupLink(ctx, w.admin, u.ID)
	if err != nil || again == link || ctx.Err() == nil {
		t.Fatalf("again %q: %v, hung up: %v", again, err, ctx.Err())
	}
	if list := must(w.store.ListTokens(w.ctx, u.ID))(t); len(list) != 1 || list[0].Kind != store.SetupToken {
		t.Errorf("links: %+v", list)
	}
}

// TestNamesAreNobodysIDs: people are named by names, ids and pseudonyms alike, and nobody is called as
// another one may be named.
func TestNamesAreNobodysIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	token := w.link("a@example.org")
	for _, name := range []string{"u1", "U5", "u99999", "me", "ME", "w_", w.pseudonym(w.a, w.workers[0])} {
		_, _, err := w.Accounts.CreateUser(w.ctx, w.admin, accounts.NewUser{Name: name, Pool: w.pool})
		refusedText(t, err, crowd.Invalid, "choose another name")
		_, err = w.join(token, name)
		if crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("who joins as %s gets %v", name, err)
		}
		_, err = w.Accounts.ChangeUser(w.ctx, w.admin, w.ann.User.ID, func(u *store.User) error { u.Name = name; return nil })
		refusedText(t, err, crowd.Invalid, "choose another name")
	}
	for _, name := range []string{"u", "u1a", "b1", "wanda", "meg"} {
		w.person(accounts.NewUser{Name: name, Pool: w.pool})
	}
	// Who is called so since before stays, and is changed all the same.
	u := must(w.store.User(w.ctx, w.workers[0].User.ID))(t)
	u.Name = "u77"
	ok(t, w.store.UpdateUser(w.ctx, u))
	must(w.Accounts.ChangeUser(w.ctx, w.admin, u.ID, func(u *store.User) error { u.FullName = "Wanda"; return nil }))(t)
}

// TestFullNamesHideNothing: nobody takes a name with which a page shows something else
// than it says, however they come by it.
func TestFullNamesHideNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id, token := w.workers[0].User.ID, w.link("a@example.org")
	ways := map[string]func(name string) error{
		"created": func(name string) error {
			_, _, err := w.Accounts.CreateUser(w.ctx, w.admin, accounts.NewUser{Name: "new", FullName: name, Pool: w.pool})
			return err
		},
		"changed": func(name string) error {
			return second(w.Accounts.ChangeUser(w.ctx, w.admin, id, func(u *store.User) error { u.FullName = name; return nil }))
		},
		"joined": func(name string) error {
			return second(w.Invitations.Join(w.ctx, token, accounts.NewAccount{Name: "eva", FullName: name, Password: goodPassword}))
		},
	}
	bad := []string{"a\x00b", "a\x1b[2Jb", "a\nb", "a\u0085b", "\u202egnp.exe", "a\u2066b", "a\u2028b", "a\xffb"}
	for way, do := range ways {
		for _, name := range bad {
			err := do(name)
			var e *crowd.Error
			if !errors.As(err, &e) || e.Code != crowd.Invalid || e.Field != "full_name" {
				t.Errorf("%s as %q: %v", way, name, err)
			}
		}
		if err := do("Zoë O’Neil-Łukasz 王 می\u200cخواهم"); err != nil {
			t.Errorf("%s with an honest name: %v", way, err)
		}
	}
	// Somebody whose name is of a time when it was allowed is changed all the same.
	u := must(w.store.User(w.ctx, w.workers[1].User.ID))(t)
	u.FullName = bad[0]
	ok(t, w.store.UpdateUser(w.ctx, u))
	must(w.Duty.ChangeWishes(w.ctx, w.workers[1], setWishes(recruit.Wishes{Away: true})))(t)
}
