package batches

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
)

// Watch returns a channel that gets a signal after each durable change of a
// batch, and closes when the server does. stop must be called in the end.
func (s *Batches) Watch(ctx context.Context, p *access.Principal, id crowd.BatchID) (changed <-chan struct{}, stop func(), err error) {
	b, err := s.batch(ctx, p, access.BatchesWatch, id)
	if err != nil {
		return nil, nil, err
	}
	return s.watched.Open(p.User.ID, b.Spec.Tenant, id)
}

// Watched is Get for those who watch the batch, who share what is looked up for it.
func (s *Batches) Watched(ctx context.Context, p *access.Principal, id crowd.BatchID) (BatchView, error) {
	b, err := s.batch(ctx, p, access.BatchesWatched, id)
	if err != nil {
		return BatchView{}, err
	}
	v, err := s.views.Get(ctx, b.Spec.Tenant, id, func(ctx context.Context) (BatchView, error) { return s.placed(ctx, p, id) })
	v.remedies(p)
	return v, err
}

// Get returns a batch as it stands.
func (s *Batches) Get(ctx context.Context, p *access.Principal, id crowd.BatchID) (BatchView, error) {
	if _, err := s.batch(ctx, p, access.BatchesGet, id); err != nil {
		return BatchView{}, err
	}
	v, err := s.placed(ctx, p, id)
	if err != nil || !v.Progress.State.Open() {
		return v, err
	}
	r, err := s.live.Get(v.Pool)
	if err != nil {
		return v, err
	}
	return v, r.Read(ctx, func(e *engine.Engine, _ time.Time) { v.Spare = e.Spare(id) })
}

// placed is a view with the place in the queue: to find it may hold up the pool.
func (s *Batches) placed(ctx context.Context, p *access.Principal, id crowd.BatchID) (BatchView, error) {
	v, err := s.view(ctx, p, id)
	if err != nil || !v.Progress.State.Open() {
		return v, err
	}
	r, err := s.live.Get(v.Pool)
	if err != nil {
		return v, err
	}
	return v, r.Read(ctx, func(e *engine.Engine, now time.Time) { v.Place = e.Place(now, id) })
}

// holdersShown is how many of those who hold a task are in Details.
const holdersShown = 30

// Details are a batch as it stands, with what is known of what comes and of what it
// waits for.
type Details struct {
	BatchView
	Forecast BatchForecast
	Why      Why // of one that is open
	Holders  []Holder
	MoreHold int // beyond the Holders

	held []holder // of which Holders are as somebody sees them
}

// Details returns a batch as it stands, and what is known of what comes and of what
// it waits for.
func (s *Batches) Details(ctx context.Context, p *access.Principal, id crowd.BatchID) (Details, error) {
	b, err := s.batch(ctx, p, access.BatchesDetails, id)
	if err != nil {
		return Details{}, err
	}
	d, err := s.detailed(ctx, p, id)
	d.Holders = shown(d.held, s.names.For(p, b.Spec.Tenant))
	return d, err
}

// detailed is Details without Holders, which are not the same for all who see it.
func (s *Batches) detailed(ctx context.Context, p *access.Principal, id crowd.BatchID) (d Details, err error) {
	if d.BatchView, err = s.placed(ctx, p, id); err != nil {
		return d, err
	}
	d.Forecast = s.forecast(&d.BatchView)
	if !d.Progress.State.Open() {
		return d, nil
	}
	if d.Why, err = s.Why(ctx, p, id); err == nil {
		d.held, d.MoreHold, err = s.holders(ctx, p, id, holdersShown)
	}
	if crowd.CodeOf(err) == crowd.Conflict {
		err = nil // it has ended since
	}
	return d, err
}

// WatchedDetails is Details for those who watch the batch, who share what is looked
// up for it.
func (s *Batches) WatchedDetails(ctx context.Context, p *access.Principal, id crowd.BatchID) (Details, error) {
	b, err := s.batch(ctx, p, access.BatchesWatchedDetails, id)
	if err != nil {
		return Details{}, err
	}
	d, err := s.details.Get(ctx, b.Spec.Tenant, id, func(ctx context.Context) (Details, error) { return s.detailed(ctx, p, id) })
	d.Holders = shown(d.held, s.names.For(p, b.Spec.Tenant))
	d.remedies(p)
	return d, err
}
