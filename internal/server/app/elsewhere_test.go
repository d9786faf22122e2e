package app_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

// TestAPermissionForATenantShowsNothingOfAnother, for which somebody holds a role without it.
func TestAPermissionForATenantShowsNothingOfAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	looks := func(permissions ...string) *access.Principal {
		role := must(w.Accounts.CreateRole(w.ctx, w.admin, store.Role{Tenant: w.a, Name: "looks-" + permissions[0][:4], Permissions: permissions}))(t)
		return w.person(accounts.NewUser{Name: role.Name, Roles: []store.HeldRole{{Role: role.Name, Tenant: w.a}, {Role: "reviewer", Tenant: w.b}}})
	}

	w.clock.halt()
	w.step(time.Second)
	launched := w.launch(9, of(w.a, 1))
	w.launch(9, of(w.b, 1))
	for _, p := range w.workers {
		w.next(p)
	}
	for range 3 {
		w.step(10 * time.Second)
	}
	v := w.fairness(looks("fairness.read"))
	if len(v.Tenants) != 1 || v.Tenants[0].Tenant != w.a || len(v.Batches) != 1 || v.Batches[0].Batch != launched || len(v.Points) == 0 {
		t.Errorf("the fairness is %+v, want only that of %s", v, w.a)
	}
	for _, p := range v.Points {
		if len(p.Tenants) != 1 || len(p.Batches) != 1 {
			t.Errorf("a point has %+v", p)
		}
	}

	must(w.Services.Declare(w.ctx, w.admin, "both", someService("http://192.0.2.1/x", 1, w.a, w.b)))(t)
	must(w.Services.Declare(w.ctx, w.admin, "other", someService("http://192.0.2.1/y", 1, w.b)))(t)
	p := looks("services.read")
	if list := must(w.Services.List(w.ctx, p))(t); len(list) != 1 || list[0].Name != "both" || len(list[0].Service.Tenants) != 1 || list[0].Service.Tenants[0] != w.a {
		t.Errorf("the services are %+v", list)
	}
	_, err := w.Services.Get(w.ctx, p, "other")
	refused(t, err, crowd.NotFound)

	both := w.person(accounts.NewUser{Name: "both", Roles: []store.HeldRole{{Role: "viewer", Tenant: w.a}, {Role: "requester", Tenant: w.b}}})
	for _, u := range must(w.Accounts.Users(w.ctx, looks("people.read"), w.a, 0, 100))(t) {
		if u.ID == both.User.ID && (len(u.Roles) != 1 || len(u.Tenants) > 0 || u.Roles[0].Tenant != w.a) {
			t.Errorf("of a colleague it shows %+v, %v", u.Roles, u.Tenants)
		}
	}
}
