package web

import (
	"net/http"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
)

// secrets lists the names of a tenant's secrets. What they are is never shown.
func (s *server) secrets(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.TenantID) error {
	t, err := s.findTenant(r, p, id)
	if err != nil {
		return err
	}
	names, err := s.App.Tenants.Secrets(r.Context(), p, id)
	if err != nil {
		return err
	}
	return s.render(w, r, p, "secrets", page{Title: "Secrets of " + t.Name, Section: "runs", Data: map[string]any{"T": t, "Names": names}})
}

// putSecret sets a secret, or another value of it.
func (s *server) putSecret(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.TenantID) error {
	f := sent(r)
	err := s.App.Tenants.PutSecret(r.Context(), p, id, f.text("name"), f.values.Get("value"))
	return done(w, r, err, "/tenants/"+id.String()+"/secrets", "saved")
}

// confirmSecret asks before a secret is forgotten.
func (s *server) confirmSecret(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.TenantID) error {
	names, err := s.App.Tenants.Secrets(r.Context(), p, id)
	if err != nil {
		return err
	}
	name := r.PathValue("secret")
	if !slices.Contains(names, name) {
		return crowd.Errorf(crowd.NotFound, "there is no such secret")
	}
	back := "/tenants/" + id.String() + "/secrets"
	return s.render(w, r, p, "ask", page{Title: "Delete a secret", Section: "runs", Data: map[string]any{
		"Question": "Delete this secret?", "About": name, "Verb": "Delete it", "Danger": true, "To": back + "/" + name + "/delete", "Back": back,
		"Consequence": "Calls of services that need it fail from now on. It cannot be brought back: nobody is ever shown what it is.",
	}})
}

func (s *server) deleteSecret(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.TenantID) error {
	return done(w, r, s.App.Tenants.DeleteSecret(r.Context(), p, id, r.PathValue("secret")), "/tenants/"+id.String()+"/secrets", "forgotten")
}
