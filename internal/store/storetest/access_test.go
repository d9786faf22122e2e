package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// holding keeps a token of a kind of a worker's, and returns it.
func (w *world) holding(t *testing.T, hash string, worker int, kind store.TokenKind) store.Token {
	t.Helper()
	x := w.token(hash, worker)
	x.Kind, x.Tenant = kind, 0
	if kind == store.ProviderToken {
		x.Provider = "corp"
	}
	x.ID = must(w.CreateToken(w.ctx, x))(t)
	return x
}

// password gives a worker a password of which this is the hash.
func (w *world) password(t *testing.T, worker int, hash string) {
	t.Helper()
	ok(t, w.EndAccess(w.ctx, store.Ending{User: w.workers[worker], Password: hash}))
	same(t, "password", must(w.User(w.ctx, w.workers[worker]))(t).PasswordHash, hash)
}

// testEndAccess: what is named ends, with the password set and the new token there, or
// nothing does.
func testEndAccess(t *testing.T, w *world) {
	ann := w.workers[0]
	w.password(t, 0, "first")
	here, there := w.holding(t, "here", 0, store.SessionToken), w.holding(t, "there", 0, store.SessionToken)
	program, link := w.holding(t, "program", 0, store.APIToken), w.holding(t, "link", 0, store.SetupToken)
	provider, others := w.holding(t, "provider", 0, store.ProviderToken), w.holding(t, "others", 1, store.SessionToken)
	factor := store.Factor{User: ann, Kind: store.TOTP, CreatedAt: w.now}
	factor.ID = must(w.CreateFactor(w.ctx, factor, []string{"code"}))(t)
	all := []store.TokenKind{store.SessionToken, store.APIToken, store.SetupToken}

	fresh := w.token("fresh", 0)
	for _, bad := range []store.Ending{
		{User: ann, Basis: store.Basis{Password: "another"}, Kinds: all, Password: "second", Factors: true},
		{User: ann, Basis: store.Basis{Token: 999}, Kinds: all, Password: "second", Factors: true},
		{User: ann, Basis: store.Basis{Factor: factor.ID}, Kinds: all, Password: "second", Factors: true}, // not confirmed
	} {
		refused(t, w.EndAccess(w.ctx, bad), crowd.Unauthenticated)
	}
	taken := w.token("others", 0)
	refused(t, w.EndAccess(w.ctx, store.Ending{User: ann, Kinds: all, Password: "second", Factors: true, Begin: &taken}), crowd.Conflict)
	refused(t, w.EndAccess(w.ctx, store.Ending{User: 999, Kinds: all}), crowd.NotFound)
	same(t, "after what was refused", must(w.ListTokens(w.ctx, ann))(t), []store.Token{here, there, program, link})
	same(t, "the password then", must(w.User(w.ctx, ann))(t).PasswordHash, "first")
	same(t, "the factors then", len(must(w.Factors(w.ctx, ann))(t)), 1)

	ok(t, w.EndAccess(w.ctx, store.Ending{User: ann, Kinds: []store.TokenKind{store.APIToken}}))
	same(t, "without programs", must(w.ListTokens(w.ctx, ann))(t), []store.Token{here, there, link})
	ok(t, w.EndAccess(w.ctx, store.Ending{User: ann, Basis: store.Basis{Password: "first", Token: here.ID}, Kinds: all, But: here.ID, Password: "second", Factors: true, Begin: &fresh}))
	same(t, "what is left", must(w.ListTokens(w.ctx, ann))(t), []store.Token{here, fresh})
	same(t, "the new password", must(w.User(w.ctx, ann))(t).PasswordHash, "second")
	same(t, "factors", must(w.Factors(w.ctx, ann))(t), nil)
	same(t, "recovery codes", must(w.RecoveryCodes(w.ctx, ann))(t), 0)
	same(t, "of the provider", must(w.ProviderTokens(w.ctx, "corp"))(t), []store.Token{provider})
	same(t, "of others", must(w.ListTokens(w.ctx, w.workers[1]))(t), []store.Token{others})
}

// testBasis: a token is not kept once what it rests on has ended.
func testBasis(t *testing.T, w *world) {
	ann, bob := w.workers[0], w.workers[1]
	w.password(t, 0, "first")
	with, boss := w.holding(t, "with", 0, store.SessionToken), w.holding(t, "boss", 1, store.APIToken)
	factor := store.Factor{User: ann, Kind: store.TOTP, CreatedAt: w.now}
	factor.ID = must(w.CreateFactor(w.ctx, factor, nil))(t)
	factor.ConfirmedAt = w.now
	ok(t, w.ConfirmFactor(w.ctx, factor, nil))
	n := 0
	try := func(kind store.TokenKind, b store.Basis) error {
		n++
		x := w.token(fmt.Sprint("try ", n), 0)
		x.Kind, x.Basis, x.Tenant = kind, b, 0
		_, err := w.CreateToken(w.ctx, x)
		return err
	}
	suspend := func(id crowd.WorkerID, is bool) {
		t.Helper()
		u := must(w.User(w.ctx, id))(t)
		u.Suspended = is
		ok(t, w.UpdateUser(w.ctx, u))
	}
	session, program := store.SessionToken, store.APIToken
	ok(t, try(session, store.Basis{Password: "first", Factor: factor.ID}))
	ok(t, try(program, store.Basis{Token: with.ID}))
	ok(t, try(program, store.Basis{Token: boss.ID}))

	w.password(t, 0, "second")
	refused(t, try(session, store.Basis{Password: "first"}), crowd.Unauthenticated)
	ok(t, try(session, store.Basis{Password: "second"}))
	suspend(bob, true)
	refused(t, try(program, store.Basis{Token: boss.ID}), crowd.Unauthenticated)
	suspend(bob, false)
	suspend(ann, true)
	refused(t, try(session, store.Basis{}), crowd.Unauthenticated)
	refused(t, try(program, store.Basis{Token: with.ID}), crowd.Unauthenticated)
	ok(t, try(program, store.Basis{Token: boss.ID})) // by somebody else
	suspend(ann, false)
	ok(t, gone(w.DeleteToken(w.ctx, ann, with.ID)))
	refused(t, try(program, store.Basis{Token: with.ID}), crowd.Unauthenticated)
	ok(t, w.DeleteFactor(w.ctx, ann, factor.ID))
	refused(t, try(session, store.Basis{Factor: factor.ID}), crowd.Unauthenticated)
	must(w.BeginErasure(w.ctx, store.Erasure{Person: ann}))(t)
	ok(t, w.Erase(w.ctx, ann, w.now))
	refused(t, try(session, store.Basis{}), crowd.Unauthenticated)
	refused(t, try(program, store.Basis{}), crowd.NotFound)
	same(t, "of who was erased", must(w.ListTokens(w.ctx, ann))(t), nil)
}

// testBasisAtOnce changes a password while many sign in with the old one, and tokens are made
// with a session that ends: none of these is left.
func testBasisAtOnce(t *testing.T, w *world) {
	ann := w.workers[0]
	w.password(t, 0, "first")
	with := w.holding(t, "with", 0, store.SessionToken)
	var callers sync.WaitGroup
	for i := range 6 {
		callers.Go(func() {
			for n := range 10 {
				x := w.token(fmt.Sprint(i, " ", n), 0)
				x.Tenant, x.Basis = 0, store.Basis{Password: "first"}
				if i%2 == 0 {
					x.Kind, x.Basis = store.APIToken, store.Basis{Token: with.ID}
				}
				if _, err := w.CreateToken(w.ctx, x); err != nil && crowd.CodeOf(err) != crowd.Unauthenticated {
					t.Error(err)
				}
			}
		})
	}
	callers.Go(func() {
		ok(t, w.EndAccess(w.ctx, store.Ending{User: ann, Basis: store.Basis{Password: "first"}, Password: "second", Kinds: []store.TokenKind{store.SessionToken, store.APIToken}}))
	})
	callers.Wait()
	same(t, "left", must(w.ListTokens(w.ctx, ann))(t), nil)
}

// testRise: with a right that somebody gets, what others made for them ends, but what an
// administrator made, or who gives it.
func testRise(t *testing.T, w *world) {
	ann, giver, other := w.workers[0], w.workers[1], w.workers[2]
	u := must(w.User(w.ctx, w.workers[3]))(t)
	u.Admin = true
	ok(t, w.UpdateUser(w.ctx, u))
	boss := u.ID
	n := 0
	ctx := store.WithAuthor(w.ctx, giver)
	for what, change := range map[string]func(u *store.User){
		"a tenant": func(u *store.User) { u.Tenants = append(u.Tenants, w.mine) },
		"a role":   func(u *store.User) { u.Roles = append(u.Roles, store.HeldRole{Role: "viewer", Tenant: w.other}) },
		"the same role for another tenant": func(u *store.User) {
			u.Roles = append(u.Roles, store.HeldRole{Role: "viewer", Tenant: w.mine})
		},
		"administration": func(u *store.User) { u.Admin = true },
		"nothing":        func(u *store.User) { u.FullName = "Ann" },
	} {
		u := must(w.User(w.ctx, ann))(t)
		u.Admin, u.Tenants, u.Roles = false, nil, []store.HeldRole{{Role: "finance"}}
		ok(t, w.UpdateUser(w.ctx, u))
		ok(t, w.EndAccess(w.ctx, store.Ending{User: ann, Kinds: []store.TokenKind{store.SessionToken, store.APIToken, store.SetupToken}}))
		var stay []string
		for _, kind := range []store.TokenKind{store.SessionToken, store.APIToken, store.SetupToken} {
			for by, stays := range map[crowd.WorkerID]bool{0: false, ann: true, giver: true, other: false, boss: true} {
				n++
				x := w.token(fmt.Sprint("made ", n), 0)
				x.Kind, x.Tenant, x.MadeBy, x.Name = kind, 0, by, fmt.Sprint(kind, " by ", by)
				must(w.CreateToken(w.ctx, x))(t)
				if stays || kind == store.SessionToken || what == "nothing" {
					stay = append(stay, x.Name)
				}
			}
		}
		change(&u)
		ok(t, w.UpdateUser(ctx, u))
		var left []string
		for _, x := range must(w.ListTokens(w.ctx, ann))(t) {
			left = append(left, x.Name)
		}
		same(t, "left with "+what, left, stay)
	}

	r := store.Role{Name: "helper", Permissions: []string{"batches.read"}, CreatedAt: w.now}
	ok(t, w.CreateRole(w.ctx, r))
	u = must(w.User(w.ctx, ann))(t)
	u.Roles = append(u.Roles, store.HeldRole{Role: "helper", Tenant: w.mine})
	ok(t, w.UpdateUser(w.ctx, u))
	x := w.token("of a holder", 0)
	x.Kind, x.Tenant, x.MadeBy = store.APIToken, 0, other
	must(w.CreateToken(w.ctx, x))(t)
	r.Text = "reads"
	ok(t, w.UpdateRole(ctx, r))
	must(w.TokenByHash(w.ctx, x.Hash))(t)
	r.Permissions = append(r.Permissions, "batches.change")
	ok(t, w.UpdateRole(ctx, r))
	_, err := w.TokenByHash(w.ctx, x.Hash)
	refused(t, err, crowd.NotFound)
}

// testLeaves: as somebody is suspended or erased, what they made for others ends, by whichever of
// their sessions and tokens, with what was made with it; not what others made, nor providers' tokens.
func testLeaves(t *testing.T, w *world) {
	for how, leave := range map[string]func(ctx context.Context, u store.User) error{
		"suspended": func(ctx context.Context, u store.User) error {
			u.Suspended = true
			return w.UpdateUser(ctx, u)
		},
		"erased": func(ctx context.Context, u store.User) error {
			must(w.BeginErasure(w.ctx, store.Erasure{Person: u.ID, AskedBy: u.ID, AskedAt: w.now}))(t)
			return w.Erase(ctx, u.ID, w.now)
		},
	} {
		var people [3]crowd.WorkerID
		for i, name := range []string{"leaver ", "stayer ", "helped "} {
			people[i] = must(w.CreateUser(w.ctx, store.User{Name: name + how, CreatedAt: w.now}))(t)
		}
		leaver, stayer, ann := people[0], people[1], people[2]
		made := func(name string, user, by crowd.WorkerID, kind store.TokenKind, with int64) store.Token {
			x := w.token(how+name, 0)
			x.User, x.Kind, x.Tenant, x.MadeBy, x.MadeWith, x.Name, x.Provider = user, kind, 0, by, with, name, ""
			if kind == store.ProviderToken {
				x.Provider = "corp " + how
			}
			x.ID = must(w.CreateToken(w.ctx, x))(t)
			return x
		}
		own := made("own", leaver, stayer, store.APIToken, 0)
		byThem := made("by them", ann, leaver, store.APIToken, 0)
		made("their link", ann, leaver, store.SetupToken, 0)
		made("with that", stayer, ann, store.APIToken, byThem.ID)
		made("with their own", ann, 0, store.APIToken, own.ID)
		made("of a provider", leaver, leaver, store.ProviderToken, 0)
		made("by another", ann, stayer, store.APIToken, 0)
		made("session", ann, 0, store.SessionToken, 0)
		a := &store.Act{AuditEntry: store.AuditEntry{At: w.now, Kind: "user", Operation: "Accounts.ChangeUser", Object: leaver.String()}}
		ok(t, leave(store.WithActs(w.ctx, a), must(w.User(w.ctx, leaver))(t)))
		var left []string
		for _, id := range []crowd.WorkerID{leaver, stayer, ann} {
			for _, x := range must(w.ListTokens(w.ctx, id))(t) {
				left = append(left, x.Name)
			}
		}
		want := []string{"own", "by another", "session"}
		if how == "erased" {
			want = want[1:]
		}
		same(t, "left when "+how, left, want)
		same(t, "of the provider when "+how, len(must(w.ProviderTokens(w.ctx, "corp "+how))(t)), 1)
		if told := string(a.Entry().After); !strings.Contains(told, fmt.Sprintf("4 tokens and one-time links made by them for others: of %s", ann)) {
			t.Errorf("%s: the log tells %s", how, told)
		}
	}
}

// gone leaves out what ended with a token.
func gone(_ []store.Token, err error) error { return err }

// testMadeWith: what was made with a token ends with it, and what was made with that, whoever's
// it is; the act tells how much.
func testMadeWith(t *testing.T, w *world) {
	ann, bob := w.workers[0], w.workers[1]
	made := func(name string, user int, kind store.TokenKind, with int64) store.Token {
		x := w.token(name, user)
		x.Kind, x.Tenant, x.MadeWith, x.Basis, x.Roles, x.Scopes = kind, 0, with, store.Basis{Token: with}, nil, nil
		if kind == store.ProviderToken {
			x.Provider = "corp"
		}
		x.ID = must(w.CreateToken(w.ctx, x))(t)
		x.Basis = store.Basis{}
		return x
	}
	act := func() (context.Context, func() string) {
		a := &store.Act{AuditEntry: store.AuditEntry{At: w.now, Kind: "token", Operation: "Accounts.RevokeToken", Object: "0"}}
		return store.WithActs(w.ctx, a), func() string { return string(a.Entry().After) }
	}
	parent, other := made("parent", 0, store.APIToken, 0), made("other", 0, store.APIToken, 0)
	child := made("child", 0, store.APIToken, parent.ID)
	others := made("others", 1, store.APIToken, child.ID)
	grandchild := made("grandchild", 0, store.APIToken, others.ID)
	link := made("link", 2, store.SetupToken, child.ID)
	provider := made("provider", 0, store.ProviderToken, parent.ID)
	stays := made("stays", 1, store.APIToken, other.ID)
	same(t, "kept", must(w.ListTokens(w.ctx, ann))(t), []store.Token{parent, other, child, grandchild})

	_, err := w.DeleteToken(w.ctx, bob, parent.ID)
	refused(t, err, crowd.NotFound)
	same(t, "after what was refused", len(must(w.ListTokens(w.ctx, ann))(t)), 4)
	ctx, ended := act()
	same(t, "with it", must(w.DeleteToken(ctx, ann, parent.ID))(t), []store.Token{child, provider, others, link, grandchild})
	same(t, "told", ended(), `{"ended":"5 tokens and one-time links made with it"}`)
	same(t, "ann's", must(w.ListTokens(w.ctx, ann))(t), []store.Token{other})
	same(t, "bob's", must(w.ListTokens(w.ctx, bob))(t), []store.Token{stays})
	same(t, "links", must(w.ListTokens(w.ctx, w.workers[2]))(t), nil)
	same(t, "of the provider", must(w.ProviderTokens(w.ctx, "corp"))(t), nil)

	provider = made("of other", 0, store.ProviderToken, other.ID)
	ctx, ended = act()
	ok(t, w.EndAccess(ctx, store.Ending{User: ann, Kinds: []store.TokenKind{store.SessionToken, store.APIToken}}))
	same(t, "told of a new password", ended(), `{"ended":"1 tokens and one-time links made with those that ended"}`)
	same(t, "bob's then", must(w.ListTokens(w.ctx, bob))(t), nil)
	same(t, "of the provider then", must(w.ProviderTokens(w.ctx, "corp"))(t), []store.Token{provider})

	// Whose time is over ends alone: what was made with it has a time of its own.
	short := made("short", 0, store.APIToken, 0)
	long := made("long", 1, store.APIToken, short.ID)
	ctx, ended = act()
	must(w.DeleteToken(ctx, bob, long.ID))(t)
	same(t, "nothing more", ended(), "")
	x := w.token("over", 0)
	x.Kind, x.ExpiresAt = store.APIToken, w.now.Add(-time.Hour)
	x.ID = must(w.CreateToken(w.ctx, x))(t)
	long = made("longer", 1, store.APIToken, x.ID)
	ok(t, w.DeleteExpiredTokens(w.ctx, w.now))
	same(t, "after its time", must(w.ListTokens(w.ctx, bob))(t), []store.Token{long})
}

// testMadeAsItEnds: what is made with a token while that is taken away ends with it, or is
// refused.
func testMadeAsItEnds(t *testing.T, w *world) {
	for i := range 20 {
		parent := w.token(fmt.Sprint("parent ", i), 0)
		parent.Kind, parent.Tenant = store.APIToken, 0
		parent.ID = must(w.CreateToken(w.ctx, parent))(t)
		var all sync.WaitGroup
		for j := range 4 {
			all.Go(func() {
				x := w.token(fmt.Sprint("child ", i, j), 1)
				x.Kind, x.Tenant, x.MadeWith, x.Basis = store.APIToken, 0, parent.ID, store.Basis{Token: parent.ID}
				if _, err := w.CreateToken(w.ctx, x); err != nil {
					refusedAs(t, "made as it ends", err, crowd.Unauthenticated)
				}
			})
		}
		all.Go(func() {
			if _, err := w.DeleteToken(w.ctx, w.workers[0], parent.ID); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		same(t, "left", must(w.ListTokens(w.ctx, w.workers[1]))(t), nil)
	}
}
