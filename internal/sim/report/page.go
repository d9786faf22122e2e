package report

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// Write writes the report into a folder, whole or not at all. If ctx ends while the
// pictures are drawn it returns the error of ctx, and nothing is left.
func (r *Report) Write(ctx context.Context, dir string) error {
	return r.document().write(ctx, dir)
}

// maxListed is how many batches the page lists; batches.csv has all.
const maxListed = 40

func (r *Report) document() *document {
	d := &document{
		page: page{
			Mark: scenarioMark, Kind: "simulation report", Title: r.Scenario, About: paragraphs(r.About), Facts: r.facts(),
			Verdicts: r.Verdicts, NotMet: r.count(scenario.NotMet), NotRun: r.count(scenario.NotRun), Policies: true, Reading: r.reading(),
			Batches: r.batchTable(), TableWidth: tableWidth(len(r.Policies)), Command: r.command(), Source: r.Source,
		},
		data: r, pictures: r.pictures(), files: r.tables(),
	}
	d.page.Tables = []htmlTable{*r.metricTable(r.MainMetrics())}
	more := slices.DeleteFunc(slices.Clone(r.Metrics), func(m sim.Metric) bool { return slices.Contains(mainMetrics, m.Name) })
	if len(more) > 0 {
		d.page.More = r.metricTable(more)
	}
	return d
}

// tableWidth is the width of a screen, in em, that shows tables with so many columns
// of figures whole; 0 where they are wider than the page ever is.
func tableWidth(columns int) int {
	const first, each, page = 16, 11, 72
	if w := first + each*columns; w <= page {
		return w
	}
	return 0
}

// reading explains the figures.
func (r *Report) reading() string {
	text := reading(r.Reps, len(r.Policies), r.Policies[0].Name)
	if r.Partly() {
		text += " Where n stands behind a figure only so many repetitions have one: means of different repetitions may lie the other way round than the difference, which is of those that both policies have."
	}
	return text
}

// reading explains figures of so many repetitions, and of so many policies, which are
// compared with the first one.
func reading(reps, policies int, first string) string {
	several := reps > 1
	text := "One repetition: there are no intervals, and nothing says how far another one would differ."
	if several {
		text = "Means of all repetitions, ± half the width of their 95 % interval."
	}
	if policies > 1 {
		text += " Below, in small print, how far a policy differs from " + first
		if several {
			text += " on the same repetitions; bold, with an asterisk, where that is more than chance would make it (0 lies outside of the interval)"
		}
		text += "."
	}
	return text
}

// facts are what was run, in words.
func (r *Report) facts() []string {
	list := []string{
		format.WithCommas(len(r.Policies), "policy") + ": " + strings.Join(r.names(), ", "),
		format.WithCommas(r.Reps, "repetition") + fmt.Sprintf(", seed %d", r.Seed),
		signed(float64(r.Cycles), 0) + " tasks handed out in all",
	}
	if r.Fixed {
		list = append(list, "the same load in every repetition")
	} else {
		list = append(list, "a load drawn again for every repetition")
	}
	if r.Alphas != nil && r.alpha != nil {
		list = append(list, fmt.Sprintf("α = %g where nothing else is said", *r.alpha))
	}
	if r.Checked {
		list = append(list, "everything that must hold was checked after every step")
	}
	return list
}

// command is what makes the same report again.
func (r *Report) command() string {
	list := strings.Join(r.names(), ",")
	if strings.Contains(list, "(") {
		list = "'" + list + "'"
	}
	return fmt.Sprintf("throng sim run SCENARIO.yaml --policy %s --reps %d --seed %d --out DIR", list, r.Reps, r.Seed)
}

func (r *Report) metricTable(metrics []sim.Metric) *htmlTable {
	t := &htmlTable{Label: "Figures by policy", Columns: append([]string{"metric"}, r.names()...)}
	for _, m := range metrics {
		row := tableRow{Name: m.Name, Words: m.Words}
		for _, p := range r.Policies {
			c := tableCell{Column: p.Name, Text: r.Words(m, p.Figure(m))}
			if diff, ok := p.Difference(m); ok && diff.N > 0 {
				c.Note, c.Clear = r.PairedWords(m, diff, p.Figure(m)), Clear(diff)
				if c.Clear {
					c.Note += " *"
				}
			}
			row.Cells = append(row.Cells, c)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// batchTable has all batches, or the largest; nil where the policies have met
// different ones.
func (r *Report) batchTable() *htmlTable {
	first := r.Policies[0]
	all := len(first.Batches)
	if !r.sameBatches() || all == 0 {
		return nil
	}
	t := &htmlTable{
		Label: "Batches", Columns: append([]string{"batch"}, r.names()...),
		Note: "When each batch was completed, counted from the start, " + r.whose() + ".",
	}
	rows := lists.Indices(all)
	if all > maxListed {
		rows = shownBatches(first.first.batches)
		t.Note += fmt.Sprintf(" The %d largest of %d batches; batches.csv has all of them.", len(rows), all)
	}
	for _, k := range rows {
		b := &first.Batches[k]
		row := tableRow{Name: b.Name, Words: format.WithCommas(b.Tasks, "task")}
		if b.Tenant != "" {
			row.Words += ", " + b.Tenant
		}
		if b.LaunchedAt > 0 {
			row.Words += ", launched at " + seconds(b.LaunchedAt)
		}
		if !math.IsNaN(b.DeadlineAt) {
			row.Words += ", due at " + seconds(b.DeadlineAt)
		}
		for i := range r.Policies {
			row.Cells = append(row.Cells, r.cell(r.Policies[i], k))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (r *Report) cell(p *Policy, k int) tableCell {
	b := &p.Batches[k]
	c := tableCell{Column: p.Name, Text: seconds(b.CompletedAt)}
	several := r.BatchesOf == MeanOfReps && r.Reps > 1
	if several && b.Completed > 0 {
		c.Text = "at " + withHalf(b.CompletedAt, b.CompletedCI)
	} else if b.Completed > 0 {
		c.Text = "at " + c.Text
	}
	switch {
	case b.Completed == 0 && !math.IsNaN(b.EndedAt):
		c.Text, c.Note = share(b.Done)+" done", "its lifetime ended it"
	case b.Completed == 0:
		c.Text, c.Note = share(b.Done)+" done", "not completed"
	case b.Completed < 1:
		c.Note = fmt.Sprintf("completed in %s of the repetitions", share(b.Completed))
	}
	if math.IsNaN(b.InTime) {
		return c
	}
	c.Clear = b.InTime < 0.5
	deadline := "late"
	switch {
	case several:
		deadline = "in time in " + share(b.InTime)
	case b.InTime == 1:
		deadline = "in time"
	}
	c.Note = strings.TrimPrefix(c.Note+"; "+deadline, "; ")
	return c
}

// seconds writes a time since the start for people.
func seconds(s float64) string { return withHalf(s, math.NaN()) }

// withHalf writes it with half of its interval, where there is one.
func withHalf(s, half float64) string {
	return Words(sim.Metric{Unit: "s"}, stats.Summary{N: 1, Mean: s, CI95: half})
}
