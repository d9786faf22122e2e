package api

import (
	"context"
	"net/http"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/store"
)

type tenantOut struct {
	ID        crowd.TenantID `json:"id"`
	Name      string         `json:"name"`
	Weight    float64        `json:"weight" doc:"share against other tenants"`
	Stopped   bool           `json:"stopped" doc:"emergency stop"`
	CreatedAt time.Time      `json:"created_at"`
}

func toTenantOut(t store.Tenant) tenantOut {
	return tenantOut{ID: t.ID, Name: t.Name, Weight: t.Weight, Stopped: t.Stopped, CreatedAt: t.CreatedAt}
}

type TenantPath struct {
	ID string `path:"id" example:"n3"`
}

func (t TenantPath) tenant() (crowd.TenantID, error) { return crowd.ParseTenantID(t.ID) }

type entryOut struct {
	ID           int64       `json:"id"`
	At           time.Time   `json:"at"`
	Kind         string      `json:"kind" enum:"deposit,reserve,reward,release,waiting,waiting_share,withdrawal"`
	From         string      `json:"from" example:"n3"`
	To           string      `json:"to" example:"b17"`
	AmountMicros crowd.Money `json:"amount_micros"`
	Note         string      `json:"note,omitempty"`
}

func toEntryOut(e store.Entry) entryOut {
	return entryOut{ID: e.ID, At: e.At, Kind: string(e.Kind), From: e.From.String(), To: e.To.String(), AmountMicros: e.Amount, Note: e.Note}
}

type accountOut struct {
	Body struct {
		BalanceMicros crowd.Money `json:"balance_micros"`
		Entries       []entryOut  `json:"entries"`
	}
}

func (a *api) tenants() {
	const tag = "Tenants and money"
	add(a, op{method: http.MethodGet, path: "/v1/tenants", summary: "List the tenants that you may see", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, _ *struct{}) (*struct{ Body []tenantOut }, error) {
			list, err := a.app.Tenants.List(ctx, p)
			return &struct{ Body []tenantOut }{mapped(list, toTenantOut)}, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/tenants", summary: "Add a tenant", tag: tag, access: signedIn, status: http.StatusCreated},
		func(ctx context.Context, p *app.Principal, in *struct {
			Body struct {
				Name   string  `json:"name"`
				Weight float64 `json:"weight,omitempty" default:"1"`
			}
		}) (*struct{ Body tenantOut }, error) {
			t, err := a.app.Tenants.Create(ctx, p, in.Body.Name, in.Body.Weight)
			return &struct{ Body tenantOut }{toTenantOut(t)}, err
		})
	add(a, op{method: http.MethodPatch, path: "/v1/tenants/{id}", summary: "Change a tenant, or stop everything of it", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *struct {
			TenantPath
			Body struct {
				Name    *string  `json:"name,omitempty"`
				Weight  *float64 `json:"weight,omitempty"`
				Stopped *bool    `json:"stopped,omitempty"`
			}
		}) (*struct{ Body tenantOut }, error) {
			id, err := in.tenant()
			if err != nil {
				return nil, err
			}
			t, err := a.app.Tenants.Update(ctx, p, id, app.TenantEdit{Name: in.Body.Name, Weight: in.Body.Weight, Stopped: in.Body.Stopped})
			return &struct{ Body tenantOut }{toTenantOut(t)}, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/tenants/{id}/deposits", summary: "Put money into a tenant's account", tag: tag, access: signedIn, status: http.StatusNoContent},
		func(ctx context.Context, p *app.Principal, in *struct {
			TenantPath
			Body struct {
				AmountMicros crowd.Money `json:"amount_micros" doc:"millionths of the currency" example:"100000000"`
				Note         string      `json:"note,omitempty"`
			}
		}) (*nothing, error) {
			id, err := in.tenant()
			if err != nil {
				return nil, err
			}
			return nil, a.app.Tenants.Deposit(ctx, p, id, in.Body.AmountMicros, in.Body.Note)
		})
	add(a, op{method: http.MethodGet, path: "/v1/tenants/{id}/account", summary: "Show a tenant's balance and latest ledger entries", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *struct {
			TenantPath
			Before int64 `query:"before" doc:"go on with the last id seen"`
			Limit  int   `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) (*accountOut, error) {
			id, err := in.tenant()
			if err != nil {
				return nil, err
			}
			balance, entries, err := a.app.Tenants.Account(ctx, p, id, in.Before, in.Limit)
			out := &accountOut{}
			out.Body.BalanceMicros = balance
			out.Body.Entries = mapped(entries, toEntryOut)
			return out, err
		})
	type blockPath struct {
		TenantPath
		Worker string `path:"worker" example:"u42"`
	}
	blocks := []struct {
		method, summary string
		blocked         bool
	}{
		{http.MethodPut, "Block a worker: he gets nothing of this tenant", true},
		{http.MethodDelete, "Unblock a worker", false},
	}
	for _, b := range blocks {
		add(a, op{method: b.method, path: "/v1/tenants/{id}/blocks/{worker}", summary: b.summary, tag: tag, access: signedIn, status: http.StatusNoContent},
			func(ctx context.Context, p *app.Principal, in *blockPath) (*nothing, error) {
				id, err := in.tenant()
				if err != nil {
					return nil, err
				}
				worker, err := crowd.ParseWorkerID(in.Worker)
				if err != nil {
					return nil, err
				}
				return nil, a.app.Accounts.BlockWorker(ctx, p, id, worker, b.blocked)
			})
	}
}
