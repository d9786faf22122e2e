package web

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

// holdersShown is how many of those who hold a role a page names.
const holdersShown = 20

// ofAll is a handler about a tenant for the installation.
func ofAll(handle of[crowd.TenantID]) handler {
	return func(rq *request) error { return handle(rq, 0) }
}

// rolesHome is the page of the roles of a tenant, 0: of the installation.
func rolesHome(tenant crowd.TenantID) string {
	if tenant == 0 {
		return "/admin/roles"
	}
	return "/tenants/" + tenant.String() + "/roles"
}

// roleRow is a role that people have made, with its form.
type roleRow struct {
	accounts.RoleView
	Home    string // the page of its owner's roles
	Of      string // the tenant's name; "": the installation
	Filled  url.Values
	Offered []access.Permission // out of which it can be made
	Named   []string            // who holds it, as far as they are named
}

// More is how many hold the role who are not named.
func (r roleRow) More() int { return len(r.Holders) - len(r.Named) }

// staffRow is somebody with a role for a tenant.
type staffRow struct {
	store.User
	Held []heldRow
}

// heldRow is a role that somebody holds.
type heldRow struct {
	store.HeldRole
	Text  string
	Takes bool // the viewer may take it away
}

func bindRole(b binding, r *store.Role) {
	b.words("text", &r.Text)
	several(b, "permissions", &r.Permissions, func(text string) (string, error) { return text, nil }, func(text string) string { return text })
}

// roles shows the roles of the installation and of all tenants.
func (rq *request) roles() error {
	names := tenantNames(ask(rq, rq.App.Tenants.List))
	made := rq.madeRoles(0, names, func(id crowd.WorkerID) string { return askOf(rq, id, rq.App.Accounts.User).Name })
	return rq.render("roles", page{Title: "Roles", Section: "admin", Data: rq.withBuiltIns(0, map[string]any{"Made": made})})
}

// rolesOf shows who works for a tenant, with which roles, and the roles that it has made.
func (rq *request) rolesOf(id crowd.TenantID) error {
	t := rq.findTenant(id)
	list, err := rq.App.Accounts.Users(rq.ctx(), rq.p, id, idIn(rq, "after", crowd.ParseWorkerID), peopleShown)
	rq.check(err)
	gives := rq.gives(id)
	staff := lists.Map(list, func(u store.User) staffRow { return staffRow{u, heldFor(u, id, gives)} })
	made := rq.madeRoles(id, accounts.NamesOf([]store.Tenant{t}), func(holder crowd.WorkerID) string {
		if i := slices.IndexFunc(list, func(u store.User) bool { return u.ID == holder }); i >= 0 {
			return list[i].Name
		}
		return holder.String()
	})
	data := rq.withBuiltIns(id, map[string]any{
		"T": t, "Made": made, "Staff": staff, "Added": madeOf[*newcomer](rq), "Gives": menu(gives, func(h store.HeldRole) choice { return choice{h.Role, h.Role} }, chooseRole),
		"StaffMenu": menu(list, func(u store.User) choice { return choice{u.ID.String(), u.Name} }),
	})
	if len(list) == peopleShown {
		data["After"] = list[len(list)-1].ID
	}
	return rq.render("tenantroles", page{Title: "People and roles of " + t.Name, Section: "batches", Data: data})
}

// gives are the roles that the viewer may give for a tenant, 0: for the installation.
func (rq *request) gives(tenant crowd.TenantID) []store.HeldRole {
	if rq.p.MayFor(access.AccountsMayGive, tenant) != nil {
		return nil
	}
	return askOf(rq, tenant, rq.App.Accounts.MayGive)
}

// heldFor are the roles that somebody holds for a tenant.
func heldFor(u store.User, tenant crowd.TenantID, gives []store.HeldRole) (rows []heldRow) {
	for h := range access.Held(&u) {
		if h.Tenant == tenant && h.Role != string(access.Worker) {
			rows = append(rows, heldRow{h, h.Role, slices.Contains(gives, h)})
		}
	}
	return rows
}

// madeRoles are the roles that a tenant has made, 0: those of the installation and of every
// tenant.
func (rq *request) madeRoles(tenant crowd.TenantID, names accounts.Names, name func(crowd.WorkerID) string) (rows []roleRow) {
	for _, v := range ask(rq, rq.App.Accounts.Roles) {
		if tenant != 0 && v.Tenant != tenant {
			continue
		}
		offered := rq.p.MayPass(v.Tenant) | access.SetNamed(v.Permissions)
		row := roleRow{RoleView: v, Home: rolesHome(v.Tenant), Of: names[v.Tenant], Filled: filled(v.Role, bindRole), Offered: slices.Collect(offered.All())}
		row.Named = lists.Map(v.Holders[:min(len(v.Holders), holdersShown)], name)
		rows = append(rows, row)
	}
	return rows
}

// withBuiltIns adds the built-in roles that are held for a tenant, 0: all of them, and what
// a new role can permit.
func (rq *request) withBuiltIns(tenant crowd.TenantID, data map[string]any) map[string]any {
	data["Home"], data["Tenant"] = rolesHome(tenant), tenant
	data["Offered"] = slices.Collect(rq.p.MayPass(tenant).All())
	builtIns := lists.Filter(access.BuiltIns(), func(b access.BuiltIn) bool { return tenant == 0 || b.Tenant })
	data["BuiltIns"] = lists.Map(builtIns, func(b access.BuiltIn) access.BuiltIn {
		b.Permissions = b.Within(tenant)
		return b
	})
	return data
}

// rolePage shows the page of the roles of a tenant, 0: of the installation.
func (rq *request) rolePage(tenant crowd.TenantID) error {
	if tenant == 0 {
		return rq.roles()
	}
	return rq.rolesOf(tenant)
}

func (rq *request) createRole(tenant crowd.TenantID) error {
	f := rq.sent()
	r := store.Role{Tenant: tenant, Name: f.text("name")}
	bindRole(binding{fields: f}, &r)
	err := f.err()
	if err == nil {
		_, err = rq.App.Accounts.CreateRole(rq.ctx(), rq.p, r)
	}
	return rq.done(err, rolesHome(tenant), "saved")
}

func (rq *request) changeRole(tenant crowd.TenantID) error {
	h := store.HeldRole{Role: rq.r.PathValue("role"), Tenant: tenant}
	_, err := rq.App.Accounts.ChangeRole(rq.ctx(), rq.p, h, saving(rq.sent(), bindRole))
	return rq.done(err, rolesHome(tenant), "saved")
}

// confirmRole asks before a role is removed, and says who loses it.
func (rq *request) confirmRole(tenant crowd.TenantID) error {
	name, back := rq.r.PathValue("role"), rolesHome(tenant)
	made := ask(rq, rq.App.Accounts.Roles)
	i := slices.IndexFunc(made, func(v accounts.RoleView) bool { return v.Name == name && v.Tenant == tenant })
	if i < 0 {
		rq.check(store.NoRole(tenant, name))
		return rq.err
	}
	if !made[i].Yours {
		return crowd.Errorf(crowd.Forbidden, "the role %s permits what you may not do yourself: you cannot remove it", name)
	}
	return rq.render("ask", page{Title: "Remove a role", Section: "admin", Data: map[string]any{
		"Question": "Remove this role?", "About": name, "Verb": "Remove it", "Danger": true, "To": back + "/" + name + "/remove", "Back": back,
		"Consequence": "It is held by " + plural(len(made[i].Holders), "person") + ", who can no longer do what it permits. Nothing takes its place.",
	}})
}

func (rq *request) removeRole(tenant crowd.TenantID) error {
	_, err := rq.App.Accounts.RemoveRole(rq.ctx(), rq.p, store.HeldRole{Role: rq.r.PathValue("role"), Tenant: tenant})
	return rq.done(err, rolesHome(tenant), "unmade")
}

// addStaff adds somebody with a role for a tenant and shows their one-time link, this once.
func (rq *request) addStaff(tenant crowd.TenantID) error {
	f := rq.sent()
	var u store.User
	access.Give(&u, store.HeldRole{Role: f.text("roles"), Tenant: tenant})
	n := accounts.NewUser{Name: f.text("name"), FullName: f.text("full_name"), Email: f.text("email"), Tenants: u.Tenants, Roles: u.Roles}
	_, secret, err := rq.App.Accounts.CreateUser(rq.ctx(), rq.p, n)
	if err != nil {
		return err
	}
	rq.made = &newcomer{n.Name, rq.setupURL(secret)}
	return rq.rolesOf(tenant)
}

// giveHere gives somebody a role for a tenant, or takes it away.
func (rq *request) giveHere(tenant crowd.TenantID) error {
	f := rq.sent()
	id := parsed(f, "user", crowd.ParseWorkerID, func(text string) string { return text + " is nobody: choose who gets the role" })
	if err := f.err(); err != nil {
		return err
	}
	return rq.giveOrTake(id, store.HeldRole{Role: f.text("role"), Tenant: tenant}, rolesHome(tenant))
}

// give gives somebody a role, for a tenant or for the installation, or takes it away.
func (rq *request) give(id crowd.WorkerID) error {
	f := rq.sent()
	h := store.HeldRole{Role: f.text("role"), Tenant: parsed(f, "tenant", crowd.ParseTenantID, func(text string) string { return text + " is not a tenant" })}
	if err := f.err(); err != nil {
		return err
	}
	return rq.giveOrTake(id, h, "/admin/people/"+id.String())
}

func (rq *request) giveOrTake(id crowd.WorkerID, h store.HeldRole, back string) error {
	if h.Role == "" {
		return crowd.Fieldf("role", "choose a role")
	}
	if rq.sent().text("do") == "take" {
		_, err := rq.App.Accounts.TakeRole(rq.ctx(), rq.p, id, h)
		return rq.done(err, back, "roletaken")
	}
	_, err := rq.App.Accounts.GiveRole(rq.ctx(), rq.p, id, h)
	return rq.done(err, back, "rolegiven")
}

// heldRows are all roles of somebody but that of a worker, with the tenants' names.
func (rq *request) heldRows(u store.User, names accounts.Names) (rows []heldRow) {
	gives := map[crowd.TenantID][]store.HeldRole{}
	for h := range access.Held(&u) {
		if h.Role == string(access.Worker) {
			continue
		}
		if gives[h.Tenant] == nil {
			gives[h.Tenant] = rq.gives(h.Tenant)
		}
		of := "for the installation"
		if h.Tenant != 0 {
			of = "for " + names[h.Tenant]
		}
		rows = append(rows, heldRow{h, h.Role + " " + of, slices.Contains(gives[h.Tenant], h)})
	}
	return rows
}

// chooseRole stands in a menu before the roles, so that none is given by mistake.
var chooseRole = choice{"", "– choose a role –"}

// roleMenu are the names of the roles that the viewer may give for any of some tenants, or
// for the installation.
func (rq *request) roleMenu(tenants []store.Tenant) []choice {
	var names []string
	for _, id := range append([]crowd.TenantID{0}, lists.Map(tenants, func(t store.Tenant) crowd.TenantID { return t.ID })...) {
		for _, h := range rq.gives(id) {
			if !slices.Contains(names, h.Role) {
				names = append(names, h.Role)
			}
		}
	}
	return menu(names, func(name string) choice { return choice{name, name} }, chooseRole)
}

// tokensShown is the number of tokens on a page of those of everybody.
const tokensShown = 100

// allTokens lists the tokens for programs of everybody, or of one person.
func (rq *request) allTokens() error {
	of := idIn(rq, "of", crowd.ParseWorkerID)
	before, _ := strconv.ParseInt(rq.r.URL.Query().Get("before"), 10, 64) // what is no number is the first page
	list, err := rq.App.Accounts.AllTokens(rq.ctx(), rq.p, of, before, tokensShown)
	rq.check(err)
	data := map[string]any{"Tokens": list, "Of": of, "TenantNames": tenantNames(ask(rq, rq.App.Tenants.List))}
	if of != 0 {
		data["Owner"] = askOf(rq, of, rq.App.Accounts.User).Name
	}
	if len(list) == tokensShown {
		data["Before"] = list[len(list)-1].ID
	}
	return rq.render("alltokens", page{Title: "Tokens of everybody", Section: "admin", Data: data})
}

// endToken takes a token of somebody's away.
func (rq *request) endToken(id int64) error {
	f := rq.sent()
	of := parsed(f, "user", crowd.ParseWorkerID, func(text string) string { return text + " is nobody" })
	err := f.err()
	with := 0
	if err == nil {
		with, err = rq.App.Accounts.RevokeToken(rq.ctx(), rq.p, of, id)
	}
	return rq.done(err, "/admin/tokens", revoked(with))
}
