package cli

import (
	"io"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// PoolGrant is "throng pool grant".
type PoolGrant struct {
	aPool
	Tenant []string `required:"" sep:"none" placeholder:"TENANT" help:"To whom; all: every tenant; may be given often."`
	Invite bool     `help:"It may invite people to the pool, too."`
	Remote
}

// Run grants the pool.
func (x *PoolGrant) Run(c *Context, r *remote, id crowd.PoolID) error {
	return r.eachGranted(x.Tenant, func(tenant crowd.TenantID) (wire.Pool, error) {
		return r.GrantPool(c.Ctx, id, tenant, x.Invite)
	})
}

// PoolRevoke is "throng pool revoke".
type PoolRevoke struct {
	aPool
	Tenant []string `required:"" sep:"none" placeholder:"TENANT" help:"From whom; all: the grant to every tenant; may be given often."`
	Remote
}

// Run takes the grant back.
func (x *PoolRevoke) Run(c *Context, r *remote, id crowd.PoolID) error {
	return r.eachGranted(x.Tenant, func(tenant crowd.TenantID) (wire.Pool, error) {
		return r.RevokePool(c.Ctx, id, tenant)
	})
}

// eachGranted changes the grants to tenants, and prints what came of it. If one of the
// tenants is not there, no grant is changed.
func (r *remote) eachGranted(names []string, change func(crowd.TenantID) (wire.Pool, error)) error {
	var tenants []crowd.TenantID
	for _, name := range names {
		tenant, err := r.granted(name)
		if err != nil {
			return err
		}
		tenants = append(tenants, tenant)
	}
	var out wire.Pool
	for _, tenant := range tenants {
		var err error
		if out, err = change(tenant); err != nil {
			return err
		}
	}
	return r.printGrants(out, nil)
}

// granted reads the tenant of a grant; 0: every tenant.
func (r *remote) granted(text string) (crowd.TenantID, error) {
	if text == "all" {
		return 0, nil
	}
	return r.tenant(text)
}

func (r *remote) printGrants(p wire.Pool, err error) error {
	return r.print(p, err, func(w io.Writer) {
		say(w, "%s %s: %s\n", p.ID, clean(p.Name), grants(p.Grants))
	})
}

// grants says to whom a pool is granted.
func grants(list []wire.PoolGrant) string {
	if len(list) == 0 {
		return "granted to no tenant"
	}
	return "granted to " + joined(list, func(g wire.PoolGrant) string {
		to := "every tenant"
		if g.Tenant != 0 {
			to = g.Tenant.String()
		}
		return to + when(g.Invite, " (may invite)")
	})
}
