package server

import (
	"context"
	"net/http"
	"net/http/pprof"
	"sync/atomic"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/app"
)

// side is what the address of --metrics-listen serves, to those who run the server. It is
// there before the database is open, and until it is closed.
type side struct{ opened atomic.Pointer[opened] }

// opened is what a server that has started tells of itself.
type opened struct {
	ready   func(context.Context) error
	figures http.Handler
}

// errStarting is of a server whose database is not open yet.
var errStarting = crowd.Errorf(crowd.Unavailable, "the database is opened and brought up to date")

// open has s serve what a server tells.
func (s *side) open(ready func(context.Context) error, figures http.Handler) {
	s.opened.Store(&opened{ready, figures})
}

// ready is App.Ready, or that of a node, also before the server has started.
func (s *side) ready(ctx context.Context) error {
	if o := s.opened.Load(); o != nil {
		return o.ready(ctx)
	}
	return app.NotReady{{What: "starting", Err: errStarting}}
}

// metrics serves those of the server.
func (s *side) metrics(w http.ResponseWriter, r *http.Request) {
	if o := s.opened.Load(); o != nil {
		o.figures.ServeHTTP(w, r)
		return
	}
	http.Error(w, errStarting.Message, http.StatusServiceUnavailable)
}

// handler serves metrics, health and profiles. The command line is not among the profiles,
// as it may hold a password.
func (s *side) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /healthz", healthy)
	mux.HandleFunc("GET /readyz", ready(s.ready))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	return mux
}
