package report

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/throng-dev/throng/internal/kit/chart"
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
				plural(len(r.Variants), "variant", "variants"), plural(r.Reps, "repetition", "repetitions") + fmt.Sprintf(", seed %d", r.Seed),
				fmt.Sprintf("%s simulated", r.Horizon), signed(float64(r.Tasks), 0) + " tasks completed in all",
			}, r.Trace...),
		},
		data: r, pictures: r.pictures(),
		files: []csvFile{
			{"summary.csv", "a row for each variant, pool and metric, with its ratio to the first variant", r.summary},
			{"runs.csv", "a row for each variant, repetition and pool", r.perRun},
			{"series.csv", "the pools over time, of repetition 1", r.series},
			{"actions.csv", "what their control did, in repetition 1", r.actions},
		},
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

// summary writes a row for each variant, pool and metric.
func (r *PoolsReport) summary(w io.Writer) error {
	var rows [][]string
	for v := range r.Variants {
		for _, i := range r.pools() {
			for _, m := range pools.Metrics {
				s, x := r.Figure(v, i, m), r.Ratio(v, i, m)
				rows = append(rows, []string{
					r.Variants[v].Name, r.PoolName(i), m.Name, m.Unit, strconv.Itoa(s.N), cell(s.Mean), cell(s.SD), cell(s.CI95),
					cell(s.Median), cell(s.Min), cell(s.Max), cell(x.Value), cell(x.Low), cell(x.High),
				})
			}
		}
	}
	return rowsTo(w, []string{"variant", "pool", "metric", "unit", "n", "mean", "sd", "ci95", "median", "min", "max", "ratio", "ratio_low", "ratio_high"}, rows)
}

// perRun writes a row for each variant, repetition and pool.
func (r *PoolsReport) perRun(w io.Writer) error {
	header := []string{"variant", "repetition", "pool"}
	for _, m := range pools.Metrics {
		header = append(header, m.Name)
	}
	var rows [][]string
	for v := range r.Variants {
		for rep, out := range r.Variants[v].Runs {
			for _, i := range r.pools() {
				row := []string{r.Variants[v].Name, strconv.Itoa(rep + 1), r.PoolName(i)}
				for _, m := range pools.Metrics {
					row = append(row, cell(m.Of(out.Of(i))))
				}
				rows = append(rows, row)
			}
		}
	}
	return rowsTo(w, header, rows)
}

// series writes the samples of the first repetition.
func (r *PoolsReport) series(w io.Writer) error {
	var rows [][]string
	number := func(n int) string {
		if n == pool.Unknown {
			return ""
		}
		return strconv.Itoa(n)
	}
	for v := range r.Variants {
		for i, s := range r.Variants[v].Runs[0].Series {
			for _, x := range s.Samples {
				rows = append(rows, []string{
					r.Variants[v].Name, r.PoolName(i), cell(x.At.Seconds()), number(x.Size), number(x.Training), number(x.Idle), number(x.Queue), number(x.Coming),
					number(x.Best), number(x.CStar), cell(x.Lambda), cell(x.Mu), x.Cost.String(),
				})
			}
		}
	}
	return rowsTo(w, []string{"variant", "pool", "time_s", "size", "training", "idle", "queue", "coming", "c_star", "c_star_seen", "lambda_seen", "mu_seen", "cost"}, rows)
}

// actions writes what the control of the first repetition did.
func (r *PoolsReport) actions(w io.Writer) error {
	var rows [][]string
	for v := range r.Variants {
		for _, a := range r.Variants[v].Runs[0].Actions {
			to := ""
			if a.Kind == pools.Move {
				to = r.PoolName(a.To)
			}
			rows = append(rows, []string{r.Variants[v].Name, r.PoolName(a.Pool), cell(a.At.Seconds()), string(a.Kind), strconv.Itoa(a.N), to, strconv.FormatBool(a.Advice)})
		}
	}
	return rowsTo(w, []string{"variant", "pool", "time_s", "action", "people", "to", "advice"}, rows)
}

// pictures are the charts for which there are samples.
func (r *PoolsReport) pictures() []picture {
	if len(r.Variants[0].Runs[0].Series) == 0 || len(r.Variants[0].Runs[0].Series[0].Samples) == 0 {
		return nil
	}
	list := []picture{
		r.overTime("size", "People on duty, and the best number of them",
			"People on duty in repetition 1, a panel for each pool. c* is the best number by the true figures: the rate of the phase, and the mean time of a task.",
			"people", func(x *pools.Sample) float64 { return float64(x.Size) }, true),
		r.overTime("queue", "The queue", "Tasks in nobody's hands in repetition 1, a panel for each pool.", "tasks",
			func(x *pools.Sample) float64 { return float64(x.Queue) }, false),
		r.overTime("cost", "Paid for waiting", "What the pools have paid for waiting so far in repetition 1.", "money",
			func(x *pools.Sample) float64 { return float64(x.Cost) / 1e6 }, false),
	}
	return list
}

// overTime draws a figure of every variant over time, a panel for each pool.
func (r *PoolsReport) overTime(name, title, caption, label string, of func(*pools.Sample) float64, best bool) picture {
	n := len(r.Variants[0].Setup.Pools)
	return picture{
		name: name, title: title, caption: caption, size: chart.Size{Width: width, Height: 60 + 250*float64(n)},
		alt: title + " over time, for each pool.",
		draw: func(h chart.Head) chart.Chart {
			panels := make([]chart.Chart, n)
			for i := range panels {
				spec := chart.LinesSpec{
					Head: chart.Head{Title: r.PoolName(i)}, Y: chart.Axis{Label: label, Zero: true},
					X: chart.Axis{Label: "time since the start", Kind: chart.Time, Max: r.Horizon.Seconds()},
				}
				for v := range r.Variants {
					s := chart.Series{Name: r.Variants[v].Name}
					samples := r.Variants[v].Runs[0].Series[i].Samples
					for k := range samples {
						s.X, s.Y = append(s.X, samples[k].At.Seconds()), append(s.Y, of(&samples[k]))
					}
					spec.Series = append(spec.Series, s)
				}
				if best {
					s := chart.Series{Name: "c*"}
					samples := r.Variants[0].Runs[0].Series[i].Samples
					for k := range samples {
						if samples[k].Best != pool.Unknown {
							s.X, s.Y = append(s.X, samples[k].At.Seconds()), append(s.Y, float64(samples[k].Best))
						}
					}
					spec.Series = append(spec.Series, s)
				}
				panels[i] = chart.Steps(spec)
			}
			return chart.Grid(chart.GridSpec{Head: h, Panels: panels, Columns: 1})
		},
	}
}
