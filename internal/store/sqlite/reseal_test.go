package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/kit/keyring"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlstore"
)

// sealedBy makes a database with as many secrets that one key has sealed, set one by one, as
// people set them, and returns what they were sealed to.
func sealedBy(t *testing.T, path string, key *keyring.Ring, n int) (sealed [][]byte) {
	t.Helper()
	s := mustOpen(t, path, Options{Keys: key})
	defer s.Close()
	if _, err := s.CreateTenant(t.Context(), store.Tenant{Name: "North", Weight: 1}, 0); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		err := s.PutTenantSecret(t.Context(), 1, store.TenantSecret{Name: fmt.Sprintf("KEY_%d", i*7919%n), Value: fmt.Sprintf("value-%d-%s", i, strings.Repeat("x", i%60))})
		if err != nil {
			t.Fatal(err)
		}
	}
	rows, err := s.read.QueryContext(t.Context(), "select secret from tenant_secrets")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		sealed = append(sealed, text)
	}
	if err := rows.Err(); err != nil || len(sealed) != n {
		t.Fatalf("%d sealed texts, %v, want %d", len(sealed), err, n)
	}
	return sealed
}

// foundIn counts the texts that a file of a folder has.
func foundIn(t *testing.T, dir string, texts [][]byte) (n int) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no files")
	}
	var all []byte
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	for _, text := range texts {
		if bytes.Contains(all, text) {
			n++
		}
	}
	return n
}

func ringOf(t *testing.T, keys ...string) *keyring.Ring {
	t.Helper()
	r, err := keyring.Parse([]byte(strings.Join(keys, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAChangeOfTheKeyLeavesNothing changes the key of many secrets, whose pages were split as
// they were set: what the old key sealed them to is in no byte of the folder, while the store
// is open and after it. A start that seals nothing writes nothing anew.
func TestAChangeOfTheKeyLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "throng.db")
	old, young := keyring.New(), keyring.New()
	sealed := sealedBy(t, path, ringOf(t, old), 150)
	if n := foundIn(t, dir, sealed); n != len(sealed) {
		t.Fatalf("%d of %d are found before: the test looks in the wrong place", n, len(sealed))
	}
	s := mustOpen(t, path, Options{Keys: ringOf(t, young, old)})
	if n := foundIn(t, dir, sealed); n > 0 {
		t.Errorf("%d of %d sealed by the old key while it is open", n, len(sealed))
	}
	if since, err := s.Unscrubbed(t.Context()); err != nil || !since.IsZero() {
		t.Errorf("unscrubbed since %v, %v", since, err)
	}
	for i := range 150 {
		if err := s.DeleteTenantSecret(t.Context(), 1, fmt.Sprint("KEY_", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := foundIn(t, dir, sealed); n > 0 {
		t.Errorf("%d of %d sealed by the old key after it is closed", n, len(sealed))
	}
	s = mustOpen(t, path, Options{Keys: ringOf(t, young)})
	defer s.Close()
	var free int
	if err := s.read.QueryRowContext(t.Context(), "pragma freelist_count").Scan(&free); err != nil || free == 0 {
		t.Errorf("%d free pages, %v: the file was written anew though nothing was sealed", free, err)
	}
}

// TestAChangeOfTheKeyThatIsKilled kills a change of the key at each of its steps: the next
// start finishes it, also if it has the new key only.
func TestAChangeOfTheKeyThatIsKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "throng.db")
	old, young := keyring.New(), keyring.New()
	sealed := sealedBy(t, path, ringOf(t, old), 150)
	s := mustOpen(t, path, Options{Keys: ringOf(t, old)})
	defer s.Close()
	killedAt := make(map[string]string)
	kill := func(when string) error {
		killedAt[when] = filepath.Join(t.TempDir(), "throng.db")
		file, err := os.ReadFile(path)
		log, err2 := os.ReadFile(path + "-wal")
		return errors.Join(err, err2, os.WriteFile(killedAt[when], file, 0o600), os.WriteFile(killedAt[when]+"-wal", log, 0o600))
	}
	scrub := func() error {
		if err := kill("when it is sealed"); err != nil {
			return err
		}
		if err := errors.Join(s.vacuum(t.Context()), kill("when the file is written anew")); err != nil {
			return err
		}
		return errors.Join(s.cutLog(t.Context()), kill("when the log is cut"))
	}
	changing := sqlstore.New(sqlstore.Pools{Write: s.write, Read: s.read, Scan: s.scan}, sqlstore.Dialect{
		Scrub: func(context.Context, string) error {
			if err := scrub(); err != nil {
				t.Error(err)
			}
			return errors.New("killed")
		},
	}, ringOf(t, young, old))
	if err := changing.Reseal(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(killedAt) != 3 {
		t.Fatalf("killed at %v", killedAt)
	}
	for when, path := range killedAt {
		after := mustOpen(t, path, Options{Keys: ringOf(t, young)})
		if n := foundIn(t, filepath.Dir(path), sealed); n > 0 {
			t.Errorf("killed %s: %d of %d sealed by the old key while it is open again", when, n, len(sealed))
		}
		if got, err := after.TenantSecret(t.Context(), 1, "KEY_0"); err != nil || !strings.HasPrefix(got.Value, "value-") {
			t.Errorf("killed %s: %+v, %v", when, got, err)
		}
		if since, err := after.Unscrubbed(t.Context()); err != nil || !since.IsZero() {
			t.Errorf("killed %s: unscrubbed since %v, %v", when, since, err)
		}
		if err := after.Close(); err != nil {
			t.Error(err)
		}
	}

	// It was not killed, but could not write the files anew: that is done later.
	if since, err := s.Unscrubbed(t.Context()); err != nil || since.IsZero() {
		t.Errorf("unscrubbed since %v, %v", since, err)
	}
	if err := s.Scrub(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if since, err := s.Unscrubbed(t.Context()); err != nil || !since.IsZero() {
		t.Errorf("unscrubbed since %v, %v, when it is scrubbed", since, err)
	}
}

// TestAStartThatIsRefusedLosesNothing: a database that was closed, or left by a server that was
// killed, is not said to lack commits after a start without its key, and one that lacks its
// log still is.
func TestAStartThatIsRefusedLosesNothing(t *testing.T) {
	key := keyring.New()
	path := filepath.Join(t.TempDir(), "throng.db")
	sealedBy(t, path, ringOf(t, key), 1)
	refused := func(path string) {
		t.Helper()
		if s, err := Open(t.Context(), path, Options{Keys: ringOf(t, keyring.New())}); err == nil {
			_ = s.Close()
			t.Fatal("it opens with another key")
		}
	}
	refused(path)
	if err := LogMissing(path); err != nil {
		t.Errorf("after a refused start: %v", err)
	}
	s := mustOpen(t, path, Options{Keys: ringOf(t, key)})
	add(t, s, 0, 1)
	left := filepath.Join(t.TempDir(), "throng.db")
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + end)
		if err = errors.Join(err, os.WriteFile(left+end, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	lost := filepath.Join(t.TempDir(), "throng.db")
	data, err := os.ReadFile(left)
	if err = errors.Join(err, os.WriteFile(lost, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	refused(left)
	if err := LogMissing(left); err != nil {
		t.Errorf("after a refused start on what a killed server left: %v", err)
	}
	refused(lost)
	if LogMissing(lost) == nil {
		t.Error("a log that is missing is not told after a refused start")
	}
}
