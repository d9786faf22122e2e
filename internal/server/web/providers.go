package web

import (
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/server/accounts"
)

// madeForProvider is a token that was just made, which is shown this once.
type madeForProvider struct{ Provider, Secret string }

// providers shows the providers of accounts, with what they keep here and their tokens.
func (rq *request) providers() error {
	return rq.render("providers", page{Title: "Providers", Section: "admin", Data: map[string]any{
		"Providers": ask(rq, rq.App.Provisioning.Providers), "Made": madeOf[madeForProvider](rq), "Address": rq.publicURL() + "/scim/v2",
	}})
}

// createProviderToken makes a token for a provider and shows its secret, this once.
func (rq *request) createProviderToken(provider string) error {
	f := rq.sent()
	n := accounts.NewProviderToken{Provider: provider, Name: f.text("name"), Life: f.life(), Networks: strings.Fields(f.text("networks"))}
	if err := f.err(); err != nil {
		return err
	}
	_, secret, err := rq.App.Provisioning.CreateToken(rq.ctx(), rq.p, n)
	if err != nil {
		return err
	}
	rq.made = madeForProvider{provider, secret}
	return rq.providers()
}

// life reads how long a token is to be good; 0: as long as one of which that is not said.
func (f *fields) life() time.Duration {
	life := f.scale("life", 24*time.Hour)
	if f.values.Get("forever") == "" {
		return life
	}
	if life != 0 {
		f.bad("life", "a token is good for some days or has no end, not both")
	}
	return accounts.Forever
}

func (rq *request) revokeProviderToken(id int64) error {
	return rq.done(rq.App.Provisioning.RevokeToken(rq.ctx(), rq.p, rq.r.PathValue("provider"), id), "/admin/providers", "revoked")
}
