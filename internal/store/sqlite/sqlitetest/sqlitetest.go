// Package sqlitetest gives tests databases of SQLite in which nothing is yet.
package sqlitetest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/throng-dev/throng/internal/store/sqlite"
)

// New returns the path of a new database that has the schema: sqlite.Open has nothing to bring
// up to date. That takes more than most tests do, so that it is done once, and each test has a copy.
func New(t testing.TB) string {
	t.Helper()
	content, err := empty()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "throng.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// empty is the file of a database in which nothing is yet.
var empty = sync.OnceValues(func() (_ []byte, err error) {
	dir, err := os.MkdirTemp("", "throng-sqlite-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is temporary
	path := filepath.Join(dir, "throng.db")
	st, err := sqlite.Open(context.Background(), path, sqlite.Options{Scratch: true})
	if err != nil {
		return nil, err
	}
	if err := st.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})
