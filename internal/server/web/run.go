package web

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/runs"
	"github.com/throng-dev/throng/internal/store"
)

// What the page of a run lists at most.
const (
	slowShown = 20 // items
	slowEach  = 5  // of a step
	heldShown = 50
)

// runPage is what the page of a run shows with the run: what became of a form.
type runPage struct {
	Form  *form
	Files []loadedFile
	Notes []string
	Wrong orchestrator.Problems // its files do not fit its workflow
}

func (s *server) run(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.RunID) error {
	return s.showRun(w, r, p, id, runPage{})
}

// showRun shows a run: one that needs its files, or one to watch.
func (s *server) showRun(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.RunID, x runPage) error {
	l, err := s.liveRun(r, p, id)
	if err != nil {
		return err
	}
	data := map[string]any{"V": l.V, "Live": l, "Files": x.Files, "Notes": x.Notes, "Methods": []string{"csv", "jsonl", "parquet"}}
	status := x.Form.status()
	if len(x.Wrong) > 0 {
		status, data["Wrong"] = http.StatusUnprocessableEntity, newCheckedFile(l.V.Text, nil, x.Wrong)
	}
	pg := page{Title: l.V.Name, Section: "runs", Form: x.Form, Data: data}
	if l.V.State == store.RunLoading {
		data["Needs"], data["Picture"] = inputsOf(l.V), drawRun(l.V)
		return s.renderStatus(w, r, p, status, "loadrun", pg)
	}
	if data["Charts"], err = s.runCharts(r, p, l.V); err != nil {
		return err
	}
	if !l.V.State.Ended() {
		pg.Script = "run.js"
	}
	return s.renderStatus(w, r, p, status, "run", pg)
}

// inputView is an input of a run that needs its files.
type inputView struct {
	orchestrator.NodeView
	Wants []string // declared columns; nil: any
}

func inputsOf(v *orchestrator.View) []inputView {
	var list []inputView
	for i := range v.Flow.Inputs {
		x := inputView{NodeView: v.Nodes[i]}
		for _, c := range v.Flow.Inputs[i].Columns {
			x.Wants = append(x.Wants, c.Name)
		}
		list = append(list, x)
	}
	return list
}

// liveRun is a run as it stands: the part of its page that moves.
type liveRun struct {
	V       *orchestrator.View
	Now     time.Time
	Picture template.HTML
	Nodes   []runNode
	Slow    []orchestrator.SlowItem
	Held    []heldItem
	More    int64 // held items that are not listed
	Spent   crowd.Money
	Going   int64 // items that are waiting or in work, summed over the steps
	Came    int64 // items that came out at the end
	Ends    time.Time
}

// runNode is a node of a run as it is listed.
type runNode struct {
	orchestrator.NodeView
	In   int64
	Sign string // of its state, as a shape
	Word string // in words
}

// CanEnd reports whether the step can be ended early.
func (n *runNode) CanEnd() bool { return n.Batch != nil && n.Batch.Progress.State.Open() }

// Working is how many items are in work; those that are held are not.
func (n *runNode) Working() int64 { return max(n.Inside-n.Faults, 0) }

// heldItem is an item that a step holds after an error.
type heldItem struct {
	store.Fault
	Step string
}

// PerItem reports whether each item has an age that may cost.
func (l *liveRun) PerItem() bool { return l.V.Flow.SLA != nil && l.V.Flow.SLA.PerItem }

// HeldAt is how many items a node holds.
func (l *liveRun) HeldAt() (n int64) {
	for i := range l.Nodes {
		n += l.Nodes[i].Faults
	}
	return n
}

// Failed reports whether a step cannot go on as a whole.
func (l *liveRun) Failed() bool {
	return slices.ContainsFunc(l.Nodes, func(n runNode) bool { return n.State == store.NodeFailed })
}

func (s *server) liveRun(r *http.Request, p *access.Principal, id crowd.RunID) (*liveRun, error) {
	v, err := s.App.Runs.Get(r.Context(), p, id)
	if err != nil {
		return nil, err
	}
	l := &liveRun{V: v, Now: s.Now().UTC(), Picture: drawRun(v)}
	last := lastNodes(v.Flow)
	for i := range v.Nodes {
		n := &v.Nodes[i]
		sign := signOf(v, n)
		l.Nodes = append(l.Nodes, runNode{*n, taken(v, n), sign.Shape, sign.Word})
		if n.Batch != nil {
			l.Spent += n.Batch.Progress.Spent
		}
		if !v.State.Ended() {
			l.Going += n.Waiting + n.Inside
		}
		if slices.Contains(last, i) {
			l.Came += n.Last
		}
	}
	l.Ends = expectedEnd(v, l.Now)
	if v.State == store.RunLoading || v.State.Ended() {
		return l, nil
	}
	if l.Slow, err = s.App.Runs.Slowest(r.Context(), p, id, slowEach); err != nil {
		return nil, err
	}
	l.Slow = l.Slow[:min(len(l.Slow), slowShown)]
	faults, err := s.App.Runs.Faults(r.Context(), p, id, 0, heldShown)
	if err != nil {
		return nil, err
	}
	for _, f := range faults {
		l.Held = append(l.Held, heldItem{f, v.Flow.NodeName(f.Node)})
	}
	l.More = max(l.HeldAt()-int64(len(l.Held)), 0)
	return l, nil
}

// expectedEnd is when what is on its way has come to the end, if nothing has to
// queue; zero: not known.
func expectedEnd(v *orchestrator.View, now time.Time) time.Time {
	if v.State != store.RunRunning || v.Stuck || v.CannotFinish() {
		return time.Time{}
	}
	first := len(v.Flow.Inputs)
	expect := make([]time.Duration, len(v.Flow.Steps))
	for i := range expect {
		expect[i] = v.Nodes[first+i].Expect
	}
	tails := v.Flow.Plan().Tails(expect)
	longest := time.Duration(0)
	for i := range expect {
		if n := &v.Nodes[first+i]; n.State != store.NodeDone && n.Waiting+n.Inside > n.Faults {
			longest = max(longest, expect[i]+tails[i])
		}
	}
	if longest == 0 {
		return time.Time{}
	}
	return now.Add(longest)
}

// runEvents sends the live part of a run's page whenever it changes.
func (s *server) runEvents(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.RunID) error {
	changed, stop, err := s.App.Runs.Watch(r.Context(), p, id)
	if err != nil {
		return err
	}
	defer stop()
	s.sendLive(w, r, p, changed, func(p *access.Principal) (string, string, error) {
		l, err := s.liveRun(r, p, id)
		if err != nil {
			return "", "", err
		}
		html, err := s.fragment("run", "live", l)
		return string(l.V.State), html, err
	})
	return nil
}

// runAction is something to be done to a run, or to a step of it.
type runAction struct {
	Do, Did, Verb, Question, Consequence string
	Step                                 bool // may be for one step
	run                                  func(s *server, r *http.Request, p *access.Principal, id crowd.RunID, step string) error
}

// wholeRun is an action on a run, not on a step of it.
func wholeRun(move func(*runs.Runs, context.Context, *access.Principal, crowd.RunID) (store.Run, error)) func(*server, *http.Request, *access.Principal, crowd.RunID, string) error {
	return func(s *server, r *http.Request, p *access.Principal, id crowd.RunID, _ string) error {
		_, err := move(s.App.Runs, r.Context(), p, id)
		return err
	}
}

// runActions are what the buttons of a run do. Those with a question are asked
// about first.
var runActions = []runAction{
	{Do: "pause", Did: "paused", Verb: "Pause", run: wholeRun((*runs.Runs).Pause)},
	{Do: "resume", Did: "resumed", Verb: "Resume", run: wholeRun((*runs.Runs).Resume)},
	{
		Do: "cancel", Did: "cancelled", Verb: "Cancel it", Question: "Cancel this run?",
		Consequence: "It is given up, and so are its crowd steps. Answers that are in stay paid, and what was made can be downloaded. A new run can go on from it. This cannot be undone.",
		run:         wholeRun((*runs.Runs).Cancel),
	},
	{
		Do: "end", Did: "stepended", Verb: "End it early", Question: "End this step early?", Step: true,
		Consequence: "Its people get no more tasks. Items that have a label go on with it; the others that are in the step go on as failed. This cannot be undone.",
		run: func(s *server, r *http.Request, p *access.Principal, id crowd.RunID, step string) error {
			_, err := s.App.Runs.EndStep(r.Context(), p, id, step)
			return err
		},
	},
	{Do: "retry", Did: "retried", Verb: "Try again", Step: true, run: func(s *server, r *http.Request, p *access.Principal, id crowd.RunID, step string) error {
		_, _, err := s.App.Runs.Retry(r.Context(), p, id, step)
		return err
	}},
	{
		Do: "skip", Did: "givenup", Verb: "Give them up", Question: "Give up the held items?", Step: true,
		Consequence: "The items that are held after an error go on as failed: the steps that follow do nothing with them. This cannot be undone.",
		run: func(s *server, r *http.Request, p *access.Principal, id crowd.RunID, step string) error {
			_, err := s.App.Runs.Skip(r.Context(), p, id, step)
			return err
		},
	},
}

func findRunAction(do, step string) (runAction, error) {
	i := slices.IndexFunc(runActions, func(a runAction) bool { return a.Do == do })
	if i < 0 || step != "" && !runActions[i].Step {
		return runAction{}, crowd.Errorf(crowd.NotFound, "%q is nothing that can be done", do)
	}
	return runActions[i], nil
}

// confirmRun asks before something that cannot be undone.
func (s *server) confirmRun(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.RunID) error {
	step := r.URL.Query().Get("step")
	a, err := findRunAction(r.URL.Query().Get("do"), step)
	if err != nil {
		return err
	}
	v, err := s.App.Runs.Get(r.Context(), p, id)
	if err != nil {
		return err
	}
	if step != "" && !slices.ContainsFunc(v.Nodes, func(n orchestrator.NodeView) bool { return n.Name == step }) {
		return crowd.Errorf(crowd.NotFound, "%s has no step %q", id, step)
	}
	question := cmp.Or(a.Question, a.Verb+"?")
	return s.render(w, r, p, "ask", page{Title: question, Section: "runs", Data: map[string]any{
		"Question": question, "About": v.Name, "State": string(v.State), "Step": step, "Consequence": a.Consequence, "Verb": a.Verb, "Danger": a.Consequence != "",
		"To": "/runs/" + id.String() + "/do", "Back": "/runs/" + id.String(), "Hidden": map[string]string{"do": a.Do, "step": step},
	}})
}

// actRun does what a button says.
func (s *server) actRun(w http.ResponseWriter, r *http.Request, p *access.Principal, id crowd.RunID) error {
	values := r.PostForm
	if values.Get("do") == "start" {
		return s.startRun(w, r, p, id)
	}
	step := values.Get("step")
	a, err := findRunAction(values.Get("do"), step)
	if err != nil {
		return err
	}
	if err := a.run(s, r, p, id, step); err != nil {
		return err
	}
	return seeOther(w, r, fmt.Sprintf("/runs/%s", id), a.Did)
}
