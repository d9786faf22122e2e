package web

import (
	"time"

	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/httpkit"
)

// account is the page of one's own password, second factors and sessions.
func (rq *request) account() error {
	list, held := ask(rq, rq.App.Accounts.Sessions), askOf(rq, rq.p.User.ID, rq.App.Accounts.Factors)
	var works string
	if err := rq.App.Accounts.PasskeysWork(rq.origin()); err != nil {
		works = err.Error()
	}
	ticket, asked, err := rq.App.Accounts.AskForProof(rq.ctx(), rq.p, rq.origin())
	rq.check(err)
	address := askOf(rq, rq.p.User.ID, rq.App.Accounts.Address)
	return rq.render("account", page{Title: "Your account", Section: "account", Script: passkeyScript,
		Data: map[string]any{"Sessions": list, "Current": rq.p.Token.ID, "ID": rq.p.User.ID, "Name": rq.p.User.Name, "Least": auth.MinPassword,
			"Factors": held, "MustEnrol": rq.p.MustEnrol, "HasPassword": rq.p.User.PasswordHash != "",
			"NoPasskeys": works, "Ticket": ticket, "Asked": asked, "Address": address}})
}

func (rq *request) changePassword() error {
	password, err := newPassword(rq.r)
	if err != nil {
		return err
	}
	if err := rq.App.Accounts.ChangePassword(rq.ctx(), rq.p, accounts.Proof{Password: rq.r.PostForm.Get("old"), Device: rq.cookie(httpkit.DeviceCookie)}, password); err != nil {
		return err
	}
	return rq.done(rq.remember(rq.p), "/account", "password")
}

func (rq *request) endSession(id int64) error {
	return rq.done(rq.App.Accounts.EndSession(rq.ctx(), rq.p, id), "/account", "sessionend")
}

func (rq *request) signOutEverywhere() error {
	if err := rq.App.Accounts.EndSessions(rq.ctx(), rq.p); err != nil {
		return err
	}
	rq.setCookie("/", httpkit.SessionCookie, "", -time.Second)
	return rq.seeOther("/signin", "signedout")
}
