package access_test

import (
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

func TestShare(t *testing.T) {
	tenants := []crowd.TenantID{3, 5}
	for name, x := range map[string]struct {
		user  store.User
		token store.Token
		want  crowd.TenantID
	}{
		"worker":                         {store.User{Pool: 1}, store.Token{}, 0},
		"requester":                      {store.User{Tenants: tenants}, store.Token{}, 3},
		"requester who works":            {store.User{Tenants: tenants, Pool: 1}, store.Token{}, 3},
		"token of the second":            {store.User{Tenants: tenants}, store.Token{Tenant: 5}, 5},
		"token to work with":             {store.User{Tenants: tenants, Pool: 1}, store.Token{Roles: []string{string(access.Worker)}}, 0},
		"admin":                          {store.User{Admin: true, Tenants: tenants}, store.Token{}, -1},
		"admin's token of a tenant":      {store.User{Admin: true, Tenants: tenants}, store.Token{Tenant: 5}, 5},
		"suspended requester and worker": {store.User{Tenants: tenants, Pool: 1, Suspended: true}, store.Token{}, 0},
	} {
		if got := (&access.Principal{User: x.user, Token: x.token}).Share(); got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
}
