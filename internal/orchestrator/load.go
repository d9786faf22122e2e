package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// LoadResult describes what became of an input's file.
type LoadResult struct {
	Rows int64
	Bad  int64          // rows that could not be read: items that have failed
	Some []*crowd.Error // the first of them

	Dropped int64 // rows that were there before; they are no items

	Delimiter table.Delimiter // that stood between the cells; 0: none
}

// maxExamples is how many bad rows are listed one by one.
const maxExamples = 100

// Load reads a file as an input of a run that was made. A row that cannot be read, or
// with a cell that is no value of its column's type, becomes an item that has failed,
// with the reason. Of a file that cannot be read to its end, that does not fit the workflow
// (the error is Problems then), or that has rows which are refused as they were there before,
// nothing is kept, and the run waits for another.
func (o *Orchestrator) Load(ctx context.Context, id crowd.RunID, input string, open table.Open) (out LoadResult, err error) {
	leave, err := o.lockInput(inputKey{id, input})
	if err != nil {
		return out, err
	}
	defer leave()
	if err := o.finishTakeOver(ctx, id); err != nil { // new items are numbered on from those
		return out, err
	}
	if _, _, _, err = o.wanted(ctx, id, input); err != nil {
		return out, err
	}
	file, closed, err := open()
	if err != nil {
		return out, err
	}
	defer closed()
	run, nodes, i, err := o.wanted(ctx, id, input) // the file may have taken long
	if err != nil {
		return out, err
	}
	out.Delimiter = file.Delimiter()
	files := make(map[string][]string)
	for _, n := range nodes {
		if len(n.Cursors) == 1 {
			files[n.Name] = n.Columns // nil: not loaded yet
		}
	}
	files[input] = file.Columns()
	w, problems, err := Parse(ctx, run.Text, files, time.Time{})
	switch {
	case err != nil:
		return out, err
	case len(problems) > 0:
		return out, Problems(problems)
	}
	n := nodes[i]
	if n.State != store.NodeWaiting { // half read, and could not be put back then
		if err := o.putBack(ctx, n, ""); err != nil {
			return out, err
		}
	}
	n.State, n.Error, n.StartedAt, n.Columns = store.NodeRunning, "", o.now(), slices.Clone(file.Columns())
	if _, err := o.cfg.Store.Advance(ctx, &store.Advance{Run: id, Nodes: []store.Node{n}}); err != nil {
		return out, err
	}
	read := typed(file, w.Inputs[i].Columns)
	err = o.readRows(ctx, inputFile{run: id, class: classifier{w.SLA, i, read.columns}, file: read}, &out)
	if distinct, is := file.(*table.Distinct); is {
		out.Dropped = distinct.Dropped
	}
	if err == nil {
		n.State, n.EndedAt = store.NodeDone, o.now()
		o.locked(func() { err = o.advanceLoading(ctx, &store.Advance{Run: id, Nodes: []store.Node{n}}) })
	}
	if err != nil { // the sender of the file may have gone
		return out, errors.Join(err, o.putBack(context.WithoutCancel(ctx), n, whyPutBack(err)))
	}
	return out, nil
}

// advanceLoading makes a move of a run that is getting its inputs, if it was not cancelled.
func (o *Orchestrator) advanceLoading(ctx context.Context, a *store.Advance) error {
	_, _, err := o.loadingRun(ctx, a.Run)
	if err == nil {
		_, err = o.cfg.Store.Advance(ctx, a)
	}
	return err
}

// putBack has an input whose file was read half want its file again, and keeps why.
func (o *Orchestrator) putBack(ctx context.Context, n store.Node, why string) error {
	if err := o.cfg.Store.ClearLog(ctx, n.Run, n.Node); err != nil {
		return err
	}
	n.State, n.Error, n.StartedAt, n.EndedAt, n.Columns = store.NodeWaiting, why, time.Time{}, time.Time{}, nil
	_, err := o.cfg.Store.Advance(ctx, &store.Advance{Run: n.Run, Nodes: []store.Node{n}})
	return err
}

// whyPutBack says why a file was not read to its end.
func whyPutBack(err error) string {
	if crowd.CodeOf(err) == crowd.Conflict { // the run was cancelled
		return ""
	}
	if errors.As(err, new(*crowd.Error)) {
		return "its file was not read to the end, and nothing of it is kept; load it again: " + messageOf(err)
	}
	return "its upload broke off, and nothing of it is kept; load the file again"
}

// recoverInputs has a run want the files again that were being read when the server ended.
func (o *Orchestrator) recoverInputs(ctx context.Context, id crowd.RunID) error {
	nodes, err := o.cfg.Store.Nodes(ctx, id)
	for _, n := range nodes {
		if err == nil && len(n.Cursors) == 1 && n.State == store.NodeRunning {
			err = o.putBack(ctx, n, "the server ended while its file was read, and nothing of it is kept; load the file again")
		}
	}
	return err
}

// finishTakeOver copies what a run takes over from its parent, as far as that was not
// done when the run was made.
func (o *Orchestrator) finishTakeOver(ctx context.Context, id crowd.RunID) error {
	ctx = store.Preparing(ctx)
	run, _, err := o.loadingRun(ctx, id)
	if err != nil || run.Parent == 0 {
		return err
	}
	w, problems, err := Parse(ctx, run.Text, nil, time.Time{})
	if err != nil || len(problems) > 0 {
		return err // the caller finds problems, too
	}
	nodes := newNodes(w)
	over, err := o.nodesToCopy(ctx, &run, w, nodes, &Created{})
	if err != nil {
		return err
	}
	return o.takeOver(ctx, &run, w, nodes, over)
}

// loadingRun returns a run that is getting its inputs.
func (o *Orchestrator) loadingRun(ctx context.Context, id crowd.RunID) (store.Run, []store.Node, error) {
	run, err := o.cfg.Store.Run(ctx, 0, id)
	if err != nil {
		return run, nil, err
	}
	switch run.State {
	case store.RunLoading:
	case store.RunCancelled:
		return run, nil, crowd.Errorf(crowd.Conflict, "%s was cancelled", id)
	default:
		return run, nil, crowd.Errorf(crowd.Conflict, "%s is %s: it is not waiting for its inputs", id, run.State)
	}
	nodes, err := o.cfg.Store.Nodes(ctx, id)
	return run, nodes, err
}

// wanted returns a run that is getting its inputs, and which of its nodes is the input
// that has no rows yet.
func (o *Orchestrator) wanted(ctx context.Context, id crowd.RunID, input string) (run store.Run, nodes []store.Node, i int, err error) {
	if run, nodes, err = o.loadingRun(ctx, id); err != nil {
		return run, nil, 0, err
	}
	i = slices.IndexFunc(nodes, func(n store.Node) bool { return n.Name == input && len(n.Cursors) == 1 })
	switch {
	case i < 0:
		var names []string
		for _, n := range nodes {
			if len(n.Cursors) == 1 {
				names = append(names, n.Name)
			}
		}
		err = crowd.Fieldf("input", "the workflow has no input %q; it has: %s", input, strings.Join(names, ", "))
	case nodes[i].State == store.NodeDone:
		err = crowd.Errorf(crowd.Conflict, "the input %s has its rows already: to give it another file, cancel %s and make the run again", input, id)
	}
	return run, nodes, i, err
}

// inputKey is an input whose file is being read.
type inputKey struct {
	run   crowd.RunID
	input string
}

// lockInput keeps others from reading a file as the same input until leave.
func (o *Orchestrator) lockInput(x inputKey) (leave func(), err error) {
	o.inbox.Lock()
	defer o.inbox.Unlock()
	if o.inbox.loading[x] {
		return nil, crowd.Errorf(crowd.Conflict, "the input %s is getting its rows already", x.input)
	}
	o.inbox.loading[x] = true
	return func() {
		o.inbox.Lock()
		defer o.inbox.Unlock()
		delete(o.inbox.loading, x)
	}, nil
}

// typedRows is a table with a row as an error where a cell is no value of its
// column's type.
type typedRows struct {
	table.Rows
	columns []workflow.Column // of the file
}

// typed reads a file as these columns, those of the file that they do not name as texts.
func typed(file table.Rows, columns []workflow.Column) typedRows {
	return typedRows{file, columnsOf(file.Columns(), columns)}
}

func (t typedRows) Read() ([]string, int, error) {
	cells, line, err := t.Rows.Read()
	if err != nil {
		return cells, line, err
	}
	if e := misfitIn(t.columns, cells); e != nil {
		e.Row = line
		return nil, line, e
	}
	return cells, line, nil
}

// inputFile is a file whose rows become those of a run's input.
type inputFile struct {
	run   crowd.RunID
	class classifier // of the input
	file  typedRows
}

// readRows keeps rows, and counts in out what came.
func (o *Orchestrator) readRows(ctx context.Context, in inputFile, out *LoadResult) error {
	chunks := store.Chunks[store.Row]{Keep: func(rows []store.Row) error {
		return o.advanceLoading(ctx, &store.Advance{Run: in.run, Rows: rows})
	}}
	var twice crowd.Errors // rows that are refused
	for {
		cells, _, err := in.file.Read()
		if errors.Is(err, io.EOF) {
			if len(twice) > 0 {
				return twice
			}
			return chunks.Flush()
		}
		if e := duplicate(err); e != nil {
			if twice = append(twice, e); len(twice) == maxExamples {
				return twice
			}
		}
		if len(twice) > 0 {
			continue // only looking for more of them
		}
		now := o.now()
		row := store.Row{Node: in.class.node, Born: now, At: now, State: store.RowOK, Cells: cells}
		if err != nil {
			var bad *crowd.Error
			if !errors.As(err, &bad) || bad.Row == 0 {
				return err
			}
			if out.Bad++; len(out.Some) < maxExamples {
				out.Some = append(out.Some, bad)
			}
			row.State, row.Cells, row.Error = store.RowFailed, nil, bad.Error()
		}
		row.Class = in.class.of(row.Cells)
		out.Rows++
		if err := chunks.Add(row, row.Cells); err != nil {
			return err
		}
	}
}

// duplicate returns the error that a row was there before, or nil.
func duplicate(err error) *crowd.Error {
	var e *crowd.Error
	var twice *table.Duplicate
	if errors.As(err, &e) && errors.As(e.Cause, &twice) {
		return e
	}
	return nil
}

// start is what a run begins with.
type start struct {
	run      store.Run
	at       time.Time
	nodes    []store.Node // as they are kept
	opened   []store.Node // inputs that stay open
	flow     *workflow.Workflow
	problems []workflow.Problem
}

// prepareStart reads what a run begins with. It takes long where the file has many queries, so
// nothing is locked.
func (o *Orchestrator) prepareStart(ctx context.Context, id crowd.RunID) (x start, err error) {
	if x.run, x.nodes, err = o.loadingRun(ctx, id); err != nil {
		return x, err
	}
	x.at = o.now()
	nodes := slices.Clone(x.nodes)
	if x.opened, err = startInputs(ctx, &x.run, nodes, x.at); err != nil {
		return x, err
	}
	x.flow, x.problems, err = Parse(ctx, x.run.Text, filesOf(nodes), x.at)
	return x, err
}

// Start begins a run whose inputs are there. If the files do not fit the
// workflow, the run is given up and the error is Problems.
func (o *Orchestrator) Start(ctx context.Context, id crowd.RunID) error {
	if err := o.finishTakeOver(ctx, id); err != nil {
		return err
	}
	for {
		x, err := o.prepareStart(ctx, id)
		if err != nil {
			return err
		}
		if began, err := o.begin(ctx, &x); began || err != nil {
			return err
		}
	}
}

// begin starts a run that is as it was when x was read, or reports false.
func (o *Orchestrator) begin(ctx context.Context, x *start) (began bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	id := x.run.ID
	run, nodes, err := o.loadingRun(ctx, id)
	if err != nil || !reflect.DeepEqual(nodes, x.nodes) {
		return false, err
	}
	if len(x.problems) > 0 {
		return false, errors.Join(Problems(x.problems), o.cancelUnstarted(ctx, run))
	}
	if err := o.mayDo(ctx, run.Tenant, x.flow); err != nil {
		return false, err
	}
	if run.ServiceOrigins, err = o.origins(ctx, x.flow); err != nil {
		return false, err
	}
	run.State, run.StartedAt = store.RunRunning, x.at
	if _, err := o.cfg.Store.Advance(ctx, &store.Advance{Run: id, State: &run, Nodes: x.opened}); err != nil {
		o.adoptLater(id) // it may have been kept
		return false, err
	}
	if err := o.adopt(ctx, id, x.flow); err != nil && o.toAdopt[id] {
		o.cfg.Log.Error("a run will be taken up later", "run", id.String(), "err", err)
	} else {
		return true, err
	}
	return true, nil
}

// mayDo checks that a tenant may still do what the steps of a workflow do, which it could
// when the run was made: call declared services, ask the people of pools, and give jobs their priorities.
func (o *Orchestrator) mayDo(ctx context.Context, tenant crowd.TenantID, w *workflow.Workflow) error {
	may, err := o.allowed(ctx, tenant)
	if err != nil {
		return err
	}
	for i := range w.Steps {
		wrong := ""
		if s := w.Steps[i].HTTP(); s != nil && s.Name != "" {
			wrong = may.Service(s.Name)
		} else if c := w.Steps[i].Crowd(); c != nil {
			wrong = cmp.Or(may.Pool(c.Pool), may.wrongPriority(c.Priority))
		}
		if wrong != "" {
			return crowd.Errorf(crowd.Conflict, "the step %s: %s", w.Steps[i].Name, wrong)
		}
	}
	return nil
}

// startInputs checks that the inputs of a run have what it starts with, and returns those
// that stay open: without a file, they have the columns that are declared.
func startInputs(ctx context.Context, run *store.Run, nodes []store.Node, now time.Time) (opened []store.Node, err error) {
	var w *workflow.Workflow
	for i := range nodes {
		n := &nodes[i]
		if len(n.Cursors) != 1 || n.State == store.NodeDone && !n.Open {
			continue
		}
		if n.State != store.NodeDone {
			if w == nil {
				var problems []workflow.Problem
				if w, problems, err = Parse(ctx, run.Text, nil, time.Time{}); err != nil {
					return nil, err
				}
				if len(problems) > 0 {
					return nil, Problems(problems)
				}
			}
			switch {
			case n.State != store.NodeWaiting || !n.Open:
				return nil, crowd.Fieldf("input", "the input %s has no rows yet: load its file first", n.Name)
			case w.Inputs[i].Open():
				return nil, crowd.Fieldf("input", "the input %s has no rows yet, so its columns are not known: load a file first, or declare its columns in the workflow", n.Name)
			}
			n.Columns = lists.Map(w.Inputs[i].Columns, func(c workflow.Column) string { return c.Name })
			n.StartedAt = now
		}
		n.State, n.EndedAt = store.NodeRunning, time.Time{}
		opened = append(opened, *n)
	}
	return opened, nil
}

// Abandon gives up a run that is getting its inputs.
func (o *Orchestrator) Abandon(ctx context.Context, id crowd.RunID) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	run, _, err := o.loadingRun(ctx, id)
	if err != nil {
		return err
	}
	return o.cancelUnstarted(ctx, run)
}
