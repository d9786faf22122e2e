package work

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// notesShown is how many notes a worker is shown at once.
const notesShown = 20

// Notes returns what quality rules of running batches did to the worker, as far as they have not said that
// they have seen it, the oldest first. The conditions of the rules and their figures are the requester's, and left out.
func (s *Work) Notes(ctx context.Context, p *access.Principal) ([]store.QualityAction, error) {
	if err := p.May(access.WorkNotes); err != nil {
		return nil, err
	}
	list, err := s.store.UnseenActions(ctx, p.User.ID, notesShown)
	for i := range list {
		a := &list[i]
		*a = store.QualityAction{Action: a.Action, BatchName: a.BatchName}
		a.Rule, a.When, a.Figures = 0, "", engine.Figures{}
	}
	return list, err
}

// SeeNote says that the worker has seen a note, which is then told no more.
func (s *Work) SeeNote(ctx context.Context, p *access.Principal, id crowd.BatchID, n uint32) error {
	if err := p.May(access.WorkSeeNote); err != nil {
		return err
	}
	return s.store.SeeAction(ctx, p.User.ID, id, n, s.clock.Time())
}
