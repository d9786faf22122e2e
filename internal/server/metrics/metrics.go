// Package metrics tells a monitor how the server is, in Prometheus' text form:
// its pools, its services, its messages, its requests and its process. It reads the app
// when it is asked, and keeps nothing but counters.
package metrics

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/httpkit"
)

// Metrics is what is told of one server.
type Metrics struct {
	app      *app.App
	log      *slog.Logger
	registry *prometheus.Registry
	all      prometheus.Gatherers // that of the app, and of others
	requests *prometheus.HistogramVec
	proxied  bool // the server stands behind a proxy
}

// liveHeap adds the bytes that the last garbage collection has left, which tell what is kept.
var liveHeap = collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: regexp.MustCompile("^/gc/heap/live:bytes$")})

// New makes the metrics of an app. trustProxy is as httpkit.ClientAddress has it.
func New(s *app.App, log *slog.Logger, trustProxy bool) *Metrics {
	m := &Metrics{app: s, log: log, proxied: trustProxy, registry: prometheus.NewRegistry()}
	m.requests = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "throng_http_request_seconds", Help: "Time of a request by method and status; long polls and streams take theirs on purpose.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	}, []string{"method", "status"})
	ready := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "throng_ready", Help: "1 while /readyz says so."}, m.ready)
	m.registry.MustRegister(m.requests, ready, newPools(s), newServices(s), newQuotas(s), collectors.NewGoCollector(liveHeap), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.all = prometheus.Gatherers{m.registry}
	return m
}

// readyTimeout is how long the server is given to show that it is ready.
const readyTimeout = 2 * time.Second

func (m *Metrics) ready() float64 {
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	return truth(m.app.Ready(ctx) == nil)
}

// scrapeTimeout bounds a scrape.
const scrapeTimeout = 10 * time.Second

// Open serves the metrics to everybody who reaches it.
func (m *Metrics) Open() http.Handler { return serve(m.all, m.log) }

// Guarded serves them to admins.
func (m *Metrics) Guarded() http.Handler {
	open := m.Open()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := m.app.Accounts.Authenticate(r.Context(), httpkit.Secret(r), httpkit.ClientAddress(r, m.proxied))
		if err == nil {
			err = p.May(access.PoolsFiguresServed)
		}
		if err != nil {
			httpkit.LogError(r.Context(), m.log, r, err)
			public := httpkit.Public(err)
			http.Error(w, public.Error(), httpkit.Status(public.Code))
			return
		}
		open.ServeHTTP(w, r)
	})
}

// methods are those that are counted by name; others count together, as
// whoever sends a request may call its method anything.
var methods = map[string]bool{http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true, http.MethodDelete: true}

// clientGone is the status by which a request is counted that was given up as its client went
// away. Nobody gets it as an answer.
const clientGone = 499

// Count counts the requests to a handler. now is the clock.
func (m *Metrics) Count(now func() time.Time, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, seen := now(), &status{ResponseWriter: w}
		defer func() {
			method := r.Method
			if !methods[method] {
				method = "other"
			}
			code := max(seen.code, http.StatusOK)
			if code == http.StatusServiceUnavailable && r.Context().Err() != nil {
				code = clientGone
			}
			m.requests.WithLabelValues(method, strconv.Itoa(code)).Observe(now().Sub(start).Seconds())
		}()
		next.ServeHTTP(seen, r)
	})
}

// status knows the status of a reply.
type status struct {
	http.ResponseWriter
	code int
}

func (s *status) WriteHeader(code int) {
	if s.code == 0 && code >= http.StatusOK {
		s.code = code
	}
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap lets http.ResponseController reach what is below.
func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// background is the context of a scrape, which has none of its own.
func background() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), scrapeTimeout)
}
