package metrics

import (
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// pools collects what there is to say of the pools, and of messages.
type pools struct {
	app      *app.App
	messages *prometheus.Desc
	actions  *prometheus.Desc

	mu      sync.Mutex
	seen    map[crowd.PoolID]int64 // the last action counted
	counted map[counted]float64
}

// counted is a kind of action of a pool.
type counted struct {
	pool   crowd.PoolID
	kind   store.ActionKind
	advice bool
}

func newPools(s *app.App) *pools {
	return &pools{
		app:      s,
		messages: prometheus.NewDesc("throng_messages", "Messages that wait to be sent, and those that failed for good within the last day.", []string{"state"}, nil),
		actions:  prometheus.NewDesc("throng_pool_actions_total", "What was decided or set, as the pool's log has it; a transfer counts in the pool that lends.", []string{"pool", "name", "kind", "advice"}, nil),
		seen:     make(map[crowd.PoolID]int64), counted: make(map[counted]float64),
	}
}

// figure is one number of a pool.
type figure struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(v *control.PoolView) (x float64, known bool)
}

func gauge(name, help string, value func(v *control.PoolView) float64) figure {
	return figure{describe(name, help), prometheus.GaugeValue, func(v *control.PoolView) (float64, bool) { return value(v), true }}
}

func counter(name, help string, value func(v *control.PoolView) float64) figure {
	f := gauge(name, help, value)
	f.kind = prometheus.CounterValue
	return f
}

// ofCalls is a counter that is left out of pools that are open: there people come, and are
// off duty once they ask for nothing, without a call.
func ofCalls(name, help string, value func(c *pool.Counters) int64) figure {
	return figure{describe(name, help+" Left out of open pools."), prometheus.CounterValue, func(v *control.PoolView) (float64, bool) {
		return float64(value(&v.Status.Reading)), v.Retainer.Called
	}}
}

// sometimes is a gauge that is left out while it is not known.
func sometimes(name, help string, value func(m *pool.Metrics) (float64, bool)) figure {
	return figure{describe(name, help), prometheus.GaugeValue, func(v *control.PoolView) (float64, bool) {
		if v.Status.At.IsZero() {
			return 0, false
		}
		return value(&v.Status.Metrics)
	}}
}

func describe(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("throng_pool_"+name, help, []string{"pool", "name"}, nil)
}

func money(m crowd.Money) float64 { return float64(m) / float64(crowd.Unit) }

var figures = []figure{
	gauge("belong", "People who belong to the pool, on duty or not.", func(v *control.PoolView) float64 { return float64(v.Belong) }),
	gauge("workers", "People on duty who belong to the pool, here or lent to others.", func(v *control.PoolView) float64 { return float64(v.Status.Own()) }),
	gauge("on_duty", "People on duty here, whoever they belong to: busy, idle and in training.", func(v *control.PoolView) float64 { return float64(v.Status.Workers) }),
	gauge("lent", "Of workers, who are on duty in other pools.", func(v *control.PoolView) float64 { return float64(v.Status.Lent) }),
	gauge("borrowed", "Of on_duty, whom other pools have lent.", func(v *control.PoolView) float64 { return float64(v.Status.Borrowed) }),
	gauge("busy", "People who hold a task.", func(v *control.PoolView) float64 { return float64(v.Status.Busy) }),
	gauge("idle", "People on duty who hold nothing and are not in training.", func(v *control.PoolView) float64 { return float64(v.Status.Idle) }),
	gauge("training", "People on duty who still learn the work.", func(v *control.PoolView) float64 { return float64(v.Status.Training) }),
	gauge("coming", "People called who are not here yet.", func(v *control.PoolView) float64 { return float64(v.Coming) }),
	gauge("queue", "Answers wanted and in nobody's hands.", func(v *control.PoolView) float64 { return float64(v.Status.Queue) }),
	gauge("wait_p95_seconds", "95 of 100 answers handed out lately had waited no longer; 0: none was.", func(v *control.PoolView) float64 { return v.Status.WaitP95 }),
	gauge("oldest_wait_seconds", "How long the oldest in the queue has waited.", func(v *control.PoolView) float64 { return v.Status.OldestWait }),
	gauge("funds", "The pool's money for waiting.", func(v *control.PoolView) float64 { return money(v.Status.Funds.Funds) }),
	gauge("stopped", "1 under the emergency stop.", func(v *control.PoolView) float64 { return truth(v.Pool.Stopped) }),
	gauge("advise", "1 if the pool decides and does nothing.", func(v *control.PoolView) float64 { return truth(v.Control.Advise) }),

	sometimes("c_star", "The best number of people.", func(m *pool.Metrics) (float64, bool) { return float64(m.CStar), m.CStar != pool.Unknown }),
	sometimes("lambda", "Answers that come to be wanted, a second.", func(m *pool.Metrics) (float64, bool) { return m.Lambda, true }),
	sometimes("mu", "Answers a second by one person who works.", func(m *pool.Metrics) (float64, bool) { return m.Mu, m.Mu != 0 }),
	sometimes("abandonment", "People who leave by themselves, a second.", func(m *pool.Metrics) (float64, bool) { return m.Abandonment, true }),
	sometimes("throughput", "Answers that counted, a second.", func(m *pool.Metrics) (float64, bool) { return m.Throughput, true }),
	sometimes("utilisation", "lambda / (mu workers).", func(m *pool.Metrics) (float64, bool) { return m.Utilisation, m.Mu != 0 }),
	sometimes("preference", "Mean preference of the people on duty for the pool, 0 to 1.", func(m *pool.Metrics) (float64, bool) { return m.Preference, true }),
	sometimes("cost_per_hour", "Pay for waiting of those who are idle, in money.", func(m *pool.Metrics) (float64, bool) { return m.CostPerHour, true }),

	counter("waiting_paid_total", "Money paid for waiting.", func(v *control.PoolView) float64 { return money(v.Status.Funds.Paid) }),
	counter("arrived_total", "Answers that came to be wanted.", func(v *control.PoolView) float64 { return float64(v.Status.Reading.Arrived) }),
	counter("withdrawn_total", "Answers that were wanted no more before they came.", func(v *control.PoolView) float64 { return float64(v.Status.Reading.Withdrawn) }),
	counter("completed_total", "Answers that counted.", func(v *control.PoolView) float64 { return float64(v.Status.Reading.Completed) }),
	ofCalls("joined_total", "People who came when they were called.", func(c *pool.Counters) int64 { return c.Joined }),
	ofCalls("abandoned_total", "People who left by themselves.", func(c *pool.Counters) int64 { return c.Abandoned }),
	event(engine.ReadyToWork), event(engine.ReadyToAggregate), event(engine.TryToAggregate), event(engine.UpdateTask), event(engine.RemoveTask),
	ofCalls("released_total", "People who were let go.", func(c *pool.Counters) int64 { return c.Released }),
}

// event counts one of the five events by which jobs run.
func event(k engine.EventKind) figure {
	return counter("event_"+k.String()+"_total", fmt.Sprintf("Events %d of jobs, consumed since the server was started.", k), func(v *control.PoolView) float64 { return float64(v.Status.Events[k]) })
}

// spread is one number of how evenly the people of a pool were spread.
type spread struct {
	desc  *prometheus.Desc
	value func(v *control.FairnessView) float64 // NaN: it is left out
}

var spreads = []spread{
	{describe("jain", "Jain's index of R/(P T) over the batches that could use somebody, at the last look; left out while nobody works."), func(v *control.FairnessView) float64 { return v.Now.Jain }},
	{describe("j_infinity", "J of infinite beta of the same: -n is even among n batches, -Inf: some batch has nobody."), func(v *control.FairnessView) float64 { return v.Now.JInf }},
	{describe("jain_tenants", "Jain's index of people by weight over the tenants whose batches could use somebody, at the last look."), func(v *control.FairnessView) float64 { return v.Now.Tenants }},
	{describe("had_jain", "Jain's index over the tenants of the time of people that each had by what it was due, within the last hour; without those due less than 1 % of it."), func(v *control.FairnessView) float64 { return v.Had.Jain }},
}

// ofTenant are the labels of what is told of a tenant in a pool.
var ofTenant = []string{"pool", "name", "tenant", "tenant_name"}

var (
	tenantShare = prometheus.NewDesc("throng_pool_tenant_share", "Part of the time of people that the tenant had within the last hour, 0 to 1.", ofTenant, nil)
	tenantDue   = prometheus.NewDesc("throng_pool_tenant_due_share", "Part of it that the tenant was due, by its weight and what it wanted.", ofTenant, nil)
)

// collectSpread tells how evenly the people of a pool were spread.
func collectSpread(out chan<- prometheus.Metric, v *control.FairnessView, id, name string) {
	for _, x := range spreads {
		if value := x.value(v); !math.IsNaN(value) {
			out <- prometheus.MustNewConstMetric(x.desc, prometheus.GaugeValue, value, id, name)
		}
	}
	for _, t := range v.Tenants {
		out <- prometheus.MustNewConstMetric(tenantShare, prometheus.GaugeValue, t.Share, id, name, t.Tenant.String(), t.Name)
		out <- prometheus.MustNewConstMetric(tenantDue, prometheus.GaugeValue, t.Part, id, name, t.Tenant.String(), t.Name)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Describe implements prometheus.Collector.
func (c *pools) Describe(out chan<- *prometheus.Desc) {
	out <- c.messages
	out <- c.actions
	for i := range figures {
		out <- figures[i].desc
	}
	for i := range spreads {
		out <- spreads[i].desc
	}
	out <- tenantShare
	out <- tenantDue
}

// Collect implements prometheus.Collector.
func (c *pools) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := background()
	defer cancel()
	f, err := c.app.Pools.Figures(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(c.messages, err)
		return
	}
	out <- prometheus.MustNewConstMetric(c.messages, prometheus.GaugeValue, float64(f.Queued), string(store.MessageQueued))
	out <- prometheus.MustNewConstMetric(c.messages, prometheus.GaugeValue, float64(f.Failed), string(store.MessageFailed))
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range f.Pools {
		v := &f.Pools[i]
		id := v.ID.String()
		for _, x := range figures {
			if value, known := x.value(v); known {
				out <- prometheus.MustNewConstMetric(x.desc, x.kind, value, id, v.Name)
			}
		}
		collectSpread(out, &f.Fairness[i], id, v.Name)
		list, err := c.app.Pools.ActionsAfter(ctx, v.ID, c.seen[v.ID])
		if err != nil {
			out <- prometheus.NewInvalidMetric(c.actions, err)
			return
		}
		if len(list) > 0 {
			c.seen[v.ID] = list[0].ID
		}
		for _, a := range list {
			if a.Pool != v.ID { // the pool that people came from counts the move
				continue
			}
			c.counted[counted{v.ID, a.Kind, a.Advice}]++
		}
		for key, n := range c.counted {
			if key.pool == v.ID {
				out <- prometheus.MustNewConstMetric(c.actions, prometheus.CounterValue, n, id, v.Name, string(key.kind), strconv.FormatBool(key.advice))
			}
		}
	}
}
