package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

// TestWhoIsNotNamed: nothing that somebody can list or look at names what is none of their
// business: workers hear of their own pool alone and of none of the staff, people of a tenant
// of no other tenant, none of its people and no pool that is not granted to them.
func TestWhoIsNotNamed(t *testing.T) {
	t.Parallel()
	w := newStrangers(t)
	must(w.admin.CreatePool(w.ctx, "Hushedpool", ""))(t)
	far := must(w.admin.CreateTenant(w.ctx, wire.NewTenant{Name: "Hushedtenant"}))(t).ID.String()
	staff := w.person(wire.NewUser{Name: "hushedstaff", FullName: "Hushed Staff", Email: "hushed@example.org", Roles: []string{far + "/requester"}})
	w.person(wire.NewUser{Name: "hushedoperator", Email: "operator-hushed@example.org", Roles: []string{"operator"}})
	must(w.admin.CreateUser(w.ctx, wire.NewUser{Name: "hushedworker", Pool: 3}))(t)
	must(staff.CreateRole(w.ctx, wire.NewRole{Name: "hushedrole", Permissions: []string{"batches.read"}}))(t)
	asked := 0
	for _, o := range w.operations() {
		if o.method != http.MethodGet || strings.Contains(o.path, "{") || strings.HasSuffix(o.path, "/events") || o.path == "/v1/openapi.json" {
			continue
		}
		for who, c := range map[string]*client.Client{"a worker": w.workers[0], "a requester": w.bob} {
			a := w.send(c, o.method, o.path, "")
			if asked++; strings.Contains(strings.ToLower(string(a.body)), "hushed") {
				t.Errorf("%s tells %s: %s", o.name(), who, a.body)
			}
			if who != "a worker" || a.StatusCode != http.StatusOK {
				continue
			}
			for _, name := range []string{`"ann"`, `"bob"`, `"root"`, `"ants"`, `"bees"`, `"theirs"`} {
				if strings.Contains(string(a.body), name) {
					t.Errorf("%s tells %s of %s: %s", o.name(), who, name, a.body)
				}
			}
		}
	}
	if asked < 40 {
		t.Errorf("only %d were asked", asked)
	}
	// Names of what tenants have are theirs alone: the same one may be another's.
	if role := must(w.ann.CreateRole(w.ctx, wire.NewRole{Name: "hushedrole", Permissions: []string{"batches.read"}}))(t); role.Tenant != w.a {
		t.Errorf("the role is %+v", role)
	}
}
