package oidc_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/server/oidc"
)

const good = `providers:
  - name: corp
    issuer: https://login.example.org
    client_id: throng
    client_secret_file: corp.secret
    groups:
      north: {tenants: [n1, n2]}
      crowd: {pool: p3}
      root: {admin: true, roles: [n1/reviewer]}
`

func read(t *testing.T, text string) ([]oidc.Settings, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"providers.yaml": text, "corp.secret": " s3cret\n", "empty": "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return oidc.ReadSettings(filepath.Join(dir, "providers.yaml"))
}

// TestReadSettings reads files of providers, and says what is wrong with one.
func TestReadSettings(t *testing.T) {
	t.Parallel()
	list, err := read(t, good)
	if err != nil {
		t.Fatal(err)
	}
	s := list[0]
	if s.Secret != "s3cret" || s.Button != "corp" || s.Claim != "groups" {
		t.Errorf("read %+v", s)
	}
	if g := s.Groups.Governed(); len(g.Held) != 4 || g.Pool != 3 {
		t.Errorf("all groups make somebody %+v", g)
	}
	for _, x := range []struct{ from, to, says string }{
		{good, "", "EOF"},
		{good, "providers: []", "providers: names none"},
		{"name: corp", "name: Corp!", `providers[0].name: "Corp!" is not a name`},
		{"name: corp", "name: passkey", "providers[0].name: passkey is not free"},
		{"issuer: https://login.example.org", "issuer: login", "providers[0].issuer"},
		{"issuer: https://", "issuer: http://", "has to begin with https://"},
		{"client_id: throng", "client_id: ''", "providers[0].client_id: is missing"},
		{"client_secret_file: corp.secret", "client_secret: x", "field client_secret is not known"},
		{"corp.secret", "nosuch", "nosuch"},
		{"corp.secret", "empty", "is empty"},
		{"[n1, n2]", "[north]", `groups.north.tenants: "north" is not a tenant, like n1`},
		{"n1/reviewer", "reviewer", "groups.root.roles: reviewer is held for a tenant"},
		{"pool: p3", "pool: main", `groups.crowd.pool: "main" is not a pool, like p1`},
		{"      root", "  - name: corp\n    issuer: https://a.example\n    client_id: x\n    client_secret_file: corp.secret\n#", "is there twice"},
	} {
		_, err := read(t, strings.Replace(good, x.from, x.to, 1))
		if err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("with %q: %v, want %q", x.to, err, x.says)
		}
	}
}
