package scim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/groups"
	"github.com/throng-dev/throng/internal/server/oidc"
	"github.com/throng-dev/throng/internal/server/scim"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/store/sqlite/sqlitetest"
)

// world is the edge on a real store, with two providers and their tokens.
type world struct {
	t     testing.TB
	app   *app.App
	store store.Store
	url   string
	admin *access.Principal

	corp, other string // tokens
	north       crowd.TenantID
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// providers are those of a test.
func providers() []oidc.Settings {
	return []oidc.Settings{
		{Name: "corp", Button: "Corp", Issuer: "https://corp.example", ClientID: "x", Groups: groups.Mapping{
			"crowd": {Pool: 1}, "north": {Held: []store.HeldRole{{Role: "requester", Tenant: 1}}}, "root": {Held: []store.HeldRole{{Role: "admin"}}}}},
		{Name: "other", Button: "Other", Issuer: "https://other.example", ClientID: "x"},
	}
}

// failures counts the lines of a log that are errors of the server's.
type failures struct{ atomic.Int64 }

func (f *failures) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("level=ERROR")) {
		f.Add(1)
	}
	return len(p), nil
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t}
	ctx := t.Context()
	w.store = must(sqlite.Open(ctx, sqlitetest.New(t), sqlite.Options{}))(t)
	var failed failures
	log := slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), &failed), nil))
	w.app = must(app.Open(ctx, app.Config{Passwords: auth.LeastCost, Store: w.store, Log: log, Providers: providers(), PublicURL: "https://throng.example"}))(t)
	mux := http.NewServeMux()
	scim.Mount(mux, scim.Config{App: w.app, Log: log})
	server := httptest.NewServer(mux)
	w.url = server.URL
	t.Cleanup(func() {
		server.Close()
		w.app.Close()
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
		if n := failed.Load(); n > 0 {
			t.Errorf("the log tells of %d errors", n)
		}
	})
	boss := store.User{Name: "boss", Admin: true, PasswordHash: "x"}
	boss.ID = must(w.store.CreateUser(ctx, boss))(t)
	w.admin = &access.Principal{User: boss}
	tenant := must(w.app.Tenants.Create(ctx, w.admin, accounts.NewTenant{Name: "north", Weight: 1}))(t)
	w.north = tenant.ID
	w.corp, w.other = w.token("corp"), w.token("other")
	return w
}

func (w *world) token(provider string) string {
	w.t.Helper()
	_, secret, err := w.app.Provisioning.CreateToken(w.t.Context(), w.admin, accounts.NewProviderToken{Provider: provider})
	if err != nil {
		w.t.Fatal(err)
	}
	return secret
}

// reply is what came back.
type reply struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	text   string
	doc    map[string]any
}

// send sends a request of corp, or of whose token is said by "Authorization: …".
func (w *world) send(method, path, body string, header ...string) *reply {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+"/scim/v2"+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/scim+json")
	req.Header.Set("Authorization", "Bearer "+w.corp)
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	r := &reply{t: w.t, what: method + " " + path + " " + body, status: res.StatusCode, header: res.Header, text: string(text)}
	if len(text) > 0 {
		if got := res.Header.Get("Content-Type"); got != "application/scim+json" {
			w.t.Errorf("%s: Content-Type is %q", r.what, got)
		}
		d := json.NewDecoder(bytes.NewReader(text))
		if err := d.Decode(&r.doc); err != nil {
			w.t.Fatalf("%s: %s is no object: %v", r.what, text, err)
		}
	}
	return r
}

// want checks the status, and parts of the body: "a.b", value, as fmt prints it.
func (r *reply) want(status int, pairs ...string) *reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("%s: status %d, want %d: %s", r.what, r.status, status, r.text)
	}
	for i := 0; i < len(pairs); i += 2 {
		if got := r.get(pairs[i]); got != pairs[i+1] {
			r.t.Errorf("%s: %s is %q, want %q: %s", r.what, pairs[i], got, pairs[i+1], r.text)
		}
	}
	if status >= 400 {
		if schemas := fmt.Sprint(r.doc["schemas"]); schemas != "[urn:ietf:params:scim:api:messages:2.0:Error]" || r.get("status") != fmt.Sprint(status) {
			r.t.Errorf("%s: the error is %s", r.what, r.text)
		}
	}
	return r
}

// get returns a part of the body; parts of lists by their numbers.
func (r *reply) get(path string) string {
	var v any = r.doc
	for part := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[part]
		case []any:
			var i int
			if _, err := fmt.Sscan(part, &i); err != nil || i >= len(x) {
				return ""
			}
			v = x[i]
		default:
			v = nil
		}
	}
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// user adds a person, and returns the id.
func (w *world) user(name string) string {
	w.t.Helper()
	body := fmt.Sprintf(`{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":%q,"externalId":"x-%s","active":true}`, name, name)
	return w.send("POST", "/Users", body).want(201).get("id")
}

// group adds a group, and returns the id.
func (w *world) group(name string, members ...string) string {
	w.t.Helper()
	list := []map[string]string{}
	for _, m := range members {
		list = append(list, map[string]string{"value": m})
	}
	body, _ := json.Marshal(map[string]any{"displayName": name, "members": list})
	return w.send("POST", "/Groups", string(body)).want(201).get("id")
}

// person returns the person of an id.
func (w *world) person(id string) store.User {
	w.t.Helper()
	var n int64
	if _, err := fmt.Sscan(id, &n); err != nil {
		w.t.Fatal(err)
	}
	list := must(w.store.ListProvisioned(w.t.Context(), store.ProvisionedFilter{Provider: "corp", ID: n, Limit: 1}))(w.t)
	if len(list) == 0 {
		w.t.Fatalf("nobody has the id %s", id)
	}
	return must(w.store.User(w.t.Context(), list[0].User))(w.t)
}

var anywhere netip.Addr
