package app

import (
	"context"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// mover takes people from one pool to another. Who holds a task finishes it
// first; the rest of his move is done when his pool tells that he is gone.
type mover struct {
	mu      sync.Mutex
	pending map[crowd.WorkerID]pendingMove
	ready   chan crowd.WorkerID
}

// pendingMove is the move of somebody who finishes something first.
type pendingMove struct {
	to  crowd.PoolID
	off bool // he went home: he changes the pool, and does not come on duty there
}

func (m *mover) init() {
	m.pending, m.ready = make(map[crowd.WorkerID]pendingMove), make(chan crowd.WorkerID, 1024)
}

// gone is told, by a pool's loop, that somebody went off duty.
func (m *mover) gone(id crowd.WorkerID, why engine.Departure) {
	m.mu.Lock()
	x, waits := m.pending[id]
	if waits && why != engine.Moved {
		x.off = true
		m.pending[id] = x
	}
	m.mu.Unlock()
	if waits {
		select {
		case m.ready <- id:
		default: // the next control step looks again
		}
	}
}

// take returns where somebody is to move, once.
func (m *mover) take(id crowd.WorkerID) (pendingMove, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	x, ok := m.pending[id]
	delete(m.pending, id)
	return x, ok
}

func (m *mover) put(id crowd.WorkerID, to crowd.PoolID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending[id] = pendingMove{to: to}
}

// waiting lists who is still to move.
func (m *mover) waiting() []crowd.WorkerID {
	m.mu.Lock()
	defer m.mu.Unlock()
	return sortedKeys(m.pending)
}

// MoveFrom is Move for a worker who has to be one of the pool from. Admins only.
func (s *Transfers) MoveFrom(ctx context.Context, p *Principal, from crowd.PoolID, id crowd.WorkerID, to crowd.PoolID) (there bool, err error) {
	if err := p.need(Admin); err != nil {
		return false, err
	}
	if _, ok := s.pool(from); !ok {
		return false, errPool
	}
	u, err := s.store.User(ctx, id)
	switch {
	case crowd.CodeOf(err) == crowd.NotFound:
		return false, crowd.Fieldf("worker", "there is no %s", id)
	case err != nil:
		return false, err
	case u.Pool != from:
		return false, crowd.Fieldf("worker", "%s is not a worker of %s", u.Name, from)
	}
	return s.Move(ctx, p, id, to)
}

// Move moves a worker to another pool. It says whether he is there; if not,
// he holds a task and moves when he has finished it. Admins only.
func (s *Transfers) Move(ctx context.Context, p *Principal, id crowd.WorkerID, to crowd.PoolID) (there bool, err error) {
	if err := p.need(Admin); err != nil {
		return false, err
	}
	u, err := s.store.User(ctx, id)
	switch {
	case err != nil:
		return false, err
	case u.Pool == 0:
		return false, crowd.Fieldf("worker", "%s is not a worker", u.Name)
	case u.Pool == to:
		return true, s.stay(ctx, id, to)
	case u.MovesTo == to:
		return false, nil // said twice
	}
	if _, ok := s.pool(to); !ok {
		return false, crowd.Fieldf("to", "no such pool")
	}
	there, err = s.move(ctx, id, u.Pool, to)
	if err != nil {
		return there, err
	}
	why := "an admin moved " + u.Name
	if !there {
		why += ", who finishes his task first"
	}
	return there, s.store.AddActions(context.WithoutCancel(ctx), []store.Action{{
		Pool: u.Pool, At: s.time(), By: p.User.ID, Kind: store.ActionTransfer, N: 1, Worker: id, To: to, Why: []string{why},
	}})
}

// stay takes a move back that somebody's task has held up so far.
func (s *service) stay(ctx context.Context, id crowd.WorkerID, in crowd.PoolID) error {
	x, waits := s.mover.take(id)
	if !waits || x.off {
		return nil
	}
	r, err := s.runner(in)
	if err != nil {
		return err
	}
	s.keepMove(ctx, id, in, 0)
	return r.command(ctx, func(e *engine.Engine, now time.Time) error { return e.StartDuty(now, id) })
}

// keepMove keeps where somebody of a pool is to move, so that a restart does not
// forget it; 0: nowhere any more. What cannot be kept is done all the same.
func (s *service) keepMove(ctx context.Context, id crowd.WorkerID, from, to crowd.PoolID) {
	_, err := s.changeUser(context.WithoutCancel(ctx), id, func(u *store.User) error {
		if u.Pool == from { // else he has arrived meanwhile
			u.MovesTo = to
		}
		return nil
	})
	if err != nil {
		s.log.Error("a move could not be kept", "worker", id.String(), "to", to.String(), "err", err)
	}
}

// resumeMoves goes on with the moves that the last run of the server has kept.
func (s *service) resumeMoves(ctx context.Context) {
	for _, u := range s.roster.moving() {
		if _, err := s.move(ctx, u.ID, u.Pool, u.MovesTo); err != nil {
			s.log.Error("a move could not be resumed", "worker", u.ID.String(), "to", u.MovesTo.String(), "err", err)
		}
	}
}

// move takes a worker out of a pool, and brings him into another if he is free.
func (s *service) move(ctx context.Context, id crowd.WorkerID, from, to crowd.PoolID) (there bool, err error) {
	r, err := s.runner(from)
	if err != nil {
		return false, err
	}
	free, was := false, engine.OnCall{}
	err = r.command(ctx, func(e *engine.Engine, now time.Time) (err error) {
		was, _ = e.OnCall(now, id)
		if free, err = e.EndDuty(now, id, engine.Moved); err == nil && !free {
			s.mover.put(id, to) // before his pool can tell that he is gone
		}
		return err
	})
	if err != nil || !free {
		s.workers.signal(id)
		if err != nil {
			s.mover.take(id)
		} else {
			s.keepMove(ctx, id, from, to)
		}
		return false, err
	}
	if before, waited := s.mover.take(id); waited && !before.off {
		was.On = true // he went off duty to move somewhere else, and has not arrived
	}
	return true, s.arrive(context.WithoutCancel(ctx), id, to, was.On)
}

// arrive brings somebody into a pool: he learns its work first, if he does not
// know it, and is on duty if he was so before.
func (s *service) arrive(ctx context.Context, id crowd.WorkerID, to crowd.PoolID, on bool) error {
	if _, err := s.changeUser(ctx, id, func(u *store.User) error { u.Pool, u.MovesTo = to, 0; return nil }); err != nil {
		return err
	}
	r, err := s.runner(to)
	if err != nil {
		return err
	}
	if on {
		err = r.command(ctx, func(e *engine.Engine, now time.Time) error { return e.StartDuty(now, id) })
	}
	s.workers.signal(id)
	return err
}

// finishMoves carries people over who have finished what they held.
func (s *service) finishMoves(ctx context.Context, id crowd.WorkerID) {
	x, ok := s.mover.take(id)
	if !ok {
		return
	}
	if err := s.arrive(context.WithoutCancel(ctx), id, x.to, !x.off); err != nil {
		s.log.Error("a move could not be finished", "worker", id.String(), "to", x.to.String(), "err", err)
	}
}
