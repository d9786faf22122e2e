package orchestrator

import (
	"context"
	"time"

	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// change is what one move of a run adds to what is kept, in one transaction.
type change struct {
	store.Advance
	at time.Time // of all that it adds
}

func (r *run) newChange() *change {
	return &change{Advance: store.Advance{Run: r.kept.ID}, at: r.o.now()}
}

// add adds an item's row at a node.
func (c *change) add(n *node, x *arrival, state store.RowState, cells []string) {
	c.Rows = append(c.Rows, store.Row{Node: n.Node.Node, Item: x.item, Origin: x.origin, Born: x.born, Class: x.class, At: c.at, State: state, Cells: cells})
}

// addMade adds a row that was made of an item: it is a new item.
func (c *change) addMade(n *node, x *arrival, cells []string) {
	c.Rows = append(c.Rows, store.Row{Node: n.Node.Node, Origin: x.item, Born: x.born, Class: x.class, At: c.at, State: store.RowOK, Cells: cells})
}

// fail adds an item's row at a node when the item cannot go on.
func (c *change) fail(n *node, x *arrival, why string) {
	c.add(n, x, store.RowFailed, nil)
	c.Rows[len(c.Rows)-1].Error = why
}

// skip adds an item's row at a node that it passes by.
func (c *change) skip(n *node, x *arrival, why string) {
	c.add(n, x, store.RowSkipped, nil)
	c.Rows[len(c.Rows)-1].Error = why
}

// reject holds an item that the step cannot deal with, or lets it go on as failed,
// as the step says.
func (c *change) reject(n *node, x *arrival, tries int, why string) {
	if n.step.OnError == workflow.Drop {
		c.fail(n, x, why)
		return
	}
	c.Hold = append(c.Hold, store.Fault{Node: n.Node.Node, Item: x.item, N: x.n, At: c.at, Tries: tries, Error: why})
}

// commit keeps a change together with what it makes of the nodes.
func (r *run) commit(ctx context.Context, c *change, nodes ...*node) error {
	for _, n := range nodes {
		if n.State == store.NodeWaiting {
			n.State, n.StartedAt = store.NodeRunning, c.at
		}
		c.Nodes = append(c.Nodes, n.Node)
	}
	if _, err := r.o.cfg.Store.Advance(ctx, &c.Advance); err != nil {
		return err
	}
	if r.failures > 0 {
		r.noteKept()
	}
	for i := range c.Rows { // as the store has counted
		r.nodes[c.Rows[i].Node].Count(c.Rows[i].State)
	}
	for i := range c.Hold {
		r.nodes[c.Hold[i].Node].Faults++
	}
	return nil
}

// commitState keeps a new state of the run.
func (r *run) commitState(ctx context.Context, kept store.Run, nodes ...*node) error {
	c := r.newChange()
	c.State = &kept
	if err := r.commit(ctx, c, nodes...); err != nil {
		return err
	}
	r.kept = kept
	return nil
}

// saveNode keeps what has changed of a node.
func (r *run) saveNode(ctx context.Context, n *node) error { return r.commit(ctx, r.newChange(), n) }

// failStep keeps that a step as a whole cannot go on.
func (r *run) failStep(ctx context.Context, n *node, why error) error {
	r.o.cfg.Log.Warn("a step cannot go on", "run", r.kept.ID.String(), "step", n.Name, "err", why)
	n.State, n.Error = store.NodeFailed, messageOf(why)
	return r.saveNode(ctx, n)
}

// finishStep keeps that no more rows come from a step.
func (r *run) finishStep(ctx context.Context, n *node) error {
	n.State, n.Error, n.EndedAt = store.NodeDone, "", r.o.now()
	if n.StartedAt.IsZero() {
		n.StartedAt = n.EndedAt
	}
	if err := r.saveNode(ctx, n); err != nil {
		return err
	}
	r.o.markDirty(r.kept.ID)
	return nil
}

// finish ends the run.
func (r *run) finish(ctx context.Context, state store.RunState) error {
	kept := r.kept
	kept.State, kept.EndedAt = state, r.o.now()
	kept.RedoDue = r.flow.Redo && state == store.RunDone
	if s := r.flow.SLA; s != nil && !s.PerItem && state == store.RunDone {
		kept.Penalty = s.Penalty.At(kept.EndedAt.Sub(kept.StartedAt))
	}
	if err := r.commitState(ctx, kept); err != nil {
		return err
	}
	r.remove()
	r.redoIfDue()
	return nil
}

// redoIfDue has it looked at whether the run, which has ended, is done anew.
func (r *run) redoIfDue() {
	if r.kept.RedoDue {
		r.o.redoLater(r.kept.ID, r.o.now())
	}
}
