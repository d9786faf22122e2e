package server_test

import (
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/server/notify/notifytest"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

// TestMessagesAreSent: a server with a mail server and a push subject sends by both,
// with links that begin with its public address, and keeps its push key.
func TestMessagesAreSent(t *testing.T) {
	done := make(chan struct{}, 1)
	mail := notifytest.StartMail(t, func(s *notifytest.MailServer) {
		s.Heard = func(command string) {
			if command == "QUIT" {
				done <- struct{}{}
			}
		}
	})
	cfg := server.Config{
		Data: t.TempDir(), Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Version: "test",
		PublicURL: "https://throng.example.org", Mail: "smtp://" + mail.Address() + "?tls=none&from=throng@example.org", PushSubject: "mailto:boss@example.org",
	}
	s, err := server.Start(t.Context(), cfg)
	check(t, err)
	link, err := s.App.Accounts.Bootstrap(t.Context())
	check(t, err)
	secret, err := s.App.Accounts.Setup(t.Context(), link, "a password of a few words")
	check(t, err)
	admin := (&client.Client{URL: s.URL}).As(secret)
	pools, err := admin.Pools(t.Context())
	check(t, err)
	invited, err := admin.Invite(t.Context(), wire.NewInvitations{Pool: pools[0].ID, Addresses: []string{"eve@example.org"}})
	if err != nil || !invited.Mail || len(invited.Invited) != 1 {
		t.Fatalf("invited: %+v, %v", invited, err)
	}
	select {
	case <-done:
	case <-t.Context().Done():
	}
	if list := mail.Received(); len(list) != 1 || list[0].To != "eve@example.org" || !strings.Contains(list[0].Data, "https://throng.example.org/") {
		t.Errorf("the mails are %+v", list)
	}

	made, err := admin.CreateUser(t.Context(), wire.NewUser{Name: "wendy", Pool: pools[0].ID})
	check(t, err)
	secret, err = s.App.Accounts.Setup(t.Context(), made.SetupToken, "another password of a few words")
	check(t, err)
	p, err := s.App.Accounts.Authenticate(t.Context(), secret, netip.Addr{})
	check(t, err)
	to := notifytest.NewBrowser(t).Target("https://push.example.org/1")
	browser := store.Subscription{Endpoint: to.Endpoint, P256dh: to.P256dh, Auth: to.Auth}
	if _, err := s.App.Duty.Subscribe(t.Context(), p, browser); err != nil {
		t.Errorf("a browser that takes messages is refused: %v", err)
	}
	key := s.App.Duty.PushKey()
	check(t, s.Close())
	s, err = server.Start(t.Context(), cfg)
	check(t, err)
	if again := s.App.Duty.PushKey(); again == "" || again != key {
		t.Errorf("after a restart the push key is %q, not %q", again, key)
	}
	check(t, s.Close())

	cfg.Mail, cfg.PushSubject = "", ""
	s, err = server.Start(t.Context(), cfg)
	check(t, err)
	if _, err := s.App.Duty.Subscribe(t.Context(), p, browser); crowd.CodeOf(err) != crowd.Conflict || s.App.Duty.PushKey() != "" {
		t.Errorf("without push a browser is taken (%v), with the key %q", err, s.App.Duty.PushKey())
	}
	check(t, s.Close())
}

// TestBadSenders: what cannot be used is said by the name of its flag, and the server
// does not start.
func TestBadSenders(t *testing.T) {
	good := "https://throng.example.org"
	for name, x := range map[string]struct {
		cfg   server.Config
		field string
	}{
		"no scheme":               {server.Config{PublicURL: "throng.example.org"}, "public-url"},
		"another scheme":          {server.Config{PublicURL: "ftp://throng.example.org"}, "public-url"},
		"no host":                 {server.Config{PublicURL: "https:///x"}, "public-url"},
		"a query":                 {server.Config{PublicURL: good + "/?a=b"}, "public-url"},
		"a fragment":              {server.Config{PublicURL: good + "/#a"}, "public-url"},
		"not an address":          {server.Config{PublicURL: "https://%zz"}, "public-url"},
		"mail without an address": {server.Config{Mail: "smtp://localhost?tls=none&from=a@example.org"}, "public-url"},
		"a bad mail server":       {server.Config{PublicURL: good, Mail: "smtp://localhost?tls=none"}, "mail"},
		"a bad subject":           {server.Config{PushSubject: "boss@example.org"}, "push-subject"},
	} {
		t.Run(name, func(t *testing.T) {
			x.cfg.Data, x.cfg.Listen, x.cfg.Log = t.TempDir(), "127.0.0.1:0", slog.New(slog.DiscardHandler)
			s, err := server.Start(t.Context(), x.cfg)
			if err == nil {
				check(t, s.Close())
			}
			if crowd.CodeOf(err) != crowd.Invalid || !strings.HasPrefix(err.Error(), x.field+": ") {
				t.Errorf("it starts with %v", err)
			}
		})
	}
	s, err := server.Start(t.Context(), server.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", PublicURL: "http://throng.example.org/under", Log: slog.New(slog.DiscardHandler)})
	check(t, err)
	check(t, s.Close())
}
