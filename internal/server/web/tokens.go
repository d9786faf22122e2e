package web

import (
	"slices"
	"strings"

	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
)

func (rq *request) tokens() error {
	list := askOf(rq, 0, rq.App.Accounts.Tokens)
	return rq.render("tokens", page{Title: "Your API tokens", Section: "tokens",
		Data: map[string]any{"Tokens": list, "Roles": rq.p.Roles(), "Scopes": slices.Collect(rq.p.Permissions().All()), "Secret": madeOf[string](rq), "Origin": rq.publicURL()}})
}

// createToken makes a token and shows its secret, this once.
func (rq *request) createToken() error {
	f := rq.sent()
	n := accounts.NewToken{Name: f.text("name"), Life: f.life(), Networks: strings.Fields(f.text("networks"))}
	for _, role := range f.values["roles"] {
		n.Roles = append(n.Roles, access.Role(role))
	}
	n.Scopes = f.values["scopes"]
	if err := f.err(); err != nil {
		return err
	}
	_, secret, err := rq.App.Accounts.CreateToken(rq.ctx(), rq.p, n)
	if err != nil {
		return err
	}
	rq.made = secret
	return rq.tokens()
}

func (rq *request) revokeToken(id int64) error {
	with, err := rq.App.Accounts.RevokeToken(rq.ctx(), rq.p, 0, id)
	return rq.done(err, "/tokens", revoked(with))
}

// revoked is the notice about a token that was taken away, with which so many ended.
func revoked(with int) string {
	if with > 0 {
		return "revokedwith"
	}
	return "revoked"
}
