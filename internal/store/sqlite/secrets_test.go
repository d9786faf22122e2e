package sqlite

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/kit/keyring"
	"github.com/throng-dev/throng/internal/store"
)

// TestSecretsAreSealed keeps secrets in the clear, as earlier versions did, then with a
// key, then with another one: each time they are read as before, and none of them is in
// any byte of the folder, also while the store is open.
func TestSecretsAreSealed(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	path := filepath.Join(dir, "throng.db")
	key := []string{keyring.New(), keyring.New()}
	keys := func(text ...string) *keyring.Ring {
		r, err := keyring.Parse([]byte(strings.Join(text, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	secrets := []string{"of-the-installation", "of-the-tenant-as-it-was", "of-the-tenant", "of-a-second-factor"}
	shown := func() (found []string) {
		files, err := os.ReadDir(dir)
		if err != nil || len(files) == 0 {
			t.Fatal(err, "no files")
		}
		for _, f := range files {
			data, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range secrets {
				if bytes.Contains(data, []byte(s)) {
					found = append(found, f.Name()+": "+s)
				}
			}
		}
		return found
	}
	read := func(s store.Store) {
		t.Helper()
		got, err := s.TenantSecret(ctx, 1, "KEY")
		if err != nil || got.Value != secrets[2] {
			t.Errorf("of a tenant: %+v, %v", got, err)
		}
		if got, err := s.Secret(ctx, "own", "made again"); err != nil || got != secrets[0] {
			t.Errorf("of the installation: %q, %v", got, err)
		}
		if got, err := s.Factors(ctx, 1); err != nil || len(got) != 1 || got[0].Secret != secrets[3] {
			t.Errorf("of a person: %+v, %v", got, err)
		}
	}
	s := mustOpen(t, path, Options{})
	if _, err := s.CreateTenant(ctx, store.Tenant{Name: "North", Weight: 1}, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Secret(ctx, "own", secrets[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateUser(ctx, store.User{Name: "ann"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateFactor(ctx, store.Factor{User: 1, Kind: store.TOTP, Secret: secrets[3]}, nil); err != nil {
		t.Fatal(err)
	}
	for _, value := range secrets[1:3] {
		if err := s.PutTenantSecret(ctx, 1, store.TenantSecret{Name: "KEY", Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	read(s)
	if len(shown()) == 0 {
		t.Fatal("secrets in the clear are not found: the test looks in the wrong place")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, given := range []*keyring.Ring{keys(key[0]), keys(key[0]), keys(key[1], key[0]), keys(key[1])} {
		s := mustOpen(t, path, Options{Keys: given})
		read(s)
		if counts, err := s.SealedWith(ctx); err != nil || len(counts) != 1 || counts[given.Current()] != 3 {
			t.Errorf("sealed with: %v, %v", counts, err)
		}
		if found := shown(); len(found) > 0 {
			t.Errorf("in the clear while it is open: %q", found)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if found := shown(); len(found) > 0 {
			t.Errorf("in the clear after it is closed: %q", found)
		}
	}

	// The key is wrong: nothing opens, and nothing is changed.
	if s, err := Open(ctx, path, Options{Keys: keys(key[0])}); err == nil || !strings.Contains(err.Error(), "throng key forget") || !strings.Contains(err.Error(), keys(key[1]).Current()) {
		t.Errorf("a wrong key: %v, %v", s, err)
	}
	s = mustOpen(t, path, Options{Keys: keys(key[1])})
	read(s)

	// A row that was moved or changed by hand does not open, and is no other's.
	if _, err := s.write.ExecContext(ctx, `insert into tenant_secrets (tenant, name, secret, sealed_with) select tenant, 'MOVED', secret, sealed_with from tenant_secrets`); err != nil {
		t.Fatal(err)
	}
	if got, err := s.TenantSecret(ctx, 1, "MOVED"); err == nil || got.Value != "" {
		t.Errorf("moved: %+v, %v", got, err)
	}
	read(s)
	if gone, err := s.ForgetSealed(ctx, keys(key[1])); err != nil || strings.Join(gone, ", ") != "n1 MOVED" {
		t.Errorf("forgotten: %q, %v", gone, err)
	}
	read(s)

	// The key is lost.
	if gone, err := s.ForgetSealed(ctx, keys(key[0])); err != nil || strings.Join(gone, ", ") != "own, second factor of u1, n1 KEY" {
		t.Errorf("forgotten: %q, %v", gone, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, path, Options{Keys: keys(key[0])})
	defer s.Close()
	if got, err := s.Secret(context.Background(), "own", "another"); err != nil || got != "another" {
		t.Errorf("after it is forgotten: %q, %v", got, err)
	}
}
