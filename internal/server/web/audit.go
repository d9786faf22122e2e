package web

import (
	"net/url"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/audit"
	"github.com/throng-dev/throng/internal/store"
)

// auditShown is the number of entries on a page of the audit log.
const auditShown = 50

// auditKinds are the kinds of things by which entries can be chosen.
func auditKinds() []choice {
	return []choice{
		{"", "anything"}, {audit.Batch, "batches"}, {audit.Run, "workflows"}, {audit.User, "people"}, {audit.Worker, "blocks and moves of people"}, {audit.Tenant, "tenants"},
		{audit.Pool, "pools"}, {audit.Invitation, "invitations"}, {audit.Test, "tests"}, {audit.Secret, "secrets"}, {audit.Service, "services"}, {audit.Token, "tokens"},
		{audit.Session, "sessions"}, {audit.Log, "the audit log"},
	}
}

// auditLog shows all of the audit log, and verifies it if that is asked for.
func (rq *request) auditLog() error {
	data := map[string]any{"Whole": true, "Path": "/admin/audit", "MayCheck": allowed(access.AuditCheck, rq.p)}
	if rq.r.URL.Query().Get("check") != "" {
		head, err := rq.App.Audit.Check(rq.ctx(), rq.p)
		if crowd.CodeOf(err) == crowd.Conflict {
			data["Broken"] = sentence(err.Error())
		} else {
			rq.check(err)
			data["Head"] = &head
		}
	}
	return rq.auditPage(0, data, page{Title: "Audit log", Section: "admin"})
}

// auditOfTenant shows what was changed of a tenant.
func (rq *request) auditOfTenant(id crowd.TenantID) error {
	t := rq.findTenant(id)
	return rq.auditPage(id, map[string]any{"T": t, "Path": "/tenants/" + id.String() + "/audit"}, page{Title: "Changes of " + t.Name, Section: "batches"})
}

func (rq *request) auditPage(tenant crowd.TenantID, data map[string]any, pg page) error {
	asked := rq.r.URL.Query()
	in := &fields{values: asked}
	f := audit.Filter{By: in.text("actor"), AuditFilter: store.AuditFilter{
		Tenant: tenant, Operation: in.text("operation"), Kind: in.text("kind"), Object: in.text("object"), Address: in.text("address"),
		Since: in.time("since"), Until: in.time("until"), Before: idIn(rq, "before", auditNumber), Limit: auditShown,
	}}
	rq.check(in.err())
	if rq.err != nil {
		return rq.err
	}
	list, err := rq.App.Audit.List(rq.ctx(), rq.p, f)
	rq.check(err)
	kept := url.Values{} // what is asked for, for links
	for _, name := range []string{"actor", "operation", "kind", "object", "address", "since", "until"} {
		if text := in.text(name); text != "" {
			kept.Set(name, text)
		}
	}
	data["Entries"], data["Kinds"], data["Asked"], data["First"] = list, auditKinds(), func(name string) string { return in.text(name) }, f.Before == 0
	data["Filtered"], data["Newest"] = len(kept) > 0, query(kept)
	export := url.Values{}
	for name, list := range kept {
		export[name] = list
	}
	for name, t := range map[string]string{"since": stampIn(f.Since), "until": stampIn(f.Until)} {
		if t != "" {
			export.Set(name, t)
		}
	}
	if tenant != 0 {
		export.Set("tenant", tenant.String())
	}
	data["Export"] = query(export)
	if len(list) == auditShown {
		kept.Set("before", strconv.FormatInt(list[len(list)-1].Number, 10))
		data["Older"] = query(kept)
	}
	pg.Data = data
	return rq.render("audit", pg)
}

// auditEntry shows one entry, with what differs.
func (rq *request) auditEntry(number int64) error {
	e, err := rq.App.Audit.Get(rq.ctx(), rq.p, number)
	rq.check(err)
	back := "/admin/audit"
	if !allowed(access.AuditWhole, rq.p) {
		back = "/tenants/" + e.Tenant.String() + "/audit"
	}
	return rq.render("auditentry", page{Title: "Change " + strconv.FormatInt(number, 10), Section: "batches", Data: map[string]any{"E": e, "Back": back, "Changes": e.Changes()}})
}

// query is what follows a path, or "".
func query(values url.Values) string {
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// stampIn is a time as the API reads it, or "".
func stampIn(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

// changedThing is the page of what an entry is about, or "".
func changedThing(e audit.Entry) string {
	switch e.Kind {
	case audit.Batch:
		return "/batches/" + e.Object
	case audit.Run:
		return "/runs/" + e.Object
	case audit.Tenant:
		return "/tenants/" + e.Object
	case audit.Test:
		return "/tests/" + e.Object
	case audit.Secret:
		return "/tenants/" + e.Tenant.String() + "/secrets"
	case audit.Invitation, audit.Invitations:
		return "/invitations?tenant=" + e.Tenant.String()
	}
	return ""
}

// changedByAdmins is changedThing of what only pages of administrators show.
func changedByAdmins(e audit.Entry) string {
	switch e.Kind {
	case audit.User, audit.Worker:
		return "/admin/people/" + e.Object
	case audit.Pool:
		return "/admin/pools/" + e.Object
	case audit.Service:
		return "/admin/services"
	}
	return ""
}

// auditNumber reads the number of an entry.
func auditNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, crowd.Fieldf("before", "%q is not the number of an entry (like 12)", text)
	}
	return n, nil
}
