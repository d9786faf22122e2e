package app

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/live"
)

// Inspect shows tests the engine of every pool, when what was done is durable.
func Inspect(a *App, look func(id crowd.PoolID, e *engine.Engine, now time.Time)) error {
	return a.live.Each(func(p *live.Pool) error {
		return p.Do(context.Background(), func(e *engine.Engine, now time.Time) { look(p.ID(), e, now) })
	})
}

// OnCallOf returns the pool in which somebody is on call, and whether they are on duty.
func OnCallOf(a *App, id crowd.WorkerID) (in crowd.PoolID, on bool) {
	return a.onCall.PoolOf(id), a.onCall.OnDuty(id)
}
