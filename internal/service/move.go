package service

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
	pending map[crowd.WorkerID]crowd.PoolID // to
	ready   chan crowd.WorkerID
}

func (m *mover) init() {
	m.pending, m.ready = make(map[crowd.WorkerID]crowd.PoolID), make(chan crowd.WorkerID, 1024)
}

// gone is told, by a pool's loop, that somebody went off duty to move.
func (m *mover) gone(id crowd.WorkerID) {
	m.mu.Lock()
	_, waits := m.pending[id]
	m.mu.Unlock()
	if waits {
		select {
		case m.ready <- id:
		default: // the next control step looks again
		}
	}
}

// take returns where somebody is to move, once.
func (m *mover) take(id crowd.WorkerID) (crowd.PoolID, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	to, ok := m.pending[id]
	delete(m.pending, id)
	return to, ok
}

func (m *mover) put(id crowd.WorkerID, to crowd.PoolID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending[id] = to
}

// waiting lists who is still to move.
func (m *mover) waiting() map[crowd.WorkerID]crowd.PoolID {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make(map[crowd.WorkerID]crowd.PoolID, len(m.pending))
	for id, to := range m.pending {
		list[id] = to
	}
	return list
}

// Transfer moves a worker to another pool. It says whether he is there; if not,
// he holds a task and moves when he has finished it. Admins only.
func (s *Service) Transfer(ctx context.Context, p *Principal, id crowd.WorkerID, to crowd.PoolID) (there bool, err error) {
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
		return true, nil
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
	return there, s.store.AddActions(ctx, []store.Action{{
		Pool: u.Pool, At: s.time(), By: p.User.ID, Kind: store.ActionTransfer, N: 1, Worker: id, To: to, Why: []string{why},
	}})
}

// move takes a worker out of a pool, and brings him into another if he is free.
func (s *Service) move(ctx context.Context, id crowd.WorkerID, from, to crowd.PoolID) (there bool, err error) {
	r, err := s.runner(from)
	if err != nil {
		return false, err
	}
	s.mover.put(id, to) // before his pool can tell that he is gone
	free, was := false, engine.OnCall{}
	err = r.command(ctx, func(e *engine.Engine, now time.Time) (err error) {
		was, _ = e.OnCall(now, id)
		free, err = e.EndDuty(now, id, engine.Moved)
		return err
	})
	if err != nil || !free {
		s.workers.signal(id)
		if err != nil {
			s.mover.take(id)
		}
		return false, err
	}
	if _, mine := s.mover.take(id); !mine { // somebody else finishes it
		return true, nil
	}
	return true, s.arrive(ctx, id, to, was.On)
}

// arrive brings somebody into a pool: he learns its work first, if he does not
// know it, and is on duty if he was so before.
func (s *Service) arrive(ctx context.Context, id crowd.WorkerID, to crowd.PoolID, on bool) error {
	p, ok := s.pool(to)
	if !ok {
		return crowd.Errorf(crowd.NotFound, "no such pool")
	}
	knows := s.roster.knows(id, to)
	if _, err := s.changeUser(ctx, id, func(u *store.User) error { u.Pool = to; return nil }); err != nil {
		return err
	}
	r, err := s.runner(to)
	if err != nil {
		return err
	}
	err = r.command(ctx, func(e *engine.Engine, now time.Time) error {
		if !knows && p.Retainer.Training > 0 {
			if err := e.Train(now, id, p.Retainer.Training); err != nil {
				return err
			}
		}
		if on {
			return e.StartDuty(now, id)
		}
		return nil
	})
	s.workers.signal(id)
	return err
}

// finishMoves carries people over who have finished what they held.
func (s *Service) finishMoves(ctx context.Context, id crowd.WorkerID) {
	to, ok := s.mover.take(id)
	if !ok {
		return
	}
	if err := s.arrive(ctx, id, to, true); err != nil {
		s.log.Error("a move could not be finished", "worker", id.String(), "to", to.String(), "err", err)
	}
}
