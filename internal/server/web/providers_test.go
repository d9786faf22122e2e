package web

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/server/app"
)

// withCorp gives a company a provider, which nobody asks.
func withCorp(cfg *app.Config) { cfg.Providers = withGroups("https://corp.example") }

// TestProvidersOnThePages: what a provider keeps and when it was heard; its tokens are made,
// shown once, listed and ended, by administrators.
func TestProvidersOnThePages(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 0, withCorp)
	const page, tokens = "/admin/providers", "/admin/providers/corp/tokens"
	c.boss.get("/admin").want(200, "Providers")
	c.boss.get(page).want(200, "0 people", "0 suspended", "0 groups", "last heard: never", "It has no token", "/scim/v2")

	c.boss.get(page).form(tokens).set("name", "Okta").set("life", "30").set("forever", "1").send().want(http.StatusUnprocessableEntity, "not both")
	c.boss.get(page).form(tokens).set("networks", "10.0.0.0/99").send().want(http.StatusUnprocessableEntity)
	made := c.boss.get(page).form(tokens).set("name", "Okta").set("life", "30").set("networks", "192.0.2.0/24").send().want(200, "The new token of corp", "shown only now")
	secret := secretOn(made)
	c.told(t, "Provisioning.CreateToken")
	list, err := c.app.Provisioning.Tokens(t.Context(), c.boss.principal(), "corp")
	if err != nil || len(list) != 1 || list[0].Name != "Okta" || list[0].ExpiresAt.Sub(list[0].CreatedAt).Round(time.Minute) != 30*24*time.Hour || strings.Join(list[0].Networks, " ") != "192.0.2.0/24" {
		t.Fatalf("the tokens are %+v, %v", list, err)
	}
	if p, err := c.app.Accounts.AuthenticateProvider(t.Context(), secret, netip.MustParseAddr("192.0.2.7")); err != nil || p.Token.ID != list[0].ID {
		t.Errorf("%q is not the token: %v", secret, err)
	}
	c.boss.get(page).want(200, "Okta", "192.0.2.0/24").without(secret)
	c.boss.get(page).form(tokens).set("forever", "1").send().want(200, "for ever")

	x := c.provisioner(t, "corp")
	anna := x.send(http.MethodPost, "/Users", `{"userName": "anna", "externalId": "anna", "active": true}`)
	x.send(http.MethodPost, "/Users", `{"userName": "olga", "externalId": "olga", "active": true}`)
	x.send(http.MethodPost, "/Groups", `{"displayName": "crowd", "members": [{"value": "`+anna+`"}]}`)
	x.activate(anna, false)
	c.boss.get(page).want(200, "2 people", "1 suspended", "1 group").without("last change: never")
	c.boss.get("/admin/audit?operation=Provisioning.AddGroup").want(200, "the provider corp")

	end := fmt.Sprintf("%s/%d/revoke", tokens, list[0].ID)
	c.boss.get(page).form(end).send().want(200, "The token is revoked").at(page)
	c.told(t, "Provisioning.RevokeToken")
	c.boss.get(page).want(200).without("192.0.2.0/24")
	if _, err := c.app.Accounts.AuthenticateProvider(t.Context(), secret, netip.MustParseAddr("192.0.2.7")); err == nil {
		t.Error("the token that was ended is good")
	}
	c.boss.post(end, nil).want(http.StatusNotFound)
	c.boss.post("/admin/providers/none/tokens", nil).want(http.StatusNotFound)
	c.req.get(page).want(http.StatusForbidden)
	c.req.post(tokens, nil).want(http.StatusForbidden)

	none := newCompany(t, 0)
	none.boss.get(page).want(200, "There is none", "--oidc")
}
