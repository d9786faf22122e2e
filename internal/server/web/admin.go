package web

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/sched"
)

// peopleShown is the number of people on a page of the list.
const peopleShown = 100

// tenantRow is a tenant with what it has.
type tenantRow struct {
	store.Tenant
	Balance crowd.Money
	Filled  url.Values
}

// poolRow is a pool with its form.
type poolRow struct {
	control.PoolView
	Filled url.Values
}

// admin shows tenants and pools.
func (rq *request) admin() error {
	tenants := ask(rq, rq.App.Tenants.List)
	rows := lists.Map(tenants, func(t store.Tenant) tenantRow { return tenantRow{t, rq.balance(t.ID), filled(t, bindTenant)} })
	pools := ask(rq, rq.App.Pools.List)
	stopped := len(pools) > 0
	list := make([]poolRow, len(pools))
	for i, v := range pools {
		stopped = stopped && v.Pool.Stopped
		list[i] = poolRow{v, filled(v.Pool, bindPoolName)}
	}
	return rq.render("admin", page{Title: "Administration", Section: "admin", Data: map[string]any{
		"Tenants": rows, "Pools": list, "Stopped": stopped, "Policies": control.Policies(), "Policy": sched.Default,
	}})
}

func (rq *request) createTenant() error {
	f := rq.sent()
	most := f.number("max_priority")
	n := accounts.NewTenant{Name: f.text("name"), Weight: f.number("weight"), MaxPriority: &most}
	err := f.err()
	if err == nil {
		_, err = rq.App.Tenants.Create(rq.ctx(), rq.p, n)
	}
	return rq.done(err, "/admin", "saved")
}

func bindTenant(b binding, t *store.Tenant) {
	b.words("name", &t.Name)
	b.figure("weight", &t.Weight)
	b.figure("max_priority", &t.MaxPriority)
}

func (rq *request) editTenant(id crowd.TenantID) error {
	_, err := rq.App.Tenants.Change(rq.ctx(), rq.p, id, saving(rq.sent(), bindTenant))
	return rq.done(err, "/admin", "saved")
}

// deposit puts money into a tenant's account, or takes it out, on the page of all tenants.
func (rq *request) deposit(id crowd.TenantID) error { return rq.depositFrom("/admin", id) }

// depositHere is deposit on the tenant's page, which who looks after money sees.
func (rq *request) depositHere(id crowd.TenantID) error {
	return rq.depositFrom("/tenants/"+id.String(), id)
}

func (rq *request) depositFrom(page string, id crowd.TenantID) error {
	f := rq.sent()
	amount, err := f.money("amount"), f.err()
	if err == nil && amount < 0 {
		err = crowd.Fieldf("amount", "%s is not an amount (more than 0; Take out takes it out)", amount)
	}
	done := "deposited"
	if f.text("do") == "take out" {
		amount, done = -amount, "taken"
	}
	if err == nil {
		err = rq.App.Tenants.Deposit(rq.ctx(), rq.p, id, amount, f.text("note"))
	}
	return rq.done(err, page, done)
}

func (rq *request) createPool() error {
	f := rq.sent()
	_, err := rq.App.Pools.Create(rq.ctx(), rq.p, f.text("name"), f.text("policy"))
	return rq.done(err, "/admin", "saved")
}

// bindPoolName goes over the form of a pool on the page of all pools.
func bindPoolName(b binding, p *store.Pool) {
	b.words("name", &p.Name)
	b.words("policy", &p.Policy)
}

func (rq *request) editPool(id crowd.PoolID) error {
	_, err := rq.App.Pools.Change(rq.ctx(), rq.p, id, saving(rq.sent(), bindPoolName))
	return rq.done(err, "/admin", "saved")
}

// The emergency stops, and their lifting: of everything, of a pool, and of a tenant
// on the admin's page and on its own.

func (rq *request) stopEverything() error {
	return rq.stop("/admin", func(stopped bool) error { return rq.App.Pools.StopEverything(rq.ctx(), rq.p, stopped) })
}

func (rq *request) stopPool(id crowd.PoolID) error {
	return rq.stop("/admin", func(stopped bool) error {
		_, err := rq.App.Pools.Change(rq.ctx(), rq.p, id, func(now *store.Pool) error { now.Stopped = stopped; return nil })
		return err
	})
}

func (rq *request) stopTenantHere(id crowd.TenantID) error { return rq.stopTenantOf(id, "/admin") }

func (rq *request) stopTenant(id crowd.TenantID) error {
	return rq.stopTenantOf(id, "/tenants/"+id.String())
}

func (rq *request) stopTenantOf(id crowd.TenantID, page string) error {
	return rq.stop(page, func(stopped bool) error {
		_, err := rq.App.Tenants.Update(rq.ctx(), rq.p, id, accounts.TenantEdit{Stopped: &stopped})
		return err
	})
}

// stop begins an emergency stop or lifts it, as the form says, and goes back to a page.
func (rq *request) stop(page string, set func(stopped bool) error) error {
	stopped, did := rq.sent().text("stopped") != "", "restarted"
	if stopped {
		did = "stopped"
	}
	return rq.done(set(stopped), page, did)
}

// newcomer is somebody who was just given a one-time link.
type newcomer struct{ Name, Link string }

// people lists everybody, with the form to add people.
func (rq *request) people() error {
	list, err := rq.App.Accounts.Users(rq.ctx(), rq.p, 0, idIn(rq, "after", crowd.ParseWorkerID), peopleShown)
	rq.check(err)
	data := rq.menus()
	data["People"], data["Added"] = list, madeOf[*newcomer](rq)
	if len(list) == peopleShown {
		data["After"] = list[len(list)-1].ID
	}
	return rq.render("people", page{Title: "People", Section: "admin", Data: data})
}

// menus are the tenants and pools to choose from, and their names.
func (rq *request) menus() map[string]any {
	tenants, pools := ask(rq, rq.App.Tenants.List), ask(rq, rq.App.Pools.List)
	return map[string]any{
		"Tenants": tenants, "TenantNames": tenantNames(tenants), "PoolNames": poolNames(pools),
		"PoolMenu": menu(pools, poolChoice, choice{"", "– not a worker –"}),
	}
}

// bindPerson goes over what an admin says of a person: who they are, and their roles.
// Qualifications of tenants are written with the tenants' names.
func (rq *request) bindPerson() func(binding, *store.User) {
	names := accounts.NamesOf(ask(rq, rq.App.Tenants.List))
	return func(b binding, u *store.User) { bindPerson(rq.p, b, u, names) }
}

func bindPerson(p *access.Principal, b binding, u *store.User, names accounts.Names) {
	b.words("full_name", &u.FullName)
	email := u.Email
	b.words("email", &email)
	if p.May(access.AccountsVouch) == nil {
		u.Email = email
		b.tick("email_verified", &u.EmailVerified)
	} else { // their form does not ask
		accounts.SetEmail(p, u, email)
	}
	b.tick("admin", &u.Admin)
	bound(b, "roles", &u.Roles, b.heldRoles, heldText)
	several(b, "tenants", &u.Tenants, crowd.ParseTenantID, crowd.TenantID.String)
	several(b, "serves", &u.Serves, crowd.ParseTenantID, crowd.TenantID.String)
	bound(b, "pool", &u.Pool, b.pool, idText)
	held := names.Held(*u)
	bound(b, "qualifications", &held, b.qualifications, scoreLines)
	if !b.filling && !maps.Equal(held, names.Held(*u)) {
		u.Qualifications, u.Granted = held, nil
	}
}

// qualifications reads those that a person has.
func (f *fields) qualifications(name string) map[string]int {
	list := f.scores(name, crowd.MaxScore)
	if len(list) == 0 {
		return nil
	}
	held := make(map[string]int, len(list))
	for _, q := range list {
		held[q.Name] = q.Score
	}
	return held
}

// heldRoles reads roles, such as n1/viewer, separated by spaces.
func (f *fields) heldRoles(name string) (list []store.HeldRole) {
	for _, text := range strings.Fields(f.text(name)) {
		h, err := store.ParseHeldRole(name, text)
		if err != nil {
			f.bad(name, "%q is not a role, such as viewer, or n1/viewer for the tenant n1", text)
			continue
		}
		list = append(list, h)
	}
	return list
}

func heldText(list []store.HeldRole) string {
	return strings.Join(lists.Map(list, store.HeldRole.String), " ")
}

// createPerson adds somebody and shows their one-time link, this once.
func (rq *request) createPerson() error {
	f := rq.sent()
	var u store.User
	bindPerson(rq.p, binding{fields: f}, &u, nil)
	n := accounts.NewUser{Name: f.text("name"), FullName: u.FullName, Email: u.Email, Admin: u.Admin, Tenants: u.Tenants, Roles: u.Roles, Pool: u.Pool, Qualifications: u.Qualifications}
	if err := f.err(); err != nil {
		return err
	}
	_, secret, err := rq.App.Accounts.CreateUser(rq.ctx(), rq.p, n)
	if err != nil {
		return err
	}
	rq.made = &newcomer{n.Name, rq.setupURL(secret)}
	return rq.people()
}

// setupURL is the one-time link with which somebody chooses their password.
func (rq *request) setupURL(secret string) string {
	return rq.publicURL() + "/setup?token=" + url.QueryEscape(secret)
}

// person shows somebody, to be changed.
func (rq *request) person(id crowd.WorkerID) error {
	u := askOf(rq, id, rq.App.Accounts.User)
	data := rq.menus()
	data["HeldRoles"], data["U"], data["Pool"], data["Qualifications"], data["Added"] = heldText(u.Roles), u, idText(u.Pool), scoreLines(data["TenantNames"].(accounts.Names).Held(u)), madeOf[*newcomer](rq)
	tenants := data["Tenants"].([]store.Tenant)
	held := rq.heldRows(u, data["TenantNames"].(accounts.Names))
	data["Yours"] = !slices.ContainsFunc(held, func(h heldRow) bool { return !h.Takes })
	data["Held"], data["RoleMenu"], data["TenantMenu"] = held, rq.roleMenu(tenants), menu(tenants, tenantChoice, choice{"", "the installation"})
	data["Filled"], data["Factors"] = filled(u, rq.bindPerson()), askOf(rq, id, rq.App.Accounts.Factors)
	data["Address"] = askOf(rq, id, rq.App.Accounts.Address)
	return rq.render("person", page{Title: u.Name, Section: "admin", Data: data})
}

func (rq *request) editPerson(id crowd.WorkerID) error {
	_, err := rq.App.Accounts.ChangeUser(rq.ctx(), rq.p, id, saving(rq.sent(), rq.bindPerson()))
	return rq.done(err, "/admin/people/"+id.String(), "saved")
}

// suspend takes somebody's access away for the time being, or gives it back.
func (rq *request) suspend(id crowd.WorkerID) error {
	suspended := rq.sent().text("suspended") != ""
	_, err := rq.App.Accounts.ChangeUser(rq.ctx(), rq.p, id, func(u *store.User) error { u.Suspended = suspended; return nil })
	did := "saved"
	if suspended {
		did = "suspended"
	}
	return rq.done(err, "/admin/people/"+id.String(), did)
}

// resetFactors takes the second factors of somebody away who has lost them.
func (rq *request) resetFactors(id crowd.WorkerID) error {
	return rq.done(rq.App.Accounts.ResetFactors(rq.ctx(), rq.p, id), "/admin/people/"+id.String(), "reset")
}

// newLink gives somebody a new one-time link and shows it, this once.
func (rq *request) newLink(id crowd.WorkerID) error {
	secret := askOf(rq, id, rq.App.Accounts.NewSetupLink)
	u := askOf(rq, id, rq.App.Accounts.User)
	rq.made = &newcomer{u.Name, rq.setupURL(secret)}
	return rq.person(id)
}
