package batches

import (
	"context"
	"iter"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/limits"
)

// newScans bounds how many reads of whole batches go on at a time: each has a
// connection to the database, and goes on for as long as its reader takes.
func newScans() *limits.Slots {
	return &limits.Slots{What: "downloads", Most: 16, Tenant: 4, Person: 2}
}

// scan yields rows of a tenant's batch to p, once there is room for it.
func scan[T any](ctx context.Context, s *limits.Slots, p *access.Principal, tenant crowd.TenantID, rows iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		end, err := s.Start(ctx, p.User.ID, tenant, 1)
		if err != nil {
			yield(*new(T), err)
			return
		}
		defer end()
		rows(yield)
	}
}
