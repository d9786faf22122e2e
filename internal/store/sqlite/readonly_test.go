package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/store"
)

func TestOpenReadOnly(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "throng.db")
	if _, err := OpenReadOnly(ctx, path); err == nil {
		t.Error("a database that is not there was opened")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("looking has made a file")
	}
	look := func(when string, want int) {
		t.Helper()
		r, err := OpenReadOnly(ctx, path)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		defer func() {
			if err := r.Close(); err != nil {
				t.Errorf("%s: close: %v", when, err)
			}
		}()
		pools, err := r.ListPools(ctx)
		if err != nil || len(pools) != want {
			t.Errorf("%s: %d pools (%v), want %d", when, len(pools), err, want)
		}
		if _, err := r.CreatePool(ctx, store.Pool{Name: "mine"}); err == nil {
			t.Errorf("%s: it was changed", when)
		}
		for _, p := range pools {
			if _, err := r.Snapshot(ctx, p.ID); err != nil {
				t.Errorf("%s: %v", when, err)
			}
			if _, _, err := r.Activity(ctx, p.ID, time.Unix(1, 0), 10); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
	}
	s := mustOpen(t, path, Options{})
	if _, err := s.CreatePool(ctx, store.Pool{Name: "one", Policy: "fifo"}); err != nil {
		t.Fatal(err)
	}
	look("while a server runs", 1)
	if _, err := s.CreatePool(ctx, store.Pool{Name: "two", Policy: "fifo"}); err != nil {
		t.Errorf("the server cannot go on: %v", err)
	}
	look("while it goes on", 2)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	look("after it has stopped", 2)
	s = mustOpen(t, path, Options{})
	if _, err := s.write.ExecContext(ctx, "update goose_db_version set version_id = 99 where version_id = (select max(version_id) from goose_db_version)"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReadOnly(ctx, path); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("a newer program's database gives %v", err)
	}
}
