package api

import (
	"context"
	"net/http"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

func toTenant(t store.Tenant) wire.Tenant {
	return wire.Tenant{ID: t.ID, Name: t.Name, Weight: t.Weight, Stopped: t.Stopped, CreatedAt: t.CreatedAt, MaxPriority: t.MaxPriority}
}

func toEntry(e store.Entry) wire.Entry {
	return wire.Entry{ID: e.ID, At: e.At, Kind: string(e.Kind), From: e.From.String(), To: e.To.String(), AmountMicros: e.Amount, Note: e.Note, Author: e.Author}
}

// toQuotas makes the quotas of a tenant what the answer has.
func toQuotas(id crowd.TenantID) func([]limits.QuotaView, error) (wire.Quotas, error) {
	return as(func(list []limits.QuotaView) wire.Quotas {
		return wire.Quotas{Tenant: id, Quotas: lists.Map(list, func(v limits.QuotaView) wire.Quota {
			return wire.Quota{Quota: string(v.Quota), Kind: string(v.Kind), Unit: string(v.Unit), Value: v.Value, Used: v.Used, Default: v.Default, Set: v.Set, Bounds: v.Bounds}
		})}
	})
}

// tenants registers tenants. It is long as it goes through the operations one by one.
func (a *api) tenants() {
	const tag = "Tenants and money"
	add(a, op{method: http.MethodGet, path: "/v1/tenants", summary: "List the tenants that you may see", tag: tag, access: signedIn},
		own(a.app.Tenants.List, all(toTenant)))
	add(a, op{method: http.MethodPost, path: "/v1/tenants", summary: "Add a tenant", tag: tag, access: access.TenantsCreate, status: http.StatusCreated},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.NewTenant }) (wire.Tenant, error) {
			return as(toTenant)(a.app.Tenants.Create(ctx, p, accounts.NewTenant{Name: in.Body.Name, Weight: *in.Body.Weight, Deposit: in.Body.DepositMicros, MaxPriority: in.Body.MaxPriority}))
		})
	add(a, op{method: http.MethodPatch, path: "/v1/tenants/{id}", summary: "Change a tenant, or stop everything of it", tag: tag, access: access.TenantsUpdate},
		func(ctx context.Context, p *access.Principal, in *struct {
			TenantPath
			Body wire.TenantEdit
		}) (wire.Tenant, error) {
			return as(toTenant)(a.app.Tenants.Update(ctx, p, in.id, accounts.TenantEdit(in.Body)))
		})
	addAction(a, op{method: http.MethodPost, path: "/v1/tenants/{id}/deposits", summary: "Put money into a tenant's account, or take it out", tag: tag, access: access.TenantsDeposit, single: true},
		func(ctx context.Context, p *access.Principal, in *struct {
			TenantPath
			Body wire.Deposit
		}) error {
			return a.app.Tenants.Deposit(ctx, p, in.id, in.Body.AmountMicros, in.Body.Note)
		})
	add(a, op{method: http.MethodGet, path: "/v1/tenants/{id}/account", summary: "Show a tenant's balance and latest ledger entries", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *struct {
			TenantPath
			Latest
		}) (wire.Account, error) {
			balance, entries, err := a.app.Tenants.Account(ctx, p, in.id, in.Before, in.Limit)
			return wire.Account{BalanceMicros: balance, Entries: lists.Map(entries, toEntry)}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/tenants/{id}/quotas", summary: "Show a tenant's quotas, and what it has of each", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *TenantPath) (wire.Quotas, error) {
			return toQuotas(in.id)(a.app.Tenants.Quotas(ctx, p, in.id))
		})
	add(a, op{method: http.MethodPut, path: "/v1/tenants/{id}/quotas", summary: "Set quotas of a tenant", tag: tag, access: access.TenantsSetQuotas,
		text: "For administrators. What the tenant has already stays, also if it is more than it may have from now on."},
		func(ctx context.Context, p *access.Principal, in *struct {
			TenantPath
			Body wire.SetQuotas
		}) (wire.Quotas, error) {
			values := make(map[store.Quota]*int64, len(in.Body.Values))
			for name, value := range in.Body.Values {
				values[store.Quota(name)] = value
			}
			return toQuotas(in.id)(a.app.Tenants.SetQuotas(ctx, p, in.id, func([]limits.QuotaView) (map[store.Quota]*int64, error) { return values, nil }))
		})
	type blockPath struct {
		TenantPath
		Worker string `path:"worker" example:"w_qk3ybd5nn2l7xw6dlbrnqhzcaq" doc:"the tenant's pseudonym of the worker, or, if you may see who workers are, their id"`
	}
	add(a, op{method: http.MethodGet, path: "/v1/tenants/{id}/workers/{worker}", summary: "Say who a worker of a tenant is", tag: tag, access: signedIn,
		text: "For who holds the permission people.names. By an id it answers who holds it for the installation."},
		func(ctx context.Context, p *access.Principal, in *blockPath) (wire.KnownWorker, error) {
			w, err := a.app.Accounts.Worker(ctx, p, in.id, in.Worker)
			return wire.KnownWorker{Worker: w.Pseudonym, WorkerID: w.ID, Name: w.Name}, err
		})
	blocks := []struct {
		method, summary string
		blocked         bool
	}{
		{http.MethodPut, "Block a worker: they get nothing of this tenant", true},
		{http.MethodDelete, "Unblock a worker", false},
	}
	for _, b := range blocks {
		addAction(a, op{method: b.method, path: "/v1/tenants/{id}/blocks/{worker}", summary: b.summary, tag: tag, access: signedIn},
			func(ctx context.Context, p *access.Principal, in *blockPath) error {
				return a.app.Accounts.BlockWorker(ctx, p, in.id, in.Worker, b.blocked)
			})
	}
}
