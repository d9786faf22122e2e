package batches

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/pseudonym"
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
	v, err := s.views.Get(ctx, b.Spec.Tenant, id, func(ctx context.Context) (BatchView, error) { return s.placed(ctx, id) })
	v.seenBy(p)
	return v, err
}

// Get returns a batch as it stands.
func (s *Batches) Get(ctx context.Context, p *access.Principal, id crowd.BatchID) (BatchView, error) {
	if _, err := s.batch(ctx, p, access.BatchesGet, id); err != nil {
		return BatchView{}, err
	}
	v, err := s.placed(ctx, id)
	v.seenBy(p)
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
func (s *Batches) placed(ctx context.Context, id crowd.BatchID) (BatchView, error) {
	v, err := s.view(ctx, id)
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

	held      []holder // of which Holders are as somebody sees them
	explained bool     // Why is known
}

// seenBy fills in what depends on who looks.
func (d *Details) seenBy(p *access.Principal, names pseudonym.Reader) {
	d.BatchView.seenBy(p)
	d.Holders = shown(d.held, names)
	if d.explained {
		d.Why.of(&d.BatchView)
	}
}

// Details returns a batch as it stands, and what is known of what comes and of what
// it waits for.
func (s *Batches) Details(ctx context.Context, p *access.Principal, id crowd.BatchID) (Details, error) {
	b, err := s.batch(ctx, p, access.BatchesDetails, id)
	if err != nil {
		return Details{}, err
	}
	d, err := s.detailed(ctx, id)
	d.seenBy(p, s.names.For(p, b.Spec.Tenant))
	return d, err
}

// detailed is Details without what depends on who looks.
func (s *Batches) detailed(ctx context.Context, id crowd.BatchID) (d Details, err error) {
	if d.BatchView, err = s.placed(ctx, id); err != nil {
		return d, err
	}
	d.Forecast = s.forecast(&d.BatchView)
	if !d.Progress.State.Open() {
		return d, nil
	}
	r, err := s.live.Get(d.Pool)
	if err != nil {
		return d, err
	}
	var hands []engine.Handout
	var ended error
	if err := r.Do(ctx, func(e *engine.Engine, _ time.Time) {
		if d.Why.Why, ended = e.WhyBatch(id); ended == nil {
			hands = e.Holding(id)
		}
	}); err != nil || ended != nil { // since
		return d, err
	}
	d.explained = true
	d.held, d.MoreHold, err = s.holders(ctx, hands, holdersShown)
	return d, err
}

// WatchedDetails is Details for those who watch the batch, who share what is looked
// up for it.
func (s *Batches) WatchedDetails(ctx context.Context, p *access.Principal, id crowd.BatchID) (Details, error) {
	b, err := s.batch(ctx, p, access.BatchesWatchedDetails, id)
	if err != nil {
		return Details{}, err
	}
	d, err := s.details.Get(ctx, b.Spec.Tenant, id, func(ctx context.Context) (Details, error) { return s.detailed(ctx, id) })
	d.seenBy(p, s.names.For(p, b.Spec.Tenant))
	return d, err
}
