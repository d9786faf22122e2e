package live

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// group is what one commit makes durable, and the commands that wait for it.
type group struct {
	changes engine.Changes
	ops     []*op
	err     error
}

// context has the effects and acts of the commands.
func (g *group) context() context.Context {
	ctx := context.Background()
	var effects []*store.Effect
	var acts []*store.Act
	for _, o := range g.ops {
		effects, acts = append(effects, o.effects...), append(acts, o.acts...)
	}
	if effects != nil {
		ctx = store.WithEffects(ctx, effects...)
	}
	if acts != nil {
		ctx = store.WithActs(ctx, acts...)
	}
	return ctx
}

// commitAll is the committer.
func (p *Pool) commitAll(in <-chan *group, out chan<- *group) {
	for g := range in {
		g.err = nil // of its last use
		if !g.changes.Empty() {
			g.err = p.cfg.Store.Commit(g.context(), &g.changes)
		}
		out <- g
	}
	close(out)
}

// loop is the state of a pool's loop.
type loop struct {
	*Pool
	engine    *engine.Engine
	waiters   map[crowd.WorkerID]*waiter
	ops       []*op // applied, not yet on their way to the store
	commit    chan *group
	committed chan *group
	free      *group // nil while a commit is on its way
	failed    error  // the store failed: commands are refused until retryAt
	durable   bool   // with failed: the engine has only what is in the store
	retryAt   time.Time
	observed  bool   // the engine tells of its events
	numbers   uint64 // what the engine's numbers of events are counted on from
}

// numbersFrom is what the events of an engine are counted on from that is made at now:
// more than any before had, since a pool has less than a million events a second.
func numbersFrom(now time.Time) uint64 { return uint64(max(now.UnixMicro(), 0)) }

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
		l.refuse(o)
		return
	}
	now := l.cfg.Now.Time()
	if at, ok := l.engine.NextTimer(); ok && !at.After(now) {
		l.engine.Tick(now) // a lease that has run out has run out, however late the timer is
	}
	if on := l.feed.wanted.Load(); on != l.observed {
		l.engine.Observe(on)
		l.observed = on
	}
	if o.author == 0 {
		o.do(l.engine, now)
	} else {
		l.engine.Act(o.author, func() { o.do(l.engine, now) })
	}
	if o.number != nil {
		*o.number, *o.start = l.numbers+l.engine.Produced(), l.numbers
	}
	if o.inspect != nil {
		o.inspect(l.waiters)
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
	if l.free == nil || len(l.ops) == 0 {
		return
	}
	g := l.free
	l.free = nil
	l.engine.Take(&g.changes)
	g.ops, l.ops = l.ops, g.ops[:0]
	l.commit <- g
}

// finish answers the commands of a group, and serves those whom it has served.
func (l *loop) finish(g *group) {
	l.free = g
	if g.err != nil {
		l.fail(g)
		return
	}
	l.cfg.Changed(&g.changes)
	l.feed.add(l.cfg.Now.Time(), l.numbers, g.changes.Events)
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

// waits reports whether a worker is in the engine's queue now: they may have come
// back since they went off duty.
func (l *loop) waits(id crowd.WorkerID) bool {
	c, _ := l.engine.OnCall(l.cfg.Now.Time(), id)
	return c.Waiting
}

// fail refuses everything that is not durable.
func (l *loop) fail(g *group) {
	l.log.Error("the store failed; the pool goes on from what is durable", "err", g.err)
	l.failed, l.retryAt, l.durable = userError(g.err), l.cfg.Now().Add(retryAfter), false
	for _, ops := range [][]*op{g.ops, l.ops} {
		for _, o := range ops {
			l.refuse(o)
		}
		clear(ops)
	}
	l.ops = l.ops[:0]
	for w, x := range l.waiters {
		close(x.served)
		delete(l.waiters, w)
	}
}

// refuse answers a command while the store fails. What only reads gets what is durable:
// the engine is ahead of that until it was restored once.
func (l *loop) refuse(o *op) {
	if o.reads && !l.durable && l.renew() {
		l.durable = true
	}
	if o.reads && l.durable {
		o.do(l.engine, l.cfg.Now.Time())
		if o.inspect != nil {
			o.inspect(l.waiters)
		}
	} else {
		o.err = l.failed
	}
	close(o.done)
}

// recover goes on from what the store has, or reports that it is not yet time
// or that the store still fails.
func (l *loop) recover() bool {
	if l.cfg.Now().Before(l.retryAt) || !l.renew() { // even if it was read before: what is told meanwhile is in the store only
		return false
	}
	l.failed = nil
	l.cfg.Restored(l.id, l.engine.People(l.cfg.Now.Time()))
	return true
}

// renew makes the engine from what the store has, or reports that it cannot be read.
func (l *loop) renew() bool {
	e, err := l.restore(context.Background())
	if err != nil {
		l.log.Error("the store cannot be read", "err", err)
		l.failed, l.retryAt, l.durable = userError(err), l.cfg.Now().Add(retryAfter), false
		return false
	}
	l.numbers = max(numbersFrom(l.cfg.Now.Time()), l.numbers+l.engine.Produced()+1) // rising, also if the clock was put back
	l.engine, l.observed = e, false
	return true
}

// tick lets the engine do what is due, by a command whose result nobody waits for.
func (l *loop) tick() {
	if l.failed == nil || l.recover() {
		l.apply(&op{do: func(*engine.Engine, time.Time) {}, done: make(chan struct{})})
	}
}

func (l *loop) setTimer(t *time.Timer) {
	wait := time.Hour
	if l.failed != nil {
		wait = l.retryAt.Sub(l.cfg.Now())
	} else if at, ok := l.engine.NextTimer(); ok {
		wait = at.Sub(l.cfg.Now())
	}
	t.Reset(max(wait, time.Millisecond))
}

// shutDown makes durable what was applied and refuses what comes.
func (l *loop) shutDown() {
	if l.free == nil {
		l.finish(<-l.committed)
	}
	if l.sendGroup(); l.free == nil {
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
