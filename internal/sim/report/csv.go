package report

import (
	"io"
	"math"
	"strconv"

	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/sim"
)

// cell writes a figure; nothing where there is nothing to say.
func cell(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
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

func whole(n int64) string { return strconv.FormatInt(n, 10) }

// rowsTo writes a table: CSV with a header. Names come from the scenario's
// file, and people open the tables in spreadsheets.
func rowsTo(w io.Writer, header []string, rows [][]string) error {
	t, err := table.NewWriter(w, header, table.WriterOptions{Format: table.CSV, GuardFormulas: true})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := t.Write(row); err != nil {
			return err
		}
	}
	return t.Flush()
}

// summary writes a row for each policy and metric.
func (r *Report) summary(w io.Writer) error {
	var rows [][]string
	for i := range r.Policies {
		p := &r.Policies[i]
		for k, m := range sim.AllMetrics {
			s := p.Figures[k]
			of := func(f float64) string { return cell(exact(m, f)) }
			diff := stats.Summarise(nil)
			if p.Paired != nil {
				diff = p.Paired[k]
			}
			rows = append(rows, []string{
				p.Name, m.Name, m.Unit, strconv.Itoa(s.N), of(s.Mean), of(s.SD), of(s.CI95),
				of(s.Median), of(s.Min), of(s.Max), of(diff.Mean), of(diff.CI95),
			})
		}
	}
	return rowsTo(w, []string{"policy", "metric", "unit", "n", "mean", "sd", "ci95", "median", "min", "max", "diff", "diff_ci95"}, rows)
}

// perRun writes a row for each policy and repetition.
func (r *Report) perRun(w io.Writer) error {
	header := []string{"policy", "repetition", "cycles", "end_s"}
	for _, m := range sim.AllMetrics {
		header = append(header, m.Name)
	}
	var rows [][]string
	for i := range r.Policies {
		p := &r.Policies[i]
		for rep, figures := range p.runs {
			row := []string{p.Name, strconv.Itoa(rep + 1), whole(p.cycles[rep]), cell(p.ends[rep])}
			for k, f := range figures {
				row = append(row, cell(exact(sim.AllMetrics[k], f)))
			}
			rows = append(rows, row)
		}
	}
	return rowsTo(w, header, rows)
}

// batches writes a row for each policy and batch.
func (r *Report) batches(w io.Writer) error {
	header := []string{
		"policy", "id", "name", "tenant", "class", "tasks", "priority", "production", "launched_at_s", "deadline_at_s",
		"started_at_s", "completed_at_s", "completed_at_ci95_s", "completed", "ended_at_s", "in_time", "done", "cost",
	}
	var rows [][]string
	for i := range r.Policies {
		p := &r.Policies[i]
		for k := range p.Batches {
			b := &p.Batches[k]
			rows = append(rows, []string{
				p.Name, b.ID.String(), b.Name, b.Tenant, b.Class, strconv.Itoa(b.Tasks), cell(b.Priority), strconv.FormatBool(b.Production),
				cell(b.LaunchedAt), cell(b.DeadlineAt), cell(b.StartedAt), cell(b.CompletedAt), cell(b.CompletedCI),
				cell(b.Completed), cell(b.EndedAt), cell(b.InTime), cell(b.Done), cell(money(b.Cost)),
			})
		}
	}
	return rowsTo(w, header, rows)
}

// strictness writes a row for each policy and α of the sweep.
func (r *Report) strictness(w io.Writer) error {
	var rows [][]string
	for i := range r.Policies {
		for _, a := range r.Policies[i].Alphas {
			rows = append(rows, []string{
				r.Policies[i].Name, cell(a.Alpha), strconv.Itoa(a.Success.N), cell(a.Success.Mean), cell(a.Success.CI95),
				cell(a.Success.Median), cell(a.BestEffort.Mean), cell(a.BestEffort.CI95), cell(a.BestEffort.Median),
			})
		}
	}
	return rowsTo(w, []string{
		"policy", "alpha", "n", "deadline_success_ratio", "deadline_success_ratio_ci95", "deadline_success_ratio_median",
		"mean_best_effort", "mean_best_effort_ci95", "mean_best_effort_median",
	}, rows)
}
