package control

import (
	"context"
	"errors"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// StopEverything is the emergency stop of all pools, and its lifting. Admins
// only.
func (s *Pools) StopEverything(ctx context.Context, p *access.Principal, stopped bool) error {
	if err := p.May(access.PoolsStopEverything); err != nil {
		return err
	}
	s.stopping.Lock() // who lifts it, meanwhile, lifts it of all
	defer s.stopping.Unlock()
	ctx, act := p.Acting(ctx, access.PoolsStopEverything, store.AuditEntry{At: s.cfg.Clock.Time(), Kind: "pools"})
	var errs []error
	for _, pool := range s.cfg.Live.List() {
		_, err := s.Change(ctx, p, pool.ID, func(now *store.Pool) error {
			if act.Pending() { // nobody else changes a pool between this and the first transaction, which keeps the entry
				act.Before, act.After = s.stops(stopped)
			}
			now.Stopped = stopped
			return nil
		})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// stops is what the audit log says of an emergency stop of all pools, or its lifting: which pools
// are stopped before it, and after.
func (s *Pools) stops(stopped bool) (before, after any) {
	type pools struct{ Stopped []crowd.PoolID }
	var was, is pools
	for _, x := range s.cfg.Live.List() {
		if x.Stopped {
			was.Stopped = append(was.Stopped, x.ID)
		}
		if stopped {
			is.Stopped = append(is.Stopped, x.ID)
		}
	}
	return was, is
}
