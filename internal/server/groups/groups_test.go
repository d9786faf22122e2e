package groups_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/groups"
	"github.com/throng-dev/throng/internal/store"
)

func complete(t *testing.T, m groups.Mapping) groups.Mapping {
	t.Helper()
	if err := m.Complete("groups"); err != nil {
		t.Fatal(err)
	}
	return m
}

func held(t *testing.T, texts ...string) (list []store.HeldRole) {
	t.Helper()
	for _, text := range texts {
		h, err := store.ParseHeldRole("role", text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, h)
	}
	return list
}

// TestBecome: people become what their groups make them, and lose what only other groups
// give. What the mapping does not speak of stays.
func TestBecome(t *testing.T) {
	t.Parallel()
	m := complete(t, groups.Mapping{
		"root":  {Admin: true},
		"north": {Tenants: []string{"n1", "n2"}, Roles: []string{"n3/viewer"}},
		"desk":  {Roles: []string{"operator", "checker", "n1/requester"}, InPool: "p4"},
		"crowd": {InPool: "p3"},
	})
	before := store.User{
		Admin: true, Tenants: []crowd.TenantID{2, 5}, Roles: held(t, "finance", "n3/viewer", "n4/viewer"), Pool: 3,
	}
	for name, x := range map[string]struct {
		in      []string
		pool    bool
		admin   bool
		tenants []crowd.TenantID
		roles   []store.HeldRole
		in3     crowd.PoolID
	}{
		"none":         {nil, true, false, []crowd.TenantID{5}, held(t, "finance", "n4/viewer"), 0},
		"an unknown":   {[]string{"Root"}, true, false, []crowd.TenantID{5}, held(t, "finance", "n4/viewer"), 0},
		"one":          {[]string{"north"}, true, false, []crowd.TenantID{1, 2, 5}, held(t, "finance", "n3/viewer", "n4/viewer"), 0},
		"roles":        {[]string{"desk", "root"}, true, true, []crowd.TenantID{1, 5}, held(t, "finance", "operator", "n4/viewer"), 4},
		"two pools":    {[]string{"crowd", "desk"}, true, false, []crowd.TenantID{1, 5}, held(t, "finance", "operator", "n4/viewer"), 3},
		"without pool": {[]string{"desk"}, false, false, []crowd.TenantID{1, 5}, held(t, "finance", "operator", "n4/viewer"), 3},
	} {
		u := before
		m.Become(&u, x.in, func(h store.HeldRole) bool { return h.Role != "checker" }, x.pool)
		if u.Admin != x.admin || !slices.Equal(u.Tenants, x.tenants) || !slices.Equal(u.Roles, x.roles) || u.Pool != x.in3 {
			t.Errorf("%s: %+v", name, u)
		}
		again := u
		m.Become(&again, x.in, func(h store.HeldRole) bool { return h.Role != "checker" }, x.pool)
		if !slices.Equal(u.Tenants, again.Tenants) || !slices.Equal(u.Roles, again.Roles) || u.Admin != again.Admin || u.Pool != again.Pool {
			t.Errorf("%s, twice: %+v", name, again)
		}
	}
	if !slices.Equal(before.Roles, held(t, "finance", "n3/viewer", "n4/viewer")) || !slices.Equal(before.Tenants, []crowd.TenantID{2, 5}) {
		t.Errorf("who was there before was changed, too: %+v", before)
	}
	if own := m.Of([]string{"other"}); !own.Nothing() {
		t.Errorf("an unknown group gives %+v", own)
	}
	if own := m.Of([]string{"crowd"}); own.Nothing() {
		t.Error("a pool is nothing")
	}
	// Who is lent to another pool belongs to that of their group.
	lent := store.User{Pool: 7, Home: 3}
	if m.Become(&lent, []string{"crowd"}, func(store.HeldRole) bool { return true }, true); lent.Pool != 7 || lent.Home != 3 {
		t.Errorf("who was lent: %+v", lent)
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		grant groups.Grant
		says  string
	}{
		"no tenant":           {groups.Grant{Tenants: []string{"north"}}, `groups.g.tenants: "north" is not a tenant, like n1`},
		"no pool":             {groups.Grant{InPool: "main"}, `groups.g.pool: "main" is not a pool, like p1`},
		"no role":             {groups.Grant{Roles: []string{""}}, `groups.g.roles: "" is not a role`},
		"no tenant's role":    {groups.Grant{Roles: []string{"north/viewer"}}, `groups.g.roles: "north/viewer" is not a role`},
		"too many parts":      {groups.Grant{Roles: []string{"n1/viewer/x"}}, "is not a role"},
		"a worker":            {groups.Grant{Roles: []string{"worker"}}, "groups.g.roles: worker is the role of who is in a pool"},
		"an admin of one":     {groups.Grant{Roles: []string{"n1/admin"}}, "groups.g.roles: admin is held for the installation"},
		"a requester of none": {groups.Grant{Roles: []string{"requester"}}, "groups.g.roles: requester is held for a tenant: say n1/requester"},
	} {
		if err := (groups.Mapping{"g": x.grant}).Complete("groups"); err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v, want %q", name, err, x.says)
		}
	}
}
