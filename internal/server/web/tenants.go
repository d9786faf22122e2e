package web

import (
	"net/http"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// entriesShown is the number of ledger entries on a page.
const entriesShown = 50

// tenant shows a tenant's account.
func (s *server) tenant(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.TenantID) error {
	t, err := s.findTenant(r, p, id)
	if err != nil {
		return err
	}
	balance, entries, err := s.App.Tenants.Account(r.Context(), p, id, 0, entriesShown)
	if err != nil {
		return err
	}
	return s.render(w, r, p, "tenant", page{Title: t.Name, Section: "batches", Data: map[string]any{"T": t, "Balance": balance, "Entries": entries}})
}

func (s *server) findTenant(r *http.Request, p *access.Principal, id crowd.TenantID) (store.Tenant, error) {
	list, err := s.App.Tenants.List(r.Context(), p)
	if err != nil {
		return store.Tenant{}, err
	}
	for _, t := range list {
		if t.ID == id {
			return t, nil
		}
	}
	return store.Tenant{}, crowd.Errorf(crowd.NotFound, "there is no such tenant")
}

// blockWorker says that a tenant does not want a worker, or no longer minds.
func (s *server) blockWorker(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.TenantID) error {
	values := r.PostForm
	who, err := crowd.ParseWorkerID(values.Get("worker"))
	if err != nil {
		return err
	}
	blocked := values.Get("blocked") != ""
	if err := s.App.Accounts.BlockWorker(r.Context(), p, id, who, blocked); err != nil {
		return err
	}
	did := "unblocked"
	if blocked {
		did = "blocked"
	}
	if back, err := crowd.ParseBatchID(values.Get("batch")); err == nil {
		return seeOther(w, r, "/batches/"+back.String()+"/quality", did)
	}
	return seeOther(w, r, "/tenants/"+id.String(), did)
}
