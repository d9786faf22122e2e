package runs

import (
	"context"
	"sync"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// told is what the audit log says of a change of a run.
type told struct {
	State             store.RunState // what it was, or becomes
	Input, Feed, Step string
	Amount            crowd.Money
}

// acting is for a change of a run, as it was before.
func (s *Runs) acting(ctx context.Context, p *access.Principal, o access.Operation, r *store.Run, after told) context.Context {
	ctx, act := p.Acting(ctx, o, store.AuditEntry{At: s.clock.Time(), Tenant: r.Tenant, Kind: "run", Object: r.ID.String()})
	if act.After = after; after.State != "" {
		act.Before = told{State: r.State}
	}
	return ctx
}

var errRun = &crowd.Error{Code: crowd.NotFound, Field: "run", Message: "there is no such run"}

// find returns a run that p may see.
func (s *Runs) find(ctx context.Context, p *access.Principal, o access.Operation, id crowd.RunID) (store.Run, error) {
	if err := p.May(o); err != nil {
		return store.Run{}, err
	}
	r, err := s.store.Run(ctx, 0, id)
	switch {
	case crowd.CodeOf(err) == crowd.NotFound:
		err = errRun
	case err == nil:
		err = p.MayOn(o, r.Tenant, errRun, access.ShowRuns...)
	}
	if err != nil {
		return store.Run{}, err
	}
	return r, nil
}

// runLocks keeps changes of one run's state apart. Nobody holds two of them.
type runLocks [64]sync.Mutex

// lock takes the lock of a run, which few others share, until unlock is called.
func (l *runLocks) lock(id crowd.RunID) (unlock func()) {
	mu := &l[uint64(id)%uint64(len(l))]
	mu.Lock()
	return mu.Unlock
}

// command is something that is done to a run.
type command struct {
	access access.Operation
	tells  told
	do     func(context.Context, *orchestrator.Orchestrator) error
}

// onRun does something to a run, and returns it as it is then.
func (s *Runs) onRun(ctx context.Context, p *access.Principal, id crowd.RunID, c command) (store.Run, error) {
	if c.tells.State != "" { // what the audit log says was before is what this changes
		defer s.turning.lock(id)()
	}
	r, err := s.find(ctx, p, c.access, id)
	if err != nil {
		return store.Run{}, err
	}
	if err := c.do(s.acting(ctx, p, c.access, &r, c.tells), s.orchestrator); err != nil {
		return store.Run{}, err
	}
	s.watched.Changed(id)
	return s.store.Run(ctx, 0, id)
}
