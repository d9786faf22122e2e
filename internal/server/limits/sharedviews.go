package limits

import (
	"context"
	"maps"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// The pace of views of one thing.
const (
	viewGap  = 250 * time.Millisecond // the least time from the begin of one to that of the next
	slowness = 3                      // how much longer than a view takes the pause after it is at least
	viewLife = time.Second            // a view is used so long if nothing is known to have changed
	maxViews = 4                      // that are made at a time of things of one kind, each of another tenant
)

// SharedViews shares views of one form of what is Watched, so that a view costs the
// same however many watch. Of a tenant one view is made at a time: things whose views
// are expensive keep others of the same tenant waiting, but those of other tenants only
// when maxViews tenants have such things. Make it with NewSharedViews.
type SharedViews[K comparable, V any] struct{ of *Watched[K] }

// view is the last view of a thing in one form.
type view struct {
	value any
	err   error
	began time.Time
	next  time.Time     // when another may begin
	fresh bool          // nothing has changed since it began
	busy  chan struct{} // closed when the one that is being made is over; nil: there is none
}

// NewSharedViews makes views of one form of what is watched.
func NewSharedViews[K comparable, V any](of *Watched[K]) *SharedViews[K, V] {
	return &SharedViews[K, V]{of}
}

// Get returns a view of a thing of a tenant that began after its last change, or after
// Get was called. If there is none, load makes it, in the tenant's turn. A view whose
// caller has gone is given up, and the next who waits for it makes another.
func (c *SharedViews[K, V]) Get(ctx context.Context, tenant crowd.TenantID, id K, load func(context.Context) (V, error)) (v V, err error) {
	arrived := time.Now()
	for ctx.Err() == nil {
		c.of.mu.Lock()
		x := c.last(id)
		busy := x.busy
		switch {
		case busy == nil && (x.began.After(arrived) || x.fresh && time.Since(x.began) < viewLife):
			v, _ = x.value.(V)
			err = x.err
			c.of.mu.Unlock()
			return v, err
		case busy == nil:
			x.busy = make(chan struct{})
			c.of.mu.Unlock()
			return c.refresh(ctx, tenant, x, load)
		}
		c.of.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
		}
	}
	return v, ctx.Err()
}

// last returns the last view of a thing. Old views of others are forgotten. The caller
// holds the lock.
func (c *SharedViews[K, V]) last(id K) *view {
	if x := c.of.things[id]; x != nil && x.views[c] != nil {
		return x.views[c]
	}
	maps.DeleteFunc(c.of.things, func(_ K, x *thing) bool {
		maps.DeleteFunc(x.views, func(_ any, v *view) bool { return v.busy == nil && time.Since(v.next) > viewLife })
		return len(x.watchers)+len(x.views) == 0
	})
	v := &view{}
	c.of.thing(id).views[c] = v
	return v
}

// refresh makes a view that others may be waiting for.
func (c *SharedViews[K, V]) refresh(ctx context.Context, tenant crowd.TenantID, x *view, load func(context.Context) (V, error)) (v V, err error) {
	defer func() {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		close(x.busy)
		x.busy = nil
	}()
	pause := time.NewTimer(time.Until(x.next))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return v, ctx.Err()
	}
	own, _ := c.of.turns.LoadOrStore(tenant, make(chan struct{}, 1))
	for _, turn := range []chan struct{}{own.(chan struct{}), c.of.making} {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }() // when the view is made
		case <-ctx.Done():
			return v, ctx.Err()
		}
	}
	began := time.Now()
	c.of.mu.Lock()
	x.fresh = true // unless something changes from here on
	c.of.mu.Unlock()
	v, err = load(ctx)
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	x.next = began.Add(max(viewGap, (slowness+1)*time.Since(began)))
	if ctx.Err() != nil { // it is no view
		x.fresh = false
		return v, err
	}
	if err != nil { // for those who wait; who comes later tries again
		x.fresh = false
	}
	x.value, x.err, x.began = v, err, began
	return v, err
}
