package httpstep_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/internal/kit/jsonschema"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

const risk = `{"type":"object","required":["risk"],"properties":{"risk":{"type":"number"},"why":{"type":"string"},"tags":{"type":"array"},"sure":{"type":["boolean","null"]}}}`

// step is a service that is called at an address, with a time-out long enough
// for every test that does not wait for it.
func step(t testing.TB, address string) *workflow.HTTP {
	t.Helper()
	s, err := jsonschema.Compile([]byte(risk))
	if err != nil {
		t.Fatal(err)
	}
	return &workflow.HTTP{URL: address, Timeout: time.Minute, Tries: 3, Backoff: time.Second, Response: s}
}

func serve(t testing.TB, f http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return server.URL + "/v1/score"
}

func client(t testing.TB, opts httpstep.Options) *httpstep.Client {
	t.Helper()
	c := httpstep.NewClient(opts)
	t.Cleanup(c.Close)
	return c
}

func local(t testing.TB) *httpstep.Client { return client(t, httpstep.Options{AllowPrivate: true}) }

func failure(t testing.TB, err error) *httpstep.Failure {
	t.Helper()
	var f *httpstep.Failure
	if !errors.As(err, &f) {
		t.Fatalf("%v is not a Failure", err)
	}
	return f
}

var item = httpstep.Call{Key: "run-1/score/7", Fields: []httpstep.Field{
	{Name: "text", Value: "a <b> \"c\"\n"}, {Name: "amount", Value: "1.50", Kind: jsonschema.Number}, {Name: "old", Value: "", Kind: jsonschema.Number},
	{Name: "vip", Value: "true", Kind: jsonschema.Bool}, {Name: "none", Value: "", Kind: jsonschema.Bool}, {Name: "empty", Value: "", Kind: jsonschema.Text},
}}

func TestDo(t *testing.T) {
	t.Parallel()
	type asked struct{ Method, Path, Query, Body, Key, Try, Type, Auth, Plain string }
	seen := make(chan asked, 1)
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h := r.Header
		seen <- asked{r.Method, r.URL.Path, r.URL.RawQuery, string(body), h.Get("Idempotency-Key"), h.Get("Throng-Try"), h.Get("Content-Type"), h.Get("Authorization"), h.Get("X-Plain")}
		fmt.Fprint(w, ` {"why": "so", "risk": 0.250, "more": 1, "tags": [1, "x"], "sure": null}`)
	})
	now := time.Unix(0, 0)
	c := client(t, httpstep.Options{
		AllowPrivate: true,
		Secrets:      secretsOf(map[string]string{"SCORES": "s3cret", "B": "b"}),
		Now:          func() time.Time { now = now.Add(time.Second); return now },
	})
	s := step(t, address+"?v=2")
	s.Headers = map[string]string{"authorization": "Bearer ${secret:SCORES}", "X-Plain": "a${secret:B}c"}
	reply, err := c.Do(t.Context(), s, item, 2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(httpstep.Reply{Values: []string{"0.250", "so", `[1,"x"]`, ""}, Took: time.Second, Status: 200}, reply); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
	want := asked{"POST", "/v1/score", "v=2", `{"text":"a <b> \"c\"\n","amount":1.50,"old":null,"vip":true,"none":null,"empty":""}`, "run-1/score/7", "2", "application/json", "Bearer s3cret", "abc"}
	if diff := cmp.Diff(want, <-seen); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}

	s.Send, s.Method = []string{"vip", "text"}, "PUT"
	if _, err := c.Do(t.Context(), s, item, 1); err != nil {
		t.Fatal(err)
	}
	if got := <-seen; got.Body != `{"vip":true,"text":"a <b> \"c\"\n"}` || got.Method != "PUT" {
		t.Errorf("chosen columns: %v", got)
	}
	s.Method = "GET"
	if _, err := c.Do(t.Context(), s, item, 1); err != nil {
		t.Fatal(err)
	}
	got := <-seen
	if q, _ := url.ParseQuery(got.Query); got.Body != "" || got.Type != "" || q.Get("v") != "2" || q.Get("text") != "a <b> \"c\"\n" || q.Get("vip") != "true" || len(q) != 3 {
		t.Errorf("GET: %v", got)
	}
	s.Response = nil
	if reply, err := c.Do(t.Context(), s, item, 1); err != nil || reply.Values != nil || reply.Status != 200 {
		t.Errorf("without a schema: %v, %v", reply, err)
	}
	<-seen
}

// What services do wrong, and whether there is another try.
func TestFailures(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := client(t, httpstep.Options{AllowPrivate: true, MaxBody: 1000, Now: func() time.Time { return now }})
	for name, tc := range map[string]struct {
		do     http.HandlerFunc
		reason httpstep.Reason
		again  bool
		text   string
		after  time.Duration
	}{
		"400":                {answer(400, "no\n such  column\x00"), httpstep.Status, false, "HOST answered 400 Bad Request: no such column", 0},
		"404":                {answer(404, ""), httpstep.Status, false, "HOST answered 404 Not Found", 0},
		"408":                {answer(408, ""), httpstep.Status, true, "HOST answered 408 Request Timeout", 0},
		"409":                {answer(409, ""), httpstep.Status, false, "HOST answered 409 Conflict", 0},
		"422":                {answer(422, ""), httpstep.Status, false, "HOST answered 422 Unprocessable Entity", 0},
		"425":                {answer(425, ""), httpstep.Status, true, "HOST answered 425 Too Early", 0},
		"429":                {answer(429, "", "Retry-After", "7"), httpstep.Status, true, "HOST answered 429 Too Many Requests", 7 * time.Second},
		"500":                {answer(500, strings.Repeat("ä", 300)), httpstep.Status, true, "HOST answered 500 Internal Server Error: " + strings.Repeat("ä", 200) + "…", 0},
		"501":                {answer(501, ""), httpstep.Status, false, "HOST answered 501 Not Implemented", 0},
		"503, a date":        {answer(503, "", "Retry-After", "Fri, 02 Jan 2026 03:06:05 GMT"), httpstep.Status, true, "HOST answered 503 Service Unavailable", 2 * time.Minute},
		"503, a past date":   {answer(503, "", "Retry-After", "Fri, 02 Jan 2026 03:00:00 GMT"), httpstep.Status, true, "HOST answered 503 Service Unavailable", 0},
		"503, 100 s":         {answer(503, "", "Retry-After", "100"), httpstep.Status, true, "HOST answered 503 Service Unavailable", 100 * time.Second},
		"503, an age":        {answer(503, "", "Retry-After", "99999999999"), httpstep.Status, true, "HOST answered 503 Service Unavailable", httpstep.MaxRetryAfter},
		"503, no number":     {answer(503, "", "Retry-After", "99999999999999999999999"), httpstep.Status, true, "HOST answered 503 Service Unavailable", httpstep.MaxRetryAfter},
		"503, a later year":  {answer(503, "", "Retry-After", "Fri, 02 Jan 2399 03:06:05 GMT"), httpstep.Status, true, "HOST answered 503 Service Unavailable", httpstep.MaxRetryAfter},
		"503, nonsense":      {answer(503, "", "Retry-After", "-5"), httpstep.Status, true, "HOST answered 503 Service Unavailable", 0},
		"304":                {answer(304, ""), httpstep.Status, false, "HOST answered 304 Not Modified", 0},
		"empty":              {answer(200, " \n"), httpstep.NotJSON, true, "the answer of HOST is empty, a JSON object is wanted", 0},
		"204":                {answer(204, ""), httpstep.NotJSON, true, "the answer of HOST is empty, a JSON object is wanted", 0},
		"a page":             {answer(200, "<html>Sign in</html>"), httpstep.NotJSON, true, "the answer of HOST is not JSON: <html>Sign in</html>", 0},
		"two values":         {answer(200, `{"risk":1}{"risk":2}`), httpstep.NotJSON, true, `the answer of HOST is not JSON: {"risk":1}{"risk":2}`, 0},
		"of another type":    {answer(200, `{"risk":"high"}`), httpstep.Schema, true, `the answer of HOST does not fit the schema: /risk: it is a string, it should be a number: {"risk":"high"}`, 0},
		"a list":             {answer(200, `[]`), httpstep.Schema, true, `the answer of HOST does not fit the schema: the value: it is an array, it should be an object: []`, 0},
		"NUL in text":        {answer(200, `{"risk":1,"why":"\u0000"}`), httpstep.Schema, true, `the answer of HOST cannot be used: why: the value holds a NUL character: remove it: {"risk":1,"why":"\u0000"}`, 0},
		"huge":               {answer(200, `{"risk":1,"why":"`+strings.Repeat("x", 1000)+`"}`), httpstep.TooLarge, false, "the answer of HOST has more than 1000 bytes", 0},
		"redirect elsewhere": {answer(307, "", "Location", "http://example.org/"), httpstep.Redirect, false, "HOST redirects to another place: put the right address into the workflow", 0},
		"redirect to GET": {func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				fmt.Fprint(w, `{"risk":1}`)
				return
			}
			w.Header().Set("Location", "/x")
			w.WriteHeader(http.StatusFound)
		}, httpstep.Redirect, false, "HOST redirects to another place: put the right address into the workflow", 0},
		"redirects in circle": {answer(307, "", "Location", "/v1/score"), httpstep.Redirect, false, "HOST redirects to another place: put the right address into the workflow", 0},
		"hangs up":            {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, httpstep.Connect, true, "HOST closed the connection without an answer", 0},
		"breaks off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"risk"`)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, httpstep.Connect, true, "the answer of HOST broke off", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := make(chan string, 10)
			address := serve(t, func(w http.ResponseWriter, r *http.Request) { calls <- r.Header.Get("Idempotency-Key"); tc.do(w, r) })
			s := step(t, address)
			_, err := c.Do(t.Context(), s, item, 1)
			f := failure(t, err)
			u, _ := url.Parse(address)
			if want := strings.ReplaceAll(tc.text, "HOST", u.Host); f.Error() != want || f.Reason != tc.reason || f.RetryAfter != tc.after {
				t.Errorf("got %s %s %s\nwant %s %s %s", f.Reason, f.RetryAfter, f, tc.reason, tc.after, want)
			}
			after, again := httpstep.Retry(err, 1, s, func() float64 { return 0 })
			if want := max(tc.after, 500*time.Millisecond); again != tc.again || (again && after != want) {
				t.Errorf("another try %v after %s, want %v after %s", again, after, tc.again, want)
			}
			for range len(calls) {
				if key := <-calls; key != item.Key {
					t.Errorf("a call with key %q", key)
				}
			}
		})
	}
}

func TestRedirectOnTheSameHost(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 2)
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- r.URL.Path + " " + r.Header.Get("Idempotency-Key") + " " + string(body)
		if r.URL.Path != "/v2" {
			http.Redirect(w, r, "/v2", http.StatusTemporaryRedirect)
			return
		}
		fmt.Fprint(w, `{"risk":1}`)
	})
	s := step(t, address)
	s.Send = []string{"vip"}
	if _, err := local(t).Do(t.Context(), s, item, 1); err != nil {
		t.Fatal(err)
	}
	if a, b := <-bodies, <-bodies; a != `/v1/score run-1/score/7 {"vip":true}` || b != `/v2 run-1/score/7 {"vip":true}` {
		t.Errorf("%s, then %s", a, b)
	}
}

// A service that is overloaded at first.
func TestThenFine(t *testing.T) {
	t.Parallel()
	keys := make(chan string, 3)
	calls := 0
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Get("Idempotency-Key") + " " + r.Header.Get("Throng-Try")
		if calls++; calls < 3 {
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, `{"risk":1}`)
	})
	s, c := step(t, address), local(t)
	var waited []time.Duration
	for try := 1; ; try++ {
		_, err := c.Do(t.Context(), s, item, try)
		if err == nil {
			break
		}
		after, again := httpstep.Retry(err, try, s, func() float64 { return 0.5 })
		if !again {
			t.Fatalf("try %d: %v, and no other", try, err)
		}
		waited = append(waited, after)
	}
	if diff := cmp.Diff([]time.Duration{2500 * time.Millisecond, 2500 * time.Millisecond}, waited); diff != "" {
		t.Errorf("waited (-want +got):\n%s", diff)
	}
	for try := 1; try <= 3; try++ {
		if got, want := <-keys, fmt.Sprintf("run-1/score/7 %d", try); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestNoAnswer(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	hang := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-done })
	drip := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"risk":`)
		w.(http.Flusher).Flush()
		<-done
	})
	entered := make(chan struct{})
	waiting := serve(t, func(http.ResponseWriter, *http.Request) { close(entered); <-done })
	t.Cleanup(func() { close(done) }) // before the servers are closed, which wait for it
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	down := l.Addr().String()
	l.Close()
	plain := strings.Replace(hang, "http:", "https:", 1)
	for address, want := range map[string]struct {
		reason httpstep.Reason
		text   string
		again  bool
	}{
		hang:                      {httpstep.Timeout, "HOST did not answer within 200ms", true},
		drip:                      {httpstep.Timeout, "the answer of HOST did not end within 200ms", true},
		"http://" + down:          {httpstep.Connect, "HOST takes no connections: is the service down?", true},
		"http://nowhere.invalid/": {httpstep.Connect, "the host nowhere.invalid is not found", true},
		plain:                     {httpstep.TLS, "HOST does not speak TLS at this port: should the address begin with http://?", false},
	} {
		s := step(t, address)
		s.Timeout = 200 * time.Millisecond
		if want.reason != httpstep.Timeout {
			s.Timeout = time.Minute
		}
		_, err := local(t).Do(t.Context(), s, item, 1)
		f := failure(t, err)
		u, _ := url.Parse(address)
		if text := strings.ReplaceAll(want.text, "HOST", u.Host); f.Error() != text || f.Reason != want.reason {
			t.Errorf("%s: got %s %s, want %s %s", address, f.Reason, f, want.reason, text)
		}
		if _, again := httpstep.Retry(err, 1, s, func() float64 { return 0 }); again != want.again {
			t.Errorf("%s: another try %v", address, again)
		}
	}
	// When the caller gives up, that is what Do says, and there is no other try.
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	_, err = local(t).Do(ctx, step(t, waiting), item, 1)
	if _, again := httpstep.Retry(err, 1, step(t, waiting), func() float64 { return 0 }); !errors.Is(err, context.Canceled) || again {
		t.Errorf("cancelled: %v, another try %v", err, again)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"risk":1}`) }))
	t.Cleanup(server.Close)
	server.Config.ErrorLog = nil
	s := step(t, server.URL)
	_, err := local(t).Do(t.Context(), s, item, 1)
	f := failure(t, err)
	if _, again := httpstep.Retry(err, 1, s, func() float64 { return 0 }); f.Reason != httpstep.TLS || again || !strings.Contains(f.Error(), "a certificate that is not trusted: x509: certificate signed by unknown authority") {
		t.Errorf("unknown authority: %s %v, another try %v", f.Reason, f, again)
	}
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	if _, err := client(t, httpstep.Options{AllowPrivate: true, TLS: &tls.Config{RootCAs: roots}}).Do(t.Context(), s, item, 1); err != nil {
		t.Errorf("known authority: %v", err)
	}
}

// No secret gets into a message, in whatever form the service gives it back.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	const secret, password = `p"ss w<rd-0123456789+/=`, "hunter2-very-long"
	basic := base64.StdEncoding.EncodeToString([]byte("throng:" + password))
	secrets := map[string]string{"A": secret, "BASIC": basic, "LINE": "abc\nX-Evil: 1"}
	strict, err := jsonschema.Compile([]byte(`{"properties":{"risk":{"type":"number"}},"type":"object","additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, httpstep.Options{AllowPrivate: true, Secrets: secretsOf(secrets)})
	for name, say := range map[string]func(*http.Request) string{
		"as it is": func(r *http.Request) string {
			return "wrong token " + r.Header.Get("X-Token") + " for " + r.Header.Get("Authorization")
		},
		"password":   func(r *http.Request) string { _, p, _ := r.BasicAuth(); return "wrong password " + p + "!" },
		"as JSON":    func(r *http.Request) string { return fmt.Sprintf("%q", r.Header.Get("X-Token")) },
		"in a query": func(r *http.Request) string { return url.QueryEscape(r.Header.Get("X-Token")) },
		"in base64": func(r *http.Request) string {
			return base64.StdEncoding.EncodeToString([]byte(r.Header.Get("X-Token")))
		},
		"cut by us": func(r *http.Request) string { return strings.Repeat("x", 190) + r.Header.Get("X-Token") },
		"cut by reading": func(r *http.Request) string {
			return strings.Repeat(strings.Repeat(" ", 180), 45) + strings.Repeat(" ", 85) + secret
		},
		"property's name": func(r *http.Request) string { return fmt.Sprintf(`{"risk":1,"%s":1}`, password) },
	} {
		for _, status := range []int{401, 200} {
			heard := make(chan string, 1)
			address := serve(t, func(w http.ResponseWriter, r *http.Request) {
				heard <- r.Header.Get("X-Token")
				w.WriteHeader(status)
				fmt.Fprint(w, say(r))
			})
			s := step(t, address)
			s.Response = strict
			s.Headers = map[string]string{"X-Token": "${secret:A}", "Authorization": "Basic ${secret:BASIC}"}
			_, err := c.Do(t.Context(), s, item, 1)
			f := failure(t, err)
			text := fmt.Sprintf("%s %+v", f, *f)
			for _, part := range []string{"p\"ss", "ss w<rd", "ss+w", "ss%20w", "hunter2", basic[:20], base64.StdEncoding.EncodeToString([]byte(secret))[:12]} {
				if strings.Contains(text, part) {
					t.Errorf("%s, %d: %q is in %s", name, status, part, text)
				}
			}
			if got := <-heard; got != secret {
				t.Errorf("the service got %q", got)
			}
		}
	}
	s := step(t, serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the service was called") }))
	for header, want := range map[string]string{
		"${secret:NONE}":             "there is no secret NONE: set it first",
		"${secret:LINE}":             "the secret LINE holds a line end or a control character: set it again without",
		"${secret:A} ${secret:NONE}": "there is no secret NONE: set it first",
	} {
		s.Headers = map[string]string{"X-Token": header}
		_, err := c.Do(t.Context(), s, item, 1)
		f := failure(t, err)
		if _, again := httpstep.Retry(err, 1, s, func() float64 { return 0 }); f.Reason != httpstep.NoSecret || f.Error() != want || again {
			t.Errorf("%s: %s %v, another try %v", header, f.Reason, f, again)
		}
	}
	if _, err := local(t).Do(t.Context(), s, item, 1); failure(t, err).Reason != httpstep.NoSecret {
		t.Errorf("a client without secrets: %v", err)
	}
}

func TestBadFields(t *testing.T) {
	t.Parallel()
	s := step(t, serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the service was called") }))
	one := func(f httpstep.Field) httpstep.Call { return httpstep.Call{Key: "k", Fields: []httpstep.Field{f}} }
	for want, tc := range map[string]struct {
		call   httpstep.Call
		send   []string
		method string
	}{
		"the idempotency key should be 1 to 255 visible ASCII characters":                         {httpstep.Call{Key: "a b"}, nil, ""},
		`a: must be a number, as 12 or -0.5, not "x"`:                                             {one(httpstep.Field{Name: "a", Value: "x", Kind: jsonschema.Number}), nil, ""},
		`a: must be a number, as 12 or -0.5, not "0x10"`:                                          {one(httpstep.Field{Name: "a", Value: "0x10", Kind: jsonschema.Number}), nil, ""},
		`a: must be a number, as 12 or -0.5, not "true"`:                                          {one(httpstep.Field{Name: "a", Value: "true", Kind: jsonschema.Number}), nil, ""},
		`a: must be true or false (or yes, no, 1, 0), not "maybe"`:                                {one(httpstep.Field{Name: "a", Value: "maybe", Kind: jsonschema.Bool}), nil, ""},
		`send: the item has no column "b"`:                                                        {one(httpstep.Field{Name: "a"}), []string{"b"}, ""},
		`the column "a" is empty or there are two of it`:                                          {httpstep.Call{Key: "k", Fields: []httpstep.Field{{Name: "a"}, {Name: "a"}}}, nil, ""},
		"the item is too long for an address of 8000 characters: use POST, or send fewer columns": {one(httpstep.Field{Name: "a", Value: strings.Repeat("x", 9000)}), nil, "GET"},
	} {
		s.Send, s.Method = tc.send, tc.method
		_, err := local(t).Do(t.Context(), s, tc.call, 1)
		f := failure(t, err)
		if _, again := httpstep.Retry(err, 1, s, func() float64 { return 0 }); f.Error() != want || f.Reason != httpstep.BadFields || again {
			t.Errorf("got %s %v, want %s", f.Reason, f, want)
		}
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	s := &workflow.HTTP{Tries: 20, Backoff: time.Second}
	down := &httpstep.Failure{Reason: httpstep.Connect}
	for try, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 9: 256 * time.Second, 10: 5 * time.Minute, 19: 5 * time.Minute} {
		low, again := httpstep.Retry(down, try, s, func() float64 { return 0 })
		high, _ := httpstep.Retry(down, try, s, func() float64 { return 1 })
		if !again || low != want/2 || high != want {
			t.Errorf("after try %d: %s to %s, want %s to %s", try, low, high, want/2, want)
		}
	}
	if _, again := httpstep.Retry(down, 20, s, func() float64 { return 0 }); again {
		t.Error("a 21st try")
	}
	if after, again := httpstep.Retry(fmt.Errorf("step: %w", down), 1, &workflow.HTTP{Tries: 2}, func() float64 { return 1 }); after != 0 || !again {
		t.Errorf("without backoff: %s, %v", after, again)
	}
	asked := &httpstep.Failure{Reason: httpstep.Status, StatusCode: 503, RetryAfter: 100 * time.Hour}
	if after, _ := httpstep.Retry(asked, 1, s, func() float64 { return 1 }); after != time.Hour+time.Second {
		t.Errorf("Retry-After of 100 hours: %s", after)
	}
	asked.RetryAfter = time.Second
	if after, _ := httpstep.Retry(asked, 5, s, func() float64 { return 0 }); after != 8*time.Second {
		t.Errorf("a short Retry-After shortens the waiting to %s", after)
	}
	if _, again := httpstep.Retry(errors.New("other"), 1, s, func() float64 { return 0 }); again {
		t.Error("another try after an error that is no Failure")
	}
}

// A server that answers one byte at a time, for ever, in its headers.
func TestEndlessHeaders(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
			return
		}
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n")
		for err == nil {
			_, err = fmt.Fprintf(conn, "X: %s\r\n", strings.Repeat("x", 1000))
		}
	}()
	_, err = local(t).Do(t.Context(), step(t, "http://"+l.Addr().String()), item, 1)
	if f := failure(t, err); f.Reason != httpstep.Connect || !strings.Contains(f.Error(), "header") {
		t.Errorf("%s %v", f.Reason, f)
	}
}
