package sqlite

import (
	"bytes"
	"database/sql"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
		"nothing":             {func(string) error { return nil }, ""},
		"closed":              {closed, ""},
		"empty":               {all(closed, func(path string) error { return os.Truncate(path, 0) }), "the file is empty"},
		"no file but its log": {remove(""), "throng.db is missing"},
		"cut off":             {all(closed, func(path string) error { return os.Truncate(path, 8192) }), "is cut off: it has 8192 bytes of "},
		"no database":         {all(remove("-wal"), func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("text "), 1000), 0o600) }), "is not a database"},
		"a log of another":    {logOf(other), "that of another database"},
		"a restore that was cut off before the old log went": {func(p string) error {
			to := filepath.Join(t.TempDir(), "copy.db")
			_, err := Backup(t.Context(), p, to)
			return errors.Join(err, os.Rename(to, p))
		}, "that of another database"},
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
