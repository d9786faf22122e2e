package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/similarity"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// NewRun is what a run is created from.
type NewRun struct {
	Tenant    crowd.TenantID
	By        crowd.WorkerID
	Text      string      // the workflow's file
	Name      string      // "": that of the workflow
	Budget    crowd.Money // 0: that of the workflow
	Parent    crowd.RunID // a run that this one goes on from, or 0
	From      string      // the step of the parent from which it is done again; "": only the inputs are taken over
	AskAgain  bool        // of the steps that are done again, take over no label of an unchanged task
	RenewAges bool        // items that are taken over start anew, for the SLA: they are born when the run is made
	Open      []string    // inputs to which rows are added while it goes, besides those that the file calls open

	corrected int64 // of Parent's labels, for whose sake it is made; 0: it is made for another reason
}

// note adds a note.
func (made *Created) note(format string, args ...any) {
	made.Notes = append(made.Notes, fmt.Sprintf(format, args...))
}

// maxRunName is how long the name of a run may be, in bytes: one of 200 characters.
const maxRunName = 800

// Created is a run that was made.
type Created struct {
	Run   store.Run
	Needs []string // inputs that have to be loaded before it can start
	Notes []string // for the requester
}

// Problems is everything that is wrong with a workflow.
type Problems []workflow.Problem

func (p Problems) Error() string {
	text := ""
	for i, x := range p {
		if i > 0 {
			text += "\n"
		}
		text += fmt.Sprintf("line %d, column %d: %s", x.Line, x.Column, x.Message)
	}
	return text
}

// As makes it a *crowd.Error, too.
func (p Problems) As(target any) bool {
	t, ok := target.(**crowd.Error)
	if ok {
		*t = crowd.Errorf(crowd.Invalid, "%s", p.Error())
	}
	return ok
}

// Create makes a run, which then needs its inputs. The error is Problems if the
// file is wrong.
func (o *Orchestrator) Create(ctx context.Context, n NewRun) (Created, error) {
	now := o.now()
	may, err := o.allowed(ctx, n.Tenant)
	if err != nil {
		return Created{}, err
	}
	w, problems, err := ParseFor(ctx, n.Text, now, may)
	if err != nil {
		return Created{}, err
	}
	if len(problems) > 0 {
		return Created{}, Problems(problems)
	}
	run := store.Run{
		Tenant: n.Tenant, Name: cmp.Or(n.Name, w.Name), Text: n.Text, State: store.RunLoading, Budget: cmp.Or(n.Budget, w.Budget),
		Parent: n.Parent, From: n.From, AskAgain: n.AskAgain, RenewAges: n.RenewAges, CreatedBy: n.By, CreatedAt: now,
		RedoLabels: n.corrected,
	}
	if err := format.ValidLine("name", run.Name, maxRunName); err != nil {
		return Created{}, err
	}
	if n.Budget < 0 || n.Budget > crowd.MaxMoney {
		return Created{}, crowd.Fieldf("budget", "%s is not an amount (at most %s)", n.Budget, crowd.MaxMoney)
	}
	if w.SLA != nil {
		run.Deadline = w.SLA.Deadline
	}
	nodes := newNodes(w)
	for i := range nodes {
		nodes[i].Open = nodes[i].Open && n.corrected == 0 // it has the inputs of its parent, which has ended
	}
	for _, name := range n.Open {
		i := slices.IndexFunc(w.Inputs, func(in workflow.Input) bool { return in.Name == name })
		if i < 0 {
			return Created{}, crowd.Fieldf("open", "the workflow has no input %q%s", name, similarity.DidYouMean(name, lists.Map(w.Inputs, func(in workflow.Input) string { return in.Name })))
		}
		nodes[i].Open = true
	}
	made := Created{}
	over, err := o.nodesToCopy(ctx, &run, w, nodes, &made)
	if err != nil {
		return made, err
	}
	if run.ID, err = o.cfg.Store.CreateRun(ctx, run, nodes); err != nil {
		return made, err
	}
	if len(over) > 0 {
		if err := o.takeOver(ctx, &run, w, nodes, over); err != nil {
			return made, errors.Join(err, o.cancelUnstarted(context.WithoutCancel(ctx), run))
		}
	}
	made.Run, made.Needs = run, neededInputs(w, nodes)
	return made, nil
}

// neededInputs lists the inputs without which a run cannot start: an open one whose columns
// are declared may have no file.
func neededInputs(w *workflow.Workflow, nodes []store.Node) []string {
	var list []string
	for i, in := range w.Inputs {
		if nodes[i].State != store.NodeDone && !(nodes[i].Open && !in.Open()) {
			list = append(list, in.Name)
		}
	}
	return list
}

// newNodes makes the nodes of a run of a workflow.
func newNodes(w *workflow.Workflow) []store.Node {
	nodes := make([]store.Node, w.Nodes())
	for i := range nodes {
		nodes[i] = store.Node{Node: i, State: store.NodeWaiting}
		if i < len(w.Inputs) {
			nodes[i].Name, nodes[i].Cursors = w.Inputs[i].Name, make([]int64, 1)
			nodes[i].Open = w.Inputs[i].Grows
			continue
		}
		s := &w.Steps[i-len(w.Inputs)]
		nodes[i].Name, nodes[i].Cursors = s.Name, make([]int64, len(s.From)+1)
	}
	return nodes
}

// cancelUnstarted cancels a run that has not begun.
func (o *Orchestrator) cancelUnstarted(ctx context.Context, run store.Run) error {
	run.State, run.EndedAt = store.RunCancelled, o.now()
	_, err := o.cfg.Store.Advance(ctx, &store.Advance{Run: run.ID, State: &run})
	return err
}

// goOn returns what a run goes on with, whose parent has to have ended and to be of such a
// workflow. Of run, it reads the tenant, the text, the parent and From.
func (o *Orchestrator) goOn(ctx context.Context, run *store.Run, w *workflow.Workflow, nodes []store.Node) (*refit, error) {
	parent, err := o.cfg.Store.Run(ctx, run.Tenant, run.Parent)
	if err != nil {
		return nil, err
	}
	if !parent.State.Ended() {
		return nil, crowd.Errorf(crowd.Conflict, "%s is %s: a run goes on from one that has ended; cancel it first", run.Parent, parent.State)
	}
	old, err := o.cfg.Store.Nodes(ctx, run.Parent)
	if err != nil {
		return nil, err
	}
	before, err := o.workflow(ctx, &parent, old)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(nodes, func(n store.Node) bool {
		return slices.ContainsFunc(old, func(x store.Node) bool { return x.Name == n.Name })
	}) {
		return nil, crowd.Fieldf("parent", "%s is of another workflow: it has no input and no step with a name of this one (it has %s)", run.Parent, namesOf(old))
	}
	if run.From != "" && !slices.ContainsFunc(w.Steps, func(s workflow.Step) bool { return s.Name == run.From }) {
		return nil, crowd.Fieldf("from", "the workflow has no step %q", run.From)
	}
	return &refit{run: run, parent: &parent, before: before, after: w, old: old, nodes: nodes}, nil
}

// nodesToCopy finds the nodes whose rows the run takes over from its parent: the
// inputs, and the steps that do not come after From.
func (o *Orchestrator) nodesToCopy(ctx context.Context, run *store.Run, w *workflow.Workflow, nodes []store.Node, made *Created) (map[int]int, error) {
	if run.Parent == 0 {
		return nil, needsParent(run)
	}
	x, err := o.goOn(ctx, run, w, nodes)
	if err != nil {
		return nil, err
	}
	old, before := x.old, x.before
	redone := redoneFrom(w, run.From, nodes)
	over := make(map[int]int)
	for i := range nodes {
		j := slices.IndexFunc(old, func(x store.Node) bool { return x.Name == nodes[i].Name })
		if j < 0 || redone[i] {
			continue
		}
		if i < len(w.Inputs) {
			whole := old[j].State == store.NodeDone || !x.parent.StartedAt.IsZero() // one that was still open has all rows that were added
			if j >= len(before.Inputs) || !whole {
				continue
			}
			nodes[i].State, nodes[i].Columns = store.NodeDone, old[j].Columns
		} else if !sameColumns(before, j, w, i) {
			return nil, crowd.Fieldf("from", "the step %s has other columns than in %s: start from it, or from a step before it", nodes[i].Name, run.Parent)
		}
		over[j] = i
	}
	if err := o.checkAnswerers(ctx, run, w, old, over); err != nil {
		return nil, err
	}
	if x.after, err = fitted(ctx, run, w, nodes); err != nil {
		return nil, err
	}
	made.noteDoneAgain(run, w, redone)
	if err := o.noteKeptLabels(ctx, x, redone, made); err != nil {
		return nil, err
	}
	if err := o.noteCorrected(ctx, x, over, made); err != nil {
		return nil, err
	}
	if err := o.checkCells(ctx, x, over); err != nil {
		return nil, err
	}
	made.noteUnused(run, nodes, old)
	return over, nil
}

// needsParent refuses what only a run can ask for that goes on from another one.
func needsParent(run *store.Run) error {
	switch {
	case run.From != "":
		return crowd.Fieldf("from", "say of which run, too, whose rows are taken over")
	case run.AskAgain:
		return crowd.Fieldf("ask_again", "say of which run, too, whose labels are not to be taken over")
	case run.RenewAges:
		return crowd.Fieldf("renew_ages", "say of which run, too, whose items are to start anew")
	}
	return nil
}

// noteUnused says which nodes of the parent the run does not have.
func (made *Created) noteUnused(run *store.Run, nodes, old []store.Node) {
	for j := range old {
		if old[j].Last > 0 && !slices.ContainsFunc(nodes, func(x store.Node) bool { return x.Name == old[j].Name }) {
			made.note("%s of %s is not in this file: its %d rows are not used, and its items go the way that the file says", old[j].Name, run.Parent, old[j].Last)
		}
	}
}

// namesOf lists the names of nodes.
func namesOf(nodes []store.Node) string {
	names := make([]string, len(nodes))
	for i := range nodes {
		names[i] = nodes[i].Name
	}
	return strings.Join(names, ", ")
}

// redoneFrom returns the nodes of the steps that a run with these nodes does again which goes
// on from another one at the step from ("": all steps): that one, those that make their items
// of all rows where more rows may come, as to an open input, and all after these.
func redoneFrom(w *workflow.Workflow, from string, nodes []store.Node) map[int]bool {
	redone, grows := make(map[int]bool), make(map[int]bool)
	for i := range w.Inputs {
		grows[i] = nodes[i].Open
	}
	for i := range w.Steps {
		s := &w.Steps[i]
		grows[s.Node] = slices.ContainsFunc(s.From, func(x workflow.Source) bool { return grows[x.Node] })
		redone[s.Node] = from == "" || s.Name == from || s.MakesItems() && grows[s.Node] ||
			slices.ContainsFunc(s.From, func(x workflow.Source) bool { return redone[x.Node] })
	}
	return redone
}

// noteDoneAgain says which steps the run does again that are not after From, since more rows may come to them.
func (made *Created) noteDoneAgain(run *store.Run, w *workflow.Workflow, redone map[int]bool) {
	if run.From == "" {
		return
	}
	after, again := map[int]bool{}, []string{}
	for i := range w.Steps {
		s := &w.Steps[i]
		after[s.Node] = s.Name == run.From || slices.ContainsFunc(s.From, func(x workflow.Source) bool { return after[x.Node] })
		if redone[s.Node] && !after[s.Node] {
			again = append(again, s.Name)
		}
	}
	if len(again) > 0 {
		made.note("done again, too, as rows may be added to what they are made of: %s", strings.Join(again, ", "))
	}
}

// checkAnswerers refuses to take over rows of which it is not known who answered, where a
// step that has work left is not for those people. Over maps the parent's nodes to the run's.
func (o *Orchestrator) checkAnswerers(ctx context.Context, run *store.Run, w *workflow.Workflow, old []store.Node, over map[int]int) error {
	source := make(map[int]int, len(over)) // the reverse of over
	for j, i := range over {
		source[i] = j
	}
	for i := range w.Steps {
		s := &w.Steps[i]
		if j, taken := source[s.Node]; s.Crowd() == nil || taken && old[j].State == store.NodeDone {
			continue
		}
		for k := range w.Steps[:i] {
			before := &w.Steps[k]
			j, taken := source[before.Node]
			if !taken || !slices.Contains(s.Crowd().NotBy, before.Name) {
				continue
			}
			unknown := 0
			for row, err := range o.cfg.Store.Answered(ctx, run.Parent, j) {
				if err != nil {
					return err
				}
				if row.By == nil {
					unknown++
				}
			}
			if unknown > 0 {
				return crowd.Fieldf("from", "who answered %s of the step %s in %s is not known, and the step %s is not for them (not_by): start from %s, where people are asked again if that is not known, or leave not_by out",
					format.Count(unknown, "item"), before.Name, run.Parent, s.Name, before.Name)
			}
		}
	}
	return nil
}

// sameColumns reports whether step j of a workflow and step i of another are of one
// kind and add the same columns.
func sameColumns(before *workflow.Workflow, j int, after *workflow.Workflow, i int) bool {
	j, i = j-len(before.Inputs), i-len(after.Inputs)
	if j < 0 || before.Steps[j].Kind != after.Steps[i].Kind {
		return false
	}
	x, y := before.Steps[j].Own, after.Steps[i].Own
	return slices.EqualFunc(x, y, func(a, b workflow.Column) bool { return a.Name == b.Name }) || len(y) == 0
}
