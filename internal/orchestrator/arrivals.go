package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// chunkRows is the most rows that a step takes in one transaction. They are fewer if
// they have more than store.PageBytes of text.
const chunkRows = store.ChunkRows

const (
	rowBytes = 512 // as much text takes as long as a row with none
	passRows = store.PageBytes / rowBytes
	fewNodes = 8 // whose rows are read along at once
)

// arrival is an item that has come to a step.
type arrival struct {
	item, origin int64
	source       int   // from which it came last, by number
	n            int64 // of its row there
	born         time.Time
	class        int
	state        store.RowState
	err          string     // if failed
	cells        []string   // by the node's inputs; nil unless ok
	rows         [][]string // of a step that reshapes: by joined source, nil where the item did not come through it
}

// intake is what a step takes in one move.
type intake struct {
	list    []arrival
	cursors []int64
	moved   bool // a cursor has
	more    bool // there is more to take
}

// takeArrivals reads what has come to a step since its cursors. Items that the
// step has dealt with before are passed over: a run that goes on from another one
// begins with its rows.
func (r *run) takeArrivals(ctx context.Context, n *node) (intake, error) {
	t := intake{cursors: slices.Clone(n.Cursors)}
	for _, i := range n.joined {
		src := n.step.From[i]
		from := r.nodes[src.Node]
		if src.Edge == workflow.Batch && from.State != store.NodeDone || t.cursors[i] >= from.Last {
			continue
		}
		if len(t.list) >= chunkRows || r.moved >= store.PageBytes {
			t.more = true
			break
		}
		others := lists.Map(without(n.joined, i), func(j int) gate { return gate{n.step.From[j].Node, t.cursors[j]} })
		rows, err := r.read(ctx, store.Log{Node: src.Node, With: without(n.joinedNodes, src.Node)}, t.cursors[i], chunkRows-len(t.list), others)
		if err != nil {
			return t, err
		}
		for k := range rows {
			row := &rows[k]
			t.cursors[i], t.moved = row.N, true
			if _, dealtWith := row.With[n.Node.Node]; dealtWith || !passed(row, others) {
				continue
			}
			t.list = append(t.list, r.assemble(n, i, row))
		}
		t.more = t.more || t.cursors[i] < from.Last
	}
	return t, nil
}

func without(list []int, x int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(y int) bool { return x == y })
}

// gate is a node that an item has passed when its row there was taken.
type gate struct {
	node int
	last int64 // of its rows, that was taken
}

// passed reports whether the item of a row has passed all gates.
func passed(row *store.JoinedRow, gates []gate) bool {
	return !slices.ContainsFunc(gates, func(g gate) bool {
		other, ok := row.With[g.node]
		return !ok || other.N > g.last
	})
}

// read reads up to limit rows of a log after number n, but no more than are good for
// one pass. If no item has passed the gate that is farthest behind of a way, for each of
// the ways, the rows come without those of the other nodes.
func (r *run) read(ctx context.Context, log store.Log, n int64, limit int, ways ...[]gate) ([]store.JoinedRow, error) {
	with, first := log.With, []gate(nil)
	if len(with) > fewNodes && !slices.ContainsFunc(ways, func(way []gate) bool { return len(way) == 0 }) {
		first = slices.Compact(lists.Map(ways, func(way []gate) gate {
			return slices.MinFunc(way, func(x, y gate) int { return cmp.Compare(x.last, y.last) })
		}))
		with = lists.Map(first, func(g gate) int { return g.node })
	}
	for {
		rows, err := r.o.cfg.Store.Rows(ctx, r.kept.ID, log.Node, n, min(limit, max(passRows/(1+len(with)), 1)), with)
		for i := range rows {
			r.moved += store.TextBytes(rows[i].Cells) + rowBytes
			for _, x := range rows[i].With {
				r.moved += store.TextBytes(x.Cells) + rowBytes
			}
		}
		if err != nil || !slices.ContainsFunc(first, func(g gate) bool {
			return slices.ContainsFunc(rows, func(row store.JoinedRow) bool { return passed(&row, []gate{g}) })
		}) {
			return rows, err
		}
		with, first = log.With, nil
	}
}

// assemble puts together what an item brings from all sources; i is the number of
// the source that the row is of.
func (r *run) assemble(n *node, i int, row *store.JoinedRow) arrival {
	a := arrival{item: row.Item, origin: row.Origin, source: i, n: row.N, born: row.Born, class: row.Class, state: store.RowSkipped}
	sourceRow := func(j int) store.Row {
		if j == i {
			return row.Row
		}
		return row.With[n.step.From[j].Node]
	}
	ok := 0
	for _, j := range n.joined {
		switch sourceRow(j).State {
		case store.RowOK:
			ok++
		case store.RowFailed:
			a.state, a.err = store.RowFailed, "it failed before, at "+r.nodes[n.step.From[j].Node].Name
		case store.RowSkipped:
			if a.state == store.RowSkipped {
				a.err = "it was skipped before, at " + r.nodes[n.step.From[j].Node].Name
			}
		}
	}
	if a.state == store.RowFailed || ok == 0 || ok < len(n.joined) && n.step.Join == workflow.JoinAll {
		return a
	}
	a.state, a.err = store.RowOK, ""
	a.cells = cellsOf(n.inputs, row)
	if n.mayMultiply() {
		for _, j := range n.joined {
			var cells []string
			if sourceRow(j).State == store.RowOK {
				cells = cellsOf(r.nodes[n.step.From[j].Node].columns, row)
			}
			a.rows = append(a.rows, cells)
		}
	}
	return a
}

// cellsOf returns the cells of columns, wherever they are kept. A branch that the
// item did not take leaves its cells empty.
func cellsOf(columns []column, row *store.JoinedRow) []string {
	cells := make([]string, len(columns))
	for i, c := range columns {
		own := row.Cells
		if c.node != row.Node {
			own = row.With[c.node].Cells
		}
		if c.cell < len(own) {
			cells[i] = own[c.cell]
		}
	}
	return cells
}

// findArrival finds what an item has brought to a step; false if it has not come
// through all of its sources yet.
func (r *run) findArrival(ctx context.Context, n *node, item int64) (arrival, bool, error) {
	rows, err := r.o.cfg.Store.ItemRows(ctx, r.kept.ID, item)
	if err != nil {
		return arrival{}, false, err
	}
	byNode := make(map[int]store.Row)
	for _, row := range rows {
		if row.Item == item {
			byNode[row.Node] = row
		}
	}
	i := -1
	for _, j := range n.joined {
		row, ok := byNode[n.step.From[j].Node]
		if !ok || row.N > n.Cursors[j] {
			return arrival{}, false, nil
		}
		i = j
	}
	return r.assemble(n, i, &store.JoinedRow{Row: byNode[n.step.From[i].Node], With: byNode}), true, nil
}

// filter adds to a change the rows of the items that the step has nothing to do
// with, and returns the others.
func (n *node) filter(list []arrival, c *change) (items []arrival) {
	for i := range list {
		x := &list[i]
		switch x.state {
		case store.RowFailed:
			c.fail(n, x, x.err)
			continue
		case store.RowSkipped:
			c.skip(n, x, x.err)
			continue
		}
		switch holds, err := n.conditionHolds(x.cells); {
		case err != nil:
			c.reject(n, x, 1, "when: "+err.Error())
		case !holds:
			c.skip(n, x, "its condition did not hold")
		default:
			items = append(items, *x)
		}
	}
	return items
}

// conditionHolds evaluates the step's condition for the cells of an item.
func (n *node) conditionHolds(cells []string) (bool, error) {
	if n.step.When == nil {
		return true, nil
	}
	return holds(n.step.When, cells, func(name string) (workflow.Column, int) {
		i := slices.IndexFunc(n.inputs, func(x column) bool { return x.Name == name })
		if i < 0 {
			return workflow.Column{}, i
		}
		return n.inputs[i].Column, i
	})
}

// parseCell returns a cell as its column's type. An empty number is one that is
// not known, an empty bool is false.
func parseCell(c workflow.Column, cell string) (any, error) {
	v, ok := c.Type.Value(cell)
	switch {
	case !ok:
		return nil, misfit(c, cell)
	case v == nil && c.Type == condition.Number:
		return condition.NotKnown(), nil
	case v == nil:
		return false, nil
	}
	return v, nil
}

// misfit is the error of a cell that is no value of its column's type.
func misfit(c workflow.Column, cell string) *crowd.Error {
	return crowd.Fieldf(c.Name, "%s %q", c.Type.Misfit(), format.Clip(cell, 40))
}

// misfitIn is the error of the first cell that is no value of its column's type, or nil.
func misfitIn(columns []workflow.Column, cells []string) *crowd.Error {
	for i, c := range columns {
		if _, ok := c.Type.Value(cells[i]); !ok {
			return misfit(c, cells[i])
		}
	}
	return nil
}

// setCursors moves the cursors on by what was taken.
func (n *node) setCursors(t *intake) { copy(n.Cursors[:len(n.step.From)], t.cursors) }

// eachHeldChunk calls f with the items that a step holds after an error, some at a
// time: the faults, and what the items had brought. f releases them.
func (r *run) eachHeldChunk(ctx context.Context, n *node, f func([]arrival, []store.Fault) error) error {
	for after := int64(0); ; {
		list, faults, err := r.heldItems(ctx, n, after)
		if err != nil || len(faults) == 0 {
			return err
		}
		after = faults[len(faults)-1].Item
		if err := f(list, faults); err != nil {
			return err
		}
	}
}

// heldItems returns some items above number after that a step holds, as many as make
// a chunk.
func (r *run) heldItems(ctx context.Context, n *node, after int64) ([]arrival, []store.Fault, error) {
	faults, err := r.o.cfg.Store.Faults(ctx, r.kept.ID, n.Node.Node, after, chunkRows)
	if err != nil {
		return nil, nil, err
	}
	var list []arrival
	bytes := 0
	for i, f := range faults {
		if bytes >= store.PageBytes {
			return list, faults[:i], nil
		}
		a, ok, err := r.findArrival(ctx, n, f.Item)
		if err == nil && !ok { // cannot be: it was taken
			err = errNotArrived(f.Item, n)
		}
		if err != nil {
			return nil, nil, err
		}
		list = append(list, a)
		bytes += store.TextBytes(a.cells)
	}
	return list, faults, nil
}

func errNotArrived(item int64, n *node) error {
	return fmt.Errorf("item %d has not come to %s", item, n.Name)
}
