package app

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// Inspect shows tests the engine of every pool, when what was done is durable.
func Inspect(s *Service, look func(id crowd.PoolID, e *engine.Engine, now time.Time)) error {
	return s.everywhere(func(r *runner) error {
		return r.do(context.Background(), func(e *engine.Engine, now time.Time) { look(r.pool, e, now) })
	})
}

// RosterOf says in which pool the roster has somebody, and whether on duty.
func RosterOf(s *Service, id crowd.WorkerID) (in crowd.PoolID, on bool) {
	s.roster.mu.RLock()
	defer s.roster.mu.RUnlock()
	p := s.roster.of(id)
	return p.Pool, p.on
}
