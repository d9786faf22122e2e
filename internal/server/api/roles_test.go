package api_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/throng-dev/throng/internal/wire"
)

// TestARoleIsTakenForItsTenant: of somebody who holds a role for two tenants and for the
// installation, that which is named is taken, also by a requester of the tenant.
func TestARoleIsTakenForItsTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := []string{"viewer", "n1/viewer", "n2/viewer"}
	for _, x := range []struct {
		by    string
		query string
		left  []string
	}{
		{"admin", "", all[1:]},
		{"admin", "?tenant=n1", []string{"viewer", "n2/viewer"}},
		{"requester", "?tenant=n1", []string{"viewer", "n2/viewer"}},
		{"admin", "?tenant=n2", all[:2]},
		{"requester", "?tenant=n2", all},
	} {
		id := w.admin
		if x.by == "requester" {
			id = w.ann
		}
		who := must(w.admin.CreateUser(w.ctx, wire.NewUser{Name: "v" + x.by + x.query[max(0, len(x.query)-2):], Roles: all}))(t).User
		w.send(id, http.MethodDelete, "/v1/users/"+who.ID.String()+"/roles/viewer"+x.query, "")
		now := must(w.admin.User(w.ctx, who.ID))(t)
		if !slices.Equal(now.Roles, x.left) {
			t.Errorf("after %s took viewer%s: %v, want %v", x.by, x.query, now.Roles, x.left)
		}
	}
}
