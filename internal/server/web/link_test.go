package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/groups"
	"github.com/throng-dev/throng/internal/server/oidc"
	"github.com/throng-dev/throng/internal/store"
)

// twoProviders is a company with corp, which links by addresses and makes administrators, and
// other, whose only group makes workers. Both sign in the same person of theirs.
func twoProviders(t testing.TB, with ...func(*oidc.Settings)) (c *company, corp, other *aProvider) {
	corp, other = newProvider(t), newProvider(t)
	c = newCompany(t, 0, func(cfg *app.Config) {
		cfg.Providers = append(withGroups(corp.URL), oidc.Settings{Name: "other", Button: "Other", Issuer: other.URL, ClientID: "throng", Secret: "s3cret", Claim: "groups", Groups: groups.Mapping{"crowd": {Pool: 1}}})
		cfg.Providers[0].LinkEmail = true
		for _, change := range with {
			change(&cfg.Providers[0])
		}
	})
	corp.claims = map[string]any{"sub": "c", "preferred_username": "chief", "email": "ceo@example.org", "email_verified": true, "groups": []string{"root"}}
	other.claims = map[string]any{"sub": "m", "preferred_username": "mallory", "email": "ceo@example.org", "email_verified": true, "groups": []string{"crowd"}}
	return c, corp, other
}

// TestNoTakeoverByAnotherProvider: the address that a provider says of somebody, at a sign-in
// or by SCIM, makes nobody who comes by another provider that person.
func TestNoTakeoverByAnotherProvider(t *testing.T) {
	t.Parallel()
	for how, provision := range map[string]bool{"by a sign-in": false, "by SCIM": true} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			c, _, _ := twoProviders(t)
			mallory := c.browser(t, "mallory")
			if provision {
				c.provisioner(t, "other").send(http.MethodPost, "/Users", `{"userName": "mallory", "externalId": "m", "emails": [{"value": "ceo@example.org"}]}`)
			} else {
				mallory.get("/signin/other").want(200)
			}
			chief := c.browser(t, "chief")
			chief.get("/signin/corp").want(200)
			chief.get("/admin").want(200)
			if u := chief.principal().User; u.Name != "chief" {
				t.Errorf("the chief is %+v", u)
			}
			if provision {
				mallory.get("/signin/other")
			}
			mallory.get("/admin").want(http.StatusForbidden)
			if u := mallory.principal().User; u.Name != "mallory" || u.Admin || !u.EmailVerified || u.EmailBy != "other" {
				t.Errorf("mallory is %+v", u)
			}
		})
	}
}

// TestWhoVouchesForAnAddress: an address links who comes by a provider if that provider, an
// administrator or a mailed link has said whose it is, however often others say it, too.
func TestWhoVouchesForAnAddress(t *testing.T) {
	t.Parallel()
	for how, x := range map[string]struct {
		by    string
		links bool
	}{"the server": {"", true}, "the provider": {"corp", true}, "the provider, before names were kept": {"issuer", true}, "another": {"other", false}} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			c, corp, _ := twoProviders(t)
			by := strings.ReplaceAll(x.by, "issuer", corp.URL)
			rita := c.personNamed(t, "rita")
			if _, err := c.app.Accounts.Change(t.Context(), rita.ID, func(u *store.User) error {
				u.Email, u.EmailVerified, u.EmailBy = "ceo@example.org", true, by
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			c.browser(t, "mallory").get("/signin/other").want(200) // says the same of mallory
			b := c.browser(t, "chief")
			b.get("/signin/corp").want(200)
			if got := b.principal().User.ID == rita.ID; got != x.links {
				t.Errorf("who comes is rita: %t", got)
			}
		})
	}
}

// TestWhatAnAdministratorSaysOfAnAddress: saving a person as they are leaves the address
// their provider's word; to enter one is the administrator's.
func TestWhatAnAdministratorSaysOfAnAddress(t *testing.T) {
	t.Parallel()
	c, _, _ := twoProviders(t)
	b := c.browser(t, "mallory")
	b.get("/signin/other").want(200)
	page := "/admin/people/" + b.principal().User.ID.String()
	c.boss.get(page).form(page).set("full_name", "Mallory M").send().want(200)
	if u := c.personNamed(t, "mallory"); u.FullName != "Mallory M" || u.EmailBy != "other" {
		t.Errorf("saved, they are %+v", u)
	}
	c.boss.get(page).form(page).set("email", "m@example.org").send().want(200)
	if u := c.personNamed(t, "mallory"); !u.EmailVerified || u.EmailBy != "" {
		t.Errorf("with an address that was entered they are %+v", u)
	}
}

// TestTwoPeopleWithOneAddress: it links neither, and who comes is told so.
func TestTwoPeopleWithOneAddress(t *testing.T) {
	t.Parallel()
	c, _, _ := twoProviders(t)
	if _, _, err := c.app.Accounts.CreateUser(t.Context(), c.boss.principal(), accounts.NewUser{Name: "wendy", Pool: 1}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rita", "wendy"} {
		if _, err := c.app.Accounts.ChangeUser(t.Context(), c.boss.principal(), c.personNamed(t, name).ID, func(u *store.User) error {
			u.Email, u.EmailVerified = "CEO@example.org", true
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	b := c.browser(t, "chief")
	b.get("/signin/corp").want(http.StatusConflict, "2 people here have the address ceo@example.org", "ask an administrator")
	if _, err := c.app.Accounts.ChangeUser(t.Context(), c.boss.principal(), c.personNamed(t, "wendy").ID, func(u *store.User) error { u.EmailVerified = false; return nil }); err != nil {
		t.Fatal(err)
	}
	c.browser(t, "again").get("/signin/corp").want(200)
	b.get("/signin/corp").want(200)
	if u := b.principal().User; u.Name != "rita" {
		t.Errorf("who comes is %+v", u)
	}
}
