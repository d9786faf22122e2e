package api

import (
	"context"
	"net/http"
	"time"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

func toProviderToken(t store.Token) wire.ProviderToken {
	return wire.ProviderToken{ID: t.ID, Name: t.Name, Networks: t.Networks, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, UsedAt: t.UsedAt}
}

func toProvider(v accounts.ProviderView) wire.Provider {
	return wire.Provider{Name: v.Name, Button: v.Button, People: v.People, Suspended: v.Suspended, Groups: v.ProvisionedCount.Groups,
		ChangedAt: v.ChangedAt, HeardAt: v.HeardAt, Tokens: some(lists.Map(v.Tokens, toProviderToken))}
}

// ProviderPath is the path of something of a provider.
type ProviderPath struct {
	Provider string `path:"provider" doc:"its name in the settings"`
}

func (a *api) providers() {
	const tag = "People"
	add(a, op{method: http.MethodGet, path: "/v1/providers", summary: "List the providers of accounts, with what they have provisioned", tag: tag, access: access.ProvisioningProviders},
		func(ctx context.Context, p *access.Principal, _ *struct{}) ([]wire.Provider, error) {
			return each(toProvider)(a.app.Provisioning.Providers(ctx, p))
		})
	add(a, op{method: http.MethodPost, path: "/v1/providers/{provider}/tokens", summary: "Make a token with which a provider keeps people and groups here", tag: tag,
		text:   "The provider sends it to /scim/v2. It is good for nothing else, and stays good when who made it leaves.",
		access: access.ProvisioningCreateToken, secret: true, status: http.StatusCreated},
		func(ctx context.Context, p *access.Principal, in *struct {
			ProviderPath
			Body wire.NewProviderToken
		}) (wire.MadeProviderToken, error) {
			life, err := lifeOf(in.Body.LifeSeconds, in.Body.Forever)
			if err != nil {
				return wire.MadeProviderToken{}, err
			}
			t, secret, err := a.app.Provisioning.CreateToken(ctx, p, accounts.NewProviderToken{Provider: in.Provider, Name: in.Body.Name, Life: life, Networks: in.Body.Networks})
			made := wire.MadeProviderToken{ProviderToken: toProviderToken(t), Secret: secret}
			if a.app.PublicURL != "" {
				made.URL = a.app.PublicURL + "/scim/v2"
			}
			return made, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/providers/{provider}/tokens", summary: "List the tokens of a provider", tag: tag, access: access.ProvisioningTokens},
		func(ctx context.Context, p *access.Principal, in *ProviderPath) ([]wire.ProviderToken, error) {
			return each(toProviderToken)(a.app.Provisioning.Tokens(ctx, p, in.Provider))
		})
	addAction(a, op{method: http.MethodDelete, path: "/v1/providers/{provider}/tokens/{token}", summary: "Take a token of a provider away", tag: tag, access: access.ProvisioningRevokeToken},
		func(ctx context.Context, p *access.Principal, in *struct {
			ProviderPath
			Token int64 `path:"token"`
		}) error {
			return a.app.Provisioning.RevokeToken(ctx, p, in.Provider, in.Token)
		})
}

// lifeOf returns how long a token is asked to be good.
func lifeOf(seconds int64, forever bool) (time.Duration, error) {
	if forever && seconds != 0 {
		return 0, errForeverAndLife
	}
	if forever {
		return accounts.Forever, nil
	}
	return time.Duration(seconds) * time.Second, nil
}
