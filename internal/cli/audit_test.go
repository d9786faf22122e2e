package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/wire"
)

// TestAudit lists, shows, exports and verifies the log of a server.
func TestAudit(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	data := t.TempDir()
	s, err := server.Start(t.Context(), server.Config{Data: data, Listen: "127.0.0.1:0", AuditRetention: 24 * time.Hour, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	link, err := s.App.Accounts.Bootstrap(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.App.Accounts.Setup(t.Context(), link, "correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("THRONG_SERVER", s.URL)
	t.Setenv("THRONG_TOKEN", token)
	run := func(want int, words string, args ...string) string {
		t.Helper()
		var out, problem bytes.Buffer
		code := Main(t.Context(), args, strings.NewReader(""), &out, &problem, "v0.0.0-test")
		said := out.String() + problem.String()
		if code != want {
			t.Errorf("throng %s: %d, %s", strings.Join(args, " "), code, said)
		}
		for word := range strings.SplitSeq(words, "|") {
			if !strings.Contains(said, word) {
				t.Errorf("throng %s says nothing of %q: %s", strings.Join(args, " "), word, said)
			}
		}
		return out.String()
	}
	run(0, "", "tenant", "add", "north")
	run(0, "", "tenant", "deposit", "north", "5", "--note", "so <&> so")
	run(0, "", "tenant", "add", "south")
	run(0, "NUMBER|added tenant n2|admin|127.0.0.1", "audit", "list", "--since", "1h")
	if list := run(0, "", "audit", "list", "--object", "n1", "--by", "admin"); strings.Contains(list, "n2") || strings.Count(list, "\n") != 3 {
		t.Errorf("of n1 there is %s", list)
	}
	run(0, "no such entries", "audit", "list", "--until", "1h")
	run(2, "limit", "audit", "list", "--limit", "0")
	run(2, "is not a time", "audit", "list", "--since", "yesterday")
	var list []wire.AuditEntry
	if err := json.Unmarshal([]byte(run(0, "", "audit", "list", "--operation", "Tenants.Create", "--json")), &list); err != nil || len(list) != 2 || list[1].Summary != "added tenant n1" {
		t.Errorf("%v: %+v", err, list)
	}
	run(0, "FIELD|so <&> so|hash", "audit", "show", "4")
	run(1, "there is no entry 99", "audit", "show", "99")

	file, part := filepath.Join(t.TempDir(), "audit.jsonl"), filepath.Join(t.TempDir(), "n1.jsonl")
	run(0, "", "audit", "export", "--out", file)
	run(0, "", "audit", "export", "--object", "n2", "--out", part)
	run(0, "none is missing", "audit", "verify", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSpace(string(text))+"\n", "\n")
	changed := filepath.Join(t.TempDir(), "changed.jsonl")
	for what, c := range map[string]struct {
		text, want string
	}{
		"a change":         {strings.Replace(string(text), "north", "nurth", 1), "line 3 "},
		"one taken out":    {lines[0] + strings.Join(lines[2:], ""), ""},
		"two exchanged":    {lines[0] + lines[2] + lines[1] + strings.Join(lines[3:], ""), "line 3 "},
		"a digest besides": {strings.Replace(string(text), `"hash"`, `"change_digest":"x","hash"`, 1), "line 1 "},
		"cut":              {string(text)[:len(text)-9], "line 5 is not an entry"},
		"nothing":          {"", "there is no entry"},
	} {
		if err := os.WriteFile(changed, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if c.want == "" { // that is what a gap is
			run(0, "1 entry between them", "audit", "verify", changed)
			continue
		}
		t.Run(what, func(t *testing.T) { run(1+btoi(what == "nothing"), c.want, "audit", "verify", changed) })
	}

	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	run(0, "has the same entries, and its chain is whole", "audit", "verify", file, "--data", data)
	run(0, "has the same entries", "audit", "verify", part, "--data", data)
	run(2, "is not a data folder", "audit", "verify", file, "--data", t.TempDir())
	st, err := sqlite.Open(t.Context(), filepath.Join(data, server.DatabaseFile), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.DropAudit(t.Context(), store.AuditDropping{Before: time.Now().Add(time.Hour), Setting: "a test", Limit: 3, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	run(0, "has dropped the first 3", "audit", "verify", file, "--data", data)
	run(0, "from number 4 on: those before it were dropped", "doctor", "--data", data)
	other := t.TempDir()
	if st, err = sqlite.Open(t.Context(), filepath.Join(other, server.DatabaseFile), sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		a := &store.Act{AuditEntry: store.AuditEntry{At: time.Now(), Operation: "Tenants.Create", Kind: "tenant"}}
		if _, err := st.CreateTenant(store.WithActs(t.Context(), a), store.Tenant{Name: time.Now().String(), Weight: 1}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	run(1, "line 1 (entry 1) is another one in the database", "audit", "verify", file, "--data", other)
}
