package store

import (
	"slices"

	"github.com/throng-dev/throng/crowd"
)

// PoolGrant lets a tenant have its tasks done in a pool.
type PoolGrant struct {
	Tenant crowd.TenantID `json:"tenant,omitempty"` // 0: every tenant
	Invite bool           `json:"invite,omitempty"` // it may invite people to the pool, too
}

// Allows reports whether the pool is granted to a tenant.
func (p *Pool) Allows(tenant crowd.TenantID) bool {
	return p.granted(tenant, func(PoolGrant) bool { return true })
}

// AllowsInvite reports whether a tenant may invite people to the pool.
func (p *Pool) AllowsInvite(tenant crowd.TenantID) bool {
	return p.granted(tenant, func(g PoolGrant) bool { return g.Invite })
}

func (p *Pool) granted(tenant crowd.TenantID, enough func(PoolGrant) bool) bool {
	return slices.ContainsFunc(p.Grants, func(g PoolGrant) bool { return (g.Tenant == 0 || g.Tenant == tenant) && enough(g) })
}

// IsFor reports whether the tasks of a tenant are for the worker: see Serves. Tenant 0 is
// the installation.
func (u *User) IsFor(tenant crowd.TenantID) bool {
	return tenant == 0 || len(u.Serves) == 0 || slices.Contains(u.Serves, tenant)
}

// String is the grant for people, as in the log of a pool.
func (g PoolGrant) String() string {
	text := "every tenant"
	if g.Tenant != 0 {
		text = g.Tenant.String()
	}
	if g.Invite {
		text += ", who may invite"
	}
	return text
}
