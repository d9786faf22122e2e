package orchestrator

import (
	"context"

	"github.com/throng-dev/throng/internal/store"
)

// judgedByAll reports whether it matters for a batch's end how many tasks it will have in all.
func judgedByAll(b *store.Batch) bool {
	enough := b.Spec.Enough
	return enough != nil && (enough.Share > 0 || enough.Confidence > 0)
}

// keepUnpaid keeps that the step waits for money, unless it has enough without it.
func (s *crowdRunner) keepUnpaid(ctx context.Context, unpaid error) error {
	if s.node.Batch != 0 {
		b, err := s.storedBatch(ctx)
		if err != nil {
			return err
		}
		if b.Spec.Enough.Within(&b.Progress) {
			return s.keepWhy(ctx, "")
		}
	}
	return s.keepWhy(ctx, messageOf(unpaid))
}

// announceTotal tells the pool how many tasks a batch to which no more come has in all, before
// the money is there for those that it does not know yet: they may never be needed. It returns
// the batch as it is then.
func (s *crowdRunner) announceTotal(ctx context.Context, b *store.Batch) (*store.Batch, error) {
	p := &b.Progress
	if !judgedByAll(b) || !p.Open || p.Tasks == b.Spec.Tasks {
		return b, nil
	}
	total := int(b.Spec.Tasks) - p.Known
	if b.Spec.Checks != nil { // people are checked with some of those that are to come
		for known := p.Tasks; known < b.Spec.Tasks; {
			tasks, err := s.run.o.cfg.Store.Tasks(ctx, b.Spec.ID.Task(known+1), min(chunkRows, int(b.Spec.Tasks-known)))
			if err != nil {
				return nil, err
			}
			for i := range tasks {
				if tasks[i].Gold != "" {
					total--
				}
			}
			known += uint32(len(tasks))
		}
	}
	if total == p.Total {
		return b, nil
	}
	if err := s.run.o.cfg.Crowd.SetTotal(ctx, b.Spec.ID, total); err != nil {
		return nil, err
	}
	return s.storedBatch(ctx)
}
