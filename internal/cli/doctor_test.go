package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/notify/notifytest"
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
