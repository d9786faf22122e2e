package app

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// Inspect shows tests the engine of every pool, when what was done is durable.
func Inspect(a *App, look func(id crowd.PoolID, e *engine.Engine, now time.Time)) error {
	return a.service.everywhere(func(r *runner) error {
		return r.do(context.Background(), func(e *engine.Engine, now time.Time) { look(r.pool, e, now) })
	})
}

// RosterOf says in which pool the roster has somebody, and whether on duty.
func RosterOf(a *App, id crowd.WorkerID) (in crowd.PoolID, on bool) {
	a.service.roster.mu.RLock()
	defer a.service.roster.mu.RUnlock()
	p := a.service.roster.of(id)
	return p.Pool, p.on
}
