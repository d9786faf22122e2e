package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/audit"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/server/nodes"
	"github.com/throng-dev/throng/internal/server/oidc"
	"github.com/throng-dev/throng/internal/server/pay"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/server/repeats"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/server/retention"
	"github.com/throng-dev/throng/internal/server/runs"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
	"github.com/throng-dev/throng/pool"
)

// Config sets up an App.
type Config struct {
	Store store.Store
	Log   *slog.Logger
	Now   live.Clock // time.Now unless a test has its own

	// ControlEvery is how often the pools are sized and moves are finished; 0: only
	// when Control.Step is called.
	ControlEvery time.Duration
	AdminFrom    []netip.Prefix // where admins act from; none: anywhere
	Balance      pool.Balancer  // decides who comes to pools that have no balancer of their own; nil: nobody
	Random       pool.Random    // for what controllers leave to chance; nil: a source of its own

	Providers []oidc.Settings     // where people may sign in, too
	Factor    accounts.FactorRule // who has to have a second factor
	Passwords auth.Cost           // of hashing passwords; zero: auth.DefaultCost

	Senders   recruit.Senders // send messages to people who are off duty
	PublicURL string          // where people reach the server: links for them begin with it

	AuditRetention time.Duration // how long entries of the audit log are kept; 0: for ever

	Retention retention.Policy // for how long tenants keep what
	ScrubAt   time.Duration    // after midnight in UTC: when the files are rewritten if something was deleted

	// Services are the private places that service steps of workflows may call, in
	// addition to public ones.
	Services httpstep.Allow

	// Nodes tells of the servers that share the database; nil: there are none.
	Nodes *nodes.Nodes
}

// App is the running server without its edges: the use cases. Make it with Open.
type App struct {
	Batches     *batches.Batches
	Results     *results.Results
	Work        *work.Work
	Pay         *pay.Pay
	Accounts    *accounts.Accounts
	Tenants     *accounts.Tenants
	Invitations *accounts.Invitations
	Tests       *accounts.Tests
	Duty        *recruit.Duty
	Transfers   *recruit.Transfers
	Outbox      *recruit.Outbox
	Pools       *control.Pools
	Control     *control.Control
	Runs        *runs.Runs
	Services    *runs.Services
	Audit       *audit.Audit
	Retention   *retention.Retention
	Nodes       *nodes.Nodes
	// Provisioning is how providers of accounts keep people and groups here.
	Provisioning *accounts.Provisioning

	// PublicURL is where people reach the server, without a slash at its end; "" if that
	// is not known. Links for them begin with it.
	PublicURL string

	live       *live.Pools
	readiness  *readiness
	onCall     *recruit.OnCall
	repeats    *repeats.Repeats
	lists      *limits.Slots // answers that may be megabytes
	bodies     *limits.Slots // of requests in memory
	quotas     *limits.Quotas
	stop       context.CancelFunc // ends the jobs
	background sync.WaitGroup     // the jobs
}

// job is something that goes on in the background until its context ends.
type job struct {
	name string
	on   bool
	run  func(ctx context.Context)
}

// jobs is everything that goes on in the background, apart from the pools
// themselves. Calls have no job: each control step lets them go on.
func (a *App) jobs(cfg Config) []job {
	return []job{
		{"control step", cfg.ControlEvery > 0, a.Control.Run},
		{"transfers", cfg.ControlEvery > 0, a.Transfers.Run},
		{"outbox", a.Outbox.CanMail() || a.Outbox.CanPush(), a.Outbox.Run},
		{"runs of workflows", true, a.Runs.Run},
		{"forecasts", true, a.Batches.RunForecasts},
		{"uses of tokens", true, a.Accounts.KeepUses},
		{"old answers", true, a.repeats.Run},
		{"old entries of the audit log", cfg.AuditRetention > 0, a.Audit.Run},
		{"usage of a day", true, a.quotas.Run},
		{"what groups make people", true, a.Provisioning.Run},
		{"pay that is due", true, a.Pay.Run},
		{"erasures", true, a.Accounts.FinishErasures},
		{"what has been kept for long enough", true, a.Retention.Run},
	}
}

// Open starts the server on a store: every pool goes on where it was. A new
// store gets one pool, "main".
func Open(ctx context.Context, cfg Config) (*App, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Random == nil {
		cfg.Random = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	a, err := compose(ctx, cfg)
	if err != nil {
		return nil, err
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	a.stop = stop
	if err := a.resume(ctx); err != nil {
		a.Close()
		return nil, err
	}
	for _, j := range a.jobs(cfg) {
		if j.on {
			cfg.Log.Debug("a background job starts", "job", j.name)
			a.background.Go(func() { j.run(background) })
		}
	}
	return a, nil
}

// compose puts the use cases together. Nothing runs yet.
func compose(ctx context.Context, cfg Config) (*App, error) {
	quotas, err := limits.OpenQuotas(ctx, cfg.Store, cfg.Now, cfg.Log)
	if err != nil {
		return nil, err
	}
	workers, err := pseudonym.Open(ctx, cfg.Store)
	if err != nil {
		return nil, err
	}
	funds, streams, uploads, downloads := accounts.NewFunds(cfg.Store), limits.NewStreams(quotas), limits.UploadSlots(quotas), limits.DownloadSlots(quotas)
	a := &App{onCall: recruit.NewOnCall(cfg.Store, streams), lists: limits.ListSlots(quotas), bodies: limits.BodySlots(quotas), quotas: quotas, PublicURL: strings.TrimRight(cfg.PublicURL, "/")}
	a.repeats = repeats.New(cfg.Store, cfg.Now, cfg.Log)
	a.live = live.New(live.Config{Store: cfg.Store, Now: cfg.Now, Log: cfg.Log, Changed: a.changed, Restored: a.onCall.Present})
	a.readiness = &readiness{live: a.live, write: cfg.Store.Probe, clock: cfg.Now, log: cfg.Log, probes: make(map[string]*probe)}
	a.Outbox = recruit.NewOutbox(recruit.OutboxConfig{Store: cfg.Store, Log: cfg.Log, Clock: cfg.Now, Senders: cfg.Senders, PublicURL: a.PublicURL})

	a.Accounts = accounts.New(accounts.Config{
		Store: cfg.Store, Live: a.live, OnCall: a.onCall, Clock: cfg.Now,
		Log: cfg.Log, AdminFrom: cfg.AdminFrom, Providers: cfg.Providers, Streams: streams,
		Required: cfg.Factor, PublicURL: a.PublicURL, Names: workers, Passwords: cfg.Passwords,
		WhileErasing: a.whileErasing, Outbox: a.Outbox, Downloads: downloads,
	})
	a.Tenants = accounts.NewTenants(accounts.TenantsConfig{Store: cfg.Store, Live: a.live, Clock: cfg.Now, Funds: funds, Quotas: quotas})
	a.Invitations = accounts.OpenInvitations(a.Accounts, a.Outbox, quotas)
	a.Tests = accounts.OpenTests(a.Accounts, quotas, uploads)
	a.Provisioning = accounts.OpenProvisioning(a.Accounts)

	people := recruit.Config{Store: cfg.Store, Live: a.live, OnCall: a.onCall, Outbox: a.Outbox, Log: cfg.Log, Clock: cfg.Now, ChangeUser: a.Accounts.Change}
	calls, err := recruit.OpenCalls(ctx, people)
	if err != nil {
		return nil, err
	}
	a.Duty, a.Transfers = recruit.NewDuty(people, calls), recruit.NewTransfers(people)
	a.Control = control.New(control.Config{
		Store: cfg.Store, Live: a.live, OnCall: a.onCall, Recruiter: calls, Transfers: a.Transfers, Funds: funds, Log: cfg.Log, Clock: cfg.Now,
		Streams: streams, Every: cfg.ControlEvery, Balance: cfg.Balance, Random: cfg.Random,
	})
	a.Pools = control.OpenPools(a.Control)

	a.Results = results.New(results.Config{Store: cfg.Store, Live: a.live, Clock: cfg.Now, Downloads: downloads, Names: workers, RunsChanged: func() { a.Runs.Corrected() }})
	a.Work = work.New(work.Config{Store: cfg.Store, Live: a.live, OnCall: a.onCall, Clock: cfg.Now, Names: workers, HoldLabels: a.Results.HoldLabels})
	a.Batches = batches.New(batches.Config{Results: a.Results, Store: cfg.Store, Live: a.live, Funds: funds, Log: cfg.Log, Clock: cfg.Now, Streams: streams, Quotas: quotas, Uploads: uploads, Downloads: downloads, Names: workers})
	a.Pay = pay.New(pay.Config{Store: cfg.Store, Log: cfg.Log, Clock: cfg.Now, Names: workers, Changed: a.Batches.PayChanged, HoldLabels: a.Results.HoldLabels})
	a.Runs = runs.New(runs.Config{Store: cfg.Store, Crowd: batches.NewSteps(a.Batches), Log: cfg.Log, Clock: cfg.Now, Services: cfg.Services, Streams: streams, Quotas: quotas, Uploads: uploads, Downloads: downloads})
	a.Services = runs.OpenServices(a.Runs)
	a.Audit = audit.New(audit.Config{Store: cfg.Store, Log: cfg.Log, Clock: cfg.Now.Time, Keep: cfg.AuditRetention, Names: workers})
	a.Nodes = cmp.Or(cfg.Nodes, nodes.New(nil))
	a.Retention = retention.New(retention.Config{Store: cfg.Store, Log: cfg.Log, Clock: cfg.Now, Policy: cfg.Retention, Scrub: cfg.ScrubAt})
	return a, nil
}

// resume starts the pools, and goes on with what was under way.
func (a *App) resume(ctx context.Context) error {
	pools, err := a.Pools.Saved(ctx)
	if err != nil {
		return err
	}
	if err := a.onCall.Load(ctx, pools); err != nil {
		return err
	}
	for _, p := range pools {
		if err := a.Pools.Start(ctx, p); err != nil {
			return fmt.Errorf("start pool %s: %w", p.Name, err)
		}
	}
	if err := a.Control.Resume(ctx); err != nil {
		return fmt.Errorf("resume the control of the pools: %w", err)
	}
	a.Transfers.Resume(ctx)
	if err := a.Runs.Continue(ctx); err != nil {
		return fmt.Errorf("resume the runs of workflows: %w", err)
	}
	return nil
}

// whileErasing runs what erases somebody, so that nothing that they wrote is kept in memory.
func (a *App) whileErasing(erase func() error) error {
	defer a.Work.Forget()
	return a.repeats.Erase(erase)
}

// changed passes a durable change of a pool on to the use cases. The pool's loop
// calls it, so it waits for nothing.
func (a *App) changed(c *engine.Changes) {
	a.Results.Changed(c)
	a.Pay.Changed(c)
	if len(c.Progress) > 0 {
		a.Batches.Changed(c)
		a.Runs.Changed(c)
	}
	if len(c.Notes) > 0 {
		a.Work.Changed(c)
	}
	if len(c.Shifts)+len(c.Duties) > 0 {
		a.Transfers.Changed(c)
	}
}

// StartList waits until there is room for one more answer to p that may be megabytes, and
// is in memory until end is called.
func (a *App) StartList(ctx context.Context, p *access.Principal) (end func(), err error) {
	return a.lists.Start(ctx, p.User.ID, p.Share(), 1)
}

// StartBody waits until there is room in memory for one more body of a request of p, of so
// many bytes (-1: not known), most at most, until end is called.
func (a *App) StartBody(ctx context.Context, p *access.Principal, bytes, most int64) (end func(), err error) {
	return a.bodies.StartBody(ctx, p.User.ID, p.Share(), bytes, most)
}

// ServeOnce answers a request that came under a key: see Serve of package repeats.
func (a *App) ServeOnce(w http.ResponseWriter, r *http.Request, q repeats.Request, handle http.HandlerFunc) error {
	return a.repeats.Serve(w, r, q, handle)
}

// StopWaiting ends long polls and watching, so that a server can close.
func (a *App) StopWaiting() {
	a.readiness.stop()
	a.Batches.StopWaiting()
	a.onCall.StopWaiting()
	a.Runs.StopWaiting()
	a.live.StopWaiting()
}

// Close stops the jobs and every pool, after what was begun is durable. The
// store stays open.
func (a *App) Close() {
	a.StopWaiting()
	a.stop()
	a.background.Wait()
	a.Runs.Close()
	a.Control.Close(context.Background())
	a.live.Close()
	a.readiness.running.Wait()
}
