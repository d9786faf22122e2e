package httpstep_test

import (
	"net/url"
	"testing"

	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// TestOrigin: addresses have one origin if they are at one host and port, by one scheme.
func TestOrigin(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://api.example.org/v1/score?x=1": "https://api.example.org",
		"HTTPS://API.example.ORG:443":          "https://api.example.org",
		"https://api.example.org:8443/":        "https://api.example.org:8443",
		"http://api.example.org":               "http://api.example.org",
		"http://api.example.org:443":           "http://api.example.org:443",
		"http://api.example.org:80/":           "http://api.example.org",
		"http://[FD00::1]:8080/v1":             "http://[fd00::1]:8080",
		"https://[fd00::1]":                    "https://[fd00::1]",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := httpstep.Origin(u); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
