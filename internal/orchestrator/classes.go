package orchestrator

import (
	"context"
	"fmt"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// classifier says of which class of a workflow the items are that begin in a node. An item
// has its class for good: what follows goes by it.
type classifier struct {
	sla     *workflow.SLA
	node    int
	columns []workflow.Column // of the cells, in their order
}

// of returns the class of an item by its cells; nil: it could not be read, and is of the
// last class.
func (c *classifier) of(cells []string) int {
	if c.sla == nil || len(c.sla.Classes) == 0 {
		return 0
	}
	last := len(c.sla.Classes) - 1
	for i := range c.sla.Classes[:last] {
		when := c.sla.Classes[i].When[c.node]
		if when == nil || cells == nil {
			continue
		}
		// A condition that cannot be evaluated does not hold.
		if is, err := holds(when, cells, c.place); err == nil && is {
			return i
		}
	}
	return last
}

func (c *classifier) place(name string) (workflow.Column, int) {
	i := slices.IndexFunc(c.columns, func(x workflow.Column) bool { return x.Name == name })
	if i < 0 {
		return workflow.Column{}, i
	}
	return c.columns[i], i
}

// holds evaluates a condition for the cells of an item. place finds the column of a name and
// its cell; -1: there is none.
func holds(c *condition.Condition, cells []string, place func(name string) (workflow.Column, int)) (bool, error) {
	values := make(map[string]any)
	for _, name := range c.Uses() {
		column, i := place(name.Name)
		if i < 0 {
			return false, crowd.Fieldf(name.Name, "is no column here")
		}
		v, err := parseCell(column, cells[i])
		if err != nil {
			return false, err
		}
		values[name.Name] = v
	}
	return c.Eval(values)
}

// takeOver copies what a run takes over from its parent. The items are of the classes of its
// own workflow, which may be another than the parent's.
func (o *Orchestrator) takeOver(ctx context.Context, run *store.Run, w *workflow.Workflow, nodes []store.Node, over map[int]int) error {
	var classes map[int]func(*store.Row) int
	if w.SLA != nil && w.SLA.Classes != nil {
		var err error
		if w, err = fitted(ctx, run, w, nodes); err != nil {
			return err
		}
		classes = make(map[int]func(*store.Row) int)
		for _, i := range over {
			c := classifier{sla: w.SLA, node: i}
			if i < len(w.Inputs) {
				c.columns = columnsOf(nodes[i].Columns, w.Inputs[i].Columns)
			} else if step := w.Step(i); step.MakesItems() {
				c.columns = step.Own
			} else {
				continue
			}
			classes[i] = func(row *store.Row) int { return c.of(row.Cells) }
		}
	}
	if err := o.cfg.Store.TakeOver(ctx, run.Parent, run.ID, over, classes); err != nil {
		return err
	}
	return o.takeCorrections(ctx, run, nodes, over)
}

// columnsOf returns the columns of a file with their types: what is not declared is text.
func columnsOf(names []string, declared []workflow.Column) []workflow.Column {
	return lists.Map(names, func(name string) workflow.Column {
		if i := slices.IndexFunc(declared, func(c workflow.Column) bool { return c.Name == name }); i >= 0 {
			return declared[i]
		}
		return workflow.Column{Name: name, Type: condition.Text}
	})
}

// count adds an item that has ended to what is kept of the run.
func (r *run) count(kept *store.Run, x *EndedItem) {
	total := store.ClassCount{Ended: kept.Ended, Late: kept.Late, Penalty: kept.Penalty}
	total.Add(x.Penalty)
	kept.Ended, kept.Late, kept.Penalty = total.Ended, total.Late, total.Penalty
	if len(r.flow.SLA.Classes) > 0 {
		for len(kept.Classes) <= x.Class {
			kept.Classes = append(kept.Classes, store.ClassCount{})
		}
		c := &kept.Classes[x.Class]
		c.Add(x.Penalty)
		if x.Failed && x.Penalty == 0 {
			c.Failed++
		}
	}
}

// ClassView is how the promise to a class of items is kept.
type ClassView struct {
	Name string
	store.ClassCount
	Unread int64 // items that are of the class only because their rows could not be read
	Foreseen
}

// Judged counts the items that ended in time or late: of those that failed, and were not
// late, neither is said. Earlier versions counted only those whose rows could not be read.
func (c ClassView) Judged() int64 { return max(c.Ended-max(c.Failed, c.Unread), c.Late) }

// Kept counts the items that ended in time.
func (c ClassView) Kept() int64 { return c.Judged() - c.Late }

// unreadNote tells of the rows that are of the last class since nothing is known of them, which
// its share of items in time is without; "": none are.
func (v *View) unreadNote() string {
	if len(v.Classes) == 0 {
		return ""
	}
	unread := v.Classes[len(v.Classes)-1].Unread
	if unread == 0 {
		return ""
	}
	return fmt.Sprintf("%s could not be read: failed items of the last class, %s", format.Count(int(unread), "row"), v.Classes[len(v.Classes)-1].Name)
}

// classViews are the classes of a run in the order of its file; nil: it has none.
func (r *run) classViews() []ClassView {
	if r.flow.SLA == nil {
		return nil
	}
	list := lists.Map(r.flow.SLA.Classes, func(c workflow.Class) ClassView { return ClassView{Name: c.Name} })
	for i := range list {
		if i < len(r.kept.Classes) {
			list[i].ClassCount = r.kept.Classes[i]
		}
	}
	for i := range r.nodes {
		if n := r.nodes[i]; n.step == nil && len(list) > 0 {
			list[len(list)-1].Unread += n.Failed
		}
	}
	return list
}
