package report

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/sim"
)

// csvFile is a table of a document.
type csvFile struct {
	Name   string
	What   string // what it has, for the page
	header []string
	rows   func(row func(cells ...any))
}

// write writes the table: CSV with a header. Names come from the scenario's file,
// and people open the tables in spreadsheets.
func (f *csvFile) write(w io.Writer) error {
	return table.WriteRows(w, f.header, table.WriterOptions{Format: table.CSV, GuardFormulas: true}, func(yield func([]string, error) bool) {
		more := true
		f.rows(func(cells ...any) { more = more && yield(lists.Map(cells, cell), nil) })
	})
}

// cell writes a value; nothing where a figure has nothing to say.
func cell(v any) string {
	f, ok := v.(float64)
	switch {
	case !ok:
		return fmt.Sprint(v)
	case !stats.Finite(f):
		return ""
	}
	return strconv.FormatFloat(f+0, 'g', -1, 64) // -0 is 0
}

// exact is a figure of a metric without what sums of binary fractions add to an
// amount of money, which has six places.
func exact(m sim.Metric, f float64) float64 {
	if m.Unit == "currency" {
		return money(f)
	}
	return f
}

func money(f float64) float64 {
	if math.Abs(f) > 1e9 {
		return f // six places are beyond what it holds
	}
	return math.Round(f*1e6) / 1e6
}

// tables are the tables of the report.
func (r *Report) tables() []csvFile {
	runs := []string{"policy", "repetition", "cycles", "end_s"}
	for _, m := range sim.AllMetrics {
		runs = append(runs, m.Name)
	}
	list := []csvFile{
		{
			"summary.csv", "a row for each policy and metric, with interval, median and paired difference",
			[]string{"policy", "metric", "unit", "n", "mean", "sd", "ci95", "median", "min", "max", "diff", "diff_ci95"}, r.summary,
		},
		{"runs.csv", "a row for each policy and repetition", runs, r.perRun},
		{
			"batches.csv", "a row for each policy and batch",
			[]string{
				"policy", "id", "name", "tenant", "class", "tasks", "priority", "production", "launched_at_s", "deadline_at_s",
				"started_at_s", "completed_at_s", "completed_at_ci95_s", "completed", "ended_at_s", "in_time", "done", "cost",
			}, r.batches,
		},
	}
	if r.Alphas != nil {
		list = append(list, csvFile{
			"alpha.csv", "deadlines met, by strictness",
			[]string{
				"policy", "alpha", "n", "deadline_success_ratio", "deadline_success_ratio_ci95", "deadline_success_ratio_median",
				"mean_best_effort", "mean_best_effort_ci95", "mean_best_effort_median",
			}, r.strictness,
		})
	}
	return list
}

func (r *Report) summary(row func(...any)) {
	for _, p := range r.Policies {
		for k, m := range sim.AllMetrics {
			s, diff := p.Figures[k], stats.Summarise(nil)
			of := func(f float64) float64 { return exact(m, f) }
			if p.Paired != nil {
				diff = p.Paired[k]
			}
			row(p.Name, m.Name, m.Unit, s.N, of(s.Mean), of(s.SD), of(s.CI95), of(s.Median), of(s.Min), of(s.Max), of(diff.Mean), of(diff.CI95))
		}
	}
}

func (r *Report) perRun(row func(...any)) {
	for _, p := range r.Policies {
		for rep, figures := range p.runs {
			cells := []any{p.Name, rep + 1, p.cycles[rep], p.ends[rep]}
			for k, f := range figures {
				cells = append(cells, exact(sim.AllMetrics[k], f))
			}
			row(cells...)
		}
	}
}

func (r *Report) batches(row func(...any)) {
	for _, p := range r.Policies {
		for k := range p.Batches {
			b := &p.Batches[k]
			row(p.Name, b.ID, b.Name, b.Tenant, b.Class, b.Tasks, b.Priority, b.Production, b.LaunchedAt, b.DeadlineAt,
				b.StartedAt, b.CompletedAt, b.CompletedCI, b.Completed, b.EndedAt, b.InTime, b.Done, money(b.Cost))
		}
	}
}

func (r *Report) strictness(row func(...any)) {
	for i := range r.Policies {
		for _, a := range r.Policies[i].Alphas {
			s, b := a.Success, a.BestEffort
			row(r.Policies[i].Name, a.Alpha, s.N, s.Mean, s.CI95, s.Median, b.Mean, b.CI95, b.Median)
		}
	}
}
