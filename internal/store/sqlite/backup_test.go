package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/store"
)

func pools(t *testing.T, path string) int {
	t.Helper()
	s := mustOpen(t, path, Options{})
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	list, err := s.ListPools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func add(t *testing.T, s *Store, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		if _, err := s.CreatePool(t.Context(), store.Pool{Name: fmt.Sprint("pool", i), Policy: "fifo"}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBackupWhileAServerWrites: a backup is the database at one moment between its begin
// and its end, and what goes on is not disturbed.
func TestBackupWhileAServerWrites(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "throng.db")
	s := mustOpen(t, path, Options{})
	before, err := s.ListPools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := len(before)
	add(t, s, 0, 50)
	ctx, stop := context.WithCancel(t.Context())
	written := make(chan int)
	go func() {
		k := 50
		for ctx.Err() == nil {
			if _, err := s.CreatePool(t.Context(), store.Pool{Name: fmt.Sprint("pool", k), Policy: "fifo"}); err != nil {
				t.Error(err)
				break
			}
			k++
		}
		written <- k
	}()
	to := filepath.Join(dir, "copy.db")
	size, err := Backup(t.Context(), path, to)
	stop()
	total := <-written
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(to); err != nil || info.Size() != size || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v, %d bytes told", info, err, size)
	}
	if _, err := Backup(t.Context(), path, to); err == nil {
		t.Error("a backup was overwritten")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	restored := filepath.Join(t.TempDir(), "throng.db")
	if _, err := Restore(t.Context(), to, restored, false); err != nil {
		t.Fatal(err)
	}
	if got := pools(t, restored); got < n+50 || got > n+total {
		t.Errorf("%d pools in the backup, %d to %d were there", got, n+50, n+total)
	}
	if got := pools(t, path); got != n+total {
		t.Errorf("%d pools in the database, want %d", got, n+total)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.part*")); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// killed returns the files of a database as kill -9 leaves them, with n pools made.
func killed(t *testing.T, n int) (path string) {
	t.Helper()
	from := filepath.Join(t.TempDir(), "throng.db")
	s := mustOpen(t, from, Options{})
	add(t, s, 0, n)
	path = filepath.Join(t.TempDir(), "throng.db")
	for _, end := range []string{"", "-wal"} {
		b, err := os.ReadFile(from + end)
		if err == nil {
			err = os.WriteFile(path+end, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRestoreRefuses: only a whole backup is restored, and over nothing.
func TestRestoreRefuses(t *testing.T) {
	ctx := t.Context()
	live := killed(t, 3)
	backup := filepath.Join(t.TempDir(), "backup.db")
	if _, err := Backup(ctx, live, backup); err != nil {
		t.Fatal(err)
	}
	if err := LogMissing(live); err != nil {
		t.Errorf("a backup of what a killed server left has brought its log home: %v", err)
	}
	whole, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	file := func(b []byte) string {
		name := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	newer := file(whole)
	change(t, newer, "insert into goose_db_version (version_id, is_applied) values (99999, 1)")
	orphan := file(whole)
	change(t, orphan, "insert into recovery_codes (user_id, hash) values (4711, x'01')")
	strange := filepath.Join(t.TempDir(), "strange")
	change(t, strange, "create table t (x integer)")
	harmed := bytes.Clone(whole)
	clear(harmed[len(harmed)/2 : len(harmed)/2+4096])
	for name, test := range map[string]struct{ from, want string }{
		"not there":        {live + "x", "no such file"},
		"empty":            {file(nil), "empty"},
		"text":             {file([]byte(strings.Repeat("what is this? ", 10_000))), "not a database"},
		"cut off":          {file(whole[:len(whole)/2]), "cut off"},
		"of 50 bytes":      {file(whole[:50]), "not a database"},
		"damaged":          {file(harmed), "damaged"},
		"a dangling row":   {orphan, "refers to a row of"},
		"newer":            {newer, "newer version of Throng"},
		"of somebody else": {strange, "another program"},
	} {
		to := filepath.Join(t.TempDir(), "throng.db")
		if _, err := Restore(ctx, test.from, to, false); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		left, err := filepath.Glob(to + "*")
		if err != nil || len(left) != 1 || left[0] != to+".lock" {
			t.Errorf("%s left %v behind (%v)", name, left, err)
		}
	}
	if _, err := Restore(ctx, backup, live, false); err == nil || !strings.Contains(err.Error(), "--replace") {
		t.Errorf("over a database: %v", err)
	}
	s := mustOpen(t, live, Options{})
	if _, err := Restore(ctx, backup, live, true); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("under a server: %v", err)
	}
	add(t, s, 100, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	kept, err := Restore(ctx, backup, live, true)
	if err != nil {
		t.Fatal(err)
	}
	is := pools(t, live)
	if was := pools(t, kept); was != is+1 {
		t.Errorf("%d pools are kept, %d restored", was, is)
	}
	// What a killed server left is kept with its log, and can be restored again.
	dead := killed(t, 5)
	kept, err = Restore(ctx, backup, dead, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(ctx, kept, dead, true); err != nil {
		t.Fatal(err)
	}
	if again := pools(t, dead); again != is+2 {
		t.Errorf("%d pools after what was kept was restored, %d after the backup of 3", again, is)
	}
	other := mustOpen(t, filepath.Join(t.TempDir(), "other.db"), Options{})
	defer other.Close()
	add(t, other, 0, 1)
	var inUse string
	if err := other.write.QueryRowContext(ctx, "select file from pragma_database_list").Scan(&inUse); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(ctx, inUse, filepath.Join(t.TempDir(), "throng.db"), false); err == nil || !strings.Contains(err.Error(), "is in use") {
		t.Errorf("from under a server: %v", err)
	}
	part := live + ".part"
	if err := os.WriteFile(part, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(ctx, part, live, true); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("what is left of a restore: %v", err)
	}
	if left, err := os.ReadFile(part); err != nil || !bytes.Equal(left, whole) {
		t.Errorf("it was changed: %v", err)
	}
}

// change does something to a database behind its back.
func change(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, nil))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), text)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestBackupsToOneName: of several at once one is made, whole, and the others say that it is
// there.
func TestBackupsToOneName(t *testing.T) {
	path := killed(t, 20)
	for range 5 {
		to := filepath.Join(t.TempDir(), "copy.db")
		errs := make(chan error)
		for range 3 {
			go func() {
				_, err := Backup(t.Context(), path, to)
				errs <- err
			}()
		}
		made := 0
		for range 3 {
			if err := <-errs; err == nil {
				made++
			} else if !strings.Contains(err.Error(), "is there") {
				t.Error(err)
			}
		}
		if err := Intact(t.Context(), to); err != nil || made != 1 {
			t.Errorf("%d were made: %v", made, err)
		}
		if left, err := filepath.Glob(to + ".*"); len(left) > 0 || err != nil {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
}
