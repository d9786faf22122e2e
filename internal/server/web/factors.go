package web

import (
	"encoding/base64"
	"html/template"
	"net/url"
	"strings"

	"rsc.io/qr"

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

// proof is what was typed into a form that changes how its sender signs in.
func (rq *request) proof() accounts.Proof {
	values := rq.r.PostForm
	return accounts.Proof{Password: values.Get("password"), Code: strings.TrimSpace(values.Get("code")), Device: rq.cookie(httpkit.DeviceCookie)}
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
