package control

import (
	"context"
	"time"

	"github.com/throng-dev/throng/internal/store"
)

// Resume goes on from what was learnt of the pools before a restart: their
// estimates, their cool-downs, the state of their controllers, and what tenants have yet to
// bear of waiting. The pools are started before. What cannot be read is learnt again.
func (c *Control) Resume(ctx context.Context) error {
	states, err := c.cfg.Store.PoolStates(ctx)
	if err != nil {
		return err
	}
	if err := c.shares.resume(ctx, c); err != nil {
		return err
	}
	c.deciding.Lock()
	defer c.deciding.Unlock()
	for _, s := range states {
		if err := c.control.Resume(s.Pool, s.State); err != nil {
			c.cfg.Log.Warn("what was learnt of a pool is lost", "pool", s.Pool.String(), "err", err)
		}
	}
	return nil
}

// Close keeps what was learnt since the last step. No step comes after it.
func (c *Control) Close(ctx context.Context) {
	c.step.Lock()
	defer c.step.Unlock()
	if err := c.keep(ctx, c.cfg.Clock.Time(), true); err != nil {
		c.cfg.Log.Error("what was learnt of the pools since the last step could not be kept", "err", err)
	}
}

// keep keeps what was learnt of the pools in which something has happened since it was
// kept last, or of all. So a server that is killed loses what happened in the last
// step, and of a pool in which nothing happens up to ten seconds in which nothing did.
func (c *Control) keep(ctx context.Context, now time.Time, all bool) error {
	c.deciding.Lock()
	states := c.control.States(all || c.unkept)
	c.deciding.Unlock()
	list := make([]store.PoolState, 0, len(states))
	for _, p := range c.cfg.Live.List() { // in order, as all that is kept
		if text, ok := states[p.ID]; ok {
			list = append(list, store.PoolState{Pool: p.ID, At: now, State: text})
		}
	}
	err := c.cfg.Store.PutStates(ctx, list)
	c.unkept = err != nil
	return err
}
