package notify_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	netmail "net/mail"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/notify"
	"github.com/throng-dev/throng/internal/server/notify/notifytest"
)

const serverUser, serverPassword = "throng@example.org", "pa/ss w?rd"

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sender returns a sender to the server, without TLS unless change says so.
func sender(t testing.TB, s *notifytest.MailServer, query string, change func(*notify.MailConfig)) *notify.Mail {
	t.Helper()
	user := ""
	if s.User != "" {
		user = url.UserPassword(s.User, s.Password).String() + "@"
	}
	cfg, err := notify.ParseMail("smtp://" + user + s.Address() + "?from=" + url.QueryEscape("Thröng <throng@example.org>") + query)
	ok(t, err)
	if change != nil {
		change(&cfg)
	}
	m, err := notify.NewMail(cfg)
	ok(t, err)
	return m
}

const plain = "&tls=none"

func TestMailArrives(t *testing.T) {
	t.Parallel()
	security, roots := notifytest.Certificate(t)
	for way, encrypted := range map[string]bool{"none": false, "starttls": true, "tls": true} {
		for _, signIn := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, signed in %t", way, signIn), func(t *testing.T) {
				t.Parallel()
				s := notifytest.StartMail(t, func(s *notifytest.MailServer) {
					s.Security, s.Full = security, way == "tls"
					if signIn {
						s.User, s.Password = serverUser, serverPassword
					}
				})
				m := sender(t, s, "&tls="+way, func(c *notify.MailConfig) { c.Roots = roots })
				subject := "Es gibt Arbeit für Sie: " + strings.Repeat("läng", 30)
				body := "Hello ü,\n.\n..dots begin this line\n" + strings.Repeat("long ", 300) + "\nhttps://throng.example/work\n"
				ok(t, m.Send(t.Context(), "ann+x@example.org", subject, body))
				mails := s.Received()
				if len(mails) != 1 {
					t.Fatalf("%d mails arrived", len(mails))
				}
				got := mails[0]
				parsed, err := netmail.ReadMessage(strings.NewReader(got.Data))
				ok(t, err)
				text, err := io.ReadAll(quotedprintable.NewReader(parsed.Body))
				ok(t, err)
				decoder := new(mime.WordDecoder)
				gotSubject, err := decoder.DecodeHeader(parsed.Header.Get("Subject"))
				ok(t, err)
				from, err := parsed.Header.AddressList("From")
				ok(t, err)
				date, err := parsed.Header.Date()
				ok(t, err)
				if age := time.Since(date); age < -time.Minute || age > time.Minute {
					t.Errorf("it is dated %s", date)
				}
				if id := parsed.Header.Get("Message-ID"); !strings.HasSuffix(id, "@example.org>") {
					t.Errorf("Message-ID: %s", id)
				}
				type facts struct {
					From, To, Subject, Body, Sender, Kind, Auto string
					Encrypted, SignedIn                         bool
				}
				want := facts{"throng@example.org", "ann+x@example.org", subject, body, "Thröng", "text/plain; charset=UTF-8", "auto-generated", encrypted, signIn}
				have := facts{got.From, got.To, gotSubject, strings.ReplaceAll(string(text), "\r\n", "\n"), from[0].Name,
					parsed.Header.Get("Content-Type"), parsed.Header.Get("Auto-Submitted"), got.Encrypted, got.SignedIn}
				if diff := cmp.Diff(want, have); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if way != "none" && strings.Contains(s.Said(), "AUTH") && strings.Index(s.Said(), "STARTTLS") > strings.Index(s.Said(), "AUTH") {
					t.Errorf("it signed in before it was encrypted: %s", s.Said())
				}
			})
		}
	}
}

func TestMailServerSaysNo(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		replies   map[string]string
		permanent bool
		delivered bool
		says      string
	}{
		"no such recipient":              {replies: map[string]string{"RCPT": "550 5.1.1 no such user"}, permanent: true, says: `550 "5.1.1 no such user"`},
		"recipient, in several lines":    {replies: map[string]string{"RCPT": "553-no\r\n553 such mailbox"}, permanent: true, says: `553 "no\nsuch mailbox"`},
		"recipient later":                {replies: map[string]string{"RCPT": "450 4.2.0 greylisted"}, says: `450 "4.2.0 greylisted"`},
		"recipient: sign in first":       {replies: map[string]string{"RCPT": "530 sign in first"}, says: `530 "sign in first"`},
		"recipient: an unknown word":     {replies: map[string]string{"RCPT": "500 what?"}, permanent: true, says: `500 "what?"`},
		"recipient: not now":             {replies: map[string]string{"RCPT": "499 later"}, says: `499 "later"`},
		"the text: an unknown word":      {replies: map[string]string{".": "500 what?"}, permanent: true, says: `500 "what?"`},
		"the text: not now":              {replies: map[string]string{".": "499 later"}, says: `499 "later"`},
		"the text is refused":            {replies: map[string]string{".": "554 5.7.1 spam"}, permanent: true, says: `554 "5.7.1 spam"`},
		"the text later":                 {replies: map[string]string{".": "452 no room"}, says: `452 "no room"`},
		"the sender is refused":          {replies: map[string]string{"MAIL": "550 not you"}, says: `550 "not you"`},
		"the server is not there today":  {replies: map[string]string{"greet": "554 go away"}, says: `554 "go away"`},
		"the server is too busy":         {replies: map[string]string{"greet": "421 busy"}, says: `421 "busy"`},
		"it closes at once":              {replies: map[string]string{"greet": "drop"}, says: "EOF"},
		"it closes after the recipient":  {replies: map[string]string{"RCPT": "drop"}, says: "EOF"},
		"it closes before the text":      {replies: map[string]string{"DATA": "drop"}, says: "EOF"},
		"it closes instead of taking it": {replies: map[string]string{".": "drop"}, says: "EOF"},
		"it closes without good-bye":     {replies: map[string]string{"QUIT": "drop"}, delivered: true},
		"it is rude at the end":          {replies: map[string]string{"QUIT": "500 what?"}, delivered: true},
		"it hangs at the greeting":       {replies: map[string]string{"greet": "hang"}, says: "does not answer in time"},
		"it hangs at the recipient":      {replies: map[string]string{"RCPT": "hang"}, says: "does not answer in time"},
		"it hangs at the end of text":    {replies: map[string]string{".": "hang"}, says: "does not answer in time"},
		"it talks nonsense":              {replies: map[string]string{"MAIL": "\x1b[31mhi"}, says: "hi"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := notifytest.StartMail(t, func(s *notifytest.MailServer) { s.Replies = test.replies })
			m := sender(t, s, plain, func(c *notify.MailConfig) {
				if strings.Contains(name, "hangs") {
					c.Timeout = 200 * time.Millisecond
				}
			})
			err := m.Send(t.Context(), "ann@example.org", "work", "come")
			if test.delivered {
				ok(t, err)
				if n := len(s.Received()); n != 1 {
					t.Errorf("%d mails arrived", n)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "ann@") || strings.ContainsAny(err.Error(), "\r\n\x1b") {
				t.Errorf("the error is %v, it should say %q", err, test.says)
			}
			if got := notify.Permanent(err); got != test.permanent {
				t.Errorf("permanent is %t: %v", got, err)
			}
			if n := len(s.Received()); n != 0 {
				t.Errorf("%d mails arrived", n)
			}
		})
	}
}

func TestMailWithoutServer(t *testing.T) {
	t.Parallel()
	s := notifytest.StartMail(t, nil)
	m := sender(t, s, plain, nil)
	s.Down()
	err := m.Send(t.Context(), "ann@example.org", "work", "come")
	if err == nil || notify.Permanent(err) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("the error is %v", err)
	}
}

func TestMailIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := notifytest.StartMail(t, func(s *notifytest.MailServer) {
		s.Replies["RCPT"] = "hang"
		s.Heard = func(command string) {
			if command == "RCPT" {
				cancel()
			}
		}
	})
	begin := time.Now()
	err := sender(t, s, plain, nil).Send(ctx, "ann@example.org", "work", "come")
	if took := time.Since(begin); !errors.Is(err, context.Canceled) || took > 20*time.Second {
		t.Errorf("after %s the error is %v", took, err)
	}
}

// TestMailNeedsTLS: with starttls, nothing is sent to a server that does not
// offer it or whose certificate is nobody's.
func TestMailNeedsTLS(t *testing.T) {
	t.Parallel()
	security, _ := notifytest.Certificate(t)
	for name, s := range map[string]*notifytest.MailServer{
		"not offered":      notifytest.StartMail(t, func(s *notifytest.MailServer) { s.User, s.Password = serverUser, serverPassword }),
		"a stranger":       notifytest.StartMail(t, func(s *notifytest.MailServer) { s.User, s.Password, s.Security = serverUser, serverPassword, security }),
		"a stranger (tls)": notifytest.StartMail(t, func(s *notifytest.MailServer) { s.Security, s.Full = security, true }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			query := ""
			if s.Full {
				query = "&tls=tls"
			}
			err := sender(t, s, query, nil).Send(t.Context(), "ann@example.org", "work", "come")
			if err == nil || notify.Permanent(err) {
				t.Errorf("the error is %v", err)
			}
			if said := s.Said(); strings.Contains(said, "AUTH") || strings.Contains(said, "MAIL") {
				t.Errorf("it went on: %s", said)
			}
		})
	}
}

func TestMailWithWrongPassword(t *testing.T) {
	t.Parallel()
	s := notifytest.StartMail(t, func(s *notifytest.MailServer) { s.User, s.Password = serverUser, serverPassword })
	m := sender(t, s, plain, func(c *notify.MailConfig) { c.Password = "guess4me" })
	err := m.Send(t.Context(), "ann@example.org", "work", "come")
	if err == nil || notify.Permanent(err) || !strings.Contains(err.Error(), `535 "wrong password"`) || strings.Contains(err.Error(), "guess4me") {
		t.Errorf("the error is %v", err)
	}
}

func TestMailRefusesToInjectHeaders(t *testing.T) {
	t.Parallel()
	s := notifytest.StartMail(t, nil)
	m := sender(t, s, plain, nil)
	for name, test := range map[string]struct{ to, subject string }{
		"subject with a line end":    {"ann@example.org", "work\r\nBcc: eve@example.org"},
		"subject with a newline":     {"ann@example.org", "work\nBcc: eve@example.org"},
		"subject with a return":      {"ann@example.org", "work\rBcc: eve@example.org"},
		"subject with a zero":        {"ann@example.org", "work\x00"},
		"address with a line end":    {"ann@example.org\r\nRCPT TO:<eve@example.org>", "work"},
		"address with a folded line": {"ann@example.org\r\n ", "work"},
		"quoted address with a line": {"\"ann\r\n\"@example.org", "work"},
		"two addresses":              {"ann@example.org, eve@example.org", "work"},
		"an address with a name":     {"Ann <ann@example.org>", "work"},
		"no address":                 {"", "work"},
		"no domain":                  {"ann", "work"},
		"a long one":                 {strings.Repeat("a", 300) + "@example.org", "work"},
	} {
		t.Run(name, func(t *testing.T) {
			err := m.Send(t.Context(), test.to, test.subject, "come")
			if !notify.Permanent(err) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	if n := len(s.Received()); n != 0 || s.Said() != "" {
		t.Errorf("%d mails arrived: %s", n, s.Said())
	}
}

func TestParseMail(t *testing.T) {
	t.Parallel()
	throng := netmail.Address{Address: "throng@example.org"}
	named := netmail.Address{Name: "Throng, the crowd", Address: "throng+x@example.org"}
	for text, want := range map[string]notify.MailConfig{
		"smtp://mail.example.org?from=throng@example.org":                                {Host: "mail.example.org", Port: 587, TLS: notify.StartTLS, From: throng},
		"smtps://mail.example.org?from=throng@example.org":                               {Host: "mail.example.org", Port: 465, TLS: notify.FullTLS, From: throng},
		"smtp://mail.example.org/?tls=tls&from=throng@example.org":                       {Host: "mail.example.org", Port: 465, TLS: notify.FullTLS, From: throng},
		"smtp://[::1]?tls=none&from=throng@example.org":                                  {Host: "::1", Port: 25, TLS: notify.NoTLS, From: throng},
		"smtp://u:p@localhost:2525?tls=none&from=throng@example.org":                     {Host: "localhost", Port: 2525, TLS: notify.NoTLS, User: "u", Password: "p", From: throng},
		"smtp://u@example.org:p%2F%3F%23%25@mail.example.org:26?from=throng@example.org": {Host: "mail.example.org", Port: 26, TLS: notify.StartTLS, User: "u@example.org", Password: "p/?#%", From: throng},
		"smtp://mail.example.org?from=\"Throng, the crowd\" <throng%2Bx@example.org>":    {Host: "mail.example.org", Port: 587, TLS: notify.StartTLS, From: named},
	} {
		got, err := notify.ParseMail(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", text, diff)
		}
	}
	const from = "?from=throng@example.org"
	for text, names := range map[string]string{
		"":                                                     "scheme",
		"mail.example.org":                                     "scheme",
		"http://mail.example.org" + from:                       "scheme",
		"smtp://" + from:                                       "host",
		"smtp://a%0ab" + from:                                  "smtp://",
		"smtp://mail.example.org:0" + from:                     "port",
		"smtp://mail.example.org:70000" + from:                 "port",
		"smtp://mail.example.org:smtp" + from:                  "smtp://",
		"smtp://mail.example.org?tls=ssl&from=a@b.c":           "tls",
		"smtps://mail.example.org?tls=none&from=a@b":           "tls",
		"smtp://u:s3cret@mail.example.org:25/x" + from:         "between",
		"smtp://u:s3cret@mail.example.org#y":                   "between",
		"smtp://u:s3/cret@mail.example.org" + from:             "smtp://",
		"smtp://u:s3%cret@mail.example.org" + from:             "smtp://",
		"smtp://u:s3cret@mail.example.org":                     "from",
		"smtp://mail.example.org?from=throng":                  "from",
		"smtp://mail.example.org?from=a@b.c%0d%0aX:y":          "from",
		"smtp://mail.example.org?from=a@b.c&from=d@e":          "from",
		"smtp://mail.example.org?from=a@b.c&form=d@e":          "form",
		"smtp://mail.example.org?from=a@b.c;x=y":               "after the ?",
		"smtp://u@mail.example.org" + from:                     "password",
		"smtp://:s3cret@mail.example.org" + from:               "user",
		"smtp://u:s3cret@mail.example.org?tls=none&from=a@b.c": "tls",
	} {
		_, err := notify.ParseMail(text)
		if crowd.CodeOf(err) != crowd.Invalid || !strings.HasPrefix(err.Error(), "mail: ") || !strings.Contains(err.Error(), names) {
			t.Errorf("%s: the error is %v, it should name %q", text, err, names)
		}
		if err != nil && strings.Contains(err.Error(), "s3") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}

func TestMailConfigHidesThePassword(t *testing.T) {
	t.Parallel()
	cfg, err := notify.ParseMail("smtp://u:s3cret@mail.example.org?from=throng@example.org")
	ok(t, err)
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(form, cfg); strings.Contains(text, "s3cret") || !strings.Contains(text, "mail.example.org") {
			t.Errorf("%s: %s", form, text)
		}
	}
	cfg.Port = 0
	if _, err := notify.NewMail(cfg); err == nil {
		t.Error("a configuration that is not valid is taken")
	}
}
