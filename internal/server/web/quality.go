package web

import (
	"net/http"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
)

// workersShown is how many workers the quality page lists.
const workersShown = 200

// quality shows how good a batch's answers are.
func (s *server) quality(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.BatchID) error {
	q, err := s.App.Batches.Quality(r.Context(), p, id, r.URL.Query().Get("method"))
	if err != nil {
		return err
	}
	tenant, err := s.findTenant(r, p, q.Batch.Spec.Tenant)
	if err != nil {
		return err
	}
	more := max(0, len(q.Workers)-workersShown)
	return s.render(w, r, p, "quality", page{Title: "Quality of " + q.Batch.Name, Section: "batches", Data: map[string]any{
		"Q": q, "B": q.Batch, "Tenant": tenant.Name, "Workers": q.Workers[:len(q.Workers)-more], "More": more,
	}})
}
