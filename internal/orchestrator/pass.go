package orchestrator

import (
	"context"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// pass moves every step of a run on by what has come to it, in the order of the
// plan. It returns whether there is more to do at once.
func (r *run) pass(ctx context.Context) (again bool, err error) {
	if r.kept.State != store.RunRunning && !r.doubtful {
		return false, nil
	}
	if err := r.read(ctx); err != nil || r.kept.State != store.RunRunning {
		return false, err
	}
	open := 0
	for _, n := range r.nodes {
		if n.State == store.NodeDone {
			continue
		}
		open++
		if n.State == store.NodeFailed || n.busy || n.step == nil {
			continue
		}
		more, err := r.step(ctx, n)
		if err != nil {
			return false, err
		}
		again = again || more
	}
	reckoned, err := r.reckon(ctx)
	if err != nil {
		return false, err
	}
	if err := r.observe(ctx); err != nil {
		return false, err
	}
	if open > 0 || again || reckoned {
		return again || reckoned, nil
	}
	return false, r.end(ctx, store.RunDone)
}

// step moves one step on.
func (r *run) step(ctx context.Context, n *node) (again bool, err error) {
	switch {
	case n.step.Crowd() != nil:
		return r.people(ctx, n)
	case n.step.Service() != nil:
		return r.serve(ctx, n)
	case n.step.SQL().RowByRow:
		return r.queryEach(ctx, n)
	}
	return false, r.queryAll(ctx, n)
}

// read gets what is kept of the nodes: the logs grow by labels, too. After a
// failure of the store it also gets what is kept of the run: what seemed to fail
// may have been done.
func (r *run) read(ctx context.Context) error {
	if r.doubtful {
		kept, err := r.c.cfg.Store.Run(ctx, 0, r.kept.ID)
		if err != nil {
			return err
		}
		r.kept, r.doubtful = kept, false
		switch {
		case kept.State.Ended():
			r.drop()
			return nil
		case kept.State != store.RunRunning:
			r.rest()
		}
	}
	nodes, err := r.c.cfg.Store.Nodes(ctx, r.kept.ID)
	if err != nil {
		return err
	}
	for i, k := range nodes {
		if k.Batch != r.nodes[i].Batch {
			r.c.own(k.Batch, r.kept.ID)
		}
		r.nodes[i].Node = k
	}
	return nil
}

// later has the run looked at again after a pause. To say it once is enough.
func (r *run) later() {
	now := r.c.now()
	if r.due.After(now) {
		return
	}
	r.due = now.Add(failurePause)
	r.c.later.add(entry{at: r.due, run: r.kept.ID})
}

// sourcesDone says whether no more rows come to a step.
func (r *run) sourcesDone(n *node) bool {
	for _, s := range n.step.From {
		if r.nodes[s.Node].State != store.NodeDone {
			return false
		}
	}
	return true
}

// ended says whether no more rows come to a step, and it has taken all, and holds
// none.
func (r *run) ended(n *node) bool {
	if !r.sourcesDone(n) || n.Faults > 0 {
		return false
	}
	for _, i := range n.joined {
		if n.Cursors[i] < r.nodes[n.step.From[i].Node].Last {
			return false
		}
	}
	return true
}

// advance keeps a move together with what it makes of the nodes.
func (r *run) advance(ctx context.Context, a *store.Advance, nodes ...*node) error {
	for _, n := range nodes {
		if n.State == store.NodeWaiting {
			n.State, n.StartedAt = store.NodeRunning, r.c.now()
		}
		a.Nodes = append(a.Nodes, n.Node)
	}
	if _, err := r.c.cfg.Store.Advance(ctx, a); err != nil {
		return err
	}
	for i := range a.Rows { // as the store has counted
		n := r.nodes[a.Rows[i].Node]
		switch n.Last++; a.Rows[i].State {
		case store.RowOK:
			n.OK++
		case store.RowSkipped:
			n.Skipped++
		default:
			n.Failed++
		}
	}
	for i := range a.Hold {
		r.nodes[a.Hold[i].Node].Faults++
	}
	return nil
}

// keep keeps what has changed of a node.
func (r *run) keep(ctx context.Context, n *node) error {
	return r.advance(ctx, &store.Advance{Run: r.kept.ID}, n)
}

// fail says that a step as a whole cannot go on.
func (r *run) fail(ctx context.Context, n *node, why error) error {
	r.c.cfg.Log.Warn("a step cannot go on", "run", r.kept.ID.String(), "step", n.Name, "err", why)
	n.State, n.Error = store.NodeFailed, userText(why)
	return r.keep(ctx, n)
}

// done says that no more rows come from a step.
func (r *run) done(ctx context.Context, n *node) error {
	n.State, n.Error, n.EndedAt = store.NodeDone, "", r.c.now()
	if n.StartedAt.IsZero() {
		n.StartedAt = n.EndedAt
	}
	if err := r.keep(ctx, n); err != nil {
		return err
	}
	r.c.touch(r.kept.ID)
	return nil
}

// end ends the run.
func (r *run) end(ctx context.Context, state store.RunState) error {
	kept := r.kept
	kept.State, kept.EndedAt = state, r.c.now()
	if s := r.flow.SLA; s != nil && !s.PerItem && state == store.RunDone {
		kept.Penalty = s.Penalty.At(kept.EndedAt.Sub(kept.StartedAt))
	}
	if _, err := r.c.cfg.Store.Advance(ctx, &store.Advance{Run: kept.ID, State: &kept}); err != nil {
		return err
	}
	r.kept = kept
	r.drop()
	return nil
}

// drop takes a run that has ended out of the conductor.
func (r *run) drop() {
	r.stop()
	r.rest()
	delete(r.c.runs, r.kept.ID)
	r.c.in.Lock()
	for _, n := range r.nodes {
		delete(r.c.in.owner, n.Batch)
	}
	r.c.in.Unlock()
}

// rest lets go of what is under way.
func (r *run) rest() {
	for _, n := range r.nodes {
		if n.call != nil {
			n.leave()
		}
		if n.sql != nil && n.sql.stream != nil && !n.busy {
			n.sql.stream.Close()
			n.sql.stream = nil
		}
	}
}

// reckon adds up what items cost that have come to the end of their way.
func (r *run) reckon(ctx context.Context) (again bool, err error) {
	if r.flow.SLA == nil || !r.flow.SLA.PerItem {
		return false, nil
	}
	for _, n := range r.nodes {
		if len(n.ends) == 0 {
			continue
		}
		mark := len(n.step.From)
		if n.Cursors[mark] >= n.Last {
			continue
		}
		with := without(append(slices.Clone(n.ends), n.makers...), n.Node.Node)
		slices.Sort(with)
		rows, err := r.c.cfg.Store.Rows(ctx, r.kept.ID, n.Node.Node, n.Cursors[mark], chunk, slices.Compact(with))
		if err != nil {
			return false, err
		}
		kept, before := r.kept, n.Cursors[mark]
		for i := range rows {
			row := &rows[i]
			n.Cursors[mark] = row.N
			at, last := r.way(n, row)
			if !last {
				continue
			}
			kept.Ended++
			if cost := r.flow.SLA.Penalty.At(at.Sub(row.Born)); cost > 0 {
				kept.Late++
				kept.Penalty = min(kept.Penalty+cost, crowd.MaxMoney)
			}
		}
		if err := r.advance(ctx, &store.Advance{Run: kept.ID, State: &kept}, n); err != nil {
			n.Cursors[mark] = before
			return false, err
		}
		r.kept = kept
		again = again || n.Cursors[mark] < n.Last
	}
	return again, nil
}

// way returns when an item came to the end of its way, if the row is the last
// one there. The way of an item that was made from another one begins where it
// was made.
func (r *run) way(n *node, row *store.JoinedRow) (time.Time, bool) {
	ends := n.ends
	for _, m := range n.makers {
		made := row.With[m]
		if m == n.Node.Node {
			made = row.Row
		}
		if made.Origin != 0 {
			ends = r.nodes[m].reach
			break
		}
	}
	at := row.At
	for _, e := range ends {
		if e == n.Node.Node {
			continue
		}
		other, ok := row.With[e]
		x := r.nodes[e]
		if !ok || other.N > x.Cursors[len(x.step.From)] {
			return at, false
		}
		if other.At.After(at) {
			at = other.At
		}
	}
	return at, true
}

// foreseeEvery is how often expected times are looked at.
const foreseeEvery = 5 * time.Second

// observe looks at how long steps take, and tells the batches what follows from
// it.
func (r *run) observe(ctx context.Context) error {
	if now := r.c.now(); r.flow.SLA == nil || now.Sub(r.foreseen) < foreseeEvery {
		return nil
	} else {
		r.foreseen = now
	}
	for _, n := range r.nodes {
		if n.Batch == 0 || n.step.Crowd().TaskTime <= 0 {
			continue
		}
		b, err := r.c.cfg.Store.Batch(ctx, 0, n.Batch)
		if err != nil {
			return err
		}
		// The step takes as much longer than expected as its single answers do.
		p := b.Progress
		mean := (5*n.step.Crowd().TaskTime + p.Worked) / time.Duration(5+p.Completed)
		n.expect = time.Duration(float64(n.step.Expect) * float64(mean) / float64(n.step.Crowd().TaskTime))
	}
	r.foresee()
	for _, n := range r.nodes {
		if n.Batch == 0 || n.State != store.NodeRunning || !moved(n.told, n.tail) {
			continue
		}
		if err := r.c.cfg.Crowd.SetTail(ctx, n.Batch, n.tail); err != nil {
			return err
		}
		n.told = n.tail
	}
	return nil
}
