package accounts

import (
	"context"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// acting is for a change of a person.
func (s *Accounts) acting(ctx context.Context, p *access.Principal, o access.Operation, id crowd.WorkerID) (context.Context, *store.Act) {
	return p.Acting(ctx, o, store.AuditEntry{At: s.clock.Time(), Kind: "user", Object: id.String()})
}

// inTenants returns a context for a change of who a person is that is no tenant's, of which also
// the audit log of each tenant tells whose roles they get or lose, or may use no longer or again:
// of theirs alone.
func inTenants(ctx context.Context, before, u *store.User) context.Context {
	var changed []crowd.TenantID
	for _, t := range slices.Compact(slices.Sorted(slices.Values(append(before.StaffOf(), u.StaffOf()...)))) {
		if before.Suspended != u.Suspended || !slices.Equal(rolesFor(before, t), rolesFor(u, t)) {
			changed = append(changed, t)
		}
	}
	type here struct {
		Roles     []store.HeldRole
		Suspended bool
	}
	return withParts(ctx, changed, func(t crowd.TenantID) (any, any) {
		return here{rolesFor(before, t), before.Suspended}, here{rolesFor(u, t), u.Suspended}
	})
}

// withParts adds an entry for each of some tenants to that of a context, if it is no tenant's. told
// is what was before and after, of what the tenant may read.
func withParts(ctx context.Context, tenants []crowd.TenantID, told func(crowd.TenantID) (before, after any)) context.Context {
	act := store.ActOf(ctx)
	if act == nil || !act.Pending() || act.Tenant != 0 {
		return ctx
	}
	acts := []*store.Act{act}
	for _, t := range tenants {
		part := &store.Act{AuditEntry: act.AuditEntry, Part: true}
		part.Tenant = t
		part.Before, part.After = told(t)
		acts = append(acts, part)
	}
	return store.WithActs(ctx, acts...)
}

// rolesFor are the roles that a person holds for a tenant.
func rolesFor(u *store.User, tenant crowd.TenantID) []store.HeldRole {
	return slices.DeleteFunc(slices.Collect(access.Held(u)), func(h store.HeldRole) bool { return h.Tenant != tenant })
}

// factorTold is what the audit log says of a second factor.
type factorTold struct {
	ID   int64
	Kind store.FactorKind
	Name string
}
