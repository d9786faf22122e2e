// Package pgtest gives tests a real PostgreSQL: one server for the tests of a package, with
// a database of its own for each.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Tests are the tests of a package that may use PostgreSQL: its TestMain runs them.
type Tests struct{ *testing.M }

// Run runs the tests, and stops the server that they may have started.
func (t Tests) Run() int {
	defer func() { _ = one.stop() }() // its files are temporary
	return t.M.Run()
}

// New makes an empty database, and returns its address. Where PostgreSQL is not installed the
// test is skipped, unless THRONG_REQUIRE_POSTGRES is set.
func New(t testing.TB) string {
	t.Helper()
	s := started(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	name := fmt.Sprintf("t%d", s.made)
	s.exec(t, "create database "+name)
	return s.address(name)
}

// Copy is New with what prepare has put into a database, which is done once for all tests
// that give it the same name.
func Copy(t testing.TB, name string, prepare func(address string) error) string {
	t.Helper()
	s := started(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	model := "model_" + name
	if !s.models[model] {
		s.exec(t, "create database "+model)
		if err := prepare(s.address(model)); err != nil {
			t.Fatal(err)
		}
		if s.models == nil {
			s.models = make(map[string]bool)
		}
		s.models[model] = true
	}
	s.made++
	own := fmt.Sprintf("t%d", s.made)
	s.exec(t, "create database "+own+" template "+model)
	return s.address(own)
}

// Restart stops the server as if it had been killed, and starts it again.
func Restart(t testing.TB) {
	t.Helper()
	s := started(t)
	if err := errors.Join(s.kill(), s.start()); err != nil {
		t.Error(err)
	}
}

func started(t testing.TB) *server {
	t.Helper()
	s, err := once()
	switch {
	case err == nil:
	case errors.Is(err, exec.ErrNotFound) && os.Getenv("THRONG_REQUIRE_POSTGRES") == "":
		t.Skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
	default:
		t.Fatal(err)
	}
	return s
}

var (
	one  server
	once = sync.OnceValues(func() (*server, error) { return &one, one.begin() })
)

// server is a PostgreSQL server whose files are temporary.
type server struct {
	dir, bin string // empty until it began
	process  *exec.Cmd
	ended    chan struct{}

	mu     sync.Mutex
	made   int             // databases
	models map[string]bool // that are ready
}

// begin makes the files of the server, and starts it.
func (s *server) begin() (err error) {
	if s.bin, err = programs(); err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "throng-pg-"); err != nil {
		return err
	}
	if err := own(s.dir); err != nil {
		return err
	}
	initdb := s.command("initdb", "--pgdata", s.data(), "--username", "throng", "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return s.start()
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

// command is one of PostgreSQL's programs, as a user who may run it.
func (s *server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir = s.dir
	c.SysProcAttr = attributes()
	return c
}

// start starts the server, and waits until it answers.
func (s *server) start() error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.process = s.command("postgres", "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=400", "-c", "timezone=Asia/Kathmandu")
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		return err
	}
	s.ended = make(chan struct{})
	go func() {
		_ = s.process.Wait() // how it ended is in the log
		close(s.ended)
	}()
	return s.answers()
}

// answers waits until the server takes connections.
func (s *server) answers() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.address("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-s.ended:
			text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			return fmt.Errorf("PostgreSQL has ended: %s", text)
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// address is how a database is reached.
func (s *server) address(name string) string {
	return "postgres:///" + name + "?" + url.Values{"host": {s.dir}, "user": {"throng"}}.Encode()
}

func (s *server) exec(t testing.TB, text string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.address("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// kill ends the server at once: nothing is brought to its end.
func (s *server) kill() error {
	err := s.process.Process.Signal(atOnce)
	<-s.ended
	return err
}

func (s *server) stop() error {
	var err error
	if s.process != nil && s.process.Process != nil {
		err = s.kill()
	}
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

// programs is the folder of PostgreSQL's programs: the newest of Debian's, or that in the path.
func programs() (string, error) {
	debian, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(debian) > 0 {
		return filepath.Dir(debian[len(debian)-1]), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", err
	}
	return filepath.Dir(path), nil
}

// Holds reports whether a file of a database has a text in it, after a checkpoint.
func Holds(t testing.TB, address, text string) bool {
	t.Helper()
	s := started(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	var oid uint32
	if _, err := conn.Exec(t.Context(), "checkpoint"); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), "select oid from pg_database where datname = $1", u.Path[1:]).Scan(&oid); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(s.data(), "base", fmt.Sprint(oid), "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of the database: %v", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(text)) {
			return true
		}
	}
	return false
}
