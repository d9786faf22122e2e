package runs

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// remade is what the audit log says of a run that does another one anew.
type remade struct{ Parent crowd.RunID }

// Redo makes a run that goes on from one that is done with the labels that were corrected in it, and begins it:
// people may be asked, and paid, again.
func (s *Runs) Redo(ctx context.Context, p *access.Principal, id crowd.RunID) (store.Run, error) {
	r, err := s.find(ctx, p, access.RunsRedo, id)
	if err != nil {
		return store.Run{}, err
	}
	done, err := s.read(ctx, p)
	if err != nil {
		return store.Run{}, err
	}
	defer done()
	ctx, act := p.Acting(ctx, access.RunsRedo, store.AuditEntry{At: s.clock.Time(), Tenant: r.Tenant, Kind: "run"})
	act.After = remade{r.ID}
	made, err := s.orchestrator.Redo(ctx, id, p.User.ID)
	if err == nil {
		s.watched.Changed(id)
	}
	return made, err
}

// Corrected tells those who watch runs that a label was corrected, which any of those may have used that
// go on from its run.
func (s *Runs) Corrected() { s.watched.AllChanged() }

// later has something done in a goroutine of its own.
func (s *Runs) later(do func(context.Context)) {
	s.underway.Go(func() { do(s.calls) })
}
