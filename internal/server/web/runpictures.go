package web

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/diagram"
	"github.com/throng-dev/throng/sla"
)

// sign is a state as a shape and in words: colour alone says nothing to many.
type sign struct{ Shape, Word string }

var nodeSigns = map[store.NodeState]sign{
	store.NodeWaiting: {"○", "waiting"}, store.NodeRunning: {"▶", "running"}, store.NodeFailed: {"✕", "failed"}, store.NodeDone: {"●", "done"},
}

var rowSigns = map[store.RowState]sign{store.RowOK: {"●", "ok"}, store.RowSkipped: {"◇", "skipped"}, store.RowFailed: {"✕", "failed"}}

var (
	heldSign, blockedSign = sign{"▲", "held"}, sign{"▲", "blocked"}
	enoughSign, endedSign = sign{"●", "had enough"}, sign{"■", "ended early"}
	endsSign              = sign{"▶", "has enough"}
)

// signOf is the state of a node as it is shown: a run that does not run has no
// node that does.
func signOf(v *orchestrator.View, node int) sign {
	n := &v.Nodes[node]
	is := nodeSigns[n.State]
	switch {
	case n.State == store.NodeDone || n.State == store.NodeFailed:
	case v.State == store.RunPaused:
		is = sign{"‖", "paused"}
	case v.State == store.RunCancelled:
		is = sign{"■", "cancelled"}
	case n.TakesRows():
		is = sign{"▷", "open"}
	case n.Stays():
		is = heldSign
	case v.Blocked(node) != "":
		is = blockedSign
	case n.HadEnough() != "":
		is = enoughSign
	case n.HasEnough():
		is = endsSign
	case n.EndedEarly:
		is = endedSign
	}
	return is
}

// drawRun draws a run with what is at each node; the nodes lead to their rows.
// The boxes lead to the steps, if the viewer may see what is in them.
func (rq *request) drawRun(v *orchestrator.View) template.HTML {
	d := diagram.Options{Counts: make([]diagram.Counts, len(v.Nodes)), Links: make([]string, len(v.Nodes))}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		is := signOf(v, i)
		d.Counts[i] = v.Counts(i)
		d.Counts[i].State = is.Shape + " " + is.Word
		if rq.p.MayFor(access.RunsItems, v.Tenant) == nil {
			d.Links[i] = "/runs/" + v.ID.String() + "/steps/" + url.PathEscape(n.Name)
		}
	}
	return inlined(diagram.Draw(v.Flow, d))
}

// inlined makes a picture of a workflow part of a page. Its style sheet is left
// out, since pages have no inline ones: app.css has those rules. All its text was
// escaped by package workflow.
func inlined(svg []byte) template.HTML {
	before, rest, found := bytes.Cut(svg, []byte("<style>"))
	if found {
		if _, after, ok := bytes.Cut(rest, []byte("</style>")); ok {
			svg = slices.Concat(before, after)
		}
	}
	return template.HTML(svg)
}

// stripCell is a node in the small picture of a run: a bar that fills.
type stripCell struct {
	X, Width, Done string // in percent
	Class          string
	Name           string
}

// wholeStrip stands for a run that has done all it had to do.
var wholeStrip = []stripCell{{X: "0", Width: "100", Done: "100", Class: "is-done", Name: "all done"}}

// mostCells is how many nodes the small picture has room for.
const mostCells = 60

// stripOf draws a run in the list of runs: its nodes in a row.
func stripOf(v *orchestrator.View) []stripCell {
	n := min(len(v.Nodes), mostCells)
	each := 100 / float64(n)
	cells := make([]stripCell, n)
	for i := range cells {
		x := &v.Nodes[i]
		part := 0.0
		switch all := x.Last + x.Waiting + x.Inside; {
		case x.State == store.NodeDone:
			part = 1
		case all > 0:
			part = float64(x.Last) / float64(all)
		}
		is := signOf(v, i)
		if is == heldSign || is == blockedSign || x.State == store.NodeFailed {
			part = 1 // to be seen
		}
		room := each * 0.92
		cells[i] = stripCell{X: fixed2(float64(i) * each), Width: fixed2(room), Done: fixed2(room * part), Class: "is-" + is.Word, Name: x.Name + " " + is.Word}
	}
	return cells
}

func fixed2(f float64) string { return fmt.Sprintf("%.2f", f) }

// lastNodes are the nodes that no step reads.
func lastNodes(flow *workflow.Workflow) []int {
	read := make(map[int]bool)
	for i := range flow.Steps {
		for _, from := range flow.Steps[i].From {
			read[from.Node] = true
		}
	}
	return lists.Filter(lists.Indices(flow.Nodes()), func(n int) bool { return !read[n] })
}

// rowsCharted is how many of the latest rows the pictures of a run show.
const rowsCharted = 2000

// runPast is what the pictures of a run show.
type runPast struct {
	items   []orchestrator.EndedItem // in order of time
	penalty *sla.Penalty             // nil: there is none, or none for all single items
	cutOff  bool                     // there are older ones
}

// runCharts draws when items ended, how old they were, and what that cost.
func (rq *request) runCharts(v *orchestrator.View) ([]drawing, error) {
	if rq.p.MayFor(access.RunsEnded, v.Tenant) != nil {
		return nil, nil
	}
	past := &runPast{}
	if sla := v.Flow.SLA; sla != nil && sla.PerItem && sla.Classes == nil {
		past.penalty = &sla.Penalty
	}
	var err error
	if past.items, past.cutOff, err = rq.App.Runs.Ended(rq.ctx(), rq.p, v.ID, rowsCharted); err != nil || len(past.items) < 2 {
		return nil, err
	}
	list := []sketch{{name: "Items ended over time", chart: past.ended}, {name: "Age of the items at their end", chart: past.ages}}
	if past.sum() > 0 {
		list = append(list, sketch{name: "Penalty over time", chart: past.paid})
	}
	return drawn(list)
}

// note says how much the pictures show.
func (h *runPast) note() string {
	if h.cutOff {
		return fmt.Sprintf("The last %d items.", len(h.items))
	}
	return ""
}

// sum is the penalty of all of them.
func (h *runPast) sum() (sum crowd.Money) {
	for i := range h.items {
		sum = sum.Plus(h.items[i].Penalty)
	}
	return sum
}

func (h *runPast) clock() chart.Axis {
	return chart.Axis{Label: "time", Unit: "UTC", Kind: chart.Clock, Min: at(h.items[0].At) - 1, Max: at(h.items[len(h.items)-1].At) + 1}
}

func (h *runPast) ended(size chart.Size) chart.Chart {
	line := chart.Series{X: []float64{at(h.items[0].At)}, Y: []float64{0}}
	for i := range h.items {
		line.X, line.Y = append(line.X, at(h.items[i].At)), append(line.Y, float64(i+1))
	}
	return chart.Steps(chart.LinesSpec{
		Head: chart.Head{Size: size, Note: h.note(), Alt: fmt.Sprintf("Items that have ended over time: %s from %s to %s UTC.", plural(len(h.items), "item"),
			h.items[0].At.UTC().Format("15:04:05"), h.items[len(h.items)-1].At.UTC().Format("15:04:05"))},
		X: h.clock(), Y: chart.Axis{Label: "items", Zero: true, Whole: true}, Series: []chart.Series{line},
	})
}

func (h *runPast) paid(size chart.Size) chart.Chart {
	line := chart.Series{X: []float64{at(h.items[0].At)}, Y: []float64{0}}
	sum := crowd.Money(0)
	for i := range h.items {
		x := &h.items[i]
		sum = sum.Plus(x.Penalty)
		line.X, line.Y = append(line.X, at(x.At)), append(line.Y, float64(sum)/float64(crowd.Unit))
	}
	return chart.Steps(chart.LinesSpec{
		Head: chart.Head{Size: size, Note: h.note(), Alt: fmt.Sprintf("Penalty for items that ended late, summed over time: now %s.", sum)},
		X:    h.clock(), Y: chart.Axis{Label: "penalty", Zero: true}, Series: []chart.Series{line},
	})
}

// mostMarks is how many steps of a penalty a picture marks.
const mostMarks = 5

func (h *runPast) ages(size chart.Size) chart.Chart {
	var ages []float64
	oldest := time.Duration(0)
	for i := range h.items {
		age := h.items[i].At.Sub(h.items[i].Born)
		oldest = max(oldest, age)
		ages = append(ages, age.Seconds())
	}
	var marks []chart.Mark
	late := lists.Count(h.items, func(x orchestrator.EndedItem) bool { return x.Penalty > 0 })
	if h.penalty != nil {
		marks = penaltyMarks(h.penalty, oldest)
	}
	return chart.Histogram(chart.HistogramSpec{
		Head: chart.Head{Size: size, Note: h.note(), Alt: fmt.Sprintf("How old items were at their end: at most %s; %d of %d cost a penalty.", format.Duration(oldest), late, len(ages))},
		X:    chart.Axis{Label: "age", Kind: chart.Time, Zero: true}, Values: ages, Marks: marks,
		// Ages that differ by milliseconds only would have bars too narrow to be seen, and
		// densities beyond all reading.
		Least: max(1, oldest.Seconds()/50),
	})
}

// penaltyMarks are the ages up to the oldest at which a penalty changes.
func penaltyMarks(p *sla.Penalty, oldest time.Duration) []chart.Mark {
	var marks []chart.Mark
	for age, more := p.NextStep(0); more && age <= oldest && len(marks) < mostMarks; age, more = p.NextStep(age) {
		marks = append(marks, chart.Mark{At: age.Seconds(), Text: p.At(age).String()})
	}
	return marks
}
