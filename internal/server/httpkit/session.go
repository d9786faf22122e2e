package httpkit

import (
	"net/http"
	"strings"
)

// SessionCookie is the name of the cookie that holds a browser's session.
const SessionCookie = "throng_session"

// Secret returns what a request shows to say who sends it: the bearer token if
// there is one, else the browser's session, else "".
func Secret(r *http.Request) string {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return strings.TrimSpace(token)
	}
	if c, err := r.Cookie(SessionCookie); err == nil {
		return c.Value
	}
	return ""
}

// Encrypted reports whether the client's connection is encrypted: by this server
// itself, or, with trustProxy, by the proxy in front of it.
func Encrypted(r *http.Request, trustProxy bool) bool {
	return r.TLS != nil || trustProxy && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}
