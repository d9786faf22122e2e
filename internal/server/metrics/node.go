package metrics

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Node is what is told of a server that shares its database with others: besides that of its
// app while it has the database, and alone while it stands by.
type Node struct {
	log       *slog.Logger
	own       *prometheus.Registry
	alone     *prometheus.Registry // of the process, while it has no app
	forwarded *prometheus.CounterVec
	taken     prometheus.Counter
}

// NewNode makes the metrics of a node. owner and ready are asked at each scrape: whether it
// has the database, and why it takes no requests.
func NewNode(log *slog.Logger, owner func() bool, ready func(context.Context) error) *Node {
	n := &Node{log: log, own: prometheus.NewRegistry(), alone: prometheus.NewRegistry()}
	n.forwarded = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "throng_node_forwarded_total", Help: "Requests that were to be sent on to the node that has the database, by what came of them: answered, nobody (nothing was sent) or lost (no answer).",
	}, []string{"result"})
	n.taken = prometheus.NewCounter(prometheus.CounterOpts{Name: "throng_node_taken_total", Help: "How often this node has taken the database."})
	has := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "throng_node_owner", Help: "1 while this node has the database, and runs the pools."}, func() float64 { return truth(owner()) })
	n.own.MustRegister(n.forwarded, n.taken, has)
	n.alone.MustRegister(collectors.NewGoCollector(liveHeap), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "throng_ready", Help: "1 while /readyz says so."}, func() float64 {
			ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
			defer cancel()
			return truth(ready(ctx) == nil)
		}))
	return n
}

// Forwarded counts a request with its result.
func (n *Node) Forwarded(result string) { n.forwarded.WithLabelValues(result).Inc() }

// Taken counts that the node has taken the database.
func (n *Node) Taken() { n.taken.Inc() }

// Open serves the metrics of a node that stands by to everybody who reaches it.
func (n *Node) Open() http.Handler { return serve(prometheus.Gatherers{n.own, n.alone}, n.log) }

// With has m tell of a node, too.
func (m *Metrics) With(n *Node) { m.all = append(m.all, n.own) }

func serve(g prometheus.Gatherer, log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(g, promhttp.HandlerOpts{Timeout: scrapeTimeout, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)})
}
