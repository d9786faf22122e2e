package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/sla"
)

// run is a run that is under way.
type run struct {
	c     *Orchestrator
	kept  store.Run
	flow  *workflow.Workflow
	nodes []*node
	plan  *sla.Plan // over the steps
	still bool      // a picture of the run, which takes no part in it

	ctx  context.Context // of what is done for it beside
	stop context.CancelFunc

	doubtful bool      // the store has failed: kept may not be what is kept
	due      time.Time // when it is looked at by itself; past: not
	rests    time.Time // until then it is not looked at, for something has failed
	foreseen time.Time // when the expected times were last looked at
}

// node is a node of a run. What is kept of it is read anew in each pass; the rest
// follows from the workflow, or is under way.
type node struct {
	store.Node
	step    *workflow.Step // nil: an input
	columns []column       // of its rows, whole
	in      []column       // of a step: those of its joined sources together
	with    []int          // the nodes whose rows are read along with a source's
	ends    []int          // the nodes at which its items' ways end, if that is one of them
	makers  []int          // of such a node: those that may have made its items of others, in order
	reach   []int          // of a maker: the ends of the ways of what it makes
	whole   string         // of a maker: a step that waits for the item by another way, too
	joined  []int          // of its sources, by number, those that are joined by item

	busy   bool   // a query is under way
	anew   bool   // held items of a row-by-row query are tried again,
	tried  int64  // those up to this item have been
	round  int    // what a row-by-row query gives that began in another one is dropped
	left   uint32 // up to this task of its ended batch each has its label or row
	call   *service
	sql    *query
	labels map[key][]string // paid for in the run that this one goes on from, by content of the task; nil: not looked up

	expect time.Duration // for one item
	tail   time.Duration // from the item's row here to the end of its way
	side   time.Duration // from the item's birth to the end of the other branches, if all goes as expected
	told   time.Duration // the tail that the batch was told
}

// column is a column of a node's rows, and where its cell lies.
type column struct {
	workflow.Column
	node int // whose own cell it is
	cell int
}

// broken says that what is kept of a run makes none.
type broken struct{ error }

// open makes a run of what is kept; nil if it is not under way.
func (c *Orchestrator) open(ctx context.Context, id crowd.RunID) (*run, error) {
	kept, err := c.cfg.Store.Run(ctx, 0, id)
	if err != nil || kept.State == store.RunLoading || kept.State.Ended() {
		return nil, err
	}
	nodes, err := c.cfg.Store.Nodes(ctx, id)
	if err != nil {
		return nil, err
	}
	flow, problems := Parse(ctx, kept.Text, filesOf(nodes), time.Time{})
	if len(problems) > 0 {
		return nil, &broken{fmt.Errorf("the kept workflow of %s: line %d: %s", id, problems[0].Line, problems[0].Message)}
	}
	if len(nodes) != flow.Nodes() {
		return nil, &broken{fmt.Errorf("%s has %d nodes, its workflow %d", id, len(nodes), flow.Nodes())}
	}
	since(flow, &kept)
	r := &run{c: c, kept: kept, flow: flow, plan: flow.Plan()}
	r.ctx, r.stop = context.WithCancel(c.ctx)
	r.lay(nodes)
	for _, n := range r.nodes {
		if n.Batch != 0 {
			c.own(n.Batch, id)
		}
	}
	return r, nil
}

// own remembers whose batch it is.
func (c *Orchestrator) own(b crowd.BatchID, id crowd.RunID) {
	c.in.Lock()
	c.in.owner[b] = id
	c.in.Unlock()
}

// filesOf returns the columns of a run's inputs.
func filesOf(nodes []store.Node) map[string][]string {
	files := make(map[string][]string)
	for _, n := range nodes {
		if n.Columns != nil {
			files[n.Name] = n.Columns
		}
	}
	return files
}

// lay makes the nodes and finds where each column's cells lie.
func (r *run) lay(kept []store.Node) {
	for i, k := range kept {
		n := &node{Node: k}
		r.nodes = append(r.nodes, n)
		if i < len(r.flow.Inputs) {
			n.columns = own(i, r.flow.Inputs[i].Columns)
			for j := range n.columns { // its cells are as the file has them
				if at := slices.Index(k.Columns, n.columns[j].Name); at >= 0 {
					n.columns[j].cell = at
				}
			}
			continue
		}
		n.step = &r.flow.Steps[i-len(r.flow.Inputs)]
		n.expect = n.step.Expect
		for j, s := range n.step.From {
			if n.step.SQL() == nil || (n.step.SQL().RowByRow && s.Edge == workflow.Stream) {
				n.joined = append(n.joined, j)
				n.in = union(n.in, r.nodes[s.Node].columns)
			}
		}
		n.columns = own(i, n.step.Own)
		if n.step.SQL() == nil {
			n.columns = union(slices.Clone(n.in), n.columns)
		}
		n.with = append(n.with, i)
		for _, c := range n.in {
			n.with = append(n.with, c.node)
		}
		for _, s := range n.step.From {
			n.with = append(n.with, s.Node)
		}
		slices.Sort(n.with)
		n.with = slices.Compact(n.with)
		switch {
		case n.step.Service() != nil && !r.still:
			n.call = r.newService(n)
		case n.step.SQL() != nil:
			n.sql = &query{}
		}
	}
	r.findEnds()
	r.foresee()
}

// own returns the columns as a node's own cells.
func own(node int, list []workflow.Column) []column {
	out := make([]column, len(list))
	for i, c := range list {
		out[i] = column{c, node, i}
	}
	return out
}

// union adds the columns that are not there yet, by name: of the same name they
// are the same cell, which the check of the file makes sure of.
func union(list, more []column) []column {
	for _, c := range more {
		if !slices.ContainsFunc(list, func(x column) bool { return x.Name == c.Name }) {
			list = append(list, c)
		}
	}
	return list
}

// byItem lists the nodes that hand on n's items: its joined consumers.
func (r *run) byItem(n *node) []*node {
	var list []*node
	for _, x := range r.nodes {
		for _, j := range x.joined {
			if x.step.From[j].Node == n.Node.Node && !x.step.MakesItems() {
				list = append(list, x)
				break
			}
		}
	}
	return list
}

// findEnds finds where the ways of items end: at nodes that hand them on to
// nobody. Nodes that are joined by hand-overs of items share their ends.
func (r *run) findEnds() {
	region := make([]int, len(r.nodes))
	for i := range region {
		region[i] = i
	}
	for i, n := range r.nodes {
		for _, x := range r.byItem(n) {
			from, to := region[i], region[x.Node.Node]
			for j := range region {
				if region[j] == to {
					region[j] = from
				}
			}
		}
	}
	for i, n := range r.nodes {
		if !r.isEnd(n) {
			continue
		}
		for j, x := range r.nodes {
			if region[j] == region[i] && r.isEnd(x) {
				n.ends = append(n.ends, j)
			}
			if region[j] == region[i] && x.maker() {
				n.makers = append(n.makers, j)
			}
		}
	}
	for _, m := range r.nodes {
		if m.maker() {
			r.follow(m)
		}
	}
}

// maker says whether a node may make several items of one.
func (n *node) maker() bool { return n.sql != nil && !n.step.MakesItems() }

// follow finds where the items go that a node makes. A step that they reach only
// by some of its sources would wait for the others in vain.
func (r *run) follow(m *node) {
	there := make([]bool, len(r.nodes))
	there[m.Node.Node] = true
	for i, x := range r.nodes {
		by := 0
		for _, j := range x.joined {
			if there[x.step.From[j].Node] {
				by++
			}
		}
		there[i] = there[i] || by > 0
		if there[i] && r.isEnd(x) {
			m.reach = append(m.reach, i)
		}
		if x != m && by > 0 && by < len(x.joined) {
			m.whole = x.Name
		}
	}
}

// isEnd says whether ways of items end at a node. An item that is made there has
// none.
func (r *run) isEnd(n *node) bool {
	return n.step != nil && !n.step.MakesItems() && len(r.byItem(n)) == 0
}

// foresee looks at how long steps take, and what follows from it for the items
// before them.
func (r *run) foresee() {
	first := len(r.flow.Inputs)
	expect := make([]time.Duration, len(r.flow.Steps))
	for i := range expect {
		expect[i] = r.nodes[first+i].expect
	}
	tails := r.plan.Tails(expect)
	heads := make([]time.Duration, len(expect)) // from the start to the end of each step
	before := make([]map[int]bool, len(expect)) // what lies before each step
	for i := range expect {
		before[i] = map[int]bool{}
		for _, j := range r.plan.After(i) {
			heads[i] = max(heads[i], heads[j])
			before[i][j] = true
			for k := range before[j] {
				before[i][k] = true
			}
		}
		heads[i] += expect[i]
	}
	for i := range expect {
		n := r.nodes[first+i]
		n.tail, n.side = tails[i], 0
		for j := range expect {
			if i != j && !before[i][j] && !before[j][i] {
				n.side = max(n.side, heads[j]+tails[j])
			}
		}
	}
}

// request is the item's place in a line before a limited resource.
func (r *run) request(n *node, born, since time.Time) sla.Request {
	q := sla.Request{Since: since, Start: born, Tail: n.tail}
	if r.flow.SLA != nil && r.flow.SLA.PerItem {
		q.Penalty = &r.flow.SLA.Penalty
	} else if r.flow.SLA != nil {
		q.Penalty, q.Start = &r.flow.SLA.Penalty, r.kept.StartedAt
	}
	if n.side > 0 {
		q.Bound = q.Start.Add(n.side)
	}
	return q
}

// values are the cells that a condition looks at, as it wants them.
func values(c *condition.Condition, in []column, cells []string) (map[string]any, error) {
	out := make(map[string]any)
	for _, name := range c.Uses() {
		i := slices.IndexFunc(in, func(x column) bool { return x.Name == name.Name })
		if i < 0 {
			return nil, crowd.Fieldf(name.Name, "is no column here")
		}
		v, err := typed(in[i].Column, cells[i])
		if err != nil {
			return nil, err
		}
		out[name.Name] = v
	}
	return out, nil
}
