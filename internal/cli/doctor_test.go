package cli

import (
	"bytes"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/server/notify/notifytest"
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
