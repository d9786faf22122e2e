package orchestrator

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// View is a run as it stands.
type View struct {
	store.Run
	Flow  *workflow.Workflow
	Nodes []NodeView
	// Predicted is what the items that are on their way will cost if all goes as
	// expected, on top of Run.Penalty. Of more than mostForeseen items, it is
	// that of the first ones.
	Predicted crowd.Money
	Going     int64 // items on their way, as far as they were counted
	Stuck     bool  // nothing goes on until somebody says retry or skip
}

// NodeView is a node as it stands.
type NodeView struct {
	store.Node
	Kind    string         // input, crowd, sql, service
	Step    *workflow.Step // nil: an input
	Waiting int64          // rows that its sources have made and it has not taken
	Inside  int64          // items that it has taken and not handed on
	Expect  time.Duration  // for one item, as observed
	Batch   *store.Batch   // of a crowd step that has begun
}

// mostForeseen is how many items' ends are foreseen for a View.
const mostForeseen = 100_000

// View returns a run as it stands.
func (c *Orchestrator) View(ctx context.Context, tenant crowd.TenantID, id crowd.RunID) (*View, error) {
	r, err := c.still(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	v := &View{Run: r.kept, Flow: r.flow}
	for _, n := range r.nodes {
		x := NodeView{Node: n.Node, Kind: "input", Step: n.step, Expect: n.expect}
		if n.step != nil {
			x.Kind = string(n.step.Kind)
			err = r.fill(ctx, n, &x)
		}
		if err != nil {
			return nil, err
		}
		v.Nodes = append(v.Nodes, x)
	}
	v.Stuck = r.kept.State == store.RunRunning && r.stuck(v)
	if r.flow.SLA != nil && !r.kept.State.Ended() {
		err = c.foretell(ctx, r, v)
	}
	return v, err
}

// foretell fills in what is foreseen, which is looked at only now and then.
func (c *Orchestrator) foretell(ctx context.Context, r *run, v *View) error {
	now := c.now()
	c.told.Lock()
	f, ok := c.told.list[v.ID]
	c.told.Unlock() // of a large run it takes a while, and others look, too
	if !ok || now.Sub(f.at) >= foreseeEvery || now.Before(f.at) {
		if err := r.predict(ctx, v); err != nil {
			return err
		}
		f = foretold{at: now, cost: v.Predicted, going: v.Going}
		c.told.Lock()
		defer c.told.Unlock()
		for id, x := range c.told.list { // runs that nobody looks at any more
			if now.Sub(x.at) > time.Hour {
				delete(c.told.list, id)
			}
		}
		c.told.list[v.ID] = f
	}
	v.Predicted, v.Going = f.cost, f.going
	return nil
}

// foretold is what was foreseen of a run.
type foretold struct {
	at    time.Time
	cost  crowd.Money
	going int64
}

// still makes a picture of a run that does not take part in it.
func (c *Orchestrator) still(ctx context.Context, tenant crowd.TenantID, id crowd.RunID) (*run, error) {
	kept, err := c.cfg.Store.Run(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	nodes, err := c.cfg.Store.Nodes(ctx, id)
	if err != nil {
		return nil, err
	}
	flow, err := c.workflow(ctx, &kept, nodes)
	if err != nil {
		return nil, err
	}
	r := &run{c: c, still: true, kept: kept, flow: flow, plan: flow.Plan(), ctx: ctx}
	r.lay(nodes)
	for _, n := range r.nodes {
		if n.step != nil && n.Served > 0 && n.step.Crowd() == nil {
			n.expect = n.Busy / time.Duration(n.Served)
		}
	}
	r.foresee()
	return r, nil
}

func (r *run) fill(ctx context.Context, n *node, x *NodeView) error {
	taken := int64(0)
	for _, i := range n.joined {
		x.Waiting += max(r.nodes[n.step.From[i].Node].Last-n.Cursors[i], 0)
		taken = max(taken, n.Cursors[i])
	}
	if n.step.MakesItems() {
		for _, s := range n.step.From {
			if n.State != store.NodeDone {
				x.Waiting += r.nodes[s.Node].OK
			}
		}
	} else if n.step.SQL() == nil && n.State != store.NodeDone {
		x.Inside = max(taken-n.Last, 0)
	}
	if n.Node.Batch == 0 {
		return nil
	}
	b, err := r.c.cfg.Store.Batch(ctx, r.kept.Tenant, n.Node.Batch)
	if err != nil {
		return err
	}
	x.Batch = &b
	return nil
}

// stuck says whether all that is left to do waits for a retry.
func (r *run) stuck(v *View) bool {
	held := false
	for i := range v.Nodes {
		n := &v.Nodes[i]
		switch {
		case n.State == store.NodeFailed:
			held = true
		case n.Faults > 0 && n.Faults >= n.Inside:
			held = true
		case n.State == store.NodeRunning && (n.Inside > n.Faults || n.Waiting > 0):
			return false
		}
	}
	return held
}

// predict foresees the ends of the items on their way.
func (r *run) predict(ctx context.Context, v *View) error {
	now := r.c.now()
	ends := make(map[int64]time.Time) // by item, the latest branch
	births := make(map[int64]time.Time)
	for _, n := range r.nodes {
		if n.step == nil || n.State == store.NodeDone {
			continue
		}
		for _, i := range n.joined {
			from := n.step.From[i].Node
			for after := int64(0); len(ends) < mostForeseen; {
				rows, err := r.going(ctx, from, n.Node.Node, after)
				if err != nil {
					return err
				}
				for _, row := range rows {
					after = row.N
					if end := now.Add(n.expect + n.tail); row.State == store.RowOK && end.After(ends[row.Item]) {
						ends[row.Item], births[row.Item] = end, row.Born
					}
				}
				if len(rows) < chunk {
					break
				}
			}
		}
	}
	v.Going = int64(len(ends))
	if !r.flow.SLA.PerItem {
		last := now
		for _, end := range ends {
			if end.After(last) {
				last = end
			}
		}
		if v.Going > 0 {
			v.Predicted = r.flow.SLA.Penalty.At(last.Sub(r.kept.StartedAt))
		}
		return nil
	}
	for item, end := range ends {
		v.Predicted = min(v.Predicted+r.flow.SLA.Penalty.At(end.Sub(births[item])), crowd.MaxMoney)
	}
	return nil
}

// SlowItem is an item that is on its way at a step.
type SlowItem struct {
	Item    int64
	Step    string
	Since   time.Time // it came there
	Born    time.Time
	Ends    time.Time // as foreseen; zero: it is held, so nobody knows
	Penalty crowd.Money
	Why     string // it waits
}

// SlowestItems returns the items that have been on their way for the longest at each
// step, at most limit a step, and why they wait.
func (c *Orchestrator) SlowestItems(ctx context.Context, tenant crowd.TenantID, id crowd.RunID, limit int) ([]SlowItem, error) {
	r, err := c.still(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	now := r.c.now()
	var out []SlowItem
	for _, n := range r.nodes {
		if n.step == nil || n.State == store.NodeDone || r.kept.State.Ended() {
			continue
		}
		held, err := c.cfg.Store.Faults(ctx, id, n.Node.Node, 0, chunk)
		if err != nil {
			return nil, err
		}
		seen := make(map[int64]bool)
		for _, i := range n.joined {
			from := n.step.From[i]
			rows, err := r.going(ctx, from.Node, n.Node.Node, 0)
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
				whole := len(n.joined) < 2
				if !whole {
					if _, whole, err = r.arrivalOf(ctx, n, row.Item); err != nil {
						return nil, err
					}
				}
				s := SlowItem{Item: row.Item, Step: n.Name, Since: row.At, Born: row.Born, Why: r.why(n, i, &row, held, whole)}
				if !slices.ContainsFunc(held, func(f store.Fault) bool { return f.Item == row.Item }) {
					s.Ends = now.Add(n.expect + n.tail)
					if sla := r.flow.SLA; sla != nil && sla.PerItem {
						s.Penalty = sla.Penalty.At(s.Ends.Sub(row.Born))
					}
				}
				out = append(out, s)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y SlowItem) int { return x.Born.Compare(y.Born) })
	return out, nil
}

// why says what an item at a step waits for. whole: it has come through all of its
// branches.
func (r *run) why(n *node, i int, row *store.Row, held []store.Fault, whole bool) string {
	from := n.step.From[i]
	for _, f := range held {
		if f.Item == row.Item {
			return "held after an error: " + f.Error
		}
	}
	switch {
	case r.kept.State == store.RunPaused:
		return "the run is paused"
	case n.State == store.NodeFailed:
		return "the step has failed: " + n.Error
	case from.Edge == workflow.Batch && r.nodes[from.Node].State != store.NodeDone:
		return fmt.Sprintf("for all of %s to be there", from.Name)
	case n.Error != "":
		return n.Error
	case row.N > n.Cursors[i]:
		return "in line before the step"
	case !whole:
		return "for the other branches"
	case n.step.Crowd() != nil:
		return "for people"
	case n.step.Service() != nil:
		return "for the service, or for its next try"
	}
	return "for the query"
}

// Visit is where an item has been.
type Visit struct {
	Step string
	Kind string // as NodeView.Kind
	store.Row
	Columns []string // of Row.Cells
	Held    string   // the error with which the step holds it; there is no row then
	Tries   int
}

// Path returns where an item has been, in the order of the plan.
func (c *Orchestrator) Path(ctx context.Context, tenant crowd.TenantID, id crowd.RunID, item int64) ([]Visit, error) {
	r, err := c.still(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	rows, err := c.cfg.Store.ItemRows(ctx, id, item)
	if err != nil {
		return nil, err
	}
	var out []Visit
	for _, row := range rows {
		n := r.nodes[row.Node]
		s := Visit{Step: n.Name, Kind: n.kind(), Row: row}
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
		list, err := c.cfg.Store.Faults(ctx, id, n.Node.Node, item-1, 1)
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

func (n *node) kind() string {
	if n.step == nil {
		return "input"
	}
	return string(n.step.Kind)
}

// Results is the rows of a node, whole.
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
func (c *Orchestrator) Results(ctx context.Context, tenant crowd.TenantID, id crowd.RunID, name string) (*Results, error) {
	r, err := c.still(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	n, err := r.named(name)
	if err != nil {
		return nil, err
	}
	out := &Results{Node: n.Node}
	var with []int
	for _, col := range n.columns {
		out.Columns = append(out.Columns, col.Column)
		if col.node != n.Node.Node && !slices.Contains(with, col.node) {
			with = append(with, col.node)
		}
	}
	out.Rows = func(yield func(Result, error) bool) {
		for row, err := range c.rows(ctx, id, n.Node.Node, with) {
			if err != nil {
				yield(Result{}, err)
				return
			}
			x := Result{Item: row.Item, State: row.State, Error: row.Error}
			if row.State == store.RowOK {
				x.Cells = pick(n.columns, row)
			}
			if !yield(x, nil) {
				return
			}
		}
	}
	return out, nil
}

// Items lists up to limit rows of a node after number n.
func (c *Orchestrator) Items(ctx context.Context, id crowd.RunID, name string, after int64, limit int) ([]store.JoinedRow, error) {
	nodes, err := c.cfg.Store.Nodes(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if n.Name == name {
			return c.cfg.Store.Rows(ctx, id, n.Node, after, limit, nil)
		}
	}
	return nil, noStep(name)
}
