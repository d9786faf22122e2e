package api

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/runs"
	"github.com/throng-dev/throng/internal/wire"
)

func toService(v runs.ServiceView) wire.Service {
	x := wire.Service{
		Name: v.Name, URL: v.URL, Concurrency: v.Concurrency, Rate: v.Rate.String(), AllTenants: v.AllTenants, Tenants: some(v.Service.Tenants), CreatedAt: v.CreatedAt,
		UnderWay: v.UnderWay, Waiting: v.Waiting, ResponseSeconds: v.Response.Seconds(), Opens: v.Opens, Warning: v.Warning, Load: []wire.ServiceShare{},
	}
	for _, t := range slices.Sorted(maps.Keys(v.ServiceLoad.Tenants)) {
		n := v.ServiceLoad.Tenants[t]
		x.Load = append(x.Load, wire.ServiceShare{Tenant: t, UnderWay: n.UnderWay, Waiting: n.Waiting})
	}
	return x
}

// ServicePath is the service of an operation.
type ServicePath struct {
	Name string `path:"name" example:"scores"`
}

func (a *api) services() {
	const tag = "Services"
	add(a, op{method: http.MethodGet, path: "/v1/services", summary: "List the services that workflows call by name", tag: tag, access: signedIn,
		text: "For requesters and admins. A requester sees those that one of their tenants may use, with the calls of all tenants as a number."},
		own(a.app.Services.List, all(toService)))
	add(a, op{method: http.MethodPost, path: "/v1/services", summary: "Declare a service", tag: tag, access: access.ServicesDeclare, status: http.StatusCreated,
		text: "`url` and `concurrency` are needed. Its capacity is shared by the workflows of all tenants that may use it: what waits goes in the order of what a delay costs."},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.NewService }) (wire.Service, error) {
			return as(toService)(a.app.Services.Declare(ctx, p, in.Body.Name, runs.ServiceEdit(in.Body.ServiceEdit)))
		})
	add(a, op{method: http.MethodGet, path: "/v1/services/{name}", summary: "Show a service and its load", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *ServicePath) (wire.Service, error) {
			return as(toService)(a.app.Services.Get(ctx, p, in.Name))
		})
	add(a, op{method: http.MethodPatch, path: "/v1/services/{name}", summary: "Change a service", tag: tag, access: access.ServicesChange,
		text: "For calls from now on, those of runs that are under way among them; but secrets of these that are bound to no host go only where the service stood when the run began. Each tenant that may use it before or after is told in its part of the audit log. What a tenant that may use it no more has waiting stays, and goes on when it may again."},
		func(ctx context.Context, p *access.Principal, in *struct {
			ServicePath
			Body wire.ServiceEdit
		}) (wire.Service, error) {
			edit := runs.ServiceEdit(in.Body)
			return as(toService)(a.app.Services.Change(ctx, p, in.Name, edit.Apply))
		})
	addAction(a, op{method: http.MethodDelete, path: "/v1/services/{name}", summary: "Remove a service", tag: tag, access: access.ServicesRemove,
		text: "Calls under way go on. What waits for it waits until a service of that name is declared again."},
		func(ctx context.Context, p *access.Principal, in *ServicePath) error {
			return a.app.Services.Remove(ctx, p, in.Name)
		})
}
