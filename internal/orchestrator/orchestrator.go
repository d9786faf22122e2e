// Package orchestrator carries out runs of workflows. It reads the logs of rows that
// a run consists of (ADR 16), decides what each step has to do with what has
// come, and keeps every move in one transaction. People and services are behind
// ports: live they are the engines of the pools and HTTP, in a simulation an
// engine with model workers and a virtual clock. The store is a real one in
// both.
//
// The orchestrator has no goroutine of its own: its owner calls Step whenever Wake
// was called or the time that Step returned has come.
//
// To add a kind of step is to write a stepRunner in a file of its own and to name
// it in the table runners.
package orchestrator

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// Crowd is where crowd steps have their tasks done. To repeat a command is no error,
// nor is any command to a batch that has ended.
type Crowd interface {
	// Pool returns the pool of that name, if it is granted to the tenant; "" is the first
	// that is.
	Pool(ctx context.Context, tenant crowd.TenantID, name string) (crowd.PoolID, error)
	// Able compares, for each of these steps of a tenant, the people whose answers it
	// wants with those of the pool who may give them.
	Able(ctx context.Context, pool crowd.PoolID, tenant crowd.TenantID, steps []*workflow.Crowd) ([]engine.Crowd, error)
	// Status returns those of a pool's batches that are running as they stand.
	Status(ctx context.Context, pool crowd.PoolID, ids []crowd.BatchID) (map[crowd.BatchID]BatchStatus, error)
	// Affords checks that a run and its tenant have what one of its steps is to reserve
	// when it begins. The error is BudgetTooSmall if they do not have it now.
	Affords(ctx context.Context, run crowd.RunID, tenant crowd.TenantID, budget crowd.Money) error
	// Launch begins to hand out an open batch that is kept as a draft.
	Launch(ctx context.Context, id crowd.BatchID) error
	// Grow announces the tasks first, first+1, …, which are kept. The error is
	// BudgetTooSmall if they cannot be paid for now. The last ones seal the batch before
	// anybody gets one of them.
	Grow(ctx context.Context, id crowd.BatchID, first uint32, items []engine.Item, last bool) error
	// TakeOver announces the labels that a batch's step has from earlier runs, in all.
	TakeOver(ctx context.Context, id crowd.BatchID, labels engine.TakenOver) error
	// SetTotal announces how many tasks without a known answer an open batch will have in all.
	SetTotal(ctx context.Context, id crowd.BatchID, total int) error
	// Seal announces that no more tasks come.
	Seal(ctx context.Context, id crowd.BatchID) error
	// SetRest sets how long an item is expected to take after its label, and how much
	// of people's time.
	SetRest(ctx context.Context, id crowd.BatchID, rest engine.Rest) error
	// Pause stops handing out a batch.
	Pause(ctx context.Context, id crowd.BatchID) error
	// Resume hands out a paused batch again.
	Resume(ctx context.Context, id crowd.BatchID) error
	// Cancel ends a batch without labels for its open tasks.
	Cancel(ctx context.Context, id crowd.BatchID) error
	// End ends a batch with the labels that there are.
	End(ctx context.Context, id crowd.BatchID) error
}

// BatchStatus is a running batch as it stands, and when it will be done.
type BatchStatus struct {
	engine.Status
	Forecast Forecast
}

// Forecast is when the tasks that a batch has are done, with those of its pool's other
// batches. Of ten times, eight are from Low to High. The zero Forecast says nothing.
type Forecast struct {
	Low, Median, High time.Time // zero: after Horizon
	Horizon           time.Time // nothing was looked at beyond; zero: there is no forecast
	At                time.Time // when it was made; zero: there is none
	Since             int       // answers that came after At
	Why               string    // why there is no forecast; "": there is one, or nothing is left to do
	Nobody            bool      // since nobody is there, and nobody came lately
}

// Attempt is one attempt of a call of a service.
type Attempt struct {
	Tenant  crowd.TenantID
	Step    string // its name
	Service *workflow.HTTP
	Call    httpstep.Call
	N       int           // from 1
	Expect  time.Duration // how long it is expected to take
}

// Query is a query of a step that is to be run.
type Query struct {
	Ctx    context.Context // when it is done, nobody waits for the query any more
	Tenant crowd.TenantID
	Time   time.Duration // what it may take at most; row by row, for one item
	// Wait is to be called before Do if that is not called at once, with what it waits for.
	Wait func(Wait)
	// Do runs it; to be called once, also when Ctx is done. It ends when its context is done,
	// with the cause.
	Do func(context.Context)
}

// Config sets up an Orchestrator. All of it must be set.
type Config struct {
	Store store.Store
	Crowd Crowd
	Call  func(a Attempt, done func(httpstep.Reply, error)) // makes the attempt without blocking, and calls done when it is over
	Query func(Query)                                       // has the query run without blocking
	Later func(do func(context.Context))                    // has it done without blocking; the context ends with the server
	Wake  func()                                            // called when Step has something to do; may be called from anywhere
	Now   func() time.Time
	Rand  func() float64 // from 0 to 1
	Log   *slog.Logger
}

// Orchestrator carries out runs. Its methods may be called at the same time.
type Orchestrator struct {
	cfg  Config
	ctx  context.Context // of all queries
	stop context.CancelFunc

	mu       sync.Mutex // guards all up to inbox
	runs     map[crowd.RunID]*run
	toAdopt  map[crowd.RunID]bool // to be taken up, which the store did not allow so far
	timers   timers[crowd.RunID]  // of runs that are to be advanced
	services services
	streams  []*rowQueryRunner // whose streams are open and idle, the one that is idle for the longest first

	inbox inbox
	redos redos
	views viewCache
}

// inbox is what has come in since the last Step. Its lock is never held during a
// call of the store.
type inbox struct {
	sync.Mutex
	results []func(context.Context) // of what ran asynchronously; to be called under Orchestrator.mu
	dirty   map[crowd.RunID]bool    // runs that may go on
	owner   map[crowd.BatchID]crowd.RunID
	loading map[inputKey]bool // inputs whose files are being read
	waits   map[nodeKey]Wait  // of steps and runs; that is not kept
}

// New makes an orchestrator. Recover brings it the runs that are under way. When ctx is done,
// queries that are under way end, as they do by Close.
func New(ctx context.Context, cfg Config) *Orchestrator {
	o := &Orchestrator{cfg: cfg, runs: make(map[crowd.RunID]*run), toAdopt: make(map[crowd.RunID]bool)}
	o.services = newServices(&o.cfg, o)
	o.ctx, o.stop = context.WithCancel(ctx)
	o.inbox.dirty = make(map[crowd.RunID]bool)
	o.inbox.owner = make(map[crowd.BatchID]crowd.RunID)
	o.inbox.loading = make(map[inputKey]bool)
	o.inbox.waits = make(map[nodeKey]Wait)
	o.redos.due, o.redos.going = make(map[crowd.RunID]time.Time), make(map[crowd.RunID]bool)
	return o
}

// Close ends queries that are under way. What was kept goes on with the next
// orchestrator.
func (o *Orchestrator) Close() {
	o.stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.runs {
		r.release()
	}
	o.services.close()
}

// Recover goes on with all runs that have not ended. If the store fails for one, Step
// tries again. One that was getting its inputs keeps those that are complete, and wants
// the others again; what the store does not allow of that, the next Load or Start does,
// as it copies what the run takes over and does not have yet.
func (o *Orchestrator) Recover(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	list, err := o.cfg.Store.OpenRuns(ctx)
	if err != nil {
		return err
	}
	for _, kept := range list {
		if kept.State == store.RunLoading {
			if err := o.recoverInputs(ctx, kept.ID); err != nil {
				o.cfg.Log.Error("the inputs of a run cannot be recovered", "run", kept.ID.String(), "err", err)
			}
			continue
		}
		if err := o.adopt(ctx, kept.ID, nil); err != nil {
			o.cfg.Log.Error("a run cannot go on", "run", kept.ID.String(), "err", err)
		}
	}
	return o.recoverRedos(ctx)
}

// adopt takes up a run whose inputs are there, now or, if the store fails, later. flow is its
// workflow; nil: it is read.
func (o *Orchestrator) adopt(ctx context.Context, id crowd.RunID, flow *workflow.Workflow) error {
	if o.runs[id] != nil {
		return nil
	}
	r, err := o.loadRun(ctx, id, flow)
	if err != nil && !errors.As(err, new(*broken)) && crowd.CodeOf(err) != crowd.NotFound {
		o.adoptLater(id)
		return err
	}
	if err == nil && r != nil && r.kept.State == store.RunPaused {
		// A crash may have come between the run's state and its batches'.
		if err := r.forBatches(ctx, o.cfg.Crowd.Pause); err != nil {
			o.adoptLater(id)
			return err
		}
	}
	delete(o.toAdopt, id)
	if err != nil || r == nil {
		return err
	}
	o.runs[id] = r
	o.markDirty(id)
	return nil
}

// adoptLater has Step adopt a run after a pause.
func (o *Orchestrator) adoptLater(id crowd.RunID) {
	o.toAdopt[id] = true
	o.timers.add(o.now().Add(failurePause), id)
	o.cfg.Wake()
}

// BatchChanged reports that a batch has a new label, or has ended.
func (o *Orchestrator) BatchChanged(id crowd.BatchID) {
	o.inbox.Lock()
	run, ours := o.inbox.owner[id]
	o.inbox.Unlock()
	if ours {
		o.markDirty(run)
	}
}

// markDirty has the next Step advance a run.
func (o *Orchestrator) markDirty(id crowd.RunID) {
	o.inbox.Lock()
	o.inbox.dirty[id] = true
	o.inbox.Unlock()
	o.cfg.Wake()
}

// deliver has the next Step call f under the lock.
func (o *Orchestrator) deliver(f func(context.Context)) {
	o.inbox.Lock()
	o.inbox.results = append(o.inbox.results, f)
	o.inbox.Unlock()
	o.cfg.Wake()
}

// precision is that of what is kept, and so of the orchestrator's clock.
const precision = time.Microsecond

func (o *Orchestrator) now() time.Time { return o.cfg.Now().UTC().Truncate(precision) }

// reached returns the first time at which the orchestrator's clock says at or later: a
// look a fraction before would find nothing to do, and a virtual clock would stand still.
func reached(at time.Time) time.Time {
	if down := at.Truncate(precision); down.Before(at) {
		return down.Add(precision)
	}
	return at
}

// failurePause is how long a run pauses after the store has failed, or while it
// waits for money.
const failurePause = 2 * time.Second

// Step does what can be done now. It returns when there is something to do if
// nothing else happens (zero: never), and whether there is more to do at once.
func (o *Orchestrator) Step(ctx context.Context) (next time.Time, more bool) {
	o.inbox.Lock()
	results, dirty := o.inbox.results, o.inbox.dirty
	o.inbox.results, o.inbox.dirty = nil, make(map[crowd.RunID]bool)
	o.inbox.Unlock()
	for _, f := range results {
		o.locked(func() { f(ctx) })
	}
	o.locked(func() {
		now := o.now()
		o.services.retry(now)
		for id, due := o.timers.due(now); due; id, due = o.timers.due(now) {
			dirty[id] = true
		}
	})
	for _, id := range slices.Sorted(maps.Keys(dirty)) {
		o.locked(func() { o.advanceRun(ctx, id) })
	}
	o.locked(func() {
		o.services.dispatch(ctx)
		next = reached(nextOf(o.timers.next(), o.services.next()))
	})
	anew, at := o.redos.take(o.now())
	for _, id := range anew {
		o.cfg.Later(func(ctx context.Context) { o.redo(ctx, id) })
	}
	next = nextOf(next, at)
	o.inbox.Lock()
	more = len(o.inbox.results) > 0 || len(o.inbox.dirty) > 0
	o.inbox.Unlock()
	return next, more
}

// locked calls f under the lock. Step takes it again for each part of its work, so that
// commands wait for one part, not for all.
func (o *Orchestrator) locked(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f()
}

// advanceRun moves a run on, unless it pauses after a failure.
func (o *Orchestrator) advanceRun(ctx context.Context, id crowd.RunID) {
	if o.toAdopt[id] {
		if err := o.adopt(ctx, id, nil); err != nil && ctx.Err() == nil {
			o.cfg.Log.Error("a run cannot go on", "run", id.String(), "err", err)
		}
	}
	r := o.runs[id]
	if r == nil || o.now().Before(r.pausedUntil) {
		return
	}
	more, err := r.advance(ctx)
	if err != nil {
		if ctx.Err() == nil {
			r.tellPause("a run pauses after a failure", err)
			r.pauseAfter(err, r.failed)
		}
		return
	}
	switch {
	case r.failures == 0:
	case r.lostResult():
		r.notePassed()
	default:
		r.noteKept()
	}
	if more {
		o.inbox.Lock()
		o.inbox.dirty[id] = true
		o.inbox.Unlock()
	}
}

// find returns a run that is under way.
func (o *Orchestrator) find(id crowd.RunID) (*run, error) {
	if r := o.runs[id]; r != nil {
		return r, nil
	}
	if o.toAdopt[id] {
		return nil, crowd.Errorf(crowd.Unavailable, "%s is about to be taken up; try again in a moment", id)
	}
	return nil, crowd.Errorf(crowd.Conflict, "%s is not under way", id)
}

// messageOf returns an error as a requester reads it: the details of an internal
// error stay in the log.
func messageOf(err error) string {
	var known *crowd.Error
	if errors.As(err, &known) {
		return known.Error()
	}
	return "an error of the server, whose log says more"
}
