package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
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

// TestFilesThatAreWrong: what is lost or belongs to another database is told, and
// nothing is changed.
func TestFilesThatAreWrong(t *testing.T) {
	other := killed(t, 30)
	remove := func(end string) func(string) error {
		return func(path string) error { return os.Remove(path + end) }
	}
	logOf := func(from string) func(string) error {
		return func(path string) error {
			b, err := os.ReadFile(from + "-wal")
			return errors.Join(err, os.WriteFile(path+"-wal", b, 0o600))
		}
	}
	closed := func(path string) error {
		s, err := Open(t.Context(), path, Options{})
		if err == nil {
			err = s.Close()
		}
		return err
	}
	all := func(steps ...func(string) error) func(string) error {
		return func(path string) (err error) {
			for _, step := range steps {
				err = errors.Join(err, step(path))
			}
			return err
		}
	}
	for name, test := range map[string]struct {
		harm func(path string) error
		want string // "": it opens
	}{
		"nothing":                  {func(string) error { return nil }, ""},
		"closed":                   {closed, ""},
		"empty":                    {all(closed, func(path string) error { return os.Truncate(path, 0) }), "the file is empty"},
		"no file but its log":      {remove(""), "throng.db is missing"},
		"cut off":                  {all(closed, func(path string) error { return os.Truncate(path, 8192) }), "is cut off: it has 8192 bytes of "},
		"no database":              {all(remove("-wal"), func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("text "), 1000), 0o600) }), "is not a database"},
		"a log of another":         {logOf(other), "that of another database"},
		"a log of another, closed": {all(closed, func(p string) error { return replaced(t, p) }, logOf(other)), "that of another database"},
		"cut off, with its log": {func(path string) error {
			if err := closed(path); err != nil {
				return err
			}
			s, err := Open(t.Context(), path, Options{})
			if err != nil {
				return err
			}
			add(t, s.(*Store), 50, 3)
			log, err := os.ReadFile(path + "-wal")
			file, err2 := os.ReadFile(path)
			return errors.Join(err, err2, s.Close(), os.WriteFile(path+"-wal", log, 0o600), os.WriteFile(path, file[:8192], 0o600))
		}, "cut off"},
		"a cold copy beside a later log": {func(path string) error {
			if err := closed(path); err != nil {
				return err
			}
			cold, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var log []byte
			for i := range 2 {
				s, err := Open(t.Context(), path, Options{})
				if err != nil {
					return err
				}
				add(t, s.(*Store), 100*(i+1), 20)
				if log, err = os.ReadFile(path + "-wal"); err != nil {
					return err
				}
				if err := s.Close(); err != nil {
					return err
				}
			}
			return errors.Join(os.WriteFile(path, cold, 0o600), os.WriteFile(path+"-wal", log, 0o600))
		}, "that of another database"},
		"a log that began again": {func(path string) error {
			s, err := Open(t.Context(), path, Options{})
			if err != nil {
				return err
			}
			add(t, s.(*Store), 100, 20)
			if _, err := s.(*Store).log.look(t.Context(), true); err != nil {
				return err
			}
			add(t, s.(*Store), 150, 20)
			log, err := os.ReadFile(path + "-wal")
			file, err2 := os.ReadFile(path)
			return errors.Join(err, err2, s.Close(), os.WriteFile(path, file, 0o600), os.WriteFile(path+"-wal", log, 0o600))
		}, ""},
		"a cold copy beside the log that began at it": {func(path string) error {
			if err := closed(path); err != nil {
				return err
			}
			cold, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			s, err := Open(t.Context(), path, Options{})
			if err != nil {
				return err
			}
			add(t, s.(*Store), 100, 20)
			log, err := os.ReadFile(path + "-wal")
			return errors.Join(err, s.Close(), os.WriteFile(path, cold, 0o600), os.WriteFile(path+"-wal", log, 0o600))
		}, ""},
		"no log in the file of one":  {all(closed, func(p string) error { return os.WriteFile(p+"-wal", bytes.Repeat([]byte("text "), 1000), 0o600) }), ""},
		"begun anew with everything": {all(remove(""), remove("-wal")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := killed(t, 3)
			if err := test.harm(path); err != nil {
				t.Fatal(err)
			}
			before := contents(t, path)
			s, err := Open(t.Context(), path, Options{})
			if err == nil {
				err = s.Close()
			} else if !bytes.Equal(before, contents(t, path)) {
				t.Error("the files were changed")
			}
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// replaced puts a backup of a database in its place, as who copies one does.
func replaced(t *testing.T, path string) error {
	to := filepath.Join(t.TempDir(), "copy.db")
	_, err := Backup(t.Context(), path, to)
	return errors.Join(err, os.Rename(to, path))
}

func contents(t *testing.T, path string) (all []byte) {
	t.Helper()
	for _, end := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + end)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		all = append(append(all, b...), '|')
	}
	return all
}

// TestALogThatIsMissing: it is told of a database that was not closed.
func TestALogThatIsMissing(t *testing.T) {
	path := killed(t, 3)
	if err := LogMissing(path); err != nil {
		t.Errorf("with its log: %v", err)
	}
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	if err := LogMissing(path); err == nil || !strings.Contains(err.Error(), "throng.db-wal is missing") {
		t.Errorf("without its log: %v", err)
	}
	if err := os.WriteFile(path+"-wal", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := LogMissing(path); err == nil {
		t.Error("an empty log is taken for its log")
	}
	link := filepath.Join(t.TempDir(), "throng.db")
	whole := killed(t, 1)
	if err := os.Symlink(whole, link); err != nil {
		t.Fatal(err)
	}
	if err := LogMissing(link); err != nil {
		t.Errorf("by a link: %v", err)
	}
	if pools(t, link) != pools(t, whole) {
		t.Error("a link leads to another database")
	}
	pools(t, path)
	if err := LogMissing(path); err != nil {
		t.Errorf("after it was opened and closed: %v", err)
	}
	if err := LogMissing(path + "x"); err != nil {
		t.Errorf("of no database: %v", err)
	}
}

// TestMarksWhileSomebodyReads: a reader who keeps the log from coming home makes no
// database look like another, whenever the server is killed.
func TestMarksWhileSomebodyReads(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for range 8 {
		path := filepath.Join(t.TempDir(), "throng.db")
		var readers []*sql.Tx
		var db []*sql.DB
		made := 0
		for range 6 {
			s := mustOpen(t, path, Options{})
			for range r.IntN(3) {
				add(t, s, made, 1)
				made++
				if r.IntN(2) == 0 {
					d, err := sql.Open("sqlite", readDSN(path))
					if err != nil {
						t.Fatal(err)
					}
					tx, err := d.BeginTx(t.Context(), nil)
					if err != nil {
						t.Fatal(err)
					}
					if err := tx.QueryRowContext(t.Context(), "select count(*) from pools").Scan(new(int)); err != nil {
						t.Fatal(err)
					}
					db, readers = append(db, d), append(readers, tx)
				}
				if r.IntN(3) == 0 && len(readers) > 0 {
					i := r.IntN(len(readers))
					_ = readers[i].Rollback()
					_ = db[i].Close()
					readers, db = append(readers[:i], readers[i+1:]...), append(db[:i], db[i+1:]...)
				}
				if err := checkFiles(path); err != nil { // as of one who is killed now
					t.Fatal(err)
				}
			}
			_, _ = s.write.ExecContext(t.Context(), "pragma busy_timeout = 0") // who reads does not go
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(checkFiles(path), LogMissing(path)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range readers {
			_ = readers[i].Rollback()
			_ = db[i].Close()
		}
	}
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
