package app_test

import (
	"fmt"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

// TestNewNamesMeanOneThing: no new tenant or pool has a name that the command line takes for
// something else, nor one that differs from another by capitals only; those that were made
// before are changed as ever.
func TestNewNamesMeanOneThing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	old := must(w.store.CreateTenant(w.ctx, store.Tenant{Name: "all", Weight: 1, MaxPriority: 1, CreatedAt: w.clock.now()}, 0))(t)
	capitals := must(w.store.CreateTenant(w.ctx, store.Tenant{Name: "Ants", Weight: 1, MaxPriority: 1, CreatedAt: w.clock.now()}, 0))(t)
	pool := must(w.store.CreateTenant(w.ctx, store.Tenant{Name: "p1", Weight: 1, MaxPriority: 1, CreatedAt: w.clock.now()}, 0))(t)
	made := 0
	for name, want := range map[string]crowd.Code{
		"all": crowd.Invalid, "ALL": crowd.Invalid, "none": crowd.Invalid, "None": crowd.Invalid, "n7": crowd.Invalid,
		"p1": crowd.Invalid, "P1": crowd.Invalid, "b12": crowd.Invalid, "r3": crowd.Invalid, "u5": crowd.Invalid, "t1.2": crowd.Invalid, "a1.2": crowd.Invalid,
		"aNTS": crowd.Conflict, "ants": crowd.Conflict, "overall": "", "n7 north": "", "p0": "", "q1": "", "p1 north": "",
	} {
		_, err := w.Tenants.Create(w.ctx, w.admin, accounts.NewTenant{Name: name, Weight: 1})
		refused(t, err, want)
		made++
		other := fmt.Sprint("tenant ", made)
		id := must(w.Tenants.Create(w.ctx, w.admin, accounts.NewTenant{Name: other, Weight: 1}))(t).ID
		if want == "" {
			name += " too"
		}
		_, err = w.Tenants.Update(w.ctx, w.admin, id, accounts.TenantEdit{Name: &name})
		refused(t, err, want)
		if got := must(w.store.Tenant(w.ctx, id))(t).Name; got != other && want != "" {
			t.Errorf("the refused name %q was kept", got)
		}
	}
	for id, name := range map[crowd.TenantID]string{old: "all", capitals: "Ants", pool: "p1"} {
		weight := 2.0
		must(w.Tenants.Update(w.ctx, w.admin, id, accounts.TenantEdit{Name: &name, Weight: &weight}))(t)
	}
	lower := "ants and others"
	must(w.Tenants.Update(w.ctx, w.admin, capitals, accounts.TenantEdit{Name: &lower}))(t)

	main := must(w.store.Pool(w.ctx, w.pool))(t).Name
	if main != "main" {
		t.Fatalf("the pool is %s", main)
	}
	_, err := w.Pools.Create(w.ctx, w.admin, "Main", "fifo")
	refused(t, err, crowd.Conflict)
	night := must(w.Pools.Create(w.ctx, w.admin, "night", "fifo"))(t).ID
	rename := func(name string) error {
		return second(w.Pools.Change(w.ctx, w.admin, night, func(now *store.Pool) error { now.Name = name; return nil }))
	}
	refused(t, rename("MAIN"), crowd.Conflict)
	ok(t, rename("Night"))
}

// TestNamesOfPeopleAreNoIDs: nobody new is called as somebody's id or pseudonym looks, and whoever is keeps it.
func TestNamesOfPeopleAreNoIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	u := must(w.store.User(w.ctx, must(w.store.CreateUser(w.ctx, store.User{Name: "u007", CreatedAt: w.clock.now()}))(t)))(t)
	must(w.Accounts.ChangeUser(w.ctx, w.admin, u.ID, func(u *store.User) error { u.FullName = "James"; return nil }))(t)
	for name, want := range map[string]crowd.Code{
		"u5": crowd.Invalid, "U5": crowd.Invalid, "u05": crowd.Invalid, "u+5": crowd.Invalid, "u-5": crowd.Invalid, "me": crowd.Invalid, "ME": crowd.Invalid,
		"w_abc": crowd.Invalid, "W_abc": crowd.Invalid, "u5b": "", "you": "", "5": "", "uu5": "", "u": "",
	} {
		_, _, err := w.Accounts.CreateUser(w.ctx, w.admin, accounts.NewUser{Name: name})
		refused(t, err, want)
	}
}
