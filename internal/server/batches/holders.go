package batches

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
)

// Holding lists who holds what of a batch, the longest held first.
func (s *Batches) Holding(ctx context.Context, p *access.Principal, id crowd.BatchID) ([]engine.Handout, error) {
	var list []engine.Handout
	_, err := s.onBatch(ctx, p, access.BatchesHolding, id, func(e *engine.Engine, _ time.Time) error {
		list = e.Holding(id)
		return nil
	})
	return list, err
}

// Holder is somebody who holds a task.
type Holder struct {
	engine.Handout
	Name string // of the worker
}

// Holders lists up to limit of those who hold tasks of a batch, the longest held
// first, with their names; more is how many there are beyond.
func (s *Batches) Holders(ctx context.Context, p *access.Principal, id crowd.BatchID, limit int) (list []Holder, more int, err error) {
	hands, err := s.Holding(ctx, p, id)
	if err != nil {
		return nil, 0, err
	}
	more = max(0, len(hands)-limit)
	for _, h := range hands[:len(hands)-more] {
		u, err := s.store.User(ctx, h.Worker)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, Holder{h, u.Name})
	}
	return list, more, nil
}
