package httpstep

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/jsonschema"
)

// The limits of a Service.
const (
	MaxTimeout = 10 * time.Minute
	MaxTries   = 100
	// MaxBackoff is how long the waiting between tries gets by doubling, and
	// how long Backoff may be.
	MaxBackoff = 5 * time.Minute
	// MaxRetryAfter is how long a service can make us wait by Retry-After.
	MaxRetryAfter = time.Hour
	maxURL        = 2048
)

// Service is a service as a step of a workflow calls it.
type Service struct {
	URL     string            // http or https
	Method  string            // "" is POST; also PUT, PATCH, and GET, which puts the fields into the query
	Headers map[string]string // values may hold ${secret:NAME}
	Send    []string          // names of the fields that are sent, in order; nil: all
	Timeout time.Duration     // of one try, its answer included; more than 0, at most MaxTimeout
	Tries   int               // in all, 1 to MaxTries
	// Backoff is the waiting before the second try, 0 to MaxBackoff. It
	// doubles from try to try up to MaxBackoff; of each, a random part between
	// a half and the whole is waited.
	Backoff time.Duration
	// Response is what an answer must fit; its top-level properties are the
	// values of a Reply. With nil, an answer is not read.
	Response *jsonschema.Schema
}

var methods = []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodGet}

// ours are the headers that a request has by itself, and those that would
// change how it is carried.
var ours = []string{
	"Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Expect", "Host", "Idempotency-Key", "Keep-Alive",
	"Proxy-Authorization", "Proxy-Connection", tryHeader, "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

var (
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$") // a token of RFC 9110
	secretRef  = regexp.MustCompile(`\$\{secret:([A-Za-z_][A-Za-z0-9_]{0,63})\}`)
)

// Validate says what is wrong with s: all of it, each a *crowd.Error with the
// Field, joined.
func (s *Service) Validate() error {
	var list []error
	refuse := func(field, format string, args ...any) { list = append(list, crowd.Fieldf(field, format, args...)) }
	if what := checkURL(s.URL); what != "" {
		refuse("url", "%s", what)
	}
	if !slices.Contains(methods, s.method()) {
		refuse("method", "%q cannot be used: use %s", s.Method, strings.Join(methods, ", "))
	}
	for _, name := range headerNames(s.Headers) {
		if what := checkHeader(name, s.Headers[name]); what != "" {
			refuse("headers."+name, "%s", what)
		}
	}
	seen := map[string]bool{}
	for _, name := range headerNames(s.Headers) {
		if c := http.CanonicalHeaderKey(name); seen[c] {
			refuse("headers."+name, "the header stands here twice")
		} else {
			seen[c] = true
		}
	}
	for i, name := range s.Send {
		if name == "" || slices.Contains(s.Send[:i], name) {
			refuse("send", "%q is empty or stands here twice", name)
		}
	}
	if s.Timeout <= 0 || s.Timeout > MaxTimeout {
		refuse("timeout", "%s is not possible: it should be more than 0 and at most %s", s.Timeout, MaxTimeout)
	}
	if s.Tries < 1 || s.Tries > MaxTries {
		refuse("tries", "%d is not possible: it should be 1 to %d", s.Tries, MaxTries)
	}
	if s.Backoff < 0 || s.Backoff > MaxBackoff {
		refuse("backoff", "%s is not possible: it should be 0s to %s", s.Backoff, MaxBackoff)
	}
	if s.Response != nil && len(s.Response.Properties()) == 0 {
		refuse("response", "it names no properties, so the step would add no column: it should be like {type: object, properties: {risk: {type: number}}}")
	}
	return errors.Join(list...)
}

// Secrets returns the names of the secrets that the headers need, sorted.
func (s *Service) Secrets() []string {
	var names []string
	for _, value := range s.Headers {
		for _, m := range secretRef.FindAllStringSubmatch(value, -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (s *Service) method() string {
	if s.Method == "" {
		return http.MethodPost
	}
	return strings.ToUpper(s.Method)
}

// host returns the host of the URL, with its port if it has one.
func (s *Service) host() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return "the service"
	}
	return u.Host
}

func checkURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case strings.Contains(text, "${"):
		return "it is fixed: secrets stand in headers, columns are sent in the body or the query"
	case err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return fmt.Sprintf("%q is not an address like https://scores.example/v1/score", clip(text, 100))
	case u.User != nil:
		return "a name and a password do not belong into the address: use a header with ${secret:NAME}"
	case u.Fragment != "":
		return "an address of a service has no # part"
	case len(text) > maxURL:
		return fmt.Sprintf("it has %d characters, %d are allowed", len(text), maxURL)
	}
	return ""
}

func checkHeader(name, value string) string {
	switch {
	case !headerName.MatchString(name):
		return "this is not the name of a header"
	case slices.Contains(ours, http.CanonicalHeaderKey(name)):
		return "this header is set by the call itself"
	case strings.Contains(secretRef.ReplaceAllString(value, ""), "${"):
		return "a secret is written as ${secret:NAME}, its name made of letters, digits and _"
	case control(value):
		return "the value holds a line end or a control character"
	}
	return ""
}

func headerNames(headers map[string]string) []string {
	names := make([]string, 0, len(headers))
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// control says whether a text holds a control character: in a header it could
// begin another one.
func control(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// clip shortens a text to n characters.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
