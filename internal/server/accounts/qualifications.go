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

// Names is the names of tenants, with which the full names of their qualifications begin.
type Names map[crowd.TenantID]string

// Names returns the names of all tenants.
func (s *Tenants) Names(ctx context.Context) (Names, error) { return names(ctx, s.store) }

func names(ctx context.Context, st store.Store) (Names, error) {
	list, err := st.ListTenants(ctx)
	return NamesOf(list), err
}

// NamesOf returns the names of these tenants.
func NamesOf(list []store.Tenant) Names {
	out := make(Names, len(list))
	for _, t := range list {
		out[t.ID] = t.Name
	}
	return out
}

// FullName returns the full name of a qualification of a tenant; 0: of the installation.
func (n Names) FullName(owner crowd.TenantID, name string) string {
	if owner == 0 {
		return name
	}
	return crowd.JoinQualification(cmp.Or(n[owner], owner.String()), name)
}

// Grants returns the full name of what a test grants.
func (n Names) Grants(t store.Test) string { return n.FullName(t.Tenant, t.Grants) }

// Held returns all qualifications of somebody, by full name.
func (n Names) Held(u store.User) map[string]int {
	if len(u.Granted) == 0 {
		return u.Qualifications
	}
	held := make(map[string]int, len(u.Qualifications)+len(u.Granted))
	maps.Copy(held, u.Qualifications)
	for _, g := range u.Granted {
		held[n.FullName(g.Tenant, g.Name)] = g.Score
	}
	return held
}

// owner finds the tenant that somebody has written as the owner of a qualification.
func (n Names) owner(written string) (crowd.TenantID, bool) {
	for id, name := range n {
		if (engine.Owner{ID: id, Name: name}).Owns(written) {
			return id, true
		}
	}
	return 0, false
}

// validQualifications checks what a person holds and did not hold before. Those of
// tenants, which come by their full names, become grants, and the grants are sorted.
func (s *Accounts) validQualifications(ctx context.Context, before, u *store.User) error {
	if err := s.ownQualifications(ctx, before, u); err != nil {
		return err
	}
	u.Granted = slices.SortedStableFunc(slices.Values(u.Granted), func(x, y engine.Grant) int {
		return cmp.Or(cmp.Compare(x.Tenant, y.Tenant), cmp.Compare(x.Name, y.Name))
	})
	for i, g := range u.Granted {
		if i > 0 && u.Granted[i-1].Tenant == g.Tenant && u.Granted[i-1].Name == g.Name {
			return crowd.Fieldf("qualifications", "%s stands there twice for %s", g.Name, g.Tenant)
		}
		if slices.Contains(before.Granted, g) {
			continue
		}
		if err := (crowd.Qualification{Name: crowd.JoinQualification(g.Tenant.String(), g.Name), Score: g.Score}).Validate(); err != nil {
			return crowd.Fieldf("qualifications", "%s", err)
		}
		if _, err := s.store.Tenant(ctx, g.Tenant); err != nil {
			return err
		}
	}
	return nil
}

// ownQualifications checks the qualifications that are new, and makes grants of those
// whose full name has an owner.
func (s *Accounts) ownQualifications(ctx context.Context, before, u *store.User) error {
	var tenants Names
	held := maps.Clone(u.Qualifications)
	for _, full := range slices.Sorted(maps.Keys(u.Qualifications)) {
		score := u.Qualifications[full]
		if was, stays := before.Qualifications[full]; stays && score == was {
			continue
		}
		if err := (crowd.Qualification{Name: full, Score: score}).Validate(); err != nil {
			return crowd.Fieldf("qualifications", "%s", err)
		}
		owner, name := crowd.SplitQualification(full)
		if owner == "" {
			continue
		}
		if tenants == nil {
			var err error
			if tenants, err = names(ctx, s.store); err != nil {
				return err
			}
		}
		id, found := tenants.owner(owner)
		if !found {
			return crowd.Fieldf("qualifications", "%s: there is no tenant %s", full, owner)
		}
		delete(held, full)
		u.Granted = append(slices.Clone(u.Granted), engine.Grant{Tenant: id, Name: name, Score: score})
	}
	u.Qualifications = held
	return nil
}

// granted reads the full name of what a test is to grant, and returns it without its
// owner, who is that of the test: a tenant grants no qualification but its own.
func granted(of engine.Owner, full string) (name string, err error) {
	wrong := func(format string, args ...any) (string, error) {
		return "", crowd.Fieldf("grants", format, args...)
	}
	owner, name := crowd.SplitQualification(full)
	switch err := (crowd.Qualification{Name: full}).Validate(); {
	case err != nil:
		return wrong("%q is not the name of a qualification (1 to 100 characters, none of them <, >, = or /)", name)
	case of.ID == 0 && owner != "":
		return wrong("a test of the whole installation grants a qualification of the installation: write %s, or make the test for the tenant", name)
	case of.ID != 0 && !of.Owns(owner):
		return wrong("a test of %s grants a qualification of %s only: write %s", of.Name, of.Name, crowd.JoinQualification(of.Name, name))
	}
	return name, nil
}

// qualified reports whether somebody holds what a test grants, or there is none.
func qualified(u *store.User, t *store.Test) bool {
	if t == nil {
		return true
	}
	asked := engine.Requirement{Name: t.Grants, Min: t.PassMark}
	if t.Tenant != 0 {
		asked.Owner = t.Tenant.String()
	}
	return engine.Meets(u.Qualifications, u.Granted, t.Tenant, []engine.Requirement{asked})
}

// grant gives somebody what a test grants, unless they hold it with a better score: a
// qualification of the test's tenant, or, by a test of the installation, one of it.
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
	if err != nil {
		return false, err
	}
	inviter, err := s.principal(ctx, by, store.Token{})
	return err == nil && inviter.May(access.InvitationsAnywhere) != nil, err
}

// hidePools leaves out of a colleague the pools that p does not know, and whom they serve.
func (s *Accounts) hidePools(p *access.Principal, u *store.User) {
	unknown := func(id crowd.PoolID) bool {
		pool, _ := s.live.Settings(id)
		return !p.Knows(&pool)
	}
	if u.Serves = nil; unknown(u.Pool) {
		u.Pool = 0
	}
	maps.DeleteFunc(u.Prefers, func(id crowd.PoolID, _ float64) bool { return unknown(id) })
}
