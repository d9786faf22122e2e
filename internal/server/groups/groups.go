// Package groups says what the groups of a directory, such as a provider of OpenID
// Connect, make somebody here. It keeps nothing.
package groups

import (
	"cmp"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// Grant is what a group makes somebody, as settings say it: Complete fills in Held and
// Pool.
type Grant struct {
	Admin   bool     `yaml:"admin"`
	Tenants []string `yaml:"tenants"` // requester of these: n1
	Roles   []string `yaml:"roles"`   // built-in ones and others: viewer, n1/reviewer
	InPool  string   `yaml:"pool"`    // worker of this: p1

	Held []store.HeldRole `yaml:"-"` // Admin, Tenants and Roles
	Pool crowd.PoolID     `yaml:"-"`
}

// Nothing reports whether a grant, which is complete, makes somebody nothing.
func (g *Grant) Nothing() bool { return len(g.Held) == 0 && g.Pool == 0 }

// complete checks a grant and fills in what its texts stand for.
func (g *Grant) complete(field string) (err error) {
	g.Held, g.Pool = nil, 0
	if g.Admin {
		g.Held = append(g.Held, store.HeldRole{Role: string(access.Admin)})
	}
	for _, name := range g.Tenants {
		id, err := crowd.ParseTenantID(name)
		if err != nil {
			return crowd.Fieldf(field+".tenants", "%q is not a tenant, like n1", name)
		}
		g.Held = append(g.Held, store.HeldRole{Role: string(access.Requester), Tenant: id})
	}
	for _, text := range g.Roles {
		h, err := store.ParseHeldRole(field+".roles", text)
		if err == nil {
			err = access.MayBeHeld(field+".roles", h)
		}
		if err != nil {
			return err
		}
		g.Held = append(g.Held, h)
	}
	g.Held = access.SortRoles(g.Held)
	if g.InPool != "" {
		if g.Pool, err = crowd.ParsePoolID(g.InPool); err != nil {
			return crowd.Fieldf(field+".pool", "%q is not a pool, like p1", g.InPool)
		}
	}
	return nil
}

// Mapping is what each group makes somebody, by the group's name.
type Mapping map[string]Grant

// Complete checks a mapping, and fills in what its texts stand for. Errors are about the
// field and the group.
func (m Mapping) Complete(field string) error {
	for group, g := range m {
		if err := g.complete(field + "." + group); err != nil {
			return err
		}
		m[group] = g
	}
	return nil
}

// Governed is all that the groups can make somebody: membership keeps it up to date, and
// nothing else.
func (m Mapping) Governed() Grant { return m.merge(func(string) bool { return true }) }

// Of is what those in some groups are made.
func (m Mapping) Of(groups []string) Grant {
	return m.merge(func(group string) bool { return slices.Contains(groups, group) })
}

func (m Mapping) merge(which func(group string) bool) (all Grant) {
	for group, g := range m {
		if !which(group) {
			continue
		}
		all.Held = append(all.Held, g.Held...)
		if g.Pool != 0 && (all.Pool == 0 || g.Pool < all.Pool) { // of several, always the same
			all.Pool = g.Pool
		}
	}
	all.Held = access.SortRoles(all.Held)
	return all
}

// Become makes somebody what their groups make them: they lose what the mapping governs
// and their groups do not give them, and keep what it does not govern. Roles that there
// are not are left out. withPool says whether it changes their pool, too.
func (m Mapping) Become(u *store.User, groups []string, there func(store.HeldRole) bool, withPool bool) {
	all, own := m.Governed(), m.Of(groups)
	for _, h := range all.Held {
		access.Take(u, h)
	}
	for _, h := range own.Held {
		if there(h) {
			access.Give(u, h)
		}
	}
	if home := cmp.Or(u.Home, u.Pool); withPool && all.Pool != 0 && home != own.Pool {
		u.Pool, u.Home = own.Pool, 0
	}
}
