package access

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// Principal is a person who has signed in, and the session or token with which
// they did.
type Principal struct {
	User  store.User
	Token store.Token
	// Custom has the roles that people have made, as far as the person holds any.
	Custom CustomRoles
	// Outside: they ask from an address from which nobody acts as an admin.
	Outside bool
	// MustEnrol: they have to set up a second factor before they act as anything.
	MustEnrol bool
	// AsOf is how often anything about people and tokens had changed when they were read, as
	// accounts counts it.
	AsOf int64
}

// each visits what p holds: a role, its permissions as far as p's token goes, and for
// which tenant; 0: for the installation. It ends when visit returns false.
func (p *Principal) each(visit func(tenant crowd.TenantID, r Role, s Permissions) bool) {
	if p == nil || p.User.Suspended || p.MustEnrol || p.Token.Kind == store.ProviderToken {
		return
	}
	for h := range Held(&p.User) {
		s, there := p.Custom.Permissions(h)
		if len(p.Token.Scopes) > 0 {
			s &= SetNamed(p.Token.Scopes)
		}
		switch {
		case !there,
			len(p.Token.Roles) > 0 && !slices.Contains(p.Token.Roles, h.Role),
			p.Token.Tenant != 0 && h.Tenant != p.Token.Tenant,
			p.Outside && h.Tenant == 0 && h.Role != string(Worker):
			continue
		}
		if !visit(h.Tenant, Role(h.Role), s) {
			return
		}
	}
}

// Limited reports whether p came with a token that can do less than they.
func (p *Principal) Limited() bool {
	return p.Token.Tenant != 0 || len(p.Token.Roles)+len(p.Token.Scopes)+len(p.Token.Networks) > 0
}

// unlimited is p as if they had come with a token without limits.
func (p *Principal) unlimited() *Principal {
	all := *p
	all.Token.Tenant, all.Token.Roles, all.Token.Scopes = 0, nil, nil
	return &all
}

// Is reports whether p holds a role at all.
func (p *Principal) Is(r Role) (is bool) {
	p.each(func(_ crowd.TenantID, held Role, _ Permissions) bool {
		is = held == r
		return !is
	})
	return is
}

// Holds reports whether p holds a role for a tenant, 0: at all.
func (p *Principal) Holds(r Role, tenant crowd.TenantID) (holds bool) {
	p.each(func(t crowd.TenantID, held Role, _ Permissions) bool {
		holds = held == r && (tenant == 0 || t == tenant)
		return !holds
	})
	return holds
}

// Roles lists the roles that p holds, each once.
func (p *Principal) Roles() (list []Role) {
	p.each(func(_ crowd.TenantID, r Role, _ Permissions) bool {
		if !slices.Contains(list, r) {
			list = append(list, r)
		}
		return true
	})
	return list
}

// Seen is of a person, who is p, what p's token may see: who they are, and the roles that they hold
// with it.
func (p *Principal) Seen(u *store.User) store.User {
	seen := store.User{ID: u.ID, Name: u.Name, Suspended: u.Suspended, CreatedAt: u.CreatedAt}
	p.each(func(tenant crowd.TenantID, r Role, _ Permissions) bool {
		if r != Worker { // it comes with a pool
			Give(&seen, store.HeldRole{Role: string(r), Tenant: tenant})
		}
		return true
	})
	if p.Is(Worker) {
		seen.Pool, seen.Home, seen.MovesTo = u.Pool, u.Home, u.MovesTo
		seen.Qualifications, seen.Granted, seen.Serves, seen.Prefers = u.Qualifications, u.Granted, u.Serves, u.Prefers
	}
	return seen
}

// Has reports whether p has a permission for the installation, which is for every tenant,
// or for any tenant.
func (p *Principal) Has(x Permission) (whole, any bool) {
	p.each(func(tenant crowd.TenantID, _ Role, s Permissions) bool {
		if s.Has(x) {
			any, whole = true, whole || tenant == 0
		}
		return !whole
	})
	return whole, any
}

// Permissions returns what p may do, for the installation or for any tenant.
func (p *Principal) Permissions() (all Permissions) {
	p.each(func(_ crowd.TenantID, _ Role, s Permissions) bool {
		all |= s
		return true
	})
	return all
}

// Lacking returns what of some permissions p does not hold for a tenant, 0: for the
// installation. Nobody lacks that to work: it comes with a pool.
func (p *Principal) Lacking(tenant crowd.TenantID, of Permissions) Permissions {
	of &^= SetOf(CanWork)
	p.each(func(t crowd.TenantID, _ Role, s Permissions) bool {
		if t == 0 || t == tenant {
			of &^= s
		}
		return of != 0
	})
	return of
}

// MayAll reports whether p has all permissions that another principal has.
func (p *Principal) MayAll(of *Principal) (all bool) {
	all = true
	of.each(func(tenant crowd.TenantID, _ Role, s Permissions) bool {
		all = p.Lacking(tenant, s) == 0 && (!s.Has(CanWork) || p.Permissions().Has(CanWork))
		return all
	})
	return all
}

// Rights is what p may do, as text for MayStill: tenants, 0 for the installation, each with the
// names of permissions.
func (p *Principal) Rights() string {
	all := make(map[crowd.TenantID]Permissions)
	p.each(func(tenant crowd.TenantID, _ Role, s Permissions) bool {
		all[tenant] |= s
		return true
	})
	var b strings.Builder
	for _, tenant := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%d %s\n", tenant, strings.Join(all[tenant].Names(), ","))
	}
	return b.String()
}

// MayStill reports whether p may do all that somebody could of whom Rights said this.
func (p *Principal) MayStill(rights string) bool {
	for line := range strings.Lines(rights) {
		id, names, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		tenant, err := strconv.ParseInt(id, 10, 64)
		s := SetNamed(strings.Split(names, ","))
		if err != nil || p.Lacking(crowd.TenantID(tenant), s) != 0 || s.Has(CanWork) && !p.Permissions().Has(CanWork) {
			return false
		}
	}
	return true
}

// MayPass returns the permissions out of which p may make a role of a tenant, 0: of the
// installation: those that they hold themselves.
func (p *Principal) MayPass(tenant crowd.TenantID) Permissions {
	all := (everything &^ SetOf(CanWork)).Within(tenant)
	return all &^ p.Lacking(tenant, all)
}

// TenantsWith returns the tenants for which p has a permission, ascending, without those
// for which they have it as for every tenant. With CanNothing, it is those for which they
// hold any role.
func (p *Principal) TenantsWith(x Permission) (list []crowd.TenantID) {
	p.each(func(tenant crowd.TenantID, _ Role, s Permissions) bool {
		if tenant != 0 && (x == CanNothing || s.Has(x)) {
			list = append(list, tenant)
		}
		return true
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// Tenants returns the tenants for which p holds any role, ascending.
func (p *Principal) Tenants() []crowd.TenantID { return p.TenantsWith(CanNothing) }

// everywhere reports whether p holds a role for the installation, other than to work.
func (p *Principal) everywhere() (is bool) {
	p.each(func(tenant crowd.TenantID, r Role, _ Permissions) bool {
		is = tenant == 0 && r != Worker
		return !is
	})
	return is
}

// Share returns in whose share of what the server has for all p's requests count: that
// of their first tenant, 0 for all who only work, -1 for who runs the installation.
func (p *Principal) Share() crowd.TenantID {
	if p.everywhere() {
		return -1
	}
	if own := p.Tenants(); len(own) > 0 {
		return own[0]
	}
	return 0
}

// Tenant returns the tenant that p means: the one named, or, where they name none (0),
// their only one. Of who has a role for the installation, none stays none: it means all
// of them, or the installation.
func (p *Principal) Tenant(named crowd.TenantID) (crowd.TenantID, error) {
	if named != 0 || p.everywhere() {
		return named, nil
	}
	return only(p.Tenants())
}

func only(own []crowd.TenantID) (crowd.TenantID, error) {
	switch len(own) {
	case 0:
		return 0, nil
	case 1:
		return own[0], nil
	}
	return 0, ErrWhichTenant
}

// TenantFor is Tenant for an operation, among the tenants for which p may call it, and
// checks whether they may.
func (p *Principal) TenantFor(o Operation, named crowd.TenantID) (id crowd.TenantID, err error) {
	if id = named; named == 0 && p.MayFor(o, 0) != nil {
		id, err = only(p.TenantsWith(o.Needs))
	}
	if err == nil {
		err = p.MayFor(o, id)
	}
	return id, err
}

// ofPools are operations on pools. Who may call one of them may know of each pool: the
// operation would be of no use to them.
var ofPools = []Operation{PoolsListWhole, PoolsChange, PoolsAccount, PoolsFund, PoolsFairnessWhole}

// Knows reports whether p may know of a pool as somebody who has tasks done: who may do
// something with pools, their accounts or their fairness, of each, others of those granted to
// a tenant of theirs.
func (p *Principal) Knows(pool *store.Pool) bool {
	return slices.ContainsFunc(ofPools, func(o Operation) bool { return p.May(o) == nil }) || slices.ContainsFunc(p.Tenants(), pool.Allows)
}

// ErrEnrol is the error about whatever somebody does before they have set up the second
// factor that they need.
var ErrEnrol = crowd.Errorf(crowd.Forbidden, "your account needs a second factor: sign in with a browser, and set one up on the page of your account")

// ErrWhichTenant is the error about a tenant that has to be named.
var ErrWhichTenant = &crowd.Error{Code: crowd.Invalid, Field: "tenant", Message: "say for which tenant"}

// ErrTenant is the error about a tenant that is not there, or not to be seen.
var ErrTenant = &crowd.Error{Code: crowd.NotFound, Field: "tenant", Message: "no such tenant"}

// May checks whether p may call an operation at all. Of an operation on
// something of a tenant, it leaves open which tenants' things p may touch: that
// is for MayFor, once the tenant is known.
func (p *Principal) May(o Operation) error {
	switch o.Who {
	case Installation:
		if whole, _ := p.Has(o.Needs); !whole {
			return p.lacks(o, 0)
		}
	case Tenant, Anywhere:
		if _, any := p.Has(o.Needs); !any {
			return p.lacks(o, 0)
		}
	case Self:
		if _, any := p.Has(o.Needs); o.Needs != CanNothing && p.Limited() && !any {
			return p.lacks(o, 0)
		}
	case Members:
		if len(p.Roles()) == 0 {
			return crowd.Errorf(crowd.Forbidden, "this needs a role, and you have none")
		}
	case Provider:
		if p.Token.Kind != store.ProviderToken {
			return crowd.Errorf(crowd.Forbidden, "this is for providers of accounts, with a token for that")
		}
	}
	return nil // for everybody
}

// MayFor checks whether p may call an operation for a tenant; tenant 0 stands
// for all of them, or the installation. Who has no role for the tenant does not learn
// whether it exists.
func (p *Principal) MayFor(o Operation, tenant crowd.TenantID) error {
	if o.Who != Tenant {
		return p.May(o)
	}
	whole, any := p.Has(o.Needs)
	switch {
	case whole, tenant != 0 && any && slices.Contains(p.TenantsWith(o.Needs), tenant):
		return nil
	case tenant == 0 && any:
		return p.lacks(Operation{Who: Installation, Needs: o.Needs}, 0) // who has it for no tenant either is told that they need not have it for all
	case tenant == 0, p.everywhere(), slices.Contains(p.Tenants(), tenant):
		return p.lacks(o, tenant)
	}
	return ErrTenant
}

// MayOn checks whether p may call an operation on a thing of a tenant. Who may call one of those
// that show such things is told what they lack, as they know that it is there; to others it is
// absent, whatever they may do with the things of other tenants.
func (p *Principal) MayOn(o Operation, tenant crowd.TenantID, absent error, show ...Operation) error {
	err := p.MayFor(o, tenant)
	if err == nil || slices.ContainsFunc(show, func(o Operation) bool { return p.MayFor(o, tenant) == nil }) {
		return err
	}
	return absent
}
