package web

import (
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
		rows[i] = tenantRow{t, balance}
	}
	pools, err := s.App.Pools.List(r.Context(), p)
	if err != nil {
		return err
	}
	stopped := len(pools) > 0
	for _, v := range pools {
		stopped = stopped && v.Pool.Stopped
	}
	return s.render(w, r, p, "admin", page{Title: "Administration", Section: "admin", Data: map[string]any{
		"Tenants": rows, "Pools": pools, "Stopped": stopped, "Policies": control.Policies(), "Policy": control.DefaultPolicy,
	}})
}

func (s *server) createTenant(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	f := sent(r)
	weight, err := f.number("weight"), f.err()
	if err == nil {
		_, err = s.App.Tenants.Create(r.Context(), p, f.text("name"), weight)
	}
	return done(w, r, err, "/admin", "saved")
}

func (s *server) editTenant(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.TenantID) error {
	f := sent(r)
	name, weight, err := f.text("name"), f.number("weight"), f.err()
	if err == nil {
		_, err = s.App.Tenants.Update(r.Context(), p, id, accounts.TenantEdit{Name: &name, Weight: &weight})
	}
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

func (s *server) editPool(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.PoolID) error {
	f := sent(r)
	name, policy := f.text("name"), f.text("policy")
	_, err := s.App.Pools.Update(r.Context(), p, id, control.PoolEdit{Name: &name, Policy: &policy})
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

// roleFields reads the roles of a person: admin, requester of tenants, worker
// of a pool, with qualifications.
func roleFields(f *fields) (admin bool, tenants []crowd.TenantID, pool crowd.PoolID, quals map[string]int) {
	for _, text := range f.values["tenants"] {
		id, err := crowd.ParseTenantID(text)
		if err != nil {
			f.bad("tenants", "there is no tenant %q", text)
			continue
		}
		tenants = append(tenants, id)
	}
	if text := f.text("pool"); text != "" {
		var err error
		if pool, err = crowd.ParsePoolID(text); err != nil {
			f.bad("pool", "there is no pool %q", text)
		}
	}
	for name, score := range f.scores("qualifications", 100) {
		if quals == nil {
			quals = make(map[string]int)
		}
		quals[name] = score
	}
	return f.text("admin") != "", tenants, pool, quals
}

// createPerson adds somebody and shows their one-time link, this once.
func (s *server) createPerson(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	f := sent(r)
	n := accounts.NewUser{Name: f.text("name"), FullName: f.text("full_name"), Email: f.text("email")}
	n.Admin, n.Tenants, n.Pool, n.Qualifications = roleFields(f)
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
	return s.render(w, r, p, "person", page{Title: u.Name, Section: "admin", Data: data})
}

func (s *server) editPerson(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.WorkerID) error {
	f := sent(r)
	fullName, email := f.text("full_name"), f.text("email")
	isAdmin, tenants, pool, quals := roleFields(f)
	err := f.err()
	if err == nil {
		_, err = s.App.Accounts.UpdateUser(r.Context(), p, id, accounts.UserEdit{
			FullName: &fullName, Email: &email, Admin: &isAdmin, Tenants: &tenants, Pool: &pool, Qualifications: &quals,
		})
	}
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
