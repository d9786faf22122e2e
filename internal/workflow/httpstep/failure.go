package httpstep

import (
	"errors"
	"net/http"
	"time"

	"github.com/throng-dev/throng/internal/workflow"
)

// Reason is what failed.
type Reason string

// The reasons.
const (
	Connect     Reason = "connect"     // no connection, or it broke
	TLS         Reason = "tls"         // the certificate is not one to trust
	Refused     Reason = "refused"     // an address that may not be called
	Timeout     Reason = "timeout"     // no whole answer in time
	Status      Reason = "status"      // an answer that is not 2xx
	NotJSON     Reason = "not_json"    // an answer that is not JSON
	Schema      Reason = "schema"      // JSON that does not fit the schema
	TooLarge    Reason = "too_large"   // an answer without end
	Redirect    Reason = "redirect"    // the service is elsewhere
	NoSecret    Reason = "secret"      // a secret is missing or cannot be in a header
	BadFields   Reason = "fields"      // the item cannot be sent
	Malfunction Reason = "malfunction" // the Service itself is not valid
)

// Failure is a try that failed. Its text is for the user: it holds no secret.
type Failure struct {
	Reason     Reason
	Message    string
	StatusCode int           // of the answer, or 0
	Said       string        // the beginning of what the service answered instead, at most 200 characters, or ""
	RetryAfter time.Duration // how long the service wants the caller to wait, or 0
}

func (f *Failure) Error() string {
	if f.Said == "" {
		return f.Message
	}
	return f.Message + ": " + f.Said
}

// Unsent reports whether the service was not called at all.
func (f *Failure) Unsent() bool {
	return f.Reason == Refused || f.Reason == NoSecret || f.Reason == BadFields
}

// isTemporary reports whether another try could succeed.
func (f *Failure) isTemporary() bool {
	switch f.Reason {
	case Connect, Timeout, NotJSON, Schema:
		return true
	case Status:
		switch c := f.StatusCode; c {
		case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
			return true
		case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
			return false
		default:
			return c >= 500
		}
	}
	return false
}

// Retry decides what follows on the failure of a try (the first is 1): whether
// there is another one, and after which time.
//
// Tried again is what may pass: no connection, no answer in time, the statuses
// 408, 425, 429 and 5xx but for 501 and 505, and an answer that is not JSON or
// does not fit the schema, since a service that is restarted or overloaded
// answers garbage for a while. Not tried again is what would be the same: the
// other 4xx, a redirect, an address that may not be called, a certificate that
// is not trusted, a missing secret, an answer that is too large, and an item
// that cannot be sent. An error that is not a *Failure (the caller's context
// ended) is not tried again.
//
// random returns a number in [0, 1); it spreads the tries of many items.
func Retry(err error, try int, s *workflow.HTTP, random func() float64) (after time.Duration, again bool) {
	var f *Failure
	if !errors.As(err, &f) || !f.isTemporary() || try >= s.Tries {
		return 0, false
	}
	wait := min(s.Backoff, workflow.MaxBackoff)
	for i := 1; i < try && wait < workflow.MaxBackoff; i++ {
		wait = min(2*wait, workflow.MaxBackoff)
		if wait == 0 {
			break
		}
	}
	after = wait/2 + time.Duration(random()*float64(wait-wait/2))
	if f.RetryAfter > 0 {
		asked := min(f.RetryAfter, MaxRetryAfter)
		after = max(after, asked+time.Duration(random()*float64(s.Backoff)))
	}
	return after, true
}
