package httpstep_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// TestRefusedAddresses: of an address that is private as it is written, it is known before a
// call which place has to be allowed; that allows it.
func TestRefusedAddresses(t *testing.T) {
	t.Parallel()
	for address, place := range map[string]string{
		"http://10.1.2.3/v1":        "10.1.2.3:80",
		"https://127.0.0.1":         "127.0.0.1:443",
		"http://[fd00::1]:8080/":    "[fd00::1]:8080",
		"http://localhost:8099":     "localhost:8099",
		"https://LocalHost./x":      "LocalHost.:443",
		"http://[::ffff:10.0.0.1]/": "[::ffff:10.0.0.1]:80",
		"https://8.8.8.8/":          "",
		"https://scores.example":    "", // wherever it leads
		"http://localhost.example":  "",
		"http://[":                  "",
	} {
		if got := (httpstep.Allow{}).Refused(address); got != place {
			t.Errorf("%s: %q, want %q", address, got, place)
		}
		if place == "" {
			continue
		}
		for _, pattern := range []string{place, "127.0.0.0/8 10.0.0.0/8 fd00::/8"} {
			allow, err := httpstep.ParseAllow(strings.Fields(pattern))
			if err != nil {
				t.Errorf("%s: %v", pattern, err)
			}
			if got := allow.Refused(address); got != "" {
				t.Errorf("%s, with %s: %q", address, pattern, got)
			}
		}
	}
}
