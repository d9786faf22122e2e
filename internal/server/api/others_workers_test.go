package api_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// TestOthersWorkersLookAbsent: who may see the names of a tenant's workers, and name them by their ids,
// does not learn by an id who works for others only, of any operation on a worker of theirs.
func TestOthersWorkersLookAbsent(t *testing.T) {
	t.Parallel()
	w := newStrangers(t)
	must(w.admin.GrantPool(w.ctx, 1, w.b, false))(t)
	far := must(w.admin.CreateUser(w.ctx, wire.NewUser{Name: "far", Pool: 1}))(t).ID
	serves := []crowd.TenantID{w.b}
	must(w.admin.EditUser(w.ctx, far, wire.UserEdit{Serves: &serves}))(t)
	must(w.admin.CreateRole(w.ctx, wire.NewRole{Name: "trusted", Tenant: w.a, Permissions: []string{"people.names"}}))(t)
	ann := must(w.ann.Me(w.ctx))(t).ID
	must(w.admin.GiveRole(w.ctx, ann, w.a.String()+"/trusted"))(t)
	asked := 0
	for _, o := range w.operations() {
		if !strings.Contains(o.path, "{worker}") {
			continue
		}
		id := w.running
		if strings.HasPrefix(o.path, "/v1/tenants/") {
			id = w.a.String()
		}
		of := func(worker string) answer {
			return w.send(w.ann, o.method, strings.NewReplacer("{id}", id, "{n}", "1", "{worker}", worker).Replace(o.path), bodies[o.name()])
		}
		theirs, none := of(far.String()), of("u999")
		if asked++; theirs.StatusCode == 403 || theirs.signature() != none.signature("u999", far.String()) {
			t.Errorf("%s tells another's worker from nobody:\n%s\n%s", o.name(), theirs.signature(), none.signature("u999", far.String()))
		}
	}
	if asked < 6 {
		t.Errorf("only %d operations are on a worker", asked)
	}
	// Whom they have blocked while they served everybody they may let back.
	all := []crowd.TenantID{}
	must(w.admin.EditUser(w.ctx, far, wire.UserEdit{Serves: &all}))(t)
	ok(t, w.ann.Block(w.ctx, w.a, far.String(), true))
	must(w.admin.EditUser(w.ctx, far, wire.UserEdit{Serves: &serves}))(t)
	ok(t, w.ann.Block(w.ctx, w.a, far.String(), false))
}
