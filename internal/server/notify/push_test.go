package notify_test

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/notify"
	"github.com/throng-dev/throng/internal/server/notify/notifytest"
)

var b64 = base64.RawURLEncoding

// TestDecryptsTheExampleOfTheRFC: the test's own decryption is right (RFC 8291,
// section 5 and appendix A).
func TestDecryptsTheExampleOfTheRFC(t *testing.T) {
	t.Parallel()
	raw := func(s string) []byte {
		b, err := b64.DecodeString(s)
		ok(t, err)
		return b
	}
	key, err := ecdh.P256().NewPrivateKey(raw("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
	ok(t, err)
	b := &notifytest.Browser{Key: key, Auth: raw("BTBZMqHH6r4Tts7J_aSIgg")}
	got, err := b.Decrypt(raw("DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"))
	ok(t, err)
	if string(got) != "When I grow up, I want to be a watermelon" {
		t.Errorf("got %q", got)
	}
}

// newPush makes a sender that may speak to this machine.
func newPush(t testing.TB, client *http.Client) *notify.Push {
	t.Helper()
	private, public, err := notify.NewPushKeys()
	ok(t, err)
	p, err := notify.NewPush(notify.PushConfig{Private: private, Public: public, Subject: "mailto:admin@example.org", AllowPrivate: true, Client: client})
	ok(t, err)
	if p.Public() != public {
		t.Fatalf("the public key is %s, not %s", p.Public(), public)
	}
	return p
}

func TestPushArrives(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 300, notify.MaxPayload} {
		t.Run(fmt.Sprintf("%d bytes", size), func(t *testing.T) {
			t.Parallel()
			type request struct {
				header http.Header
				body   []byte
				path   string
			}
			got := make(chan request, 1)
			service := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got <- request{r.Header, body, r.Method + " " + r.URL.Path}
				w.WriteHeader(http.StatusCreated)
			}))
			defer service.Close()
			p, b := newPush(t, service.Client()), notifytest.NewBrowser(t)
			payload := bytes.Repeat([]byte("x"), size)
			ok(t, p.Send(t.Context(), b.Target(service.URL+"/wpush/secret"), payload, 90*time.Second+time.Millisecond))
			r := <-got
			text, err := b.Decrypt(r.body)
			ok(t, err)
			if !bytes.Equal(text, payload) {
				t.Errorf("the browser reads %q", text)
			}
			if len(r.body) > 4096 {
				t.Errorf("the body has %d bytes; services need not take more than 4096", len(r.body))
			}
			if _, err := notifytest.NewBrowser(t).Decrypt(r.body); err == nil {
				t.Error("another browser can read it")
			}
			for name, want := range map[string]string{"Ttl": "90", "Content-Encoding": "aes128gcm", "Urgency": "high"} {
				if have := r.header.Get(name); have != want {
					t.Errorf("%s: %q, want %q", name, have, want)
				}
			}
			aud, sub, exp, err := notifytest.Claims(r.header.Get("Authorization"), p.Public())
			ok(t, err)
			if left := time.Until(exp); aud != service.URL || sub != "mailto:admin@example.org" || left <= 0 || left > 24*time.Hour {
				t.Errorf("it claims aud %s, sub %s, exp in %s", aud, sub, left)
			}
			if r.path != "POST /wpush/secret" {
				t.Errorf("the request is %s", r.path)
			}
		})
	}
}

func TestPushServiceSaysNo(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]struct{ permanent, gone bool }{
		http.StatusOK:                    {},
		http.StatusAccepted:              {},
		http.StatusFound:                 {},
		http.StatusBadRequest:            {},
		http.StatusForbidden:             {},
		http.StatusNotFound:              {true, true},
		http.StatusGone:                  {true, true},
		http.StatusRequestEntityTooLarge: {true, false},
		http.StatusTooManyRequests:       {},
		http.StatusInternalServerError:   {},
		http.StatusServiceUnavailable:    {},
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			asked := make(chan string, 20)
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked <- r.URL.Path
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(status)
				if status < 300 || status >= 400 {
					_, _ = fmt.Fprintf(w, "because\r\n\x1b[31m%s", strings.Repeat("long ", 10_000))
				}
			}))
			defer service.Close()
			err := newPush(t, nil).Send(t.Context(), notifytest.NewBrowser(t).Target(service.URL+"/secret"), []byte("come"), time.Minute)
			if len(asked) != 1 {
				t.Errorf("%d requests", len(asked))
			}
			if (err == nil) != (status < 300) || notify.Permanent(err) != want.permanent || notify.Gone(err) != want.gone {
				t.Errorf("permanent %t, gone %t: %v", notify.Permanent(err), notify.Gone(err), err)
			}
			if err != nil && (strings.ContainsAny(err.Error(), "\r\n\x1b") || strings.Contains(err.Error(), "secret") || len(err.Error()) > 500 || !strings.Contains(err.Error(), fmt.Sprint(status))) {
				t.Errorf("the error is %q", err)
			}
		})
	}
}

func TestPushServiceHangs(t *testing.T) {
	t.Parallel()
	there, end := make(chan struct{}), make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(there); <-end }))
	defer service.Close()
	defer close(end)
	target := notifytest.NewBrowser(t).Target(service.URL + "/secret")
	p := newPush(t, &http.Client{Timeout: 100 * time.Millisecond})
	err := p.Send(t.Context(), target, nil, time.Minute)
	<-there
	if err == nil || notify.Permanent(err) || !strings.Contains(err.Error(), "does not answer in time") || strings.Contains(err.Error(), "secret") {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Send(ctx, target, nil, time.Minute); !errors.Is(err, context.Canceled) || notify.Permanent(err) {
		t.Errorf("the error is %v", err)
	}
}

// TestPushStaysOutside: an endpoint comes from a user and must not lead to this
// machine or its network, whatever its name says.
func TestPushStaysOutside(t *testing.T) {
	t.Parallel()
	inside := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it got inside") }))
	defer inside.Close()
	private, _, err := notify.NewPushKeys()
	ok(t, err)
	p, err := notify.NewPush(notify.PushConfig{Private: private, Subject: "https://example.org/contact"})
	ok(t, err)
	_, port, _ := strings.Cut(strings.TrimPrefix(inside.URL, "https://"), ":")
	b := notifytest.NewBrowser(t)
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "10.0.0.1", "169.254.169.254", "LOCALHOST", "localhost."} {
		endpoint := "https://" + host + ":" + port + "/secret"
		err := p.Send(t.Context(), b.Target(endpoint), []byte("come"), time.Minute)
		// "localhost." is a name that the resolver may not know.
		if err == nil || (!notify.Permanent(err) && host != "localhost.") || notify.Gone(err) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	good := notifytest.NewBrowser(t).Target("https://push.example.org/wpush/v2/xyz")
	ok(t, good.Check())
	padded := good
	padded.P256dh, padded.Auth = good.P256dh+"=", good.Auth+"=="
	ok(t, padded.Check())
	other, err := b64.DecodeString(good.P256dh)
	ok(t, err)
	other[40]++
	for name, test := range map[string]struct {
		field  string
		change func(*notify.Target)
	}{
		"no address":           {"endpoint", func(x *notify.Target) { x.Endpoint = "" }},
		"no host":              {"endpoint", func(x *notify.Target) { x.Endpoint = "https:///x" }},
		"not encrypted":        {"endpoint", func(x *notify.Target) { x.Endpoint = "http://push.example.org/x" }},
		"not encrypted, here":  {"endpoint", func(x *notify.Target) { x.Endpoint = "http://localhost/x" }},
		"a file":               {"endpoint", func(x *notify.Target) { x.Endpoint = "file:///etc/passwd" }},
		"with a password":      {"endpoint", func(x *notify.Target) { x.Endpoint = "https://u:p@push.example.org/x" }},
		"this machine":         {"endpoint", func(x *notify.Target) { x.Endpoint = "https://localhost/x" }},
		"a private address":    {"endpoint", func(x *notify.Target) { x.Endpoint = "https://192.168.0.1/x" }},
		"a private one, IPv6":  {"endpoint", func(x *notify.Target) { x.Endpoint = "https://[fd00::1]/x" }},
		"a line end":           {"endpoint", func(x *notify.Target) { x.Endpoint += "\r\nX: y" }},
		"too long":             {"endpoint", func(x *notify.Target) { x.Endpoint += strings.Repeat("x", 3000) }},
		"no key":               {"p256dh", func(x *notify.Target) { x.P256dh = "" }},
		"a key off the curve":  {"p256dh", func(x *notify.Target) { x.P256dh = b64.EncodeToString(other) }},
		"a key of nothing":     {"p256dh", func(x *notify.Target) { x.P256dh = "?" }},
		"no secret":            {"auth", func(x *notify.Target) { x.Auth = "" }},
		"a secret of 15 bytes": {"auth", func(x *notify.Target) { x.Auth = x.Auth[:20] }},
	} {
		x := good
		test.change(&x)
		var wrong *crowd.Error
		if err := x.Check(); !errors.As(err, &wrong) || wrong.Field != test.field || wrong.Code != crowd.Invalid {
			t.Errorf("%s: %v", name, err)
		}
		if err := newPush(t, nil).Send(t.Context(), x, nil, time.Minute); test.field != "endpoint" && !notify.Permanent(err) {
			t.Errorf("%s: sent: %v", name, err)
		}
	}
}

func TestPushConfig(t *testing.T) {
	t.Parallel()
	private, public, err := notify.NewPushKeys()
	ok(t, err)
	_, strange, err := notify.NewPushKeys()
	ok(t, err)
	for name, test := range map[string]struct {
		cfg  notify.PushConfig
		says string
	}{
		"no key":          {notify.PushConfig{Subject: "mailto:a@b.c"}, "private key"},
		"half a key":      {notify.PushConfig{Private: private[:20], Subject: "mailto:a@b.c"}, "private key"},
		"another's key":   {notify.PushConfig{Private: private, Public: strange, Subject: "mailto:a@b.c"}, "public key"},
		"no subject":      {notify.PushConfig{Private: private, Public: public}, "push-subject"},
		"a bare address":  {notify.PushConfig{Private: private, Public: public, Subject: "a@b.c"}, "push-subject"},
		"no address":      {notify.PushConfig{Private: private, Public: public, Subject: "mailto:"}, "push-subject"},
		"http":            {notify.PushConfig{Private: private, Public: public, Subject: "http://b.c"}, "push-subject"},
		"a second header": {notify.PushConfig{Private: private, Public: public, Subject: "mailto:a@b.c\r\n"}, "push-subject"},
	} {
		if _, err := notify.NewPush(test.cfg); err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), private[:20]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := newPush(t, nil)
	err = p.Send(t.Context(), notifytest.NewBrowser(t).Target("https://push.example.org/x"), make([]byte, notify.MaxPayload+1), time.Minute)
	if !notify.Permanent(err) {
		t.Errorf("too long: %v", err)
	}
}
