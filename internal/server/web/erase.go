package web

import (
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/httpkit"
)

// textsOnPage bounds the texts that the page shows; the command lists more.
const textsOnPage = 200

// erasePage says what becomes of somebody who is erased, themself or another, and asks.
func (rq *request) erasePage(id crowd.WorkerID) error {
	found := askOf(rq, id, rq.App.Accounts.BeforeErasure)
	if rq.err != nil {
		return rq.err
	}
	return rq.render("erase", page{Title: "Erase " + found.User.Name, Section: rq.eraseSection(id), Data: map[string]any{
		"F": found, "Self": id == rq.p.User.ID, "Texts": found.Texts[:min(len(found.Texts), textsOnPage)], "Back": rq.eraseBack(id),
	}})
}

func (rq *request) eraseBack(id crowd.WorkerID) string {
	if id == rq.p.User.ID {
		return "/account"
	}
	return "/admin/people/" + id.String()
}

func (rq *request) eraseSection(id crowd.WorkerID) string {
	if id == rq.p.User.ID {
		return "account"
	}
	return "admin"
}

func (rq *request) erase(id crowd.WorkerID) error {
	f := rq.sent()
	err := rq.App.Accounts.Erase(rq.ctx(), rq.p, id, accounts.ErasureOrder{
		Confirm: f.text("confirm"), FreeText: accounts.FreeTextChoice(f.text("free_text")), But: f.values["but"], Settled: f.text("settled") != "",
	})
	if err != nil || id != rq.p.User.ID {
		return rq.done(err, "/admin/people", "erased")
	}
	rq.setCookie("/", httpkit.SessionCookie, "", -time.Second)
	return rq.seeOther("/signin", "erased")
}
