package httpkit_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/throng-dev/throng/internal/server/httpkit"
)

// FuzzClientAddress: whatever a client says of itself, its own words count only where
// the server stands behind a proxy, and then only the last, which the proxy has added.
func FuzzClientAddress(f *testing.F) {
	for _, s := range []string{"", "192.0.2.1", "192.0.2.1:80", "[2001:db8::1]:80", "a, b", "192.0.2.9, ", ",,,", "::1%lo", "192.0.2.1, evil"} {
		f.Add(s)
	}
	own, proxys := netip.MustParseAddr("203.0.113.5"), netip.MustParseAddr("198.51.100.7")
	f.Fuzz(func(t *testing.T, said string) {
		r := &http.Request{RemoteAddr: own.String() + ":4711", Header: http.Header{"X-Forwarded-For": {said}}}
		if got := httpkit.ClientAddress(r, false); got != own {
			t.Errorf("%q without a proxy: %s", said, got)
		}
		r.Header["X-Forwarded-For"] = []string{said + ", " + proxys.String()}
		if got := httpkit.ClientAddress(r, true); got != proxys {
			t.Errorf("%q before what the proxy added: %s", said, got)
		}
	})
}
