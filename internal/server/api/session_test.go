package api_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/wire"
)

// TestSessionsByTheAPI: somebody changes their password, and ends a session of theirs.
func TestSessionsByTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := must(w.admin.CreateUser(w.ctx, wire.NewUser{Name: "eve", Tenants: []crowd.TenantID{w.a}}))(t)
	eve := w.nobody.As(must(w.nobody.Setup(w.ctx, made.SetupToken, "correct horse battery"))(t))
	if err := eve.ChangePassword(w.ctx, "correct horse battery", "another password of words"); err != nil {
		t.Fatal(err)
	}
	must(w.nobody.SignIn(w.ctx, "eve", "another password of words"))(t)
	if list := must(eve.Sessions(w.ctx))(t); len(list) != 2 || !list[1].Current || list[0].Current || list[0].Program != "throng" {
		t.Errorf("eve's sessions: %+v", list)
	} else if err := eve.EndSession(w.ctx, list[0].ID); err != nil {
		t.Fatal(err)
	}
}

// TestSecondFactorsByTheAPI: who holds one sends a code to sign in; an admin sees it, and
// takes it away, which ends their sessions.
func TestSecondFactorsByTheAPI(t *testing.T) {
	w := newWorld(t)
	made := must(w.admin.CreateUser(w.ctx, wire.NewUser{Name: "fay", Pool: 1}))(t)
	token := must(w.nobody.Setup(w.ctx, made.SetupToken, "correct horse battery"))(t)
	fay := w.nobody.As(token)
	p := must(w.app.Accounts.Authenticate(w.ctx, token, netip.Addr{}))(t)
	secret := must(w.app.Accounts.BeginTOTP(w.ctx, p, "Phone", accounts.Proof{Password: "correct horse battery"}))(t)
	codes := must(w.app.Accounts.ConfirmTOTP(w.ctx, p, secret, must(auth.TOTP(secret, time.Now()))(t)))(t)

	with := wire.Credentials{Name: "fay", Password: "correct horse battery"}
	_, err := w.nobody.SignInWith(w.ctx, with)
	refused(t, err, crowd.Unauthenticated)
	var e *crowd.Error
	if !errors.As(err, &e) || e.Field != "code" || !strings.Contains(e.Message, "is needed") {
		t.Errorf("without a code: %v", err)
	}
	with.Code = "000000"
	_, err = w.nobody.SignInWith(w.ctx, with)
	refused(t, err, crowd.Unauthenticated)
	with.Code, with.Password = codes[0], "wrong horse battery"
	_, err = w.nobody.SignInWith(w.ctx, with)
	if refused(t, err, crowd.Unauthenticated); !errors.As(err, &e) || e.Field != "" {
		t.Errorf("with a wrong password: %v", err)
	}
	with.Password = "correct horse battery"
	must(w.nobody.SignInWith(w.ctx, with))(t) // a wrong password has not used the code up

	held := must(w.admin.SecondFactors(w.ctx, made.ID))(t)
	if len(held.Factors) != 1 || held.Factors[0].Kind != "totp" || held.Factors[0].Name != "Phone" || held.RecoveryCodes != 9 {
		t.Errorf("fay holds %+v", held)
	}
	_, err = fay.SecondFactors(w.ctx, made.ID)
	refused(t, err, crowd.Forbidden)
	refused(t, fay.ResetSecondFactors(w.ctx, made.ID), crowd.Forbidden)
	if err := w.admin.ResetSecondFactors(w.ctx, made.ID); err != nil {
		t.Fatal(err)
	}
	_, err = fay.Me(w.ctx)
	refused(t, err, crowd.Unauthenticated)
	with.Code = ""
	must(w.nobody.SignInWith(w.ctx, with))(t)
	link := must(w.admin.SetupLink(w.ctx, made.ID))(t)
	must(w.nobody.Setup(w.ctx, link.Token, "another horse battery"))(t)
}
