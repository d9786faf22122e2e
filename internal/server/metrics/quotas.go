package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/throng-dev/throng/internal/server/app"
)

// quotas collects how full quotas are: by quota, not by tenant, so that the figures stay as
// many however many tenants there are.
type quotas struct {
	app *app.App

	highest, full *prometheus.Desc
}

func newQuotas(s *app.App) *quotas {
	of := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("throng_quota_"+name, help, []string{"quota"}, nil)
	}
	return &quotas{
		app:     s,
		highest: of("highest_share", "Share of a quota that is used by the tenant that uses the largest share, from 0; more than 1 if it was lowered."),
		full:    of("tenants_nearly_full", "Tenants that use nine tenths of a quota or more."),
	}
}

// Describe implements prometheus.Collector.
func (c *quotas) Describe(out chan<- *prometheus.Desc) {
	out <- c.highest
	out <- c.full
}

// Collect implements prometheus.Collector.
func (c *quotas) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := background()
	defer cancel()
	list, err := c.app.Tenants.Fullest(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(c.highest, err)
		return
	}
	for _, f := range list {
		out <- prometheus.MustNewConstMetric(c.highest, prometheus.GaugeValue, f.Highest, string(f.Quota))
		out <- prometheus.MustNewConstMetric(c.full, prometheus.GaugeValue, float64(f.Full), string(f.Quota))
	}
}
