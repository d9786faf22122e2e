package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

func mustOpen(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return s.(*Store)
}

func TestEveryConnectionHasItsSettings(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "a b?c#d%20.db"), Options{MaxPages: 5000})
	defer s.Close()
	ask := func(db *sql.DB, pragma, want string) {
		t.Helper()
		var conns []*sql.Conn
		for range min(3, db.Stats().MaxOpenConnections) {
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, conn)
			var got string
			if err := conn.QueryRowContext(t.Context(), "pragma "+pragma).Scan(&got); err != nil || got != want {
				t.Errorf("connection %d: pragma %s is %s (%v), want %s", len(conns), pragma, got, err, want)
			}
		}
		for _, conn := range conns {
			_ = conn.Close()
		}
	}
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "10000", "wal_autocheckpoint": "100000", "max_page_count": "5000",
	} {
		ask(s.write, pragma, want)
		ask(s.log.own, pragma, want)
	}
	for pragma, want := range map[string]string{"query_only": "1", "busy_timeout": "10000"} {
		ask(s.read, pragma, want)
		ask(s.scan, pragma, want)
	}
	if _, err := s.read.ExecContext(t.Context(), "delete from users"); err == nil {
		t.Error("a reading connection wrote")
	}
	if got := s.write.Stats().MaxOpenConnections; got != 1 {
		t.Errorf("%d writing connections", got)
	}
}

func TestOneServerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "throng.db")
	s := mustOpen(t, path, Options{})
	_, err := Open(t.Context(), path, Options{})
	if err == nil {
		t.Fatal("opened twice")
	}
	for _, part := range []string{path + ".lock", "another process", fmt.Sprint("pid ", os.Getpid())} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q does not say %q", err, part)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := mustOpen(t, path, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "throng.db")
	s := mustOpen(t, path, Options{})
	if _, err := s.write.ExecContext(t.Context(), `insert into goose_db_version (version_id, is_applied) values (99, true)`); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the lock is free again after a failure
		_, err := Open(t.Context(), path, Options{})
		if err == nil || !strings.Contains(err.Error(), "schema version 99") || !strings.Contains(err.Error(), "newer version") {
			t.Fatalf("opening a database of the future: %v", err)
		}
	}
}

// TestSchema compares the schema that the migrations make with the one that
// was looked at. UPDATE=1 writes it.
func TestSchema(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "throng.db"), Options{})
	defer s.Close()
	rows, err := s.read.QueryContext(t.Context(), `select sql from sqlite_schema where sql is not null and name not like 'goose%' and name not like 'sqlite%' order by name`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var schema strings.Builder
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		schema.WriteString(text + ";\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "schema.sql")
	if os.Getenv("UPDATE") == "1" {
		if err := os.WriteFile(golden, []byte(schema.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), schema.String()); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	for _, table := range []string{"assignments", "answers", "labels", "ledger", "accounts", "tasks", "progress"} { // written on every cycle
		var indexes int
		if err := s.read.QueryRowContext(t.Context(), `select count(*) from sqlite_schema where type = 'index' and tbl_name = $1`, table).Scan(&indexes); err != nil || indexes > 0 {
			t.Errorf("%s has %d indexes (%v): its key should be the rowid, and nothing else", table, indexes, err)
		}
	}
}

func TestWhatIsNotADatabase(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, dir, filepath.Join(dir, "missing", "throng.db")} {
		if s, err := Open(t.Context(), path, Options{}); err == nil {
			_ = s.Close()
			t.Errorf("%s was opened", path)
		}
	}
}

// TestLibcIsThePinnedOne keeps what SQLite's authors demand: the C library at
// the very version that their go.mod names.
func TestLibcIsThePinnedOne(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}} {{.GoMod}}", "modernc.org/sqlite", "modernc.org/libc").Output()
	if err != nil {
		t.Fatalf("ask for the modules: %v", err)
	}
	var have, file, libc string
	if _, err := fmt.Sscan(string(out), &have, &file, &libc); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pinned := regexp.MustCompile(`modernc\.org/libc (v\S+)`).FindSubmatch(text)
	if pinned == nil {
		t.Fatal("SQLite's go.mod names no libc")
	}
	if want := string(pinned[1]); libc != want {
		t.Errorf("modernc.org/libc is %s, but modernc.org/sqlite %s needs %s: go get modernc.org/libc@%s", libc, have, want, want)
	}
}

// counts reads how many answers and labels are kept, and that all agrees.
func (s *bench) counts(t *testing.T) (answers, labels int) {
	t.Helper()
	b, err := s.Batch(t.Context(), 0, s.batch)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range s.Annotations(t.Context(), b.Spec.Tenant, s.batch, true) {
		if err != nil {
			t.Fatal(err)
		}
		answers++
	}
	if err := s.read.QueryRowContext(t.Context(), `select count(*) from labels`).Scan(&labels); err != nil {
		t.Fatal(err)
	}
	if b.Progress.Completed != answers || b.Progress.Labelled != labels {
		t.Fatalf("%d answers and %d labels, but progress says %+v", answers, labels, b.Progress)
	}
	if err := s.CheckLedger(t.Context()); err != nil {
		t.Fatal(err)
	}
	return answers, labels
}

func TestDiskFull(t *testing.T) {
	s := newBench(t, 0)
	limit := func(pages int) {
		t.Helper()
		if _, err := s.write.ExecContext(t.Context(), fmt.Sprintf("pragma max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 {
		s.cycles(100)
		s.commit(t)
	}
	var pages int
	if err := s.read.QueryRowContext(t.Context(), "pragma page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	limit(pages + 20)
	kept := int(s.answers)
	var err error
	for range 200 {
		s.cycles(50)
		if err = s.Commit(t.Context(), &s.changes); err != nil {
			break
		}
		kept += 50
	}
	full := func(what string, err error) {
		t.Helper()
		if crowd.CodeOf(err) != crowd.StorageFull {
			t.Fatalf("%s: got %v, want a full disk", what, err)
		}
	}
	full("commit", err)
	full("the same commit again", s.Commit(t.Context(), &s.changes))
	full("add tasks", s.AddTasks(t.Context(), newDraft(t, s), manyTasks(5000)))
	if answers, _ := s.counts(t); answers != kept || kept < 1050 {
		t.Fatalf("%d answers are kept, %d were acknowledged", answers, kept)
	}
	for l, err := range s.Labels(t.Context(), 1, s.batch+1) {
		t.Fatalf("the import that failed left %v, %v", l, err)
	}
	limit(1 << 30)
	s.commit(t) // what did not fit
	s.cycles(50)
	s.commit(t)
	if answers, labels := s.counts(t); answers != kept+100 || labels != answers/3 {
		t.Fatalf("%d answers and %d labels are kept, want %d and a third of that", answers, labels, kept+100)
	}
	var report string
	if err := s.write.QueryRowContext(t.Context(), "pragma integrity_check").Scan(&report); err != nil || report != "ok" {
		t.Errorf("integrity: %s, %v", report, err)
	}
}

func newDraft(t *testing.T, s *bench) crowd.BatchID {
	id, err := s.CreateBatch(t.Context(), store.Batch{Pool: s.pool, Spec: engine.Spec{Tenant: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func manyTasks(n int) []store.Task {
	list := make([]store.Task, n)
	for i := range list {
		list[i].Values = []string{strings.Repeat("x", 100)}
	}
	return list
}

// TestCrash opens copies of the files as a crash would leave them.
func TestCrash(t *testing.T) {
	s := newBench(t, 0)
	for round := range 6 {
		for range 5 {
			s.cycles(64)
			s.commit(t)
		}
		if round == 3 { // with part of the log brought home
			if _, _, err := checkpoint(t.Context(), s.log.own, "passive"); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(t.TempDir(), "copy.db")
		for _, suffix := range []string{"", "-wal"} {
			data, err := os.ReadFile(s.path() + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if suffix == "-wal" && round%2 == 1 {
				data = append(data, data[len(data)-3000:]...) // a commit that was being written
			}
			if err := os.WriteFile(path+suffix, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		again := &bench{Store: mustOpen(t, path, Options{}), batch: s.batch}
		if answers, _ := again.counts(t); answers != int(s.answers) {
			t.Errorf("round %d: %d answers after the crash, %d were acknowledged", round, answers, s.answers)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(path + "-wal"); !os.IsNotExist(err) {
			t.Errorf("the log is left behind by Close: %v", err)
		}
	}
}

func (s *bench) path() string { return strings.TrimSuffix(s.lock.file.Name(), ".lock") }

func TestTheLogStaysShort(t *testing.T) {
	s := newBench(t, 0)
	start := time.Now()
	var longest int64
	for time.Since(start) < 2*time.Second {
		s.cycles(64)
		s.commit(t)
		info, err := os.Stat(s.path() + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		longest = max(longest, info.Size())
	}
	t.Logf("%d cycles, log up to %d MiB", s.answers, longest>>20)
	if longest > 4*longLogPages*4096 {
		t.Errorf("the log grew to %d MiB", longest>>20)
	}
	if err := s.log.failed.Load(); err != nil {
		t.Error(*err)
	}
}

// TestTheLogIsUsedAgainAfterALongRead: while somebody reads one state of the database
// the log grows, and afterwards it does not grow any more.
func TestTheLogIsUsedAgainAfterALongRead(t *testing.T) {
	s := newBench(t, 0)
	tx, err := s.scan.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow("select count(*) from tasks").Scan(&n); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		info, err := os.Stat(s.path() + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	commits := 0
	for ; size() < 2*longLogPages*4096; commits++ {
		s.cycles(64)
		s.commit(t)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	long := size()
	for range 2 * commits {
		s.cycles(64)
		s.commit(t)
	}
	t.Logf("%d commits, log of %d MiB, then of %d", commits, long>>20, size()>>20)
	if size() > 2*long {
		t.Errorf("the log grew from %d to %d MiB", long>>20, size()>>20)
	}
}

// TestSmallDisk fills a real disk: a file system of a few MiB, mounted by the
// caller, such as
//
//	mount -t tmpfs -o size=3m tmpfs /tmp/small
func TestSmallDisk(t *testing.T) {
	dir := os.Getenv("THRONG_SMALL_DISK")
	if dir == "" {
		t.Skip("left out: THRONG_SMALL_DISK names no small file system")
	}
	for slack := range 6 { // the end comes at another place each time
		dir, err := os.MkdirTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		filler := filepath.Join(dir, "filler")
		if err := os.WriteFile(filler, make([]byte, 500_000+slack*1500), 0o600); err != nil {
			t.Fatal(err)
		}
		s := &bench{Store: mustOpen(t, filepath.Join(dir, "throng.db"), Options{})}
		s.setUp(t, 0)
		kept, failures := 0, 0
		for failures < 3 {
			s.cycles(20)
			s.changes.Progress[0].Completed = kept + 20
			s.changes.Progress[0].Labelled = 0
			s.changes.Labels = nil
			if err := s.Commit(t.Context(), &s.changes); err != nil {
				if crowd.CodeOf(err) != crowd.StorageFull {
					t.Fatalf("after %d answers: got %v, want a full disk", kept, errors.Unwrap(err))
				}
				failures++
				s.answers -= 20
				s.issued -= 20
			} else {
				kept += 20
			}
			if kept > 100_000 {
				t.Fatalf("%s does not fill up", dir)
			}
		}
		if answers, _ := s.counts(t); answers != kept {
			t.Fatalf("%d answers are kept on the full disk, %d were acknowledged", answers, kept)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			s.cycles(20)
			s.changes.Progress[0].Completed, s.changes.Progress[0].Labelled, s.changes.Labels = kept+20, 0, nil
			s.commit(t)
			kept += 20
		}
		if answers, _ := s.counts(t); answers != kept {
			t.Fatalf("%d answers are kept after all, %d were acknowledged", answers, kept)
		}
		t.Logf("full and well again with %d answers", kept)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheFileIsOurs: others on the machine can read neither answers nor hashes
// of passwords.
func TestTheFileIsOurs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "throng.db")
	st, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	looked := 0
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		looked++
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o", info.Name(), info.Mode().Perm())
		}
	}
	if looked == 0 {
		t.Error("no file was looked at")
	}
}
