package limits

import (
	"context"
	"sync"
	"time"
)

// The pace of views of one thing.
const (
	viewGap  = 250 * time.Millisecond // the least time from the begin of one to that of the next
	slowness = 3                      // how much longer than a view takes the pause after it is at least
	viewLife = time.Second            // a view is used so long if nothing is known to have changed
)

// ViewCache shares views of things among all who watch them, so that a view costs the
// same however many do. One view is made at a time: things whose views are expensive
// keep each other waiting, and nobody else. Make it with NewViewCache.
type ViewCache[K comparable, V any] struct {
	turn chan struct{}

	mu   sync.Mutex
	list map[K]*view[V]
}

// view is the last view of a thing.
type view[V any] struct {
	value V
	err   error
	began time.Time
	next  time.Time     // when another may begin
	fresh bool          // nothing has changed since it began
	busy  chan struct{} // closed when the one that is being made is over; nil: there is none
}

// NewViewCache makes an empty ViewCache.
func NewViewCache[K comparable, V any]() *ViewCache[K, V] {
	return &ViewCache[K, V]{turn: make(chan struct{}, 1), list: make(map[K]*view[V])}
}

// Invalidate says that things are not as they were viewed.
func (c *ViewCache[K, V]) Invalidate(ids ...K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if x := c.list[id]; x != nil {
			x.fresh = false
		}
	}
}

// InvalidateAll says that nothing is as it was viewed.
func (c *ViewCache[K, V]) InvalidateAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.list {
		x.fresh = false
	}
}

// Get returns a view of a thing that began after its last change, or after Get was
// called. If there is none, load makes it, in its turn. A view whose caller has gone is
// given up, and the next who waits for it makes another.
func (c *ViewCache[K, V]) Get(ctx context.Context, id K, load func(context.Context) (V, error)) (v V, err error) {
	arrived := time.Now()
	for ctx.Err() == nil {
		c.mu.Lock()
		x := c.entry(id)
		busy := x.busy
		switch {
		case busy == nil && (x.began.After(arrived) || x.fresh && time.Since(x.began) < viewLife):
			v, err = x.value, x.err
			c.mu.Unlock()
			return v, err
		case busy == nil:
			x.busy = make(chan struct{})
			c.mu.Unlock()
			return c.refresh(ctx, x, load)
		}
		c.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
		}
	}
	return v, ctx.Err()
}

// entry returns the last view of a thing. Old views of others are forgotten. The caller
// holds the lock.
func (c *ViewCache[K, V]) entry(id K) *view[V] {
	x := c.list[id]
	if x != nil {
		return x
	}
	for k, old := range c.list {
		if old.busy == nil && time.Since(old.next) > viewLife {
			delete(c.list, k)
		}
	}
	x = &view[V]{}
	c.list[id] = x
	return x
}

// refresh makes a view that others may be waiting for.
func (c *ViewCache[K, V]) refresh(ctx context.Context, x *view[V], load func(context.Context) (V, error)) (v V, err error) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
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
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return v, ctx.Err()
	}
	defer func() { <-c.turn }()
	began := time.Now()
	c.mu.Lock()
	x.fresh = true // unless something changes from here on
	c.mu.Unlock()
	v, err = load(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
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
