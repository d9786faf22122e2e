package control

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// Grant grants a pool to a tenant, or changes what it may do there. Admins only.
func (s *Pools) Grant(ctx context.Context, p *access.Principal, id crowd.PoolID, g store.PoolGrant) (PoolView, error) {
	if err := p.May(access.PoolsGrant); err != nil {
		return PoolView{}, err
	}
	ctx, _ = s.acting(ctx, p, access.PoolsGrant, id)
	return s.Change(ctx, p, id, func(now *store.Pool) error {
		now.Grants = append(without(now.Grants, g.Tenant), g)
		slices.SortFunc(now.Grants, func(x, y store.PoolGrant) int { return cmp.Compare(x.Tenant, y.Tenant) })
		return nil
	})
}

// Revoke takes a grant back; tenant 0 is the one to every tenant. What was launched goes
// on to its end, and people stay. Admins only.
func (s *Pools) Revoke(ctx context.Context, p *access.Principal, id crowd.PoolID, tenant crowd.TenantID) (PoolView, error) {
	if err := p.May(access.PoolsRevoke); err != nil {
		return PoolView{}, err
	}
	ctx, _ = s.acting(ctx, p, access.PoolsRevoke, id)
	return s.Change(ctx, p, id, func(now *store.Pool) error {
		left := without(now.Grants, tenant)
		if len(left) == len(now.Grants) {
			to := "every tenant"
			if tenant != 0 {
				to = tenant.String() + " by itself"
			}
			return &crowd.Error{Code: crowd.NotFound, Field: "tenant", Message: fmt.Sprintf("the pool %s is not granted to %s", now.Name, to)}
		}
		now.Grants = left
		return nil
	})
}

// without is a list of grants without that to a tenant. The list itself stays: others read it.
func without(list []store.PoolGrant, tenant crowd.TenantID) []store.PoolGrant {
	return slices.DeleteFunc(slices.Clone(list), func(g store.PoolGrant) bool { return g.Tenant == tenant })
}

// validGrants checks that the tenants of grants that were not there before exist.
func (s *Pools) validGrants(ctx context.Context, before, now []store.PoolGrant) error {
	for _, g := range now {
		if g.Tenant == 0 || slices.Contains(before, g) {
			continue
		}
		if _, err := s.cfg.Store.Tenant(ctx, g.Tenant); crowd.CodeOf(err) == crowd.NotFound {
			return access.ErrTenant
		} else if err != nil {
			return err
		}
	}
	return nil
}
