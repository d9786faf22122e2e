package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// NewRun is what a run is made of.
type NewRun struct {
	Tenant crowd.TenantID
	By     crowd.WorkerID
	Text   string      // the workflow's file
	Name   string      // "": that of the workflow
	Budget crowd.Money // 0: that of the workflow
	Parent crowd.RunID // a run that this one goes on from, or 0
	From   string      // of those, the step from which it does anew; "": the inputs only are taken over
}

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
func (c *Orchestrator) Create(ctx context.Context, n NewRun) (Created, error) {
	now := c.now()
	w, problems := Parse(ctx, n.Text, nil, now)
	if len(problems) > 0 {
		return Created{}, Problems(problems)
	}
	run := store.Run{
		Tenant: n.Tenant, Name: n.Name, Text: n.Text, State: store.RunLoading, Budget: n.Budget,
		Parent: n.Parent, From: n.From, CreatedBy: n.By, CreatedAt: now,
	}
	if run.Name == "" {
		run.Name = w.Name
	}
	if run.Budget == 0 {
		run.Budget = w.Budget
	}
	if w.SLA != nil {
		run.Deadline = w.SLA.Deadline
	}
	nodes := make([]store.Node, w.Nodes())
	for i := range nodes {
		nodes[i] = store.Node{Node: i, State: store.NodeWaiting}
		if i < len(w.Inputs) {
			nodes[i].Name, nodes[i].Cursors = w.Inputs[i].Name, make([]int64, 1)
			continue
		}
		s := &w.Steps[i-len(w.Inputs)]
		nodes[i].Name, nodes[i].Cursors = s.Name, make([]int64, len(s.From)+1)
	}
	made := Created{}
	over, err := c.takeOver(ctx, &run, w, nodes, &made)
	if err != nil {
		return made, err
	}
	if run.ID, err = c.cfg.Store.CreateRun(ctx, run, nodes); err != nil {
		return made, err
	}
	if len(over) > 0 {
		if err := c.cfg.Store.TakeOver(ctx, run.Parent, run.ID, over); err != nil {
			return made, errors.Join(err, c.giveUp(context.WithoutCancel(ctx), run))
		}
	}
	made.Run = run
	for i, in := range w.Inputs {
		if nodes[i].State != store.NodeDone {
			made.Needs = append(made.Needs, in.Name)
		}
	}
	return made, nil
}

// giveUp cancels a run that has not begun.
func (c *Orchestrator) giveUp(ctx context.Context, run store.Run) error {
	run.State, run.EndedAt = store.RunCancelled, c.now()
	_, err := c.cfg.Store.Advance(ctx, &store.Advance{Run: run.ID, State: &run})
	return err
}

// takeOver finds the nodes whose rows the run takes over from its parent: the
// inputs, and the steps that do not come after From.
func (c *Orchestrator) takeOver(ctx context.Context, run *store.Run, w *workflow.Workflow, nodes []store.Node, made *Created) (map[int]int, error) {
	switch {
	case run.Parent == 0 && run.From != "":
		return nil, crowd.Fieldf("from", "say of which run, too, whose rows are taken over")
	case run.Parent == 0:
		return nil, nil
	}
	parent, err := c.cfg.Store.Run(ctx, run.Tenant, run.Parent)
	if err != nil {
		return nil, err
	}
	if !parent.State.Ended() {
		return nil, crowd.Errorf(crowd.Conflict, "%s is %s: a run goes on from one that has ended; cancel it first", run.Parent, parent.State)
	}
	old, err := c.cfg.Store.Nodes(ctx, run.Parent)
	if err != nil {
		return nil, err
	}
	before, err := c.workflow(ctx, &parent, old)
	if err != nil {
		return nil, err
	}
	anew := make(map[int]bool) // nodes that are done anew
	found := run.From == ""
	for i := range w.Steps {
		s := &w.Steps[i]
		found = found || s.Name == run.From
		anew[s.Node] = run.From == "" || s.Name == run.From ||
			slices.ContainsFunc(s.From, func(x workflow.Source) bool { return anew[x.Node] })
	}
	if !found {
		return nil, crowd.Fieldf("from", "the workflow has no step %q", run.From)
	}
	over := make(map[int]int)
	for i := range nodes {
		j := slices.IndexFunc(old, func(x store.Node) bool { return x.Name == nodes[i].Name })
		if j < 0 || anew[i] {
			continue
		}
		if i < len(w.Inputs) {
			if j >= len(before.Inputs) || old[j].State != store.NodeDone {
				continue
			}
			nodes[i].State, nodes[i].Columns = store.NodeDone, old[j].Columns
		} else if !sameColumns(before, j, w, i) {
			return nil, crowd.Fieldf("from", "the step %s has other columns than in %s: start from it, or from a step before it", nodes[i].Name, run.Parent)
		}
		over[j] = i
	}
	for j := range old {
		if old[j].Last > 0 && !slices.ContainsFunc(nodes, func(x store.Node) bool { return x.Name == old[j].Name }) {
			made.Notes = append(made.Notes, fmt.Sprintf("the step %s of %s is not in this file: its %d rows are not used, and its items go the way that the file says", old[j].Name, run.Parent, old[j].Last))
		}
	}
	return over, nil
}

func sameColumns(before *workflow.Workflow, j int, after *workflow.Workflow, i int) bool {
	j, i = j-len(before.Inputs), i-len(after.Inputs)
	if j < 0 || before.Steps[j].Kind != after.Steps[i].Kind {
		return false
	}
	x, y := before.Steps[j].Own, after.Steps[i].Own
	return slices.EqualFunc(x, y, func(a, b workflow.Column) bool { return a.Name == b.Name }) || len(y) == 0
}

// LoadResult says what became of an input's file.
type LoadResult struct {
	Rows int64
	Bad  int64          // rows that could not be read: items that have failed
	Some []*crowd.Error // the first of them
}

// maxTold is how many bad rows are told of one by one.
const maxTold = 100

// Load reads a file as an input of a run that was made. A row that cannot be read
// becomes an item that has failed, with the reason; a file that cannot be read
// gives the run up.
func (c *Orchestrator) Load(ctx context.Context, id crowd.RunID, input string, file table.Rows) (out LoadResult, err error) {
	leave, err := c.enter(load{id, input})
	if err != nil {
		return out, err
	}
	defer leave()
	run, nodes, err := c.loading(ctx, id)
	if err != nil {
		return out, err
	}
	i := slices.IndexFunc(nodes, func(n store.Node) bool { return n.Name == input && len(n.Cursors) == 1 })
	switch {
	case i < 0:
		return out, crowd.Fieldf("input", "the workflow has no input %q", input)
	case nodes[i].State != store.NodeWaiting:
		return out, crowd.Errorf(crowd.Conflict, "the input %s has its rows already, or is getting them", input)
	}
	n := nodes[i]
	n.State, n.StartedAt, n.Columns = store.NodeRunning, c.now(), slices.Clone(file.Columns())
	if _, err := c.cfg.Store.Advance(ctx, &store.Advance{Run: id, Nodes: []store.Node{n}}); err != nil {
		return out, err
	}
	if err = c.read(ctx, id, i, file, &out); err == nil {
		n.State, n.EndedAt = store.NodeDone, c.now()
		_, err = c.cfg.Store.Advance(ctx, &store.Advance{Run: id, Nodes: []store.Node{n}})
	}
	if err != nil { // whoever sent the file may have gone
		run.State, run.EndedAt = store.RunCancelled, c.now()
		n.State, n.Error = store.NodeFailed, userText(err)
		_, wrong := c.cfg.Store.Advance(context.WithoutCancel(ctx), &store.Advance{Run: id, State: &run, Nodes: []store.Node{n}})
		return out, errors.Join(err, wrong)
	}
	return out, nil
}

// loading returns a run that is getting its inputs.
func (c *Orchestrator) loading(ctx context.Context, id crowd.RunID) (store.Run, []store.Node, error) {
	run, err := c.cfg.Store.Run(ctx, 0, id)
	if err != nil {
		return run, nil, err
	}
	if run.State != store.RunLoading {
		return run, nil, crowd.Errorf(crowd.Conflict, "%s is %s: it has its inputs", id, run.State)
	}
	nodes, err := c.cfg.Store.Nodes(ctx, id)
	return run, nodes, err
}

// load is an input whose file is being read.
type load struct {
	run   crowd.RunID
	input string
}

// enter says that an input's file is being read, which goes on until leave.
func (c *Orchestrator) enter(x load) (leave func(), err error) {
	c.in.Lock()
	defer c.in.Unlock()
	if c.in.loads[x] {
		return nil, crowd.Errorf(crowd.Conflict, "the input %s has its rows already, or is getting them", x.input)
	}
	c.in.loads[x] = true
	return func() {
		c.in.Lock()
		defer c.in.Unlock()
		delete(c.in.loads, x)
	}, nil
}

func (c *Orchestrator) read(ctx context.Context, id crowd.RunID, node int, file table.Rows, out *LoadResult) error {
	rows := make([]store.Row, 0, chunk)
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		_, err := c.cfg.Store.Advance(ctx, &store.Advance{Run: id, Rows: rows})
		rows = rows[:0]
		return err
	}
	for {
		cells, _, err := file.Read()
		if errors.Is(err, io.EOF) {
			return flush()
		}
		now := c.now()
		row := store.Row{Node: node, Born: now, At: now, State: store.RowOK, Cells: cells}
		if err != nil {
			var bad *crowd.Error
			if !errors.As(err, &bad) || bad.Row == 0 {
				return err
			}
			if out.Bad++; len(out.Some) < maxTold {
				out.Some = append(out.Some, bad)
			}
			row.State, row.Cells, row.Error = store.RowFailed, nil, bad.Error()
		}
		out.Rows++
		if rows = append(rows, row); len(rows) == chunk {
			if err := flush(); err != nil {
				return err
			}
		}
	}
}

// Start begins a run whose inputs are there. If the files do not fit the
// workflow, the run is given up and the error is Problems.
func (c *Orchestrator) Start(ctx context.Context, id crowd.RunID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	run, nodes, err := c.loading(ctx, id)
	if err != nil {
		return err
	}
	now := c.now()
	for _, n := range nodes {
		if len(n.Cursors) == 1 && n.State != store.NodeDone {
			return crowd.Fieldf("input", "the input %s has no rows yet: load its file first", n.Name)
		}
	}
	_, problems := Parse(ctx, run.Text, filesOf(nodes), now)
	if len(problems) > 0 {
		return errors.Join(Problems(problems), c.giveUp(ctx, run))
	}
	run.State, run.StartedAt = store.RunRunning, now
	if _, err := c.cfg.Store.Advance(ctx, &store.Advance{Run: id, State: &run}); err != nil {
		c.await(id) // it may have been kept
		return err
	}
	if err := c.begin(ctx, id); err != nil && c.awaited[id] {
		c.cfg.Log.Error("a run will be taken up later", "run", id.String(), "err", err)
	} else {
		return err
	}
	return nil
}

// Abandon gives up a run that is getting its inputs.
func (c *Orchestrator) Abandon(ctx context.Context, id crowd.RunID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	run, _, err := c.loading(ctx, id)
	if err != nil {
		return err
	}
	return c.giveUp(ctx, run)
}
