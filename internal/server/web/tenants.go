package web

import (
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/store"
)

// entriesShown is the number of ledger entries on a page.
const entriesShown = 50

// quotasShown is the number of quotas on a tenant's page: the fullest.
const quotasShown = 4

// tenant shows a tenant's account.
func (rq *request) tenant(id crowd.TenantID) error {
	t := rq.findTenant(id)
	balance, entries, err := rq.App.Tenants.Account(rq.ctx(), rq.p, id, 0, entriesShown)
	rq.check(err)
	var used []limits.QuotaView
	if rq.p.MayFor(access.TenantsQuotas, id) == nil {
		used = slices.DeleteFunc(askOf(rq, id, rq.App.Tenants.Quotas), func(v limits.QuotaView) bool { return v.Used == 0 })
	}
	slices.SortStableFunc(used, func(x, y limits.QuotaView) int { return compareShares(&y, &x) })
	var services []serviceRow
	if allowed(access.ServicesList, rq.p) {
		services = rq.servicesOf(id)
	}
	return rq.render("tenant", page{Title: t.Name, Section: "batches", Data: map[string]any{
		"T": t, "Balance": balance, "Entries": entries, "Services": services, "Quotas": used[:min(len(used), quotasShown)],
	}})
}

func (rq *request) findTenant(id crowd.TenantID) store.Tenant {
	for _, t := range ask(rq, rq.App.Tenants.List) {
		if t.ID == id {
			return t
		}
	}
	rq.check(crowd.Errorf(crowd.NotFound, "there is no such tenant"))
	return store.Tenant{}
}

// blockWorker says that a tenant does not want a worker, or no longer minds.
func (rq *request) blockWorker(id crowd.TenantID) error {
	values := rq.r.PostForm
	blocked := values.Get("blocked") != ""
	if err := rq.App.Accounts.BlockWorker(rq.ctx(), rq.p, id, values.Get("worker"), blocked); err != nil {
		return err
	}
	did := "unblocked"
	if blocked {
		did = "blocked"
	}
	if back, err := crowd.ParseBatchID(values.Get("batch")); err == nil {
		return rq.seeOther("/batches/"+back.String()+"/quality", did)
	}
	return rq.seeOther("/tenants/"+id.String(), did)
}
