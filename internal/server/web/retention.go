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
		"T": t, "Rules": fields, "MaySet": rq.p.MayFor(access.RetentionSet, id) == nil, "P": preview, "Asked": query.Has("preview"), "Asks": query.Get("preview") == "sure" && preview != nil && preview.GoesNow(), "Wrong": wrong,
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

// setRetention sets for how long a tenant keeps what. If something goes at once by that, it
// is shown and asked about first.
func (rq *request) setRetention(id crowd.TenantID) error {
	rules, sent, path := askOf(rq, id, rq.App.Retention.Get), rq.sent().values, "/tenants/"+id.String()+"/retention"
	changes, err := daysOf(rules, sent)
	if err != nil || len(changes) == 0 {
		return rq.done(err, path, "saved")
	}
	if sent.Get("sure") == "" {
		preview, err := rq.App.Retention.Preview(rq.ctx(), rq.p, id, changes)
		if err == nil && preview.GoesNow() {
			ask := url.Values{"preview": {"sure"}}
			for _, r := range rules {
				ask.Set(string(r.Kind), sent.Get(string(r.Kind)))
			}
			return rq.seeOther(path+"?"+ask.Encode(), "")
		}
	}
	_, err = rq.App.Retention.Set(rq.ctx(), rq.p, id, changes)
	return rq.done(err, path, "saved")
}
