package live

import (
	"context"
	"sync"
	"time"
)

// The pace of looks at one thing.
const (
	lookGap  = 250 * time.Millisecond // the least time from the begin of one to that of the next
	slowness = 3                      // how much longer than a look the pause after it is at least
	lookLife = time.Second            // a look is used so long if nothing is known to have changed
)

// Looks shares looks at things between all who watch them, so that a look costs the
// same however many do. One look is made at a time: things that are expensive to look
// at keep each other waiting, and nobody else. Make it with NewLooks.
type Looks[K comparable, V any] struct {
	turn chan struct{}

	mu   sync.Mutex
	list map[K]*look[V]
}

// look is the last look at a thing.
type look[V any] struct {
	value V
	err   error
	began time.Time
	next  time.Time     // when another may begin
	fresh bool          // nothing has changed since it began
	busy  chan struct{} // closed when the one that is being made is over; nil: there is none
}

// NewLooks makes an empty Looks.
func NewLooks[K comparable, V any]() *Looks[K, V] {
	return &Looks[K, V]{turn: make(chan struct{}, 1), list: make(map[K]*look[V])}
}

// Changed says that things are not as they were looked at.
func (l *Looks[K, V]) Changed(ids ...K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		if x := l.list[id]; x != nil {
			x.fresh = false
		}
	}
}

// AllChanged says that nothing is as it was looked at.
func (l *Looks[K, V]) AllChanged() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.list {
		x.fresh = false
	}
}

// Get returns a look at a thing at which somebody has looked since it changed, or
// since Get was called. If there is none, it is made by see, in its turn. A look whose
// caller has gone is given up, and the next who waits for it makes another.
func (l *Looks[K, V]) Get(ctx context.Context, id K, see func(context.Context) (V, error)) (v V, err error) {
	arrived := time.Now()
	for ctx.Err() == nil {
		l.mu.Lock()
		x := l.at(id)
		busy := x.busy
		switch {
		case busy == nil && (x.began.After(arrived) || x.fresh && time.Since(x.began) < lookLife):
			v, err = x.value, x.err
			l.mu.Unlock()
			return v, err
		case busy == nil:
			x.busy = make(chan struct{})
			l.mu.Unlock()
			return l.make(ctx, x, see)
		}
		l.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
		}
	}
	return v, ctx.Err()
}

// at returns the last look at a thing. Old looks at others are forgotten. The caller
// holds the lock.
func (l *Looks[K, V]) at(id K) *look[V] {
	x := l.list[id]
	if x != nil {
		return x
	}
	for k, old := range l.list {
		if old.busy == nil && time.Since(old.next) > lookLife {
			delete(l.list, k)
		}
	}
	x = &look[V]{}
	l.list[id] = x
	return x
}

// make makes a look that others may be waiting for.
func (l *Looks[K, V]) make(ctx context.Context, x *look[V], see func(context.Context) (V, error)) (v V, err error) {
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
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
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return v, ctx.Err()
	}
	defer func() { <-l.turn }()
	began := time.Now()
	l.mu.Lock()
	x.fresh = true // unless something changes from here on
	l.mu.Unlock()
	v, err = see(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	x.next = began.Add(max(lookGap, (slowness+1)*time.Since(began)))
	if ctx.Err() != nil { // it is no look
		x.fresh = false
		return v, err
	}
	if err != nil { // for those who wait; who comes later tries again
		x.fresh = false
	}
	x.value, x.err, x.began = v, err, began
	return v, err
}
