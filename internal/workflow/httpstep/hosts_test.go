package httpstep_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// TestSecretsGoToTheirHostsOnly calls a service with a secret that is bound to hosts:
// where the service is none of them, nothing is sent.
func TestSecretsGoToTheirHostsOnly(t *testing.T) {
	t.Parallel()
	came := 0
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		came++
		if got := r.Header.Get("Authorization"); got != "Bearer s3cret" {
			t.Errorf("the service got %q", got)
		}
		_, _ = w.Write([]byte(`{"risk": 1, "why": "so"}`))
	})
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	ip, port := u.Hostname(), u.Port()
	for _, c := range []struct {
		hosts []string
		goes  bool
	}{
		{nil, true},
		{[]string{ip}, true},
		{[]string{"api.example.org", ip + ":" + port}, true},
		{[]string{ip + ":1"}, false},
		{[]string{"api.example.org", "*.example.org"}, false},
		{[]string{"10.0.0.0/8"}, false},
		{[]string{"nothing at all"}, false},
		{[]string{"*." + ip}, false},
	} {
		before := came
		cl := client(t, httpstep.Options{AllowPrivate: true, Secrets: func(string) (httpstep.Secret, bool) {
			return httpstep.Secret{Value: "s3cret", Hosts: c.hosts}, true
		}})
		s := step(t, address)
		s.Headers = map[string]string{"Authorization": "Bearer ${secret:SCORES}"}
		_, err := cl.Do(t.Context(), s, item, 1)
		if c.goes != (came == before+1) || c.goes != (err == nil) {
			t.Errorf("%q: %d calls came, %v", c.hosts, came-before, err)
		}
		if c.goes {
			continue
		}
		if f := failure(t, err); f.Reason != httpstep.NoSecret || !strings.Contains(f.Message, "the secret SCORES may not be sent to "+u.Host) || strings.Contains(f.Message, "s3cret") {
			t.Errorf("%q: %s: %s", c.hosts, f.Reason, f.Message)
		}
	}
}

// secretsOf are secrets that may go to any host.
func secretsOf(values map[string]string) func(string) (httpstep.Secret, bool) {
	return func(name string) (httpstep.Secret, bool) {
		v, ok := values[name]
		return httpstep.Secret{Value: v}, ok
	}
}

// FuzzHosts: a secret that is bound to a host goes to that one, and below it if it is
// so written, and nowhere else.
func FuzzHosts(f *testing.F) {
	for _, s := range []string{"api.example.org", "*.example.org", "API.example.org:443", "10.0.0.1", "[::1]:80", "*", "*.", "*.org", "a*.org", "example.org.", ".org"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		if httpstep.CheckHost(pattern) != nil {
			return
		}
		for _, host := range []string{"api.example.org", "evil.example", "org", "127.0.0.1"} {
			goes := httpstep.Secret{Hosts: []string{pattern}}.MayGoTo(&url.URL{Scheme: "https", Host: host, Path: "/"})
			name := strings.TrimSuffix(strings.ToLower(pattern), ".")
			if i := strings.LastIndexByte(name, ':'); i >= 0 && !strings.Contains(name[:i], ":") {
				name = strings.TrimSuffix(name[:i], ".")
			}
			below, wild := strings.CutPrefix(name, "*")
			if covers := name == host || wild && strings.HasSuffix(host, below); goes && !covers {
				t.Errorf("bound to %q, it goes to %s", pattern, host)
			}
		}
	})
}
