package app_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

func held(t *testing.T, texts ...string) (list []store.HeldRole) {
	t.Helper()
	for _, text := range texts {
		list = append(list, must(store.ParseHeldRole("role", text))(t))
	}
	return list
}

// TestNobodyGivesWhatTheyDoNotHold: a role with more than what somebody holds they can
// neither give nor take, and who holds more they cannot change, nor sign in as.
func TestNobodyGivesWhatTheyDoNotHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	operator := w.holding(access.Operator, 0)
	people := w.holding(access.Operator, w.a) // of the tenant
	boss := w.admin.User.ID
	change := func(p *access.Principal, id crowd.WorkerID, f func(u *store.User)) error {
		return second(w.Accounts.ChangeUser(w.ctx, p, id, func(u *store.User) error { f(u); return nil }))
	}
	add := func(p *access.Principal, n accounts.NewUser) error {
		n.Name = "somebody"
		_, _, err := w.Accounts.CreateUser(w.ctx, p, n)
		return err
	}
	give := func(p *access.Principal, id crowd.WorkerID, text string) error {
		return second(w.Accounts.GiveRole(w.ctx, p, id, held(t, text)[0]))
	}
	create := func(p *access.Principal, tenant crowd.TenantID, permissions ...string) error {
		return second(w.Accounts.CreateRole(w.ctx, p, store.Role{Tenant: tenant, Name: "mine", Permissions: permissions}))
	}
	token := func(p *access.Principal, id crowd.WorkerID) error {
		_, _, err := w.Accounts.CreateToken(w.ctx, p, accounts.NewToken{Name: "x", For: id})
		return err
	}
	a := w.a.String() + "/"
	must(w.Accounts.CreateRole(w.ctx, w.admin, store.Role{Name: "cashier", Permissions: []string{"money.read", "money.move"}}))(t)
	for name, err := range map[string]error{
		"an operator makes themselves an admin":     change(operator, operator.User.ID, func(u *store.User) { u.Admin = true }),
		"gives themselves finance":                  change(operator, operator.User.ID, func(u *store.User) { u.Roles = append(u.Roles, held(t, "finance")...) }),
		"is given a made role":                      give(operator, operator.User.ID, "cashier"),
		"gives finance":                             give(operator, w.workers[0].User.ID, "finance"),
		"makes an admin":                            add(operator, accounts.NewUser{Admin: true}),
		"makes a requester":                         add(operator, accounts.NewUser{Tenants: []crowd.TenantID{w.a}}),
		"changes an admin's address":                change(operator, boss, func(u *store.User) { u.Email = "o@example.org" }),
		"suspends an admin":                         change(operator, boss, func(u *store.User) { u.Suspended = true }),
		"gives an admin a new link":                 second(w.Accounts.NewSetupLink(w.ctx, operator, boss)),
		"takes an admin's second factor away":       w.Accounts.ResetFactors(w.ctx, operator, boss),
		"makes a token for an admin":                token(operator, boss),
		"lists an admin's tokens":                   second(w.Accounts.Tokens(w.ctx, operator, boss)),
		"takes an admin's role away":                second(w.Accounts.TakeRole(w.ctx, operator, boss, held(t, "admin")[0])),
		"makes a role with money":                   create(operator, 0, "people.read", "money.read"),
		"takes a permission from a role with more":  second(w.Accounts.ChangeRole(w.ctx, operator, held(t, "cashier")[0], accounts.RoleEdit{Permissions: &[]string{"people.read"}}.Apply)),
		"removes a role with more":                  second(w.Accounts.RemoveRole(w.ctx, operator, held(t, "cashier")[0])),
		"a tenant's makes a requester":              add(people, accounts.NewUser{Tenants: []crowd.TenantID{w.a}}),
		"a tenant's makes an operator":              add(people, accounts.NewUser{Roles: held(t, "operator")}),
		"a tenant's makes a worker":                 add(people, accounts.NewUser{Roles: held(t, a+"operator"), Pool: w.pool}),
		"a tenant's makes nobody in particular":     add(people, accounts.NewUser{}),
		"a tenant's makes a role with batches":      create(people, w.a, "people.read", "batches.read"),
		"a tenant's takes a requester's role away":  second(w.Accounts.TakeRole(w.ctx, people, w.ann.User.ID, held(t, a+"requester")[0])),
		"a scoped token gives what it has not":      give(w.limited(w.admin, accounts.NewToken{Scopes: []string{"people.change", "people.read"}}), boss, "viewer"),
		"a scoped token of an admin changes admins": change(w.limited(w.admin, accounts.NewToken{Scopes: []string{"people.change"}}), boss, func(u *store.User) { u.Email = "o@example.org" }),
	} {
		if crowd.CodeOf(err) != crowd.Forbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Who is requester of one tenant, and keeps the people of another, gives there what they may there.
	both := w.person(accounts.NewUser{Name: "both", Tenants: []crowd.TenantID{w.a}, Roles: held(t, w.b.String()+"/operator")})
	b := w.b.String() + "/"
	for name, err := range map[string]error{
		"makes a requester of the other":          add(both, accounts.NewUser{Tenants: []crowd.TenantID{w.b}}),
		"makes a viewer of the other":             add(both, accounts.NewUser{Roles: held(t, b+"viewer")}),
		"makes one of both":                       add(both, accounts.NewUser{Tenants: []crowd.TenantID{w.a, w.b}}),
		"gives the other's requester's role":      give(both, both.User.ID, b+"requester"),
		"takes the other's requester's role away": second(w.Accounts.TakeRole(w.ctx, both, w.bob.User.ID, held(t, b+"requester")[0])),
		"makes a role of the other":               create(both, w.b, "people.read", "batches.read"),
		"makes a token for the other's requester": token(both, w.bob.User.ID),
	} {
		if crowd.CodeOf(err) != crowd.Forbidden {
			t.Errorf("who holds different rights in two tenants %s: %v", name, err)
		}
	}
	ok(t, give(both, w.bob.User.ID, b+"operator"))
	ok(t, give(both, both.User.ID, w.a.String()+"/viewer"))
	refused(t, create(people, w.b, "people.read"), crowd.NotFound)        // another tenant
	refused(t, give(people, w.bob.User.ID, a+"operator"), crowd.NotFound) // another tenant's
	refused(t, give(people, w.workers[0].User.ID, a+"operator"), crowd.NotFound)
	if none, theirs := give(people, 999, a+"operator"), give(people, w.bob.User.ID, a+"operator"); none.Error() != theirs.Error() {
		t.Errorf("who is not there: %v; another tenant's: %v", none, theirs)
	}
	ok(t, give(operator, w.workers[0].User.ID, "operator"))
	ok(t, change(operator, w.workers[0].User.ID, func(u *store.User) { u.Email = "w@example.org" }))
	ok(t, give(people, w.ann.User.ID, a+"operator"))
	ok(t, give(w.ann, people.User.ID, a+"finance")) // of a tenant it permits what requesters may
	ok(t, create(people, w.a, "people.read", "tests.change"))
	ok(t, add(people, accounts.NewUser{Roles: held(t, a+"mine")}))
	if u := must(w.store.UserByName(w.ctx, "somebody"))(t); !w.as(u.ID).Is("mine") || len(u.Roles) != 1 {
		t.Errorf("%+v", u)
	}
}

// TestRolesThatPeopleMake live with whoever holds them: what they say now holds now, for
// tokens too, and once one is removed nobody holds it.
func TestRolesThatPeopleMake(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	checker := held(t, w.a.String()+"/checker")[0]
	made := must(w.Accounts.CreateRole(w.ctx, w.ann, store.Role{Tenant: w.a, Name: "checker", Text: "looks", Permissions: []string{"results.read", "batches.read", "results.read"}}))(t)
	if !slices.Equal(made.Permissions, []string{"batches.read", "results.read"}) {
		t.Errorf("made %+v", made)
	}
	cleo := w.person(accounts.NewUser{Name: "cleo", Roles: []store.HeldRole{checker}, Pool: w.pool})
	id := w.launch(1)
	may := func(x access.Operation, want bool) {
		t.Helper()
		if cleo = w.as(cleo.User.ID); (cleo.MayFor(x, w.a) == nil) != want || cleo.MayFor(x, w.b) == nil {
			t.Errorf("%s: %v", x.Name, cleo.MayFor(x, w.a))
		}
	}
	may(access.BatchesLabels, true)
	may(access.BatchesPause, false)
	refused(t, second(w.Work.Next(w.ctx, cleo, 0)), "") // they act for the tenant, and get none of its tasks
	if a := must(w.Work.Next(w.ctx, cleo, 0))(t); a != nil {
		t.Errorf("who acts for the tenant got %+v", a)
	}
	must(w.Accounts.ChangeRole(w.ctx, w.ann, checker, accounts.RoleEdit{Permissions: &[]string{"batches.launch"}}.Apply))(t)
	may(access.BatchesLabels, false)
	may(access.BatchesPause, true)
	for name, r := range map[string]store.Role{
		"without permissions":        {Tenant: w.a, Name: "x"},
		"with an unknown one":        {Tenant: w.a, Name: "x", Permissions: []string{"results"}},
		"with work":                  {Tenant: w.a, Name: "x", Permissions: []string{"work"}},
		"with the installation's":    {Tenant: w.a, Name: "x", Permissions: []string{"tenants.read"}},
		"named as none can be":       {Tenant: w.a, Name: "X y", Permissions: []string{"batches.read"}},
		"with a text of two lines":   {Tenant: w.a, Name: "x", Text: "a\nb", Permissions: []string{"batches.read"}},
		"with a text that goes on":   {Tenant: w.a, Name: "x", Text: strings.Repeat("x", 201), Permissions: []string{"batches.read"}},
		"of a tenant that is absent": {Tenant: 999, Name: "x", Permissions: []string{"batches.read"}},
	} {
		if code := crowd.CodeOf(second(w.Accounts.CreateRole(w.ctx, w.admin, r))); code != crowd.Invalid && code != crowd.NotFound {
			t.Errorf("a role %s: %q", name, code)
		}
	}
	for _, name := range []string{"checker", "admin", "worker"} {
		refused(t, second(w.Accounts.CreateRole(w.ctx, w.ann, store.Role{Tenant: w.a, Name: name, Permissions: []string{"batches.read"}})), crowd.Conflict)
	}
	refused(t, second(w.Accounts.RemoveRole(w.ctx, w.admin, held(t, "viewer")[0])), crowd.Conflict)
	refused(t, second(w.Accounts.ChangeRole(w.ctx, w.admin, held(t, "checker")[0], accounts.RoleEdit{}.Apply)), crowd.NotFound)

	must(w.Accounts.CreateRole(w.ctx, w.admin, store.Role{Name: "checker", Permissions: []string{"results.read"}}))(t) // the tenant's goes on
	refused(t, second(w.Accounts.CreateRole(w.ctx, w.bob, store.Role{Tenant: w.b, Name: "checker", Permissions: []string{"batches.read"}})), crowd.Conflict)
	may(access.BatchesPause, true)
	seen := func(p *access.Principal) (list []string) {
		for _, v := range must(w.Accounts.Roles(w.ctx, p))(t) {
			list = append(list, store.HeldRole{Role: v.Name, Tenant: v.Tenant}.String())
		}
		return list
	}
	if got := seen(w.ann); !slices.Equal(got, []string{"checker", checker.String()}) {
		t.Errorf("the tenant sees %v", got)
	}
	if got := seen(w.bob); !slices.Equal(got, []string{"checker"}) {
		t.Errorf("another tenant sees %v", got)
	}
	before := w.as(cleo.User.ID)
	if holders := must(w.Accounts.RemoveRole(w.ctx, w.ann, checker))(t); !slices.Equal(holders, []crowd.WorkerID{cleo.User.ID}) {
		t.Errorf("it was held by %v", holders)
	}
	if u := must(w.store.User(w.ctx, before.User.ID))(t); len(u.Roles) != 0 {
		t.Errorf("they hold %v", u.Roles)
	}
	may(access.BatchesPause, false)
	may(access.BatchesLabels, false)
	if a := must(w.Work.Next(w.ctx, w.as(cleo.User.ID), 0))(t); a == nil || a.Assignment.Batch() != id {
		t.Errorf("who acts for the tenant no longer gets %+v", a)
	}
}

// harmless is a role of the installation that everybody holds all of who gives roles.
func (w *world) harmless() string { return w.role(0, "harmless") }

// role is a role that there is.
func (w *world) role(tenant crowd.TenantID, name string) string {
	w.t.Helper()
	if _, err := w.Accounts.CreateRole(w.ctx, w.admin, store.Role{Tenant: tenant, Name: name, Permissions: []string{"people.read"}}); err != nil {
		refused(w.t, err, crowd.Conflict)
	}
	return name
}

// TestTheLastWhoGivesRoles of a tenant does not take that from themselves, as only an administrator could
// give it back; others do, and of the last one an administrator does.
func TestTheLastWhoGivesRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	requester, viewer := store.HeldRole{Role: string(access.Requester), Tenant: w.a}, store.HeldRole{Role: string(access.Viewer), Tenant: w.a}
	out := w.person(accounts.NewUser{Name: "out", Tenants: []crowd.TenantID{w.a}})
	must(w.Accounts.ChangeUser(w.ctx, w.admin, out.User.ID, func(u *store.User) error { u.Suspended = true; return nil }))(t)
	take := func(p *access.Principal, id crowd.WorkerID, h store.HeldRole) error {
		return second(w.Accounts.TakeRole(w.ctx, w.as(p.User.ID), id, h))
	}
	ann := w.ann.User.ID
	must(w.Accounts.GiveRole(w.ctx, w.ann, ann, viewer))(t)
	refusedText(t, take(w.ann, ann, requester), crowd.Conflict, "nobody else can give roles of n1")
	if !w.as(ann).Holds(access.Requester, w.a) {
		t.Error("she has lost it all the same")
	}
	ok(t, take(w.ann, ann, viewer))
	second := w.person(accounts.NewUser{Name: "second", Roles: []store.HeldRole{viewer}})
	must(w.Accounts.GiveRole(w.ctx, w.ann, second.User.ID, requester))(t)
	ok(t, take(w.ann, ann, requester))
	refused(t, take(second, second.User.ID, requester), crowd.Conflict)
	ok(t, take(w.admin, second.User.ID, requester))
}

func allTokens(s *scene, p *access.Principal) error {
	return second(s.Accounts.AllTokens(s.ctx, p, 0, 0, 1))
}

// TestEditingMovesNoMoney: who may change batches, and neither budgets nor whether batches
// run, takes no money from the account by an edit, gives none back, and stops and ends
// nothing.
func TestEditingMovesNoMoney(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	with := func(name string, permissions ...string) *access.Principal {
		must(w.Accounts.CreateRole(w.ctx, w.admin, store.Role{Tenant: w.a, Name: name, Permissions: append(permissions, "batches.read", "batches.edit")}))(t)
		return w.holding(access.Role(name), w.a)
	}
	editor, cashier, launcher := with("editor"), with("cashier", "budgets.change"), with("starter", "batches.launch")
	id := w.launch(4, times(2))
	w.answer(1)
	change := func(p *access.Principal, f func(x *batches.RunningSettings)) error {
		return second(w.Batches.Change(w.ctx, p, id, func(x *batches.RunningSettings) error { f(x); return nil }))
	}
	raise := func(x *batches.RunningSettings) { x.Reward, x.AddBudget = x.Reward+1, true }
	lower := func(x *batches.RunningSettings) { x.Reward, x.ReleaseBudget = x.Reward-1, true }
	stop := func(x *batches.RunningSettings) { x.Stopped = true }
	lift := func(x *batches.RunningSettings) { x.Stopped = false }
	end := func(x *batches.RunningSettings) { x.Enough = engine.Enough{Spent: crowd.Unit / 100} }
	few := func(x *batches.RunningSettings) {
		x.Redundancy, x.Enough = label.Count(1), engine.Enough{Labels: 2} // it has one before
	}
	add := func(p *access.Principal) error {
		return second(w.Batches.AddTasks(w.ctx, p, id, strings.NewReader("thing\nmore\n"), batches.Addition{AddBudget: true}))
	}
	had, settings := w.balance(w.a), func() batches.RunningSettings { v := w.batch(id); return v.RunningSettings() }
	before := settings()
	for what, err := range map[string]error{
		"an editor raises the reward from the account":        change(editor, raise),
		"gives back what is left over":                        change(editor, lower),
		"adds tasks with money from the account":              add(editor),
		"stops the batch":                                     change(editor, stop),
		"ends it":                                             change(editor, end),
		"ends it by labels of fewer answers":                  change(editor, few),
		"who may also change budgets stops the batch":         change(cashier, stop),
		"ends it, too":                                        change(cashier, end),
		"who may also launch gives back what is left":         change(launcher, lower),
		"raises the reward from the account":                  change(launcher, raise),
		"adds tasks with money from the account all the same": add(launcher),
	} {
		if crowd.CodeOf(err) != crowd.Forbidden {
			t.Errorf("%s: %v", what, err)
		}
	}
	if now := w.balance(w.a); now != had || settings() != before {
		t.Errorf("the account has %s, before %s; the batch is %+v, before %+v", now, had, settings(), before)
	}
	ok(t, change(editor, func(x *batches.RunningSettings) { x.Priority, x.Enough = 5, engine.Enough{Labels: 3} }))
	ok(t, change(cashier, raise))
	ok(t, change(cashier, lower))
	ok(t, add(cashier))
	ok(t, change(launcher, stop))
	ok(t, change(editor, func(x *batches.RunningSettings) { x.Priority = 6 })) // it stays stopped
	ok(t, change(launcher, lift))
	ok(t, change(launcher, end))
}
