package live

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
)

// Store is what a pool is restored from, and what keeps its changes.
type Store interface {
	Pool(ctx context.Context, id crowd.PoolID) (store.Pool, error)
	Snapshot(ctx context.Context, id crowd.PoolID) (*engine.Snapshot, error)
	Commit(ctx context.Context, c *engine.Changes) error
}

// Config sets up the pools.
type Config struct {
	Store Store
	Now   Clock
	Log   *slog.Logger

	// Changed is called with each durable change, before those who asked for it
	// are answered. A pool's loop calls it, so it must not wait for anything.
	Changed func(*engine.Changes)
	// Restored is called with the people on duty when a pool starts, or goes on
	// from what the store has.
	Restored func(crowd.PoolID, []engine.OnCall)
}

// Pools is the pools that run, with their settings.
type Pools struct {
	cfg     Config
	changes sync.Mutex // of ChangeSettings

	mu       sync.RWMutex // of the maps
	pools    map[crowd.PoolID]*Pool
	settings map[crowd.PoolID]store.Pool
}

// New makes an empty set of pools.
func New(cfg Config) *Pools {
	return &Pools{cfg: cfg, pools: make(map[crowd.PoolID]*Pool), settings: make(map[crowd.PoolID]store.Pool)}
}

// ChangeSettings lets change settings of pools or tenants while no others are
// changed, so that a new pool misses no change of a tenant.
func (l *Pools) ChangeSettings(change func() error) error {
	l.changes.Lock()
	defer l.changes.Unlock()
	return change()
}

// Start restores a pool from the store and runs it.
func (l *Pools) Start(ctx context.Context, p store.Pool) error {
	pool, err := start(ctx, p.ID, l.cfg)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.pools[p.ID], l.settings[p.ID] = pool, p
	l.mu.Unlock()
	return pool.Do(ctx, func(e *engine.Engine, now time.Time) { l.cfg.Restored(p.ID, e.People(now)) })
}

// ErrPool is the error about a pool that is not there, or not to be seen.
var ErrPool = crowd.Errorf(crowd.NotFound, "no such pool")

// Get returns a pool that runs.
func (l *Pools) Get(id crowd.PoolID) (*Pool, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if p := l.pools[id]; p != nil {
		return p, nil
	}
	return nil, ErrPool
}

// Settings returns the settings of a pool.
func (l *Pools) Settings(id crowd.PoolID) (store.Pool, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	p, ok := l.settings[id]
	return p, ok
}

// SetSettings replaces the settings of a pool. The engine is told separately.
func (l *Pools) SetSettings(p store.Pool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settings[p.ID] = p
}

// Lookup finds a pool by its name.
func (l *Pools) Lookup(name string) (crowd.PoolID, bool) {
	for _, p := range l.List() {
		if p.Name == name {
			return p.ID, true
		}
	}
	return 0, false
}

// List returns the settings of the pools, in order of id.
func (l *Pools) List() []store.Pool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	list := make([]store.Pool, 0, len(l.settings))
	for _, p := range l.settings {
		list = append(list, p)
	}
	slices.SortFunc(list, func(x, y store.Pool) int { return cmp.Compare(x.ID, y.ID) })
	return list
}

// ReachableBy lists the pools in which a worker may come to work: their own, and those to
// which they are moved. Who serves some tenants only is moved by admins alone.
func (l *Pools) ReachableBy(u *store.User) []store.Pool {
	if len(u.Serves) > 0 {
		return lists.Filter(l.List(), func(p store.Pool) bool { return p.ID == u.Pool || p.ID == u.Home })
	}
	return l.Reachable(u.Pool, u.Home)
}

// Reachable lists the pools to which the control moves people of some pools, those
// themselves among them: pools that balance move people between each other, and rules
// take them from the pool that they name.
func (l *Pools) Reachable(from ...crowd.PoolID) []store.Pool {
	list := l.List()
	names := make(map[crowd.PoolID][]string, len(list))
	for i := range list {
		names[list[i].ID] = list[i].Control.TakesFrom()
	}
	reached := make(map[crowd.PoolID]bool)
	var visit func(at *store.Pool)
	visit = func(at *store.Pool) {
		if reached[at.ID] {
			return
		}
		reached[at.ID] = true
		for i := range list {
			if to := &list[i]; at.Control.Balance && to.Control.Balance || slices.Contains(names[to.ID], at.Name) {
				visit(to)
			}
		}
	}
	for i := range list {
		if slices.Contains(from, list[i].ID) {
			visit(&list[i])
		}
	}
	return lists.Filter(list, func(p store.Pool) bool { return reached[p.ID] })
}

// Each calls f with every pool, even if it fails for some.
func (l *Pools) Each(f func(p *Pool) error) error {
	l.mu.RLock()
	pools := make([]*Pool, 0, len(l.pools))
	for _, p := range l.pools {
		pools = append(pools, p)
	}
	l.mu.RUnlock()
	var errs []error
	for _, p := range pools {
		errs = append(errs, f(p))
	}
	return errors.Join(errs...)
}

// StopWaiting ends all waiting for tasks, now and to come.
func (l *Pools) StopWaiting() {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, p := range l.pools {
		p.stopWaiting()
	}
}

// Close stops every pool after what was begun is durable.
func (l *Pools) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, p := range l.pools {
		p.close()
		delete(l.pools, id)
	}
}

// Clock is the clock of the server: time.Now, unless a test has its own.
type Clock func() time.Time

// Time returns the present, as precise as what is kept.
func (c Clock) Time() time.Time { return c().UTC().Truncate(time.Microsecond) }
