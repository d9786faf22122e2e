package runs

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// Watch returns a channel that gets a signal when a run may have changed, and
// closes when the server does. stop must be called in the end.
func (s *Runs) Watch(ctx context.Context, p *access.Principal, id crowd.RunID) (changed <-chan struct{}, stop func(), err error) {
	r, err := s.find(ctx, p, access.RunsWatch, id)
	if err != nil {
		return nil, nil, err
	}
	return s.watched.Open(p.User.ID, r.Tenant, id)
}

// Watched is Get for those who watch the run, who share what it returns.
func (s *Runs) Watched(ctx context.Context, p *access.Principal, id crowd.RunID) (*orchestrator.View, error) {
	r, err := s.find(ctx, p, access.RunsWatched, id)
	if err != nil {
		return nil, err
	}
	v, err := s.views.Get(ctx, r.Tenant, id, func(ctx context.Context) (*orchestrator.View, error) { return s.view(ctx, id) })
	return s.shown(p, v), err
}

// seesContents reports whether p may see what is in the rows of a run, and not only how
// far it is.
func seesContents(p *access.Principal, v *orchestrator.View) bool {
	return p.MayFor(access.RunsContents, v.Tenant) == nil
}

// shown returns a view as p may see it; nil stays nil.
func (s *Runs) shown(p *access.Principal, v *orchestrator.View) *orchestrator.View {
	if v == nil || seesContents(p, v) {
		return v
	}
	return v.WithoutContents(s.clock.Time())
}

// What Details has at most.
const (
	slowEach  = 5 // items of a step
	heldShown = 50
)

// Details are a run as it stands with the items that somebody may have to see to. Who may
// not see what is in its rows gets no items.
type Details struct {
	*orchestrator.View
	Slow   []orchestrator.SlowItem // of a run that is under way, the slowest of each step
	Faults []store.Fault           // the first ones, as Faults lists them
}

// Details returns a run as it stands, and its items that somebody may have to see to.
func (s *Runs) Details(ctx context.Context, p *access.Principal, id crowd.RunID) (Details, error) {
	if _, err := s.find(ctx, p, access.RunsDetails, id); err != nil {
		return Details{}, err
	}
	d, err := s.detailed(ctx, id)
	return s.detailsShown(p, d), err
}

// detailed is Details for who sees all of it.
func (s *Runs) detailed(ctx context.Context, id crowd.RunID) (d Details, err error) {
	if d.View, err = s.view(ctx, id); err != nil || d.State == store.RunLoading || d.State.Ended() {
		return d, err
	}
	if d.Slow, err = s.orchestrator.SlowestItems(ctx, 0, id, slowEach); err == nil {
		d.Faults, err = s.store.Faults(ctx, id, -1, 0, heldShown)
	}
	return d, err
}

// detailsShown returns details as p may see them.
func (s *Runs) detailsShown(p *access.Principal, d Details) Details {
	if d.View == nil || seesContents(p, d.View) {
		return d
	}
	return Details{View: s.shown(p, d.View)}
}

// WatchedDetails is Details for those who watch the run, who share what is looked up for
// it.
func (s *Runs) WatchedDetails(ctx context.Context, p *access.Principal, id crowd.RunID) (Details, error) {
	r, err := s.find(ctx, p, access.RunsWatchedDetails, id)
	if err != nil {
		return Details{}, err
	}
	d, err := s.details.Get(ctx, r.Tenant, id, func(ctx context.Context) (Details, error) { return s.detailed(ctx, id) })
	return s.detailsShown(p, d), err
}
