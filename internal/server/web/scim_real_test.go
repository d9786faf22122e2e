package web

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/scim"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// provisioner is a provider that keeps its people in a company by SCIM.
type provisioner struct {
	t     *testing.T
	c     *company
	edge  http.Handler
	token string
}

func (c *company) provisioner(t *testing.T, provider string) *provisioner {
	t.Helper()
	_, token, err := c.app.Provisioning.CreateToken(t.Context(), c.boss.principal(), accounts.NewProviderToken{Provider: provider})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	scim.Mount(mux, scim.Config{App: c.app, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	return &provisioner{t: t, c: c, edge: mux, token: token}
}

// send sends a request, and returns the id of what it is about.
func (x *provisioner) send(method, path, body string) (id string) {
	x.t.Helper()
	a := x.ask(method, path, body)
	var got struct{ ID string }
	if err := json.Unmarshal(a.Body.Bytes(), &got); a.Code >= 300 || err != nil || got.ID == "" {
		x.t.Fatalf("%s %s: %d %s", method, path, a.Code, a.Body)
	}
	return got.ID
}

// ask sends a request, whatever comes of it.
func (x *provisioner) ask(method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(x.t.Context(), method, "/scim/v2"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+x.token)
	r.Header.Set("Content-Type", "application/scim+json")
	a := httptest.NewRecorder()
	x.edge.ServeHTTP(a, r)
	return a
}

// activate says whether somebody is active.
func (x *provisioner) activate(id string, active bool) {
	x.t.Helper()
	value := map[bool]string{true: "true", false: "false"}[active]
	x.send(http.MethodPatch, "/Users/"+id, `{"schemas": ["urn:ietf:params:scim:api:messages:2.0:PatchOp"], "Operations": [{"op": "replace", "path": "active", "value": `+value+`}]}`)
}

// withinASecond fails if do, which ends in what a deactivation is for, takes longer.
func withinASecond(t *testing.T, do func()) {
	t.Helper()
	begin := time.Now()
	do()
	if took := time.Since(begin); took > time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestProvisionedPeopleSignIn by a real provider: by the external id that is their subject,
// and by an address that the provider has verified, they are who was provisioned. Who is
// deactivated is out at once, with what they hold and their paid waiting, and cannot come in
// until they are active again; who was never provisioned cannot either.
func TestProvisionedPeopleSignIn(t *testing.T) {
	t.Parallel()
	c := withRealProvider(t, 1, looping)
	c.onCall(pool.Settings{Min: 1})
	x := c.provisioner(t, "real")
	anna := x.send(http.MethodPost, "/Users", `{"userName": "anna.k", "externalId": "anna", "active": true}`)
	olga := x.send(http.MethodPost, "/Users", `{"userName": "olga.m", "externalId": "another-id", "emails": [{"value": "olga@example.org", "primary": true}], "active": true}`)
	x.send(http.MethodPost, "/Groups", `{"displayName": "crowd", "members": [{"value": "`+anna+`"}, {"value": "`+olga+`"}]}`)

	c.browser(t, "otto").signsInAs("otto").want(http.StatusForbidden, "You have no account here yet")
	browsers := make(map[string]*browser)
	for name, provisioned := range map[string]string{"anna": "anna.k", "olga": "olga.m"} {
		b := c.browser(t, name)
		b.signsInAs(name).want(200).at("/work")
		if u, was := b.principal().User, c.personNamed(t, provisioned); u.ID != was.ID || u.Pool != 1 {
			t.Errorf("%s is %+v, and was provisioned as %+v", name, u, was)
		}
		browsers[name] = b
	}

	c.step(time.Second)
	waits := browsers["olga"]
	if _, err := c.app.Duty.Start(t.Context(), waits.principal()); err != nil {
		t.Fatal(err)
	}
	who, answer := &access.Principal{User: waits.principal().User}, waits.waits()
	c.ahead.Add(int64(30 * time.Second))
	withinASecond(t, func() {
		x.activate(olga, false)
		<-answer
		waits.get("/work").want(http.StatusForbidden, "suspended")
	})
	c.browser(t, "olga again").signsInAs("olga").want(http.StatusForbidden, "suspended")
	paid, _, err := c.app.Work.Earnings(t.Context(), who, 1)
	if err != nil || paid < crowd.Unit/40 || paid > crowd.Unit/30 {
		t.Errorf("for half a minute they have %s, %v", paid, err)
	}

	c.onCall(pool.Settings{}, func(now *store.Pool) { now.Retainer.Called, now.Retainer.Rate = false, 0 })
	c.launchCats("Cats")
	holds := browsers["anna"]
	task := holds.get("/work").want(200, "1.png a cat?")
	withinASecond(t, func() {
		x.activate(anna, false)
		c.workers[0].get("/work").want(200, "1.png a cat?") // the lease has not run out
	})
	holds.get("/work").want(http.StatusForbidden, "suspended")
	task.form("/work/submit").set("s.label", "yes").send().want(http.StatusForbidden, "suspended")
	c.browser(t, "anna again").signsInAs("anna").want(http.StatusForbidden, "suspended")
	x.activate(anna, true)
	c.browser(t, "anna is back").signsInAs("anna").want(200, "2.png a cat?").at("/work")

	c.step(2 * time.Minute)
	if now, _, err := c.app.Work.Earnings(t.Context(), who, 1); err != nil || now != paid {
		t.Errorf("they have %s, %v, and had %s", now, err, paid)
	}
}

// signsInAs goes through the real provider and comes back.
func (b *browser) signsInAs(name string) *pageOf {
	b.t.Helper()
	return b.get(b.throughTheProvider(name))
}
