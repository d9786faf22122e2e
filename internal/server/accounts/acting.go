package accounts

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// acting is for a change of a person.
func (s *Accounts) acting(ctx context.Context, p *access.Principal, o access.Operation, id crowd.WorkerID) (context.Context, *store.Act) {
	return p.Acting(ctx, o, store.AuditEntry{At: s.clock.Time(), Kind: "user", Object: id.String()})
}

// factorTold is what the audit log says of a second factor.
type factorTold struct {
	ID   int64
	Kind store.FactorKind
	Name string
}
