package httpkit

import (
	"net/http/httptest"
	"testing"
)

func TestClientAddress(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		remote string
		header []string
		trust  bool
		want   string
	}{
		{"192.0.2.1:1234", nil, false, "192.0.2.1"},
		{"192.0.2.1:1234", []string{"198.51.100.1"}, false, "192.0.2.1"},
		{"192.0.2.1:1234", []string{"198.51.100.1"}, true, "198.51.100.1"},
		{"192.0.2.1:1234", []string{"203.0.113.9, 198.51.100.1"}, true, "198.51.100.1"},
		{"192.0.2.1:1234", []string{"203.0.113.9", "198.51.100.1:99"}, true, "198.51.100.1"},
		{"192.0.2.1:1234", []string{"203.0.113.9, [2001:db8::1]:99"}, true, "2001:db8::1"},
		{"192.0.2.1:1234", []string{"198.51.100.1, unknown"}, true, "192.0.2.1"},
		{"[2001:db8::1]:1234", nil, true, "2001:db8::1"},
		{"pipe", nil, true, "invalid IP"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = x.remote
		for _, h := range x.header {
			r.Header.Add("X-Forwarded-For", h)
		}
		if got := ClientAddress(r, x.trust).String(); got != x.want {
			t.Errorf("from %s with %q, trust %t: %s, want %s", x.remote, x.header, x.trust, got, x.want)
		}
	}
}
