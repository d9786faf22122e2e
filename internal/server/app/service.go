package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
	"github.com/throng-dev/throng/pool"
	"github.com/throng-dev/throng/sched"
)

// Config sets up a Service.
type Config struct {
	Store store.Store
	Log   *slog.Logger
	Now   func() time.Time // the clock; time.Now unless a test has its own

	// ControlEvery is how often the pools are sized; 0: only when ControlStep is
	// called.
	ControlEvery time.Duration
	Balance      pool.Balancer // moves people between pools; nil: nobody
	Random       pool.Random   // for what controllers leave to chance; nil: a source of its own

	Senders   Senders // send messages to people who are off duty
	PublicURL string  // where people reach the server: goes before the links in messages

	// Services are the private places that service steps of workflows may call,
	// beside public ones.
	Services httpstep.Allow
}

// DefaultPolicy is the policy of a new pool: tenants share fairly, batches of a
// tenant by weight.
const DefaultPolicy = "tenant-fair(wfs)"

// service is the running server without its edges. Make it with Open.
type service struct {
	store      store.Store
	log        *slog.Logger
	now        func() time.Time
	passwords  *auth.Passwords
	attempts   attempts
	sessions   sessionCache
	defs       definitionCache
	shelf      shelf
	watchers   watchers[crowd.BatchID]
	workers    watchers[crowd.WorkerID] // who watches his own duty
	runs       watchers[crowd.RunID]    // who watches a run of a workflow
	flows      flows
	forecasts  forecasts
	roster     roster
	caller     caller
	outbox     outbox
	inviting   inviting
	recruiter  pool.Recruiter // whom decisions are told to
	mover      mover
	director   director
	shares     shares
	stop       context.CancelFunc // ends what runs in the background
	background sync.WaitGroup

	admin   sync.Mutex             // held by changes to tenants, people, pools, drafts and money
	uploads map[crowd.BatchID]bool // drafts that are getting their tasks; guarded by admin

	mu      sync.RWMutex
	runners map[crowd.PoolID]*runner
	pools   map[crowd.PoolID]store.Pool
}

// Open starts the service on a store: every pool goes on where it was. A new
// store gets one pool, "main".
func Open(ctx context.Context, cfg Config) (*App, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	s := &service{
		store: cfg.Store, log: cfg.Log, now: cfg.Now,
		passwords: auth.NewPasswords(runtime.NumCPU()),
		uploads:   make(map[crowd.BatchID]bool),
		runners:   make(map[crowd.PoolID]*runner),
		pools:     make(map[crowd.PoolID]store.Pool),
	}
	a := newApp(s)
	s.watchers.init()
	s.workers.init()
	s.runs.init()
	s.initFlows(cfg.Services)
	s.mover.init()
	if cfg.Random == nil {
		cfg.Random = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	s.director.init(cfg.Balance, cfg.Random)
	s.recruiter = &s.caller
	s.forecasts.init()
	s.outbox.init(cfg.Senders, cfg.PublicURL)
	s.shelf.store = s.store
	pools, err := s.store.ListPools(ctx)
	if err != nil {
		return nil, err
	}
	if len(pools) == 0 {
		p := s.newPool("main", DefaultPolicy)
		if p.ID, err = s.store.CreatePool(ctx, p); err != nil {
			return nil, err
		}
		pools = append(pools, p)
	}
	if err := s.roster.load(ctx, s.store, pools); err != nil {
		return nil, err
	}
	if err := s.caller.load(ctx, s); err != nil {
		return nil, err
	}
	var background context.Context
	background, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	for _, p := range pools {
		if err := s.startPool(ctx, p); err != nil {
			a.Close()
			return nil, fmt.Errorf("start pool %s: %w", p.Name, err)
		}
	}
	s.resumeMoves(ctx)
	if err := s.openFlows(ctx); err != nil {
		a.Close()
		return nil, fmt.Errorf("take up the runs of workflows: %w", err)
	}
	s.background.Go(func() { s.flowLoop(background) })
	if cfg.ControlEvery > 0 {
		s.background.Go(func() { a.Control.controlLoop(background, cfg.ControlEvery) })
	}
	if s.canMail() || s.canPush() {
		s.background.Go(func() { s.outboxLoop(background) })
	}
	return a, nil
}

func (s *service) startPool(ctx context.Context, p store.Pool) error {
	if p.Calling.Ask == 0 { // kept by a version that knew nothing of it
		p.Calling, p.Retainer = DefaultCalling(), DefaultRetainer()
		if err := s.store.UpdatePool(ctx, p); err != nil {
			return err
		}
	}
	if err := s.director.set(p); err != nil {
		return err
	}
	r, err := startRunner(ctx, p, s.store, s.now, s.log, s.published, s.roster.present)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.runners[p.ID], s.pools[p.ID] = r, p
	s.mu.Unlock()
	return r.do(ctx, func(e *engine.Engine, now time.Time) { s.roster.present(p.ID, e.People(now)) })
}

// Ready says whether every pool takes commands.
func (a *App) Ready(ctx context.Context) error {
	return a.service.everywhere(func(r *runner) error { return r.do(ctx, func(*engine.Engine, time.Time) {}) })
}

// StopWaiting ends long polls and watching, so that a server can close.
func (a *App) StopWaiting() {
	a.service.watchers.close()
	a.service.workers.close()
	a.service.runs.close()
	a.service.mu.RLock()
	defer a.service.mu.RUnlock()
	for _, r := range a.service.runners {
		r.stopWaiting()
	}
}

// Close stops every pool after what was begun is durable. The store stays open.
func (a *App) Close() {
	a.StopWaiting()
	a.service.forecasts.close()
	a.service.stop()
	a.service.background.Wait()
	a.service.closeFlows()
	a.service.mu.Lock()
	defer a.service.mu.Unlock()
	for id, r := range a.service.runners {
		r.close()
		delete(a.service.runners, id)
	}
}

// time is the present, as precise as what is kept.
func (s *service) time() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// runner returns the runner of a pool.
func (s *service) runner(id crowd.PoolID) (*runner, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if r := s.runners[id]; r != nil {
		return r, nil
	}
	return nil, crowd.Errorf(crowd.NotFound, "no such pool")
}

// everywhere calls f with every pool's runner, whatever becomes of the others.
func (s *service) everywhere(f func(r *runner) error) error {
	s.mu.RLock()
	runners := make([]*runner, 0, len(s.runners))
	for _, r := range s.runners {
		runners = append(runners, r)
	}
	s.mu.RUnlock()
	var errs []error
	for _, r := range runners {
		errs = append(errs, f(r))
	}
	return errors.Join(errs...)
}

// tell lets the engine know of a change that the store has already, even if who
// asked for the change has gone. A pool that cannot hear it, because the store
// has failed, will read it: it goes on from what the store has.
func (r *runner) tell(f func(e *engine.Engine, now time.Time) error) error {
	err := r.command(context.Background(), f)
	if code := crowd.CodeOf(err); code == crowd.Unavailable || code == crowd.StorageFull {
		return nil
	}
	return err
}

// command runs a command that may be refused.
func (r *runner) command(ctx context.Context, f func(e *engine.Engine, now time.Time) error) error {
	var refused error
	if err := r.do(ctx, func(e *engine.Engine, now time.Time) { refused = f(e, now) }); err != nil {
		return err
	}
	return refused
}

// Policies lists the text forms of the policies that a pool can have, for
// help texts and menus.
func Policies() []string { return sched.Names() }
