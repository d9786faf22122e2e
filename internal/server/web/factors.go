package web

import (
	"encoding/base64"
	"html/template"
	"net/url"
	"strings"
	"time"

	"rsc.io/qr"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/store"
)

// factorKind says what a second factor is.
func factorKind(k store.FactorKind) string {
	if k == store.Passkey {
		return "passkey"
	}
	return "authenticator app"
}

// codeHelp says which codes do.
func codeHelp(app bool) string {
	if app {
		return "The six digits that your authenticator app shows now, or one of your recovery codes."
	}
	return "One of your recovery codes."
}

// proof is what was typed into a form that changes how its sender signs in.
func (rq *request) proof() accounts.Proof {
	values := rq.r.PostForm
	return accounts.Proof{Password: values.Get("password"), Code: strings.TrimSpace(values.Get("code")), Device: rq.cookie(httpkit.DeviceCookie),
		Passkey: rq.passkey(values.Get("ticket"))}
}

// passkey is what the browser has answered that was asked for a passkey with a ticket.
func (rq *request) passkey(ticket string) accounts.Passkey {
	return accounts.Passkey{Ticket: ticket, Answer: rq.r.PostForm.Get("passkey"), Origin: rq.origin()}
}

// beginTOTP shows a new secret for an authenticator app.
func (rq *request) beginTOTP() error {
	secret, err := rq.App.Accounts.BeginTOTP(rq.ctx(), rq.p, rq.r.PostForm.Get("name"), rq.proof())
	if err != nil {
		return err
	}
	return rq.showSecret(secret)
}

// showTOTP shows the secret again that a form was sent with.
func (rq *request) showTOTP() error { return rq.showSecret(rq.r.PostForm.Get("secret")) }

// longestSecret bounds what is made a picture of.
const longestSecret = 100

// showSecret asks for the first code of a secret.
func (rq *request) showSecret(secret string) error {
	secret = secret[:min(len(secret), longestSecret)]
	site := rq.publicURL()
	if u, err := url.Parse(site); err == nil && u.Host != "" {
		site = u.Host
	}
	picture, err := qr.Encode(auth.TOTPURL(site, rq.p.User.Name, secret), qr.M)
	if err != nil {
		return err
	}
	picture.Scale = 6
	return rq.render("totp", page{Title: "Set up an authenticator app", Section: "account", Data: map[string]any{
		"Secret": secret, "QR": template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(picture.PNG()))}})
}

// confirmTOTP ends the setting up, and shows recovery codes after the first one.
func (rq *request) confirmTOTP() error {
	codes, err := rq.App.Accounts.ConfirmTOTP(rq.ctx(), rq.p, rq.r.PostForm.Get("secret"), strings.TrimSpace(rq.r.PostForm.Get("code")))
	if err != nil {
		rq.r.PostForm.Del("code") // the next one is not typed behind it
		return err
	}
	return rq.enrolled(codes)
}

// enrolled ends the setting up of a factor.
func (rq *request) enrolled(codes []string) error {
	if len(codes) == 0 {
		return rq.seeOther("/account", "factor")
	}
	return rq.showCodes(codes)
}

func (rq *request) showCodes(codes []string) error {
	return rq.render("recovery", page{Title: "Recovery codes", Section: "account", Data: codes})
}

func (rq *request) newRecoveryCodes() error {
	codes, err := rq.App.Accounts.NewRecoveryCodes(rq.ctx(), rq.p, rq.proof())
	if err != nil {
		return err
	}
	return rq.showCodes(codes)
}

func (rq *request) removeFactor(id int64) error {
	return rq.done(rq.App.Accounts.RemoveFactor(rq.ctx(), rq.p, id, rq.proof()), "/account", "unfactored")
}

// beginPasskey has the browser make a passkey.
func (rq *request) beginPasskey() error {
	if err := rq.App.Accounts.BeginPasskey(rq.ctx(), rq.p, rq.r.PostForm.Get("name"), rq.origin(), rq.proof()); err != nil {
		return err
	}
	return rq.showPasskey()
}

// showPasskey is the page on which the browser makes a passkey.
func (rq *request) showPasskey() error {
	asked, err := rq.App.Accounts.MakePasskey(rq.ctx(), rq.p, rq.origin())
	if err != nil {
		return err
	}
	return rq.render("makepasskey", page{Title: "Set up a passkey", Section: "account", Script: passkeyScript, Data: asked})
}

const passkeyScript = "passkey.js"

// confirmPasskey ends the setting up, and shows recovery codes after the first one.
func (rq *request) confirmPasskey() error {
	codes, err := rq.App.Accounts.ConfirmPasskey(rq.ctx(), rq.p, rq.passkey(""))
	if err != nil {
		return err
	}
	return rq.enrolled(codes)
}

// passkeyCookie is the name of the cookie of who signs in with a passkey alone.
const passkeyCookie = "throng_passkey"

// passkeySignInPage asks for a passkey, and nothing else.
func (rq *request) passkeySignInPage() error {
	if rq.p != nil {
		return rq.home()
	}
	ticket, asked, err := rq.App.Accounts.AskForPasskey(rq.ctx(), rq.origin())
	if err != nil {
		return err
	}
	rq.setCookie("/signin/passkey", passkeyCookie, ticket, accounts.ChallengeLife)
	return rq.render("passkey", page{Title: "Sign in with a passkey", Script: passkeyScript,
		Data: map[string]any{"Next": localPath(rq.r.FormValue("next")), "Asked": asked}})
}

// signInWithPasskey signs in who has shown one. Who is refused is asked again.
func (rq *request) signInWithPasskey() error {
	secret, err := rq.App.Accounts.SignInWithPasskey(rq.ctx(), accounts.Credentials{From: access.SenderOf(rq.ctx()).Address, Passkey: rq.passkey(rq.cookie(passkeyCookie))})
	if code := crowd.CodeOf(err); code == crowd.Unauthenticated || code == crowd.Forbidden {
		rq.form = &form{ID: "passkey", Errs: problems(err)}
		return rq.passkeySignInPage()
	}
	if err == nil {
		rq.setCookie("/signin/passkey", passkeyCookie, "", -time.Second)
	}
	return rq.entered(secret, rq.r.PostForm.Get("next"), err)
}
