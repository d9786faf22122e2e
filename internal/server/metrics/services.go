package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/throng-dev/throng/internal/server/app"
)

// services collects what there is to say of the services that are declared.
type services struct {
	app *app.App

	concurrency, underWay, waiting *prometheus.Desc
}

func newServices(s *app.App) *services {
	of := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("throng_service_"+name, help, []string{"service"}, nil)
	}
	return &services{
		app:         s,
		concurrency: of("concurrency", "Calls that a declared service takes at a time."),
		underWay:    of("under_way", "Calls of a declared service that are under way, of all tenants."),
		waiting:     of("waiting", "Calls that wait for a declared service, of all tenants."),
	}
}

// Describe implements prometheus.Collector.
func (c *services) Describe(out chan<- *prometheus.Desc) {
	out <- c.concurrency
	out <- c.underWay
	out <- c.waiting
}

// Collect implements prometheus.Collector.
func (c *services) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := background()
	defer cancel()
	list, err := c.app.Services.Figures(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(c.concurrency, err)
		return
	}
	for _, v := range list {
		for desc, n := range map[*prometheus.Desc]int{c.concurrency: v.Concurrency, c.underWay: v.UnderWay, c.waiting: v.Waiting} {
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n), v.Name)
		}
	}
}
