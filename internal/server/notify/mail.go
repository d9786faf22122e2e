package notify

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

const (
	mailTimeout = 30 * time.Second
	// farewell is how long a server that has taken the message may take to say
	// good-bye.
	farewell = 2 * time.Second
)

// Mail sends e-mail through a server. Its methods may be called by several
// goroutines at a time.
type Mail struct{ cfg MailConfig }

// NewMail returns a sender. It does not connect yet.
func NewMail(cfg MailConfig) (*Mail, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = mailTimeout
	}
	return &Mail{cfg: cfg}, nil
}

// Send sends a plain text to one address and returns when the server has
// accepted it. That is no proof that it arrives. An error after which trying
// again is of no use is Permanent.
func (m *Mail) Send(ctx context.Context, to, subject, body string) error {
	msg, err := m.message(to, subject, body)
	if err != nil {
		return permanent(err)
	}
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Timeout)
	defer cancel()
	err = m.deliver(ctx, msg)
	if msg.IsDelivered() {
		return nil // whatever went wrong in taking leave
	}
	if ctx.Err() != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return fmt.Errorf("%s does not answer in time", m.address())
		}
		return ctx.Err()
	}
	return explain(err)
}

func (m *Mail) address() string { return net.JoinHostPort(m.cfg.Host, strconv.Itoa(m.cfg.Port)) }

func (m *Mail) message(to, subject, body string) (*gomail.Msg, error) {
	if err := CheckAddress(to); err != nil {
		return nil, err
	}
	if control(subject) {
		return nil, errors.New("the subject has a control character in it")
	}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(&m.cfg.From)
	if err := msg.To(to); err != nil {
		return nil, err
	}
	msg.Subject(subject)
	_, domain, _ := strings.Cut(m.cfg.From.Address, "@")
	msg.SetMessageIDWithValue(rand.Text() + "@" + domain)
	msg.SetDateWithValue(time.Now())
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no out-of-office replies
	msg.SetBodyString(gomail.TypeTextPlain, body)
	return msg, nil
}

// deliver talks to the server until it has taken the message. The connection is
// ours, so that it is closed whatever happens, and when ctx is done.
func (m *Mail) deliver(ctx context.Context, msg *gomail.Msg) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", m.address())
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	security := &tls.Config{ServerName: m.cfg.Host, RootCAs: m.cfg.Roots, MinVersion: tls.VersionTLS12}
	line := conn
	if m.cfg.TLS == FullTLS {
		encrypted := tls.Client(conn, security)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			return err
		}
		line = encrypted
	}
	policy := gomail.NoTLS
	if m.cfg.TLS == StartTLS {
		policy = gomail.TLSMandatory
	}
	options := []gomail.Option{
		gomail.WithPort(m.cfg.Port), gomail.WithTimeout(2 * m.cfg.Timeout), // ctx ends first
		gomail.WithTLSPolicy(policy), gomail.WithTLSConfig(security),
		gomail.WithoutNoop(), gomail.WithoutRset(),
		gomail.WithDialContextFunc(func(context.Context, string, string) (net.Conn, error) { return line, nil }),
	}
	if m.cfg.User != "" {
		options = append(options, gomail.WithUsername(m.cfg.User), gomail.WithPassword(m.cfg.Password),
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthPlain, gomail.SMTPAuthLogin))
	}
	client, err := gomail.NewClient(m.cfg.Host, options...)
	if err != nil {
		return err
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return err
	}
	if err := client.SendWithSMTPClient(session, msg); err != nil {
		return err
	}
	if err := conn.SetDeadline(time.Now().Add(farewell)); err != nil {
		return err
	}
	return client.CloseWithSMTPClient(session)
}

// explain makes of the library's error one that says what the server said, and
// whether it is for good.
func explain(err error) error {
	text := err.Error()
	text, _, _ = strings.Cut(text, ", affected recipient(s): ")
	text, _, _ = strings.Cut(text, ", affected message ID: ")
	said := errors.New(excerpt(text))
	var refused *gomail.SendError
	if !errors.As(err, &refused) {
		return said
	}
	code := refused.ErrorCode()
	switch refused.Reason {
	case gomail.ErrSMTPRcptTo:
		// 503 and 530 are about us (out of order, sign in first), not about the
		// recipient.
		if code >= 500 && code != 503 && code != 530 {
			return permanent(said)
		}
	case gomail.ErrSMTPDataClose: // the message itself
		if code >= 500 {
			return permanent(said)
		}
	case gomail.ErrGetSender, gomail.ErrGetRcpts:
		return permanent(said)
	default:
	}
	return said
}
