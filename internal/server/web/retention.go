package web

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/retention"
	"github.com/throng-dev/throng/internal/store"
)

// keptField is how long something is kept, to be set.
type keptField struct {
	retention.Rule
	Value string // days; "": as the operator says
}

// retention shows for how long a tenant keeps what, and what is deleted when: as it is, or,
// with the fields in the query, as it would be.
func (rq *request) retention(id crowd.TenantID) error {
	t, rules, query := rq.findTenant(id), askOf(rq, id, rq.App.Retention.Get), rq.r.URL.Query()
	var changes map[store.Retained]*int
	var wrong error
	if query.Has("preview") {
		changes, wrong = daysOf(rules, query)
	}
	var preview *retention.Preview
	if wrong == nil && rq.err == nil {
		preview, wrong = rq.App.Retention.Preview(rq.ctx(), rq.p, id, changes)
	}
	if crowd.CodeOf(wrong) != crowd.Invalid {
		rq.check(wrong)
	}
	fields := make([]keptField, len(rules))
	for i, r := range rules {
		fields[i].Rule = r
		if r.Set {
			fields[i].Value = strconv.Itoa(r.Keeps)
		}
		if query.Has("preview") {
			fields[i].Value = query.Get(string(r.Kind))
		}
	}
	return rq.render("retention", page{Title: "What " + t.Name + " keeps for how long", Section: "batches", Data: map[string]any{
		"T": t, "Rules": fields, "MaySet": rq.p.MayFor(access.RetentionSet, id) == nil, "P": preview, "Asked": query.Has("preview"), "Wrong": wrong,
	}})
}

// daysOf reads those days that are other than they are; an empty field is as the operator
// says.
func daysOf(rules []retention.Rule, from url.Values) (map[store.Retained]*int, error) {
	changes := make(map[store.Retained]*int)
	for _, r := range rules {
		text := strings.TrimSpace(from.Get(string(r.Kind)))
		if text == "" {
			if r.Set {
				changes[r.Kind] = nil
			}
			continue
		}
		kind, n, err := retention.ParseDays(string(r.Kind), string(r.Kind)+"="+text)
		if err != nil {
			return nil, err
		}
		if !r.Set || n != r.Keeps {
			changes[kind] = &n
		}
	}
	return changes, nil
}

// setRetention sets for how long a tenant keeps what.
func (rq *request) setRetention(id crowd.TenantID) error {
	changes, err := daysOf(askOf(rq, id, rq.App.Retention.Get), rq.sent().values)
	if err == nil && len(changes) > 0 {
		_, err = rq.App.Retention.Set(rq.ctx(), rq.p, id, changes)
	}
	return rq.done(err, "/tenants/"+id.String()+"/retention", "saved")
}
