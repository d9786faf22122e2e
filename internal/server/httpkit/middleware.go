package httpkit

import (
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// secureHeaders are in the form and the slices that are kept, not made for each answer.
var secureHeaders = http.Header{
	"X-Content-Type-Options":     {"nosniff"},
	"Referrer-Policy":            {"same-origin"},
	"Cross-Origin-Opener-Policy": {"same-origin"},
	"Permissions-Policy":         {"camera=(), geolocation=(), microphone=(), payment=()"},
	"Content-Security-Policy":    {"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
}

// hsts has browsers come back with https only, for a year.
var hsts = []string{"max-age=31536000"}

// SecureHeaders sets the headers that every answer of the server has. Handlers of pages
// have a Content-Security-Policy of their own; what is no page may load nothing. Answers
// by an encrypted connection (see Encrypted) ask for no other.
func SecureHeaders(trustProxy bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		maps.Copy(h, secureHeaders)
		if Encrypted(r, trustProxy) {
			h["Strict-Transport-Security"] = hsts
		}
		next.ServeHTTP(w, r)
	})
}

// Recover turns a panic of a handler into a logged error: onPanic answers, if
// nothing has been sent yet. http.ErrAbortHandler passes through.
func Recover(log *slog.Logger, onPanic func(http.ResponseWriter, *http.Request, error), next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := record(w)
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler { //nolint:errorlint // a panic value, compared as net/http does
				panic(v)
			}
			log.ErrorContext(r.Context(), "a handler panicked", "method", r.Method, "path", r.URL.Path, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			if rec.status != 0 {
				panic(http.ErrAbortHandler) // the client must not take half an answer for a whole one
			}
			onPanic(rec, r, fmt.Errorf("panic: %v", v))
		}()
		next.ServeHTTP(rec, r)
	})
}

// LogRequests logs every request at level Debug, and those that took longer
// than slow at Warn, except answers that stream (they are long on purpose and
// call Streaming).
func LogRequests(log *slog.Logger, slow time.Duration, now func() time.Time, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := now()
		rec := record(w)
		next.ServeHTTP(rec, r)
		took, level := now().Sub(start), slog.LevelDebug
		if took > slow && !rec.streaming {
			level = slog.LevelWarn
		}
		if !log.Enabled(r.Context(), level) {
			return
		}
		log.Log(r.Context(), level, "request", "method", r.Method, "path", r.URL.Path, "status", max(rec.status, http.StatusOK), "bytes", rec.bytes, "took", took)
	})
}

// recorder knows what has been sent.
type recorder struct {
	http.ResponseWriter
	status    int
	bytes     int64
	streaming bool
	streams   *Streams      // sets the pace of an answer that streams; nil: there is none
	behind    time.Duration // the pace, the writes of a stream
	writing   bool          // a write of a stream is under way; held by streams.mu
}

func record(w http.ResponseWriter) *recorder {
	if rec, ok := w.(*recorder); ok {
		return rec
	}
	return &recorder{ResponseWriter: w}
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
		if after, ok := retryAfter[status]; ok && w.Header().Get("Retry-After") == "" {
			w.Header().Set("Retry-After", after)
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if w.streaming && w.streams != nil {
		return w.streams.write(w, p)
	}
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach what is below.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// OnlyHosts refuses requests that ask for a host which is not in the list, but for those
// at the paths given. A host without a port stands for every port of it. Empty: any.
func OnlyHosts(hosts, open []string, next http.Handler) http.Handler {
	if len(hosts) == 0 {
		return next
	}
	known := make(map[string]bool, len(hosts))
	for _, h := range hosts {
		h = strings.ToLower(h)
		if strings.HasSuffix(h, "]") { // of IPv6, for every port
			h = strings.Trim(h, "[]")
		}
		known[h] = true
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := strings.ToLower(r.Host)
		name := asked
		if host, _, err := net.SplitHostPort(asked); err == nil {
			name = host
		}
		if !known[asked] && !known[strings.Trim(name, "[]")] && !slices.Contains(open, r.URL.Path) {
			http.Error(w, "this server is not known by that name: ask for it by one of those that --allow-host and --public-url give it", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
