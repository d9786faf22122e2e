package batches

import (
	"context"
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/pseudonym"
)

// Holder is somebody who holds a task.
type Holder struct {
	engine.Handout // Worker is left out

	By pseudonym.Worker
}

// holder is Holder before it is known who sees it.
type holder struct {
	engine.Handout
	name string // of the worker
}

// shown returns how a reader sees those who hold tasks.
func shown(list []holder, seen pseudonym.Reader) []Holder {
	return lists.Map(list, func(h holder) Holder {
		by := seen.Show(h.Worker, h.name)
		h.Worker = 0
		return Holder{h.Handout, by}
	})
}

// Holding lists who holds what of a batch, the longest held first.
func (s *Batches) Holding(ctx context.Context, p *access.Principal, id crowd.BatchID) ([]Holder, error) {
	list, _, err := s.Holders(ctx, p, id, math.MaxInt)
	return list, err
}

// Holders lists up to limit of those who hold tasks of a batch, the longest held
// first; more is how many there are beyond.
func (s *Batches) Holders(ctx context.Context, p *access.Principal, id crowd.BatchID, limit int) (list []Holder, more int, err error) {
	b, err := s.batch(ctx, p, access.BatchesHolders, id)
	if err != nil {
		return nil, 0, err
	}
	var hands []engine.Handout
	if _, err := s.onBatch(ctx, p, access.BatchesHolding, id, func(e *engine.Engine, _ time.Time) error {
		hands = e.Holding(id)
		return nil
	}); err != nil {
		return nil, 0, err
	}
	held, more, err := s.holders(ctx, hands, limit)
	return shown(held, s.names.For(p, b.Spec.Tenant)), more, err
}

// holders names up to limit of those who hold tasks; more is how many there are beyond.
func (s *Batches) holders(ctx context.Context, hands []engine.Handout, limit int) (list []holder, more int, err error) {
	more = max(0, len(hands)-limit)
	hands = hands[:len(hands)-more]
	names, err := s.store.UserNames(ctx, lists.Map(hands, func(h engine.Handout) crowd.WorkerID { return h.Worker }))
	return lists.Map(hands, func(h engine.Handout) holder { return holder{h, names[h.Worker]} }), more, err
}
