package accounts

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/store"
)

// roleCases are the use cases of roles, a part of Accounts.
type roleCases struct{ accounts *Accounts }

// maxRoles is how many roles the installation, and each tenant, can make.
const maxRoles = 100

var errOneself = crowd.Errorf(crowd.Conflict, "you can neither suspend yourself nor take your own admin role away")

// principal returns somebody with a token, and the roles that they hold.
func (s *Accounts) principal(ctx context.Context, u store.User, t store.Token) (*access.Principal, error) {
	custom, err := s.custom(ctx, &u)
	return &access.Principal{User: u, Token: t, Custom: custom}, err
}

// custom returns the roles that people have made, or none if somebody holds none of them.
func (s *Accounts) custom(ctx context.Context, u *store.User) (access.CustomRoles, error) {
	if !slices.ContainsFunc(u.Roles, func(h store.HeldRole) bool { return !access.IsBuiltIn(h.Role) }) {
		return nil, nil
	}
	list, err := s.store.ListRoles(ctx)
	return slices.DeleteFunc(list, func(r store.Role) bool {
		return !slices.ContainsFunc(u.Roles, func(h store.HeldRole) bool {
			return h.Role == r.Name && (r.Tenant == 0 || r.Tenant == h.Tenant)
		})
	}), err
}

// mayAct checks that p holds all that somebody may do. Whoever changes a person, or how
// they sign in, could act as them.
func (s *Accounts) mayAct(ctx context.Context, p *access.Principal, as *store.User) error {
	custom, err := s.custom(ctx, as)
	if err != nil {
		return err
	}
	for h := range access.Held(as) {
		if err := mayGive(p, custom, h); err != nil {
			return err
		}
	}
	return nil
}

// mayGive checks that there is a role, and that p holds all that it permits.
func mayGive(p *access.Principal, custom access.CustomRoles, h store.HeldRole) error {
	of, found := custom.Permissions(h)
	if !found {
		return crowd.Fieldf("roles", "there is no role %s", h)
	}
	if lacking := p.Lacking(h.Tenant, of); lacking != 0 {
		return crowd.Errorf(crowd.Forbidden, "the role %s permits what you may not do yourself (%s): you can neither give it nor take it, nor change who holds it", h, strings.Join(lacking.Names(), ", "))
	}
	return nil
}

// validRoles checks the roles of somebody that they did not hold before.
func (s *Accounts) validRoles(ctx context.Context, before []store.HeldRole, u *store.User) error {
	u.Roles = access.SortRoles(u.Roles)
	custom, err := s.custom(ctx, u)
	if err != nil {
		return err
	}
	for _, h := range u.Roles {
		if slices.Contains(before, h) {
			continue
		}
		if err := access.MayBeHeld("roles", h); err != nil {
			return err
		}
		if _, found := custom.Permissions(h); !found {
			return crowd.Fieldf("roles", "there is no role %s", h)
		}
	}
	return nil
}

// GiveRole gives somebody a role.
func (part *roleCases) GiveRole(ctx context.Context, p *access.Principal, id crowd.WorkerID, h store.HeldRole) (store.User, error) {
	s := part.accounts
	return s.changeRole(ctx, p, access.AccountsGiveRole, id, h, access.Give)
}

// TakeRole takes a role away from somebody.
func (part *roleCases) TakeRole(ctx context.Context, p *access.Principal, id crowd.WorkerID, h store.HeldRole) (store.User, error) {
	s := part.accounts
	return s.changeRole(ctx, p, access.AccountsTakeRole, id, h, access.Take)
}

func (s *Accounts) changeRole(ctx context.Context, p *access.Principal, o access.Operation, id crowd.WorkerID, h store.HeldRole, change func(*store.User, store.HeldRole)) (store.User, error) {
	if err := p.MayFor(o, h.Tenant); err != nil {
		return store.User{}, err
	}
	if err := access.MayBeHeld("role", h); err != nil {
		return store.User{}, err
	}
	sees := p.May(access.AccountsOtherUser) == nil || p.May(access.AccountsChangeUser) == nil
	if err := p.May(access.AccountsUsers); err != nil && !sees {
		return store.User{}, err
	}
	ctx, act := s.acting(ctx, p, o, id)
	act.Tenant = h.Tenant
	u, err := s.Change(ctx, id, func(u *store.User) error {
		now, err := s.asNow(ctx, p)
		if err == nil {
			err = now.MayFor(o, h.Tenant)
		}
		if err != nil {
			return err
		}
		p = now
		if !sees && !slices.ContainsFunc(u.StaffOf(), func(t crowd.TenantID) bool { return p.MayFor(access.AccountsUsers, t) == nil }) {
			return errNoUser
		}
		list, err := s.store.ListRoles(ctx) // while nobody else changes them, too
		if err == nil {
			err = mayGive(p, list, h)
		}
		if err != nil {
			return err
		}
		type roles struct{ Roles []store.HeldRole } // for the log of the tenant, which is not told more of them
		act.Before = roles{slices.DeleteFunc(slices.Collect(access.Held(u)), func(x store.HeldRole) bool { return x != h })}
		if change(u, h); id == p.User.ID && p.User.Admin && !u.Admin {
			return errOneself
		}
		if id == p.User.ID && h.Tenant != 0 {
			if err := s.leavesNobody(ctx, p, list, u, h.Tenant); err != nil {
				return err
			}
		}
		act.After = roles{slices.DeleteFunc(slices.Collect(access.Held(u)), func(x store.HeldRole) bool { return x != h })}
		return nil
	})
	switch {
	case p.May(access.AccountsWholeUsers) == nil:
	case crowd.CodeOf(err) == crowd.NotFound:
		err = errNoUser
	case err == nil:
		s.hideOthers(p, access.AccountsGiveRole, &u)
	}
	return u, err
}

// leavesNobody refuses what p makes of themselves, if they were the last one of a tenant who gives its roles:
// only an administrator could mend that.
func (s *Accounts) leavesNobody(ctx context.Context, p *access.Principal, custom access.CustomRoles, u *store.User, tenant crowd.TenantID) error {
	then := access.Principal{User: *u, Custom: custom}
	if p.MayFor(access.AccountsGiveRole, tenant) != nil || then.MayFor(access.AccountsGiveRole, tenant) == nil {
		return nil
	}
	another, err := access.AnotherMay(ctx, s.store, custom, access.AccountsGiveRole, tenant, u.ID)
	if err == nil && !another {
		err = crowd.Errorf(crowd.Conflict, "nobody else can give roles of %s: give somebody a role that can first, or have an administrator take yours", tenant)
	}
	return err
}

var errNoUser = &crowd.Error{Code: crowd.NotFound, Field: "user", Message: "no such user"}

// RoleView is a role that people have made, as it is shown.
type RoleView struct {
	store.Role
	Holders []crowd.WorkerID // whom the viewer may know of
	Yours   bool             // the viewer may change and remove it
}

// Roles lists the roles that people have made: the installation's, and those of tenants
// whose people p may see.
func (part *roleCases) Roles(ctx context.Context, p *access.Principal) (views []RoleView, err error) {
	s := part.accounts
	if err := p.May(access.AccountsRoles); err != nil {
		return nil, err
	}
	list, err := s.store.ListRoles(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if r.Tenant != 0 && p.MayFor(access.AccountsUsers, r.Tenant) != nil {
			continue
		}
		v := RoleView{Role: r, Yours: p.MayFor(access.AccountsChangeRole, r.Tenant) == nil && p.Lacking(r.Tenant, access.SetNamed(r.Permissions)) == 0}
		if p.MayFor(access.AccountsUsers, r.Tenant) == nil {
			if v.Holders, err = s.store.RoleHolders(ctx, r.Tenant, r.Name); err != nil {
				return nil, err
			}
		}
		views = append(views, v)
	}
	return views, nil
}

// MayGive lists the roles that p may give and take for a tenant, 0: for the installation.
// The built-in ones come first.
func (part *roleCases) MayGive(ctx context.Context, p *access.Principal, tenant crowd.TenantID) (held []store.HeldRole, err error) {
	if err := p.MayFor(access.AccountsMayGive, tenant); err != nil {
		return nil, err
	}
	list, err := part.accounts.store.ListRoles(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range access.BuiltIns() {
		held = append(held, store.HeldRole{Role: string(b.Role), Tenant: tenant})
	}
	for _, r := range list {
		if r.Tenant == 0 || r.Tenant == tenant {
			held = append(held, store.HeldRole{Role: r.Name, Tenant: tenant})
		}
	}
	return lists.Filter(held, func(h store.HeldRole) bool {
		return access.MayBeHeld("role", h) == nil && mayGive(p, list, h) == nil
	}), nil
}

var roleName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

// CreateRole makes a role out of permissions that p holds themselves.
func (part *roleCases) CreateRole(ctx context.Context, p *access.Principal, r store.Role) (store.Role, error) {
	s := part.accounts
	owner, err := s.owner(ctx, p, access.AccountsCreateRole, r.Tenant)
	if err != nil {
		return r, err
	}
	r.Tenant = owner
	s.people.Lock()
	defer s.people.Unlock()
	if p, err = s.asNow(ctx, p); err == nil {
		err = p.MayFor(access.AccountsCreateRole, owner)
	}
	if err != nil {
		return r, err
	}
	list, err := s.store.ListRoles(ctx)
	if err != nil {
		return r, err
	}
	there, taken := access.CustomRoles(list).Find(store.HeldRole{Role: r.Name, Tenant: r.Tenant})
	switch {
	case !roleName.MatchString(r.Name):
		return r, crowd.Fieldf("name", "%q is not a name of a role (a to z, 0 to 9 and -, from a letter on, at most 40)", r.Name)
	case access.IsBuiltIn(r.Name):
		return r, &crowd.Error{Code: crowd.Conflict, Field: "name", Message: r.Name + " is a built-in role"}
	case taken && there.Tenant == 0:
		return r, &crowd.Error{Code: crowd.Conflict, Field: "name", Message: "there is a role " + r.Name + " of the installation already"}
	case len(slices.DeleteFunc(list, func(x store.Role) bool { return x.Tenant != r.Tenant })) >= maxRoles:
		return r, crowd.Errorf(crowd.TooMany, "there are %d roles already, and no more can be made: remove one first", maxRoles)
	}
	r.CreatedAt = s.clock.Time()
	if err := validRole(p, &r); err != nil {
		return r, err
	}
	ctx, act := s.actingOn(ctx, p, access.AccountsCreateRole, &r)
	act.After = r
	return r, s.store.CreateRole(ctx, r)
}

// validRole checks a role that p makes or changes.
func validRole(p *access.Principal, r *store.Role) error {
	if err := format.ValidLine("text", r.Text, 200); err != nil {
		return err
	}
	of, err := access.ParsePermissions("permissions", r.Permissions)
	switch {
	case err != nil:
		return err
	case of == 0:
		return crowd.Fieldf("permissions", "are missing: name what the role permits, such as batches.read")
	case of.Has(access.CanWork):
		return crowd.Fieldf("permissions", "%s comes with a pool: put people into one", access.CanWork)
	case of.Within(r.Tenant) != of:
		return crowd.Fieldf("permissions", "a role of a tenant cannot have %s, which is for the installation only", strings.Join((of&^of.Within(r.Tenant)).Names(), ", "))
	}
	if lacking := p.Lacking(r.Tenant, of); lacking != 0 {
		return crowd.Errorf(crowd.Forbidden, "you cannot make a role that permits what you may not do yourself: %s", strings.Join(lacking.Names(), ", "))
	}
	r.Permissions = of.Names() // in order, each once
	return nil
}

// actingOn is for a change of a role.
func (s *Accounts) actingOn(ctx context.Context, p *access.Principal, o access.Operation, r *store.Role) (context.Context, *store.Act) {
	return p.Acting(ctx, o, store.AuditEntry{At: s.clock.Time(), Tenant: r.Tenant, Kind: "role", Object: r.Name})
}

// role returns a role that p may change: they hold all that it permits.
func (s *Accounts) role(ctx context.Context, p *access.Principal, o access.Operation, h store.HeldRole) (store.Role, error) {
	if err := p.MayFor(o, h.Tenant); err != nil {
		return store.Role{}, err
	}
	list, err := s.store.ListRoles(ctx)
	if err != nil {
		return store.Role{}, err
	}
	r, found := access.CustomRoles(list).Find(h)
	switch {
	case access.IsBuiltIn(h.Role):
		return r, crowd.Errorf(crowd.Conflict, "%s is a built-in role, which stays as it is", h.Role)
	case !found || r.Tenant != h.Tenant:
		return r, store.NoRole(h.Tenant, h.Role)
	}
	return r, mayGive(p, list, h)
}

// RoleEdit changes a role; nil fields stay as they are.
type RoleEdit struct {
	Text        *string
	Permissions *[]string
}

// Apply makes the change.
func (e RoleEdit) Apply(r *store.Role) error {
	input.Set(&r.Text, e.Text)
	input.Set(&r.Permissions, e.Permissions)
	return nil
}

// ChangeRole changes a role as it is when nobody else changes it. Who holds it may do what
// it says from now on.
func (part *roleCases) ChangeRole(ctx context.Context, p *access.Principal, h store.HeldRole, change func(*store.Role) error) (store.Role, error) {
	s := part.accounts
	s.people.Lock()
	defer s.people.Unlock()
	p, err := s.asNow(ctx, p)
	if err != nil {
		return store.Role{}, err
	}
	r, err := s.role(ctx, p, access.AccountsChangeRole, h)
	if err != nil {
		return r, err
	}
	ctx, act := s.actingOn(ctx, p, access.AccountsChangeRole, &r)
	act.Before = r
	if err := change(&r); err != nil {
		return r, err
	}
	if err := validRole(p, &r); err != nil {
		return r, err
	}
	act.After = r
	if ctx, err = s.toldWhereHeld(ctx, &r, act.Before, act.After); err != nil {
		return r, err
	}
	defer s.sessions.clear()
	return r, s.store.UpdateRole(ctx, r)
}

// toldWhereHeld returns a context for a change of a role of the installation, of which also the
// audit log of each tenant tells for which somebody holds it.
func (s *Accounts) toldWhereHeld(ctx context.Context, r *store.Role, before, after any) (context.Context, error) {
	if r.Tenant != 0 {
		return ctx, nil
	}
	holders, err := s.store.RoleHolders(ctx, 0, r.Name)
	if err != nil {
		return ctx, err
	}
	with, err := s.users(ctx, holders)
	if err != nil {
		return ctx, err
	}
	without, err := s.without(ctx, *r, with)
	if err != nil {
		return ctx, err
	}
	var tenants []crowd.TenantID
	for i := range with {
		for _, t := range with[i].StaffOf() {
			if !slices.Contains(tenants, t) && !slices.Equal(rolesFor(&with[i], t), rolesFor(&without[i], t)) {
				tenants = append(tenants, t)
			}
		}
	}
	slices.Sort(tenants)
	return withParts(ctx, tenants, func(crowd.TenantID) (any, any) { return before, after }), nil
}

// RemoveRole takes a role away, and from all who hold it. It returns who held it.
func (part *roleCases) RemoveRole(ctx context.Context, p *access.Principal, h store.HeldRole) ([]crowd.WorkerID, error) {
	s := part.accounts
	s.people.Lock()
	defer s.people.Unlock()
	p, err := s.asNow(ctx, p)
	if err != nil {
		return nil, err
	}
	r, err := s.role(ctx, p, access.AccountsRemoveRole, h)
	if err != nil {
		return nil, err
	}
	holders, err := s.store.RoleHolders(ctx, r.Tenant, r.Name)
	if err != nil {
		return nil, err
	}
	ctx, act := s.actingOn(ctx, p, access.AccountsRemoveRole, &r)
	act.Before = struct {
		store.Role
		Holders []crowd.WorkerID
	}{r, holders}
	after, err := s.users(ctx, holders)
	if err == nil {
		after, err = s.without(ctx, r, after)
	}
	if err != nil {
		return nil, err
	}
	if ctx, err = s.toldWhereHeld(ctx, &r, r, nil); err != nil {
		return nil, err
	}
	defer s.sessions.clear()
	if err := s.store.DeleteRole(ctx, r.Tenant, r.Name); err != nil {
		return nil, err
	}
	for _, u := range after { // who works, too, may do tasks of tenants for which they held it
		err = errors.Join(err, s.tellPool(u, false))
	}
	return holders, err
}

// users reads people.
func (s *Accounts) users(ctx context.Context, ids []crowd.WorkerID) (_ []store.User, err error) {
	users := make([]store.User, len(ids))
	for i, id := range ids {
		if users[i], err = s.store.User(ctx, id); err != nil {
			return nil, err
		}
	}
	return users, nil
}

// without returns people as they are without a role. That is found out before it is removed,
// since what fails afterwards could not be tried again.
func (s *Accounts) without(ctx context.Context, r store.Role, holders []store.User) ([]store.User, error) {
	list, err := s.store.ListRoles(ctx)
	if err != nil {
		return nil, err
	}
	users := slices.Clone(holders)
	for i := range users {
		users[i].Roles = slices.DeleteFunc(slices.Clone(users[i].Roles), func(h store.HeldRole) bool {
			of, found := access.CustomRoles(list).Find(h)
			return found && of.Tenant == r.Tenant && of.Name == r.Name
		})
	}
	return users, nil
}
