package web

import (
	"maps"
	"net/http"
	"net/netip"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/oidc"
)

// claimed is a company whose provider provisions people under their claim oid, and otto, who
// has signed in by it, with claims, and has a token.
type claimed struct {
	*company
	t     *testing.T
	corp  *aProvider
	scim  *provisioner
	otto  *browser
	id    crowd.WorkerID
	token string
}

func newClaimed(t *testing.T, claims map[string]any) *claimed {
	x := &claimed{t: t}
	x.company, x.corp, _ = twoProviders(t, func(p *oidc.Settings) { p.ExternalID = "oid" })
	x.corp.claims = map[string]any{"sub": "1", "preferred_username": "otto", "groups": []string{"crowd"}}
	maps.Copy(x.corp.claims, claims)
	x.otto = x.browser(t, "otto")
	x.otto.get("/signin/corp").want(200).at("/work")
	x.id = x.otto.principal().User.ID
	_, token, err := x.app.Accounts.CreateToken(t.Context(), x.boss.principal(), accounts.NewToken{Name: "x", For: x.id})
	if err != nil {
		t.Fatal(err)
	}
	x.token, x.scim = token, x.provisioner(t, "corp")
	return x
}

// out checks that otto is suspended, and that what they held before is over.
func (x *claimed) out() {
	x.t.Helper()
	if u, err := x.app.Accounts.User(x.t.Context(), x.boss.principal(), x.id); err != nil || !u.Suspended || u.SuspendedBy != "corp" {
		x.t.Errorf("otto is %+v, %v", u, err)
	}
	x.otto.get("/work").want(http.StatusForbidden, "suspended")
	if _, err := x.app.Accounts.Authenticate(x.t.Context(), x.token, netip.Addr{}); err == nil {
		x.t.Error("the token is good")
	}
	x.browser(x.t, "again").get("/signin/corp").want(http.StatusForbidden, "suspended")
}

// TestProvisionedByAnotherClaim: who has signed in is the person whom the provider adds under
// the claim that it told then, so that a deactivation is theirs at once, and so is its end.
func TestProvisionedByAnotherClaim(t *testing.T) {
	t.Parallel()
	for how, add := range map[string]func(x *provisioner) string{
		"added so": func(x *provisioner) string {
			return x.send(http.MethodPost, "/Users", `{"userName": "otto", "externalId": "oid-1", "active": true}`)
		},
		"told later": func(x *provisioner) string {
			id := x.send(http.MethodPost, "/Users", `{"userName": "otto", "active": true}`)
			x.send(http.MethodPost, "/Groups", `{"displayName": "crowd", "members": [{"value": "`+id+`"}]}`)
			return x.send(http.MethodPatch, "/Users/"+id, `{"Operations": [{"op": "add", "path": "externalId", "value": "oid-1"}]}`)
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			x := newClaimed(t, map[string]any{"oid": "oid-1"})
			id := add(x.scim)
			x.otto.get("/work").want(200)
			withinASecond(t, func() { x.scim.activate(id, false) })
			x.out()
			x.scim.activate(id, true)
			b := x.browser(t, "back")
			b.get("/signin/corp").want(200).at("/work")
			if u := b.principal().User; u.ID != x.id || u.Name != "otto" || u.Pool != 1 {
				t.Errorf("otto is %+v", u)
			}
			if _, err := x.app.Accounts.Authenticate(t.Context(), x.token, netip.Addr{}); err == nil {
				t.Error("the token of before is good again")
			}
		})
	}
}

// TestJoinedAtASignIn: who had signed in before the claim was told becomes whom the provider
// has added for them, with the suspension; not if somebody has come in as that one.
func TestJoinedAtASignIn(t *testing.T) {
	t.Parallel()
	t.Run("deactivated", func(t *testing.T) {
		t.Parallel()
		x := newClaimed(t, nil)
		x.scim.activate(x.scim.send(http.MethodPost, "/Users", `{"userName": "otto", "externalId": "oid-1", "active": true}`), false)
		x.otto.get("/work").want(200) // nobody knows it yet
		x.corp.be(func() { x.corp.claims["oid"] = "oid-1" })
		x.browser(t, "again").get("/signin/corp").want(http.StatusForbidden, "suspended")
		x.out()
	})
	t.Run("active", func(t *testing.T) {
		t.Parallel()
		x := newClaimed(t, nil)
		id := x.scim.send(http.MethodPost, "/Users", `{"userName": "otto", "externalId": "oid-1", "active": true}`)
		x.corp.be(func() { x.corp.claims["oid"] = "oid-1" })
		x.browser(t, "again").get("/signin/corp").want(200).at("/work")
		x.otto.get("/work").want(200)
		x.scim.activate(id, false)
		x.out()
	})
	t.Run("two people", func(t *testing.T) {
		t.Parallel()
		x := newClaimed(t, map[string]any{"oid": "oid-1"})
		x.scim.send(http.MethodPost, "/Users", `{"userName": "olga", "externalId": "oid-2", "active": true}`)
		x.corp.be(func() { x.corp.claims["sub"], x.corp.claims["oid"] = "2", "oid-2" })
		olga := x.browser(t, "olga")
		olga.get("/signin/corp").want(200)
		x.corp.be(func() { x.corp.claims["sub"] = "1" })
		x.browser(t, "again").get("/signin/corp").want(http.StatusConflict, "two people here")
		if a, b := x.otto.principal().User, olga.principal().User; a.ID == b.ID || a.Suspended || b.Suspended {
			t.Errorf("they are %+v and %+v", a, b)
		}
		for _, sub := range []string{"1", "2"} { // both are told to be oid-4
			x.corp.be(func() { x.corp.claims["sub"], x.corp.claims["oid"] = sub, "oid-4" })
			x.browser(t, sub).get("/signin/corp").want(200)
		}
		if a := x.scim.ask(http.MethodPost, "/Users", `{"userName": "both", "externalId": "oid-4"}`); a.Code != http.StatusConflict {
			t.Errorf("who is two people is added: %d %s", a.Code, a.Body)
		}
	})
}
