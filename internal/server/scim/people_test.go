package scim_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/audit"
	"github.com/throng-dev/throng/internal/store"
)

const deactivate = `{"Operations":[{"op":"Replace","path":"active","value":"False"}]}`

// TestDeactivation ends the waiting and the tokens of somebody within a second, and is
// lifted by the provider, but not in place of an administrator.
func TestDeactivation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.user("ann")
	w.group("crowd", ann)
	u := w.person(ann)
	_, secret, err := w.app.Accounts.CreateToken(t.Context(), w.admin, accounts.NewToken{Name: "x", For: u.ID})
	if err != nil {
		t.Fatal(err)
	}
	p := must(w.app.Accounts.Authenticate(t.Context(), secret, anywhere))(t)
	waits := make(chan error, 1)
	go func() { _, err := w.app.Work.Next(t.Context(), p, time.Minute); waits <- err }()
	begin := time.Now()
	w.send("PATCH", "/Users/"+ann, deactivate).want(200, "active", "false")
	select {
	case <-waits:
	case <-time.After(10 * time.Second):
		t.Fatal("they wait on")
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it took %s", took)
	}
	if _, err := w.app.Accounts.Authenticate(t.Context(), secret, anywhere); err == nil {
		t.Error("their token is good")
	}
	entries := must(w.store.AuditEntries(t.Context(), store.AuditFilter{Operation: "Provisioning.Change", Limit: 10}))(t)
	if len(entries) == 0 || entries[0].Actor != 0 || entries[0].Token == 0 || entries[0].Kind != "user" || entries[0].Object != u.ID.String() || string(entries[0].After) != `{"suspended":true,"suspended_by":"corp"}` {
		t.Errorf("the audit log tells %+v", entries)
	}
	w.send("PUT", "/Users/"+ann, `{"userName":"ann","externalId":"x-ann"}`).want(200, "active", "false") // it does not say
	w.send("PUT", "/Users/"+ann, `{"userName":"ann","externalId":"x-ann","active":true}`).want(200, "active", "true")
	if _, err := w.app.Accounts.ChangeUser(t.Context(), w.admin, u.ID, func(u *store.User) error { u.Suspended = true; return nil }); err != nil {
		t.Fatal(err)
	}
	// Whom somebody else suspended stays so, and the log tells nothing else.
	told := func() []store.AuditEntry {
		return must(w.store.AuditEntries(t.Context(), store.AuditFilter{Operation: "Provisioning.Change", Limit: 100}))(t)
	}
	entries = told()
	for range 2 {
		w.send("PUT", "/Users/"+ann, `{"userName":"ann","externalId":"x-ann","active":true}`).want(200, "active", "false")
	}
	if n := len(told()) - len(entries); n != 0 {
		t.Errorf("%d entries of what did not become: %s", n, told()[0].After)
	}
	w.send("PUT", "/Users/"+ann, `{"userName":"ann","externalId":"x-anne","active":true}`).want(200, "active", "false")
	if now := told(); len(now) != len(entries)+1 || strings.Contains(string(now[0].After), "active") || !strings.Contains(string(now[0].After), "x-anne") {
		t.Errorf("the log tells %s", now[0].After)
	}
}

// TestDeletion suspends, takes roles away, and gives the same person back to who comes
// again as the same, and to nobody else.
func TestDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.user("ann")
	group := w.group("crowd", ann)
	was := w.person(ann)
	w.send("DELETE", "/Users/"+ann, "").want(204)
	if u := must(w.store.User(t.Context(), was.ID))(t); !u.Suspended || u.Pool != 0 {
		t.Errorf("they are %+v", u)
	}
	w.send("GET", "/Groups/"+group, "").want(200, "members", "")
	other := w.send("POST", "/Users", `{"userName":"ann","externalId":"another"}`).want(201).get("id")
	if w.person(other).ID == was.ID {
		t.Error("another ann has got the account")
	}
	w.send("DELETE", "/Users/"+other, "").want(204)
	if again := w.person(w.user("ann")); again.ID != was.ID || again.Suspended {
		t.Errorf("they are %+v, and were %+v", again, was)
	}
}

// TestNoTakeover: whoever has a name or an address here keeps the account; only who signs in
// by the provider is theirs.
func TestNoTakeover(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	local := store.User{Name: "rita", Email: "rita@example.org", PasswordHash: "x"}
	local.ID = must(w.store.CreateUser(t.Context(), local))(t)
	comes := store.User{Name: "otto"}
	comes.ID = must(w.store.PutIdentity(t.Context(), store.Identity{Issuer: "https://corp.example", Subject: "sub-1", CreatedAt: time.Now()}, comes))(t)
	body := `{"userName":"rita","externalId":"x","emails":[{"value":"rita@example.org"}],"active":false}`
	if u := w.person(w.send("POST", "/Users", body).want(201).get("id")); u.ID == local.ID || u.Name != "rita-2" {
		t.Errorf("they are %+v", u)
	}
	if u := must(w.store.User(t.Context(), local.ID))(t); u.Suspended {
		t.Error("the account here is suspended")
	}
	id := w.send("POST", "/Users", `{"userName":"o","externalId":"sub-1"}`).want(201).get("id")
	if u := w.person(id); u.ID != comes.ID || u.Name != "otto" {
		t.Errorf("who signs in is %+v", u)
	}
	w.send("POST", "/Users", `{"userName":"o2","externalId":"sub-1"}`, "Authorization: Bearer "+w.other).want(201)
	w.send("PATCH", "/Users/"+id, deactivate).want(200)
	if u := must(w.store.User(t.Context(), comes.ID))(t); !u.Suspended {
		t.Error("who signs in is not suspended")
	}
}

// TestTheLastAdministrator stays one, and another one does not.
func TestTheLastAdministrator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.user("ann")
	group := w.group("root", ann)
	if !w.person(ann).Admin {
		t.Fatal("ann is no administrator")
	}
	if _, err := w.app.Accounts.Change(t.Context(), w.admin.User.ID, func(u *store.User) error { u.Suspended = true; return nil }); err != nil {
		t.Fatal(err)
	}
	w.send("PATCH", "/Users/"+ann, deactivate).want(409, "scimType", "")
	w.send("DELETE", "/Users/"+ann, "").want(409)
	w.send("PATCH", "/Groups/"+group, `{"Operations":[{"op":"remove","path":"members"}]}`).want(200)
	if u := w.person(ann); !u.Admin || u.Suspended {
		t.Errorf("they are %+v", u)
	}
	if _, err := w.app.Accounts.Change(t.Context(), w.admin.User.ID, func(u *store.User) error { u.Suspended = false; return nil }); err != nil {
		t.Fatal(err)
	}
	w.send("PATCH", "/Users/"+ann, deactivate).want(200)
}

// TestWhoLeavesAPoolsGroup leaves the pool at once, and what they hold goes to others.
func TestWhoLeavesAPoolsGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.user("ann")
	group := w.group("crowd", ann)
	u := w.person(ann)
	if u.Pool != crowd.PoolID(1) {
		t.Fatalf("they are %+v", u)
	}
	w.send("PATCH", "/Groups/"+group, `{"Operations":[{"op":"remove","path":"members[value eq \"`+ann+`\"]"}]}`).want(200)
	p := &access.Principal{User: w.person(ann)}
	if _, err := w.app.Work.Next(t.Context(), p, 0); crowd.CodeOf(err) != crowd.Forbidden {
		t.Errorf("they work: %v", err)
	}
}

// TestATenantHearsOfItsPeople: the tenant's part of the audit log tells who gets and loses
// roles for it by a group of the provider, and nothing of what else they are.
func TestATenantHearsOfItsPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	south := must(w.app.Tenants.Create(t.Context(), w.admin, accounts.NewTenant{Name: "south", Weight: 1}))(t).ID
	told := func(tenant crowd.TenantID) (list []string) {
		reader := store.User{ID: 900, Roles: []store.HeldRole{{Role: "viewer", Tenant: tenant}}}
		entries := must(w.app.Audit.List(t.Context(), &access.Principal{User: reader}, audit.Filter{AuditFilter: store.AuditFilter{Tenant: tenant, Kind: "user", Limit: 10}}))(t)
		for _, e := range entries {
			list = append(list, e.Who+" "+e.Summary+" "+string(e.Before)+string(e.After))
		}
		return list
	}
	ann := w.user("ann")
	group := w.group("north", ann)
	w.group("root", ann)
	made := "corp made user " + w.person(ann).ID.String() + " what their groups at a provider say "
	want := []string{made + `{}{"roles":["n1/requester"]}`}
	if got := told(w.north); !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	w.send("DELETE", "/Groups/"+group, "").want(204)
	want = slices.Insert(want, 0, made+`{"roles":["n1/requester"]}{"roles":[]}`)
	if got := told(w.north); !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	if got := told(south); len(got) > 0 {
		t.Errorf("another tenant is told %q", got)
	}
	must(w.app.Audit.Check(t.Context(), w.admin))(t)
}

// TestGroupsDecideInPlaceOfClaims: whoever has a role by the claim of a sign-in loses it once
// their provider keeps groups here without them, and not before it could send theirs.
func TestGroupsDecideInPlaceOfClaims(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	signedIn := func(name string) crowd.WorkerID {
		u := store.User{Name: name, Tenants: []crowd.TenantID{w.north}}
		return must(w.store.PutIdentity(t.Context(), store.Identity{Issuer: "https://corp.example", Subject: "x-" + name, CreatedAt: time.Now()}, u))(t)
	}
	has := func(when string, want ...string) {
		t.Helper()
		var names []string
		for _, u := range must(w.store.ListUsers(t.Context(), 0, 0, 100))(t) {
			if len(u.Tenants) > 0 {
				names = append(names, u.Name)
			}
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s, %v are requesters, want %v", when, names, want)
		}
	}
	ann, bob, eve := signedIn("ann"), signedIn("bob"), signedIn("eve")
	if u := w.person(w.user("ann")); u.ID != ann {
		t.Fatalf("ann is %+v, not %s", u, ann)
	}
	w.app.Provisioning.Settle(t.Context())
	has("without a group", "ann", "bob", "eve")
	w.group("root")
	has("as the first group comes", "ann", "bob", "eve")
	w.app.Provisioning.Settle(t.Context())
	has("a while after it", "bob", "eve") // who are not provisioned: their claim counts
	if u := w.person(w.user("bob")); u.ID != bob {
		t.Fatalf("bob is %+v, not %s", u, bob)
	}
	id := w.user("eve")
	if u := w.person(id); u.ID != eve {
		t.Fatalf("eve is %+v, not %s", u, eve)
	}
	has("as they are provisioned", "bob", "eve")
	w.group("north", id)
	w.app.Provisioning.Settle(t.Context())
	has("a while after that", "eve")
}
