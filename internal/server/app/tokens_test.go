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
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

// made makes a token of somebody and returns who comes with it from an address.
func (w *world) made(p *access.Principal, n accounts.NewToken, from string) (*access.Principal, string) {
	w.t.Helper()
	_, secret, err := w.Accounts.CreateToken(w.ctx, p, n)
	ok(w.t, err)
	return must(w.Accounts.Authenticate(w.ctx, secret, netip.MustParseAddr(from)))(w.t), secret
}

// TestTokensAreGoodFromTheirNetworks, and what is made with them is, too.
func TestTokensAreGoodFromTheirNetworks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	limited, secret := w.made(w.ann, accounts.NewToken{Name: "limited", Networks: []string{"10.1.2.3/16", " 2001:db8::1 ", "192.0.2.7"}}, "10.1.255.255")
	if got := limited.Token.Networks; !slices.Equal(got, []string{"10.1.0.0/16", "2001:db8::1/128", "192.0.2.7/32"}) {
		t.Errorf("networks: %q", got)
	}
	for from, good := range map[string]bool{
		"10.1.0.1": true, "::ffff:10.1.0.1": true, "2001:db8::1": true, "192.0.2.7": true,
		"10.2.0.1": false, "2001:db8::2": false, "192.0.2.8": false, "::1": false,
	} {
		_, err := w.Accounts.Authenticate(w.ctx, secret, netip.MustParseAddr(from))
		if good != (err == nil) {
			t.Errorf("from %s: %v", from, err)
		}
		if !good {
			refused(t, err, crowd.Forbidden)
		}
	}
	_, err := w.Accounts.Authenticate(w.ctx, secret, netip.Addr{}) // nobody knows from where
	refused(t, err, crowd.Forbidden)
	w.close()
	w.open()
	_, err = w.Accounts.Authenticate(w.ctx, secret, netip.MustParseAddr("10.2.0.1"))
	refused(t, err, crowd.Forbidden)

	child, _ := w.made(limited, accounts.NewToken{Name: "child"}, "10.1.0.1")
	if !slices.Equal(child.Token.Networks, limited.Token.Networks) {
		t.Errorf("a child is good from %q", child.Token.Networks)
	}
	w.made(limited, accounts.NewToken{Name: "part", Networks: []string{"10.1.7.0/24"}}, "10.1.7.1")
	for _, wider := range [][]string{{"10.0.0.0/8"}, {"10.1.7.0/24", "0.0.0.0/0"}, {"2001:db8::/64"}} {
		_, _, err := w.Accounts.CreateToken(w.ctx, limited, accounts.NewToken{Name: "wider", Networks: wider})
		refused(t, err, crowd.Invalid)
	}
	start, _ := w.made(w.ann, accounts.NewToken{Name: "from where wider ones begin, too", Networks: []string{"10.0.0.0/16"}}, "10.0.0.1")
	_, _, err = w.Accounts.CreateToken(w.ctx, start, accounts.NewToken{Name: "wider", Networks: []string{"10.0.0.0/8"}})
	refused(t, err, crowd.Invalid)
	w.made(start, accounts.NewToken{Name: "half", Networks: []string{"10.0.0.0/17"}}, "10.0.0.1")
	for _, bad := range []string{"", "10.1", "10.1.0.0/33", "example.org", "10.1.0.0/16,10.2.0.0/16", "::ffff:10.0.0.0/104"} {
		_, _, err := w.Accounts.CreateToken(w.ctx, w.ann, accounts.NewToken{Name: "x", Networks: []string{bad}})
		refused(t, err, crowd.Invalid)
		if !strings.HasPrefix(err.Error(), "networks: ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	_, _, err = w.Accounts.CreateToken(w.ctx, w.ann, accounts.NewToken{Name: "x", Networks: slices.Repeat([]string{"10.0.0.1"}, 51)})
	refused(t, err, crowd.Invalid)
}

// TestAdminsActFromTheirNetworks: elsewhere they are what else they are.
func TestAdminsActFromTheirNetworks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	must(w.Accounts.ChangeUser(w.ctx, w.admin, w.admin.User.ID, func(u *store.User) error { u.Tenants = []crowd.TenantID{w.a}; return nil }))(t)
	w.close()
	w.adminFrom = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	w.open()
	inside, secret := w.made(w.admin, accounts.NewToken{Name: "t"}, "10.1.1.1")
	must(w.Accounts.Users(w.ctx, inside, 0, 0, 10))(t)
	outside := must(w.Accounts.Authenticate(w.ctx, secret, netip.MustParseAddr("192.0.2.1")))(t)
	if outside.Is(access.Admin) || !outside.Is(access.Requester) {
		t.Errorf("outside: admin %t, requester %t", outside.Is(access.Admin), outside.Is(access.Requester))
	}
	_, err := w.Tenants.Create(w.ctx, outside, accounts.NewTenant{Name: "new"})
	refused(t, err, crowd.Forbidden)
	if !strings.Contains(err.Error(), "from your address") {
		t.Errorf("it is not said why: %v", err)
	}
	must(w.Batches.List(w.ctx, outside, w.a, 0, 10))(t)
	if list := must(w.Tenants.List(w.ctx, outside))(t); len(list) != 1 {
		t.Errorf("outside: the tenants are %+v", list)
	}
	_, err = w.Tenants.List(w.ctx, &access.Principal{User: store.User{ID: 9, Admin: true}, Outside: true}) // none would look as if all were lost
	refusedText(t, err, crowd.Forbidden, "from your address")
	if again := must(w.Accounts.Authenticate(w.ctx, secret, netip.MustParseAddr("10.1.1.1")))(t); !again.Is(access.Admin) {
		t.Error("inside again: no admin")
	}

	// Who becomes one after they were let in, too.
	at := func(address string) context.Context {
		return access.WithSender(w.ctx, access.Sender{Address: netip.MustParseAddr(address)})
	}
	must(w.Accounts.GiveRole(at("10.1.1.1"), inside, w.ann.User.ID, store.HeldRole{Role: string(access.Admin)}))(t)
	forBob := func(address string) error {
		_, _, err := w.Accounts.CreateToken(at(address), w.ann, accounts.NewToken{Name: "bob's", For: w.bob.User.ID})
		return err
	}
	err = forBob("192.0.2.1")
	refused(t, err, crowd.Forbidden)
	if !strings.Contains(err.Error(), "from your address") {
		t.Errorf("it is not said why: %v", err)
	}
	ok(t, forBob("10.1.1.1"))
}

// TestTokensAreSeen by their owners and admins, but not by who comes with another one
// that is limited.
func TestTokensAreSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	names := func(p *access.Principal, of crowd.WorkerID) (list []string) {
		t.Helper()
		for _, x := range must(w.Accounts.Tokens(w.ctx, p, of))(t) {
			list = append(list, x.Name)
		}
		return list
	}
	whole, _ := w.made(w.ann, accounts.NewToken{Name: "whole"}, "10.0.0.1")
	for name, n := range map[string]accounts.NewToken{
		"tenant": {Name: "limited", Tenant: w.a}, "role": {Name: "limited", Roles: []access.Role{access.Requester}}, "network": {Name: "limited", Networks: []string{"10.0.0.0/8"}},
	} {
		limited, _ := w.made(w.ann, n, "10.0.0.1")
		if got := names(limited, 0); !slices.Equal(got, []string{"limited"}) {
			t.Errorf("limited to a %s: sees %q", name, got)
		}
		refused(t, second(w.Accounts.RevokeToken(w.ctx, limited, 0, whole.Token.ID)), crowd.NotFound)
		refused(t, second(w.Accounts.RevokeToken(w.ctx, limited, w.ann.User.ID, whole.Token.ID)), crowd.NotFound)
		if got := names(whole, 0); !slices.Equal(got, []string{"test", "whole", "limited"}) {
			t.Errorf("sees %q", got)
		}
		ok(t, second(w.Accounts.RevokeToken(w.ctx, limited, 0, limited.Token.ID)))
	}
	refused(t, second(w.Accounts.Tokens(w.ctx, w.bob, w.ann.User.ID)), crowd.Forbidden)
	refused(t, second(w.Accounts.RevokeToken(w.ctx, w.bob, w.ann.User.ID, whole.Token.ID)), crowd.Forbidden)
	if got := names(w.admin, w.ann.User.ID); !slices.Equal(got, []string{"test", "whole"}) {
		t.Errorf("the admin sees %q", got)
	}
	refused(t, second(w.Accounts.Tokens(w.ctx, w.admin, 999)), crowd.NotFound)
	session := must(w.Accounts.Setup(w.ctx, must(w.Accounts.NewSetupLink(w.ctx, w.admin, w.bob.User.ID))(t), password))(t)
	bob := must(w.Accounts.Authenticate(w.ctx, session, netip.Addr{}))(t)
	refused(t, second(w.Accounts.RevokeToken(w.ctx, w.admin, bob.User.ID, bob.Token.ID)), crowd.NotFound) // a session is no token
	ok(t, second(w.Accounts.RevokeToken(w.ctx, w.admin, w.ann.User.ID, whole.Token.ID)))
	if got := names(w.ann, 0); !slices.Equal(got, []string{"test"}) {
		t.Errorf("after it was taken away: %q", got)
	}
}

// TestTokensEnd after 90 days if nothing else is said, and it is kept when they were
// used, also over a stop.
func TestTokensEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	usual, _, err := w.Accounts.CreateToken(w.ctx, w.ann, accounts.NewToken{Name: "usual"})
	ok(t, err)
	if life := usual.ExpiresAt.Sub(usual.CreatedAt); life.Round(time.Hour) != 90*24*time.Hour {
		t.Errorf("good for %s", life)
	}
	endless, secret, err := w.Accounts.CreateToken(w.ctx, w.ann, accounts.NewToken{Name: "endless", Life: accounts.Forever})
	ok(t, err)
	if !endless.ExpiresAt.IsZero() {
		t.Errorf("good until %s", endless.ExpiresAt)
	}
	_, short, err := w.Accounts.CreateToken(w.ctx, w.ann, accounts.NewToken{Name: "short", Life: time.Hour})
	ok(t, err)
	w.clock.advance(time.Hour - 10*time.Second)
	must(w.Accounts.Authenticate(w.ctx, short, netip.Addr{}))(t)
	w.clock.advance(10 * time.Second) // what was read of it is no older than that
	refused(t, second(w.Accounts.Authenticate(w.ctx, short, netip.Addr{})), crowd.Unauthenticated)
	at := w.clock.now().UTC().Truncate(time.Microsecond)
	must(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{}))(t)
	w.close()
	w.open()
	list := must(w.Accounts.Tokens(w.ctx, w.ann, 0))(t)
	if len(list) != 4 || !list[1].UsedAt.IsZero() || list[2].UsedAt.Sub(at).Abs() > time.Minute {
		t.Errorf("used: %+v, want the last at %s", list, at)
	}
}

// revokeOwn takes a token of p away; the one with which they came, if with it they can
// do no other.
func revokeOwn(s *scene, p *access.Principal) error {
	t, _, err := s.Accounts.CreateToken(s.ctx, p, accounts.NewToken{Name: "mine", Tenant: p.Token.Tenant})
	if p.Limited() {
		t.ID = p.Token.ID
	}
	return errors.Join(err, second(s.Accounts.RevokeToken(s.ctx, p, 0, t.ID)))
}

// TestWhatWasMadeWithAToken ends with it, in whichever way it is taken away: whoever found it has
// nothing left.
func TestWhatWasMadeWithAToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	for name, end := range map[string]func(p *access.Principal) error{
		"revoked by its owner": func(p *access.Principal) error {
			with, err := w.Accounts.RevokeToken(w.ctx, w.admin, 0, p.Token.ID)
			if with != 4 {
				t.Errorf("revoked with %d others", with)
			}
			return err
		},
		"signed out": func(p *access.Principal) error { return w.Accounts.SignOut(w.ctx, p) },
	} {
		parent, _ := w.made(w.admin, accounts.NewToken{Name: "leaked"}, "10.0.0.1")
		other, secret := w.made(w.admin, accounts.NewToken{Name: "other"}, "10.0.0.1")
		_, stays := w.made(other, accounts.NewToken{Name: "stays"}, "10.0.0.1")
		child, first := w.made(parent, accounts.NewToken{Name: "child", Scopes: []string{"people.change"}}, "10.0.0.1")
		_, second := w.made(child, accounts.NewToken{Name: "grandchild"}, "10.0.0.1")
		_, hers := w.made(parent, accounts.NewToken{Name: "hers", For: w.ann.User.ID}, "10.0.0.1")
		link := must(w.Accounts.NewSetupLink(w.ctx, parent, w.bob.User.ID))(t)
		if child.Token.MadeWith != parent.Token.ID {
			t.Errorf("%s: made with %d", name, child.Token.MadeWith)
		}
		ok(t, end(parent))
		for _, s := range []string{first, second, hers} {
			_, err := w.Accounts.Authenticate(w.ctx, s, netip.Addr{})
			refused(t, err, crowd.Unauthenticated)
		}
		_, err := w.Accounts.SetupUser(w.ctx, link)
		refused(t, err, crowd.NotFound)
		for _, s := range []string{secret, stays} {
			must(w.Accounts.Authenticate(w.ctx, s, netip.Addr{}))(t)
		}
		e := must(w.store.AuditEntries(w.ctx, store.AuditFilter{Limit: 1}))(t)[0]
		if !strings.Contains(string(e.After), "4 tokens and one-time links made with it") {
			t.Errorf("%s: the log tells %s of %s", name, e.After, e.Operation)
		}
	}
}

// TestWhatWhoHasLeftMade for others ends with them, whatever it was made with: they had it in
// their hands.
func TestWhatWhoHasLeftMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	for i, how := range []string{"suspended", "erased"} {
		u, first, err := w.Accounts.CreateUser(w.ctx, w.admin, accounts.NewUser{Name: "boss-" + how, Admin: true})
		ok(t, err)
		boss := u.ID
		leaver := must(w.Accounts.Authenticate(w.ctx, must(w.Accounts.Setup(w.ctx, first, "a long enough one"))(t), netip.Addr{}))(t)
		_, hers := w.made(leaver, accounts.NewToken{Name: "hers", For: w.ann.User.ID}, "10.0.0.1")
		_, stays := w.made(w.admin, accounts.NewToken{Name: "stays", For: w.ann.User.ID}, "10.0.0.1")
		_, link, err := w.Accounts.CreateUser(w.ctx, leaver, accounts.NewUser{Name: fmt.Sprint("sleeper", i), Admin: true})
		ok(t, err)
		must(w.Accounts.SetupUser(w.ctx, link))(t)
		all := must(w.Accounts.AllTokens(w.ctx, w.admin, w.ann.User.ID, 0, 2))(t)
		if all[0].Maker != w.admin.User.Name || all[1].Maker != "boss-"+how {
			t.Errorf("made by %q and %q", all[0].Maker, all[1].Maker)
		}
		if how == "suspended" {
			must(w.Accounts.ChangeUser(w.ctx, w.admin, boss, func(u *store.User) error { u.Suspended = true; return nil }))(t)
		} else {
			ok(t, w.Accounts.Erase(w.ctx, w.admin, boss, accounts.ErasureOrder{Confirm: "boss-" + how, FreeText: accounts.KeepText}))
		}
		_, err = w.Accounts.Authenticate(w.ctx, hers, netip.Addr{})
		refused(t, err, crowd.Unauthenticated)
		_, err = w.Accounts.SetupUser(w.ctx, link)
		refused(t, err, crowd.NotFound)
		must(w.Accounts.Authenticate(w.ctx, stays, netip.Addr{}))(t)
	}
}
