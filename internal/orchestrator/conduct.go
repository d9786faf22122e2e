// Package orchestrator carries out runs of workflows. It reads the logs of rows that
// a run consists of (ADR 16), decides what each step has to do with what has
// come, and keeps every move in one transaction. People and services are behind
// ports: live they are the engines of the pools and HTTP, in a simulation an
// engine with model workers and a virtual clock. The store is a real one in
// both.
//
// The conductor has no goroutine of its own: its owner calls Step whenever Wake
// was called or the time that Step returned has come.
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

// Crowd is where crowd steps have their tasks done. What is said twice is no
// error, nor is anything said to a batch that has ended.
type Crowd interface {
	// Pool returns the pool of that name; "" is the first.
	Pool(ctx context.Context, name string) (crowd.PoolID, error)
	// Launch begins to hand out an open batch that is kept as a draft.
	Launch(ctx context.Context, id crowd.BatchID) error
	// Grow tells of the tasks first, first+1, …, which are kept. The error is
	// BudgetTooSmall if they cannot be paid for now.
	Grow(ctx context.Context, id crowd.BatchID, first uint32, items []engine.Item) error
	// Seal says that no more tasks come.
	Seal(ctx context.Context, id crowd.BatchID) error
	// SetTail says how long an item is expected to take after its label.
	SetTail(ctx context.Context, id crowd.BatchID, tail time.Duration) error
	// Pause, Resume, Cancel and End do that to a batch.
	Pause(ctx context.Context, id crowd.BatchID) error
	Resume(ctx context.Context, id crowd.BatchID) error
	Cancel(ctx context.Context, id crowd.BatchID) error
	End(ctx context.Context, id crowd.BatchID) error
}

// Attempt is one try of a call of a service.
type Attempt struct {
	Tenant  crowd.TenantID
	Service *workflow.Service
	Call    httpstep.Call
	N       int           // from 1
	Expect  time.Duration // how long it is expected to take
}

// Config sets up an Orchestrator. All of it must be set.
type Config struct {
	Store store.Store
	Crowd Crowd
	Call  func(t Attempt, done func(httpstep.Reply, error)) // makes the try beside, and says when it is over
	Go    func(func())                                      // does beside what takes long
	Wake  func()                                            // told that Step has something to do; may be called from anywhere
	Now   func() time.Time
	Rand  func() float64 // 0 to 1
	Log   *slog.Logger
}

// Orchestrator carries out runs. Its methods may be called at the same time.
type Orchestrator struct {
	cfg  Config
	ctx  context.Context // of what is done beside
	stop context.CancelFunc

	mu      sync.Mutex // of all that follows up to in
	runs    map[crowd.RunID]*run
	awaited map[crowd.RunID]bool // to be taken up, which the store did not let us do
	proxies map[proxyKey]*proxy
	calls   int64 // made so far
	later   agenda

	in struct { // what has come in beside; never held together with a call of the store
		sync.Mutex
		done  []func(context.Context) // to be carried out under mu
		dirty map[crowd.RunID]bool
		owner map[crowd.BatchID]crowd.RunID
		loads map[load]bool // inputs whose files are being read
	}

	looked looked

	told struct { // what was foreseen, for those who look
		sync.Mutex
		list map[crowd.RunID]foretold
	}
}

// New makes a conductor. Open brings it the runs that are under way.
func New(cfg Config) *Orchestrator {
	c := &Orchestrator{cfg: cfg, runs: make(map[crowd.RunID]*run), awaited: make(map[crowd.RunID]bool), proxies: make(map[proxyKey]*proxy)}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.in.dirty = make(map[crowd.RunID]bool)
	c.in.owner = make(map[crowd.BatchID]crowd.RunID)
	c.in.loads = make(map[load]bool)
	c.told.list = make(map[crowd.RunID]foretold)
	return c
}

// Close ends what is done beside. What was kept goes on with the next conductor.
func (c *Orchestrator) Close() {
	c.stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.runs {
		r.rest()
	}
}

// Recover goes on with all runs that have not ended. One whose inputs were still
// being read is cancelled: nobody will send the rest.
func (c *Orchestrator) Recover(ctx context.Context) error {
	list, err := c.cfg.Store.OpenRuns(ctx)
	if err != nil {
		return err
	}
	for _, kept := range list {
		if kept.State == store.RunLoading {
			kept.State, kept.EndedAt = store.RunCancelled, c.now()
			if _, err := c.cfg.Store.Advance(ctx, &store.Advance{Run: kept.ID, State: &kept}); err != nil {
				return err
			}
			continue
		}
		if err := c.Begin(ctx, kept.ID); err != nil {
			c.cfg.Log.Error("a run cannot go on", "run", kept.ID.String(), "err", err)
		}
	}
	return nil
}

// Begin takes up a run whose inputs are there. If the store fails, Step tries
// again.
func (c *Orchestrator) Begin(ctx context.Context, id crowd.RunID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begin(ctx, id)
}

func (c *Orchestrator) begin(ctx context.Context, id crowd.RunID) error {
	if c.runs[id] != nil {
		return nil
	}
	r, err := c.open(ctx, id)
	if err != nil && !errors.As(err, new(*broken)) && crowd.CodeOf(err) != crowd.NotFound {
		c.await(id)
		return err
	}
	delete(c.awaited, id)
	if err != nil || r == nil {
		return err
	}
	c.runs[id] = r
	c.touch(id)
	return nil
}

// await has a run taken up later.
func (c *Orchestrator) await(id crowd.RunID) {
	c.awaited[id] = true
	c.later.add(entry{at: c.now().Add(failurePause), run: id})
	c.cfg.Wake()
}

// BatchChanged says that something has happened in a batch: a label, or its end.
func (c *Orchestrator) BatchChanged(id crowd.BatchID) {
	c.in.Lock()
	run, ours := c.in.owner[id]
	c.in.Unlock()
	if ours {
		c.touch(run)
	}
}

// touch says that a run may go on.
func (c *Orchestrator) touch(id crowd.RunID) {
	c.in.Lock()
	c.in.dirty[id] = true
	c.in.Unlock()
	c.cfg.Wake()
}

// beside has f done beside, and then what it returns under the lock, in the next
// Step.
func (c *Orchestrator) beside(f func() func(context.Context)) {
	c.cfg.Go(func() { c.post(f()) })
}

func (c *Orchestrator) post(f func(context.Context)) {
	c.in.Lock()
	c.in.done = append(c.in.done, f)
	c.in.Unlock()
	c.cfg.Wake()
}

func (c *Orchestrator) now() time.Time { return c.cfg.Now().UTC().Truncate(time.Microsecond) }

// failurePause is how long a run rests after the store has failed, or while it
// waits for money.
const failurePause = 2 * time.Second

// Step does what can be done now, and returns when there is something to do if
// nothing else happens (zero: never), and whether there is more to do at once.
func (c *Orchestrator) Step(ctx context.Context) (next time.Time, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in.Lock()
	done, dirty := c.in.done, c.in.dirty
	c.in.done, c.in.dirty = nil, make(map[crowd.RunID]bool)
	c.in.Unlock()
	for _, f := range done {
		f(ctx)
	}
	now := c.now()
	for {
		x, due := c.later.due(now)
		if !due {
			break
		}
		if x.call != nil {
			c.enqueue(now, x.call)
		} else {
			dirty[x.run] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(dirty)) {
		c.look(ctx, id)
	}
	c.dispatch(ctx)
	c.in.Lock()
	more = len(c.in.done) > 0 || len(c.in.dirty) > 0
	c.in.Unlock()
	return c.next(), more
}

// look moves a run on, unless it rests: then it is looked at when that is over.
func (c *Orchestrator) look(ctx context.Context, id crowd.RunID) {
	if c.awaited[id] {
		if err := c.begin(ctx, id); err != nil {
			c.cfg.Log.Error("a run cannot go on", "run", id.String(), "err", err)
		}
	}
	r := c.runs[id]
	if r == nil || c.now().Before(r.rests) {
		return
	}
	again, err := r.pass(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		r.doubtful = true
		c.cfg.Log.Error("a run rests", "run", id.String(), "err", err)
		r.later()
		r.rests = r.due
	case again:
		c.in.Lock()
		c.in.dirty[id] = true
		c.in.Unlock()
	}
}

// next returns when something is due by itself.
func (c *Orchestrator) next() time.Time {
	at := c.later.next()
	for _, p := range c.proxies {
		if t, ok := p.queue.NextChange(); ok && p.queue.Len() > 0 && p.free() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	return at
}

// find returns a run that is under way.
func (c *Orchestrator) find(id crowd.RunID) (*run, error) {
	if r := c.runs[id]; r != nil {
		return r, nil
	}
	if c.awaited[id] {
		return nil, crowd.Errorf(crowd.Unavailable, "%s is about to be taken up; try again in a moment", id)
	}
	return nil, crowd.Errorf(crowd.Conflict, "%s is not under way", id)
}

// userText is an error as a requester reads it: of one that is not his, nothing.
func userText(err error) string {
	var known *crowd.Error
	if errors.As(err, &known) {
		return known.Error()
	}
	return "an error of the server, whose log says more"
}
