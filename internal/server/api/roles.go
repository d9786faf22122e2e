package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

func toRole(r store.Role) wire.Role {
	return wire.Role{Name: r.Name, Tenant: r.Tenant, Text: r.Text, Permissions: r.Permissions, CreatedAt: r.CreatedAt}
}

// toHeld reads roles as they are held.
func toHeld(field string, texts []string) (list []store.HeldRole, err error) {
	for _, text := range texts {
		h, err := store.ParseHeldRole(field, text)
		if err != nil {
			return nil, err
		}
		list = append(list, h)
	}
	return list, nil
}

// RolePath is the role of an operation.
type RolePath struct {
	Role string `path:"role" example:"checker"`
	OfTenant
}

// Resolve implements huma.Resolver: of OfTenant, also next to the path of a person. A role may be
// named with its tenant, as it is given and shown (n1%2Fviewer).
func (x *RolePath) Resolve(c huma.Context) []error {
	if errs := x.OfTenant.Resolve(c); errs != nil || !strings.Contains(x.Role, "/") {
		return errs
	}
	h, err := store.ParseHeldRole("role", x.Role)
	if err == nil && x.tenant != 0 && x.tenant != h.Tenant {
		err = crowd.Fieldf("tenant", "is %s, and the role is of %s", x.tenant, h.Tenant)
	}
	if err != nil {
		return []error{err}
	}
	x.Role, x.tenant = h.Role, h.Tenant
	return nil
}

func (x *RolePath) held() store.HeldRole { return store.HeldRole{Role: x.Role, Tenant: x.tenant} }

func (a *api) roles() {
	const tag = "People"
	add(a, op{method: http.MethodGet, path: "/v1/roles", summary: "List the roles, with what each permits", tag: tag, access: access.AccountsRoles,
		text: "The built-in ones, those that were made for the installation, and those of tenants whose people you see."},
		func(ctx context.Context, p *access.Principal, _ *struct{}) ([]wire.Role, error) {
			list := lists.Map(access.BuiltIns(), func(b access.BuiltIn) wire.Role {
				return wire.Role{Name: string(b.Role), Text: b.Text, Permissions: b.Names(), BuiltIn: true}
			})
			made, err := a.app.Accounts.Roles(ctx, p)
			for _, v := range made {
				r := toRole(v.Role)
				r.Holders = v.Holders
				list = append(list, r)
			}
			return list, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/roles", summary: "Make a role", tag: tag, access: access.AccountsCreateRole, status: http.StatusCreated,
		text: "Out of permissions that you hold yourself. A role of the installation can be held for it or for any tenant, one of a tenant for that tenant."},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.NewRole }) (wire.Role, error) {
			b := &in.Body
			return as(toRole)(a.app.Accounts.CreateRole(ctx, p, store.Role{Name: b.Name, Tenant: b.Tenant, Text: b.Text, Permissions: b.Permissions}))
		})
	add(a, op{method: http.MethodPatch, path: "/v1/roles/{role}", summary: "Change a role", tag: tag, access: access.AccountsChangeRole,
		text: "Who holds it may do what it says from now on. The tenant says whose role it is; without it, the installation's."},
		func(ctx context.Context, p *access.Principal, in *struct {
			RolePath
			Body wire.RoleEdit
		}) (wire.Role, error) {
			return as(toRole)(a.app.Accounts.ChangeRole(ctx, p, in.held(), accounts.RoleEdit(in.Body).Apply))
		})
	add(a, op{method: http.MethodDelete, path: "/v1/roles/{role}", summary: "Remove a role", tag: tag, access: access.AccountsRemoveRole,
		text: "Who holds it loses it at once, and the answer says who that was. The tenant says whose role it is; without it, the installation's."},
		func(ctx context.Context, p *access.Principal, in *RolePath) (wire.RemovedRole, error) {
			return as(func(list []crowd.WorkerID) wire.RemovedRole { return wire.RemovedRole{Holders: some(list)} })(a.app.Accounts.RemoveRole(ctx, p, in.held()))
		})
	add(a, op{method: http.MethodPost, path: "/v1/users/{id}/roles", summary: "Give somebody a role", tag: tag, access: access.AccountsGiveRole,
		text: "You hold all that it permits yourself. That of a worker comes with a pool."},
		func(ctx context.Context, p *access.Principal, in *struct {
			UserPath
			Body wire.GivenRole
		}) (out wire.User, err error) {
			h, err := store.ParseHeldRole("role", in.Body.Role)
			if err != nil {
				return out, err
			}
			return named(ctx, a, toUser)(a.app.Accounts.GiveRole(ctx, p, in.id, h))
		})
	add(a, op{method: http.MethodDelete, path: "/v1/users/{id}/roles/{role}", summary: "Take a role away from somebody", tag: tag, access: access.AccountsTakeRole,
		text: "The tenant says for which they hold it; without it, for the installation. You hold all that it permits yourself."},
		func(ctx context.Context, p *access.Principal, in *struct {
			UserPath
			RolePath
		}) (wire.User, error) {
			return named(ctx, a, toUser)(a.app.Accounts.TakeRole(ctx, p, in.UserPath.id, in.held()))
		})
}
