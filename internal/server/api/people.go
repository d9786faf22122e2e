package api

import (
	"context"
	"net/http"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

func toUser(names accounts.Names, u store.User) wire.User {
	return wire.User{ID: u.ID, Name: u.Name, FullName: u.FullName, Email: u.Email, EmailVerified: u.EmailVerified, Admin: u.Admin, Tenants: some(u.Tenants),
		Roles: some(lists.Map(u.Roles, store.HeldRole.String)),
		Pool:  u.Pool, Suspended: u.Suspended, SuspendedBy: u.SuspendedBy, HasPassword: u.PasswordHash != "", Qualifications: names.Held(u), Prefers: toPrefers(u.Prefers),
		Serves: some(u.Serves), CreatedAt: u.CreatedAt}
}

// people registers people and their accounts. It is long as it goes through the operations one by one.
func (a *api) people() {
	const tag = "People"
	add(a, op{method: http.MethodGet, path: "/v1/users", summary: "List people", tag: tag, access: signedIn,
		text: "Who may see all people sees everybody, others see those who hold a role for a tenant of theirs. In order of id; go on with `after`, the last id seen."},
		func(ctx context.Context, p *access.Principal, in *struct {
			OfTenant
			After string `query:"after"`
			Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) ([]wire.User, error) {
			after, err := optional(in.After, crowd.ParseWorkerID)
			if err != nil {
				return nil, err
			}
			return eachNamed(ctx, a, toUser)(a.app.Accounts.Users(ctx, p, in.tenant, after, in.Limit))
		})
	add(a, op{method: http.MethodPost, path: "/v1/users", summary: "Add a person", tag: tag, access: access.AccountsCreateUser, secret: true, status: http.StatusCreated},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.NewUser }) (out wire.MadeUser, err error) {
			b := &in.Body
			prefers, err := preferences(b.Prefers)
			if err != nil {
				return out, err
			}
			roles, err := toHeld("roles", b.Roles)
			if err != nil {
				return out, err
			}
			u, link, err := a.app.Accounts.CreateUser(ctx, p, accounts.NewUser{Name: b.Name, FullName: b.FullName, Email: b.Email, Admin: b.Admin,
				Tenants: b.Tenants, Roles: roles, Pool: b.Pool, Qualifications: b.Qualifications, Prefers: prefers})
			out.SetupToken, out.SetupLink = link, a.setupLink(link)
			out.User, err = named(ctx, a, toUser)(u, err)
			return out, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/users/{id}", summary: "Show a person", tag: tag, access: signedIn},
		ofNamed[UserPath](a, a.app.Accounts.User, toUser))
	add(a, op{method: http.MethodPatch, path: "/v1/users/{id}", summary: "Change a person", tag: tag, access: access.AccountsChangeUser,
		text: "What is left out stays as it is. Who moves to another pool has to finish what they hold first."},
		func(ctx context.Context, p *access.Principal, in *struct {
			UserPath
			Body wire.UserEdit
		}) (wire.User, error) {
			b := &in.Body
			return named(ctx, a, toUser)(a.app.Accounts.ChangeUser(ctx, p, in.id, func(u *store.User) (err error) {
				input.Set(&u.FullName, b.FullName)
				if b.Email != nil {
					accounts.SetEmail(p, u, *b.Email)
				}
				if b.EmailVerified != nil {
					accounts.SetVerified(u, *b.EmailVerified)
				}
				input.Set(&u.Admin, b.Admin)
				input.Set(&u.Tenants, b.Tenants)
				if b.Roles != nil {
					if u.Roles, err = toHeld("roles", *b.Roles); err != nil {
						return err
					}
				}
				input.Set(&u.Suspended, b.Suspended)
				input.Set(&u.Serves, b.Serves)
				if b.Qualifications != nil {
					u.Qualifications, u.Granted = *b.Qualifications, nil
				}
				if b.Pool != nil {
					u.Pool, err = optional(*b.Pool, crowd.ParsePoolID)
				}
				return err
			}))
		})
	add(a, op{method: http.MethodPost, path: "/v1/users/{id}/setup-link", summary: "Give a person a new one-time link", tag: tag, access: signedIn, secret: true},
		of[UserPath](a.app.Accounts.NewSetupLink, func(secret string) wire.SetupLink {
			return wire.SetupLink{Token: secret, Link: a.setupLink(secret)}
		}))
}

func (a *api) setupLink(secret string) string { return a.link("/setup?token=", secret) }

// link is where a secret is good for something, or "" if there is none or people's way to
// the server is not known.
func (a *api) link(page, secret string) string {
	if secret == "" || a.app.PublicURL == "" {
		return ""
	}
	return a.app.PublicURL + page + secret
}
