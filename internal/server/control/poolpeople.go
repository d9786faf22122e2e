package control

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
)

// PoolPerson is somebody of a pool.
type PoolPerson struct {
	engine.OnCall
	Name       string
	Preference float64      // for this pool
	Home       crowd.PoolID // that has lent them; 0: none has
	Away       bool         // does not want to be called
	Suspended  bool
}

// People lists a pool's people, those on duty first. Admins only.
func (s *Pools) People(ctx context.Context, p *access.Principal, id crowd.PoolID) ([]PoolPerson, error) {
	r, err := s.find(p, access.PoolsPeople, id)
	if err != nil {
		return nil, err
	}
	users, err := s.cfg.Store.PoolUsers(ctx, id)
	if err != nil {
		return nil, err
	}
	list := make([]PoolPerson, len(users))
	err = r.Read(ctx, func(e *engine.Engine, now time.Time) {
		for i, u := range users {
			list[i] = PoolPerson{Name: u.Name, Away: u.Away, Suspended: u.Suspended, Preference: recruit.Preference(u.Prefers, id)}
			if u.Home != id {
				list[i].Home = u.Home
			}
			list[i].OnCall, _ = e.OnCall(now, u.ID)
			list[i].Worker = u.ID
		}
	})
	slices.SortFunc(list, func(x, y PoolPerson) int {
		if x.On != y.On {
			if x.On {
				return -1
			}
			return 1
		}
		return cmp.Compare(x.Worker, y.Worker)
	})
	return list, err
}

// PoolCall is a pool's open call, with who was asked and what was sent.
type PoolCall struct {
	store.Call
	Notices  []store.Notice
	Messages []store.Message
}

// Calls lists a pool's open calls. Admins only.
func (s *Pools) Calls(ctx context.Context, p *access.Principal, id crowd.PoolID) ([]PoolCall, error) {
	if _, err := s.find(p, access.PoolsCalls, id); err != nil {
		return nil, err
	}
	calls, err := s.cfg.Store.OpenCalls(ctx, id)
	if err != nil {
		return nil, err
	}
	list := make([]PoolCall, len(calls))
	for i, c := range calls {
		list[i].Call = c
		if list[i].Notices, err = s.cfg.Store.Notices(ctx, c.ID); err != nil {
			return nil, err
		}
		if list[i].Messages, err = s.cfg.Store.ListMessages(ctx, c.ID, 0, actionLimit); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Figures are the figures of all pools, for monitoring.
type Figures struct {
	Pools          []PoolView     // their Status is of now, its rates of the last control step
	Fairness       []FairnessView // of each pool, within the last hour
	Queued, Failed int            // messages; failed within the last day
}

// Figures returns the figures. The caller has checked who may see them.
func (s *Pools) Figures(ctx context.Context) (f Figures, err error) {
	pools, readings, funds, err := s.control.readings(ctx, s.cfg.Clock.Time(), s.cfg.Live.List())
	if err != nil {
		s.cfg.Log.Warn("the figures of some pools are missing", "err", err)
	}
	names, err := s.names(ctx, nil)
	if err != nil {
		return f, err
	}
	for i, p := range pools {
		v, err := s.poolView(ctx, p, nil)
		if err != nil {
			return f, err
		}
		r, m := &readings[i], &v.Status.Metrics
		m.Queue, m.Workers, m.Busy, m.Idle, m.Training, m.Coming = r.Queue, r.Workers, r.Busy, len(r.Idle), r.Training, r.Coming
		m.WaitP95, m.OldestWait = r.WaitP95.Seconds(), r.OldestWait.Seconds()
		v.Status.Reading, v.Status.Funds = r.Counters, funds[i]
		if r, err := s.cfg.Live.Get(p.ID); err == nil { // else its counters are left at 0
			_ = r.Read(ctx, func(e *engine.Engine, _ time.Time) { v.Status.Events = e.Consumed() })
		}
		f.Pools = append(f.Pools, v)
		spread := s.control.fairness.view(p.ID, s.cfg.Clock.Time(), lastHour, func(crowd.TenantID) bool { return true })
		for i := range spread.Tenants {
			spread.Tenants[i].Name = names.tenants[spread.Tenants[i].Tenant]
		}
		f.Fairness = append(f.Fairness, spread)
	}
	f.Queued, f.Failed, err = s.cfg.Store.CountMessages(ctx, s.cfg.Clock.Time().Add(-recruit.CountFailures))
	return f, err
}

// ActionsAfter returns a pool's log after an entry (0: from its
// beginning), newest first, at most a page of it. The caller has checked who may
// see it.
func (s *Pools) ActionsAfter(ctx context.Context, id crowd.PoolID, after int64) ([]store.Action, error) {
	for limit := 50; ; limit = actionLimit { // mostly there is little that is new
		list, err := s.cfg.Store.ListActions(ctx, id, 0, limit)
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
