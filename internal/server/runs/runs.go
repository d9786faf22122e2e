package runs

import (
	"context"
	crand "crypto/rand"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// Config sets up the runs.
type Config struct {
	Store store.Store
	Crowd orchestrator.Crowd
	Log   *slog.Logger
	Clock live.Clock
	// Services are the private places that service steps may call, in addition to
	// public ones.
	Services httpstep.Allow
	// Streams counts open event streams.
	Streams *limits.Streams
	Quotas  *limits.Quotas
	Uploads *limits.Slots
	// Downloads bounds reads of all rows of a step.
	Downloads *limits.Slots
}

// Runs is the runs of workflows. One goroutine steps the orchestrator (Run); calls
// of services and queries are goroutines of their own.
type Runs struct {
	store        store.Store
	log          *slog.Logger
	clock        live.Clock
	allow        httpstep.Allow
	orchestrator *orchestrator.Orchestrator
	watched      *limits.Watched[crowd.RunID]
	views        *limits.SharedViews[crowd.RunID, *orchestrator.View]
	details      *limits.SharedViews[crowd.RunID, Details]
	keyPrefix    string // of each idempotency key: services must not take this installation's runs for another's
	wake         chan struct{}
	calls        context.Context // of the calls and queries under way
	stop         context.CancelFunc
	reading      *turns[crowd.WorkerID] // of files of workflows, by person
	queries      *turns[crowd.TenantID]
	quotas       *limits.Quotas
	uploads      *limits.Slots
	downloads    *limits.Slots
	underway     sync.WaitGroup

	turning runLocks // held by commands that change a run's state

	mu      sync.Mutex
	clients map[crowd.TenantID]*httpstep.Client // each knows its tenant's secrets
}

// New makes the use case. Nothing runs before Continue.
func New(cfg Config) *Runs {
	s := &Runs{
		watched: limits.NewWatched[crowd.RunID](cfg.Streams),
		store:   cfg.Store, log: cfg.Log, clock: cfg.Clock, allow: cfg.Services,
		wake: make(chan struct{}, 1), reading: newTurns(maxReading, func(crowd.WorkerID) int { return 1 }), queries: newQueryTurns(cfg.Quotas), quotas: cfg.Quotas, uploads: cfg.Uploads, downloads: cfg.Downloads, clients: make(map[crowd.TenantID]*httpstep.Client),
	}
	s.views, s.details = limits.NewSharedViews[crowd.RunID, *orchestrator.View](s.watched), limits.NewSharedViews[crowd.RunID, Details](s.watched)
	s.calls, s.stop = context.WithCancel(context.Background())
	s.orchestrator = orchestrator.New(s.calls, orchestrator.Config{
		Store: cfg.Store, Crowd: cfg.Crowd, Call: s.call, Query: s.query, Later: s.later, Now: cfg.Clock, Rand: rand.Float64, Log: cfg.Log,
		Wake: func() {
			select {
			case s.wake <- struct{}{}:
			default: // it will look anyway
			}
			s.watched.AllChanged()
		},
	})
	return s
}

// Continue goes on with the runs that are under way.
func (s *Runs) Continue(ctx context.Context) (err error) {
	if s.keyPrefix, err = s.store.Secret(ctx, "idempotency", crand.Text()[:12]); err != nil {
		return err
	}
	return s.orchestrator.Recover(ctx)
}

// Changed tells the orchestrator of batches that have changed. A pool's loop
// calls it.
func (s *Runs) Changed(c *engine.Changes) {
	for i := range c.Progress {
		s.orchestrator.BatchChanged(c.Progress[i].Batch)
	}
}

// StopWaiting ends all watching.
func (s *Runs) StopWaiting() { s.watched.Close() }

// call makes an attempt of a call, in a goroutine of its own.
func (s *Runs) call(t orchestrator.Attempt, done func(httpstep.Reply, error)) {
	if err := s.quotas.Use(t.Tenant, store.ServiceCalls, 1); err != nil {
		s.underway.Go(func() { done(httpstep.Reply{}, err) })
		return
	}
	client := s.client(t.Tenant)
	t.Call.Key = s.keyPrefix + "-" + t.Call.Key
	s.underway.Go(func() { done(client.Do(s.calls, t.Service, t.Call, t.N)) })
}

// query runs a query when it is its turn, in a goroutine of its own.
func (s *Runs) query(q orchestrator.Query) {
	s.underway.Go(func() {
		for !s.queryInTime(q) {
			// It waits for the next day, or for a quota to be raised.
		}
	})
}

// client returns what makes the calls of a tenant.
func (s *Runs) client(tenant crowd.TenantID) *httpstep.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clients[tenant]
	if c == nil {
		c = httpstep.NewClient(httpstep.Options{Allow: s.allow, Now: s.clock, Secrets: func(name string) (httpstep.Secret, bool) {
			t, err := s.store.TenantSecret(s.calls, tenant, name)
			if err != nil && crowd.CodeOf(err) != crowd.NotFound {
				s.log.Error("a secret cannot be read", "tenant", tenant.String(), "err", err)
			}
			return httpstep.Secret{Value: t.Value, Hosts: t.Hosts}, err == nil
		}})
		s.clients[tenant] = c
	}
	return c
}

// Run steps the orchestrator until ctx is done.
func (s *Runs) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
		next, more := s.orchestrator.Step(ctx)
		s.watched.AllChanged() // what was signalled before is kept only now
		wait := time.Minute
		switch {
		case more:
			wait = 0
		case !next.IsZero():
			wait = min(max(next.Sub(s.clock()), 0), time.Minute)
		}
		timer.Reset(wait)
	}
}

// Close ends what is under way. The calls will be made again.
func (s *Runs) Close() {
	s.stop()
	s.orchestrator.Close()
	s.underway.Wait()
	for _, c := range s.clients {
		c.Close()
	}
}

// Checked is what a check of a workflow's file found.
type Checked struct {
	Workflow *workflow.Workflow
	Problems []workflow.Problem // everything that is wrong with it
	Notes    []string           // of pools that do not look at its SLA, or have too few people for a step
	Lacking  []string           // steps for which nobody is qualified, if it is checked for a tenant and in order
	// Done is to be called when the answer about it has been made, not when it has been
	// sent: until then another file may have to wait.
	Done func()
}

// Check reads the file of a run that is not made: of a tenant's, or of any of p's (0). With a
// parent, steps that have all their rows from it lack nobody.
func (s *Runs) Check(ctx context.Context, p *access.Principal, n orchestrator.NewRun) (Checked, error) {
	tenant := n.Tenant
	if err := p.May(access.RunsCheck); err != nil {
		return Checked{}, err
	}
	if tenant != 0 {
		if err := p.MayFor(access.RunsCheckFor, tenant); err != nil {
			return Checked{}, err
		}
	}
	switch {
	case n.From != "" && n.Parent == 0:
		return Checked{}, errNoParent
	case n.Parent != 0 && tenant == 0:
		return Checked{}, crowd.Fieldf("tenant", "is missing: parent is a run of it")
	}
	may, err := s.allowed(ctx, p, tenant)
	if err != nil {
		return Checked{}, err
	}
	done, err := s.read(ctx, p)
	if err != nil {
		return Checked{}, err
	}
	w, problems, err := orchestrator.ParseFor(ctx, n.Text, s.clock.Time(), may)
	var notes []string
	if err == nil {
		notes, err = s.notesOn(ctx, w, func(x *store.Pool) bool { return knows(p, tenant, x) })
	}
	var lacking, few []string
	if err == nil && tenant != 0 && len(problems) == 0 {
		lacking, few, err = s.orchestrator.People(ctx, n, w)
	}
	if err != nil {
		done()
		return Checked{}, err
	}
	return Checked{w, problems, append(notes, few...), lacking, done}, nil
}

// read waits until p may have a file of a workflow read.
func (s *Runs) read(ctx context.Context, p *access.Principal) (done func(), err error) {
	_, done = s.reading.take(ctx, p.User.ID, 0, func(string) {})
	if ctx.Err() != nil {
		done()
		return nil, ctx.Err()
	}
	return done, nil
}

// Make makes a run of a workflow, which then needs its inputs.
func (s *Runs) Make(ctx context.Context, p *access.Principal, n orchestrator.NewRun) (orchestrator.Created, error) {
	if err := p.MayFor(access.RunsMake, n.Tenant); err != nil {
		return orchestrator.Created{}, err
	}
	if _, err := s.store.Tenant(ctx, n.Tenant); err != nil {
		return orchestrator.Created{}, err
	}
	switch {
	case n.Budget < 0:
		return orchestrator.Created{}, crowd.Fieldf("budget", "%s is not a budget (more than 0)", n.Budget)
	case n.From != "" && n.Parent == 0:
		return orchestrator.Created{}, errNoParent
	}
	n.By = p.User.ID
	done, err := s.read(ctx, p)
	if err != nil {
		return orchestrator.Created{}, err
	}
	defer done()
	ctx, act := p.Acting(ctx, access.RunsMake, store.AuditEntry{At: s.clock.Time(), Tenant: n.Tenant, Kind: "run"})
	act.After = n
	return s.orchestrator.Create(ctx, n)
}

// MakeAgain makes a run that is getting its inputs once more, without those that were
// loaded, and gives the first one up.
func (s *Runs) MakeAgain(ctx context.Context, p *access.Principal, id crowd.RunID) (orchestrator.Created, error) {
	r, err := s.find(ctx, p, access.RunsAgain, id)
	if err != nil {
		return orchestrator.Created{}, err
	}
	if r.State != store.RunLoading {
		return orchestrator.Created{}, crowd.Errorf(crowd.Conflict, "%s is %s: only a run that has not started gets other files", id, r.State)
	}
	nodes, err := s.store.Nodes(ctx, id)
	if err != nil {
		return orchestrator.Created{}, err
	}
	n := orchestrator.NewRun{Tenant: r.Tenant, Text: r.Text, Name: r.Name, Budget: r.Budget, Parent: r.Parent, From: r.From, AskAgain: r.AskAgain, RenewAges: r.RenewAges}
	for _, in := range nodes {
		if in.Open {
			n.Open = append(n.Open, in.Name)
		}
	}
	ctx, _ = p.Acting(ctx, access.RunsAgain, store.AuditEntry{At: s.clock.Time(), Tenant: r.Tenant, Kind: "run"})
	made, err := s.Make(ctx, p, n)
	if err != nil {
		return made, err
	}
	if err = s.orchestrator.Abandon(ctx, id); err != nil { // one of them is enough
		err = errors.Join(err, s.orchestrator.Abandon(context.WithoutCancel(ctx), made.Run.ID))
	}
	return made, err
}

// Load reads a file as an input of a run that was made.
func (s *Runs) Load(ctx context.Context, p *access.Principal, id crowd.RunID, input string, file table.Open) (orchestrator.LoadResult, error) {
	r, err := s.find(ctx, p, access.RunsLoad, id)
	if err != nil {
		return orchestrator.LoadResult{}, err
	}
	end, err := s.uploads.Start(ctx, p.User.ID, r.Tenant, 1)
	if err != nil {
		return orchestrator.LoadResult{}, err
	}
	defer end()
	s.quotas.Uploads(ctx, r.Tenant)
	ctx = s.acting(ctx, p, access.RunsLoad, &r, told{Input: input})
	return s.orchestrator.Load(ctx, id, input, file)
}

// AddRows adds rows to an open input of a run that has started.
func (s *Runs) AddRows(ctx context.Context, p *access.Principal, id crowd.RunID, n orchestrator.NewRows) (orchestrator.AddedRows, error) {
	r, err := s.find(ctx, p, access.RunsAddRows, id)
	if err != nil {
		return orchestrator.AddedRows{}, err
	}
	end, err := s.uploads.Start(ctx, p.User.ID, r.Tenant, 1)
	if err != nil {
		return orchestrator.AddedRows{}, err
	}
	defer end()
	s.quotas.Uploads(ctx, r.Tenant)
	ctx = s.acting(ctx, p, access.RunsAddRows, &r, told{Input: n.Input, Feed: n.Feed})
	out, err := s.orchestrator.AddRows(ctx, id, n)
	if err == nil {
		s.watched.Changed(id)
	}
	return out, err
}

// FeedRows returns how many rows of a feed an input of a run has.
func (s *Runs) FeedRows(ctx context.Context, p *access.Principal, id crowd.RunID, input, feed string) (int64, error) {
	if _, err := s.find(ctx, p, access.RunsFeedRows, id); err != nil {
		return 0, err
	}
	return s.orchestrator.FeedRows(ctx, id, input, feed)
}

// SealInputs ends an open input of a run ("": all of them): no more rows come.
func (s *Runs) SealInputs(ctx context.Context, p *access.Principal, id crowd.RunID, input string) (store.Run, error) {
	return s.onRun(ctx, p, id, command{access.RunsSealInputs, told{Input: input}, func(ctx context.Context, c *orchestrator.Orchestrator) error { return c.SealInputs(ctx, id, input) }})
}

// Start begins a run whose inputs are there. With smallCrowd it may have steps that nobody
// is qualified for yet; without, the error is of code Conflict then.
func (s *Runs) Start(ctx context.Context, p *access.Principal, id crowd.RunID, smallCrowd bool) (store.Run, error) {
	return s.onRun(ctx, p, id, command{access.RunsStart, told{State: store.RunRunning}, func(ctx context.Context, c *orchestrator.Orchestrator) error {
		if !smallCrowd {
			if err := c.CheckPeople(ctx, id); err != nil {
				return err
			}
		}
		return c.Start(ctx, id)
	}})
}

var errNoParent = crowd.Fieldf("parent", "is missing: from is a step of it")

// Pause stops a run; what people hold they may submit.
func (s *Runs) Pause(ctx context.Context, p *access.Principal, id crowd.RunID) (store.Run, error) {
	return s.onRun(ctx, p, id, command{access.RunsPause, told{State: store.RunPaused}, func(ctx context.Context, c *orchestrator.Orchestrator) error { return c.Pause(ctx, id) }})
}

// Resume goes on with a paused run.
func (s *Runs) Resume(ctx context.Context, p *access.Principal, id crowd.RunID) (store.Run, error) {
	return s.onRun(ctx, p, id, command{access.RunsResume, told{State: store.RunRunning}, func(ctx context.Context, c *orchestrator.Orchestrator) error { return c.Resume(ctx, id) }})
}

// Cancel gives a run up; what it has made stays to be read.
func (s *Runs) Cancel(ctx context.Context, p *access.Principal, id crowd.RunID) (store.Run, error) {
	return s.onRun(ctx, p, id, command{access.RunsCancel, told{State: store.RunCancelled}, func(ctx context.Context, c *orchestrator.Orchestrator) error {
		r, err := s.store.Run(ctx, 0, id)
		if err != nil || r.State != store.RunLoading {
			return errors.Join(err, c.Cancel(ctx, id))
		}
		return c.Abandon(ctx, id)
	}})
}

// TopUp raises what a run with a budget may spend.
func (s *Runs) TopUp(ctx context.Context, p *access.Principal, id crowd.RunID, amount crowd.Money) (store.Run, error) {
	before, err := s.find(ctx, p, access.RunsTopUp, id)
	if err != nil {
		return store.Run{}, err
	}
	ctx = s.acting(ctx, p, access.RunsTopUp, &before, told{Amount: amount})
	// What is returned is not read again: after an error of that, whoever asked would
	// add the same once more.
	r, err := s.orchestrator.TopUp(ctx, id, amount)
	if err == nil {
		s.watched.Changed(id)
	}
	return r, err
}

// EndStep ends a crowd step of a run early, with the labels that there are.
func (s *Runs) EndStep(ctx context.Context, p *access.Principal, id crowd.RunID, step string) (store.Run, error) {
	return s.onRun(ctx, p, id, command{access.RunsEndStep, told{Step: step}, func(ctx context.Context, c *orchestrator.Orchestrator) error { return c.EndStep(ctx, id, step) }})
}

// Retry tries again what a step ("": every step) holds, and steps that have
// failed.
func (s *Runs) Retry(ctx context.Context, p *access.Principal, id crowd.RunID, step string) (items, steps int, err error) {
	_, err = s.onRun(ctx, p, id, command{access.RunsRetry, told{Step: step}, func(ctx context.Context, c *orchestrator.Orchestrator) (err error) {
		items, steps, err = c.Retry(ctx, id, step)
		return err
	}})
	return items, steps, err
}

// Skip drops the items that a step ("": every step) holds.
func (s *Runs) Skip(ctx context.Context, p *access.Principal, id crowd.RunID, step string) (items int, err error) {
	_, err = s.onRun(ctx, p, id, command{access.RunsSkip, told{Step: step}, func(ctx context.Context, c *orchestrator.Orchestrator) (err error) {
		items, err = c.Skip(ctx, id, step)
		return err
	}})
	return items, err
}

// List lists the runs of a tenant (0: of all, for an admin) with ids below before
// (0: all), newest first.
func (s *Runs) List(ctx context.Context, p *access.Principal, tenant crowd.TenantID, before crowd.RunID, limit int) ([]store.Run, error) {
	tenant, err := p.TenantFor(access.RunsList, tenant)
	if err != nil {
		return nil, err
	}
	return s.store.ListRuns(ctx, tenant, before, limit)
}

// Get returns a run as it stands.
func (s *Runs) Get(ctx context.Context, p *access.Principal, id crowd.RunID) (*orchestrator.View, error) {
	if _, err := s.find(ctx, p, access.RunsGet, id); err != nil {
		return nil, err
	}
	v, err := s.view(ctx, id)
	return s.shown(p, v), err
}

// Slowest returns the items that have been on their way for the longest at
// each step, and why they wait.
func (s *Runs) Slowest(ctx context.Context, p *access.Principal, id crowd.RunID, limit int) ([]orchestrator.SlowItem, error) {
	if _, err := s.find(ctx, p, access.RunsSlowest, id); err != nil {
		return nil, err
	}
	return s.orchestrator.SlowestItems(ctx, 0, id, limit)
}

// Path returns where an item of a run has been.
func (s *Runs) Path(ctx context.Context, p *access.Principal, id crowd.RunID, item int64) ([]orchestrator.Visit, error) {
	if _, err := s.find(ctx, p, access.RunsPath, id); err != nil {
		return nil, err
	}
	return s.orchestrator.Path(ctx, 0, id, item)
}

// Items lists up to limit rows of a node of a run after number n.
func (s *Runs) Items(ctx context.Context, p *access.Principal, id crowd.RunID, node string, after int64, limit int) ([]store.JoinedRow, error) {
	if _, err := s.find(ctx, p, access.RunsItems, id); err != nil {
		return nil, err
	}
	return s.orchestrator.Items(ctx, id, node, after, limit)
}

// Faults lists up to limit items that steps of a run hold with an error, with
// numbers above after.
func (s *Runs) Faults(ctx context.Context, p *access.Principal, id crowd.RunID, after int64, limit int) ([]store.Fault, error) {
	if _, err := s.find(ctx, p, access.RunsFaults, id); err != nil {
		return nil, err
	}
	return s.store.Faults(ctx, id, -1, after, limit)
}

// Ended returns about as many as most of the items of a run that left it last, in
// order of time. older reports whether there are more.
func (s *Runs) Ended(ctx context.Context, p *access.Principal, id crowd.RunID, most int) (list []orchestrator.EndedItem, older bool, err error) {
	if _, err := s.find(ctx, p, access.RunsEnded, id); err != nil {
		return nil, false, err
	}
	return s.orchestrator.Ended(ctx, 0, id, most)
}
