package storetest

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

func testRoles(t *testing.T, w *world) {
	everywhere := store.Role{Name: "checker", Text: "looks <twice>", Permissions: []string{"review", "results.read"}, CreatedAt: w.now}
	ours := store.Role{Tenant: w.mine, Name: "checker", Permissions: []string{"review"}, CreatedAt: w.now}
	bare := store.Role{Tenant: w.other, Name: "a"}
	for _, r := range []store.Role{ours, bare, everywhere} {
		ok(t, w.CreateRole(w.ctx, r))
	}
	look := func(want ...store.Role) {
		t.Helper()
		same(t, "the list", must(w.ListRoles(w.ctx))(t), want)
	}
	look(everywhere, ours, bare)
	w.unchanged(t, func() {
		refused(t, w.CreateRole(w.ctx, store.Role{Tenant: w.mine, Name: "checker"}), crowd.Conflict)
		for _, r := range []store.Role{{Name: "a"}, {Tenant: w.mine, Name: "a"}, {Name: "Checker"}, {Tenant: w.other, Name: "checker"}, {}} {
			refused(t, w.UpdateRole(w.ctx, r), crowd.NotFound)
			refused(t, w.DeleteRole(w.ctx, r.Tenant, r.Name), crowd.NotFound)
		}
	})
	ours.Text, ours.Permissions = "ours", []string{"stop", "review"}
	changed := ours
	changed.CreatedAt = time.Time{} // not for the caller to change
	ok(t, w.UpdateRole(w.ctx, changed))
	look(everywhere, ours, bare)

	held := func(tenants ...crowd.TenantID) (list []store.HeldRole) {
		for _, tenant := range tenants {
			list = append(list, store.HeldRole{Role: "checker", Tenant: tenant})
		}
		return list
	}
	people := []store.User{
		{Name: "both", Roles: append(held(0), store.HeldRole{Role: "viewer"}, held(w.mine)[0])},
		{Name: "mine", Roles: held(w.mine)},
		{Name: "other", Roles: held(w.other)},
	}
	for i := range people {
		people[i].ID = must(w.CreateUser(w.ctx, people[i]))(t)
	}
	holding := func(roles ...[]store.HeldRole) {
		t.Helper()
		for i, want := range roles {
			same(t, people[i].Name, must(w.User(w.ctx, people[i].ID))(t).Roles, want)
		}
	}
	remove := func(tenant crowd.TenantID, name string, holders ...crowd.WorkerID) {
		t.Helper()
		same(t, "who holds it", must(w.RoleHolders(w.ctx, tenant, name))(t), holders)
		ok(t, w.DeleteRole(w.ctx, tenant, name))
	}
	// The installation's role is not what is held for a tenant with one of that name.
	remove(0, "checker", people[0].ID, people[2].ID)
	holding([]store.HeldRole{{Role: "viewer"}, {Role: "checker", Tenant: w.mine}}, held(w.mine), nil)
	remove(w.mine, "checker", people[0].ID, people[1].ID)
	holding([]store.HeldRole{{Role: "viewer"}}, nil, nil)
	remove(w.other, "a")
	look()
}
