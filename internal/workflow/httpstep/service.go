package httpstep

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/workflow"
)

// MaxRetryAfter is how long a service can make the caller wait by Retry-After.
const MaxRetryAfter = time.Hour

// methodOf returns the method of a service's requests. Without one it is POST.
func methodOf(s *workflow.HTTP) string { return cmp.Or(s.Method, http.MethodPost) }

// hostOf returns the host of a service's URL, with its port if it has one.
func hostOf(s *workflow.HTTP) string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return "the service"
	}
	return u.Host
}

// hasControl reports whether a text has a control character: in a header it could
// begin another one.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}
