package server_test

import (
	"database/sql"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/store/sqlite"
)

// page returns the status and the body of a page, or 0 if nobody listens.
func page(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	check(t, err)
	return resp.StatusCode, string(body)
}

// TestProfilesAreOnTheAddressOfMetricsOnly, without the command line.
func TestProfilesAreOnTheAddressOfMetricsOnly(t *testing.T) {
	t.Parallel()
	cfg := server.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", MetricsListen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Version: "test"}
	s, err := server.Start(t.Context(), cfg)
	check(t, err)
	defer func() { check(t, s.Close()) }()
	extra := strings.TrimSuffix(s.MetricsURL, "/metrics")
	for path, begins := range map[string]string{
		"/debug/pprof/": "<html>", "/debug/pprof/heap": "\x1f\x8b", "/debug/pprof/goroutine?debug=1": "goroutine profile:", "/debug/pprof/symbol": "num_symbols",
		"/debug/pprof/profile?seconds=1": "\x1f\x8b", "/debug/pprof/trace?seconds=0.01": "go 1.", "/readyz": "ready\n", "/healthz": "ok\n",
	} {
		if code, body := page(t, extra+path); code != 200 || !strings.HasPrefix(body, begins) {
			t.Errorf("%s: %d, %.40q", path, code, body)
		}
		if code, _ := page(t, s.URL+path); strings.Contains(path, "debug") && code != 404 {
			t.Errorf("%s of the main address: %d", path, code)
		}
	}
	if code, body := page(t, extra+"/debug/pprof/cmdline"); code != 404 {
		t.Errorf("the command line: %d, %.40q", code, body)
	}
}

// TestNotReadyWhileStarting: the address of metrics answers while the database is opened,
// here by another program, which keeps it locked.
func TestNotReadyWhileStarting(t *testing.T) {
	t.Parallel()
	cfg := server.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", MetricsListen: freeAddress(t), Log: slog.New(slog.DiscardHandler), Version: "test"}
	path := filepath.Join(cfg.Data, server.DatabaseFile)
	st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	check(t, err)
	check(t, st.Close())
	other, err := sql.Open("sqlite", path+"?_txlock=immediate")
	check(t, err)
	defer other.Close()
	tx, err := other.BeginTx(t.Context(), nil)
	check(t, err)
	type result struct {
		s   *server.Server
		err error
	}
	started := make(chan result, 1)
	go func() {
		s, err := server.Start(t.Context(), cfg)
		started <- result{s, err}
	}()
	extra := "http://" + cfg.MetricsListen
	for code := 0; code == 0; {
		if code, _ = page(t, extra+"/healthz"); len(started) > 0 {
			t.Fatalf("it has started before: %v", (<-started).err)
		}
	}
	if code, body := page(t, extra+"/readyz"); code != 503 || body != "not ready\nstarting: the database is opened and brought up to date\n" {
		t.Errorf("/readyz: %d, %q", code, body)
	}
	if code, _ := page(t, extra+"/metrics"); code != 503 {
		t.Errorf("/metrics: %d", code)
	}
	check(t, tx.Rollback())
	r := <-started
	check(t, r.err)
	defer func() { check(t, r.s.Close()) }()
	if code, body := page(t, extra+"/readyz"); code != 200 || body != "ready\n" {
		t.Errorf("/readyz: %d, %q", code, body)
	}
}
