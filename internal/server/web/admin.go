package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

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
	return s.showAdmin(w, r, p, nil)
}

func (s *server) showAdmin(w http.ResponseWriter, r *http.Request, p *access.Principal, f *form) error {
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
	return s.renderStatus(w, r, p, f.status(), "admin", page{Title: "Administration", Section: "admin", Form: f, Data: map[string]any{
		"Tenants": rows, "Pools": pools, "Stopped": stopped, "Policies": control.Policies(), "Policy": control.DefaultPolicy,
	}})
}

// adminForm does what a form on the admin page asks for.
func (s *server) adminForm(w http.ResponseWriter, r *http.Request, p *access.Principal, id, did string, do func(*fields) error) error {
	values := r.PostForm
	if err := do(&fields{values: values}); err != nil {
		return showAgain(err, refused(id, values, err), func(bad *form) error { return s.showAdmin(w, r, p, bad) })
	}
	return seeOther(w, r, "/admin", did)
}

func (s *server) stopEverything(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	return s.stopForm(w, r, func(stopped bool) error { return s.App.Pools.StopEverything(r.Context(), p, stopped) })
}

func (s *server) createTenant(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	return s.adminForm(w, r, p, "tenant", "saved", func(f *fields) error {
		weight := f.number("weight")
		if err := f.err(); err != nil {
			return err
		}
		_, err := s.App.Tenants.Create(r.Context(), p, f.text("name"), weight)
		return err
	})
}

func (s *server) editTenant(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.TenantID) error {
	return s.adminForm(w, r, p, "tenant-"+id.String(), "saved", func(f *fields) error {
		name, weight := f.text("name"), f.number("weight")
		if err := f.err(); err != nil {
			return err
		}
		_, err := s.App.Tenants.Update(r.Context(), p, id, accounts.TenantEdit{Name: &name, Weight: &weight})
		return err
	})
}

func (s *server) stopTenantHere(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.TenantID) error {
	return s.stopForm(w, r, func(stopped bool) error {
		_, err := s.App.Tenants.Update(r.Context(), p, id, accounts.TenantEdit{Stopped: &stopped})
		return err
	})
}

func (s *server) stopPool(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.PoolID) error {
	return s.stopForm(w, r, func(stopped bool) error {
		_, err := s.App.Pools.Update(r.Context(), p, id, control.PoolEdit{Stopped: &stopped})
		return err
	})
}

// stopForm is an emergency stop on the admin page, or its lifting.
func (s *server) stopForm(w http.ResponseWriter, r *http.Request, do func(stopped bool) error) error {
	values := r.PostForm
	stopped := values.Get("stopped") != ""
	if err := do(stopped); err != nil {
		return err
	}
	return seeOther(w, r, "/admin", stopNotice(stopped))
}

func (s *server) deposit(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.TenantID) error {
	return s.adminForm(w, r, p, "deposit-"+id.String(), "deposited", func(f *fields) error {
		amount := f.money("amount")
		if err := f.err(); err != nil {
			return err
		}
		return s.App.Tenants.Deposit(r.Context(), p, id, amount, f.text("note"))
	})
}

func (s *server) createPool(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	return s.adminForm(w, r, p, "pool", "saved", func(f *fields) error {
		_, err := s.App.Pools.Create(r.Context(), p, f.text("name"), f.text("policy"))
		return err
	})
}

func (s *server) editPool(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.PoolID) error {
	return s.adminForm(w, r, p, "pool-"+id.String(), "saved", func(f *fields) error {
		name, policy := f.text("name"), f.text("policy")
		_, err := s.App.Pools.Update(r.Context(), p, id, control.PoolEdit{Name: &name, Policy: &policy})
		return err
	})
}

// people lists everybody, and adds people.
func (s *server) people(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	return s.showPeople(w, r, p, nil, nil)
}

// newcomer is somebody who was just given a one-time link.
type newcomer struct{ Name, Link string }

func (s *server) showPeople(w http.ResponseWriter, r *http.Request, p *access.Principal, f *form, added *newcomer) error {
	var after crowd.WorkerID
	if text := r.URL.Query().Get("after"); text != "" {
		var err error
		if after, err = crowd.ParseWorkerID(text); err != nil {
			return err
		}
	}
	list, err := s.App.Accounts.Users(r.Context(), p, 0, after, peopleShown)
	if err != nil {
		return err
	}
	data, err := s.menus(r, p)
	if err != nil {
		return err
	}
	data["People"], data["Added"] = list, added
	if len(list) == peopleShown {
		data["After"] = list[len(list)-1].ID
	}
	return s.renderStatus(w, r, p, f.status(), "people", page{Title: "People", Section: "admin", Form: f, Data: data})
}

// menus are the tenants and pools to choose from, and their names.
func (s *server) menus(r *http.Request, p *access.Principal) (map[string]any, error) {
	tenants, err := s.App.Tenants.List(r.Context(), p)
	if err != nil {
		return nil, err
	}
	pools, err := s.App.Pools.List(r.Context(), p)
	if err != nil {
		return nil, err
	}
	names := make(map[crowd.PoolID]string, len(pools))
	menu := []choice{{"", "– not a worker –"}}
	for _, v := range pools {
		names[v.ID] = v.Name
		menu = append(menu, choice{v.ID.String(), v.Name})
	}
	return map[string]any{"Tenants": tenants, "TenantNames": tenantNames(tenants), "PoolMenu": menu, "PoolNames": names}, nil
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
	names, scores := f.scores("qualifications", 100)
	if len(names) > 0 {
		quals = make(map[string]int, len(names))
		for i, name := range names {
			quals[name] = scores[i]
		}
	}
	return f.text("admin") != "", tenants, pool, quals
}

// createPerson adds somebody and shows their one-time link, this once.
func (s *server) createPerson(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	values := r.PostForm
	f := &fields{values: values}
	n := accounts.NewUser{Name: f.text("name"), FullName: f.text("full_name"), Email: f.text("email")}
	n.Admin, n.Tenants, n.Pool, n.Qualifications = roleFields(f)
	secret, err := "", f.err()
	if err == nil {
		_, secret, err = s.App.Accounts.CreateUser(r.Context(), p, n)
	}
	if err != nil {
		return showAgain(err, refused("person", values, err), func(bad *form) error { return s.showPeople(w, r, p, bad, nil) })
	}
	return s.showPeople(w, r, p, nil, &newcomer{n.Name, s.setupURL(r, secret)})
}

// setupURL is the one-time link with which somebody chooses their password.
func (s *server) setupURL(r *http.Request, secret string) string {
	return s.origin(r) + "/setup?token=" + url.QueryEscape(secret)
}

// person shows somebody, to be changed.
func (s *server) person(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.WorkerID) error {
	return s.showPerson(w, r, p, id, nil, nil)
}

func (s *server) showPerson(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.WorkerID, f *form, link *newcomer) error {
	u, err := s.App.Accounts.User(r.Context(), p, id)
	if err != nil {
		return err
	}
	data, err := s.menus(r, p)
	if err != nil {
		return err
	}
	var quals strings.Builder
	for _, name := range sortedKeys(u.Qualifications) {
		quals.WriteString(name + " " + strconv.Itoa(u.Qualifications[name]) + "\n")
	}
	pool := ""
	if u.Pool != 0 {
		pool = u.Pool.String()
	}
	data["U"], data["Pool"], data["Qualifications"], data["Added"] = u, pool, quals.String(), link
	return s.renderStatus(w, r, p, f.status(), "person", page{Title: u.Name, Section: "admin", Form: f, Data: data})
}

func (s *server) editPerson(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.WorkerID) error {
	values := r.PostForm
	f := &fields{values: values}
	fullName, email := f.text("full_name"), f.text("email")
	isAdmin, tenants, pool, quals := roleFields(f)
	err := f.err()
	if err == nil {
		_, err = s.App.Accounts.UpdateUser(r.Context(), p, id, accounts.UserEdit{
			FullName: &fullName, Email: &email, Admin: &isAdmin, Tenants: &tenants, Pool: &pool, Qualifications: &quals,
		})
	}
	if err != nil {
		return showAgain(err, refused("person", values, err), func(bad *form) error { return s.showPerson(w, r, p, id, bad, nil) })
	}
	return seeOther(w, r, "/admin/people/"+id.String(), "saved")
}

// suspend takes somebody's access away for the time being, or gives it back.
func (s *server) suspend(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.WorkerID) error {
	values := r.PostForm
	suspended := values.Get("suspended") != ""
	_, err := s.App.Accounts.UpdateUser(r.Context(), p, id, accounts.UserEdit{Suspended: &suspended})
	if err != nil {
		return showAgain(err, refused("person", values, err), func(bad *form) error { return s.showPerson(w, r, p, id, &form{ID: "suspend", Errs: bad.Errs}, nil) })
	}
	return seeOther(w, r, "/admin/people/"+id.String(), "saved")
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
	return s.showPerson(w, r, p, id, nil, &newcomer{u.Name, s.setupURL(r, secret)})
}
