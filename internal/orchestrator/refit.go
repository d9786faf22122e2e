package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// maxMisfits is how many cells are listed that keep a run from going on from another one.
const maxMisfits = 10

// fitted is the workflow of a run that is getting its inputs, with the columns of those that
// are there; w if it does not fit them, which the start of the run refuses.
func fitted(ctx context.Context, run *store.Run, w *workflow.Workflow, nodes []store.Node) (*workflow.Workflow, error) {
	files := make(map[string][]string)
	for i := range w.Inputs {
		files[nodes[i].Name] = nodes[i].Columns // nil: not loaded yet
	}
	fits, problems, err := Parse(ctx, run.Text, files, time.Time{})
	if err != nil || len(problems) == 0 {
		return fits, err
	}
	return w, nil
}

// refit is what a run goes on with: its workflow and nodes, and its parent's.
type refit struct {
	run, parent   *store.Run
	before, after *workflow.Workflow
	old, nodes    []store.Node
}

// settled returns the nodes of the run to which no item comes that the parent's had not dealt
// with: they have all their rows from it.
func (x *refit) settled() map[int]bool {
	redone, settled := redoneFrom(x.after, x.run.From, x.nodes), make(map[int]bool)
	for i := range x.nodes {
		j := slices.IndexFunc(x.old, func(n store.Node) bool { return n.Name == x.nodes[i].Name })
		if j < 0 || redone[i] || x.old[j].State != store.NodeDone {
			continue
		}
		is, was := x.after.Step(i), x.before.Step(j)
		switch {
		case is == nil:
			settled[i] = was == nil && !x.nodes[i].Open
		case was != nil:
			settled[i] = !slices.ContainsFunc(is.From, func(s workflow.Source) bool {
				return !settled[s.Node] || !slices.ContainsFunc(was.From, func(before workflow.Source) bool { return before.Name == s.Name })
			})
		}
	}
	return settled
}

// checkCells refuses to take over rows with a cell that is no value of the type that its
// column has now, as a file with such a cell would have a row that fails. Only columns whose
// type is another one than before are read. Over maps the parent's nodes to the run's.
func (o *Orchestrator) checkCells(ctx context.Context, x *refit, over map[int]int) error {
	var wrong crowd.Errors
	for j := range x.old {
		i, taken := over[j]
		if !taken {
			continue
		}
		columns := x.retyped(j, i)
		if columns == nil {
			continue
		}
		log := store.Log{Store: o.cfg.Store, Run: x.run.Parent, Node: j}
		for row, err := range log.After(ctx, 0) {
			if err != nil {
				return err
			}
			if row.State != store.RowOK || len(row.Cells) != len(columns) {
				continue
			}
			if e := misfitIn(columns, row.Cells); e != nil {
				wrong = append(wrong, crowd.Fieldf("parent", "item %d of %s in %s: %s %s; %s", row.Item, x.old[j].Name, x.run.Parent, e.Field, e.Message, x.remedy(i, e.Field)))
			}
			if len(wrong) == maxMisfits {
				return wrong
			}
		}
	}
	return wrong.Err()
}

// retyped returns the columns of the rows of the parent's node j, with the types that they
// have in node i of the run, those of the same type as before as texts, which every cell is;
// nil: all are.
func (x *refit) retyped(j, i int) []workflow.Column {
	was, is := cellColumns(x.before, j, x.old[j].Columns), cellColumns(x.after, i, x.nodes[i].Columns)
	if len(was) != len(is) {
		return nil
	}
	columns := lists.Map(was, func(c workflow.Column) workflow.Column { return workflow.Column{Name: c.Name, Type: condition.Text} })
	changed := false
	for k := range is {
		if is[k].Type != was[k].Type {
			columns[k].Type, changed = is[k].Type, true
		}
	}
	if !changed {
		return nil
	}
	return columns
}

// remedy says what would be right for a run whose node i would take over a cell of a column
// that does not fit.
func (x *refit) remedy(i int, column string) string {
	if step := x.after.Step(i); step != nil {
		return fmt.Sprintf("start from %s, or from a step before it", step.Name)
	}
	return fmt.Sprintf("declare %s as %s again, or make a run that does not go on from %s, with a file that fits", column, x.typeBefore(i, column), x.run.Parent)
}

// typeBefore is the type that a column of an input had in the parent.
func (x *refit) typeBefore(i int, column string) string {
	j := slices.IndexFunc(x.old, func(n store.Node) bool { return n.Name == x.nodes[i].Name })
	columns := cellColumns(x.before, j, x.old[j].Columns)
	return string(columns[slices.IndexFunc(columns, func(c workflow.Column) bool { return c.Name == column })].Type)
}

// cellColumns are the columns of the cells of a node's rows; loaded are those of its file, if
// it is an input.
func cellColumns(w *workflow.Workflow, node int, loaded []string) []workflow.Column {
	if step := w.Step(node); step != nil {
		return step.Own
	}
	return columnsOf(loaded, w.Inputs[node].Columns)
}
