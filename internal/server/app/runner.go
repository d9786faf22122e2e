package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/sched"
)

// runner drives one pool's engine live. One goroutine, the loop, owns the
// engine and applies commands one after the other; another, the committer,
// makes what they changed durable, many commands in one transaction. While one
// transaction is on its way the loop goes on, and what it does joins the next.
// A caller gets his answer only after the commit that holds it.
//
// When a commit fails, nothing of it and of what came after was acknowledged:
// the loop tells those callers, throws the engine away, and goes on from what
// the store has.
type runner struct {
	pool  crowd.PoolID
	store store.Store
	now   func() time.Time
	log   *slog.Logger
	watch func(*engine.Changes) // told of each durable change, before those who asked for it
	again func([]engine.OnCall) // told who is on duty when the pool goes on from what the store has

	in    chan *op
	stop  chan struct{} // closed to end the loop
	ended chan struct{} // closed when it has ended
	awake chan struct{} // closed to end all waiting for a task
	wg    sync.WaitGroup
	once  sync.Once
}

// op is one command on its way through the loop.
type op struct {
	do    func(e *engine.Engine, now time.Time)
	asks  *waiter                          // takes the worker's place in the queue if do leaves him waiting
	gives *waiter                          // gives that place up, if it still is this request's
	look  func(map[crowd.WorkerID]*waiter) // if set, looks at who waits
	err   error
	done  chan struct{}
}

// waiter is a worker's open request for a task. Whoever is in the engine's queue
// is in the loop's waiters: who has no request open waits for nothing.
type waiter struct {
	worker  crowd.WorkerID
	patient bool                // false: asks, and does not wait
	served  chan engine.Handout // one hand-out, or closed when another request of the same worker took over
	left    func() bool         // whether do left the worker waiting
}

// group is what one commit makes durable, and who waits for it.
type group struct {
	changes engine.Changes
	ops     []*op
	err     error
}

// retryAfter is how long a runner refuses commands after the store has failed.
const retryAfter = time.Second

// startRunner restores the pool and starts to run it.
func startRunner(ctx context.Context, pool store.Pool, st store.Store, now func() time.Time, log *slog.Logger, watch func(*engine.Changes), again func(crowd.PoolID, []engine.OnCall)) (*runner, error) {
	r := &runner{
		pool: pool.ID, store: st, now: now, log: log.With("pool", pool.ID.String()),
		watch: watch, again: func(people []engine.OnCall) { again(pool.ID, people) },
		in: make(chan *op, 1024), stop: make(chan struct{}), ended: make(chan struct{}), awake: make(chan struct{}),
	}
	e, err := r.restore(ctx)
	if err != nil {
		return nil, err
	}
	l := &loop{runner: r, engine: e, waiters: make(map[crowd.WorkerID]*waiter), commit: make(chan *group), committed: make(chan *group), spare: &group{}}
	r.wg.Add(2)
	go func() { defer r.wg.Done(); defer close(r.ended); l.run() }()
	go func() { defer r.wg.Done(); r.commitAll(l.commit, l.committed) }()
	return r, nil
}

// close stops the pool after what was begun is durable.
func (r *runner) close() {
	close(r.stop)
	r.wg.Wait()
}

// stopWaiting ends all waiting for a task, now and to come.
func (r *runner) stopWaiting() { r.once.Do(func() { close(r.awake) }) }

// do runs a command and returns when what it changed is durable. The command
// may read the engine, but keep nothing of it.
func (r *runner) do(ctx context.Context, f func(e *engine.Engine, now time.Time)) error {
	return r.send(ctx, &op{do: f, done: make(chan struct{})})
}

func (r *runner) send(ctx context.Context, o *op) error {
	select {
	case r.in <- o:
	case <-r.ended:
		return errClosing
	case <-ctx.Done():
		return ctx.Err()
	}
	// A command that was taken is carried out: whoever sent it hears the truth.
	select {
	case <-o.done:
		return o.err
	case <-r.ended:
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
func (r *runner) restore(ctx context.Context) (*engine.Engine, error) {
	kept, err := r.store.Pool(ctx, r.pool)
	if err != nil {
		return nil, err
	}
	p, err := sched.Parse(kept.Policy)
	if err != nil {
		return nil, err
	}
	snapshot, err := r.store.Snapshot(ctx, r.pool)
	if err != nil {
		return nil, err
	}
	return engine.Restore(r.time(), engine.Config{Pool: r.pool, Policy: p}, snapshot)
}

// time is the present, as precise as what is kept.
func (r *runner) time() time.Time { return r.now().UTC().Truncate(time.Microsecond) }

// commitAll is the committer.
func (r *runner) commitAll(in <-chan *group, out chan<- *group) {
	for g := range in {
		g.err = nil // of its last use
		if !g.changes.Empty() {
			g.err = r.store.Commit(context.Background(), &g.changes)
		}
		out <- g
	}
	close(out)
}

// loop is the state of a runner's loop.
type loop struct {
	*runner
	engine    *engine.Engine
	waiters   map[crowd.WorkerID]*waiter
	ops       []*op // applied, not yet on their way to the store
	commit    chan *group
	committed chan *group
	spare     *group // nil while a commit is on its way
	failed    error  // the store failed: commands are refused until retryAt
	retryAt   time.Time
}

func (l *loop) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		l.sendGroup()
		l.setTimer(timer)
		select {
		case o := <-l.in:
			l.apply(o)
			l.drain()
		case g := <-l.committed:
			l.finish(g)
		case <-timer.C:
			l.tick()
		case <-l.stop:
			l.shutDown()
			return
		}
	}
}

// drain applies what else has come in, up to a bound, so that it shares a commit.
func (l *loop) drain() {
	for range cap(l.in) {
		select {
		case o := <-l.in:
			l.apply(o)
		default:
			return
		}
	}
}

func (l *loop) apply(o *op) {
	if l.failed != nil && !l.recover() {
		o.err = l.failed
		close(o.done)
		return
	}
	now := l.time()
	if at, ok := l.engine.NextTimer(); ok && !at.After(now) {
		l.engine.Tick(now) // a lease that has run out has run out, however late the timer is
	}
	o.do(l.engine, now)
	if o.look != nil {
		o.look(l.waiters)
	}
	l.ops = append(l.ops, o)
	if o.gives != nil && l.waiters[o.gives.worker] == o.gives {
		l.engine.Leave(now, o.gives.worker)
		delete(l.waiters, o.gives.worker)
	}
	if o.asks != nil && o.asks.left() {
		l.queue(now, o.asks)
	}
}

// queue keeps the request of a worker whom the engine has made wait. Of several
// requests of one worker the last patient one is served.
func (l *loop) queue(now time.Time, w *waiter) {
	old := l.waiters[w.worker]
	switch {
	case !w.patient && old == nil:
		l.engine.Leave(now, w.worker)
	case w.patient:
		if old != nil {
			close(old.served)
		}
		l.waiters[w.worker] = w
	}
}

// sendGroup hands what was applied to the committer, if it is free.
func (l *loop) sendGroup() {
	if l.spare == nil || len(l.ops) == 0 {
		return
	}
	g := l.spare
	l.spare = nil
	l.engine.Take(&g.changes)
	g.ops, l.ops = l.ops, g.ops[:0]
	l.commit <- g
}

// finish tells everybody in a group how it went.
func (l *loop) finish(g *group) {
	l.spare = g
	if g.err != nil {
		l.fail(g)
		return
	}
	l.watch(&g.changes)
	for _, o := range g.ops {
		close(o.done)
	}
	clear(g.ops)
	for _, h := range g.changes.Served {
		if w := l.waiters[h.Worker]; w != nil {
			delete(l.waiters, h.Worker)
			w.served <- h
		}
	}
	for _, x := range g.changes.Shifts {
		if w := l.waiters[x.Worker]; w != nil && !x.On && !l.waits(x.Worker) {
			delete(l.waiters, x.Worker)
			close(w.served)
		}
	}
}

// waits says whether somebody is in the engine's queue now: he may have come
// back since he went off duty.
func (l *loop) waits(id crowd.WorkerID) bool {
	c, _ := l.engine.OnCall(l.time(), id)
	return c.Waiting
}

// fail gives up everything that is not durable.
func (l *loop) fail(g *group) {
	l.log.Error("the store failed; the pool goes on from what is durable", "err", g.err)
	l.failed, l.retryAt = userError(g.err), l.now().Add(retryAfter)
	for _, ops := range [][]*op{g.ops, l.ops} {
		for _, o := range ops {
			o.err = l.failed
			close(o.done)
		}
		clear(ops)
	}
	l.ops = l.ops[:0]
	for w, x := range l.waiters {
		close(x.served)
		delete(l.waiters, w)
	}
}

// userError keeps errors that are meant for users, and says "try again" for
// others.
func userError(err error) error {
	var known *crowd.Error
	if errors.As(err, &known) {
		return err
	}
	return &crowd.Error{Code: crowd.Unavailable, Message: "the answer could not be kept just now; try again", Cause: err}
}

// recover goes on from what the store has, or reports that it is not yet time
// or that the store still fails.
func (l *loop) recover() bool {
	if l.now().Before(l.retryAt) {
		return false
	}
	e, err := l.restore(context.Background())
	if err != nil {
		l.log.Error("the store cannot be read", "err", err)
		l.failed, l.retryAt = userError(err), l.now().Add(retryAfter)
		return false
	}
	l.engine, l.failed = e, nil
	l.again(e.People(l.time()))
	return true
}

// tick lets the engine do what is due, by a command that nobody waits for.
func (l *loop) tick() {
	if l.failed == nil || l.recover() {
		l.apply(&op{do: func(*engine.Engine, time.Time) {}, done: make(chan struct{})})
	}
}

func (l *loop) setTimer(t *time.Timer) {
	wait := time.Hour
	if l.failed != nil {
		wait = l.retryAt.Sub(l.now())
	} else if at, ok := l.engine.NextTimer(); ok {
		wait = at.Sub(l.now())
	}
	t.Reset(max(wait, time.Millisecond))
}

// shutDown makes durable what was applied and refuses what comes.
func (l *loop) shutDown() {
	if l.spare == nil {
		l.finish(<-l.committed)
	}
	if l.sendGroup(); l.spare == nil {
		l.finish(<-l.committed)
	}
	for _, w := range l.waiters {
		close(w.served)
	}
	close(l.commit)
	for {
		select {
		case o := <-l.in:
			o.err = errClosing
			close(o.done)
		default:
			return
		}
	}
}
