package api_test

import (
	"context"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/wire"
)

// TestAddressesByTheAPI: somebody changes their address, sees that it is asked, and confirms it
// by the link in the mail; an admin sees it and has them asked again.
func TestAddressesByTheAPI(t *testing.T) {
	t.Parallel()
	mails := make(chan string, 10)
	w := newWorld(t, func(s *setup) {
		s.senders.Mail = func(_ context.Context, to, _, body string) error {
			mails <- to + " " + body
			return nil
		}
	})
	token := func() string {
		t.Helper()
		must(w.app.Outbox.SendDue(w.ctx))(t)
		to, link, found := strings.Cut(<-mails, "/verify?")
		if !found || !strings.HasPrefix(to, "eve@example.org ") {
			t.Fatalf("the mail is %q", to)
		}
		return must(url.ParseQuery(strings.TrimSpace(link)))(t).Get("token")
	}
	made := must(w.admin.CreateUser(w.ctx, wire.NewUser{Name: "eve", Tenants: []crowd.TenantID{w.a}}))(t)
	eve := w.nobody.As(must(w.nobody.Setup(w.ctx, made.SetupToken, "correct horse battery"))(t))
	refused(t, eve.AskForAddress(w.ctx, 0), crowd.Conflict) // there is none
	refused(t, eve.ChangeAddress(w.ctx, wire.NewAddress{Address: "eve@example.org", Password: "wrong horse battery"}), crowd.Invalid)
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(eve.ChangeAddress(w.ctx, wire.NewAddress{Address: "eve@example.org", Password: "correct horse battery"}))
	first := token()
	a := must(eve.Address(w.ctx, 0))(t)
	if a.Email != "" || a.Verified || !a.CanAsk || a.Asked == nil || a.Asked.Address != "eve@example.org" || a.Asked.Mail != "sent" {
		t.Errorf("while it is asked: %+v %+v", a, a.Asked)
	}
	if b := must(w.admin.Address(w.ctx, made.ID))(t); b.Asked == nil || *b.Asked != *a.Asked {
		t.Errorf("the admin sees %+v", b)
	}
	_, err := w.ann.Address(w.ctx, made.ID)
	refused(t, err, crowd.Forbidden)
	refused(t, w.ann.AskForAddress(w.ctx, made.ID), crowd.Forbidden)
	ok(w.admin.AskForAddress(w.ctx, made.ID))
	refused(t, eve.ConfirmAddress(w.ctx, first), crowd.NotFound)
	again := token()
	refused(t, w.ann.ConfirmAddress(w.ctx, again), crowd.Conflict) // a token for programs
	ok(eve.ConfirmAddress(w.ctx, again))
	if a := must(eve.Address(w.ctx, 0))(t); a.Email != "eve@example.org" || !a.Verified || a.Asked != nil {
		t.Errorf("confirmed: %+v", a)
	}

	// Who holds a second factor shows it, too.
	p := must(w.app.Accounts.Authenticate(w.ctx, eve.Token, netip.Addr{}))(t)
	secret := must(w.app.Accounts.BeginTOTP(w.ctx, p, "Phone", accounts.Proof{Password: "correct horse battery"}))(t)
	codes := must(w.app.Accounts.ConfirmTOTP(w.ctx, p, secret, must(auth.TOTP(secret, time.Now()))(t)))(t)
	refused(t, eve.ChangeAddress(w.ctx, wire.NewAddress{Address: "eve@next.example", Password: "correct horse battery"}), crowd.Invalid)
	ok(eve.ChangeAddress(w.ctx, wire.NewAddress{Address: "eve@next.example", Password: "correct horse battery", Code: codes[0]}))
}
