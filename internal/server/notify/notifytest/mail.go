// Package notifytest stands in for mail servers, push services and browsers in
// tests. It is used by tests only.
package notifytest

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"sync"
	"testing"
)

// MailServer speaks enough SMTP to be sent mail to, and misbehaves as told.
type MailServer struct {
	Security *tls.Config // for STARTTLS, or from the first byte
	Full     bool        // from the first byte
	User     string      // not empty: who sends mail signs in first
	Password string
	// Replies is what is said instead of the usual, by command: "greet", "EHLO",
	// "AUTH", "MAIL", "RCPT", "DATA", "." for the end of the text, "QUIT". "hang"
	// says nothing any more, "drop" closes the connection.
	Replies map[string]string
	// Heard, if not nil, is called with each command before it is answered.
	Heard func(command string)

	t        testing.TB
	address  string
	listener net.Listener
	mu       sync.Mutex
	mails    []Mail
	commands []string
	sessions sync.WaitGroup
	ended    chan struct{} // closed at the end: those that hang give up
}

// Mail is a mail that a server has taken.
type Mail struct {
	From, To  string
	Data      string
	Encrypted bool
	SignedIn  bool
}

// StartMail starts a server on this machine, which ends with the test; change
// may set it up.
func StartMail(t testing.TB, change func(*MailServer)) *MailServer {
	t.Helper()
	s := &MailServer{t: t, Replies: map[string]string{}, address: "127.0.0.1:0", ended: make(chan struct{})}
	if change != nil {
		change(s)
	}
	s.Up()
	t.Cleanup(func() {
		s.Down()
		close(s.ended)
		s.sessions.Wait()
	})
	return s
}

// Up lets the server listen, again after Down under the same address.
func (s *MailServer) Up() {
	s.t.Helper()
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.address, s.listener = listener.Addr().String(), listener
	s.sessions.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.sessions.Go(func() { s.serve(conn) })
		}
	})
}

// Down lets nobody in any more.
func (s *MailServer) Down() { _ = s.listener.Close() }

// Address is its host and port.
func (s *MailServer) Address() string { return s.address }

// Received lists the mails that it has taken.
func (s *MailServer) Received() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Mail(nil), s.mails...)
}

// Said lists the commands that came, without their arguments.
func (s *MailServer) Said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.commands, " ")
}

// Certificate is one for 127.0.0.1, and who vouches for it.
func Certificate(t testing.TB) (*tls.Config, *x509.CertPool) {
	t.Helper()
	made := httptest.NewTLSServer(nil)
	defer made.Close()
	pool := x509.NewCertPool()
	pool.AddCert(made.Certificate())
	return &tls.Config{Certificates: made.TLS.Certificates}, pool
}

func (s *MailServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }() // the latest one: it may have become encrypted
	if s.Full {
		conn = tls.Server(conn, s.Security)
	}
	encrypted := s.Full
	r := textproto.NewReader(bufio.NewReader(conn))
	reply := func(command, usual string) bool {
		text := usual
		if other, ok := s.Replies[command]; ok {
			text = other
		}
		switch text {
		case "hang":
			<-s.ended
			return false
		case "drop":
			return false
		}
		_, err := fmt.Fprintf(conn, "%s\r\n", text)
		return err == nil
	}
	if !reply("greet", "220 ready") {
		return
	}
	var mail Mail
	for {
		text, err := r.ReadLine()
		if err != nil {
			return
		}
		command, args, _ := strings.Cut(text, " ")
		s.mu.Lock()
		s.commands = append(s.commands, command)
		s.mu.Unlock()
		if s.Heard != nil {
			s.Heard(command)
		}
		goOn := false
		switch command {
		case "EHLO":
			offers := "250-test.example\r\n"
			if s.Security != nil && !encrypted {
				offers += "250-STARTTLS\r\n"
			}
			if s.User != "" {
				offers += "250-AUTH PLAIN LOGIN\r\n"
			}
			goOn = reply(command, offers+"250 8BITMIME")
		case "STARTTLS":
			if goOn = reply(command, "220 go on"); goOn {
				conn = tls.Server(conn, s.Security)
				r, encrypted = textproto.NewReader(bufio.NewReader(conn)), true
			}
		case "AUTH":
			want := "PLAIN " + base64.StdEncoding.EncodeToString([]byte("\x00"+s.User+"\x00"+s.Password))
			if mail.SignedIn = args == want; mail.SignedIn {
				goOn = reply(command, "235 welcome")
			} else {
				goOn = reply(command, "535 wrong password")
			}
		case "MAIL":
			mail.From = between(args)
			if s.User != "" && !mail.SignedIn {
				goOn = reply(command, "530 sign in first")
			} else {
				goOn = reply(command, "250 fine")
			}
		case "RCPT":
			mail.To = between(args)
			goOn = reply(command, "250 fine")
		case "DATA":
			if goOn = reply(command, "354 go ahead"); !goOn || s.Replies[command] != "" {
				break
			}
			data, err := r.ReadDotBytes()
			if err != nil {
				return
			}
			if s.Replies["."] == "" || strings.HasPrefix(s.Replies["."], "2") {
				mail.Data, mail.Encrypted = string(data), encrypted
				s.mu.Lock()
				s.mails = append(s.mails, mail)
				s.mu.Unlock()
			}
			goOn = reply(".", "250 taken")
		case "QUIT":
			_ = reply(command, "221 bye")
			return
		default:
			goOn = reply(command, "250 fine")
		}
		if !goOn {
			return
		}
	}
}

func between(s string) string {
	_, s, _ = strings.Cut(s, "<")
	s, _, _ = strings.Cut(s, ">")
	return s
}
