package api

import (
	"context"
	"net/http"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/store"
)

type UserOut struct {
	ID             crowd.WorkerID   `json:"id"`
	Name           string           `json:"name"`
	FullName       string           `json:"full_name,omitempty"`
	Email          string           `json:"email,omitempty"`
	Admin          bool             `json:"admin"`
	Tenants        []crowd.TenantID `json:"tenants" doc:"requester of these"`
	Pool           *crowd.PoolID    `json:"pool,omitempty" doc:"worker of this"`
	Suspended      bool             `json:"suspended"`
	Qualifications map[string]int   `json:"qualifications,omitempty" doc:"name to score, 0 to 100"`
	CreatedAt      time.Time        `json:"created_at"`
}

func toUserOut(u store.User) UserOut {
	return UserOut{ID: u.ID, Name: u.Name, FullName: u.FullName, Email: u.Email, Admin: u.Admin, Tenants: append([]crowd.TenantID{}, u.Tenants...),
		Pool: ptr(u.Pool), Suspended: u.Suspended, Qualifications: u.Qualifications, CreatedAt: u.CreatedAt}
}

type UserPath struct {
	ID string `path:"id" example:"u42"`
}

func (u UserPath) user() (crowd.WorkerID, error) { return crowd.ParseWorkerID(u.ID) }

func (a *api) people() {
	const tag = "People"
	add(a, op{method: http.MethodGet, path: "/v1/users", summary: "List people", tag: tag, access: signedIn,
		text: "Admins see everybody; requesters see the requesters of a tenant of theirs. In order of id; go on with `after`, the last id seen."},
		func(ctx context.Context, p *app.Principal, in *struct {
			Tenant string `query:"tenant"`
			After  string `query:"after"`
			Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) (*struct{ Body []UserOut }, error) {
			tenant, err := optional(in.Tenant, crowd.ParseTenantID)
			if err != nil {
				return nil, err
			}
			after, err := optional(in.After, crowd.ParseWorkerID)
			if err != nil {
				return nil, err
			}
			list, err := a.app.Accounts.Users(ctx, p, tenant, after, in.Limit)
			return &struct{ Body []UserOut }{mapped(list, toUserOut)}, err
		})
	type createdOut struct {
		Body struct {
			UserOut
			SetupToken string `json:"setup_token" doc:"for the one-time link …/setup?token=THIS, shown this once"`
		}
	}
	add(a, op{method: http.MethodPost, path: "/v1/users", summary: "Add a person", tag: tag, access: signedIn, status: http.StatusCreated},
		func(ctx context.Context, p *app.Principal, in *struct {
			Body struct {
				Name           string           `json:"name" doc:"to sign in with"`
				FullName       string           `json:"full_name,omitempty"`
				Email          string           `json:"email,omitempty"`
				Admin          bool             `json:"admin,omitempty"`
				Tenants        []crowd.TenantID `json:"tenants,omitempty" doc:"requester of these"`
				Pool           crowd.PoolID     `json:"pool,omitempty" doc:"worker of this"`
				Qualifications map[string]int   `json:"qualifications,omitempty"`
			}
		}) (*createdOut, error) {
			b := in.Body
			u, link, err := a.app.Accounts.CreateUser(ctx, p, app.NewUser{Name: b.Name, FullName: b.FullName, Email: b.Email,
				Admin: b.Admin, Tenants: b.Tenants, Pool: b.Pool, Qualifications: b.Qualifications})
			out := &createdOut{}
			out.Body.UserOut, out.Body.SetupToken = toUserOut(u), link
			return out, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/users/{id}", summary: "Show a person", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *UserPath) (*struct{ Body UserOut }, error) {
			id, err := in.user()
			if err != nil {
				return nil, err
			}
			u, err := a.app.Accounts.User(ctx, p, id)
			return &struct{ Body UserOut }{toUserOut(u)}, err
		})
	add(a, op{method: http.MethodPatch, path: "/v1/users/{id}", summary: "Change a person", tag: tag, access: signedIn,
		text: "What is left out stays as it is. Who moves to another pool has to finish what he holds first."},
		func(ctx context.Context, p *app.Principal, in *struct {
			UserPath
			Body struct {
				FullName       *string           `json:"full_name,omitempty"`
				Email          *string           `json:"email,omitempty"`
				Admin          *bool             `json:"admin,omitempty"`
				Tenants        *[]crowd.TenantID `json:"tenants,omitempty"`
				Pool           *string           `json:"pool,omitempty" doc:"a pool's id, or empty: not a worker"`
				Suspended      *bool             `json:"suspended,omitempty"`
				Qualifications *map[string]int   `json:"qualifications,omitempty"`
			}
		}) (*struct{ Body UserOut }, error) {
			id, err := in.user()
			if err != nil {
				return nil, err
			}
			b := in.Body
			edit := app.UserEdit{FullName: b.FullName, Email: b.Email, Admin: b.Admin, Tenants: b.Tenants, Suspended: b.Suspended, Qualifications: b.Qualifications}
			if b.Pool != nil {
				pool, err := optional(*b.Pool, crowd.ParsePoolID)
				if err != nil {
					return nil, err
				}
				edit.Pool = &pool
			}
			u, err := a.app.Accounts.UpdateUser(ctx, p, id, edit)
			return &struct{ Body UserOut }{toUserOut(u)}, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/users/{id}/setup-link", summary: "Give a person a new one-time link", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *UserPath) (*secretOut, error) {
			id, err := in.user()
			if err != nil {
				return nil, err
			}
			s, err := a.app.Accounts.NewSetupLink(ctx, p, id)
			return secret(s), err
		})
}

// optional parses an id that may be left out.
func optional[T ~int64](text string, parse func(string) (T, error)) (T, error) {
	if text == "" {
		return 0, nil
	}
	return parse(text)
}
