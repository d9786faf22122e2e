package app

import (
	"context"
	crand "crypto/rand"
	"errors"
	"math/rand/v2"
	"regexp"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// flows carries out the runs of workflows live: one goroutine steps the
// orchestrator; calls of services and queries are goroutines of their own.
type flows struct {
	orchestrator *orchestrator.Orchestrator
	allow        httpstep.Allow
	apart        string // before each idempotency key: a service must not take this installation's runs for another's
	wake         chan struct{}
	calls        context.Context // of the calls under way
	stop         context.CancelFunc
	under        sync.WaitGroup

	mu      sync.Mutex
	clients map[crowd.TenantID]*httpstep.Client // each knows its tenant's secrets
}

func (s *service) initFlows(allow httpstep.Allow) {
	f := &s.flows
	f.allow, f.wake, f.clients = allow, make(chan struct{}, 1), make(map[crowd.TenantID]*httpstep.Client)
	f.calls, f.stop = context.WithCancel(context.Background())
	f.orchestrator = orchestrator.New(orchestrator.Config{
		Store: s.store, Crowd: liveCrowd{s}, Call: s.call, Now: s.now, Rand: rand.Float64, Log: s.log,
		Go: func(do func()) { f.under.Go(do) },
		Wake: func() {
			select {
			case f.wake <- struct{}{}:
			default: // it will look anyway
			}
			s.runs.signalAll()
		},
	})
}

// openFlows goes on with the runs that are under way.
func (s *service) openFlows(ctx context.Context) (err error) {
	if s.flows.apart, err = s.store.Secret(ctx, "idempotency", crand.Text()[:12]); err != nil {
		return err
	}
	return s.flows.orchestrator.Recover(ctx)
}

// call makes an attempt of a call in the background.
func (s *service) call(t orchestrator.Attempt, done func(httpstep.Reply, error)) {
	client := s.client(t.Tenant)
	t.Call.Key = s.flows.apart + "-" + t.Call.Key
	s.flows.under.Go(func() { done(client.Do(s.flows.calls, t.Service, t.Call, t.N)) })
}

// client returns what makes the calls of a tenant.
func (s *service) client(tenant crowd.TenantID) *httpstep.Client {
	f := &s.flows
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.clients[tenant]
	if c == nil {
		c = httpstep.NewClient(httpstep.Options{Allow: f.allow, Now: s.now, Secrets: func(name string) (string, bool) {
			value, err := s.store.TenantSecret(f.calls, tenant, name)
			if err != nil && crowd.CodeOf(err) != crowd.NotFound {
				s.log.Error("a secret cannot be read", "tenant", tenant.String(), "err", err)
			}
			return value, err == nil
		}})
		f.clients[tenant] = c
	}
	return c
}

// flowLoop steps the orchestrator until the context ends.
func (s *service) flowLoop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.flows.wake:
		case <-timer.C:
		}
		next, more := s.flows.orchestrator.Step(ctx)
		s.runs.signalAll() // what was signalled before is kept only now
		wait := time.Minute
		switch {
		case more:
			wait = 0
		case !next.IsZero():
			wait = min(max(next.Sub(s.now()), 0), time.Minute)
		}
		timer.Reset(wait)
	}
}

// closeFlows ends what is under way. The calls will be made again.
func (s *service) closeFlows() {
	s.flows.stop()
	s.flows.orchestrator.Close()
	s.flows.under.Wait()
	for _, c := range s.flows.clients {
		c.Close()
	}
}

// liveCrowd is the pools, for the orchestrator.
type liveCrowd struct{ *service }

func (s liveCrowd) Pool(_ context.Context, name string) (crowd.PoolID, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, id := range sortedKeys(s.pools) {
		if name == "" || s.pools[id].Name == name {
			return id, nil
		}
	}
	return 0, crowd.Fieldf("pool", "there is no pool %q", name)
}

// command does something to a step's batch. To one that has ended nothing is
// done.
func (s liveCrowd) command(ctx context.Context, id crowd.BatchID, f func(e *engine.Engine, now time.Time) error) error {
	b, err := s.store.Batch(ctx, 0, id)
	if err != nil || b.Progress.State.Ended() {
		return err
	}
	r, err := s.runner(b.Pool)
	if err != nil {
		return err
	}
	err = r.command(ctx, f)
	if crowd.CodeOf(err) == crowd.NotFound { // it has ended meanwhile
		return nil
	}
	return err
}

// Launch begins to hand out a step's batch. The people for it may come later.
func (s liveCrowd) Launch(ctx context.Context, id crowd.BatchID) error {
	s.admin.Lock()
	defer s.admin.Unlock()
	b, err := s.store.Batch(ctx, 0, id)
	if err != nil || b.Progress.State != crowd.BatchDraft {
		return err
	}
	if b.Spec.Budget > 0 {
		if err := s.suffices(ctx, b.Spec.Tenant, b.Spec.Budget); err != nil {
			return err
		}
	}
	spec := b.Spec
	spec.Tasks, spec.SmallCrowdOK = 0, true // the engine hears of the tasks by Grow
	r, err := s.runner(b.Pool)
	if err != nil {
		return err
	}
	return r.command(ctx, func(e *engine.Engine, now time.Time) error { return e.Launch(now, spec) })
}

func (s liveCrowd) Grow(ctx context.Context, id crowd.BatchID, first uint32, items []engine.Item) error {
	s.admin.Lock()
	defer s.admin.Unlock()
	b, err := s.store.Batch(ctx, 0, id)
	if err != nil {
		return err
	}
	if b.Spec.Budget == 0 {
		cost, ok := b.Spec.Reward.Times(int64(b.Spec.Rule.Most()) * int64(len(items)))
		if !ok {
			return crowd.Fieldf("reward", "%d tasks cost more than anybody has", len(items))
		}
		if err := s.suffices(ctx, b.Spec.Tenant, cost); err != nil {
			return err
		}
	}
	return s.command(ctx, id, func(e *engine.Engine, now time.Time) error { return e.Grow(now, id, first, items) })
}

func (s liveCrowd) Seal(ctx context.Context, id crowd.BatchID) error {
	return s.command(ctx, id, func(e *engine.Engine, now time.Time) error { return e.Seal(now, id) })
}

func (s liveCrowd) SetTail(ctx context.Context, id crowd.BatchID, tail time.Duration) error {
	return s.command(ctx, id, func(e *engine.Engine, now time.Time) error { return e.SetTail(now, id, tail) })
}

func (s liveCrowd) Pause(ctx context.Context, id crowd.BatchID) error {
	return s.command(ctx, id, func(e *engine.Engine, now time.Time) error { return e.Pause(now, id) })
}

func (s liveCrowd) Resume(ctx context.Context, id crowd.BatchID) error {
	return s.command(ctx, id, func(e *engine.Engine, now time.Time) error { return e.Resume(now, id) })
}

func (s liveCrowd) Cancel(ctx context.Context, id crowd.BatchID) error {
	return s.command(ctx, id, func(e *engine.Engine, now time.Time) error { return e.Cancel(now, id) })
}

func (s liveCrowd) End(ctx context.Context, id crowd.BatchID) error {
	return s.command(ctx, id, func(e *engine.Engine, now time.Time) error { return e.End(now, id) })
}

// Check reads the file of a workflow and tells everything that is wrong
// with it.
func (s *Runs) Check(ctx context.Context, text string) (*workflow.Workflow, []workflow.Problem) {
	return orchestrator.Parse(ctx, text, nil, s.time())
}

// Make makes a run of a workflow, which then needs its inputs.
func (s *Runs) Make(ctx context.Context, p *Principal, n orchestrator.NewRun) (orchestrator.Created, error) {
	if err := p.forTenant(n.Tenant); err != nil {
		return orchestrator.Created{}, err
	}
	if _, err := s.store.Tenant(ctx, n.Tenant); err != nil {
		return orchestrator.Created{}, err
	}
	switch {
	case n.Budget < 0:
		return orchestrator.Created{}, crowd.Fieldf("budget", "%s is not a budget (more than 0)", n.Budget)
	case n.From != "" && n.Parent == 0:
		return orchestrator.Created{}, crowd.Fieldf("parent", "is missing: from is a step of it")
	}
	n.By = p.User.ID
	return s.flows.orchestrator.Create(ctx, n)
}

// Load reads a file as an input of a run that was made.
func (s *Runs) Load(ctx context.Context, p *Principal, id crowd.RunID, input string, file table.Rows) (orchestrator.LoadResult, error) {
	if _, err := s.run(ctx, p, id); err != nil {
		return orchestrator.LoadResult{}, err
	}
	return s.flows.orchestrator.Load(ctx, id, input, file)
}

// Start begins a run whose inputs are there.
func (s *Runs) Start(ctx context.Context, p *Principal, id crowd.RunID) (store.Run, error) {
	return s.onRun(ctx, p, id, func(c *orchestrator.Orchestrator) error { return c.Start(ctx, id) })
}

var errRun = &crowd.Error{Code: crowd.NotFound, Field: "run", Message: "there is no such run"}

// run returns a run that p may see.
func (s *service) run(ctx context.Context, p *Principal, id crowd.RunID) (store.Run, error) {
	if !p.Is(Admin) {
		if err := p.need(Requester); err != nil {
			return store.Run{}, err
		}
	}
	r, err := s.store.Run(ctx, 0, id)
	if crowd.CodeOf(err) == crowd.NotFound || (err == nil && p.forTenant(r.Tenant) != nil) {
		return store.Run{}, errRun
	}
	return r, err
}

// onRun does something to a run, and returns it as it is then.
func (s *service) onRun(ctx context.Context, p *Principal, id crowd.RunID, f func(*orchestrator.Orchestrator) error) (store.Run, error) {
	if _, err := s.run(ctx, p, id); err != nil {
		return store.Run{}, err
	}
	if err := f(s.flows.orchestrator); err != nil {
		return store.Run{}, err
	}
	s.runs.signal(id)
	return s.store.Run(ctx, 0, id)
}

// Pause stops a run; what people hold they may submit.
func (s *Runs) Pause(ctx context.Context, p *Principal, id crowd.RunID) (store.Run, error) {
	return s.onRun(ctx, p, id, func(c *orchestrator.Orchestrator) error { return c.Pause(ctx, id) })
}

// Resume goes on with a paused run.
func (s *Runs) Resume(ctx context.Context, p *Principal, id crowd.RunID) (store.Run, error) {
	return s.onRun(ctx, p, id, func(c *orchestrator.Orchestrator) error { return c.Resume(ctx, id) })
}

// Cancel gives a run up; what it has made stays to be read.
func (s *Runs) Cancel(ctx context.Context, p *Principal, id crowd.RunID) (store.Run, error) {
	return s.onRun(ctx, p, id, func(c *orchestrator.Orchestrator) error {
		r, err := s.store.Run(ctx, 0, id)
		if err != nil || r.State != store.RunLoading {
			return errors.Join(err, c.Cancel(ctx, id))
		}
		return c.Abandon(ctx, id)
	})
}

// EndStep ends a crowd step of a run early, with the labels that there are.
func (s *Runs) EndStep(ctx context.Context, p *Principal, id crowd.RunID, step string) (store.Run, error) {
	return s.onRun(ctx, p, id, func(c *orchestrator.Orchestrator) error { return c.EndStep(ctx, id, step) })
}

// Retry tries again what a step ("": every step) holds, and steps that have
// failed.
func (s *Runs) Retry(ctx context.Context, p *Principal, id crowd.RunID, step string) (items, steps int, err error) {
	_, err = s.onRun(ctx, p, id, func(c *orchestrator.Orchestrator) (err error) {
		items, steps, err = c.Retry(ctx, id, step)
		return err
	})
	return items, steps, err
}

// Skip gives up the items that a step ("": every step) holds.
func (s *Runs) Skip(ctx context.Context, p *Principal, id crowd.RunID, step string) (items int, err error) {
	_, err = s.onRun(ctx, p, id, func(c *orchestrator.Orchestrator) (err error) {
		items, err = c.Skip(ctx, id, step)
		return err
	})
	return items, err
}

// List lists the runs of a tenant (0: of all, for an admin) with ids below before
// (0: all), newest first.
func (s *Runs) List(ctx context.Context, p *Principal, tenant crowd.TenantID, before crowd.RunID, limit int) ([]store.Run, error) {
	if tenant == 0 {
		if !p.Is(Admin) && p.Is(Requester) {
			return nil, crowd.Fieldf("tenant", "say for which tenant")
		}
		if err := p.need(Admin); err != nil {
			return nil, err
		}
	} else if err := p.forTenant(tenant); err != nil {
		return nil, err
	}
	return s.store.ListRuns(ctx, tenant, before, limit)
}

// Get returns a run as it stands.
func (s *Runs) Get(ctx context.Context, p *Principal, id crowd.RunID) (*orchestrator.View, error) {
	if _, err := s.run(ctx, p, id); err != nil {
		return nil, err
	}
	return s.flows.orchestrator.View(ctx, 0, id)
}

// Slowest returns the items that have been on their way for the longest at
// each step, and why they wait.
func (s *Runs) Slowest(ctx context.Context, p *Principal, id crowd.RunID, limit int) ([]orchestrator.SlowItem, error) {
	if _, err := s.run(ctx, p, id); err != nil {
		return nil, err
	}
	return s.flows.orchestrator.SlowestItems(ctx, 0, id, limit)
}

// Path returns where an item of a run has been.
func (s *Runs) Path(ctx context.Context, p *Principal, id crowd.RunID, item int64) ([]orchestrator.Visit, error) {
	if _, err := s.run(ctx, p, id); err != nil {
		return nil, err
	}
	return s.flows.orchestrator.Path(ctx, 0, id, item)
}

// Items lists up to limit rows of a node of a run after number n.
func (s *Runs) Items(ctx context.Context, p *Principal, id crowd.RunID, node string, after int64, limit int) ([]store.JoinedRow, error) {
	if _, err := s.run(ctx, p, id); err != nil {
		return nil, err
	}
	return s.flows.orchestrator.Items(ctx, id, node, after, limit)
}

// Faults lists up to limit items that steps of a run hold with an error, with
// numbers above after.
func (s *Runs) Faults(ctx context.Context, p *Principal, id crowd.RunID, after int64, limit int) ([]store.Fault, error) {
	if _, err := s.run(ctx, p, id); err != nil {
		return nil, err
	}
	return s.store.Faults(ctx, id, -1, after, limit)
}

// Results returns the rows of a node of a run, whole.
func (s *Runs) Results(ctx context.Context, p *Principal, id crowd.RunID, node string) (*orchestrator.Results, error) {
	if _, err := s.run(ctx, p, id); err != nil {
		return nil, err
	}
	return s.flows.orchestrator.Results(ctx, 0, id, node)
}

// Watch returns a channel that gets a signal when a run may have changed, and
// closes when the server does. stop must be called in the end.
func (s *Runs) Watch(ctx context.Context, p *Principal, id crowd.RunID) (changed <-chan struct{}, stop func(), err error) {
	if _, err := s.run(ctx, p, id); err != nil {
		return nil, nil, err
	}
	changed, stop = s.runs.add(id)
	return changed, stop, nil
}

var secretName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// maxSecret is the length of a secret, in bytes.
const maxSecret = 4096

// PutSecret keeps a secret of a tenant, which its workflows name.
func (s *Tenants) PutSecret(ctx context.Context, p *Principal, tenant crowd.TenantID, name, value string) error {
	switch err := p.forTenant(tenant); {
	case err != nil:
		return err
	case !secretName.MatchString(name):
		return crowd.Fieldf("name", "%q is not the name of a secret (letters, digits and _, at most 64)", name)
	case value == "" || len(value) > maxSecret:
		return crowd.Fieldf("value", "a secret has 1 to %d bytes", maxSecret)
	}
	return s.store.PutTenantSecret(ctx, tenant, name, value)
}

// DeleteSecret forgets a secret.
func (s *Tenants) DeleteSecret(ctx context.Context, p *Principal, tenant crowd.TenantID, name string) error {
	if err := p.forTenant(tenant); err != nil {
		return err
	}
	return s.store.DeleteTenantSecret(ctx, tenant, name)
}

// Secrets lists the names of a tenant's secrets. What they are nobody is told.
func (s *Tenants) Secrets(ctx context.Context, p *Principal, tenant crowd.TenantID) ([]string, error) {
	if err := p.forTenant(tenant); err != nil {
		return nil, err
	}
	return s.store.TenantSecrets(ctx, tenant)
}
