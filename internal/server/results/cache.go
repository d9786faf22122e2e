package results

import (
	"context"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// cache keeps what is expensive to make of a batch: the last of each key, until what it was
// made of has changed. Of one key one is made at a time, whoever asks for it, and of all as
// many as there are turns, of which one tenant has no more than half.
type cache[K comparable, V any] struct {
	turns *turns
	size  func(V) int    // in bytes, about
	most  int            // bytes that are kept
	life  time.Duration  // no value is used for longer
	slow  time.Duration  // what took longer than this is used for slowness times as long, though something has changed
	state func(K) uint64 // another number: what values of the key are made of has changed
	of    func(V) uint64 // the state that a value is of

	mu     sync.Mutex
	things map[K]*thing[V]
}

// slowness is how often longer than it took to make a slow value is used.
const slowness = 10

// thing is what there is of a key.
type thing[V any] struct {
	value V
	made  bool
	began time.Time // when making it began
	took  time.Duration
	used  time.Time
	job   *job // nil: none is being made
}

// job is the making of a value.
type job struct {
	done    chan struct{} // closed at its end
	waiting int           // who wants it; it is given up when nobody does
	cancel  context.CancelFunc
	err     error
}

// Get returns a value that is as things were when Get was called, or later, or that was slow
// to make and is not old. If there is none it is made, for as long as somebody waits.
func (c *cache[K, V]) Get(ctx context.Context, tenant crowd.TenantID, key K, produce func(context.Context) (V, error)) (v V, err error) {
	arrived := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for ctx.Err() == nil {
		x := c.thing(key)
		if x.made && (c.of(x.value) == c.state(key) || !x.began.Before(arrived) || x.took > c.slow && time.Since(x.began) < slowness*x.took) && time.Since(x.began) < c.life {
			x.used = time.Now()
			return x.value, nil
		}
		if x.job == nil {
			c.start(ctx, tenant, key, x, produce)
		}
		j := x.job
		j.waiting++
		c.mu.Unlock()
		select {
		case <-j.done:
		case <-ctx.Done():
		}
		c.mu.Lock()
		if j.waiting--; j.waiting == 0 {
			j.cancel()
			if x.job == j { // who comes now waits for another one
				x.job = nil
			}
		}
		if j.err != nil {
			return v, j.err
		}
	}
	return v, ctx.Err()
}

// start begins to make a value. The caller holds the lock.
func (c *cache[K, V]) start(ctx context.Context, tenant crowd.TenantID, key K, x *thing[V], produce func(context.Context) (V, error)) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	j := &job{done: make(chan struct{}), cancel: cancel}
	x.job = j
	go func() {
		defer cancel()
		var v V
		var began time.Time
		err := c.turns.take(ctx, tenant)
		if err == nil {
			began = time.Now()
			v, err = produce(ctx)
			c.turns.giveBack(tenant)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if j.err = err; err == nil {
			x.value, x.made, x.began, x.took, x.used = v, true, began, time.Since(began), time.Now()
			c.evict(x)
		}
		if x.job == j {
			x.job = nil
		}
		close(j.done)
	}()
}

func (c *cache[K, V]) thing(key K) *thing[V] {
	if c.things == nil {
		c.things = make(map[K]*thing[V])
	}
	x := c.things[key]
	if x == nil {
		x = &thing[V]{}
		c.things[key] = x
	}
	return x
}

// evict forgets what was not used for the longest time, but for keep, while there is too
// much. The caller holds the lock.
func (c *cache[K, V]) evict(keep *thing[V]) {
	for {
		sum, oldest := 0, *new(K)
		var least *thing[V]
		for k, x := range c.things {
			if x.made {
				sum += c.size(x.value)
			}
			if x != keep && x.job == nil && (least == nil || x.used.Before(least.used)) {
				oldest, least = k, x
			}
		}
		if sum <= c.most || least == nil {
			return
		}
		delete(c.things, oldest)
	}
}
