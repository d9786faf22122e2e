package web

import (
	"strings"

	"github.com/throng-dev/throng/crowd"
)

// changeAddress asks at an address whether it is one's own.
func (rq *request) changeAddress() error {
	values := rq.r.PostForm
	a, err := rq.App.Accounts.Address(rq.ctx(), rq.p, rq.p.User.ID)
	if err != nil {
		return err
	}
	notice := "asked"
	if !a.CanAsk { // they vouch for it, or are refused
		notice = "saved"
	}
	return rq.done(rq.App.Accounts.ChangeAddress(rq.ctx(), rq.p, strings.TrimSpace(values.Get("address")), rq.proof()), "/account", notice)
}

func (rq *request) askForAddress() error {
	return rq.done(rq.App.Accounts.AskForAddress(rq.ctx(), rq.p, rq.p.User.ID), "/account", "asked")
}

func (rq *request) askPersonForAddress(id crowd.WorkerID) error {
	return rq.done(rq.App.Accounts.AskForAddress(rq.ctx(), rq.p, id), "/admin/people/"+id.String(), "askedthem")
}

// verifyPage is where the link in a mail leads that asks for an address. It changes nothing:
// mail servers follow links, too.
func (rq *request) verifyPage() error {
	rq.w.Header().Set("Referrer-Policy", "no-referrer") // the address is a secret
	token := rq.r.FormValue("token")                    // of the link, or of the form
	address, err := rq.App.Accounts.AddressToConfirm(rq.ctx(), rq.p, token)
	if err != nil {
		return err
	}
	return rq.render("verify", page{Title: "Is this address yours?", Section: "account", Data: map[string]any{"Token": token, "Address": address, "Name": rq.p.User.Name}})
}

func (rq *request) verify() error {
	return rq.done(rq.App.Accounts.ConfirmAddress(rq.ctx(), rq.p, rq.r.PostForm.Get("token")), "/account", "verified")
}
