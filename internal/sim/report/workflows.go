package report

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/jsonform"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/workflows"
)

// A WorkflowReport is what came of a workflow under a load.
type WorkflowReport struct {
	*workflows.Comparison
	Workflow string
	About    string   // of the model file
	Source   string   // the text of the workflow's file
	Load     []string // what came, in words
	Notes    []string // what else is to be known
	Runs     bool     // what came were runs, not rows
	WallS    float64  // set by the caller

	crowds bool // variants differ in their crowds
}

// NewWorkflowReport makes the report of a plan that was carried out.
func NewWorkflowReport(c *workflows.Comparison, name string) *WorkflowReport {
	r := &WorkflowReport{Comparison: c, Workflow: name}
	r.crowds = slices.ContainsFunc(c.Variants, func(v *workflows.Variant) bool { return v.Crowd() != c.Variants[0].Crowd() })
	return r
}

// first is an outcome that has what all of them have.
func (r *WorkflowReport) first() *workflows.Outcome {
	for _, v := range r.Variants {
		for _, o := range v.Runs {
			if !o.Lost {
				return o
			}
		}
	}
	return r.Variants[0].Runs[0]
}

// dagger marks a variant that reached a dead end.
const dagger = " †"

// Headings are the Names, with a dagger where something reached a dead end.
func (r *WorkflowReport) Headings() []string { return lists.Map(r.Variants, r.heading) }

func (r *WorkflowReport) heading(v *workflows.Variant) string {
	if len(deadEnds(v)) > 0 {
		return v.Name(r.crowds) + dagger
	}
	return v.Name(r.crowds)
}

// deadEnds lists the repetitions in which something could not end.
func deadEnds(v *workflows.Variant) []int {
	return lists.Filter(lists.Indices(len(v.Runs)), func(rep int) bool { return v.Runs[rep].DeadEnds > 0 })
}

// DeadEnds says of each variant with dead ends what they are, and that the figures are of
// the rest.
func (r *WorkflowReport) DeadEnds() (list []string) {
	for _, v := range r.Variants {
		reps := deadEnds(v)
		if len(reps) == 0 {
			continue
		}
		what := fmt.Sprintf("%d of %s", len(reps), format.Count(r.Reps, "repetition"))
		if slices.ContainsFunc(reps, func(rep int) bool { return !v.Runs[rep].Lost }) {
			runs := lists.Sum(reps, func(rep int) int { return v.Runs[rep].DeadEnds })
			what = format.Count(runs, "run") + " in " + what
		}
		list = append(list, fmt.Sprintf("† %s: a dead end of %s, left out of the figures; in repetition %d: %v", v.Name(r.crowds), what, reps[0]+1, v.Runs[reps[0]].DeadEnd))
	}
	return list
}

// GaveUp says of each variant in which items failed how many, and where: they are in the figures as
// all that ended.
func (r *WorkflowReport) GaveUp() (list []string) {
	for _, v := range r.Variants {
		all, ended, at := 0, 0, []string{}
		for _, o := range v.Runs {
			all, ended = all+o.GaveUp, ended+o.Ended
		}
		if all == 0 {
			continue
		}
		for i, s := range r.first().Steps {
			if n := lists.Sum(v.Runs, func(o *workflows.Outcome) int {
				if i >= len(o.Steps) { // it has no figures
					return 0
				}
				return int(o.Steps[i].GaveUp)
			}); n > 0 {
				at = append(at, fmt.Sprintf("%d at %s", n, s.Name))
			}
		}
		what := format.WithCommas(all, "item")
		if !r.Runs { // else runs are what ended
			what = fmt.Sprintf("%d of %s", all, format.WithCommas(ended, "item"))
		}
		list = append(list, fmt.Sprintf("%s: %s in %s were given up after an error (%s); the figures count them as ended, however early and cheap, so a service that fails more does not do better by them", v.Name(r.crowds), what, format.Count(r.Reps, "repetition"), strings.Join(at, ", ")))
	}
	return list
}

// A line is a figure that the variants are compared by.
type line struct {
	sim.Metric
	of func(*workflows.Outcome) float64
}

// lines are the figures of a table, of those that some variant has.
func (r *WorkflowReport) lines(all []line) []line {
	return lists.Filter(all, func(x line) bool {
		return slices.ContainsFunc(r.Variants, func(v *workflows.Variant) bool {
			return slices.ContainsFunc(v.Values(x.of), func(f float64) bool { return f != 0 && stats.Finite(f) })
		})
	})
}

// mainWorkflowMetrics are those that people want to see first, whether they are 0 or not.
var mainWorkflowMetrics = []string{"penalty", "late", "late_share", "latency_p50_s", "latency_p95_s", "spent"}

// gaveUp is the figure that people want to see first if it is not 0: what failed makes others look good.
const gaveUp = "gave_up"

func (r *WorkflowReport) main() (list []line) {
	for _, m := range workflows.Metrics {
		if slices.Contains(mainWorkflowMetrics, m.Name) {
			list = append(list, line{m.Metric, m.Of})
		}
		if m.Name == gaveUp {
			list = append(list, r.lines([]line{{m.Metric, m.Of}})...)
		}
	}
	return list
}

func (r *WorkflowReport) more() []line {
	var list []line
	for _, m := range workflows.Metrics {
		if m.Name != gaveUp && !slices.Contains(mainWorkflowMetrics, m.Name) {
			list = append(list, line{m.Metric, m.Of})
		}
	}
	return r.lines(list)
}

// classMetrics are the figures of a class of items.
var classMetrics = lists.Filter(workflows.Metrics, func(m workflows.Metric) bool {
	return slices.Contains([]string{"penalty", "late", "late_share", "latency_p50_s", "latency_p95_s", "ended"}, m.Name)
})

// classLines are the figures of the classes of items.
func (r *WorkflowReport) classLines() (list []line) {
	for i, c := range r.first().Classes {
		for _, m := range classMetrics {
			named := m.Metric
			named.Name = c.Name + ": " + m.Name
			list = append(list, line{named, func(o *workflows.Outcome) float64 { return m.Of(&o.Classes[i].Outcome) }})
		}
	}
	return list
}

// poolLines are the figures of the pools.
func (r *WorkflowReport) poolLines() (list []line) {
	for i, p := range r.first().Pools {
		of := func(f func(p *workflows.PoolOutcome) float64) func(*workflows.Outcome) float64 {
			return func(o *workflows.Outcome) float64 { return f(&o.Pools[i]) }
		}
		list = append(
			list,
			line{sim.Metric{Name: p.Name + ": people"}, of(func(p *workflows.PoolOutcome) float64 { return float64(p.People) })},
			line{
				sim.Metric{Name: p.Name + ": utilisation", Unit: "1", Words: "its people's time with a task in hand"},
				of(func(p *workflows.PoolOutcome) float64 { return p.Utilisation }),
			},
			line{
				sim.Metric{Name: p.Name + ": queue", Words: "tasks that wait, mean over time"},
				of(func(p *workflows.PoolOutcome) float64 { return p.Queue }),
			},
			line{
				sim.Metric{Name: p.Name + ": longest queue", Words: "tasks that wait, at most"},
				of(func(p *workflows.PoolOutcome) float64 { return float64(p.MaxQueue) }),
			},
		)
	}
	return list
}

// stepLines are how long items are in the steps.
func (r *WorkflowReport) stepLines() []line {
	var list []line
	for i, s := range r.first().Steps {
		list = append(list, line{sim.Metric{Name: s.Name, Unit: "s", Words: s.Kind}, func(o *workflows.Outcome) float64 {
			if i >= len(o.Steps) || o.Steps[i].MeanS == nil {
				return math.NaN()
			}
			return *o.Steps[i].MeanS
		}})
	}
	return r.lines(list)
}

// A WorkflowTable is a table of a report: figures by variant.
type WorkflowTable struct {
	Title string
	lines []line
}

// Tables are the tables of the report, the main figures first.
func (r *WorkflowReport) Tables() []WorkflowTable {
	list := []WorkflowTable{{"figures", r.main()}, {"classes of items", r.classLines()}, {"pools", r.poolLines()}, {"mean time of an item in a step", r.stepLines()}}
	return lists.Filter(list, func(t WorkflowTable) bool { return len(t.lines) > 0 })
}

// Names names the variants.
func (r *WorkflowReport) Names() []string {
	return lists.Map(r.Variants, func(v *workflows.Variant) string { return v.Name(r.crowds) })
}

// Rows are a table's figures in words: a row for each, its name first.
func (r *WorkflowReport) Rows(t WorkflowTable) [][]string {
	return lists.Map(t.lines, func(x line) []string {
		row := []string{x.Name}
		for _, v := range r.Variants {
			row = append(row, r.words(x, v))
		}
		return row
	})
}

// base is the variant that the others are compared with: the first one that has figures. NewWorkflowReport
// is given a plan in which some variant has.
func (r *WorkflowReport) base() *workflows.Variant {
	return r.Variants[max(0, slices.IndexFunc(r.Variants, hasFigures))]
}

// hasFigures reports whether something ended in some repetition.
func hasFigures(v *workflows.Variant) bool {
	return slices.ContainsFunc(v.Runs, func(o *workflows.Outcome) bool { return !o.Lost })
}

// compared are the variants whose differences to the base are told: one without figures has none.
func (r *WorkflowReport) compared() []*workflows.Variant {
	return lists.Filter(r.Variants, func(v *workflows.Variant) bool { return v != r.base() && hasFigures(v) })
}

// Base names the variant that the others are compared with. instead is set where it is not the first
// one, as that one has no figures.
func (r *WorkflowReport) Base() (name string, instead bool) {
	return r.base().Name(r.crowds), r.base() != r.Variants[0]
}

// Compared are the headings of the Differences: of the variants but for the Base, those that have
// figures. There may be none.
func (r *WorkflowReport) Compared() []string { return lists.Map(r.compared(), r.heading) }

// Differences are how far the Compared are from the Base, on the same repetitions, as
// Rows; with an asterisk, where that is more than chance would make it.
func (r *WorkflowReport) Differences(t WorkflowTable) [][]string {
	return lists.Map(t.lines, func(x line) []string {
		row := []string{x.Name}
		for _, v := range r.compared() {
			text, clear := r.difference(x, v)
			if clear {
				text += " *"
			}
			row = append(row, text)
		}
		return row
	})
}

// words is a variant's figure.
func (r *WorkflowReport) words(x line, v *workflows.Variant) string {
	s := stats.Summarise(v.Values(x.of))
	return Words(x.Metric, s) + among(s, r.Reps)
}

func (r *WorkflowReport) difference(x line, v *workflows.Variant) (text string, clear bool) {
	diff := difference(v.Values(x.of), r.base().Values(x.of))
	return PairedWords(x.Metric, diff, stats.Summarise(v.Values(x.of))) + among(diff, r.Reps), Clear(diff)
}

// MarshalJSON writes the report for programs.
func (r *WorkflowReport) MarshalJSON() ([]byte, error) {
	arrivals := "row"
	if r.Runs {
		arrivals = "run"
	}
	return jsonform.Object(
		"workflow", r.Workflow, "policies", lists.Map(r.Variants, r.form), "reps", r.Reps, "seed", r.Seed, "each", arrivals,
		"load", r.Load, "notes", r.notes(), "paired_with", r.base().Name(r.crowds), "wall_s", r.WallS,
	).MarshalJSON()
}

func (r *WorkflowReport) notes() []string {
	if r.Notes == nil {
		return []string{}
	}
	return r.Notes
}

// form writes a variant: the means of its figures, their intervals and differences.
func (r *WorkflowReport) form(v *workflows.Variant) jsonform.Form {
	workers := any(v.Workers.Each)
	if v.Workers.Pools != nil {
		workers = v.Workers.Pools
	}
	out := jsonform.Object("policy", v.Policy, "workers", workers)
	var ci95, paired jsonform.Form
	for _, m := range workflows.Metrics {
		s := stats.Summarise(v.Values(m.Of))
		out, ci95 = out.With(m.Name, exact(m.Metric, s.Mean)), ci95.With(m.Name, exact(m.Metric, s.CI95))
		if v != r.base() {
			d := difference(v.Values(m.Of), r.base().Values(m.Of))
			paired = paired.With(m.Name, jsonform.Object("mean", exact(m.Metric, d.Mean), "ci95", exact(m.Metric, d.CI95), "n", d.N))
		}
	}
	mean := func(of func(*workflows.Outcome) float64) (float64, float64) {
		s := stats.Summarise(v.Values(of))
		return s.Mean, s.CI95
	}
	pools := lists.Map(lists.Indices(len(v.Runs[0].Pools)), func(i int) jsonform.Form {
		used, usedCI := mean(func(o *workflows.Outcome) float64 { return o.Pools[i].Utilisation })
		queue, queueCI := mean(func(o *workflows.Outcome) float64 { return o.Pools[i].Queue })
		p := v.Runs[0].Pools[i]
		return jsonform.Object("name", p.Name, "people", p.People, "utilisation", used, "utilisation_ci95", usedCI, "queue", queue, "queue_ci95", queueCI)
	})
	classes := lists.Map(lists.Indices(len(v.Runs[0].Classes)), func(i int) jsonform.Form {
		out := jsonform.Object("class", v.Runs[0].Classes[i].Name)
		var ci95 jsonform.Form
		for _, m := range classMetrics {
			s := stats.Summarise(v.Values(func(o *workflows.Outcome) float64 { return m.Of(&o.Classes[i].Outcome) }))
			out, ci95 = out.With(m.Name, exact(m.Metric, s.Mean)), ci95.With(m.Name, exact(m.Metric, s.CI95))
		}
		return out.With("ci95", ci95)
	})
	steps := []jsonform.Form{}
	for _, x := range r.stepLines() {
		s, ci := mean(x.of)
		steps = append(steps, jsonform.Object("name", x.Name, "mean_s", s, "mean_s_ci95", ci))
	}
	if out = out.With("ci95", ci95); v != r.base() {
		out = out.With("paired", paired)
	}
	if len(classes) > 0 {
		out = out.With("classes", classes)
	}
	ends := lists.Map(deadEnds(v), func(rep int) jsonform.Form {
		o := v.Runs[rep]
		return jsonform.Object("repetition", rep+1, "runs", o.DeadEnds, "left_out", o.Lost, "why", o.DeadEnd.Error())
	})
	return out.With("pools", pools).With("steps", steps).With("dead_ends", ends)
}

// Write writes the report into a folder, as Report.Write does.
func (r *WorkflowReport) Write(ctx context.Context, dir string) error {
	return r.document().write(ctx, dir)
}

func (r *WorkflowReport) document() *document {
	d := &document{
		page: page{
			Mark: workflowMark, Kind: "workflow under load", Title: r.Workflow, About: paragraphs(r.About), Source: r.Source, Policies: true,
			Command: fmt.Sprintf("throng workflow simulate FILE.yaml … --reps %d --seed %d --out DIR", r.Reps, r.Seed),
			Facts: append(append([]string{
				"compared: " + strings.Join(r.Names(), "; "), fmt.Sprintf("%d repetitions, seed %d", r.Reps, r.Seed),
			}, r.Load...), r.Notes...),
			Reading: reading(r.Reps, 1+len(r.compared()), r.base().Name(r.crowds)), TableWidth: tableWidth(len(r.Variants)),
		},
		data: r, pictures: r.pictures(), files: r.tables(),
	}
	for _, t := range r.Tables() {
		d.page.Tables = append(d.page.Tables, r.forPage(t))
	}
	if more := r.more(); len(more) > 0 {
		t := r.forPage(WorkflowTable{"more figures", more})
		d.page.More = &t
	}
	return d
}

func (r *WorkflowReport) forPage(t WorkflowTable) htmlTable {
	out := htmlTable{Title: t.Title, Label: t.Title, Columns: append([]string{"metric"}, r.Headings()...)}
	for _, x := range t.lines {
		row := tableRow{Name: x.Name, Words: x.Words}
		for i, v := range r.Variants {
			c := tableCell{Column: r.Names()[i], Text: r.words(x, v)}
			if slices.Contains(r.compared(), v) {
				if c.Note, c.Clear = r.difference(x, v); c.Clear {
					c.Note += " *"
				}
			}
			row.Cells = append(row.Cells, c)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
