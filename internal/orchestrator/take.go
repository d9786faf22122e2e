package orchestrator

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// chunk is the most rows that a step takes in one transaction.
const chunk = 1000

// arrival is an item that has come to a step.
type arrival struct {
	item, origin int64
	n            int64 // of its row in the source from which it came last
	from         int   // that source, by number
	born         time.Time
	state        store.RowState
	err          string     // if failed
	cells        []string   // by the step's in; nil unless ok
	rows         [][]string // of an SQL step: by joined source, nil where the item did not come through it
}

// row makes the item's row at the step.
func (a *arrival) row(n *node, now time.Time, state store.RowState, cells []string) store.Row {
	return store.Row{Node: n.Node.Node, Item: a.item, Origin: a.origin, Born: a.born, At: now, State: state, Cells: cells}
}

// failed makes the item's row at the step when it cannot go on.
func (a *arrival) failed(n *node, now time.Time, why string) store.Row {
	row := a.row(n, now, store.RowFailed, nil)
	row.Error = why
	return row
}

// taking is what a step takes in one move.
type taking struct {
	list    []arrival
	cursors []int64
	moved   bool // a cursor has
	more    bool // there is more to take
}

// take reads what has come to a step since its cursors. Items that the step has
// dealt with before are passed over: a run that goes on from another one begins
// with its rows.
func (r *run) take(ctx context.Context, n *node) (taking, error) {
	t := taking{cursors: slices.Clone(n.Cursors)}
	for _, i := range n.joined {
		src := n.step.From[i]
		from := r.nodes[src.Node]
		if src.Edge == workflow.Batch && from.State != store.NodeDone || t.cursors[i] >= from.Last {
			continue
		}
		if len(t.list) >= chunk {
			t.more = true
			break
		}
		rows, err := r.c.cfg.Store.Rows(ctx, r.kept.ID, src.Node, t.cursors[i], chunk-len(t.list), without(n.with, src.Node))
		if err != nil {
			return t, err
		}
		for k := range rows {
			row := &rows[k]
			t.cursors[i], t.moved = row.N, true
			if _, did := row.With[n.Node.Node]; did || !arrived(n, i, row, t.cursors) {
				continue
			}
			t.list = append(t.list, r.arrive(n, i, row))
		}
		t.more = t.more || t.cursors[i] < from.Last
	}
	return t, nil
}

func without(list []int, x int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(y int) bool { return x == y })
}

// arrived says whether the row is the last of its item: the other sources have
// handed it on, and it was taken from them.
func arrived(n *node, i int, row *store.JoinedRow, cursors []int64) bool {
	for _, j := range n.joined {
		if j == i {
			continue
		}
		other, ok := row.With[n.step.From[j].Node]
		if !ok || other.N > cursors[j] {
			return false
		}
	}
	return true
}

// arrive puts together what an item brings from all sources.
func (r *run) arrive(n *node, i int, row *store.JoinedRow) arrival {
	a := arrival{item: row.Item, origin: row.Origin, n: row.N, from: i, born: row.Born}
	ok, failed := 0, 0
	at := func(j int) *store.Row {
		if j == i {
			return &row.Row
		}
		x := row.With[n.step.From[j].Node]
		return &x
	}
	for _, j := range n.joined {
		switch x := at(j); x.State {
		case store.RowOK:
			ok++
		case store.RowFailed:
			failed++
			a.err = "it failed before, at " + r.nodes[n.step.From[j].Node].Name
		}
	}
	switch {
	case failed > 0:
		a.state = store.RowFailed
	case ok == len(n.joined), ok > 0 && n.step.Join != workflow.JoinAll:
		a.state = store.RowOK
	default:
		a.state = store.RowSkipped
	}
	if a.state != store.RowOK {
		return a
	}
	a.cells = pick(n.in, row)
	if n.step.SQL() != nil {
		for _, j := range n.joined {
			var cells []string
			if at(j).State == store.RowOK {
				cells = pick(r.nodes[n.step.From[j].Node].columns, row)
			}
			a.rows = append(a.rows, cells)
		}
	}
	return a
}

// pick gets the cells of columns, wherever they lie. A branch that the item did
// not take leaves its cells empty.
func pick(columns []column, row *store.JoinedRow) []string {
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

// sift deals with the items that the step has nothing to do with, and returns
// the others.
func (r *run) sift(n *node, t *taking, now time.Time) (todo []arrival, rows []store.Row, faults []store.Fault) {
	for i := range t.list {
		a := &t.list[i]
		switch {
		case a.state == store.RowFailed:
			rows = append(rows, a.failed(n, now, a.err))
			continue
		case a.state == store.RowSkipped:
			rows = append(rows, a.row(n, now, store.RowSkipped, nil))
			continue
		}
		holds := true
		var err error
		if n.step.When != nil {
			var env map[string]any
			if env, err = values(n.step.When, n.in, a.cells); err == nil {
				holds, err = n.step.When.Eval(env)
			}
		}
		switch {
		case err != nil:
			r.fault(n, a, now, 1, "when: "+conditionText(err), &rows, &faults)
		case !holds:
			rows = append(rows, a.row(n, now, store.RowSkipped, nil))
		default:
			todo = append(todo, *a)
		}
	}
	return todo, rows, faults
}

// conditionText is why a condition could not be looked at: it is about the item.
func conditionText(err error) string {
	var known *crowd.Error
	if errors.As(err, &known) {
		return known.Error()
	}
	return err.Error()
}

// fault holds an item that the step cannot deal with, or gives it up, as the
// step says.
func (r *run) fault(n *node, a *arrival, now time.Time, tries int, why string, rows *[]store.Row, faults *[]store.Fault) {
	if n.step.OnError == workflow.Drop {
		*rows = append(*rows, a.failed(n, now, why))
		return
	}
	*faults = append(*faults, store.Fault{Node: n.Node.Node, Item: a.item, N: a.n, At: now, Tries: tries, Error: why})
}

// typed is a cell as its column's type. An empty number is one that is not known,
// an empty bool is false.
func typed(c workflow.Column, cell string) (any, error) {
	switch text := strings.TrimSpace(cell); c.Type {
	case condition.Number:
		if text == "" {
			return condition.NotKnown(), nil
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, crowd.Fieldf(c.Name, "%q is not a number", text)
		}
		return f, nil
	case condition.Bool:
		switch strings.ToLower(text) {
		case "true", "1", "yes":
			return true, nil
		case "false", "0", "no", "":
			return false, nil
		}
		return nil, crowd.Fieldf(c.Name, "%q is neither true nor false", text)
	}
	return cell, nil
}

// took moves the cursors on by what was taken.
func (n *node) took(t *taking) { copy(n.Cursors[:len(n.step.From)], t.cursors) }
