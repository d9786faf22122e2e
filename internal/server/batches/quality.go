package batches

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/store"
)

// QualityAction is what a quality rule did to somebody, as a requester sees it.
type QualityAction struct {
	store.QualityAction // Worker, WorkerName and UndoneBy are left out

	By pseudonym.Worker // on whom the rule acted
}

// QualityActions returns up to limit of the actions of a batch's quality rules with numbers above
// after, in order. more reports whether there are others after those.
func (s *Batches) QualityActions(ctx context.Context, p *access.Principal, id crowd.BatchID, after uint32, limit int) (list []QualityAction, more bool, err error) {
	b, err := s.batch(ctx, p, access.BatchesQualityActions, id)
	if err != nil {
		return nil, false, err
	}
	kept, err := s.store.ListQualityActions(ctx, b.Spec.Tenant, id, after, limit+1)
	if more = len(kept) > limit; more {
		kept = kept[:limit]
	}
	if err != nil {
		return nil, false, err
	}
	seen, staff := s.names.For(p, b.Spec.Tenant), pseudonym.StaffFor(s.store, p, b.Spec.Tenant)
	for _, a := range kept {
		by := seen.Show(a.Worker, a.WorkerName)
		if a.UndoneByName, err = staff.Show(ctx, a.UndoneBy, a.UndoneByName); err != nil {
			return nil, false, err
		}
		a.Worker, a.WorkerName, a.UndoneBy = 0, "", 0
		list = append(list, QualityAction{a, by})
	}
	return list, more, nil
}

// UndoQualityAction undoes what a quality rule of a running batch did to somebody: see engine.Engine.UndoAction.
func (s *Batches) UndoQualityAction(ctx context.Context, p *access.Principal, id crowd.BatchID, n uint32) (BatchView, error) {
	return s.onBatch(ctx, p, access.BatchesUndoAction, id, func(e *engine.Engine, now time.Time) error { return e.UndoAction(now, id, n, p.User.ID) })
}
