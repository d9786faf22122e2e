package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

// lineOf is a line of a file of the audit log.
func lineOf(e *store.AuditEntry, renamed string) string {
	out := wire.AuditEntry{
		Number: e.Number, At: e.At, Tenant: e.Tenant, Actor: e.Actor.String(), Operation: e.Operation, Kind: e.Kind, Object: e.Object, Address: e.Address,
		Before: e.Before, After: e.After, Salt: e.Salt, AddressSalt: e.AddressSalt, Previous: e.Previous, Hash: e.Hash,
	}
	if renamed != "" {
		out.Object, out.Renamed = renamed, true
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		panic(err)
	}
	return line.String()
}

// auditFile is a file of three entries, of which the second has a worker by a pseudonym.
func auditFile() []string {
	previous := ""
	var lines []string
	for n, object := range []string{"n1", "u7", "b3"} {
		e := store.AuditEntry{
			Number: int64(n + 4), At: time.Unix(1_700_000_000, 0).UTC(), Tenant: 1, Actor: 2, Operation: "Some.Change", Kind: "thing", Object: object,
			Address: "192.0.2.1", After: json.RawMessage(`{"name":"so <&> so"}`), Previous: previous,
		}
		e.Seal()
		previous = e.Hash
		lines = append(lines, lineOf(&e, map[string]string{"u7": "w_qk3ybd5nn2l7xw6dlbrnqhzcaq"}[object]))
	}
	return lines
}

// FuzzAuditFile: whatever stands in a file, verifying it ends, and says of as many entries
// as there are lines that they are in order.
func FuzzAuditFile(f *testing.F) {
	lines := auditFile()
	f.Add([]byte(strings.Join(lines, "")))
	f.Add([]byte(lines[0] + lines[2]))
	f.Add([]byte(lines[1]))
	f.Add([]byte(`{"number":9223372036854775807,"renamed":true}`))
	f.Add([]byte("{\"number\":1}\n\n"))
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, text []byte) {
		var v verified
		if err := v.read(bytes.NewReader(text), nil); err != nil {
			return
		}
		if n := int64(bytes.Count(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))) + 1; v.Entries != n || v.First < 1 || v.Last-v.First+1 != v.Entries+v.Missing || v.Gaps > v.Missing || v.Renamed > v.Entries {
			t.Errorf("%d lines are %+v", n, v)
		}
		v.show(io.Discard)
	})
}

// TestRenamedEntries: what of an entry with a pseudonym is verified is where it stands, and
// the file says of how many that is.
func TestRenamedEntries(t *testing.T) {
	t.Parallel()
	lines := auditFile()
	for name, c := range map[string]struct{ text, wrong string }{
		"as exported":                    {strings.Join(lines, ""), ""},
		"with something else in it":      {lines[0] + strings.Replace(lines[1], "w_qk", "w_xx", 1) + lines[2], ""},
		"with another hash":              {lines[0] + strings.Replace(lines[1], `"hash":"`, `"hash":"0`, 1) + lines[2], "line 3 "},
		"after another one":              {lines[0] + strings.Replace(lines[1], `"previous":"`, `"previous":"0`, 1) + lines[2], "line 2 "},
		"one that is not said to be one": {lines[0] + strings.Replace(lines[1], `"renamed":true`, `"renamed":false`, 1) + lines[2], "line 2 "},
		"another one of the same name":   {lines[0] + strings.Replace(lines[1], `"number":5`, `"number":4`, 1), "line 2 "},
	} {
		var v verified
		err := v.read(strings.NewReader(c.text), nil)
		switch {
		case c.wrong == "" && (err != nil || v.Renamed != 1 || v.Entries != 3 || v.Gaps != 0):
			t.Errorf("%s: %+v, %v", name, v, err)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestATenantsFile: a requester's export, in which a worker stands by a pseudonym, is
// verified, and compared with the database.
func TestATenantsFile(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	data := t.TempDir()
	s, err := server.Start(t.Context(), server.Config{Data: data, Listen: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	do := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	a := s.App.Accounts
	link, err := a.Bootstrap(t.Context())
	do("the first administrator", err)
	token, err := a.Setup(t.Context(), link, "correct horse battery")
	do("their password", err)
	admin, err := a.Authenticate(t.Context(), token, netip.MustParseAddr("127.0.0.1"))
	do("signing in", err)
	tenant, err := s.App.Tenants.Create(t.Context(), admin, accounts.NewTenant{Name: "north", Weight: 1})
	do("a tenant", err)
	_, link, err = a.CreateUser(t.Context(), admin, accounts.NewUser{Name: "ann", Tenants: []crowd.TenantID{tenant.ID}})
	do("a requester", err)
	token, err = a.Setup(t.Context(), link, "correct horse battery")
	do("their password", err)
	worker, _, err := a.CreateUser(t.Context(), admin, accounts.NewUser{Name: "wim", Pool: 1})
	do("a worker", err)
	known, err := a.Worker(t.Context(), admin, tenant.ID, worker.ID.String())
	do("their pseudonym", err)
	ann, err := a.Authenticate(t.Context(), token, netip.MustParseAddr("127.0.0.1"))
	do("signing in", err)
	do("blocking", a.BlockWorker(t.Context(), ann, tenant.ID, known.Pseudonym, true))

	t.Setenv("THRONG_SERVER", s.URL)
	t.Setenv("THRONG_TOKEN", token)
	file := filepath.Join(t.TempDir(), "north.jsonl")
	run := func(args ...string) string {
		t.Helper()
		var out, problem bytes.Buffer
		if code := Main(t.Context(), args, strings.NewReader(""), &out, &problem, "v0.0.0-test"); code != 0 {
			t.Fatalf("throng %s: %d, %s", strings.Join(args, " "), code, problem.String())
		}
		return out.String()
	}
	run("audit", "export", "--out", file)
	text, err := os.ReadFile(file)
	do("the file", err)
	if !bytes.Contains(text, []byte(known.Pseudonym)) || bytes.Contains(text, []byte(`"`+worker.ID.String()+`"`)) {
		t.Errorf("the file is %s", text)
	}
	if said := run("audit", "verify", file); !strings.Contains(said, "1 entry has a worker by a pseudonym") {
		t.Errorf("it says %s", said)
	}
	do("closing", s.Close())
	if said := run("audit", "verify", file, "--data", data); !strings.Contains(said, "has the same entries") {
		t.Errorf("it says %s", said)
	}
}
