package app_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
)

const nextPassword = "another password of some words"

// signedIn is who has signed in as ann from an address with a program.
func (w *world) signedIn(address, program, password string) *access.Principal {
	w.t.Helper()
	from := access.Sender{Program: program}
	if address != "" {
		from.Address = netip.MustParseAddr(address)
	}
	secret := must(w.Accounts.SignIn(access.WithSender(w.ctx, from), accounts.Credentials{Name: "ann", Password: password, From: from.Address}))(w.t)
	return must(w.Accounts.Authenticate(w.ctx, secret, from.Address))(w.t)
}

// TestChangeOfPassword ends what was made with the old one, but not where it was asked.
func TestChangeOfPassword(t *testing.T) {
	w := withPassword(t)
	here, there := w.signedIn("192.0.2.1", "Firefox on Linux", goodPassword), w.signedIn("2001:db8::1", "", goodPassword)
	token, program := w.made(here, accounts.NewToken{Name: "nightly"}, "192.0.2.1")
	link := must(w.Accounts.NewSetupLink(w.ctx, w.admin, w.ann.User.ID))(t)

	refused(t, w.Accounts.ChangePassword(w.ctx, here, accounts.Proof{Password: goodPassword}, "short"), crowd.Invalid)
	refused(t, w.Accounts.ChangePassword(w.ctx, here, accounts.Proof{Password: goodPassword}, goodPassword), crowd.Invalid)
	refused(t, w.Accounts.ChangePassword(w.ctx, here, accounts.Proof{Password: "wrong wrong wrong"}, nextPassword), crowd.Invalid)
	refused(t, w.Accounts.ChangePassword(w.ctx, token, accounts.Proof{Password: goodPassword}, nextPassword), crowd.Conflict)
	refused(t, w.Accounts.ChangePassword(w.ctx, w.bob, accounts.Proof{Password: goodPassword}, nextPassword), crowd.Conflict) // who has none
	if got := len(must(w.Accounts.Sessions(w.ctx, here))(t)); got < 2 {
		t.Fatalf("%d sessions after changes that were refused", got)
	}
	ok(t, w.Accounts.ChangePassword(w.ctx, here, accounts.Proof{Password: goodPassword}, nextPassword))
	list := must(w.Accounts.Sessions(w.ctx, here))(t)
	if len(list) != 1 || list[0].ID != here.Token.ID || list[0].ID == there.Token.ID {
		t.Errorf("after the change there are %+v", list)
	}
	refused(t, second(w.Accounts.Authenticate(w.ctx, program, netip.Addr{})), crowd.Unauthenticated)
	refused(t, second(w.Accounts.SetupUser(w.ctx, link)), crowd.NotFound)
	refused(t, w.from("", goodPassword), crowd.Unauthenticated)
	ok(t, w.from("", nextPassword))
}

// TestOldPasswordsCannotBeGuessed by who has found a browser that is signed in.
func TestOldPasswordsCannotBeGuessed(t *testing.T) {
	w := withPassword(t)
	here := w.signedIn("", "", goodPassword)
	for range 10 {
		refused(t, w.Accounts.ChangePassword(w.ctx, here, accounts.Proof{Password: "wrong wrong wrong"}, nextPassword), crowd.Invalid)
	}
	refused(t, w.Accounts.ChangePassword(w.ctx, here, accounts.Proof{Password: goodPassword}, nextPassword), crowd.TooMany)
	device := must(w.Accounts.Device(w.ctx, here))(t) // whoever guesses at their address
	ok(t, w.Accounts.ChangePassword(w.ctx, here, accounts.Proof{Password: goodPassword, Device: device}, nextPassword))
	w.clock.advance(10 * time.Second)
	ok(t, w.Accounts.ChangePassword(w.ctx, here, accounts.Proof{Password: nextPassword}, goodPassword))
}

// TestSessions are seen and ended by their owner.
func TestSessions(t *testing.T) {
	w := withPassword(t)
	here, there := w.signedIn("::ffff:192.0.2.1", "Firefox on Linux", goodPassword), w.signedIn("2001:db8::1", "throng", goodPassword)
	list := must(w.Accounts.Sessions(w.ctx, here))(t)
	if list[0].ID != there.Token.ID || list[0].Address != "2001:db8::1" || list[0].Name != "throng" {
		t.Errorf("the latest session is %+v", list[0])
	}
	if x := list[1]; x.ID != here.Token.ID || x.Address != "192.0.2.1" || x.Name != "Firefox on Linux" {
		t.Errorf("the one before is %+v", x)
	}
	limited, _ := w.made(here, accounts.NewToken{Name: "limited", Roles: []access.Role{access.Requester}}, "192.0.2.1")
	if got := must(w.Accounts.Sessions(w.ctx, limited))(t); len(got) > 0 {
		t.Errorf("a limited token sees %+v", got)
	}
	refused(t, w.Accounts.EndSessions(w.ctx, limited), crowd.Conflict)
	refused(t, w.Accounts.EndSession(w.ctx, limited, there.Token.ID), crowd.NotFound)
	refused(t, w.Accounts.EndSession(w.ctx, w.bob, there.Token.ID), crowd.NotFound)
	refused(t, w.Accounts.EndSession(w.ctx, here, limited.Token.ID), crowd.NotFound) // a token is no session
	ok(t, w.Accounts.EndSession(w.ctx, here, there.Token.ID))
	refused(t, w.Accounts.EndSession(w.ctx, here, there.Token.ID), crowd.NotFound)
	if now := must(w.Accounts.Sessions(w.ctx, here))(t); len(now) != len(list)-1 {
		t.Errorf("%d sessions are left of %d", len(now), len(list))
	}
	whole, _ := w.made(here, accounts.NewToken{Name: "whole"}, "192.0.2.1")
	ok(t, w.Accounts.EndSessions(w.ctx, here))
	if now := must(w.Accounts.Sessions(w.ctx, whole))(t); len(now) > 0 {
		t.Errorf("signed out everywhere, and there are %+v", now)
	}
	if got := must(w.Accounts.Tokens(w.ctx, whole, 0))(t); len(got) == 0 {
		t.Error("tokens for programs went with the sessions")
	}
	must(w.Accounts.Authenticate(w.ctx, must(w.Accounts.SignIn(w.ctx, accounts.Credentials{Name: "ann", Password: goodPassword}))(t), netip.Addr{}))(t)
	w.clock.advance(15 * 24 * time.Hour)
	if now := must(w.Accounts.Sessions(w.ctx, whole))(t); len(now) > 0 {
		t.Errorf("expired, and listed: %+v", now)
	}
}
