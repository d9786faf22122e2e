package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// TestARoleIsTakenForItsTenant: of somebody who holds a role for two tenants and for the
// installation, that which is named is taken, also by a requester of the tenant.
func TestARoleIsTakenForItsTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := []string{"viewer", "n1/viewer", "n2/viewer"}
	for i, x := range []struct {
		by    string
		query string
		left  []string
	}{
		{"admin", "", all[1:]},
		{"admin", "?tenant=n1", []string{"viewer", "n2/viewer"}},
		{"requester", "?tenant=n1", []string{"viewer", "n2/viewer"}},
		{"admin", "?tenant=n2", all[:2]},
		{"requester", "?tenant=n2", all},
		{"admin", "n1/", []string{"viewer", "n2/viewer"}},
		{"requester", "n1/", []string{"viewer", "n2/viewer"}},
		{"admin", "n2/", all[:2]},
		{"requester", "n2/", all},
		{"admin", "n1/?tenant=n2", all},
		{"admin", "/", all},
	} {
		id, prefix, query := w.admin, "", x.query
		if before, after, named := strings.Cut(query, "/"); named {
			prefix, query = before+"/", after
		}
		if x.by == "requester" {
			id = w.ann
		}
		who := must(w.admin.CreateUser(w.ctx, wire.NewUser{Name: fmt.Sprintf("v%d", i), Roles: all}))(t).User
		w.send(id, http.MethodDelete, "/v1/users/"+who.ID.String()+"/roles/"+url.PathEscape(prefix+"viewer")+query, "")
		now := must(w.admin.User(w.ctx, who.ID))(t)
		if !slices.Equal(now.Roles, x.left) {
			t.Errorf("after %s took viewer%s: %v, want %v", x.by, x.query, now.Roles, x.left)
		}
	}
}

// TestWhatIsDoneIsToldToWhoMayNotLook: who may do something to a run and not look at it is not
// refused once it is done; who may see money sees that of pools, which they may not look at.
func TestWhatIsDoneIsToldToWhoMayNotLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(w.ann.CreateRole(w.ctx, wire.NewRole{Name: "maker", Permissions: []string{"batches.edit", "batches.launch", "budgets.change"}}))(t)
	maker := w.person(wire.NewUser{Name: "maker", Roles: []string{w.a.String() + "/maker"}})
	made := must(maker.MakeRun(w.ctx, wire.NewRun{Workflow: ourFlow}))(t)
	run := "/v1/runs/" + made.ID.String()
	if made.ID == 0 || made.State != "loading" || made.Tenant != w.a || len(made.Nodes) > 0 {
		t.Errorf("made: %+v", made)
	}
	for _, o := range []struct{ method, path, body, want string }{
		{http.MethodPut, run + "/inputs/things", "id,thing\n1,a dog\n", `"rows":1`},
		{http.MethodPost, run + "/start", "", `"state":"running"`},
		{http.MethodPost, run + "/pause", "", `"state":"paused"`},
		{http.MethodPost, run + "/resume", "", `"state":"running"`},
		{http.MethodPost, run + "/cancel", "", `"state":"cancelled"`},
	} {
		if a := w.send(maker, o.method, o.path, o.body); a.StatusCode != http.StatusOK || !strings.Contains(string(a.body), o.want) {
			t.Errorf("%s %s: status %d: %s", o.method, o.path, a.StatusCode, a.body)
		}
	}
	if a := w.send(maker, http.MethodGet, run, ""); a.StatusCode != http.StatusForbidden {
		t.Errorf("they look at it: status %d", a.StatusCode)
	}
	must(w.admin.FundPool(w.ctx, 1, crowd.Unit))(t)
	finance := w.person(wire.NewUser{Name: "fred", Roles: []string{"finance"}})
	if a := must(finance.PoolAccount(w.ctx, 1, 0, 9))(t); a.BalanceMicros != crowd.Unit || len(a.Entries) != 1 {
		t.Errorf("the account is %+v", a)
	}
}
