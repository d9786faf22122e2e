package service

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// OffDuty is what somebody off duty may want to know of how it came about.
type OffDuty struct {
	Why  engine.Departure // with which he went off duty last; "": never, or nothing is kept of it
	At   time.Time
	Call *store.Call // of his latest notice, if he was thanked: it has ended
}

// WhyOffDuty says how a worker came to be off duty in his pool, and how the last
// call to him ended.
func (s *Service) WhyOffDuty(ctx context.Context, p *Principal) (OffDuty, error) {
	if err := p.need(Worker); err != nil {
		return OffDuty{}, err
	}
	var v OffDuty
	if d := s.roster.lastDuty(p.User.ID); d.Pool == p.User.Pool && !d.On {
		v.Why, v.At = d.Why, d.At
	}
	notices, err := s.store.WorkerNotices(ctx, p.User.ID, 1)
	if err != nil {
		return v, err
	}
	for _, n := range notices {
		if n.State != store.NoticeThanked {
			continue
		}
		call, err := s.store.Call(ctx, n.Call)
		if crowd.CodeOf(err) == crowd.NotFound {
			continue
		}
		if err != nil {
			return v, err
		}
		v.Call = &call
	}
	return v, nil
}

// IsTraining says whether a task that a worker holds is one to learn from.
func (s *Service) IsTraining(ctx context.Context, w *Work) (bool, error) {
	d, err := s.definition(ctx, w.Batch)
	if err != nil {
		return false, err
	}
	return d.Spec.Training, nil
}
