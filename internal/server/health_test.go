package server_test

import (
	"context"
	"database/sql"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/postgres"
	"github.com/throng-dev/throng/internal/store/postgres/pgtest"
	"github.com/throng-dev/throng/internal/store/sqlite"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Tests{M: m}.Run()) }

// served is a server with a clock of the test's.
type served struct {
	*app.App
	handler http.Handler
	seconds atomic.Int64 // that the clock was put forward
	probes  atomic.Int64
}

// counted counts the probes of a store.
type counted struct {
	store.Store
	probes *atomic.Int64
}

func (c counted) Probe(ctx context.Context) error {
	c.probes.Add(1)
	return c.Store.Probe(ctx)
}

func serve(t *testing.T, st store.Store) *served {
	t.Helper()
	s := &served{}
	log := slog.New(slog.DiscardHandler)
	begin := time.Now()
	var err error
	s.App, err = app.Open(t.Context(), app.Config{Passwords: auth.LeastCost, Store: counted{st, &s.probes}, Log: log, Now: func() time.Time { return begin.Add(time.Duration(s.seconds.Load()) * time.Second) }})
	check(t, err)
	t.Cleanup(func() {
		s.Close()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	s.handler, err = server.Handler(s.App, server.Config{Log: log, Version: "test"})
	check(t, err)
	return s
}

// get returns the status and the body of a page.
func (s *served) get(path string) (int, string) {
	reply := httptest.NewRecorder()
	s.handler.ServeHTTP(reply, httptest.NewRequest(http.MethodGet, path, nil))
	return reply.Code, reply.Body.String()
}

func (s *served) is(t *testing.T, status int, begins string) {
	t.Helper()
	if code, body := s.get("/readyz"); code != status || !strings.HasPrefix(body, begins) {
		t.Errorf("/readyz: %d, %q; want %d, %q", code, body, status, begins)
	}
	if code, body := s.get("/healthz"); code != 200 || body != "ok\n" {
		t.Errorf("/healthz: %d, %q", code, body)
	}
}

// blocks are how the writes of a store are made to wait for another transaction.
var blocks = map[string]func(*testing.T) (st store.Store, driver, address, lock string){
	"sqlite": func(t *testing.T) (store.Store, string, string, string) {
		path := filepath.Join(t.TempDir(), "throng.db")
		st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		check(t, err)
		return st, "sqlite", path + "?_txlock=immediate", "select 1"
	},
	"postgres": func(t *testing.T) (store.Store, string, string, string) {
		address := pgtest.New(t)
		st, err := postgres.Open(t.Context(), address, postgres.Options{MaxConns: 8})
		check(t, err)
		return st, "pgx", address, "lock table secrets in exclusive mode"
	},
}

// TestNotReadyWhileWritesBlock: the store is written at most once in five seconds, and once
// at a time; what waits for it does not wait for long.
func TestNotReadyWhileWritesBlock(t *testing.T) {
	t.Parallel()
	for name, open := range blocks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, driver, address, lock := open(t)
			s := serve(t, st)
			s.is(t, 200, "ready\n")
			s.is(t, 200, "ready\n")
			other, err := sql.Open(driver, address)
			check(t, err)
			defer other.Close()
			tx, err := other.BeginTx(t.Context(), nil)
			check(t, err)
			_, err = tx.ExecContext(t.Context(), lock)
			check(t, err)
			s.seconds.Add(4)
			s.is(t, 200, "ready\n") // since it was 4 seconds ago
			if n := s.probes.Load(); n != 1 {
				t.Errorf("the store was written %d times in 4 seconds", n)
			}
			s.seconds.Add(1)
			s.is(t, 503, "not ready\nstore: there is no answer since 20")
			s.seconds.Add(10)
			s.is(t, 503, "not ready\nstore: there is no answer since 20")
			if n := s.probes.Load(); n != 2 {
				t.Errorf("the store is written %d times, want the second time still", n)
			}
			check(t, tx.Rollback())
			for status := 0; status != 200; {
				if status, _ = s.get("/readyz"); t.Context().Err() != nil {
					t.Fatal(t.Context().Err())
				}
			}
		})
	}
}

// TestNotReadyOnAFullDisk: for the store is written for that.
func TestNotReadyOnAFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "throng.db")
	st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	check(t, err)
	check(t, st.Close())
	file, err := os.Stat(path)
	check(t, err)
	st, err = sqlite.Open(t.Context(), path, sqlite.Options{MaxPages: file.Size() / 4096})
	check(t, err)
	s := serve(t, st)
	s.is(t, 503, "not ready\nstore: the disk is full: nothing can be kept until there is room again\n")
}

// TestNotReadyWhileStopping.
func TestNotReadyWhileStopping(t *testing.T) {
	t.Parallel()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "throng.db"), sqlite.Options{})
	check(t, err)
	s := serve(t, st)
	s.is(t, 200, "ready\n")
	s.StopWaiting()
	s.is(t, 503, "not ready\nstopping: what was begun is finished, and nothing more is taken\n")
}
