package app

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// leaveQueue takes a worker out of his pool's queue of event 1: he has signed
// out. Should he wait in another window too, that one asks again by itself. A
// pool that cannot hear it has nobody waiting.
func (s *service) leaveQueue(ctx context.Context, p *Principal) error {
	if !p.Is(Worker) {
		return nil
	}
	id := p.User.ID
	r, err := s.runner(s.poolOf(p))
	if err != nil {
		return nil //nolint:nilerr // a pool that is not there has no queue
	}
	err = r.send(context.WithoutCancel(ctx), &op{
		do: func(e *engine.Engine, now time.Time) { e.Leave(now, id) },
		look: func(waiters map[crowd.WorkerID]*waiter) {
			if w := waiters[id]; w != nil {
				delete(waiters, id)
				close(w.served)
			}
		},
		done: make(chan struct{}),
	})
	if code := crowd.CodeOf(err); code == crowd.Unavailable || code == crowd.StorageFull {
		return nil
	}
	return err
}
