package recruit

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// Transfers moves people from one pool to another. Who holds a task finishes it
// first; the rest of their move is done when their pool tells that they are gone.
type Transfers struct {
	cfg     Config
	moving  workerLocks // held while somebody is moved
	mu      sync.Mutex  // of pending; a pool's loop takes it, so nothing is waited for while it is held
	pending map[crowd.WorkerID]pendingMove
	runs    bool // somebody reads ready; under mu
	ready   chan departed
}

// workerLocks keeps moves of one person apart. Nobody holds two of them.
type workerLocks [64]sync.Mutex

// lock takes the lock of a person, which few others share, until unlock is called.
func (l *workerLocks) lock(id crowd.WorkerID) (unlock func()) {
	mu := &l[uint64(id)%uint64(len(l))]
	mu.Lock()
	return mu.Unlock
}

// NewTransfers makes the use case.
func NewTransfers(cfg Config) *Transfers {
	return &Transfers{cfg: cfg, pending: make(map[crowd.WorkerID]pendingMove), ready: make(chan departed, 1024)}
}

// Run finishes moves as soon as people have finished what they held, until ctx
// is done.
func (t *Transfers) Run(ctx context.Context) {
	t.reads(true)
	defer func() {
		t.reads(false)
		for len(t.ready) > 0 {
			(<-t.ready).arrived()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case x := <-t.ready:
			t.finish(ctx, x.worker)
			x.arrived()
		}
	}
}

func (t *Transfers) reads(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs = on
}

// Changed takes over changes of people's duty, finishes what waited for them and
// signals those who watch. A pool's loop calls it.
func (t *Transfers) Changed(c *engine.Changes) {
	t.cfg.OnCall.changed(c)
	people := make([]crowd.WorkerID, 0, len(c.Shifts)+len(c.Duties))
	for _, x := range c.Shifts {
		people = append(people, x.Worker)
		if !x.On {
			t.gone(x.Worker, x.Why)
		}
	}
	for _, d := range c.Duties {
		people = append(people, d.Worker)
	}
	t.cfg.OnCall.Signal(people...)
}

// pendingMove is the move of somebody who finishes something first.
type pendingMove struct {
	to   crowd.PoolID
	home crowd.PoolID // that they belong to from then on
	was  crowd.PoolID // User.Home before
	off  bool         // they left by themselves: they change the pool, and do not come on duty there
}

// departed is somebody who has finished what they held.
type departed struct {
	worker  crowd.WorkerID
	arrived func()
}

// gone takes note that somebody went off duty. Who is lent goes home.
func (t *Transfers) gone(id crowd.WorkerID, why engine.Departure) {
	home, lent := t.cfg.OnCall.lent(id)
	t.mu.Lock()
	x, waits := t.pending[id]
	if !waits && why != engine.Moved && lent {
		x, waits = pendingMove{to: home, home: home, was: home}, true
	}
	if waits && why != engine.Moved {
		x.off = true
		t.pending[id] = x
	}
	if waits && t.runs {
		x := departed{id, t.cfg.OnCall.Depart(id)}
		select {
		case t.ready <- x:
		default: // the next control step looks again
			x.arrived()
		}
	}
	t.mu.Unlock()
}

// take returns where somebody is to move, once.
func (t *Transfers) take(id crowd.WorkerID) (pendingMove, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x, ok := t.pending[id]
	delete(t.pending, id)
	return x, ok
}

func (t *Transfers) put(id crowd.WorkerID, x pendingMove) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending[id] = x
}

// waiting lists those who are still to move.
func (t *Transfers) waiting() []crowd.WorkerID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.pending))
}

// MoveFrom is Move for a worker who has to be one of the pool from. Admins only.
func (t *Transfers) MoveFrom(ctx context.Context, p *access.Principal, from crowd.PoolID, id crowd.WorkerID, to crowd.PoolID) (there bool, err error) {
	if err := p.May(access.TransfersMoveFrom); err != nil {
		return false, err
	}
	if _, err := t.cfg.Live.Get(from); err != nil {
		return false, err
	}
	u, err := t.cfg.Store.User(ctx, id)
	switch {
	case crowd.CodeOf(err) == crowd.NotFound:
		return false, crowd.Fieldf("worker", "there is no %s", id)
	case err != nil:
		return false, err
	case u.Pool != from:
		return false, crowd.Fieldf("worker", "%s is not a worker of %s", u.Name, from)
	}
	ctx, _ = p.Acting(ctx, access.TransfersMoveFrom, t.about(id))
	return t.Move(ctx, p, id, to)
}

// about is what the audit log says of whoever is moved.
func (t *Transfers) about(id crowd.WorkerID) store.AuditEntry {
	return store.AuditEntry{At: t.cfg.Clock.Time(), Kind: "worker", Object: id.String()}
}

// place is what the audit log says of where somebody is, and where they go when they have
// finished their task.
type place struct{ Pool, MovesTo crowd.PoolID }

// Move moves a worker to another pool. It reports whether they are there; if not,
// they hold a task and move when they have finished it. Admins only.
func (t *Transfers) Move(ctx context.Context, p *access.Principal, id crowd.WorkerID, to crowd.PoolID) (there bool, err error) {
	if err := p.May(access.TransfersMove); err != nil {
		return false, err
	}
	defer t.moving.lock(id)() // what the audit log says was before is what this changes
	u, err := t.cfg.Store.User(ctx, id)
	ctx, act := p.Acting(ctx, access.TransfersMove, t.about(id))
	act.Before, act.After = place{u.Pool, u.MovesTo}, place{Pool: to}
	switch {
	case err != nil:
		return false, err
	case u.Pool == 0:
		return false, crowd.Fieldf("worker", "%s is not a worker: they are in no pool to be moved from (who did not pass a test is invited again, without it)", u.Name)
	case u.Pool == to:
		return true, t.stay(ctx, id, to)
	case u.MovesTo == to:
		return false, nil // said twice
	}
	if _, ok := t.cfg.Live.Settings(to); !ok {
		return false, crowd.Fieldf("to", "no such pool")
	}
	there, err = t.transfer(ctx, pool.Move{Worker: id, From: u.Pool, To: to, Home: to})
	if err != nil {
		return there, err
	}
	why := "an admin moved " + u.Name
	if !there {
		why += ", who finishes their task first"
	}
	return there, t.cfg.Store.AddActions(context.WithoutCancel(ctx), []store.Action{{
		Pool: u.Pool, At: t.cfg.Clock.Time(), By: p.User.ID, Kind: store.ActionTransfer, N: 1, Worker: id, To: to, Why: []string{why},
	}})
}

// stay takes back a move that waits for somebody's task.
func (t *Transfers) stay(ctx context.Context, id crowd.WorkerID, in crowd.PoolID) error {
	x, waits := t.take(id)
	if !waits || x.off {
		return nil
	}
	r, err := t.cfg.Live.Get(in)
	if err != nil {
		return err
	}
	t.keep(ctx, id, in, 0, x.was)
	return r.Command(ctx, func(e *engine.Engine, now time.Time) error { return e.StartDuty(now, id) })
}

// keep keeps where somebody of a pool is to move, so that a restart does not
// forget it (0: nowhere any more), and where they belong. What cannot be kept is
// done all the same.
func (t *Transfers) keep(ctx context.Context, id crowd.WorkerID, from, to, home crowd.PoolID) {
	_, err := t.cfg.ChangeUser(context.WithoutCancel(ctx), id, func(u *store.User) error {
		if u.Pool == from { // else they have arrived meanwhile
			u.MovesTo, u.Home = to, home
		}
		return nil
	})
	if err != nil {
		t.cfg.Log.Error("a move could not be kept", "worker", id.String(), "to", to.String(), "err", err)
	}
}

// Resume goes on with the moves that the last run of the server has kept, and sends
// those home who were lent and are off duty.
func (t *Transfers) Resume(ctx context.Context) {
	for _, u := range t.cfg.OnCall.moving() {
		m := pool.Move{Worker: u.ID, From: u.Pool, To: u.MovesTo, Home: cmp.Or(u.Home, u.MovesTo)}
		if u.MovesTo == 0 {
			m.To = u.Home
		}
		if _, err := t.Transfer(ctx, m); err != nil {
			t.cfg.Log.Error("a move could not be resumed", "worker", u.ID.String(), "to", m.To.String(), "err", err)
		}
	}
}

// Transfer takes a worker out of a pool, and brings them into another if they are
// free. With the same pool twice they stay, and belong to the pool of m.Home.
func (t *Transfers) Transfer(ctx context.Context, m pool.Move) (there bool, err error) {
	defer t.moving.lock(m.Worker)()
	return t.transfer(ctx, m)
}

// transfer is Transfer for who holds the person's lock of t.moving.
func (t *Transfers) transfer(ctx context.Context, m pool.Move) (there bool, err error) {
	id := m.Worker
	if m.From == m.To {
		_, err := t.cfg.ChangeUser(ctx, id, func(u *store.User) error {
			if u.Pool == m.From {
				u.Home = m.Home
			}
			return nil
		})
		return true, err
	}
	x := pendingMove{to: m.To, home: m.Home, was: t.cfg.OnCall.homeOf(id)}
	defer t.cfg.OnCall.Depart(id)()
	free, was, err := t.leave(ctx, m.From, id, x)
	if err != nil || !free {
		return false, err
	}
	if before, waited := t.take(id); waited && !before.off {
		was.On = true // they went off duty to move somewhere else, and have not arrived
	}
	x.off = !was.On
	if err = t.arrive(context.WithoutCancel(ctx), id, x); err != nil {
		x.off = false // whoever asks for work comes on duty
		if t.holdsAgain(ctx, err, m.From, id, x) {
			return false, nil
		}
	}
	return true, err
}

// leave takes a worker off duty, to move as x says, and reports whether they are free. Else
// they hold a task, and move when they have finished it.
func (t *Transfers) leave(ctx context.Context, from crowd.PoolID, id crowd.WorkerID, x pendingMove) (free bool, was engine.OnCall, err error) {
	r, err := t.cfg.Live.Get(from)
	if err != nil {
		return false, was, err
	}
	err = r.Command(ctx, func(e *engine.Engine, now time.Time) (err error) {
		was, _ = e.OnCall(now, id)
		if free, err = e.EndDuty(now, id, engine.Moved); err == nil && !free {
			t.put(id, x) // before the pool can tell that they are gone
			if act := store.ActOf(ctx); act != nil && act.Kind == "worker" {
				act.After = place{from, x.to}
			}
		}
		return err
	})
	switch {
	case err != nil:
		t.take(id)
		t.cfg.OnCall.Signal(id)
	case !free:
		t.keep(ctx, id, from, x.to, x.home)
		t.cfg.OnCall.Signal(id)
	}
	return free, was, err
}

// holdsAgain reports whether err, by which somebody could not arrive, is that they hold a
// task: a request of theirs came to the pool after they went off duty in it, and before
// they were taken out of it. They finish it first, as if they had held it all along.
func (t *Transfers) holdsAgain(ctx context.Context, err error, from crowd.PoolID, id crowd.WorkerID, x pendingMove) bool {
	if crowd.CodeOf(err) != crowd.Conflict {
		return false
	}
	free, _, err := t.leave(ctx, from, id, x)
	return err == nil && !free
}

// arrive brings somebody into a pool: they learn its work first, if they do not
// know it, and are on duty if they were so before.
//
// Who comes off duty belongs to the pool: nobody is lent who does not work.
func (t *Transfers) arrive(ctx context.Context, id crowd.WorkerID, x pendingMove) error {
	if x.off {
		x.to = x.home
	}
	heard := t.heard(ctx, id)
	if _, err := t.cfg.ChangeUser(ctx, id, func(u *store.User) error {
		u.Pool, u.MovesTo, u.Home = x.to, 0, 0
		if x.home != x.to {
			u.Home = x.home
		}
		if !x.off {
			u.MovedAt = t.cfg.Clock.Time()
		}
		return nil
	}); err != nil {
		return err
	}
	r, err := t.cfg.Live.Get(x.to)
	if err != nil {
		return err
	}
	if !x.off {
		err = r.Command(ctx, func(e *engine.Engine, now time.Time) error { return e.MoveIn(now, id, heard) })
	}
	t.cfg.OnCall.Signal(id)
	return err
}

// heard is when somebody was last heard of in the pool in which they still are; now, if it
// does not know.
func (t *Transfers) heard(ctx context.Context, id crowd.WorkerID) time.Time {
	var c engine.OnCall
	if r, err := t.cfg.Live.Get(t.cfg.OnCall.PoolOf(id)); err == nil {
		_ = r.Do(ctx, func(e *engine.Engine, now time.Time) { c, _ = e.OnCall(now, id) })
	}
	if c.Seen.IsZero() {
		return t.cfg.Clock.Time()
	}
	return c.Seen
}

// finish brings somebody who has finished what they held into the other pool.
func (t *Transfers) finish(ctx context.Context, id crowd.WorkerID) {
	x, ok := t.take(id)
	if !ok {
		return
	}
	defer t.cfg.OnCall.Depart(id)()
	err := t.arrive(context.WithoutCancel(ctx), id, x)
	if err != nil && (x.off || !t.holdsAgain(ctx, err, t.cfg.OnCall.PoolOf(id), id, x)) {
		t.cfg.Log.Error("a move could not be finished", "worker", id.String(), "to", x.to.String(), "err", err)
	}
}

// FinishLate finishes the moves that Run has missed.
func (t *Transfers) FinishLate(ctx context.Context) error {
	for _, id := range t.waiting() {
		u, err := t.cfg.Store.User(ctx, id)
		if err != nil && crowd.CodeOf(err) != crowd.NotFound {
			return err
		}
		if err != nil || u.Pool == 0 {
			t.take(id)
			continue
		}
		r, err := t.cfg.Live.Get(u.Pool)
		if err != nil {
			continue
		}
		var c engine.OnCall
		if err := r.Do(ctx, func(e *engine.Engine, now time.Time) { c, _ = e.OnCall(now, id) }); err == nil && !c.On {
			t.finish(ctx, id)
		} else if err == nil && c.Leaves == "" {
			x, _ := t.take(id) // they stay: they came on duty again, or the pool was restored
			t.keep(ctx, id, u.Pool, 0, x.was)
		}
	}
	return nil
}
