package httpstep

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/jsonschema"
	"github.com/throng-dev/throng/internal/kit/publicnet"
	"github.com/throng-dev/throng/internal/workflow"
)

const (
	// DefaultMaxBody is how many bytes an answer may have.
	DefaultMaxBody = 1 << 20
	// tryHeader tells a service the number of the try.
	tryHeader    = "Throng-Try"
	dialTimeout  = 10 * time.Second
	maxRedirects = 3
	maxKey       = 255
	saidChars    = 200
	saidBytes    = 8 << 10 // read of an answer that is only shown
)

// Secret is a secret for headers.
type Secret struct {
	Value string
	Hosts []string // to which it may be sent, as CheckHost has them; none: to any
}

// Options set up a Client.
type Options struct {
	// Secrets finds a secret by its name. nil: there are none.
	Secrets func(name string) (s Secret, ok bool)
	// AllowPrivate lets services be anywhere, also on this machine and in its
	// network: for an operator who is the only user, and for tests.
	AllowPrivate bool
	// Allow lists the private places that may be called as well as public ones.
	Allow Allow
	// TLS is what connections begin with, so that certificates of an
	// authority of one's own can be trusted. nil: what the system trusts.
	TLS *tls.Config
	// Now returns the time, for Took and for Retry-After. nil: time.Now.
	Now func() time.Time
	// MaxBody is how many bytes an answer may have, unpacked; 0: DefaultMaxBody.
	MaxBody int64
}

// Client calls services. Its methods may be called by several goroutines at a
// time; it should be one for the whole program, since it keeps connections.
type Client struct {
	opts      Options
	transport *http.Transport
	http      *http.Client
}

// NewClient returns a client. What is checked is the address that is dialled,
// so a name cannot lead inside. No proxy is used: it would dial in our place.
func NewClient(opts Options) *Client {
	if opts.Secrets == nil {
		opts.Secrets = func(string) (Secret, bool) { return Secret{}, false }
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.MaxBody <= 0 {
		opts.MaxBody = DefaultMaxBody
	}
	c := &Client{opts: opts}
	c.transport = &http.Transport{
		DialContext:            c.dial,
		TLSClientConfig:        opts.TLS.Clone(),
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    dialTimeout,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    32,
		MaxConnsPerHost:        256,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
	}
	c.http = &http.Client{Transport: c.transport, CheckRedirect: sameHost}
	return c
}

// Close closes the connections that are kept for further calls.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// dial connects, unless the address is private and not allowed.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	host, p, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(p, 10, 16)
	if err != nil {
		return nil, err
	}
	if !c.opts.AllowPrivate && !c.opts.Allow.host(host, uint16(port)) {
		d.ControlContext = c.guard
	}
	return d.DialContext(ctx, network, address)
}

func (c *Client) guard(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if !publicnet.Has(at.Addr()) && !c.opts.Allow.addr(at) {
		return errPrivate
	}
	return nil
}

var errRedirect = errors.New("redirect")

// sameHost follows a redirect on the same host that repeats the request as it
// was. Another host would be sent our secrets and the item.
func sameHost(next *http.Request, before []*http.Request) error {
	first := before[0]
	if next.URL.Scheme != first.URL.Scheme || next.URL.Host != first.URL.Host || next.Method != first.Method || len(before) > maxRedirects {
		return errRedirect
	}
	return nil
}

// Field is a value of an item.
type Field struct {
	Name  string
	Value string          // as a table has it; "" in a number or a bool is null
	Kind  jsonschema.Kind // "" is Text
}

// Call is one item for a service.
type Call struct {
	// Key is sent as Idempotency-Key: the same on every try of an item, and
	// another for every other item. 1 to 255 visible ASCII characters.
	Key    string
	Fields []Field
	// Origin is where the step's service, which is declared for several tenants, stood
	// when the run began: secrets that are bound to no host go only there. It is as the
	// function Origin has it; "": they go anywhere.
	Origin string
}

// Reply is an answer that fits.
type Reply struct {
	// Values are those of the schema's properties, in their order, as a table
	// has them: "" where the answer has none or null.
	Values []string
	Took   time.Duration
	Status int
}

// Do makes one try, the first being 1. It ends within s.Timeout. The error is
// a *Failure, or that of ctx when ctx ended.
func (c *Client) Do(ctx context.Context, s *workflow.HTTP, call Call, try int) (Reply, error) {
	m := masks{}
	reply, err := c.try(ctx, s, call, try, &m)
	var f *Failure
	switch {
	case err == nil:
		return reply, nil
	case ctx.Err() != nil:
		return Reply{}, ctx.Err()
	case errors.As(err, &f):
		f.Message = m.hide(f.Message)
		return Reply{}, f
	}
	return Reply{}, &Failure{Reason: Malfunction, Message: m.hide(err.Error())}
}

func (c *Client) try(ctx context.Context, s *workflow.HTTP, call Call, try int, m *masks) (Reply, error) {
	begin := c.opts.Now()
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	req, err := c.request(ctx, s, call, try, m)
	if err != nil {
		return Reply{}, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Reply{}, unanswered(err, s, resp)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, saidBytes)) // only to be shown
		return Reply{}, &Failure{
			Reason: Status, StatusCode: resp.StatusCode, Said: m.excerpt(said, len(said) == saidBytes),
			Message:    fmt.Sprintf("%s answered %d %s", hostOf(s), resp.StatusCode, http.StatusText(resp.StatusCode)),
			RetryAfter: retryAfter(resp.Header.Get("Retry-After"), c.opts.Now()),
		}
	}
	reply := Reply{Status: resp.StatusCode}
	if s.Response != nil {
		if reply.Values, err = c.values(resp, s, m); err != nil {
			return Reply{}, err
		}
	}
	reply.Took = c.opts.Now().Sub(begin)
	return reply, nil
}

// unanswered explains an error without an answer.
func unanswered(err error, s *workflow.HTTP, resp *http.Response) error {
	host := hostOf(s)
	var (
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		lookup      *net.DNSError
		wrapped     *url.Error
	)
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	switch {
	case errors.Is(err, errRedirect):
		f := &Failure{Reason: Redirect, Message: host + " redirects to another place: put the right address into the workflow"}
		if resp != nil {
			f.StatusCode = resp.StatusCode
		}
		return f
	case errors.Is(err, errPrivate):
		return &Failure{Reason: Refused, Message: fmt.Sprintf("%s may not be called: %v; the operator can allow it", host, errPrivate)}
	case errors.As(err, &certificate):
		return &Failure{Reason: TLS, Message: fmt.Sprintf("%s shows a certificate that is not trusted: %v", host, certificate.Err)}
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return &Failure{Reason: TLS, Message: host + " does not speak TLS at this port: should the address begin with http://?"}
	case timedOut(err):
		return &Failure{Reason: Timeout, Message: fmt.Sprintf("%s did not answer within %s", host, s.Timeout)}
	case errors.As(err, &lookup):
		return &Failure{Reason: Connect, Message: fmt.Sprintf("the host %s is not found", lookup.Name)}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &Failure{Reason: Connect, Message: host + " takes no connections: is the service down?"}
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return &Failure{Reason: Connect, Message: host + " closed the connection without an answer"}
	}
	return &Failure{Reason: Connect, Message: fmt.Sprintf("%s cannot be reached: %s", host, format.Clip(err.Error(), saidChars))}
}

func timedOut(err error) bool {
	var t interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &t) && t.Timeout())
}

// values reads an answer.
func (c *Client) values(resp *http.Response, s *workflow.HTTP, m *masks) ([]string, error) {
	host, status := hostOf(s), resp.StatusCode
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.opts.MaxBody+1))
	said := func() string { return m.excerpt(body[:min(len(body), saidBytes)], len(body) > saidBytes) }
	switch {
	case timedOut(err):
		return nil, &Failure{Reason: Timeout, StatusCode: status, Message: fmt.Sprintf("the answer of %s did not end within %s", host, s.Timeout)}
	case err != nil:
		return nil, &Failure{Reason: Connect, StatusCode: status, Message: "the answer of " + host + " broke off"}
	case int64(len(body)) > c.opts.MaxBody:
		return nil, &Failure{Reason: TooLarge, StatusCode: status, Message: fmt.Sprintf("the answer of %s has more than %s", host, format.Bytes(c.opts.MaxBody))}
	case len(bytes.TrimSpace(body)) == 0:
		return nil, &Failure{Reason: NotJSON, StatusCode: status, Message: "the answer of " + host + " is empty, a JSON object is wanted"}
	case !json.Valid(body):
		return nil, &Failure{Reason: NotJSON, StatusCode: status, Said: said(), Message: "the answer of " + host + " is not JSON"}
	}
	if err := s.Response.Check(body); err != nil {
		return nil, &Failure{Reason: Schema, StatusCode: status, Said: said(), Message: fmt.Sprintf("the answer of %s does not fit the schema: %v", host, err)}
	}
	values, err := pick(body, s.Response.Properties())
	if err != nil {
		return nil, &Failure{Reason: Schema, StatusCode: status, Said: said(), Message: fmt.Sprintf("the answer of %s cannot be used: %v", host, err)}
	}
	return values, nil
}

// retryAfter reads the header of that name: seconds or a date (RFC 9110). It is at most
// MaxRetryAfter, however many digits the service sends.
func retryAfter(text string, now time.Time) time.Duration {
	n, err := strconv.ParseUint(text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return MaxRetryAfter
	case err == nil:
		return time.Duration(min(n, uint64(MaxRetryAfter/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), MaxRetryAfter)
	}
	return 0
}
