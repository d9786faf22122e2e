package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// run is a run that is under way, or a view of one, which takes no part in it.
type run struct {
	o     *Orchestrator
	kept  store.Run
	flow  *workflow.Workflow
	nodes []*node

	ctx  context.Context // of its queries
	stop context.CancelFunc

	moved       int       // bytes that were read in this pass, rowBytes for each row among them
	turn        int       // the node with which the next pass begins: what came before had its turn
	stale       bool      // the store has failed: kept may not be what is kept
	retryAt     time.Time // when it is advanced again without a cause; past: not planned
	pausedUntil time.Time // until then it is not advanced, because something has failed
	failures    int       // of the store, one after the other
	toldQuota   bool      // the log tells that a quota of its tenant is among them
	failed      *node     // where the last pass ended with an error; nil: at no node
	forecastAt  time.Time // when the expected times were last updated
}

// node is a node of a run. What is kept of it is read again in each pass; the rest
// follows from the workflow.
type node struct {
	store.Node
	step        *workflow.Step // nil: an input
	runner      stepRunner     // nil: an input
	columns     []column       // of its rows, with those that are handed on
	inputs      []column       // of a step: those of its joined sources together
	joined      []int          // of its sources, by number, those that are joined by item
	joinedNodes []int          // the nodes whose rows are read along with a source's: every source adds a column
	resultLost  bool           // the last result of its query was not kept: only the next one tells whether that is over
	exits                      // where its items leave the workflow

	path
	people        time.Duration // of a crowd step: of the people's time, for one item
	work          time.Duration // of the people's time, for an item from its row here to the end of its path
	otherBranches time.Duration // from the item's birth to the end of the other branches, if all goes as expected
}

// column is a column of a node's rows, and where its cell lies.
type column struct {
	workflow.Column
	node int // whose own cell it is
	cell int
}

// broken is the error that what is kept of a run makes none.
type broken struct{ error }

// loadRun makes a run of what is kept; nil if it is not under way. flow is its workflow; nil: it
// is read.
func (o *Orchestrator) loadRun(ctx context.Context, id crowd.RunID, flow *workflow.Workflow) (*run, error) {
	kept, err := o.cfg.Store.Run(ctx, 0, id)
	if err != nil || kept.State == store.RunLoading || kept.State.Ended() {
		return nil, err
	}
	nodes, err := o.cfg.Store.Nodes(ctx, id)
	if err != nil {
		return nil, err
	}
	if flow == nil {
		var problems []workflow.Problem
		if flow, problems, err = Parse(ctx, kept.Text, filesOf(nodes), time.Time{}); err != nil {
			return nil, err
		}
		if len(problems) > 0 {
			return nil, &broken{fmt.Errorf("the kept workflow of %s: line %d: %s", id, problems[0].Line, problems[0].Message)}
		}
	}
	if len(nodes) != flow.Nodes() {
		return nil, &broken{fmt.Errorf("%s has %d nodes, its workflow %d", id, len(nodes), flow.Nodes())}
	}
	setDeadline(flow, &kept)
	r := &run{o: o, kept: kept, flow: flow}
	r.ctx, r.stop = context.WithCancel(o.ctx)
	r.buildNodes(nodes)
	for _, n := range r.nodes {
		if n.Batch != 0 {
			o.claimBatch(n.Batch, id)
		}
	}
	return r, nil
}

// claimBatch remembers whose batch it is.
func (o *Orchestrator) claimBatch(b crowd.BatchID, id crowd.RunID) {
	o.inbox.Lock()
	o.inbox.owner[b] = id
	o.inbox.Unlock()
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

// ownColumns returns the columns as a node's own cells.
func ownColumns(node int, list []workflow.Column) []column {
	out := make([]column, len(list))
	for i, c := range list {
		out[i] = column{c, node, i}
	}
	return out
}

// mergeColumns adds the columns that are not there yet, by name: of the same name they
// are the same cell, which the check of the file makes sure of.
func mergeColumns(list, more []column) []column {
	for _, c := range more {
		if !slices.ContainsFunc(list, func(x column) bool { return x.Name == c.Name }) {
			list = append(list, c)
		}
	}
	return list
}

// buildNodes makes the nodes and finds where each column's cells lie.
func (r *run) buildNodes(kept []store.Node) {
	for i, k := range kept {
		n := &node{Node: k}
		r.nodes = append(r.nodes, n)
		if i < len(r.flow.Inputs) {
			n.columns = ownColumns(i, r.flow.Inputs[i].Columns)
			for j := range n.columns { // its cells are as the file has them
				if at := slices.Index(k.Columns, n.columns[j].Name); at >= 0 {
					n.columns[j].cell = at
				}
			}
			continue
		}
		n.step = &r.flow.Steps[i-len(r.flow.Inputs)]
		n.expect = n.step.Expect
		if c := n.step.Crowd(); c != nil {
			n.people = time.Duration(c.Redundancy.Fewest()) * c.TaskTime
		}
		for j, s := range n.step.From {
			if n.step.JoinsItems(s) {
				n.joined = append(n.joined, j)
				n.inputs = mergeColumns(n.inputs, r.nodes[s.Node].columns)
			}
		}
		n.columns = ownColumns(i, n.step.Own)
		if !n.step.Reshapes() {
			n.columns = mergeColumns(slices.Clone(n.inputs), n.columns)
		}
		n.joinedNodes = append(n.joinedNodes, i)
		for _, c := range n.inputs {
			n.joinedNodes = append(n.joinedNodes, c.node)
		}
		slices.Sort(n.joinedNodes)
		n.joinedNodes = slices.Compact(n.joinedNodes)
		n.runner = runners[n.step.Kind](stepBase{run: r, node: n})
	}
	r.findExits()
	r.forecast()
}

// sourcesDone reports whether no more rows come to a step.
func (r *run) sourcesDone(n *node) bool {
	return !slices.ContainsFunc(n.step.From, func(s workflow.Source) bool { return r.nodes[s.Node].State != store.NodeDone })
}

// hasArrivals reports whether rows have come to a step that it can take and has not.
func (r *run) hasArrivals(n *node) bool {
	return slices.ContainsFunc(n.joined, func(i int) bool {
		src := n.step.From[i]
		from := r.nodes[src.Node]
		return (src.Edge != workflow.Batch || from.State == store.NodeDone) && n.Cursors[i] < from.Last
	})
}

// exhausted reports whether no more rows come to a step, and it has taken all, and holds
// none.
func (r *run) exhausted(n *node) bool {
	return r.sourcesDone(n) && n.Faults == 0 &&
		!slices.ContainsFunc(n.joined, func(i int) bool { return n.Cursors[i] < r.nodes[n.step.From[i].Node].Last })
}
