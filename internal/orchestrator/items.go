package orchestrator

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// SlowItem is an item that is on its way at a step.
type SlowItem struct {
	Item    int64
	Class   string // "": there are none
	Step    string
	Since   time.Time // it came there
	Born    time.Time
	Ends    time.Time    // as predicted, if nothing has to queue; zero: not known, as it or the run waits for somebody to do something
	Penalty *crowd.Money // of its own when it Ends; nil: not known, or items have none of their own
	Why     string       // it waits
}

// SlowestItems returns the items that have been on their way for the longest at each
// step, at most limit a step, and why they wait.
func (o *Orchestrator) SlowestItems(ctx context.Context, tenant crowd.TenantID, id crowd.RunID, limit int) ([]SlowItem, error) {
	r, err := o.snapshotShown(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	v := r.bareView()
	for i, n := range r.nodes {
		if n.step != nil {
			r.countItems(n, &v.Nodes[i])
		}
	}
	o.viewWaits(v)
	if err := r.viewBatches(ctx, v); err != nil {
		return nil, err
	}
	if err := r.viewCrowds(ctx, v); err != nil {
		return nil, err
	}
	if err := o.viewServices(ctx, v); err != nil {
		return nil, err
	}
	r.lookAhead(v)
	e := earliest{run: r, view: v, rests: v.rests(), waits: make(map[int64]bool)}
	var out []SlowItem
	for _, n := range r.nodes {
		if n.step == nil || n.State == store.NodeDone || r.kept.State.Ended() {
			continue
		}
		list, err := r.slowestAt(ctx, n, limit, &e)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	for i, n := range r.nodes {
		if why := v.Blocked(i); why != "" {
			tellBlocked(out, n, why)
		}
	}
	v.tellEnough(out, r.nodes, e.waits)
	v.tellUnsure(out, e.waits, o.now())
	stands := v.State != store.RunRunning || v.standstill(false) != ""
	for i := range out {
		if stands || e.waits[out[i].Item] {
			out[i].Ends, out[i].Penalty = time.Time{}, nil
		}
	}
	slices.SortStableFunc(out, func(x, y SlowItem) int { return x.Born.Compare(y.Born) })
	return out, nil
}

// tellBlocked says of the items of a step that wait for no more than the step itself why it
// does not go on.
func tellBlocked(items []SlowItem, n *node, why string) {
	for i := range items {
		if items[i].Step == n.Name && items[i].Why == n.runner.waitsFor() {
			items[i].Why = why
		}
	}
}

// tellEnough says of the items of steps that have enough that nobody is asked about them any more,
// and adds them to those that wait for what nobody can tell when it comes.
func (v *View) tellEnough(items []SlowItem, nodes []*node, waits map[int64]bool) {
	for i := range v.Nodes {
		if !v.Nodes[i].HasEnough() {
			continue
		}
		for j := range items {
			x := &items[j]
			if x.Step != v.Nodes[i].Name {
				continue
			}
			waits[x.Item] = true
			if x.Why == nodes[i].runner.waitsFor() {
				x.Why = "for those at work to finish: the step has enough"
			}
		}
	}
}

// slowestAt returns the items that have been at a step for the longest.
func (r *run) slowestAt(ctx context.Context, n *node, limit int, e *earliest) ([]SlowItem, error) {
	var faults []store.Fault
	var err error
	if n.Faults > 0 {
		if faults, err = r.o.cfg.Store.Faults(ctx, r.kept.ID, n.Node.Node, 0, chunkRows); err != nil {
			return nil, err
		}
	}
	held := make(map[int64]string, len(faults))
	for _, f := range faults {
		held[f.Item], e.waits[f.Item] = f.Error, true
	}
	untold, err := r.untoldItems(ctx, n)
	if err != nil {
		return nil, err
	}
	checks, err := r.checkItems(ctx, n)
	if err != nil {
		return nil, err
	}
	for item := range checks {
		e.waits[item] = true
	}
	var out []SlowItem
	seen := make(map[int64]bool)
	for _, i := range n.joined {
		rows, err := r.pendingRows(ctx, n.step.From[i].Node, n.Node.Node, 0)
		if err != nil {
			return nil, err
		}
		// Rows come nearly in the order of their items' births.
		slices.SortStableFunc(rows, func(x, y store.Row) int { return x.Born.Compare(y.Born) })
		found := 0
		for _, row := range rows {
			if seen[row.Item] || row.State != store.RowOK || found == limit {
				continue
			}
			found++
			seen[row.Item] = true
			s := SlowItem{Item: row.Item, Class: r.flow.SLA.ClassName(row.Class), Step: n.Name, Since: instant.Later(row.At, r.kept.StartedAt), Born: row.Born}
			if why, isHeld := held[row.Item]; isHeld {
				s.Why = "held after an error: " + why
			} else if checks[row.Item] && r.kept.State == store.RunRunning {
				s.Why = "people are checked with it: it goes on when the job of the step has ended"
			} else {
				if s.Ends, err = e.end(ctx, row.Item); err != nil {
					return nil, err
				}
				if terms := r.flow.SLA; terms != nil && terms.PerItem && !s.Ends.IsZero() {
					s.Penalty = new(terms.Of(row.Class).At(s.Ends.Sub(row.Born)))
				}
				if s.Why, err = r.waitReason(ctx, n, i, &row, untold[row.Item]); err != nil {
					return nil, err
				}
			}
			out = append(out, s)
		}
	}
	return out, nil
}

// untoldItems returns the items of whose tasks a step's pool does not know yet, as they
// wait for money or for room.
func (r *run) untoldItems(ctx context.Context, n *node) (map[int64]bool, error) {
	if n.Batch == 0 || n.Error == "" && r.o.waitOf(r.key(n)).Why == "" {
		return nil, nil
	}
	b, err := r.o.cfg.Store.Batch(ctx, 0, n.Batch)
	if err != nil || b.Progress.Tasks >= b.Spec.Tasks {
		return nil, err
	}
	tasks, err := r.o.cfg.Store.Tasks(ctx, n.Batch.Task(b.Progress.Tasks+1), int(b.Spec.Tasks-b.Progress.Tasks))
	untold := make(map[int64]bool, len(tasks))
	for i := range tasks {
		untold[tasks[i].Item] = true
	}
	return untold, err
}

// waitReason says what an item at a step waits for; i is the number of the source
// that its row is of, and untold whether its task is not open to people yet.
func (r *run) waitReason(ctx context.Context, n *node, i int, row *store.Row, untold bool) (string, error) {
	from, noted := n.step.From[i], r.o.waitOf(r.key(n))
	switch {
	case r.kept.State == store.RunPaused:
		return "the run is paused", nil
	case n.State == store.NodeFailed:
		return "the step has failed: " + n.Error, nil
	case from.Edge == workflow.Batch && r.nodes[from.Node].State != store.NodeDone:
		return fmt.Sprintf("for all of %s to be there", from.Name), nil
	case n.Error != "" && (n.Batch == 0 || untold || row.N > n.Cursors[i]):
		return n.Error, nil
	case noted.Why != "" && (n.step.Crowd() == nil || n.Batch == 0 || untold || row.N > n.Cursors[i]):
		return noted.Why, nil
	case row.N > n.Cursors[i]:
		return "in line before the step", nil
	}
	if len(n.joined) > 1 {
		if _, complete, err := r.findArrival(ctx, n, row.Item); err != nil || !complete {
			return "for the other branches", err
		}
	}
	return n.runner.waitsFor(), nil
}

// Visit is where an item has been.
type Visit struct {
	Step  string
	Kind  string // as NodeView.Kind
	Class string // of the item; "": there are none
	store.Row
	Columns []string // of Row.Cells
	Held    string   // the error with which the step holds it; there is no row then
	Tries   int
}

// Path returns where an item has been, in the order of the plan.
func (o *Orchestrator) Path(ctx context.Context, tenant crowd.TenantID, id crowd.RunID, item int64) ([]Visit, error) {
	r, err := o.snapshot(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	rows, err := o.cfg.Store.ItemRows(ctx, id, item)
	if err != nil {
		return nil, err
	}
	var out []Visit
	for _, row := range rows {
		n := r.nodes[row.Node]
		s := Visit{Step: n.Name, Kind: n.kind(), Class: r.flow.SLA.ClassName(row.Class), Row: row}
		for _, col := range n.columns {
			if col.node == row.Node {
				s.Columns = append(s.Columns, col.Name)
			}
		}
		if n.step == nil && len(n.Columns) > 0 {
			s.Columns = n.Columns // of the file
		}
		out = append(out, s)
	}
	for _, n := range r.nodes {
		if n.Faults == 0 {
			continue
		}
		list, err := o.cfg.Store.Faults(ctx, id, n.Node.Node, item-1, 1)
		if err != nil {
			return nil, err
		}
		for _, f := range list {
			if f.Item == item {
				out = append(out, Visit{Step: n.Name, Kind: n.kind(), Held: f.Error, Tries: f.Tries, Row: store.Row{Node: f.Node, Item: item, At: f.At}})
			}
		}
	}
	if len(out) == 0 {
		return nil, &crowd.Error{Code: crowd.NotFound, Field: "item", Message: fmt.Sprintf("%s has no item %d", id, item)}
	}
	slices.SortStableFunc(out, func(x, y Visit) int { return x.Node - y.Node })
	return out, nil
}

// Results is the rows of a node, with the columns that it hands on.
type Results struct {
	Node    store.Node
	Columns []workflow.Column
	Rows    iter.Seq2[Result, error] // in the order in which they were made
}

// Result is one of them.
type Result struct {
	Item  int64
	State store.RowState
	Error string
	Cells []string // by Results.Columns; nil unless ok
}

// Results returns the rows of a node, by name.
func (o *Orchestrator) Results(ctx context.Context, tenant crowd.TenantID, id crowd.RunID, name string) (*Results, error) {
	r, err := o.snapshot(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	n, err := r.findNode(name)
	if err != nil {
		return nil, err
	}
	out := &Results{Node: n.Node}
	for _, col := range n.columns {
		out.Columns = append(out.Columns, col.Column)
	}
	out.Rows = lists.MapRead(o.rows(ctx, id, n.Node.Node, n.foreignNodes()), func(row store.JoinedRow) Result {
		x := Result{Item: row.Item, State: row.State, Error: row.Error}
		if row.State == store.RowOK {
			x.Cells = cellsOf(n.columns, &row)
		}
		return x
	})
	return out, nil
}

// Items lists up to limit rows of a node after number n.
func (o *Orchestrator) Items(ctx context.Context, id crowd.RunID, name string, after int64, limit int) ([]store.JoinedRow, error) {
	nodes, err := o.cfg.Store.Nodes(ctx, id)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(nodes, func(n store.Node) bool { return n.Name == name })
	if i < 0 {
		return nil, noSuchStep(name, lists.Map(nodes, func(n store.Node) string { return n.Name }))
	}
	return o.cfg.Store.Rows(ctx, id, i, after, limit, nil)
}
