package app_test

import (
	"context"
	"encoding/json"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

// overtaken is a store in which something else happens just before a token is kept, once.
type overtaken struct {
	store.Store
	by func()
}

func (o *overtaken) CreateToken(ctx context.Context, t store.Token) (int64, error) {
	if f := o.by; f != nil {
		o.by = nil
		f()
	}
	return o.Store.CreateToken(ctx, t)
}

// overtakable is a world where ann has a password, and what overtakes her.
func overtakable(t *testing.T) (*world, *overtaken) {
	t.Helper()
	w, o := withPassword(t), &overtaken{}
	w.wrap = func(s store.Store) store.Store { o.Store = s; return o }
	w.reopen()
	return w, o
}

// changeAnn makes a change of ann by an administrator.
func (w *world) changeAnn(change func(*store.User)) {
	w.t.Helper()
	must(w.Accounts.ChangeUser(w.ctx, w.admin, w.ann.User.ID, func(u *store.User) error { change(u); return nil }))(w.t)
}

// TestWhatOvertakesASignIn leaves no session of it: the password that was right is so no more,
// or its owner may not come in.
func TestWhatOvertakesASignIn(t *testing.T) {
	for name, by := range map[string]func(w *world, here *access.Principal){
		"a change of the password": func(w *world, here *access.Principal) {
			ok(w.t, w.Accounts.ChangePassword(w.ctx, here, accounts.Proof{Password: goodPassword}, nextPassword))
		},
		"a one-time link": func(w *world, _ *access.Principal) {
			must(w.Accounts.Setup(w.ctx, must(w.Accounts.NewSetupLink(w.ctx, w.admin, w.ann.User.ID))(w.t), nextPassword))(w.t)
		},
		"a suspension": func(w *world, _ *access.Principal) { w.changeAnn(func(u *store.User) { u.Suspended = true }) },
		"a suspension that is lifted": func(w *world, _ *access.Principal) {
			w.clock.advance(time.Second)
			w.changeAnn(func(u *store.User) { u.Suspended = true })
			w.changeAnn(func(u *store.User) { u.Suspended = false })
		},
		"the end of all sessions": func(w *world, here *access.Principal) {
			w.clock.advance(time.Second)
			ok(w.t, w.Accounts.EndSessions(w.ctx, here))
		},
		"an erasure": func(w *world, _ *access.Principal) {
			ok(w.t, w.Accounts.Erase(w.ctx, w.admin, w.ann.User.ID, accounts.ErasureOrder{Confirm: "ann", FreeText: accounts.DeleteText}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, o := overtakable(t)
			here := w.signedIn("", "", goodPassword)
			o.by = func() { by(w, here) }
			from := access.Sender{Address: netip.MustParseAddr("198.51.100.77"), Program: "Wobbegong"}
			secret, err := w.Accounts.SignIn(access.WithSender(w.ctx, from), accounts.Credentials{Name: "ann", Password: goodPassword, From: from.Address})
			refused(t, err, crowd.Unauthenticated)
			if secret != "" || o.by != nil {
				t.Errorf("a session %q; overtaken: %v", secret, o.by == nil)
			}
			for _, x := range must(w.store.ListTokens(w.ctx, w.ann.User.ID))(t) {
				if x.Address == from.Address.String() {
					t.Errorf("kept: %+v", x)
				}
			}
			entries := must(json.Marshal(must(w.store.AuditEntries(w.ctx, store.AuditFilter{Limit: 1000}))(t)))(t)
			if strings.Contains(string(entries), from.Address.String()) {
				t.Errorf("the audit log tells of it: %s", entries)
			}
		})
	}
}

// TestWhatOvertakesANewToken leaves no token that was made with a session that has ended.
func TestWhatOvertakesANewToken(t *testing.T) {
	for name, by := range map[string]func(w *world, here, there *access.Principal){
		"a change of the password": func(w *world, here, _ *access.Principal) {
			ok(w.t, w.Accounts.ChangePassword(w.ctx, here, accounts.Proof{Password: goodPassword}, nextPassword))
		},
		"the end of all sessions": func(w *world, here, _ *access.Principal) { ok(w.t, w.Accounts.EndSessions(w.ctx, here)) },
		"the end of the session": func(w *world, here, there *access.Principal) {
			ok(w.t, w.Accounts.EndSession(w.ctx, here, there.Token.ID))
		},
		"a reset of factors": func(w *world, _, _ *access.Principal) {
			ok(w.t, w.Accounts.ResetFactors(w.ctx, w.admin, w.ann.User.ID))
		},
		"a suspension": func(w *world, _, _ *access.Principal) { w.changeAnn(func(u *store.User) { u.Suspended = true }) },
	} {
		t.Run(name, func(t *testing.T) {
			w, o := overtakable(t)
			here, there := w.signedIn("", "", goodPassword), w.signedIn("", "stolen", goodPassword)
			o.by = func() { by(w, here, there) }
			_, secret, err := w.Accounts.CreateToken(w.ctx, there, accounts.NewToken{Name: "left behind"})
			refused(t, err, crowd.Unauthenticated)
			if secret != "" || o.by != nil {
				t.Errorf("a token %q; overtaken: %v", secret, o.by == nil)
			}
			for _, x := range must(w.store.ListTokens(w.ctx, w.ann.User.ID))(t) {
				if x.Name == "left behind" {
					t.Errorf("kept: %+v", x)
				}
			}
		})
	}
}

// TestTokensInheritScopes of the token with which they are made.
func TestTokensInheritScopes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	scoped, _ := w.made(w.ann, accounts.NewToken{Name: "reader", Scopes: []string{"batches.read"}}, "192.0.2.1")
	child, _ := w.made(scoped, accounts.NewToken{Name: "child"}, "192.0.2.1")
	if got := child.Token.Scopes; len(got) != 1 || got[0] != "batches.read" {
		t.Errorf("the child may %q", got)
	}
	if _, err := w.Batches.Create(w.ctx, child, w.definition()); crowd.CodeOf(err) != crowd.Forbidden {
		t.Errorf("the child makes a batch: %v", err)
	}
	_, err := w.Batches.Create(w.ctx, child, w.definition())
	refusedText(t, err, crowd.Forbidden, "this token does not have the permission batches.edit, which you have")
	must(w.Batches.Get(w.ctx, child, w.draft(1)))(t)
	_, _, err = w.Accounts.CreateToken(w.ctx, scoped, accounts.NewToken{Name: "wider", Scopes: []string{"batches.read", "batches.change"}})
	if err == nil {
		t.Error("a scoped token makes a wider one")
	}

	// So do those for others.
	operator := w.person(accounts.NewUser{Name: "olga", Roles: []store.HeldRole{{Role: "operator"}}})
	changes, _ := w.made(operator, accounts.NewToken{Name: "changes people", Scopes: []string{access.CanChangePeople.String()}}, "192.0.2.1")
	worker := w.person(accounts.NewUser{Name: "wanda", Pool: w.pool})
	_, secret, err := w.Accounts.CreateToken(w.ctx, changes, accounts.NewToken{Name: "for wanda", For: worker.User.ID})
	ok(t, err)
	theirs := must(w.Accounts.Authenticate(w.ctx, secret, netip.MustParseAddr("192.0.2.1")))(t)
	if got := theirs.Token.Scopes; len(got) != 1 || got[0] != access.CanChangePeople.String() || theirs.May(access.WorkNext) == nil {
		t.Errorf("the token for somebody else may %q", got)
	}
}

// TestWhatOthersMadeEndsWithANewRole: an operator makes a token and a link for somebody who
// then gets a role that the operator may not give.
func TestWhatOthersMadeEndsWithANewRole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	operator := w.person(accounts.NewUser{Name: "olga", Roles: []store.HeldRole{{Role: "operator"}}})
	fresh, first, err := w.Accounts.CreateUser(w.ctx, operator, accounts.NewUser{Name: "fresh", Pool: w.pool})
	ok(t, err)
	_, made, err := w.Accounts.CreateToken(w.ctx, operator, accounts.NewToken{Name: "theirs", For: fresh.ID})
	ok(t, err)
	as := must(w.Accounts.Authenticate(w.ctx, made, netip.Addr{}))(t)
	_, child, err := w.Accounts.CreateToken(w.ctx, as, accounts.NewToken{Name: "a child of it"}) // is theirs, too
	ok(t, err)
	_, bosses, err := w.Accounts.CreateToken(w.ctx, w.admin, accounts.NewToken{Name: "an admin's", For: fresh.ID})
	ok(t, err)
	must(w.Accounts.ChangeUser(w.ctx, w.admin, fresh.ID, func(u *store.User) error {
		u.Roles = []store.HeldRole{{Role: "finance"}}
		return nil
	}))(t)
	for _, secret := range []string{made, child} {
		refused(t, second(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{})), crowd.Unauthenticated)
	}
	refused(t, second(w.Accounts.SetupUser(w.ctx, first)), crowd.NotFound)
	must(w.Accounts.Authenticate(w.ctx, bosses, netip.Addr{}))(t)
	last := must(w.store.AuditEntries(w.ctx, store.AuditFilter{Limit: 1}))(t)[0]
	if !strings.Contains(string(last.After), "3 tokens and one-time links made by others") {
		t.Errorf("the audit log says %s", last.After)
	}
}

// TestNobodyRisesWhileATokenIsMade for them: an operator makes a token for a worker while an
// administrator gives that worker more than the operator may do. Either the token is made first
// and ends with the new right, or it is refused.
func TestNobodyRisesWhileATokenIsMade(t *testing.T) {
	for name, rise := range map[string]func(w *world, id crowd.WorkerID) error{
		"an administrator": func(w *world, id crowd.WorkerID) error {
			return second(w.Accounts.ChangeUser(w.ctx, w.admin, id, func(u *store.User) error { u.Admin = true; return nil }))
		},
		"a role": func(w *world, id crowd.WorkerID) error {
			return second(w.Accounts.GiveRole(w.ctx, w.admin, id, store.HeldRole{Role: "finance"}))
		},
		"a role of a tenant": func(w *world, id crowd.WorkerID) error {
			return second(w.Accounts.GiveRole(w.ctx, w.admin, id, store.HeldRole{Role: "requester", Tenant: w.a}))
		},
		"a role that permits more": func(w *world, _ crowd.WorkerID) error {
			return second(w.Accounts.ChangeRole(w.ctx, w.admin, store.HeldRole{Role: "looker"}, func(r *store.Role) error {
				r.Permissions = append(r.Permissions, "money.move")
				return nil
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, o := overtakable(t)
			must(w.Accounts.CreateRole(w.ctx, w.admin, store.Role{Name: "looker", Permissions: []string{"tenants.read"}}))(t)
			operator := w.person(accounts.NewUser{Name: "olga", Roles: []store.HeldRole{{Role: "operator"}}})
			fresh := w.person(accounts.NewUser{Name: "fresh", Roles: []store.HeldRole{{Role: "looker"}}}).User.ID
			risen := make(chan error, 1)
			o.by = func() {
				go func() { risen <- rise(w, fresh) }()
				for limit := time.Now().Add(10 * time.Second); len(risen) == 0 && !waitsForPeople(); runtime.Gosched() {
					if time.Now().After(limit) {
						t.Error("the change of the right neither ends nor waits")
						return
					}
				}
			}
			_, secret, err := w.Accounts.CreateToken(w.ctx, operator, accounts.NewToken{Name: "left behind", For: fresh})
			ok(t, <-risen)
			if o.by != nil {
				t.Error("nobody came in between")
			}
			if err == nil {
				refused(t, second(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{})), crowd.Unauthenticated)
			}
			for _, x := range must(w.store.ListTokens(w.ctx, fresh))(t) {
				if x.Name == "left behind" {
					t.Errorf("kept: %+v", x)
				}
			}
		})
	}
}

// waitsForPeople reports whether a change of a person or of a role waits until no other one goes on.
func waitsForPeople() bool {
	all := make([]byte, 1<<20)
	for _, routine := range strings.Split(string(all[:runtime.Stack(all, true)]), "\n\n") {
		if strings.Contains(routine, "[sync.Mutex.Lock") && (strings.Contains(routine, "accounts.(*Accounts).change(") || strings.Contains(routine, "accounts.(*roleCases).ChangeRole(")) {
			return true
		}
	}
	return false
}

// TestWhoIsNoAdministratorByNow makes no credential for others, though they were one when
// they were authenticated.
func TestWhoIsNoAdministratorByNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	before := w.person(accounts.NewUser{Name: "olga", Admin: true})
	fresh := w.person(accounts.NewUser{Name: "fresh", Pool: w.pool}).User.ID
	must(w.Accounts.ChangeUser(w.ctx, w.admin, before.User.ID, func(u *store.User) error { u.Admin = false; return nil }))(t)
	_, _, err := w.Accounts.CreateToken(w.ctx, before, accounts.NewToken{Name: "late", For: fresh})
	refused(t, err, crowd.Forbidden)
	refused(t, second(w.Accounts.NewSetupLink(w.ctx, before, fresh)), crowd.Forbidden)
	_, _, err = w.Accounts.CreateUser(w.ctx, before, accounts.NewUser{Name: "late", Admin: true})
	refused(t, err, crowd.Forbidden)
	_, _, err = w.Provisioning.CreateToken(w.ctx, before, accounts.NewProviderToken{Provider: "corp"})
	refused(t, err, crowd.Forbidden)
}
