package cli

import (
	"bytes"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/passkey/passkeytest"
)

// TestLoginWithACode against a server on which the admin holds a second factor, and has to.
func TestLoginWithACode(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("THRONG_SERVER", "")
	s, err := server.Start(t.Context(), server.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", RequireFactor: "admins", Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	const password = "correct horse battery"
	login := func(args ...string) (string, int) {
		var out, problem bytes.Buffer
		code := Main(t.Context(), append([]string{"login", "--server", s.URL, "--password-stdin"}, args...), strings.NewReader(password+"\n"), &out, &problem, "v0.0.0-test")
		return out.String() + problem.String(), code
	}
	link, err := s.App.Accounts.Bootstrap(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.App.Accounts.Setup(t.Context(), link, password)
	if err != nil {
		t.Fatal(err)
	}
	if said, code := login("admin"); code == 0 || !strings.Contains(said, "your account needs a second factor") {
		t.Errorf("who has none: %d, %s", code, said)
	}
	p, err := s.App.Accounts.Authenticate(t.Context(), token, netip.Addr{})
	if err != nil {
		t.Fatal(err)
	}
	secret, err := s.App.Accounts.BeginTOTP(t.Context(), p, "", accounts.Proof{Password: password})
	if err != nil {
		t.Fatal(err)
	}
	now, err := auth.TOTP(secret, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	codes, err := s.App.Accounts.ConfirmTOTP(t.Context(), p, secret, now)
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"admin":               "code: is needed",
		"admin --code 000000": "code: is wrong",
	} {
		if said, code := login(strings.Fields(args)...); code == 0 || !strings.Contains(said, want) {
			t.Errorf("%s: %d, %s", args, code, said)
		}
	}
	if said, _ := login("admin"); !strings.Contains(said, "(give it with --code)") {
		t.Errorf("without a code: %s", said)
	}
	if said, code := login("admin", "--code", codes[0]); code != 0 || !strings.Contains(said, "as admin (admin)") {
		t.Errorf("with a recovery code: %d, %s", code, said)
	}
}

// TestLoginWithAPasskey: who holds nothing else is told what does here, and an administrator
// sees what it is.
func TestLoginWithAPasskey(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	const password, origin = "correct horse battery", "https://throng.example"
	s, err := server.Start(t.Context(), server.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", PublicURL: origin, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	t.Setenv("THRONG_SERVER", s.URL)
	run := func(args ...string) (string, int) {
		var out, problem bytes.Buffer
		code := Main(t.Context(), args, strings.NewReader(password+"\n"), &out, &problem, "v0.0.0-test")
		return out.String() + problem.String(), code
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	link, err := s.App.Accounts.Bootstrap(t.Context())
	must(err)
	token, err := s.App.Accounts.Setup(t.Context(), link, password)
	must(err)
	p, err := s.App.Accounts.Authenticate(t.Context(), token, netip.Addr{})
	must(err)
	must(s.App.Accounts.BeginPasskey(t.Context(), p, "Key on the ring", origin, accounts.Proof{Password: password}))
	asked, err := s.App.Accounts.MakePasskey(t.Context(), p, origin)
	must(err)
	codes, err := s.App.Accounts.ConfirmPasskey(t.Context(), p, accounts.Passkey{Answer: (&passkeytest.Authenticator{}).Make(t, asked, origin, passkeytest.Lie{})})
	must(err)
	if said, code := run("login", "admin", "--password-stdin"); code == 0 || !strings.Contains(said, "your passkey can be shown in a browser only. Elsewhere a recovery code does") || !strings.Contains(said, "token for programs") {
		t.Errorf("without a code: %d, %s", code, said)
	}
	if said, code := run("login", "admin", "--password-stdin", "--code", codes[0]); code != 0 {
		t.Errorf("with a recovery code: %d, %s", code, said)
	}
	if said, code := run("worker", "second-factor", "show", "admin"); code != 0 || !strings.Contains(said, "passkey") || !strings.Contains(said, "Key on the ring") || !strings.Contains(said, "recovery codes left: 9") {
		t.Errorf("shown: %d, %s", code, said)
	}
}
