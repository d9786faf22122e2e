package web

import "github.com/throng-dev/throng/crowd"

// workersShown is how many workers the quality page lists.
const workersShown = 200

// quality shows how good a batch's answers are.
func (rq *request) quality(id crowd.BatchID) error {
	q, err := rq.App.Batches.Quality(rq.ctx(), rq.p, id, rq.r.URL.Query().Get("method"))
	if err != nil {
		return err
	}
	more := max(0, len(q.Workers)-workersShown)
	return rq.render("quality", page{Title: "Quality of " + q.Batch.Name, Section: "batches", Data: map[string]any{
		"Q": q, "B": q.Batch, "Tenant": rq.findTenant(q.Batch.Spec.Tenant).Name, "Workers": q.Workers[:len(q.Workers)-more], "More": more,
	}})
}
