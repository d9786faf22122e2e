package cli

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/server/notify/notifytest"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
)

func TestDoctorSendsATestMail(t *testing.T) {
	t.Parallel()
	server := notifytest.StartMail(t, nil)
	url := "smtp://" + server.Address() + "?tls=none&from=throng@example.org"
	doctor := func() (code int, out string) {
		var stdout, stderr bytes.Buffer
		code = Main(t.Context(), []string{"doctor", "--mail-to", "me@example.org", "--mail", url}, strings.NewReader(""), &stdout, &stderr, "v0")
		return code, stdout.String()
	}
	if code, out := doctor(); code != 0 || !strings.HasPrefix(out, "ok   mail ") || !strings.Contains(out, server.Address()+" took it for me@example.org") {
		t.Errorf("code %d: %s", code, out)
	}
	if mails := server.Received(); len(mails) != 1 || mails[0].To != "me@example.org" || !strings.Contains(mails[0].Data, "Throng can send mail.") {
		t.Errorf("the server got %+v", mails)
	}
	server.Down()
	if code, out := doctor(); code != exitFailed || !strings.HasPrefix(out, "BAD  mail ") || !strings.Contains(out, "connection refused") {
		t.Errorf("code %d: %s", code, out)
	}
}

// TestDoctorMissesAnAdministrator: a folder of people of whom none may act as one.
func TestDoctorMissesAnAdministrator(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, err := sqlite.Open(t.Context(), filepath.Join(dir, server.DatabaseFile), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.CreateUser(t.Context(), store.User{Name: "admin", Admin: true, Suspended: true}); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code := Main(t.Context(), []string{"doctor", "--data", dir}, strings.NewReader(""), &stdout, &stderr, "v0")
	if code != exitFailed || !strings.Contains(stdout.String(), "BAD  admins       nobody is an administrator who is not suspended") {
		t.Errorf("code %d: %s%s", code, &stdout, &stderr)
	}
}

// TestDoctorChangesNothing: a folder of an older version stays one.
func TestDoctorChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, server.DatabaseFile)
	st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), "delete from goose_db_version where version_id > 1"); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code := Main(t.Context(), []string{"doctor", "--data", dir}, strings.NewReader(""), &stdout, &stderr, "v0")
	if code != exitFailed || !strings.Contains(stdout.String(), "BAD  database") || !strings.Contains(stdout.String(), "schema version 1") {
		t.Errorf("code %d: %s", code, stdout.String())
	}
	var version int
	if err := db.QueryRowContext(t.Context(), "select max(version_id) from goose_db_version").Scan(&version); err != nil || version != 1 {
		t.Errorf("the schema is of version %d now: %v", version, err)
	}
}

// TestDoctorOfDamage: whatever is broken in a database is told, and nothing panics.
func TestDoctorOfDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, server.DatabaseFile)
	st, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"north", "south"} {
		if _, err := st.CreateTenant(t.Context(), store.Tenant{Name: name}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 1))
	found := 0
	const rounds = 60
	for i := range rounds {
		harmed := bytes.Clone(whole)
		switch at := r.IntN(len(harmed)); i % 3 {
		case 0: // a page of other bytes
			at -= at % 4096
			for j := range 4096 {
				harmed[at+j] = byte(r.Uint32())
			}
		case 1: // a page of zeros
			at -= at % 4096
			clear(harmed[at : at+4096])
		case 2: // the beginning of a page, where its structure is
			at -= at % 4096
			for j := range 12 {
				harmed[at+j] ^= byte(1 + r.IntN(255))
			}
		}
		if err := os.WriteFile(path, harmed, 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), []string{"doctor", "--data", dir, "--json"}, strings.NewReader(""), &stdout, &stderr, "v0")
		var d diagnosis
		if err := json.Unmarshal(stdout.Bytes(), &d); err != nil {
			t.Fatalf("%v: %s%s", err, stdout.String(), stderr.String())
		}
		if d.OK != (code == 0) || d.OK != (len(d.Problems) == 0) {
			t.Errorf("code %d, ok %t, problems %q", code, d.OK, d.Problems)
		}
		if !d.OK {
			found++
		}
		for _, end := range []string{"-wal", "-shm"} {
			_ = os.Remove(path + end) // of a database that could not be closed
		}
	}
	if found < rounds*9/10 { // a free page may be anything
		t.Errorf("of %d databases with a broken page %d are told", rounds, found)
	}
}
