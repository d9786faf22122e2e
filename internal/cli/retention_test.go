package cli

import (
	"bytes"
	"database/sql"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/server"
)

// TestRetentionAsksFirst: what a tenant's new retention deletes at once is named and has to be
// agreed to; what deletes nothing yet is set.
func TestRetentionAsksFirst(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	data, token := t.TempDir(), ""
	start := func() *server.Server {
		s, err := server.Start(t.Context(), server.Config{Data: data, Listen: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("THRONG_SERVER", s.URL)
		if token == "" {
			link, err := s.App.Accounts.Bootstrap(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if token, err = s.App.Accounts.Setup(t.Context(), link, "correct horse battery"); err != nil {
				t.Fatal(err)
			}
			t.Setenv("THRONG_TOKEN", token)
		}
		return s
	}
	run := func(want int, word string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		code := Main(t.Context(), args, strings.NewReader(""), &out, &out, "v0.0.0-test")
		if code != want || !strings.Contains(out.String(), word) {
			t.Errorf("throng %s: %d, %s; want %d and %q", strings.Join(args, " "), code, &out, want, word)
		}
	}
	template, words := filepath.Join(t.TempDir(), "template.json"), filepath.Join(t.TempDir(), "words.csv")
	for name, text := range map[string]string{template: `{"kind": "short_text", "question": "${word}?"}`, words: "word\nfoo\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := start()
	run(0, "", "tenant", "add", "north", "--deposit", "5")
	run(0, "", "batch", "create", "--tenant", "north", "--name", "words", "--template", template, "--reward", "0.01", "--file", words, "--launch", "--allow-small-crowd")
	run(0, "", "batch", "end", "b1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(data, server.DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "update progress set ended_at = ended_at - 5 * 86400000000"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s = start()
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	run(1, "this deletes at once, and for good: answers of b1 (to look first: --dry-run; to delete it: --yes)", "tenant", "retention", "north", "--set", "answers=2")
	run(0, "for ever", "tenant", "retention", "north")
	run(0, "answers", "tenant", "retention", "north", "--set", "answers=30")
	run(0, "2 days", "tenant", "retention", "north", "--set", "answers=2", "--yes")
}
