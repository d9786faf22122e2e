package notify

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/publicnet"
)

const (
	pushTimeout = 15 * time.Second
	// longestTTL is how long push services keep a message at most.
	longestTTL = 28 * 24 * time.Hour
	// MaxPayload is how many bytes a push message can carry: a record of 4096
	// less the header, the tag and the end mark of RFC 8188.
	MaxPayload = 4096 - 86 - 16 - 1
)

// NewPushKeys makes a pair of keys by which push services know this
// installation (VAPID, RFC 8292), in base64url. A browser's subscription is
// bound to the public one, so they are made once.
func NewPushKeys() (private, public string, err error) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return "", "", err
	}
	return encode(key.Bytes()), encode(key.PublicKey().Bytes()), nil
}

// PushConfig sets up a Push.
type PushConfig struct {
	Private string // the keys, as NewPushKeys made them
	Public  string // may be empty: it follows from the private one
	Subject string // whom a push service may turn to: mailto:ADDRESS or https://…
	// AllowPrivate lets endpoints be on this machine or in a private network,
	// and there without TLS: for tests. Endpoints come from users, who could
	// otherwise make the server speak to services inside its network.
	AllowPrivate bool
	// Client sends the requests; nil: one that dials public addresses only,
	// unless AllowPrivate. Whoever gives another has to see to that.
	Client *http.Client
}

// Push sends web push messages. Its methods may be called by several goroutines
// at a time.
type Push struct {
	private, public string
	subject         string
	allowPrivate    bool
	client          *http.Client
}

// NewPush returns a sender.
func NewPush(cfg PushConfig) (*Push, error) {
	raw, err := decode(cfg.Private)
	if err != nil {
		return nil, errors.New("push: private key: it is not base64url")
	}
	key, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return nil, errors.New("push: private key: it is not a key of the curve P-256")
	}
	public := encode(key.PublicKey().Bytes())
	if cfg.Public != "" && strings.TrimRight(cfg.Public, "=") != public {
		return nil, errors.New("push: public key: it does not belong to the private key")
	}
	subject, err := contact(cfg.Subject)
	if err != nil {
		return nil, err
	}
	p := &Push{private: encode(raw), public: public, subject: subject, allowPrivate: cfg.AllowPrivate}
	client := http.Client{Transport: p.transport()}
	if cfg.Client != nil {
		client = *cfg.Client
	}
	// A push service has no reason to send us elsewhere.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	p.client = &client
	return p, nil
}

// CheckSubject says what is wrong with the subject of a PushConfig.
func CheckSubject(subject string) error {
	_, err := contact(subject)
	return err
}

// contact returns a subject as the library wants it: an address without its
// mailto:, or an https address.
func contact(subject string) (string, error) {
	if address, is := strings.CutPrefix(subject, "mailto:"); is && CheckAddress(address) == nil {
		return address, nil
	}
	if u, err := url.Parse(subject); err == nil && u.Scheme == "https" && u.Host != "" {
		return subject, nil
	}
	return "", crowd.Fieldf("push-subject", "%q is not like mailto:admin@example.org or https://example.org/contact", subject)
}

// Public is the public key, which a page hands to the browser when it
// subscribes (applicationServerKey), in base64url.
func (p *Push) Public() string { return p.public }

// transport dials public addresses only. What is looked at is the address that
// is dialled, so a name cannot lead inside. No proxy is used: it would dial in
// our place.
func (p *Push) transport() *http.Transport {
	dialer := &net.Dialer{Timeout: pushTimeout}
	if !p.allowPrivate {
		dialer.ControlContext = onlyPublic
	}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    pushTimeout,
		ResponseHeaderTimeout:  pushTimeout,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// Target is where a browser takes messages: what it said when it subscribed.
type Target struct {
	Endpoint string // of its push service
	P256dh   string // its public key, base64url
	Auth     string // its secret, base64url
}

// Check says what is wrong with t. That its endpoint's name does not lead to a
// private address is seen only when it is dialled.
func (t Target) Check() error { return t.check(false) }

func (t Target) check(allowPrivate bool) error {
	const longest = 2048
	u, err := url.Parse(t.Endpoint)
	switch {
	case err != nil || u.Host == "" || u.User != nil || len(t.Endpoint) > longest:
		return crowd.Fieldf("endpoint", "it is not an address like https://push.example.org/…")
	case u.Scheme != "https" && (u.Scheme != "http" || !allowPrivate || !thisMachine(u.Hostname())):
		return crowd.Fieldf("endpoint", "it must begin with https://")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); !allowPrivate && (u.Hostname() == "localhost" || (err == nil && !publicnet.Has(ip))) {
		return crowd.Fieldf("endpoint", "%s is not a public address", u.Hostname())
	}
	key, err := decode(t.P256dh)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(key)
	}
	if err != nil {
		return crowd.Fieldf("p256dh", "it is not a public key of the curve P-256 in base64url")
	}
	const secret = 16
	if auth, err := decode(t.Auth); err != nil || len(auth) != secret {
		return crowd.Fieldf("auth", "it is not %d bytes in base64url", secret)
	}
	return nil
}

// Send sends a payload of at most MaxPayload bytes, encrypted for the browser
// (RFC 8291), and returns when the push service has accepted it. The service
// keeps it for ttl if the browser cannot be reached. An error after which
// trying again is of no use is Permanent; if the subscription is no longer
// there, it is Gone.
func (p *Push) Send(ctx context.Context, t Target, payload []byte, ttl time.Duration) error {
	if err := t.check(p.allowPrivate); err != nil {
		return permanent(err)
	}
	if len(payload) > MaxPayload {
		return permanent(fmt.Errorf("the message has %d bytes, %d are possible", len(payload), MaxPayload))
	}
	ctx, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	resp, err := webpush.SendNotificationWithContext(ctx, payload, &webpush.Subscription{
		Endpoint: t.Endpoint,
		Keys:     webpush.Keys{P256dh: strings.TrimRight(t.P256dh, "="), Auth: strings.TrimRight(t.Auth, "=")},
	}, &webpush.Options{
		HTTPClient: p.client, Subscriber: p.subject, Urgency: webpush.UrgencyHigh,
		TTL:            int(min(max(ttl, 0), longestTTL) / time.Second),
		VAPIDPublicKey: p.public, VAPIDPrivateKey: p.private,
	})
	if err != nil {
		return p.unsent(err, t)
	}
	defer resp.Body.Close()
	const enough = 1 << 10
	said, _ := io.ReadAll(io.LimitReader(resp.Body, enough)) // only to be shown
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return nil
	}
	err = fmt.Errorf("%s answered %s: %s", resp.Request.URL.Host, resp.Status, excerpt(string(said)))
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusGone:
		return &Failure{Err: err, Permanent: true, Gone: true}
	case http.StatusRequestEntityTooLarge:
		return permanent(err)
	}
	return err
}

// unsent is an error without an answer. An endpoint is a secret: of its address
// only the host is shown.
func (p *Push) unsent(err error, t Target) error {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	var at *url.Error
	if !errors.As(err, &at) {
		return err
	}
	host := t.Endpoint
	if u, err := url.Parse(t.Endpoint); err == nil {
		host = u.Host
	}
	if at.Timeout() {
		return fmt.Errorf("%s does not answer in time", host)
	}
	return fmt.Errorf("%s: %w", host, at.Err)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// decode reads base64url, padded or not.
func decode(s string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "="))
}
