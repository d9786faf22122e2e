package app

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// Figures are what a monitor wants to know, of all pools.
type Figures struct {
	Pools          []PoolView // their Status is of now, its rates of the last control step
	Queued, Failed int        // messages; failed within the last day
}

// Figures returns the figures. Whoever asks has checked who may see them.
func (s *Pools) Figures(ctx context.Context) (f Figures, err error) {
	pools, readings, purses, err := s.readings(ctx, s.time(), s.running())
	if err != nil {
		s.log.Warn("the figures of some pools are missing", "err", err)
	}
	for i, p := range pools {
		v, err := s.poolView(ctx, p)
		if err != nil {
			return f, err
		}
		r, m := &readings[i], &v.Status.Metrics
		m.Queue, m.Workers, m.Busy, m.Idle, m.Training, m.Coming = r.Queue, r.Workers, r.Busy, len(r.Idle), r.Training, r.Coming
		m.WaitP95, m.OldestWait = r.WaitP95.Seconds(), r.OldestWait.Seconds()
		v.Status.Reading, v.Status.Purse = r.Tally, purses[i]
		f.Pools = append(f.Pools, v)
	}
	f.Queued, f.Failed, err = s.store.CountMessages(ctx, s.time().Add(-failuresCount))
	return f, err
}

// ActionsAfter returns a pool's log from behind an entry on (0: from its
// beginning), newest first, at most a page of it. Whoever asks has checked who
// may see it.
func (s *Pools) ActionsAfter(ctx context.Context, id crowd.PoolID, after int64) ([]store.Action, error) {
	for limit := 50; ; limit = actionLimit { // mostly there is little that is new
		list, err := s.store.ListActions(ctx, id, 0, limit)
		for i := range list {
			if list[i].ID <= after {
				return list[:i], err
			}
		}
		if err != nil || len(list) < limit || limit == actionLimit {
			return list, err
		}
	}
}
