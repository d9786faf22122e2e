package access

import (
	"cmp"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// Role is what somebody acts as.
type Role string

// The roles. One person may have several; a token may be limited to some.
const (
	Admin     Role = "admin"     // runs the installation
	Requester Role = "requester" // of a tenant: uploads, launches, downloads
	Worker    Role = "worker"    // of a pool: does tasks
)

// Roles lists every role.
func Roles() []Role { return []Role{Admin, Requester, Worker} }

// Principal is a person who has signed in, and the session or token with which
// they did.
type Principal struct {
	User  store.User
	Token store.Token
	// Outside: they ask from an address from which nobody acts as an admin.
	Outside bool
}

// Is reports whether p may act in a role at all.
func (p *Principal) Is(r Role) bool {
	if p == nil || p.User.Suspended || (len(p.Token.Roles) > 0 && !slices.Contains(p.Token.Roles, string(r))) {
		return false
	}
	switch r {
	case Admin:
		return p.User.Admin && p.Token.Tenant == 0 && !p.Outside
	case Requester:
		return len(p.Tenants()) > 0
	case Worker:
		return p.User.Pool != 0 && p.Token.Tenant == 0
	}
	return false
}

// Tenants returns the tenants for which p may act as a requester, ascending.
func (p *Principal) Tenants() []crowd.TenantID {
	if p.User.Suspended {
		return nil
	}
	if len(p.Token.Roles) > 0 && !slices.Contains(p.Token.Roles, string(Requester)) {
		return nil
	}
	if p.Token.Tenant != 0 {
		if slices.Contains(p.User.Tenants, p.Token.Tenant) {
			return []crowd.TenantID{p.Token.Tenant}
		}
		return nil
	}
	return p.User.Tenants
}

// Share returns in whose share of what the server has for all p's requests count: that
// of their first tenant, 0 for all who only work, -1 for admins.
func (p *Principal) Share() crowd.TenantID {
	if p.Is(Admin) {
		return -1
	}
	if own := p.Tenants(); len(own) > 0 {
		return own[0]
	}
	return 0
}

// Tenant returns the tenant that p means: the one named, or, where a requester names
// none (0), their only one. Of an admin, none stays none: it means all of them, or the
// installation.
func (p *Principal) Tenant(named crowd.TenantID) (crowd.TenantID, error) {
	if named != 0 || p.Is(Admin) {
		return named, nil
	}
	switch own := p.Tenants(); len(own) {
	case 0:
		return 0, nil
	case 1:
		return own[0], nil
	}
	return 0, ErrWhichTenant
}

// TenantFor is Tenant for an operation, and checks whether p may call it.
func (p *Principal) TenantFor(o Operation, named crowd.TenantID) (crowd.TenantID, error) {
	id, err := p.Tenant(named)
	if err == nil {
		err = p.MayFor(o, id)
	}
	return id, err
}

// Knows reports whether p may know of a pool as somebody who has tasks done: an admin of
// each, a requester of those granted to a tenant of theirs.
func (p *Principal) Knows(pool *store.Pool) bool {
	return p.Is(Admin) || p.Is(Requester) && slices.ContainsFunc(p.Tenants(), pool.Allows)
}

// ErrWhichTenant is the error about a tenant that has to be named.
var ErrWhichTenant = &crowd.Error{Code: crowd.Invalid, Field: "tenant", Message: "say for which tenant"}

// ErrTenant is the error about a tenant that is not there, or not to be seen.
var ErrTenant = &crowd.Error{Code: crowd.NotFound, Field: "tenant", Message: "no such tenant"}

// In reports whether p is of a group at all.
func (p *Principal) In(w Who) bool { return p.May(Operation{Who: w}) == nil }

// May checks whether p may call an operation at all. Of an operation on
// something of a tenant, it leaves open which tenants' things p may touch: that
// is for MayFor, once the tenant is known.
func (p *Principal) May(o Operation) error {
	switch o.Who {
	case Admins:
		return p.need(Admin)
	case Workers:
		return p.need(Worker)
	case Tenant, Requesters:
		if p.Is(Admin) {
			return nil
		}
		return p.need(Requester)
	case Members:
		if p.Is(Admin) || p.Is(Requester) {
			return nil
		}
		return p.need(Worker)
	}
	return nil // for everybody
}

// MayFor checks whether p may call an operation for a tenant; tenant 0 stands
// for all of them, and is for admins. Who may not does not learn whether the
// tenant exists.
func (p *Principal) MayFor(o Operation, tenant crowd.TenantID) error {
	switch {
	case o.Who != Tenant:
		return p.May(o)
	case tenant == 0:
		return cmp.Or(p.May(o), p.need(Admin)) // who is no requester either is told that they need not be an admin
	case p.Is(Admin), p.Is(Requester) && slices.Contains(p.Tenants(), tenant):
		return nil
	}
	return ErrTenant
}

// need checks for a role.
func (p *Principal) need(r Role) error {
	if p.Is(r) {
		return nil
	}
	if r == Admin && p != nil && p.Outside {
		return crowd.Errorf(crowd.Forbidden, "nobody acts as an administrator from your address")
	}
	return crowd.Errorf(crowd.Forbidden, "this needs the role %s", r)
}
