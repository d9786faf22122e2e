package notify

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// TLS is how a connection to a mail server is encrypted.
type TLS string

// The ways.
const (
	StartTLS TLS = "starttls" // begins in the clear and must become encrypted
	FullTLS  TLS = "tls"      // from the first byte
	NoTLS    TLS = "none"     // never: for a mail server on this machine
)

// ports are the usual ports.
var ports = map[TLS]int{StartTLS: 587, FullTLS: 465, NoTLS: 25}

// MailConfig says through which server mail goes out.
type MailConfig struct {
	Host     string
	Port     int
	TLS      TLS
	User     string // empty: does not sign in
	Password string
	From     mail.Address
	Roots    *x509.CertPool // who may vouch for the server; nil: whom this machine trusts
	Timeout  time.Duration  // for one message, from dialling on; 0: 30 s
}

// ParseMail reads a mail server's address:
//
//	smtp://USER:PASSWORD@HOST:PORT?tls=starttls|tls|none&from=NAME <ADDRESS>
//
// User and port may be left out; smtps:// is smtp:// with tls=tls. Errors name
// the part that is wrong and never show the password.
func ParseMail(text string) (MailConfig, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		// Its text would show the password.
		return MailConfig{}, wrong("this is not an address like smtp://user:password@mail.example.org:587?from=throng@example.org (in user and password, write / as %%2F, ? as %%3F, # as %%23, %% as %%25)")
	}
	c := MailConfig{Host: u.Hostname(), TLS: StartTLS}
	switch u.Scheme {
	case "smtp":
	case "smtps":
		c.TLS = FullTLS
	default:
		return c, wrong("scheme: it begins with smtp:// or smtps://")
	}
	if u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return c, wrong("nothing comes between the port and the ? (in a password, write / as %%2F, ? as %%3F, # as %%23)")
	}
	c.User = u.User.Username()
	c.Password, _ = u.User.Password()
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return c, wrong("after the ?: %v", err)
	}
	for key, values := range query {
		switch {
		case key != "tls" && key != "from":
			return c, wrong("%q is not known: only tls and from come after the ?", key)
		case len(values) > 1:
			return c, wrong("%s: it is given %d times", key, len(values))
		}
	}
	if way := query.Get("tls"); way != "" {
		if u.Scheme == "smtps" && TLS(way) != FullTLS {
			return c, wrong("tls: with smtps:// it can only be tls")
		}
		c.TLS = TLS(way)
	}
	c.Port = ports[c.TLS]
	if p := u.Port(); p != "" {
		if c.Port, err = strconv.Atoi(p); err != nil {
			return c, wrong("port: %s is not a number", p)
		}
	}
	from := query.Get("from")
	if from == "" {
		return c, wrong("from: it is missing; say who writes, like from=Throng <throng@example.org>")
	}
	a, err := mail.ParseAddress(from)
	if err != nil {
		return c, wrong("from: %q is not an address like throng@example.org or Throng <throng@example.org> (write + as %%2B and & as %%26)", from)
	}
	c.From = *a
	return c, c.Validate()
}

func wrong(format string, args ...any) error { return crowd.Fieldf("mail", format, args...) }

// Validate says what is wrong with c.
func (c MailConfig) Validate() error {
	switch {
	case c.Host == "" || control(c.Host) || strings.ContainsAny(c.Host, " /"):
		return wrong("host: it is missing, or not the name of a machine")
	case ports[c.TLS] == 0:
		return wrong("tls: %q is none of starttls, tls and none", c.TLS)
	case c.Port < 1 || c.Port > 65535:
		return wrong("port: %d is not between 1 and 65535", c.Port)
	case c.User == "" && c.Password != "":
		return wrong("user: there is a password, but no user")
	case c.User != "" && c.Password == "":
		return wrong("password: there is a user, but no password")
	case c.TLS == NoTLS && c.User != "" && !thisMachine(c.Host):
		return wrong("tls: with none, the password would go to %s in the clear", c.Host)
	case c.From.Address == "" || control(c.From.Name+c.From.Address):
		return wrong("from: it is missing, or has a control character in it")
	case c.Timeout < 0:
		return wrong("timeout: it is negative")
	}
	return nil
}

// String is the address without the password.
func (c MailConfig) String() string {
	host := net.JoinHostPort(c.Host, strconv.Itoa(c.Port))
	if c.User != "" {
		host = url.User(c.User).String() + "@" + host
	}
	return fmt.Sprintf("smtp://%s?tls=%s&from=%s", host, c.TLS, c.From.Address)
}

// GoString keeps the password out of %#v.
func (c MailConfig) GoString() string { return c.String() }

func thisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// CheckAddress reports whether mail can be sent to an address: one like
// ann@example.org, without a name.
func CheckAddress(address string) error {
	const most = 254
	switch a, err := mail.ParseAddress(address); {
	case address == "":
		return errors.New("there is no address")
	case err != nil, control(address), len(address) > most, a.Address != address:
		return fmt.Errorf("%q is not an address like ann@example.org", excerpt(address))
	}
	return nil
}
