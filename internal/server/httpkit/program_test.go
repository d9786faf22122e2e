package httpkit_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/server/httpkit"
)

// TestProgram says in a few words which program asks.
func TestProgram(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                             "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0":      "Edge on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15":              "Safari on macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/1": "Chrome on iPhone",
		"Chrome/1":                 "Chrome",
		"throng":                   "throng",
		"curl/8.14.1":              "curl",
		"":                         "",
		"<script>":                 "",
		"\xff\xfe":                 "",
		strings.Repeat("ä", 10000): strings.Repeat("ä", 20),
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("User-Agent", agent)
		if got := httpkit.Program(r); got != want {
			t.Errorf("%q is %q, want %q", agent, got, want)
		}
	}
}
