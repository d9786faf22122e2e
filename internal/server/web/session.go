package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/oidc"
)

// cookieLife is how long a browser keeps the session; the server may end it
// sooner.
const cookieLife = 14 * 24 * time.Hour

// deviceLife is how long a browser keeps that somebody has signed in there.
const deviceLife = 365 * 24 * time.Hour

// home sends everybody to where their work is.
func (rq *request) home() error {
	to := "/signin"
	switch {
	case rq.p == nil:
	case rq.p.MustEnrol:
		to = "/account"
	case allowed(access.WorkNext, rq.p):
		to = "/work"
	case len(rq.p.TenantsWith(access.CanReadBatches)) > 0:
		to = "/batches"
	case allowed(access.PoolsGet, rq.p):
		to = "/admin"
	case allowed(access.BatchesList, rq.p):
		to = "/batches"
	case len(rq.p.TenantsWith(access.CanReadPeople)) > 0:
		to = "/tenants/" + rq.p.TenantsWith(access.CanReadPeople)[0].String() + "/roles"
	default: // who was invited, and has a test before them
		to = "/qualify"
	}
	return rq.seeOther(to, "")
}

func (rq *request) signInPage() error {
	if rq.p != nil {
		return rq.home()
	}
	return rq.showSignIn(localPath(rq.r.URL.Query().Get("next")))
}

func (rq *request) showSignIn(next string) error {
	return rq.render("signin", page{Title: "Sign in", Data: map[string]any{"Next": next, "Providers": rq.App.Accounts.Providers(),
		"Passkeys": rq.App.Accounts.PasskeysWork(rq.origin()) == nil}})
}

// flowCookie is the name of the cookie of a sign-in that was begun at a provider.
const flowCookie = "throng_signin"

// signInElsewhere sends somebody to a provider to sign in there.
func (rq *request) signInElsewhere() error {
	next := localPath(rq.r.URL.Query().Get("next"))
	here := "/signin/" + rq.r.PathValue("provider")
	address, kept, err := rq.App.Accounts.BeginSignIn(rq.ctx(), rq.r.PathValue("provider"), rq.publicURL()+here+"/back", next)
	if err != nil {
		return rq.signInFailed(err, next)
	}
	rq.setCookie(here, flowCookie, kept, oidc.FlowLife)
	http.Redirect(rq.w, rq.r, address, http.StatusSeeOther)
	return nil
}

// signInBack signs in who comes back from a provider.
func (rq *request) signInBack() error {
	rq.w.Header().Set("Referrer-Policy", "no-referrer") // the address is a secret
	provider, values := rq.r.PathValue("provider"), rq.r.URL.Query()
	b := accounts.Back{Provider: provider, State: values.Get("state"), Code: values.Get("code"), Error: values.Get("error")}
	b.Kept = rq.cookie(flowCookie)
	secret, next, err := rq.App.Accounts.FinishSignIn(rq.ctx(), b)
	if err != nil && !errors.As(err, new(*accounts.FactorWanted)) {
		return rq.signInFailed(err, "")
	}
	rq.setCookie("/signin/"+provider, flowCookie, "", -time.Second)
	return rq.entered(secret, next, err)
}

// signInFailed shows the sign-in page with what was wrong, so that a password still does.
func (rq *request) signInFailed(err error, next string) error {
	switch crowd.CodeOf(err) {
	case crowd.Unauthenticated, crowd.Forbidden, crowd.Unavailable:
		rq.form = &form{ID: "signin", Errs: problems(err)}
		return rq.showSignIn(next)
	}
	return err
}

func (rq *request) signIn() error {
	values := rq.r.PostForm
	next := localPath(values.Get("next"))
	c := accounts.Credentials{Name: strings.TrimSpace(values.Get("name")), Password: values.Get("password"), From: access.SenderOf(rq.ctx()).Address}
	c.Device = rq.cookie(httpkit.DeviceCookie)
	secret, err := rq.App.Accounts.SignIn(rq.ctx(), c)
	if errors.As(err, new(*accounts.FactorWanted)) {
		return rq.entered("", next, err)
	}
	if code := crowd.CodeOf(err); code == crowd.Unauthenticated || code == crowd.Forbidden {
		rq.form = &form{ID: "signin", Values: values, Errs: problems(err)}
		return rq.showSignIn(next)
	}
	return rq.entered(secret, next, err)
}

// cookie returns the value of a cookie, or "".
func (rq *request) cookie(name string) string {
	if c, err := rq.r.Cookie(name); err == nil {
		return c.Value
	}
	return ""
}

// factorCookie is the name of the cookie of who has yet to show their second factor.
const factorCookie = "throng_factor"

// entered ends a sign-in by what came of it: it leads to where somebody wants to go, or to
// the page that asks for their second factor.
func (rq *request) entered(secret, next string, err error) error {
	var wanted *accounts.FactorWanted
	if errors.As(err, &wanted) {
		rq.setCookie("/factor", factorCookie, wanted.Challenge, accounts.ChallengeLife)
		return rq.seeOther("/factor?next="+url.QueryEscape(localPath(next)), "")
	}
	if err != nil {
		return err
	}
	if err := rq.begin(secret); err != nil {
		return err
	}
	return rq.seeOther(cmp.Or(localPath(next), "/"), "")
}

// factorPage asks for a second factor.
func (rq *request) factorPage() error {
	if rq.cookie(factorCookie) == "" {
		return rq.seeOther("/signin", "")
	}
	wanted, err := rq.App.Accounts.AskForFactor(rq.ctx(), rq.cookie(factorCookie), rq.origin())
	if err != nil {
		return rq.signInFailed(err, localPath(rq.r.FormValue("next")))
	}
	return rq.render("factor", page{Title: "Second factor", Script: passkeyScript,
		Data: map[string]any{"Next": localPath(rq.r.FormValue("next")), "Codes": wanted.Codes, "Asked": wanted.Passkey}})
}

// showFactor signs in who has shown their password before, with a code or a passkey.
func (rq *request) showFactor() error {
	next := rq.r.PostForm.Get("next")
	secret, err := rq.App.Accounts.FinishFactor(rq.ctx(), rq.cookie(factorCookie), accounts.Credentials{Code: strings.TrimSpace(rq.r.PostForm.Get("code")),
		From: access.SenderOf(rq.ctx()).Address, Device: rq.cookie(httpkit.DeviceCookie), Passkey: rq.passkey("")})
	var e *crowd.Error
	if errors.As(err, &e) && e.Code == crowd.Unauthenticated && e.Field != "" {
		rq.form = &form{ID: "factor", Errs: problems(err)}
		return rq.factorPage()
	}
	if code := crowd.CodeOf(err); code == crowd.Unauthenticated || code == crowd.Forbidden {
		return rq.signInFailed(err, localPath(next))
	}
	if err == nil {
		rq.setCookie("/factor", factorCookie, "", -time.Second)
	}
	return rq.entered(secret, next, err)
}

// authenticate returns the principal with a secret who sends the request.
func (rq *request) authenticate(ctx context.Context, secret string) (*access.Principal, error) {
	return rq.App.Accounts.Authenticate(ctx, secret, httpkit.ClientAddress(rq.r, rq.TrustProxy))
}

// begin keeps a new session in the browser, and that its owner has signed in there.
func (rq *request) begin(secret string) error {
	p, err := rq.authenticate(rq.ctx(), secret)
	if err != nil {
		return err
	}
	rq.setCookie("/", httpkit.SessionCookie, secret, cookieLife)
	return rq.remember(p)
}

// remember keeps in the browser that p, with the password that they have, has signed in
// there.
func (rq *request) remember(p *access.Principal) error {
	device, err := rq.App.Accounts.Device(rq.ctx(), p)
	if err == nil {
		rq.setCookie("/", httpkit.DeviceCookie, device, deviceLife)
	}
	return err
}

// setCookie keeps a value in the browser, for the pages below a path; a negative life
// takes it away.
func (rq *request) setCookie(path, name, value string, life time.Duration) {
	http.SetCookie(rq.w, &http.Cookie{
		Name: name, Value: value, Path: path, MaxAge: int(life / time.Second),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: httpkit.Encrypted(rq.r, rq.TrustProxy),
	})
}

// localPath returns a path of this site, or "": nobody is led elsewhere after
// they have signed in.
func localPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return ""
	}
	if u, err := url.Parse(next); err != nil || u.Host != "" || u.Scheme != "" {
		return ""
	}
	return next
}

func (rq *request) signOut() error {
	if err := rq.App.Accounts.SignOut(rq.ctx(), rq.p); err != nil && crowd.CodeOf(err) != crowd.NotFound {
		return err
	}
	rq.setCookie("/", httpkit.SessionCookie, "", -time.Second)
	return rq.seeOther("/signin", "signedout")
}

func (rq *request) setupPage() error {
	token := rq.r.FormValue("token") // of the link, or of the form
	name, err := rq.App.Accounts.SetupUser(rq.ctx(), token)
	if err != nil {
		return err
	}
	rq.w.Header().Set("Referrer-Policy", "no-referrer") // the address is a secret
	return rq.render("setup", page{Title: "Choose a password", Data: map[string]any{"Token": token, "Name": name, "Least": auth.MinPassword}})
}

func (rq *request) setup() error {
	password, err := newPassword(rq.r)
	if err != nil {
		return err
	}
	secret, err := rq.App.Accounts.Setup(rq.ctx(), rq.r.PostForm.Get("token"), password)
	return rq.entered(secret, "", err)
}

// newPassword reads a password that is typed twice.
func newPassword(r *http.Request) (string, error) {
	password := r.PostForm.Get("password")
	if password != r.PostForm.Get("again") {
		return "", crowd.Fieldf("again", "is not the same as the password")
	}
	return password, nil
}
