package report

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/kit/jsonform"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/pools"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// PoolsOptions are how a file of pools is run. The zero value runs it as written.
type PoolsOptions struct {
	Reps     int     // 0: the file's
	Seed     *uint64 // nil: the file's
	Check    bool    // verify all that must hold after every event
	Samples  bool    // keep samples over time, for pictures
	Source   []byte  // the text of the file, for the report; may be nil
	Progress func(done, total int)
}

// A PoolsReport is what came of a file of pools.
type PoolsReport struct {
	*pools.Comparison
	Scenario string
	About    string
	Source   string
	Trace    []string // where the trace is from, and its use; nil without one
	Horizon  time.Duration
	Tasks    int64   // completed in all runs
	WallS    float64 // set by the caller
}

// RunPools runs a file of pools.
func RunPools(ctx context.Context, p *scenario.Pools, o PoolsOptions) (*PoolsReport, error) {
	plan := pools.Plan{Variants: p.Variants, Reps: p.Reps, Seed: p.Seed, Check: o.Check, Progress: o.Progress}
	if o.Reps > 0 {
		plan.Reps = o.Reps
	}
	if o.Seed != nil {
		plan.Seed = *o.Seed
	}
	if o.Samples {
		if plan.Record = p.Record; plan.Record == 0 {
			plan.Record = p.Variants[0].Setup.Horizon / 500
		}
		plan.Record = max(plan.Record, pools.MinStep)
	}
	c, err := plan.Do(ctx)
	if err != nil {
		return nil, err
	}
	r := &PoolsReport{Comparison: c, Scenario: p.Name, About: p.About, Source: string(o.Source), Horizon: p.Variants[0].Setup.Horizon}
	for i := range c.Variants {
		r.Tasks += lists.Sum(c.Variants[i].Runs, func(out *pools.Outcome) int64 { return out.Total.Completed })
	}
	if t := p.Variants[0].Setup.People.Trace; t != nil {
		r.Trace = traceWords(t, p.TraceFrom, c)
	}
	return r, nil
}

// traceWords is where a trace is from and how much of it was used, in words.
func traceWords(t *pools.Trace, from string, c *pools.Comparison) []string {
	text := "trace"
	if from != "" {
		text += " " + from
	}
	if len(t.Comments) > 0 {
		text += ": " + t.Comments[0]
	}
	list := []string{text}
	var parts []string
	for _, s := range []struct {
		name string
		list []float64
	}{{"recruitment", t.Recruitments}, {"task", t.Tasks}, {"stay", t.Stays}} {
		mean, sd := pools.Describe(s.list)
		parts = append(parts, fmt.Sprintf("%s n = %d, mean %.4g s, sd %.4g s", s.name, len(s.list), mean, sd))
	}
	list = append(list, strings.Join(parts, "; "))
	for i := range c.Variants {
		list = append(list, fmt.Sprintf("used by %s, repetition 1: %s", c.Variants[i].Name, c.Variants[i].Runs[0].Trace))
	}
	return list
}

// mainPoolMetrics are those that people want to see first.
var mainPoolMetrics = []string{
	"throughput", "cost", "mean_wait", "p95_wait", "size", "c_star", "gap", "utilisation", "preference", "work_preference",
	"moved_from_preference", "moved_to_preference", "started", "joined", "abandoned", "released", "moved_in", "moved_out", "queue",
}

// ratioMetrics are those of which a ratio says something.
var ratioMetrics = []string{"throughput", "cost", "mean_wait_all", "gap", "idle", "preference", "work_preference"}

// A PoolTable is a table of a report: a header and its rows.
type PoolTable struct {
	Title string
	Note  string
	Rows  [][]string
}

// pools are the indices of all pools, and of all of them together where there
// are several.
func (r *PoolsReport) pools() []int {
	list := lists.Indices(len(r.Variants[0].Setup.Pools))
	if len(list) > 1 {
		list = append(list, pools.EveryPool)
	}
	return list
}

// PoolName names a pool, or all of them together.
func (r *PoolsReport) PoolName(i int) string {
	if i == pools.EveryPool {
		return "all pools"
	}
	return r.Variants[0].Setup.Pools[i].Name
}

// Tables are what people want to know first. With one variant it is a table with
// a column for each pool; with several it is one for each pool, and the ratios to the
// first variant.
func (r *PoolsReport) Tables() []PoolTable {
	list, variants := r.pools(), make([]string, len(r.Variants))
	for v := range variants {
		variants[v] = r.Variants[v].Name
	}
	if len(r.Variants) == 1 {
		names := lists.Map(list, r.PoolName)
		return []PoolTable{newPoolTable("by pool", names, mainPoolMetrics, func(m pools.Metric, k int) string { return poolWords(m, r.Figure(0, list[k], m)) })}
	}
	tables := lists.Map(list, func(i int) PoolTable {
		return newPoolTable(r.PoolName(i), variants, mainPoolMetrics, func(m pools.Metric, v int) string { return poolWords(m, r.Figure(v, i, m)) })
	})
	last := list[len(list)-1]
	ratios := newPoolTable("how many times "+variants[0]+", "+r.PoolName(last), variants[1:], ratioMetrics,
		func(m pools.Metric, v int) string { return ratioWords(r.Ratio(v+1, last, m)) })
	ratios.Note = "on the same repetitions: their geometric mean [with its 95 % interval]"
	return append(tables, ratios)
}

// newPoolTable makes a table with a row for each metric, but those of which there is
// nothing to say.
func newPoolTable(title string, columns, metrics []string, words func(m pools.Metric, column int) string) PoolTable {
	t := PoolTable{Title: title, Rows: [][]string{append([]string{"metric"}, columns...)}}
	for _, m := range pools.Metrics {
		if !slices.Contains(metrics, m.Name) {
			continue
		}
		row, said := []string{m.Name}, false
		for k := range columns {
			text := words(m, k)
			row, said = append(row, text), said || text != "–" && text != "0" && text != "0 ± 0"
		}
		if said {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func ratioWords(x pools.Ratio) string {
	switch {
	case x.N == 0:
		return "–"
	case math.IsNaN(x.Low):
		return fmt.Sprintf("%.3g", x.Value)
	}
	return fmt.Sprintf("%.3g [%.3g, %.3g]", x.Value, x.Low, x.High)
}

// poolWords writes a figure for people.
func poolWords(m pools.Metric, s stats.Summary) string {
	switch m.Unit {
	case "1", "s":
		return Words(sim.Metric{Unit: m.Unit}, s)
	case "1/s":
		if text := Words(sim.Metric{}, s); text != "–" {
			return text + " /s"
		}
		return "–"
	}
	return Words(sim.Metric{}, s)
}

// MarshalJSON writes the report for programs.
func (r *PoolsReport) MarshalJSON() ([]byte, error) {
	var variants jsonform.Form
	for v := range r.Variants {
		var list jsonform.Form
		for i := range r.Variants[v].Setup.Pools {
			list = list.With(r.PoolName(i), r.figures(v, i))
		}
		variants = variants.With(r.Variants[v].Name, jsonform.Object("pools", list, "total", r.figures(v, pools.EveryPool)))
	}
	return jsonform.Object(
		"scenario", r.Scenario, "reps", r.Reps, "seed", r.Seed, "horizon_s", r.Horizon.Seconds(), "tasks", r.Tasks, "wall_s", r.WallS,
		"checked", r.Checked, "trace,omitempty", r.Trace, "ratios_to", r.Variants[0].Name, "variants", variants,
	).MarshalJSON()
}

func (r *PoolsReport) figures(variant, pool int) jsonform.Form {
	var metrics, ci95, ratios jsonform.Form
	for _, m := range pools.Metrics {
		s := r.Figure(variant, pool, m)
		metrics, ci95 = metrics.With(m.Name, s.Mean), ci95.With(m.Name, s.CI95)
		if variant > 0 {
			x := r.Ratio(variant, pool, m)
			ratios = ratios.With(m.Name, jsonform.Object("value", x.Value, "low", x.Low, "high", x.High, "n", x.N))
		}
	}
	return jsonform.Object("metrics", metrics, "ci95", ci95, "ratios,omitempty", ratios)
}
