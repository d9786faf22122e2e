package web

import (
	"maps"
	"net/http"
	"net/url"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/store"
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
func (s *server) admin(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	tenants, err := s.App.Tenants.List(r.Context(), p)
	if err != nil {
		return err
	}
	rows := make([]tenantRow, len(tenants))
	for i, t := range tenants {
		balance, _, err := s.App.Tenants.Account(r.Context(), p, t.ID, 0, 0)
		if err != nil {
			return err
		}
		rows[i] = tenantRow{t, balance, filled(t, bindTenant)}
	}
	pools, err := s.App.Pools.List(r.Context(), p)
	if err != nil {
		return err
	}
	stopped := len(pools) > 0
	list := make([]poolRow, len(pools))
	for i, v := range pools {
		stopped = stopped && v.Pool.Stopped
		list[i] = poolRow{v, filled(v.Pool, bindPoolName)}
	}
	return s.render(w, r, p, "admin", page{Title: "Administration", Section: "admin", Data: map[string]any{
		"Tenants": rows, "Pools": list, "Stopped": stopped, "Policies": control.Policies(), "Policy": control.DefaultPolicy,
	}})
}

func (s *server) createTenant(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	f := sent(r)
	weight, err := f.number("weight"), f.err()
	if err == nil {
		_, err = s.App.Tenants.Create(r.Context(), p, accounts.NewTenant{Name: f.text("name"), Weight: weight})
	}
	return done(w, r, err, "/admin", "saved")
}

func bindTenant(b binding, t *store.Tenant) {
	b.words("name", &t.Name)
	b.figure("weight", &t.Weight)
}

func (s *server) editTenant(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.TenantID) error {
	_, err := s.App.Tenants.Change(r.Context(), p, id, saving(sent(r), bindTenant))
	return done(w, r, err, "/admin", "saved")
}

func (s *server) deposit(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.TenantID) error {
	f := sent(r)
	amount, err := f.money("amount"), f.err()
	if err == nil {
		err = s.App.Tenants.Deposit(r.Context(), p, id, amount, f.text("note"))
	}
	return done(w, r, err, "/admin", "deposited")
}

func (s *server) createPool(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	f := sent(r)
	_, err := s.App.Pools.Create(r.Context(), p, f.text("name"), f.text("policy"))
	return done(w, r, err, "/admin", "saved")
}

// bindPoolName goes over the form of a pool on the page of all pools.
func bindPoolName(b binding, p *store.Pool) {
	b.words("name", &p.Name)
	b.words("policy", &p.Policy)
}

func (s *server) editPool(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.PoolID) error {
	_, err := s.App.Pools.Change(r.Context(), p, id, saving(sent(r), bindPoolName))
	return done(w, r, err, "/admin", "saved")
}

// The emergency stops, and their lifting: of everything, of a pool, and of a tenant
// on the admin's page and on its own.

func (s *server) stopEverything(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	stopped, did := stopping(r)
	return done(w, r, s.App.Pools.StopEverything(r.Context(), p, stopped), "/admin", did)
}

func (s *server) stopPool(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.PoolID) error {
	stopped, did := stopping(r)
	_, err := s.App.Pools.Update(r.Context(), p, id, control.PoolEdit{Stopped: &stopped})
	return done(w, r, err, "/admin", did)
}

func (s *server) stopTenantHere(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.TenantID) error {
	stopped, did := stopping(r)
	_, err := s.App.Tenants.Update(r.Context(), p, id, accounts.TenantEdit{Stopped: &stopped})
	return done(w, r, err, "/admin", did)
}

func (s *server) stopTenant(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.TenantID) error {
	stopped, did := stopping(r)
	_, err := s.App.Tenants.Update(r.Context(), p, id, accounts.TenantEdit{Stopped: &stopped})
	return done(w, r, err, "/tenants/"+id.String(), did)
}

// stopping reads whether the form of an emergency stop begins it, and the notice for that.
func stopping(r *http.Request) (stopped bool, did string) {
	if sent(r).text("stopped") != "" {
		return true, "stopped"
	}
	return false, "restarted"
}

// newcomer is somebody who was just given a one-time link.
type newcomer struct{ Name, Link string }

// people lists everybody, with the form to add people.
func (s *server) people(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	after, err := idIn(r, "after", crowd.ParseWorkerID)
	if err != nil {
		return err
	}
	list, err := s.App.Accounts.Users(r.Context(), p, 0, after, peopleShown)
	if err != nil {
		return err
	}
	data, err := s.menus(r, p)
	if err != nil {
		return err
	}
	data["People"], data["Added"] = list, madeOf[*newcomer](r)
	if len(list) == peopleShown {
		data["After"] = list[len(list)-1].ID
	}
	return s.render(w, r, p, "people", page{Title: "People", Section: "admin", Data: data})
}

// menus are the tenants and pools to choose from, and their names.
func (s *server) menus(r *http.Request, p *access.Principal) (map[string]any, error) {
	tenants, err := s.App.Tenants.List(r.Context(), p)
	if err != nil {
		return nil, err
	}
	pools, err := s.App.Pools.List(r.Context(), p)
	return map[string]any{
		"Tenants": tenants, "TenantNames": tenantNames(tenants), "PoolNames": poolNames(pools),
		"PoolMenu": menu(pools, poolChoice, choice{"", "– not a worker –"}),
	}, err
}

// bindPerson goes over what an admin says of a person: who they are, and their roles.
func bindPerson(b binding, u *store.User) {
	b.words("full_name", &u.FullName)
	b.words("email", &u.Email)
	b.tick("admin", &u.Admin)
	several(b, "tenants", &u.Tenants, crowd.ParseTenantID, crowd.TenantID.String)
	bound(b, "pool", &u.Pool, b.pool, idText)
	bound(b, "qualifications", &u.Qualifications, b.qualifications, scoreLines)
}

// qualifications reads those that a person has.
func (f *fields) qualifications(name string) map[string]int {
	if list := maps.Collect(f.scores(name, 100)); len(list) > 0 {
		return list
	}
	return nil
}

// createPerson adds somebody and shows their one-time link, this once.
func (s *server) createPerson(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	f := sent(r)
	var u store.User
	bindPerson(binding{fields: f}, &u)
	n := accounts.NewUser{Name: f.text("name"), FullName: u.FullName, Email: u.Email, Admin: u.Admin, Tenants: u.Tenants, Pool: u.Pool, Qualifications: u.Qualifications}
	if err := f.err(); err != nil {
		return err
	}
	_, secret, err := s.App.Accounts.CreateUser(r.Context(), p, n)
	if err != nil {
		return err
	}
	return s.people(w, showing(r, once{made: &newcomer{n.Name, s.setupURL(r, secret)}}), p)
}

// setupURL is the one-time link with which somebody chooses their password.
func (s *server) setupURL(r *http.Request, secret string) string {
	return s.origin(r) + "/setup?token=" + url.QueryEscape(secret)
}

// person shows somebody, to be changed.
func (s *server) person(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.WorkerID) error {
	u, err := s.App.Accounts.User(r.Context(), p, id)
	if err != nil {
		return err
	}
	data, err := s.menus(r, p)
	if err != nil {
		return err
	}
	data["U"], data["Pool"], data["Qualifications"], data["Added"] = u, idText(u.Pool), scoreLines(u.Qualifications), madeOf[*newcomer](r)
	data["Filled"] = filled(u, bindPerson)
	return s.render(w, r, p, "person", page{Title: u.Name, Section: "admin", Data: data})
}

func (s *server) editPerson(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.WorkerID) error {
	_, err := s.App.Accounts.ChangeUser(r.Context(), p, id, saving(sent(r), bindPerson))
	return done(w, r, err, "/admin/people/"+id.String(), "saved")
}

// suspend takes somebody's access away for the time being, or gives it back.
func (s *server) suspend(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.WorkerID) error {
	suspended := sent(r).text("suspended") != ""
	_, err := s.App.Accounts.UpdateUser(r.Context(), p, id, accounts.UserEdit{Suspended: &suspended})
	return done(w, r, err, "/admin/people/"+id.String(), "saved")
}

// newLink gives somebody a new one-time link and shows it, this once.
func (s *server) newLink(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.WorkerID) error {
	secret, err := s.App.Accounts.NewSetupLink(r.Context(), p, id)
	if err != nil {
		return err
	}
	u, err := s.App.Accounts.User(r.Context(), p, id)
	if err != nil {
		return err
	}
	return s.person(w, showing(r, once{made: &newcomer{u.Name, s.setupURL(r, secret)}}), p, id)
}
