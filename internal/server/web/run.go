package web

import (
	"crypto/rand"
	"html/template"
	"net/http"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/runs"
	"github.com/throng-dev/throng/internal/store"
)

// slowShown is how many of the slowest items the page of a run lists.
const slowShown = 20

// loading is what became of the files of a run.
type loading struct {
	Files []loadedFile
	Notes []string
	Wrong orchestrator.Problems // its files do not fit its workflow
}

// run shows a run: one that needs its files, or one to watch.
func (rq *request) run(id crowd.RunID) error {
	d, err := rq.App.Runs.Details(rq.ctx(), rq.p, id)
	if err != nil {
		return err
	}
	l := rq.liveRun(d)
	x := madeOf[loading](rq)
	data := map[string]any{"V": l.V, "Live": l, "Files": x.Files, "Notes": x.Notes, "Feed": rand.Text(), "Methods": []string{"csv", "jsonl", "parquet"}}
	status := rq.form.status()
	if len(x.Wrong) > 0 {
		status, data["Wrong"] = http.StatusUnprocessableEntity, newCheckedFile(l.V.Text, nil, x.Wrong)
	}
	pg := page{Title: l.V.Name, Section: "runs", Data: data}
	if l.V.State == store.RunLoading {
		needs := inputsOf(l.V)
		bad, loaded := int64(0), false
		for _, n := range needs {
			bad, loaded = bad+n.Failed, loaded || n.State == store.NodeDone
		}
		data["Lacking"] = lists.Filter(l.Nodes, func(n runNode) bool { return n.Lacking() })
		data["Needs"], data["Picture"], data["Bad"], data["Loaded"] = needs, rq.drawRun(l.V), bad, loaded
		return rq.renderStatus(status, "loadrun", pg)
	}
	data["Open"] = lists.Filter(inputsOf(l.V), func(in inputView) bool { return in.TakesRows() })
	data["Charts"], err = rq.runCharts(l.V)
	rq.check(err)
	if !l.V.State.Ended() {
		pg.Script = "run.js"
	}
	return rq.renderStatus(status, "run", pg)
}

// inputView is an input of a run that needs its files.
type inputView struct {
	orchestrator.NodeView
	Wants    []string // declared columns; nil: any
	Optional bool     // it needs no file
}

func inputsOf(v *orchestrator.View) []inputView {
	var list []inputView
	needs := v.Needs()
	for i := range v.Flow.Inputs {
		x := inputView{NodeView: v.Nodes[i], Optional: !slices.Contains(needs, v.Nodes[i].Name)}
		for _, c := range v.Flow.Inputs[i].Columns {
			x.Wants = append(x.Wants, c.Name)
		}
		list = append(list, x)
	}
	return list
}

// liveRun is a run as it stands: the part of its page that moves.
type liveRun struct {
	viewer
	V       *orchestrator.View
	Now     time.Time
	Picture template.HTML
	Nodes   []runNode
	Slow    []orchestrator.SlowItem
	Held    []heldItem
	More    int64  // held items that are not listed
	Going   int64  // items that are waiting or in work, summed over the steps
	Came    int64  // items that came out at the end
	Done    string // when it is done, in words; "" if nothing is on its way
	DoneBy  string // with it: what that rests on
}

// runNode is a node of a run as it is listed.
type runNode struct {
	orchestrator.NodeView
	In      int64
	Blocked string // why it does not go on; "": it does
	Sign    string // of its state, as a shape
	Word    string // in words
	// Remedy names what lets it finish for which its Crowd is too small.
	Remedy string
	// AddBudget names what adds to the budget for which it waits; "" if it waits for none.
	AddBudget string
	// Lift names what lifts the emergency stops that hold it; "" if there are none.
	Lift string
}

// CanEnd reports whether the step can be ended early.
func (n *runNode) CanEnd() bool {
	return n.WaitsForMoney() || n.Batch != nil && n.Batch.Progress.State.Open()
}

// heldItem is an item that a step holds after an error.
type heldItem struct {
	store.Fault
	Step string
}

// PerItem reports whether each item has an age that may cost.
func (l *liveRun) PerItem() bool { return l.V.Flow.SLA != nil && l.V.Flow.SLA.PerItem }

// HeldAt is how many items a node holds.
func (l *liveRun) HeldAt() int64 {
	return lists.Sum(l.Nodes, func(n runNode) int64 { return n.Faults })
}

// Failed reports whether a step cannot go on as a whole.
func (l *liveRun) Failed() bool {
	return slices.ContainsFunc(l.Nodes, func(n runNode) bool { return n.State == store.NodeFailed })
}

func (rq *request) liveRun(d runs.Details) *liveRun {
	v := d.View
	l := &liveRun{viewer: viewer{rq.p}, V: v, Now: rq.Now().UTC(), Picture: rq.drawRun(v), Slow: d.Slow[:min(len(d.Slow), slowShown)]}
	last := lastNodes(v.Flow)
	for i := range v.Nodes {
		n := &v.Nodes[i]
		sign := signOf(v, i)
		x := runNode{NodeView: *n, In: v.Taken(i), Blocked: v.Blocked(i), Sign: sign.Shape, Word: sign.Word, Remedy: batches.Remedy(rq.p, n.Crowd, batches.WaysOfStep(v.ID, n.Name, n.Node.Batch)), AddBudget: runs.AddToBudget(v, n)}
		if n.Batch != nil {
			x.Lift = batches.Lift(rq.p, n.Batch, n.Stops)
		}
		l.Nodes = append(l.Nodes, x)
		if !v.State.Ended() {
			l.Going += n.Waiting + n.Inside
		}
		if slices.Contains(last, i) {
			l.Came += n.Last
		}
	}
	l.Done, l.DoneBy = v.Outlook.Words(l.Now, func(t time.Time) string { return format.Clock(l.Now, t) }, v.OpenInputs())
	for _, f := range d.Faults {
		l.Held = append(l.Held, heldItem{f, v.Flow.NodeName(f.Node)})
	}
	if len(l.Held) > 0 {
		l.More = max(l.HeldAt()-int64(len(l.Held)), 0)
	}
	return l
}

// runEvents sends the live part of a run's page whenever it changes.
func (rq *request) runEvents(id crowd.RunID) error {
	return sendLive(rq, id, rq.App.Runs.Watch, func(rq *request) (state, html string, err error) {
		d, err := rq.App.Runs.WatchedDetails(rq.ctx(), rq.p, id)
		if err != nil {
			return "", "", err
		}
		return string(d.State), rq.fragment("run", "live", rq.liveRun(d)), nil
	})
}
