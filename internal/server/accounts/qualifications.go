package accounts

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// validQualifications checks what a person holds and did not hold before, and sorts
// the grants.
func (s *Accounts) validQualifications(ctx context.Context, before, u *store.User) error {
	for _, name := range slices.Sorted(maps.Keys(u.Qualifications)) {
		if score, held := before.Qualifications[name]; held && score == u.Qualifications[name] {
			continue
		}
		if err := (crowd.Qualification{Name: name, Score: u.Qualifications[name]}).Validate(); err != nil {
			return crowd.Fieldf("qualifications", "%s", err)
		}
	}
	u.Granted = slices.SortedStableFunc(slices.Values(u.Granted), func(x, y engine.Grant) int {
		return cmp.Or(cmp.Compare(x.Tenant, y.Tenant), cmp.Compare(x.Name, y.Name))
	})
	for i, g := range u.Granted {
		if i > 0 && u.Granted[i-1].Tenant == g.Tenant && u.Granted[i-1].Name == g.Name {
			return crowd.Fieldf("granted", "%s stands there twice for %s", g.Name, g.Tenant)
		}
		if slices.Contains(before.Granted, g) {
			continue
		}
		if err := (crowd.Qualification{Name: g.Name, Score: g.Score}).Validate(); err != nil {
			return crowd.Fieldf("granted", "%s", err)
		}
		if _, err := s.store.Tenant(ctx, g.Tenant); err != nil {
			return err
		}
	}
	return nil
}

// qualified reports whether somebody holds what a test grants, or there is none.
func qualified(u *store.User, t *store.Test) bool {
	return t == nil || engine.Meets(u.Qualifications, u.Granted, t.Tenant, []engine.Requirement{{Name: t.Grants, Min: t.PassMark}})
}

// grant gives somebody what a test grants, unless they hold it with a better score:
// for the batches of the test's tenant, or, by a test of the installation, for all.
func grant(u *store.User, t *store.Test, score int) {
	if t.Tenant == 0 {
		held := maps.Clone(u.Qualifications)
		if held == nil {
			held = make(map[string]int)
		}
		held[t.Grants] = max(held[t.Grants], score)
		u.Qualifications = held
		return
	}
	u.Granted = slices.Clone(u.Granted)
	i := slices.IndexFunc(u.Granted, func(g engine.Grant) bool { return g.Tenant == t.Tenant && g.Name == t.Grants })
	if i < 0 {
		u.Granted = append(u.Granted, engine.Grant{Tenant: t.Tenant, Name: t.Grants, Score: score})
		return
	}
	u.Granted[i].Score = max(u.Granted[i].Score, score)
}

// MayInviteTo returns nil if p may invite people to a pool that they know: admins to any,
// requesters to those that are granted for that to the tenant for which they invite.
func MayInviteTo(p *access.Principal, pool *store.Pool, tenant crowd.TenantID) error {
	if p.May(access.InvitationsAnywhere) == nil || pool.AllowsInvite(tenant) {
		return nil
	}
	return crowd.Errorf(crowd.Forbidden, "the pool %s is not granted to your tenant for inviting: ask an administrator to invite, or to allow it (throng pool grant %s --tenant %s --invite)",
		pool.Name, pool.ID, tenant)
}

// closed reports whether an invitation is a requester's to a pool to which their tenant
// may not, or no longer, invite.
func (s *Accounts) closed(ctx context.Context, i *store.Invitation) (bool, error) {
	if pool, _ := s.live.Settings(i.Pool); i.Tenant == 0 || pool.AllowsInvite(i.Tenant) {
		return false, nil
	}
	by, err := s.store.User(ctx, i.InvitedBy)
	return !by.Admin, err
}
