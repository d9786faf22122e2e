package runs

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/limits"
)

// Results returns all rows of a node of a run, once there is room for one more download,
// which goes on until the request of ctx is answered: a part of a file may be left when all rows are read.
func (s *Runs) Results(ctx context.Context, p *access.Principal, id crowd.RunID, node string) (*orchestrator.Results, error) {
	r, err := s.find(ctx, p, access.RunsResults, id)
	if err != nil {
		return nil, err
	}
	if !r.FilesDeletedAt.IsZero() {
		return nil, crowd.Errorf(crowd.Conflict, "the rows of %s were deleted on %s, as its tenant keeps files no longer", id, r.FilesDeletedAt.UTC().Format(time.DateOnly))
	}
	end, err := s.downloads.Start(ctx, p.User.ID, r.Tenant, 1)
	if err != nil {
		return nil, err
	}
	limits.AtEnd(ctx, end)
	return s.orchestrator.Results(ctx, 0, id, node)
}
