package web

import (
	"net/url"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/store"
)

// tenantQuotas are quotas of a tenant.
type tenantQuotas struct {
	store.Tenant
	Quotas []limits.QuotaView
}

// allQuotas shows what each tenant has of each quota, the fullest first.
func (rq *request) allQuotas() error {
	rows := lists.Map(ask(rq, rq.App.Tenants.List), func(t store.Tenant) tenantQuotas {
		used := slices.DeleteFunc(askOf(rq, t.ID, rq.App.Tenants.Quotas), func(v limits.QuotaView) bool { return v.Used == 0 && !v.Set })
		slices.SortStableFunc(used, func(x, y limits.QuotaView) int { return compareShares(&y, &x) })
		return tenantQuotas{t, used}
	})
	slices.SortStableFunc(rows, func(x, y tenantQuotas) int { return compareShares(fullest(y.Quotas), fullest(x.Quotas)) })
	return rq.render("allquotas", page{Title: "Quotas", Section: "admin", Data: map[string]any{"Tenants": rows}})
}

func compareShares(x, y *limits.QuotaView) int {
	switch a, b := x.Share(), y.Share(); {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// fullest returns the first of quotas, or one that is empty.
func fullest(list []limits.QuotaView) *limits.QuotaView {
	if len(list) == 0 {
		return &limits.QuotaView{}
	}
	return &list[0]
}

// quotas shows a tenant's quotas, and to whom may set them the form.
func (rq *request) quotas(id crowd.TenantID) error {
	t := rq.findTenant(id)
	list := askOf(rq, id, rq.App.Tenants.Quotas)
	return rq.render("quotas", page{Title: "Quotas of " + t.Name, Section: "batches", Data: map[string]any{"T": t, "Quotas": list, "Filled": quotasSet(list)}})
}

// quotasSet is what the form of quotas is filled with.
func quotasSet(list []limits.QuotaView) url.Values {
	values := make(url.Values)
	for _, v := range list {
		if v.Set {
			values.Set(string(v.Quota), v.Unit.Text(v.Value))
		}
	}
	return values
}

// setQuotas sets those that the form has other than they are; an empty field is the default.
// It is refused if others were set since the form was filled.
func (rq *request) setQuotas(id crowd.TenantID) error {
	f := rq.sent()
	_, err := rq.App.Tenants.SetQuotas(rq.ctx(), rq.p, id, func(now []limits.QuotaView) (map[store.Quota]*int64, error) {
		if err := f.current(quotasSet(now)); err != nil {
			return nil, err
		}
		return f.quotas(now), f.err()
	})
	return rq.done(err, "/tenants/"+id.String()+"/quotas", "saved")
}

// quotas reads those that are other than they are.
func (f *fields) quotas(now []limits.QuotaView) map[store.Quota]*int64 {
	values := make(map[store.Quota]*int64)
	for _, v := range now {
		name := string(v.Quota)
		switch text := f.text(name); {
		case text == "" && v.Set:
			values[v.Quota] = nil
		case text == "":
		default:
			n, err := v.Parse(text)
			if err != nil {
				f.bad(name, "%s", problems(err)[0].Message)
			} else if n != v.Value {
				values[v.Quota] = &n
			}
		}
	}
	return values
}
