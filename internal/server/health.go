package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/httpkit"
)

// readyWithin is how long a server is given to show that it is ready.
const readyWithin = 2 * time.Second

// healthy answers while the process does, and looks at nothing.
func healthy(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) }

// ready answers whether a server takes requests: "ready", or "not ready" and a line for each
// reason.
func ready(ask func(context.Context) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyWithin)
		defer cancel()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		err := ask(ctx)
		if err == nil {
			_, _ = w.Write([]byte("ready\n"))
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("not ready\n"))
		var not app.NotReady
		_ = errors.As(err, &not)
		for _, reason := range not {
			_, _ = fmt.Fprintf(w, "%s: %s\n", reason.What, httpkit.Public(reason.Err).Message)
		}
	}
}
