package access

import (
	"cmp"
	"iter"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// Role is the name of a set of permissions.
type Role string

// The built-in roles. One person may have several; a token may be limited to some.
const (
	Admin     Role = "admin"     // runs the installation
	Operator  Role = "operator"  // looks after pools and people
	Finance   Role = "finance"   // looks after money
	Requester Role = "requester" // of a tenant: uploads, launches, downloads
	Launcher  Role = "launcher"  // of a tenant: launches what others have made
	Viewer    Role = "viewer"    // sees, and changes nothing
	Reviewer  Role = "reviewer"  // of a tenant: looks through what comes out
	Worker    Role = "worker"    // of a pool: does tasks
)

// BuiltIn is a role that there always is.
type BuiltIn struct {
	Role Role
	Text string
	Permissions

	Installation bool // it can be held for the installation
	Tenant       bool // it can be held for a tenant
}

// reading is what those see who see all of a tenant.
var reading = SetOf(CanReadMoney, CanReadBatches, CanReadResults, CanReadPeople, CanReadTests, CanReadFairness, CanReadServices, CanReadAudit)

var builtIns = []BuiltIn{
	{Admin, "does everything but work", everything &^ SetOf(CanWork), true, false},
	{Operator, "looks after pools and people, and sees no money", SetOf(CanReadTenants, CanStop, CanReadPeople, CanReadNames, CanChangePeople, CanInvite,
		CanReadTests, CanChangeTests, CanReadPools, CanChangePools, CanReadFairness, CanReadServices, CanChangeServices), true, true},
	{Finance, "looks after money: accounts, deposits and budgets", SetOf(CanReadTenants, CanReadMoney, CanMoveMoney, CanChangeBudgets, CanReadBatches), true, true},
	{Requester, "has tasks done for a tenant, and says who else may", reading |
		SetOf(CanStop, CanChangeBudgets, CanEditBatches, CanLaunchBatches, CanReview, CanChangePeople, CanInvite, CanChangeTests, CanChangeSecrets, CanChangeRetention), false, true},
	{Launcher, "launches, pauses and ends what others have made", reading&^SetOf(CanReadPeople, CanReadAudit) | SetOf(CanLaunchBatches), false, true},
	{Viewer, "sees everything and changes nothing", reading | SetOf(CanReadTenants, CanReadPools), true, true},
	{Reviewer, "looks through answers and labels, and decides on what failed", SetOf(CanReadBatches, CanReadResults, CanReview), false, true},
	{Worker, "does tasks; is held by who is in a pool", SetOf(CanWork), false, false},
}

// BuiltIns lists the built-in roles.
func BuiltIns() []BuiltIn { return builtIns }

// FindBuiltIn returns the built-in role with a name.
func FindBuiltIn(r Role) (BuiltIn, bool) {
	i := slices.IndexFunc(builtIns, func(b BuiltIn) bool { return b.Role == r })
	if i < 0 {
		return BuiltIn{}, false
	}
	return builtIns[i], true
}

// IsBuiltIn reports whether a role is built-in.
func IsBuiltIn(name string) bool { _, found := FindBuiltIn(Role(name)); return found }

// Within returns what of some permissions has a meaning for who holds them for a tenant,
// or all of them for the installation, which is tenant 0.
func (s Permissions) Within(tenant crowd.TenantID) Permissions {
	if tenant == 0 {
		return s
	}
	return s & ofTenants()
}

// CustomRoles are roles that people have made.
type CustomRoles []store.Role

// Find returns the role that a held one is: the tenant's, or else the installation's.
func (c CustomRoles) Find(h store.HeldRole) (store.Role, bool) {
	for _, tenant := range []crowd.TenantID{h.Tenant, 0} {
		if i := slices.IndexFunc(c, func(r store.Role) bool { return r.Tenant == tenant && r.Name == h.Role }); i >= 0 {
			return c[i], true
		}
	}
	return store.Role{}, false
}

// Permissions returns what a held role gives, and whether there is such a role.
func (c CustomRoles) Permissions(h store.HeldRole) (Permissions, bool) {
	if b, found := FindBuiltIn(Role(h.Role)); found {
		return b.Within(h.Tenant), true
	}
	r, found := c.Find(h)
	return SetNamed(r.Permissions).Within(h.Tenant), found
}

// Held yields the roles that somebody holds. A worker's comes with their pool, and is
// held for no tenant.
func Held(u *store.User) iter.Seq[store.HeldRole] {
	return func(yield func(store.HeldRole) bool) {
		if u.Admin && !yield(store.HeldRole{Role: string(Admin)}) {
			return
		}
		for _, t := range u.Tenants {
			if !yield(store.HeldRole{Role: string(Requester), Tenant: t}) {
				return
			}
		}
		for _, h := range u.Roles {
			if !yield(h) {
				return
			}
		}
		if u.Pool != 0 {
			yield(store.HeldRole{Role: string(Worker)})
		}
	}
}

// Give gives somebody a role, that of a worker left out.
func Give(u *store.User, h store.HeldRole) {
	switch Take(u, h); {
	case h.Role == string(Admin) && h.Tenant == 0:
		u.Admin = true
	case h.Role == string(Requester) && h.Tenant != 0:
		u.Tenants = append(u.Tenants, h.Tenant)
		slices.Sort(u.Tenants)
	default:
		u.Roles = append(u.Roles, h)
		slices.SortFunc(u.Roles, compare)
	}
}

// Take takes a role away from somebody, that of a worker left out.
func Take(u *store.User, h store.HeldRole) {
	switch {
	case h.Role == string(Admin) && h.Tenant == 0:
		u.Admin = false
	case h.Role == string(Requester) && h.Tenant != 0:
		u.Tenants = slices.DeleteFunc(slices.Clone(u.Tenants), func(t crowd.TenantID) bool { return t == h.Tenant })
	default:
		u.Roles = slices.DeleteFunc(slices.Clone(u.Roles), func(x store.HeldRole) bool { return x == h })
	}
}

// SortRoles puts roles in the order in which they are kept, each once.
func SortRoles(list []store.HeldRole) []store.HeldRole {
	return slices.Compact(slices.SortedFunc(slices.Values(list), compare))
}

func compare(a, b store.HeldRole) int {
	return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Role, b.Role))
}

// MayBeHeld checks that a held role is one that can be held so. Whether there is such a
// role that is not built-in, it leaves open.
func MayBeHeld(field string, h store.HeldRole) error {
	b, found := FindBuiltIn(Role(h.Role))
	switch {
	case !found:
		return nil
	case b.Role == Worker:
		return crowd.Fieldf(field, "worker is the role of who is in a pool: put them into one")
	case h.Tenant == 0 && !b.Installation:
		return crowd.Fieldf(field, "%s is held for a tenant: say n1/%s", b.Role, b.Role)
	case h.Tenant != 0 && !b.Tenant:
		return crowd.Fieldf(field, "%s is held for the installation, not for a tenant", b.Role)
	}
	return nil
}
