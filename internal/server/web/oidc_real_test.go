package web

import (
	"bufio"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/groups"
	"github.com/throng-dev/throng/internal/server/oidc"
)

// realProvider starts the npm package oidc-provider, for a server of a test at an address,
// and returns its own.
func realProvider(t *testing.T, back string) string {
	t.Helper()
	dir := os.Getenv("THRONG_OIDC_PROVIDER")
	if dir == "" {
		if os.Getenv("THRONG_REQUIRE_OIDC") != "" {
			t.Fatal("THRONG_OIDC_PROVIDER names no folder")
		}
		t.Skip("THRONG_OIDC_PROVIDER names no folder in which npm install oidc-provider@9.13.3 was run")
	}
	script, err := filepath.Abs("testdata/provider.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", script, back)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "http") {
			return lines.Text()
		}
	}
	t.Fatal("the provider has not started")
	return ""
}

// realSite is the public address of a site whose people sign in by a real provider.
const realSite = "http://throng.example"

// withRealProvider is a company whose people sign in by a real provider.
func withRealProvider(t *testing.T, workers int, change ...func(*app.Config)) *company {
	issuer := realProvider(t, realSite+"/signin/real/back")
	return newCompany(t, workers, append(change, func(cfg *app.Config) {
		cfg.PublicURL = realSite
		cfg.Providers = []oidc.Settings{{Name: "real", Button: "Real", Issuer: issuer, ClientID: "throng", Secret: "s3cret", Claim: "groups", Groups: groups.Mapping{"crowd": {Pool: 1}}}}
	})...)
}

// throughTheProvider has somebody say at the real provider who they are, and returns where
// it sends them back to.
func (b *browser) throughTheProvider(name string) (back string) {
	b.t.Helper()
	b.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), realSite) {
			back = r.URL.RequestURI()
			return http.ErrUseLastResponse
		}
		return nil
	}
	page, err := b.Get(b.site.URL + "/signin/real")
	for _, prompt := range []string{"login", "consent"} { // who they are, and that they agree
		if err != nil {
			b.t.Fatal(err)
		}
		_ = page.Body.Close()
		page, err = b.PostForm(page.Request.URL.String(), url.Values{"prompt": {prompt}, "login": {name}, "password": {"x"}})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	_ = page.Body.Close()
	if back == "" {
		b.t.Fatalf("the provider ends at %s: %s", page.Request.URL, page.Status)
	}
	return back
}

// TestSignInByARealProvider goes through the pages of one.
func TestSignInByARealProvider(t *testing.T) {
	t.Parallel()
	c := withRealProvider(t, 0)
	for name, want := range map[string]int{"anna": 200, "olga": http.StatusForbidden} {
		b := c.browser(t, name)
		back := b.throughTheProvider(name)
		p := b.get(back).want(want)
		if want != 200 {
			continue
		}
		if u := b.principal().User; p.URL.Path != "/work" || u.Name != "anna" || u.Pool != 1 {
			t.Errorf("at %s as %+v", p.URL, u)
		}
		b.get(back).want(http.StatusUnauthorized)
	}
}
