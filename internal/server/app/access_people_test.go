package app_test

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

// somebody is a person with the roles that they hold: for the installation, for the
// tenant whose things they are asked about, and for another one.
type somebody struct {
	*access.Principal
	whole, own, others []access.Role
}

// odd and own are roles that people have made: of the installation, and of each tenant. No
// built-in role has what they have together. What a token leaves of a role is nobody's role: reader.
const odd, own, reader access.Role = "odd", "own", "reader"

var custom = map[access.Role]access.Permissions{
	odd:    access.SetOf(access.CanLaunchBatches, access.CanReadPeople, access.CanReadNames, access.CanChangeSecrets, access.CanReadPools, access.CanMoveMoney),
	reader: access.SetOf(access.CanReadBatches),
	own:    access.SetOf(access.CanEditBatches, access.CanChangeBudgets, access.CanReadAudit, access.CanReview, access.CanInvite),
}

// has reports whether one of some roles has a permission.
func has(roles []access.Role, x access.Permission) bool {
	return slices.ContainsFunc(roles, func(r access.Role) bool {
		b, _ := access.FindBuiltIn(r)
		return b.Has(x) || custom[r].Has(x)
	})
}

// may reports what the table says of an operation on something of the tenant.
func (p *somebody) may(o access.Operation) bool {
	switch o.Who {
	case access.Installation:
		return has(p.whole, o.Needs)
	case access.Tenant:
		return has(p.whole, o.Needs) || has(p.own, o.Needs)
	case access.Anywhere:
		return has(p.whole, o.Needs) || has(p.own, o.Needs) || has(p.others, o.Needs)
	case access.Members:
		return len(p.whole)+len(p.own)+len(p.others) > 0
	case access.Provider:
		return p.Token.Kind == store.ProviderToken
	case access.Self: // for a limited token what is left of its owner's roles has to do
		return o.Needs == access.CanNothing || !p.Limited() || has(p.whole, o.Needs)
	}
	return true
}

// peopleOfAllKinds are people with each role, and with tokens of each kind.
func (w *world) peopleOfAllKinds() map[string]somebody {
	w.t.Helper()
	const requester, worker = access.Requester, access.Worker
	both := w.person(accounts.NewUser{Name: "carl", Tenants: []crowd.TenantID{w.a, w.b}, Pool: w.pool})
	mixed := w.person(accounts.NewUser{Name: "mia", Tenants: []crowd.TenantID{w.b}, Pool: w.pool}) // who does the tasks of the other tenant
	suspended := w.person(accounts.NewUser{Name: "sue", Tenants: []crowd.TenantID{w.a}, Pool: w.pool})
	suspended.User = must(w.Accounts.ChangeUser(w.ctx, w.admin, suspended.User.ID, func(u *store.User) error { u.Suspended = true; return nil }))(w.t)
	roles := func(list ...access.Role) []access.Role { return list }
	people := map[string]somebody{
		"an admin":                             {w.admin, roles(access.Admin), nil, nil},
		"a requester of the tenant":            {w.ann, nil, roles(requester), nil},
		"a requester of another tenant":        {w.bob, nil, nil, roles(requester)},
		"a worker":                             {w.workers[0], roles(worker), nil, nil},
		"a token for the tenant":               {w.limited(both, accounts.NewToken{Tenant: w.a}), nil, roles(requester), nil},
		"a token for another tenant":           {w.limited(both, accounts.NewToken{Tenant: w.b}), nil, nil, roles(requester)},
		"a requester's token for working only": {w.limited(mixed, accounts.NewToken{Roles: roles(worker)}), roles(worker), nil, nil},
		"a worker's token for requesting only": {w.limited(both, accounts.NewToken{Roles: roles(requester)}), nil, roles(requester), roles(requester)},
		"a worker's token for reading":         {w.limited(mixed, accounts.NewToken{Scopes: []string{access.CanReadBatches.String()}}), nil, nil, roles(reader)},
		"a suspended person":                   {suspended, nil, nil, nil},
		"a provider":                           {w.provider(), nil, nil, nil},
		"nobody in particular":                 {&access.Principal{User: store.User{ID: 999}}, nil, nil, nil},
	}
	for _, b := range access.BuiltIns() {
		if b.Installation && b.Role != access.Admin {
			people[string(b.Role)] = somebody{w.holding(b.Role, 0), roles(b.Role), nil, nil}
		}
		if b.Tenant && b.Role != requester {
			people[string(b.Role)+" of the tenant"] = somebody{w.holding(b.Role, w.a), nil, roles(b.Role), nil}
			people[string(b.Role)+" of another tenant"] = somebody{w.holding(b.Role, w.b), nil, nil, roles(b.Role)}
		}
	}
	for _, r := range roles(requester, access.Launcher) {
		two := w.person(accounts.NewUser{Name: "viewer-" + string(r), Roles: []store.HeldRole{{Role: string(access.Viewer), Tenant: w.a}, {Role: string(r), Tenant: w.b}}})
		people["a viewer of the tenant who is "+string(r)+" of another"] = somebody{two, nil, roles(access.Viewer), roles(r)}
	}
	create := func(r access.Role, tenant crowd.TenantID) {
		must(w.Accounts.CreateRole(w.ctx, w.admin, store.Role{Tenant: tenant, Name: string(r), Permissions: custom[r].Names()}))(w.t)
	}
	create(odd, 0)
	people[string(odd)] = somebody{w.holding(odd, 0), roles(odd), nil, nil}
	create(own, w.a)
	create(own, w.b)
	for _, r := range roles(odd, own) {
		people[string(r)+" of the tenant"] = somebody{w.holding(r, w.a), nil, roles(r), nil}
		people[string(r)+" of another tenant"] = somebody{w.holding(r, w.b), nil, nil, roles(r)}
	}
	return people
}

// holding is a new person with a role for a tenant, 0: for the installation.
func (w *world) holding(r access.Role, tenant crowd.TenantID) *access.Principal {
	w.t.Helper()
	return w.person(accounts.NewUser{Name: fmt.Sprintf("%s-%d", r, tenant), Roles: []store.HeldRole{{Role: string(r), Tenant: tenant}}})
}

// limited is somebody with a token that can do less than they.
func (w *world) limited(p *access.Principal, n accounts.NewToken) *access.Principal {
	w.t.Helper()
	n.Name = "limited"
	_, secret, err := w.Accounts.CreateToken(w.ctx, p, n)
	ok(w.t, err)
	return must(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{}))(w.t)
}
