package scim_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/scim"
	"github.com/throng-dev/throng/internal/store"
)

// TestEveryRouteWithoutItsToken: nobody, people by tokens of whatever role, and a token that was
// taken away, are let in by no route, and told nothing by the difference between what is there
// and what is not; another provider's token finds nothing of this one's by any.
func TestEveryRouteWithoutItsToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.user("ann")
	ids := map[string]string{"/Users/{id}": ann, "/Groups/{id}": w.group("north", ann)}
	bodies := map[string]string{
		"POST /Users": `{"userName":"zoe"}`, "PUT /Users/{id}": `{"userName":"zoe"}`, "PATCH /Users/{id}": `{"Operations":[{"op":"replace","path":"active","value":false}]}`,
		"POST /Groups": `{"displayName":"zoo"}`, "PUT /Groups/{id}": `{"displayName":"zoo"}`, "PATCH /Groups/{id}": `{"Operations":[{"op":"replace","path":"displayName","value":"zoo"}]}`,
	}
	// What another provider gets by each route; a new one has to join.
	others := map[string]int{
		"GET /ServiceProviderConfig": 200, "GET /ResourceTypes": 200, "GET /ResourceTypes/{id}": 404, "GET /Schemas": 200, "GET /Schemas/{id}": 404,
		"GET /Users": 200, "POST /Users": 201, "GET /Users/{id}": 404, "PUT /Users/{id}": 404, "PATCH /Users/{id}": 404, "DELETE /Users/{id}": 404,
		"GET /Groups": 200, "POST /Groups": 201, "GET /Groups/{id}": 404, "PUT /Groups/{id}": 404, "PATCH /Groups/{id}": 404, "DELETE /Groups/{id}": 404,
	}
	personal := func(n accounts.NewToken) string {
		_, secret, err := w.app.Accounts.CreateToken(t.Context(), w.admin, n)
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	rita, _, err := w.app.Accounts.CreateUser(t.Context(), w.admin, accounts.NewUser{Name: "rita", Tenants: []crowd.TenantID{w.north}})
	if err != nil {
		t.Fatal(err)
	}
	old := w.token("corp")
	list := must(w.app.Provisioning.Tokens(t.Context(), w.admin, "corp"))(t)
	newest := slices.MaxFunc(list, func(x, y store.Token) int { return int(x.ID - y.ID) })
	if err := w.app.Provisioning.RevokeToken(t.Context(), w.admin, "corp", newest.ID); err != nil {
		t.Fatal(err)
	}
	strangers := map[string]string{
		"nobody": "", "an administrator's token": personal(accounts.NewToken{Name: "all"}), "a limited token": personal(accounts.NewToken{Name: "some", Roles: []access.Role{access.Admin}}),
		"a requester's token":         personal(accounts.NewToken{Name: "hers", For: rita.ID}),
		"a token that was taken away": old, "a token that is none": "provider_x",
	}
	before := w.send("GET", "/Users", "").want(200).text + w.send("GET", "/Groups", "").want(200).text
	seen := 0
	for _, name := range append(scim.Routes(), "GET /", "POST /Bulk", "GET /Me") {
		method, path, _ := strings.Cut(name, " ")
		ask := func(id, token string) *reply {
			return w.send(method, strings.Replace(path, "{id}", id, 1), bodies[name], "Authorization: Bearer "+token)
		}
		there := ids[path]
		for who, token := range strangers {
			theirs, none := ask(there, token).want(http.StatusUnauthorized), ask("999", token).want(http.StatusUnauthorized)
			if theirs.text != none.text {
				t.Errorf("%s by %s: of what is there %s, of what is not %s", name, who, theirs.text, none.text)
			}
		}
		if want, routed := others[name]; routed {
			seen++
			r := ask(there, w.other).want(want)
			if strings.Contains(strings.ToLower(r.text), "ann") || strings.Contains(r.text, "north") {
				t.Errorf("%s tells another provider %s", name, r.text)
			}
		} else if slices.Contains(scim.Routes(), name) {
			t.Errorf("%s is not in the table of what another provider gets", name)
		}
	}
	if seen != len(others) {
		t.Errorf("the table has %d routes, %d of which there are", len(others), seen)
	}
	if after := w.send("GET", "/Users", "").want(200).text + w.send("GET", "/Groups", "").want(200).text; after != before {
		t.Errorf("there is\n%s\nand was\n%s", after, before)
	}
}
