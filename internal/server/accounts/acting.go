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

// byProviders are the operations by which a provider of accounts makes people something. They
// are no tenant's, since one may be about several.
var byProviders = []string{access.AccountsFinishSignIn.Name, access.ProvisioningRegroup.Name}

// inTenants returns a context for a change by a provider of who a person is, which also the
// audit log of each tenant tells whose roles they get or lose: of theirs alone.
func inTenants(ctx context.Context, before, u *store.User) context.Context {
	var changed []crowd.TenantID
	for _, t := range slices.Compact(slices.Sorted(slices.Values(append(before.StaffOf(), u.StaffOf()...)))) {
		if !slices.Equal(rolesFor(before, t), rolesFor(u, t)) {
			changed = append(changed, t)
		}
	}
	return withParts(ctx, changed, before, u)
}

// withParts adds an entry for each of some tenants to that of a context, if it is by a provider.
// It says what has changed for the tenant, unless before is u itself.
func withParts(ctx context.Context, tenants []crowd.TenantID, before, u *store.User) context.Context {
	act := store.ActOf(ctx)
	if act == nil || !act.Pending() || !slices.Contains(byProviders, act.Operation) {
		return ctx
	}
	type roles struct{ Roles []store.HeldRole }
	acts := []*store.Act{act}
	for _, t := range tenants {
		part := &store.Act{AuditEntry: act.AuditEntry, Part: true}
		if part.Tenant = t; before != u {
			part.Before, part.After = roles{rolesFor(before, t)}, roles{rolesFor(u, t)}
		}
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
