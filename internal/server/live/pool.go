package live

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/sched"
)

// MaxWait is the longest that a worker waits for a task in one request.
const MaxWait = time.Minute

// longestWait is how much of a wait is paid at once at most: twice what passes between two
// payments, since a timer may be late. The clock made a step if more has passed.
const longestWait = 2 * time.Minute

// retryAfter is how long a pool refuses commands after the store has failed.
const retryAfter = time.Second

// Pool is one pool's engine with its loop and its committer.
type Pool struct {
	id  crowd.PoolID
	cfg Config
	log *slog.Logger

	in    chan *op
	stop  chan struct{} // closed to end the loop
	ended chan struct{} // closed when it has ended
	awake chan struct{} // closed to end all waiting for a task
	feed  feed
	wg    sync.WaitGroup
	once  sync.Once // closes awake
}

// op is one command on its way through the loop.
type op struct {
	do      func(e *engine.Engine, now time.Time)
	asks    *waiter                          // joins the loop's waiters if do leaves the worker waiting
	gives   *waiter                          // leaves the waiters, if it still is among them
	inspect func(map[crowd.WorkerID]*waiter) // if set, called with the waiters
	number  *uint64                          // if set, becomes the number of the last event
	start   *uint64                          // set with number: becomes what numbers are counted on from
	effects []*store.Effect                  // that do had
	acts    []*store.Act                     // that do was
	author  crowd.WorkerID                   // of what do changes, or 0
	reads   bool                             // do changes nothing
	err     error
	done    chan struct{}
}

// waiter is a worker's open request for a task. Whoever is in the engine's queue
// has one: who has no request open waits for nothing.
type waiter struct {
	worker  crowd.WorkerID
	patient bool                // false: asks, and does not wait
	served  chan engine.Handout // one hand-out, or closed when another request of the same worker took over
	left    func() bool         // reports whether do left the worker waiting
}

// start restores a pool and runs it.
func start(ctx context.Context, id crowd.PoolID, cfg Config) (*Pool, error) {
	p := &Pool{
		id: id, cfg: cfg, log: cfg.Log.With("pool", id.String()),
		in: make(chan *op, 1024), stop: make(chan struct{}), ended: make(chan struct{}), awake: make(chan struct{}),
	}
	e, err := p.restore(ctx)
	if err != nil {
		return nil, err
	}
	l := &loop{Pool: p, engine: e, waiters: make(map[crowd.WorkerID]*waiter), commit: make(chan *group), committed: make(chan *group), free: &group{}, numbers: numbersFrom(cfg.Now.Time())}
	p.wg.Add(2)
	go func() { defer p.wg.Done(); defer close(p.ended); l.run() }()
	go func() { defer p.wg.Done(); p.commitAll(l.commit, l.committed) }()
	return p, nil
}

// ID returns the pool's id.
func (p *Pool) ID() crowd.PoolID { return p.id }

// close stops the pool after what was begun is durable.
func (p *Pool) close() {
	close(p.stop)
	p.feed.close()
	p.wg.Wait()
}

// stopWaiting ends all waiting for a task, now and to come.
func (p *Pool) stopWaiting() { p.once.Do(func() { close(p.awake) }) }

// Do runs a command and returns when what it changed is durable. The command
// may read the engine, but must keep nothing of it.
func (p *Pool) Do(ctx context.Context, f func(e *engine.Engine, now time.Time)) error {
	return p.send(ctx, &op{do: f, done: make(chan struct{})})
}

// Read is Do for what only reads. It goes on while the store takes nothing, as on a full
// disk: f then sees what is durable.
func (p *Pool) Read(ctx context.Context, f func(e *engine.Engine, now time.Time)) error {
	return p.send(ctx, &op{do: f, reads: true, done: make(chan struct{})})
}

// Command is Do for a command that may be refused. What it changes is the effect of the
// context, and its act.
func (p *Pool) Command(ctx context.Context, f func(e *engine.Engine, now time.Time) error) error {
	var refused error
	o, effects, acts := &op{done: make(chan struct{}), author: store.AuthorOf(ctx)}, store.EffectsOf(ctx), store.ActsOf(ctx)
	o.do = func(e *engine.Engine, now time.Time) {
		if refused = f(e, now); refused == nil {
			o.effects, o.acts = effects, acts
		}
	}
	if err := p.send(ctx, o); err != nil {
		return err
	}
	return refused
}

// Tell lets the engine know of a change that the store has already. It cannot be
// cancelled. A pool that is out of order because the store has failed will read
// the change when it is restored, so that is no error.
func (p *Pool) Tell(f func(e *engine.Engine, now time.Time) error) error {
	return unlessDown(p.Command(context.Background(), f))
}

// unlessDown drops the error of a pool that is out of order.
func unlessDown(err error) error {
	if code := crowd.CodeOf(err); code == crowd.Unavailable || code == crowd.StorageFull {
		return nil
	}
	return err
}

// Next runs first, if it is not nil, and asks for a task in the same commit. Then
// it waits up to wait for one. Who was to go once they hold nothing gets none. Being
// barred from tasks is an error only if first is nil: it is no error of what was done
// first.
func (p *Pool) Next(ctx context.Context, id crowd.WorkerID, wait time.Duration, first func(e *engine.Engine, now time.Time) error) (engine.Handout, bool, error) {
	var hand engine.Handout
	var ok, barred bool
	var refused error
	o := &op{done: make(chan struct{})}
	o.do = func(e *engine.Engine, now time.Time) {
		if first != nil {
			c, _ := e.OnCall(now, id)
			if refused = first(e, now); refused != nil {
				return
			}
			if _, holds := e.Holds(id); c.Leaves != "" && !holds {
				barred = true // that was their last task here: they go, or move
				return
			}
		}
		if hand, ok, refused = e.Ready(now, id); refused != nil && first != nil {
			barred, refused = true, nil
		}
	}
	o.asks = &waiter{worker: id, patient: wait > 0, served: make(chan engine.Handout, 1), left: func() bool { return !ok && !barred && refused == nil }}
	if err := p.send(ctx, o); err != nil {
		return hand, false, err
	}
	if ok || barred || refused != nil || wait <= 0 {
		return hand, ok, refused
	}
	hand, ok = p.await(ctx, o.asks, wait)
	return hand, ok, nil
}

// await waits until the worker is served, and leaves the queue in the end. If the
// pool fails or closes, there is no task: that is not an error of what the worker
// did before.
func (p *Pool) await(ctx context.Context, w *waiter, wait time.Duration) (hand engine.Handout, ok bool) {
	timer := time.NewTimer(min(wait, MaxWait))
	defer timer.Stop()
	select {
	case hand, ok = <-w.served:
		return hand, ok
	case <-p.awake:
	case <-timer.C:
	case <-ctx.Done():
	}
	leave := &op{gives: w, done: make(chan struct{}), do: func(e *engine.Engine, _ time.Time) {
		hand, ok = e.Holds(w.worker) // they may have been served meanwhile
	}}
	if err := p.send(context.WithoutCancel(ctx), leave); err != nil {
		return engine.Handout{}, false
	}
	return hand, ok
}

// Waiting lists the people who wait for a task, in order of id: nobody while the store takes
// nothing.
func (p *Pool) Waiting(ctx context.Context) ([]crowd.WorkerID, error) {
	list := []crowd.WorkerID{}
	err := p.send(ctx, &op{
		do:      func(*engine.Engine, time.Time) {},
		reads:   true,
		inspect: func(waiters map[crowd.WorkerID]*waiter) { list = slices.AppendSeq(list, maps.Keys(waiters)) },
		done:    make(chan struct{}),
	})
	slices.Sort(list)
	return list, err
}

// LeaveQueue takes a worker out of the queue for tasks, whichever request is
// waiting. Who is gone, and not only waits no more, has no place inside a gate: they go off
// duty, as soon as they hold nothing. A pool that is out of order has an empty queue.
func (p *Pool) LeaveQueue(ctx context.Context, id crowd.WorkerID, gone bool) error {
	return unlessDown(p.send(context.WithoutCancel(ctx), &op{
		do: func(e *engine.Engine, now time.Time) {
			e.Leave(now, id)
			if gone && e.Gate().On {
				_, _ = e.EndDuty(now, id, engine.Left) // who works in no pool has no place either
			}
		},
		inspect: func(waiters map[crowd.WorkerID]*waiter) {
			if w := waiters[id]; w != nil {
				delete(waiters, id)
				close(w.served)
			}
		},
		done: make(chan struct{}),
	}))
}

// send passes a command to the loop and waits for its result.
func (p *Pool) send(ctx context.Context, o *op) error {
	select {
	case p.in <- o:
	case <-p.ended:
		return errClosing
	case <-ctx.Done():
		return ctx.Err()
	}
	// A command that was taken is carried out: its sender must hear the result.
	select {
	case <-o.done:
		return o.err
	case <-p.ended:
	}
	select {
	case <-o.done:
		return o.err
	default:
		return errClosing
	}
}

var errClosing = crowd.Errorf(crowd.Unavailable, "the server is closing; try again")

// restore makes an engine of what the store has.
func (p *Pool) restore(ctx context.Context) (*engine.Engine, error) {
	return Restore(ctx, p.cfg.Store, p.id, p.cfg.Now.Time())
}

// Restore makes a pool's engine of what the store has, as it is at now.
func Restore(ctx context.Context, st Store, id crowd.PoolID, now time.Time) (*engine.Engine, error) {
	kept, err := st.Pool(ctx, id)
	if err != nil {
		return nil, err
	}
	policy, err := sched.Parse(kept.Policy)
	if err != nil {
		return nil, err
	}
	snapshot, err := st.Snapshot(ctx, id)
	if err != nil {
		return nil, err
	}
	e, err := engine.Restore(now, engine.Config{Pool: id, Policy: policy, LongestWait: longestWait, Seed: seed()}, snapshot)
	for i := range snapshot.Workers {
		if err == nil && snapshot.Workers[i].Suspended { // what follows a suspension may not have been kept
			err = GiveBack(e, now, snapshot.Workers[i].ID)
		}
	}
	return e, err
}

// seed is one that nobody knows. It need not be the same after a restart: what was checked is kept.
func seed() uint64 {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic("live: no random figures: " + err.Error()) // crypto/rand does not fail
	}
	return binary.LittleEndian.Uint64(b[:])
}

// GiveBack gives back for somebody what they hold: they will not finish it.
func GiveBack(e *engine.Engine, now time.Time, id crowd.WorkerID) error {
	if h, holds := e.Holds(id); holds {
		return e.Return(now, id, h.Assignment)
	}
	return nil
}

// userError keeps errors that are meant for users, and replaces others by "try
// again".
func userError(err error) error {
	var known *crowd.Error
	if errors.As(err, &known) {
		return err
	}
	return &crowd.Error{Code: crowd.Unavailable, Message: "the answer could not be kept just now; try again", Cause: err}
}
