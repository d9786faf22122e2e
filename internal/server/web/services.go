package web

import (
	"cmp"
	"maps"
	"net/url"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/runs"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// serviceRow is a service with its form.
type serviceRow struct {
	runs.ServiceView
	Filled url.Values
	Lines  []tenantLine
}

// tenantLine are the calls of a tenant at a service.
type tenantLine struct {
	Tenant crowd.TenantID
	orchestrator.InLine
}

func rowOf(v runs.ServiceView) serviceRow {
	row := serviceRow{ServiceView: v, Filled: filled(v.Service, bindService)}
	for _, t := range slices.Sorted(maps.Keys(v.ServiceLoad.Tenants)) {
		row.Lines = append(row.Lines, tenantLine{t, v.ServiceLoad.Tenants[t]})
	}
	return row
}

// services shows the services that are declared, to be changed.
func (rq *request) services() error {
	list, tenants := ask(rq, rq.App.Services.List), ask(rq, rq.App.Tenants.List)
	rows := make([]serviceRow, len(list))
	for i, v := range list {
		rows[i] = rowOf(v)
	}
	return rq.render("services", page{Title: "Services", Section: "admin", Data: map[string]any{
		"Services": rows, "Tenants": tenants, "TenantNames": tenantNames(tenants), "Most": workflow.MaxConcurrency,
	}})
}

// bindService goes over the form of a service.
func bindService(b binding, x *store.Service) {
	b.words("url", &x.URL)
	b.integer("concurrency", &x.Concurrency)
	bound(b, "rate", &x.Rate, b.rate, crowd.Rate.String)
	b.tick("all_tenants", &x.AllTenants)
	several(b, "tenants", &x.Tenants, crowd.ParseTenantID, crowd.TenantID.String)
}

// rate reads how much may be begun in a time.
func (f *fields) rate(name string) crowd.Rate {
	return parsed(f, name, crowd.ParseRate, func(text string) string {
		_, err := crowd.ParseRate(text)
		return problems(err)[0].Message
	})
}

func (rq *request) declareService() error {
	f := rq.sent()
	var x store.Service
	bindService(binding{fields: f}, &x)
	err := f.err()
	if err == nil {
		rate := x.Rate.String()
		_, err = rq.App.Services.Declare(rq.ctx(), rq.p, f.text("name"), runs.ServiceEdit{URL: &x.URL, Concurrency: &x.Concurrency, Rate: &rate, AllTenants: &x.AllTenants, Tenants: &x.Tenants})
	}
	return rq.done(err, "/admin/services", "saved")
}

func (rq *request) editService() error {
	_, err := rq.App.Services.Change(rq.ctx(), rq.p, rq.r.PathValue("service"), saving(rq.sent(), bindService))
	return rq.done(err, "/admin/services", "saved")
}

// confirmService asks before a service is removed.
func (rq *request) confirmService() error {
	v := askOf(rq, rq.r.PathValue("service"), rq.App.Services.Get)
	return rq.render("ask", page{Title: "Remove a service", Section: "admin", Data: map[string]any{
		"Question": "Remove this service?", "About": v.Name, "Verb": "Remove it", "Danger": true, "To": "/admin/services/" + v.Name + "/remove", "Back": "/admin/services",
		"Consequence": "Calls that are under way go on. What waits for it waits until a service of that name is declared again, and workflows that name it are refused.",
	}})
}

func (rq *request) removeService() error {
	return rq.done(rq.App.Services.Remove(rq.ctx(), rq.p, rq.r.PathValue("service")), "/admin/services", "removed")
}

// servicesOf are the services that a tenant may use, with its own calls, in order of name.
func (rq *request) servicesOf(id crowd.TenantID) (rows []serviceRow) {
	for _, v := range ask(rq, rq.App.Services.List) {
		if v.Allows(id) {
			own := v.ServiceLoad.Tenants[id]
			v.ServiceLoad.Tenants = map[crowd.TenantID]orchestrator.InLine{id: own}
			rows = append(rows, rowOf(v))
		}
	}
	slices.SortFunc(rows, func(x, y serviceRow) int { return cmp.Compare(x.Name, y.Name) })
	return rows
}
