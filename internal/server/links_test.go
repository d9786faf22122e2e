package server_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/web"
	"github.com/throng-dev/throng/internal/wire"
)

// Links for people begin with the server's public address where it knows that, whatever
// host a request names; else the API gives none, and a page that by which it was asked.
func TestLinksBeginWithThePublicAddress(t *testing.T) {
	for public, begins := range map[string]string{"": "http://elsewhere.example", "https://throng.example.org/": "https://throng.example.org"} {
		s, err := server.Start(t.Context(), server.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Version: "test", PublicURL: public})
		check(t, err)
		first, err := s.App.Accounts.Bootstrap(t.Context())
		check(t, err)
		session, err := s.App.Accounts.Setup(t.Context(), first, "a password of a few words")
		check(t, err)
		admin := (&client.Client{URL: s.URL}).As(session)
		pools, err := admin.Pools(t.Context())
		check(t, err)
		north, err := admin.CreateTenant(t.Context(), wire.NewTenant{Name: "north"})
		check(t, err)
		made, err := admin.CreateUser(t.Context(), wire.NewUser{Name: "ann", Tenants: []crowd.TenantID{north.ID}})
		check(t, err)
		again, err := admin.SetupLink(t.Context(), made.ID)
		check(t, err)
		invited, err := admin.Invite(t.Context(), wire.NewInvitations{Pool: pools[0].ID, Addresses: []string{"eve@example.org"}})
		check(t, err)
		given := map[string][2]string{
			"a new person": {made.SetupLink, begins + "/setup?token=" + made.SetupToken},
			"a new link":   {again.Link, begins + "/setup?token=" + again.Token},
			"invitation":   {invited.Invited[0].Link, begins + "/invitation?token=" + invited.Invited[0].Token},
		}
		for what, link := range given {
			if want := link[1]; public == "" && link[0] != "" || public != "" && link[0] != want {
				t.Errorf("%s, public %q: the link is %q", what, public, link[0])
			}
		}
		form := url.Values{"name": {"bob"}, "roles": {"admin"}, "admin": {"on"}}
		ask, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/admin/people", strings.NewReader(form.Encode()))
		check(t, err)
		ask.Host = "elsewhere.example"
		ask.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		ask.AddCookie(&http.Cookie{Name: httpkit.SessionCookie, Value: session})
		reply, err := http.DefaultClient.Do(ask)
		check(t, err)
		page, err := io.ReadAll(reply.Body)
		check(t, err)
		_ = reply.Body.Close()
		if reply.StatusCode != http.StatusOK || !strings.Contains(string(page), begins+"/setup?token=setup_") {
			t.Errorf("public %q: the page, status %d, has no link that begins with %s", public, reply.StatusCode, begins)
		}
		check(t, s.Close())
	}
}

// Every answer says what may be loaded, and one that came encrypted that no other way is
// to be used.
func TestHeadersOfEveryAnswer(t *testing.T) {
	for _, proxied := range []bool{false, true} {
		cfg := server.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Version: "test", TrustProxy: proxied}
		s, err := server.Start(t.Context(), cfg)
		check(t, err)
		handler, err := server.Handler(s.App, cfg)
		check(t, err)
		paths := []string{"/", "/login", "/nowhere", "/healthz", "/readyz", "/metrics", "/docs", "/v1/openapi.json", "/v1/me", "/v1/nothing", "/v1/batches", "/static/", "/static/style.css", "/scim/v2/Users", "/batches/b1/events", "/v1/batches/b1/labels", "/v1/pools/p1/events", "/verify?token=address_x"}
		for _, pattern := range web.PublicRoutes() {
			if path, is := strings.CutPrefix(pattern, "GET "); is {
				paths = append(paths, strings.NewReplacer("{$}", "", "{provider}", "nobody").Replace(path))
			}
		}
		for _, path := range paths {
			for _, scheme := range []string{"http", "https"} {
				ask := httptest.NewRequest(http.MethodGet, path, nil)
				ask.Header.Set("X-Forwarded-Proto", scheme)
				reply := httptest.NewRecorder()
				handler.ServeHTTP(reply, ask)
				h := reply.Header()
				if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src") || !strings.Contains(csp, "frame-ancestors") {
					t.Errorf("%s, status %d: the policy is %q", path, reply.Code, csp)
				}
				if got, want := h.Get("Strict-Transport-Security") != "", proxied && scheme == "https"; got != want {
					t.Errorf("%s by %s, behind a proxy %t: Strict-Transport-Security is %q", path, scheme, proxied, h.Get("Strict-Transport-Security"))
				}
			}
		}
		check(t, s.Close())
	}
}
