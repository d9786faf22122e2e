package report

import (
	"context"
	"fmt"
	"math"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/sim/pools"
	"github.com/throng-dev/throng/pool"
)

// Write writes the report into a folder, as Report.Write does. It has pictures
// and series where the samples for them were kept.
func (r *PoolsReport) Write(dir string) error {
	return r.document().write(context.Background(), dir)
}

func (r *PoolsReport) document() *document {
	d := &document{
		page: page{
			Mark: poolsMark, Kind: "simulation of pools", Title: r.Scenario, About: paragraphs(r.About), Source: r.Source,
			Command: fmt.Sprintf("throng pool simulate FILE.yaml --reps %d --seed %d --out DIR", r.Reps, r.Seed),
			Facts: append([]string{
				format.WithCommas(len(r.Variants), "variant"), format.WithCommas(r.Reps, "repetition") + fmt.Sprintf(", seed %d", r.Seed),
				fmt.Sprintf("%s simulated", r.Horizon), signed(float64(r.Tasks), 0) + " tasks completed in all",
			}, r.Trace...),
		},
		data: r, pictures: r.pictures(), files: r.tables(),
	}
	columns := 0
	for _, t := range r.Tables() {
		d.page.Tables = append(d.page.Tables, t.forPage())
		columns = max(columns, len(t.Rows[0])-1)
	}
	d.page.TableWidth = tableWidth(columns)
	return d
}

func (t PoolTable) forPage() htmlTable {
	out := htmlTable{Title: t.Title, Note: t.Note, Label: t.Title, Columns: t.Rows[0]}
	for _, list := range t.Rows[1:] {
		row := tableRow{Name: list[0]}
		for i, text := range list[1:] {
			row.Cells = append(row.Cells, tableCell{Column: t.Rows[0][i+1], Text: text})
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// tables are the tables of the report.
func (r *PoolsReport) tables() []csvFile {
	runs := []string{"variant", "repetition", "pool"}
	for _, m := range pools.Metrics {
		runs = append(runs, m.Name)
	}
	return []csvFile{
		{
			"summary.csv", "a row for each variant, pool and metric, with its ratio to the first variant",
			[]string{"variant", "pool", "metric", "unit", "n", "mean", "sd", "ci95", "median", "min", "max", "ratio", "ratio_low", "ratio_high"}, r.summary,
		},
		{"runs.csv", "a row for each variant, repetition and pool", runs, r.perRun},
		{
			"series.csv", "the pools over time, of repetition 1",
			[]string{"variant", "pool", "time_s", "size", "training", "idle", "queue", "coming", "c_star", "c_star_seen", "lambda_seen", "mu_seen", "cost"}, r.series,
		},
		{
			"actions.csv", "what their control did, in repetition 1",
			[]string{"variant", "pool", "time_s", "action", "people", "to", "advice"}, r.actions,
		},
	}
}

func (r *PoolsReport) summary(row func(...any)) {
	for v := range r.Variants {
		for _, i := range r.pools() {
			for _, m := range pools.Metrics {
				s, x := r.Figure(v, i, m), r.Ratio(v, i, m)
				row(r.Variants[v].Name, r.PoolName(i), m.Name, m.Unit, s.N, s.Mean, s.SD, s.CI95, s.Median, s.Min, s.Max, x.Value, x.Low, x.High)
			}
		}
	}
}

func (r *PoolsReport) perRun(row func(...any)) {
	for v := range r.Variants {
		for rep, out := range r.Variants[v].Runs {
			for _, i := range r.pools() {
				cells := []any{r.Variants[v].Name, rep + 1, r.PoolName(i)}
				for _, m := range pools.Metrics {
					cells = append(cells, m.Of(out.Of(i)))
				}
				row(cells...)
			}
		}
	}
}

func (r *PoolsReport) series(row func(...any)) {
	number := func(n int) any {
		if n == pool.Unknown {
			return ""
		}
		return n
	}
	for v := range r.Variants {
		for i, s := range r.Variants[v].Runs[0].Series {
			for _, x := range s.Samples {
				row(r.Variants[v].Name, r.PoolName(i), x.At.Seconds(), number(x.Size), number(x.Training), number(x.Idle), number(x.Queue), number(x.Coming),
					number(x.Best), number(x.CStar), x.Lambda, x.Mu, x.Cost)
			}
		}
	}
}

func (r *PoolsReport) actions(row func(...any)) {
	for v := range r.Variants {
		for _, a := range r.Variants[v].Runs[0].Actions {
			to := ""
			if a.Kind == pools.Move {
				to = r.PoolName(a.To)
			}
			row(r.Variants[v].Name, r.PoolName(a.Pool), a.At.Seconds(), a.Kind, a.N, to, a.Advice)
		}
	}
}

// pictures are the charts for which there are samples.
func (r *PoolsReport) pictures() []picture {
	if len(r.Variants[0].Runs[0].Series) == 0 || len(r.Variants[0].Runs[0].Series[0].Samples) == 0 {
		return nil
	}
	list := []picture{
		r.overTime(picture{
			name: "size", title: "People on duty, and the best number of them",
			caption: "People on duty in repetition 1, a panel for each pool. c* is the best number by the true figures: the rate of the phase, and the mean time of a task.",
		}, "people", func(x *pools.Sample) float64 { return float64(x.Size) }, true),
		r.overTime(picture{name: "queue", title: "The queue", caption: "Tasks in nobody's hands in repetition 1, a panel for each pool."}, "tasks",
			func(x *pools.Sample) float64 { return float64(x.Queue) }, false),
		r.overTime(picture{name: "cost", title: "Paid for waiting", caption: "What the pools have paid for waiting so far in repetition 1."}, "money",
			func(x *pools.Sample) float64 { return float64(x.Cost) / 1e6 }, false),
	}
	return list
}

// overTime draws a figure of every variant over time, a panel for each pool.
func (r *PoolsReport) overTime(p picture, label string, of func(*pools.Sample) float64, best bool) picture {
	n := len(r.Variants[0].Setup.Pools)
	p.size = chart.Size{Width: width, Height: 60 + 250*float64(n)}
	p.alt = p.title + " over time, for each pool."
	p.draw = func(h chart.Head) chart.Chart {
		panels := make([]chart.Chart, n)
		for i := range panels {
			spec := chart.LinesSpec{
				Head: chart.Head{Title: r.PoolName(i)}, Y: chart.Axis{Label: label, Zero: true},
				X: chart.Axis{Label: "time since the start", Kind: chart.Time, Max: r.Horizon.Seconds()},
			}
			for v := range r.Variants {
				spec.Series = append(spec.Series, r.line(r.Variants[v].Name, v, i, of))
			}
			if best {
				spec.Series = append(spec.Series, r.line("c*", 0, i, func(x *pools.Sample) float64 {
					if x.Best == pool.Unknown {
						return math.NaN()
					}
					return float64(x.Best)
				}))
			}
			panels[i] = chart.Steps(spec)
		}
		return chart.Grid(chart.GridSpec{Head: h, Panels: panels, Columns: 1})
	}
	return p
}

// line is a figure of a pool over time, where there is one.
func (r *PoolsReport) line(name string, variant, pool int, of func(*pools.Sample) float64) chart.Series {
	s := chart.Series{Name: name}
	samples := r.Variants[variant].Runs[0].Series[pool].Samples
	for k := range samples {
		if y := of(&samples[k]); !math.IsNaN(y) {
			s.X, s.Y = append(s.X, samples[k].At.Seconds()), append(s.Y, y)
		}
	}
	return s
}
