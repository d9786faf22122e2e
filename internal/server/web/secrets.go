package web

import (
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// secrets lists a tenant's secrets. What they are is never shown.
func (rq *request) secrets(id crowd.TenantID) error {
	t, kept := rq.findTenant(id), askOf(rq, id, rq.App.Tenants.Secrets)
	return rq.render("secrets", page{Title: "Secrets of " + t.Name, Section: "runs", Data: map[string]any{"T": t, "Secrets": kept}})
}

// putSecret sets a secret, or another value of it.
func (rq *request) putSecret(id crowd.TenantID) error {
	f := rq.sent()
	err := rq.App.Tenants.PutSecret(rq.ctx(), rq.p, id, store.TenantSecret{Name: f.text("name"), Value: f.values.Get("value"), Hosts: strings.Fields(f.text("hosts"))})
	return rq.done(err, "/tenants/"+id.String()+"/secrets", "saved")
}

// confirmSecret asks before a secret is forgotten.
func (rq *request) confirmSecret(id crowd.TenantID) error {
	name := rq.r.PathValue("secret")
	if !slices.ContainsFunc(askOf(rq, id, rq.App.Tenants.Secrets), func(s store.TenantSecret) bool { return s.Name == name }) {
		rq.check(crowd.Errorf(crowd.NotFound, "there is no such secret"))
	}
	back := "/tenants/" + id.String() + "/secrets"
	return rq.render("ask", page{Title: "Delete a secret", Section: "runs", Data: map[string]any{
		"Question": "Delete this secret?", "About": name, "Verb": "Delete it", "Danger": true, "To": back + "/" + name + "/delete", "Back": back,
		"Consequence": "Calls of services that need it fail from now on. It cannot be brought back: nobody is ever shown what it is.",
	}})
}

func (rq *request) deleteSecret(id crowd.TenantID) error {
	return rq.done(rq.App.Tenants.DeleteSecret(rq.ctx(), rq.p, id, rq.r.PathValue("secret")), "/tenants/"+id.String()+"/secrets", "forgotten")
}
