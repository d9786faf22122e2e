package server_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/wire"
)

// TestScratchFiles: a Parquet file that is uploaded lies in the data folder, and what
// was left there is removed at the start.
func TestScratchFiles(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
	data := t.TempDir()
	left := filepath.Join(data, "tmp", "throng-1.parquet")
	check(t, errors.Join(os.Mkdir(filepath.Dir(left), 0o700), os.WriteFile(left, []byte("PAR1"), 0o600)))
	s, err := server.Start(t.Context(), server.Config{Data: data, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Version: "test"})
	check(t, err)
	defer func() { check(t, s.Close()) }()
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what was left is there: %v", err)
	}

	link, err := s.App.Accounts.Bootstrap(t.Context())
	check(t, err)
	secret, err := s.App.Accounts.Setup(t.Context(), link, "a password of a few words")
	check(t, err)
	admin := (&client.Client{URL: s.URL}).As(secret)
	tenant, err := admin.CreateTenant(t.Context(), wire.NewTenant{Name: "ants"})
	check(t, err)
	run, err := admin.MakeRun(t.Context(), wire.NewRun{Tenant: tenant.ID, Workflow: "workflow: W\ninputs: {things: {columns: [name]}}\nsteps:\n  same:\n    from: things\n    sql: select name from things\n"})
	check(t, err)
	var file bytes.Buffer
	w, err := table.NewWriter(&file, []string{"name"}, table.WriterOptions{Format: table.Parquet})
	check(t, err)
	check(t, errors.Join(w.Write([]string{"Rex"}), w.Flush()))
	loaded, err := admin.LoadRun(t.Context(), run.ID, "things", &file, "parquet")
	if err != nil || loaded.Rows != 1 {
		t.Errorf("loaded: %+v, %v", loaded, err)
	}
	if list, err := os.ReadDir(filepath.Dir(left)); err != nil || len(list) != 0 {
		t.Errorf("%d files are left, %v", len(list), err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
