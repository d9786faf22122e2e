package api

import (
	"context"
	"net/http"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/store"
)

type secretOut struct {
	Body struct {
		Token string `json:"token" doc:"send it as Authorization: Bearer; it is shown this once"`
	}
}

func secret(s string) *secretOut {
	out := &secretOut{}
	out.Body.Token = s
	return out
}

type me struct {
	ID      crowd.WorkerID   `json:"id"`
	Name    string           `json:"name"`
	Roles   []app.Role       `json:"roles"`
	Tenants []crowd.TenantID `json:"tenants" doc:"requester of these"`
	Pool    *crowd.PoolID    `json:"pool,omitempty" doc:"worker of this"`
}

type TokenOut struct {
	ID        int64           `json:"id"`
	Name      string          `json:"name"`
	Tenant    *crowd.TenantID `json:"tenant,omitempty"`
	Roles     []string        `json:"roles,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
	ExpiresAt *time.Time      `json:"expires_at,omitempty"`
}

func toTokenOut(t store.Token) TokenOut {
	return TokenOut{ID: t.ID, Name: t.Name, Tenant: ptr(t.Tenant), Roles: t.Roles, CreatedAt: t.CreatedAt, ExpiresAt: ptr(t.ExpiresAt)}
}

// ptr returns nil for the zero value, so that JSON leaves it out.
func ptr[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func (a *api) session() {
	const tag = "Signing in"
	add(a, op{method: http.MethodPost, path: "/v1/session", summary: "Sign in with a name and a password", tag: tag},
		func(ctx context.Context, _ *app.Principal, in *struct {
			Body struct {
				Name     string `json:"name"`
				Password string `json:"password"`
			}
		}) (*secretOut, error) {
			s, err := a.app.Accounts.SignIn(ctx, in.Body.Name, in.Body.Password)
			return secret(s), err
		})
	add(a, op{method: http.MethodDelete, path: "/v1/session", summary: "Sign out: the token sent is good no longer", tag: tag, access: signedIn, status: http.StatusNoContent},
		func(ctx context.Context, p *app.Principal, _ *struct{}) (*nothing, error) {
			return nil, a.app.Accounts.SignOut(ctx, p)
		})
	add(a, op{method: http.MethodPost, path: "/v1/setup", summary: "Use a one-time link: set a password and sign in", tag: tag},
		func(ctx context.Context, _ *app.Principal, in *struct {
			Body struct {
				Token    string `json:"token" doc:"from the link: …/setup?token=THIS"`
				Password string `json:"password"`
			}
		}) (*secretOut, error) {
			s, err := a.app.Accounts.Setup(ctx, in.Body.Token, in.Body.Password)
			return secret(s), err
		})
	add(a, op{method: http.MethodGet, path: "/v1/me", summary: "Who am I, and what may I do?", tag: tag, access: signedIn},
		func(_ context.Context, p *app.Principal, _ *struct{}) (*struct{ Body me }, error) {
			out := me{ID: p.User.ID, Name: p.User.Name, Tenants: append([]crowd.TenantID{}, p.Tenants()...), Pool: ptr(p.User.Pool), Roles: []app.Role{}}
			for _, r := range app.Roles() {
				if p.Is(r) {
					out.Roles = append(out.Roles, r)
				}
			}
			return &struct{ Body me }{out}, nil
		})
	add(a, op{method: http.MethodGet, path: "/v1/tokens", summary: "List your tokens", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, _ *struct{}) (*struct{ Body []TokenOut }, error) {
			list, err := a.app.Accounts.Tokens(ctx, p)
			return &struct{ Body []TokenOut }{mapped(list, toTokenOut)}, err
		})
	type newTokenOut struct {
		Body struct {
			TokenOut
			Token string `json:"token" doc:"the secret, shown this once"`
		}
	}
	add(a, op{method: http.MethodPost, path: "/v1/tokens", summary: "Make a token for a program", tag: tag, access: signedIn, status: http.StatusCreated},
		func(ctx context.Context, p *app.Principal, in *struct {
			Body struct {
				Name        string         `json:"name"`
				Tenant      crowd.TenantID `json:"tenant,omitempty" doc:"limits it to one tenant"`
				Roles       []app.Role     `json:"roles,omitempty" doc:"limits it to some roles"`
				LifeSeconds int64          `json:"life_seconds,omitempty" minimum:"0" maximum:"3153600000" doc:"0: for ever"`
				For         crowd.WorkerID `json:"for,omitempty" doc:"admins may make tokens for others"`
			}
		}) (*newTokenOut, error) {
			t, s, err := a.app.Accounts.CreateToken(ctx, p, app.NewToken{Name: in.Body.Name, Tenant: in.Body.Tenant, Roles: in.Body.Roles,
				Life: time.Duration(in.Body.LifeSeconds) * time.Second, For: in.Body.For})
			out := &newTokenOut{}
			out.Body.TokenOut, out.Body.Token = toTokenOut(t), s
			return out, err
		})
	add(a, op{method: http.MethodDelete, path: "/v1/tokens/{id}", summary: "Take a token of yours away", tag: tag, access: signedIn, status: http.StatusNoContent},
		func(ctx context.Context, p *app.Principal, in *struct {
			ID int64 `path:"id"`
		}) (*nothing, error) {
			return nil, a.app.Accounts.RevokeToken(ctx, p, in.ID)
		})
}

func mapped[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}
