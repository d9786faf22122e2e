package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// pageView is what the page shows.
type pageView struct {
	Mark     template.HTML
	Title    string
	About    []string // paragraphs
	Facts    []string
	Command  string
	Verdicts []Verdict
	Unmet    int
	Skipped  int    // about policies that were not run
	Base     string // the policy that the others are compared with
	Policies []string
	Compared bool // there is more than one policy
	Repeated bool // there are intervals
	Partly   bool // some figure is not of all repetitions
	Wide     int  // the screen in em on which the tables fit; 0: none
	Main     []metricRow
	More     []metricRow
	Figures  []figureView
	Batches  []batchRow
	Short    int // how many batches are listed; 0: all
	All      int
	Whose    string
	Source   string
	Files    []fileView
}

type metricRow struct {
	Name, Words string
	Cells       []metricCell
}

type metricCell struct {
	Policy string
	Mean   string
	Diff   string
	Clear  bool // the difference is more than chance
}

type figureView struct {
	Title, Caption, Name string
	SVG                  template.HTML
}

type batchRow struct {
	Name, What string
	Cells      []batchCell
}

type batchCell struct {
	Policy, Time, Note string
	Late               bool
}

type fileView struct{ Name, What string }

// maxListed is how many batches the page lists; batches.csv has all.
const maxListed = 40

// page writes report.html: one file that needs nothing else, and no script.
func (r *Report) page(w io.Writer, figures []figure) error {
	v := pageView{
		Mark: mark, Title: r.Scenario, About: paragraphs(r.About), Facts: r.facts(), Verdicts: r.Verdicts,
		Unmet: r.count(NotMet), Skipped: r.count(NotRun),
		Base: r.Policies[0].Name, Policies: r.names(), Compared: len(r.Policies) > 1, Repeated: r.Reps > 1,
		Partly: r.Partly(), Wide: wide(len(r.Policies)),
		Whose: r.whose(), Source: r.Source, Command: r.command(),
		Files: []fileView{
			{"summary.csv", "a row for each policy and metric, with interval, median and paired difference"},
			{"runs.csv", "a row for each policy and repetition"},
			{"batches.csv", "a row for each policy and batch"},
			{"report.json", "all of it for programs"},
			{"charts/", "every picture as SVG and PNG"},
		},
	}
	if r.Alphas != nil {
		v.Files = append(v.Files, fileView{"alpha.csv", "deadlines met, by strictness"})
	}
	shown := map[string]bool{}
	for _, m := range r.MainMetrics() {
		shown[m.Name] = true
		v.Main = append(v.Main, r.row(m))
	}
	for _, m := range r.Metrics {
		if !shown[m.Name] {
			v.More = append(v.More, r.row(m))
		}
	}
	for i := range figures {
		f := &figures[i]
		// What the chart room draws is ours, its texts are escaped there.
		v.Figures = append(v.Figures, figureView{f.title, f.caption, f.name, template.HTML(f.element())})
	}
	r.list(&v)
	return pageTemplate.Execute(w, v)
}

// wide is the width of a screen, in em, that shows the tables whole; 0 where they
// are wider than the page ever is.
func wide(policies int) int {
	const first, each, page = 16, 11, 72
	if w := first + each*policies; w <= page {
		return w
	}
	return 0
}

// paragraphs splits a text at its empty lines.
func paragraphs(text string) []string {
	var list []string
	for _, p := range strings.Split(text, "\n\n") {
		if p = strings.Join(strings.Fields(p), " "); p != "" {
			list = append(list, p)
		}
	}
	return list
}

// facts say what was run.
func (r *Report) facts() []string {
	list := []string{
		plural(len(r.Policies), "policy", "policies") + ": " + strings.Join(r.names(), ", "),
		plural(r.Reps, "repetition", "repetitions") + fmt.Sprintf(", seed %d", r.Seed),
		signed(float64(r.Cycles), 0) + " tasks handed out in all",
	}
	if r.Fixed {
		list = append(list, "the same load in every repetition")
	} else {
		list = append(list, "a load drawn anew for every repetition")
	}
	if r.Alphas != nil && r.alpha != nil {
		list = append(list, fmt.Sprintf("α = %g where nothing else is said", *r.alpha))
	}
	if r.Checked {
		list = append(list, "everything that must hold was checked after every step")
	}
	return list
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return signed(float64(n), 0) + " " + many
}

// command is what makes the same report again.
func (r *Report) command() string {
	list := strings.Join(r.names(), ",")
	if strings.Contains(list, "(") {
		list = "'" + list + "'"
	}
	return fmt.Sprintf("throng sim run SCENARIO.yaml --policy %s --reps %d --seed %d --out DIR", list, r.Reps, r.Seed)
}

func (r *Report) row(m sim.Metric) metricRow {
	row := metricRow{Name: m.Name, Words: m.Words}
	for i := range r.Policies {
		p := &r.Policies[i]
		c := metricCell{Policy: p.Name, Mean: r.Words(m, p.Figure(m))}
		if diff, ok := p.Difference(m); ok && diff.N > 0 {
			c.Diff, c.Clear = r.PairedWords(m, diff, p.Figure(m)), Clear(diff)
		}
		row.Cells = append(row.Cells, c)
	}
	return row
}

// list fills in the table of batches: all of them, or the largest.
func (r *Report) list(v *pageView) {
	if !r.sameBatches() {
		return
	}
	first := &r.Policies[0]
	v.All = len(first.Batches)
	rows := make([]int, 0, maxListed)
	if v.All <= maxListed {
		for k := range first.Batches {
			rows = append(rows, k)
		}
	} else {
		rows = shownBatches(first.first.batches)
		v.Short = len(rows)
	}
	for _, k := range rows {
		b := &first.Batches[k]
		row := batchRow{Name: b.Name, What: plural(b.Tasks, "task", "tasks")}
		if b.Tenant != "" {
			row.What += ", " + b.Tenant
		}
		if b.LaunchedAt > 0 {
			row.What += ", launched at " + seconds(b.LaunchedAt)
		}
		if !math.IsNaN(b.DeadlineAt) {
			row.What += ", due at " + seconds(b.DeadlineAt)
		}
		for i := range r.Policies {
			row.Cells = append(row.Cells, r.cell(&r.Policies[i], k))
		}
		v.Batches = append(v.Batches, row)
	}
}

func (r *Report) cell(p *Policy, k int) batchCell {
	b := &p.Batches[k]
	c := batchCell{Policy: p.Name, Time: seconds(b.CompletedAt)}
	several := r.BatchesOf == MeanOfReps && r.Reps > 1
	if several && b.Completed > 0 {
		c.Time = "at " + withHalf(b.CompletedAt, b.CompletedCI)
	} else if b.Completed > 0 {
		c.Time = "at " + c.Time
	}
	switch {
	case b.Completed == 0 && !math.IsNaN(b.EndedAt):
		c.Time, c.Note = share(b.Done)+" done", "its lifetime ended it"
	case b.Completed == 0:
		c.Time, c.Note = share(b.Done)+" done", "not completed"
	case b.Completed < 1:
		c.Note = fmt.Sprintf("completed in %s of the repetitions", share(b.Completed))
	}
	if math.IsNaN(b.InTime) {
		return c
	}
	c.Late = b.InTime < 0.5
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
