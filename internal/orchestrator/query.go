package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/sqlstep"
)

// query is what is under way at an SQL step.
type query struct {
	stream *sqlstep.Stream // of a step that works row by row, once it has begun
}

func (n *node) limits() sqlstep.Limits {
	return sqlstep.Limits{Time: n.step.SQL().Time, Rows: n.step.SQL().Rows}
}

// queryAll moves a step on whose query needs all rows: when its sources have
// ended, it is run once. A run that was cut off is repeated, and the rows that
// are there already are passed over: the same query over the same rows gives
// the same rows in the same order.
func (r *run) queryAll(ctx context.Context, n *node) error {
	if !r.sourcesDone(n) {
		return nil
	}
	if n.State == store.NodeWaiting {
		n.State, n.StartedAt = store.NodeRunning, r.c.now()
		if err := r.keep(ctx, n); err != nil {
			return err
		}
	}
	job := &fullQuery{
		c: r.c, run: r.kept.ID, node: n.Node.Node, kept: n.Last, text: n.step.SQL().Query, limits: n.limits(),
	}
	for _, s := range n.step.From {
		job.inputs = append(job.inputs, r.table(s.Node))
	}
	n.busy = true
	r.c.beside(func() func(context.Context) {
		began := r.c.now()
		err := job.do(r.ctx)
		return func(ctx context.Context) { r.queried(ctx, n, err, r.c.now().Sub(began)) }
	})
	return nil
}

// queried takes in how a query over all rows ended.
func (r *run) queried(ctx context.Context, n *node, err error, took time.Duration) {
	n.busy = false
	if r.gone(ctx) {
		return
	}
	if wrong := r.sure(ctx); wrong != nil {
		err = &notKept{wrong}
	}
	switch {
	case err == nil:
		n.Served, n.Busy = 1, took
		err = r.done(ctx, n)
	case errors.As(err, new(*notKept)):
	default:
		err = r.fail(ctx, n, err)
	}
	if err != nil {
		r.c.cfg.Log.Error("how a query ended cannot be kept", "run", r.kept.ID.String(), "err", err)
		r.doubtful = true
		r.later()
		return
	}
	r.c.touch(r.kept.ID)
}

// gone says that what was done beside is not wanted any more: the run has ended,
// or the server does.
func (r *run) gone(ctx context.Context) bool {
	return r.c.runs[r.kept.ID] != r || r.ctx.Err() != nil || ctx.Err() != nil
}

// sure reads what is kept if that is in doubt, before something is added to it.
func (r *run) sure(ctx context.Context) error {
	if !r.doubtful {
		return nil
	}
	err := r.read(ctx)
	if err == nil && r.gone(ctx) {
		err = crowd.Errorf(crowd.Conflict, "%s is %s", r.kept.ID, r.kept.State)
	}
	return err
}

// notKept is the store's failure, which is not the query's.
type notKept struct{ error }

func (e *notKept) Unwrap() error { return e.error }

// fullQuery is a query over all rows, on its way beside the conductor.
type fullQuery struct {
	c      *Orchestrator
	run    crowd.RunID
	node   int
	kept   int64 // rows that are there already
	text   string
	inputs []sqlstep.Table
	limits sqlstep.Limits
}

func (q *fullQuery) do(ctx context.Context) error {
	var rows []store.Row
	flush := func() error {
		if len(rows) == 0 {
			return nil
		}
		_, err := q.c.cfg.Store.Advance(ctx, &store.Advance{Run: q.run, Rows: rows})
		rows = rows[:0]
		q.c.touch(q.run)
		if err != nil {
			return &notKept{err}
		}
		return nil
	}
	n := int64(0)
	for cells, err := range sqlstep.Run(ctx, q.text, q.inputs, q.limits) {
		if err != nil {
			return err
		}
		if n++; n <= q.kept {
			continue
		}
		now := q.c.now()
		rows = append(rows, store.Row{Node: q.node, Born: now, At: now, State: store.RowOK, Cells: slices.Clone(cells)})
		if len(rows) == chunk {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// table is a node's rows as an input of a query.
func (r *run) table(node int) sqlstep.Table {
	from := r.nodes[node]
	t := sqlstep.Table{Name: from.Name}
	var with []int
	for _, c := range from.columns {
		t.Columns = append(t.Columns, sqlstep.Column{Name: c.Name, Kind: sqlstep.Kind(c.Type)})
		if c.node != node && !slices.Contains(with, c.node) {
			with = append(with, c.node)
		}
	}
	id, columns, c, ctx := r.kept.ID, from.columns, r.c, r.ctx
	t.Rows = func(yield func([]string, error) bool) {
		for row, err := range c.rows(ctx, id, node, with) {
			if err != nil {
				yield(nil, &notKept{err})
				return
			}
			if row.State == store.RowOK && !yield(pick(columns, row), nil) {
				return
			}
		}
	}
	return t
}

// rows yields a node's log in order.
func (c *Orchestrator) rows(ctx context.Context, id crowd.RunID, node int, with []int) iter.Seq2[*store.JoinedRow, error] {
	return func(yield func(*store.JoinedRow, error) bool) {
		for after := int64(0); ; {
			rows, err := c.cfg.Store.Rows(ctx, id, node, after, chunk, with)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range rows {
				after = rows[i].N
				if !yield(&rows[i], nil) {
					return
				}
			}
			if len(rows) < chunk {
				return
			}
		}
	}
}

// queryEach moves a step on that works row by row.
func (r *run) queryEach(ctx context.Context, n *node) (again bool, err error) {
	for j, s := range n.step.From {
		if !slices.Contains(n.joined, j) && r.nodes[s.Node].State != store.NodeDone {
			return false, nil // a table that each row is looked up in
		}
	}
	if n.anew {
		return r.eachHeld(ctx, n)
	}
	t, err := r.take(ctx, n)
	if err != nil {
		return false, err
	}
	if !t.moved {
		if r.ended(n) {
			if n.sql.stream != nil {
				n.sql.stream.Close()
				n.sql.stream = nil
			}
			return false, r.done(ctx, n)
		}
		return false, nil
	}
	err = r.each(ctx, n, &t, nil)
	return !n.busy, err // if there was nothing to ask, the step may be done
}

// eachHeld has the query done anew for items that are held, some at a time.
func (r *run) eachHeld(ctx context.Context, n *node) (again bool, err error) {
	faults, list, err := r.held(ctx, n, n.tried)
	if err != nil {
		return false, err
	}
	if n.anew = len(faults) > 0; !n.anew {
		return true, nil
	}
	n.tried = faults[len(faults)-1].Item
	t := taking{list: list, cursors: slices.Clone(n.Cursors)}
	err = r.each(ctx, n, &t, faults)
	return !n.busy, err
}

// mostMade is about how many rows a query gives before they are kept.
const mostMade = 20_000

// each has the query done for each item that was taken. If it gives very many
// rows, only the first items are dealt with.
func (r *run) each(ctx context.Context, n *node, t *taking, release []store.Fault) error {
	todo, rows, faults := r.sift(n, t, r.c.now())
	a := &store.Advance{Run: r.kept.ID, Rows: rows, Hold: faults, Release: release}
	if len(todo) == 0 {
		n.took(t)
		return r.advance(ctx, a, n)
	}
	var static, stream []sqlstep.Table
	if n.sql.stream == nil {
		for j, s := range n.step.From {
			if slices.Contains(n.joined, j) {
				stream = append(stream, r.table(s.Node))
			} else {
				static = append(static, r.table(s.Node))
			}
		}
	}
	n.busy = true
	round := n.round
	r.c.beside(func() func(context.Context) {
		began := r.c.now()
		s, err := n.sql.stream, error(nil)
		if s == nil {
			s, err = sqlstep.Open(r.ctx, n.step.SQL().Query, static, stream, n.limits())
		}
		var results []result
		for made := 0; err == nil && len(results) < len(todo) && made < mostMade; {
			given, wrong := s.Row(r.ctx, todo[len(results)].rows)
			results = append(results, result{slices.Clone(given), wrong}) // the stream uses its list again
			made += len(given)
			err = r.ctx.Err()
		}
		took := r.c.now().Sub(began)
		return func(ctx context.Context) {
			n.busy = false
			if r.gone(ctx) {
				if s != nil {
					s.Close()
				}
				return
			}
			n.sql.stream = s
			if wrong := r.sure(ctx); wrong != nil {
				err = &notKept{wrong}
			}
			switch {
			case errors.As(err, new(*notKept)):
			case err != nil:
				err = r.fail(ctx, n, err)
			case round != n.round: // what is not given up is taken again
			case len(results) < len(todo):
				r.only(n, todo[:len(results)], todo[len(results):], a)
				err = r.gave(ctx, n, todo[:len(results)], results, a, took)
			default:
				n.took(t)
				err = r.gave(ctx, n, todo, results, a, took)
			}
			if err != nil {
				r.c.cfg.Log.Error("a query's rows cannot be kept", "run", r.kept.ID.String(), "err", err)
				r.doubtful, n.tried = true, 0
				r.later()
				return
			}
			r.c.touch(r.kept.ID)
		}
	})
	return nil
}

// only makes a move one of the first items: the cursors stay, and when the items
// are taken again, those that have their rows then are passed over.
func (r *run) only(n *node, done, rest []arrival, a *store.Advance) {
	a.Release = slices.DeleteFunc(a.Release, func(f store.Fault) bool {
		return slices.ContainsFunc(rest, func(x arrival) bool { return x.item == f.Item })
	})
	n.tried = done[len(done)-1].item
}

// result is what a query gave for one item.
type result struct {
	rows [][]string
	err  error
}

// gave keeps what a query gave for each item. One row is the item's own; of
// several each is a new item, and the one that they were made from goes no
// further.
func (r *run) gave(ctx context.Context, n *node, todo []arrival, results []result, a *store.Advance, took time.Duration) error {
	now := r.c.now()
	for i := range todo {
		x, got := &todo[i], results[i]
		switch {
		case got.err != nil:
			r.fault(n, x, now, 1, userText(got.err), &a.Rows, &a.Hold)
		case len(got.rows) > 1 && n.whole != "":
			why := fmt.Sprintf("the query gave %d rows for one item, but %s waits for it by another way, too, where there is only one: give at most one row, or join both ways in the query", len(got.rows), n.whole)
			r.fault(n, x, now, 1, why, &a.Rows, &a.Hold)
		case len(got.rows) == 1:
			a.Rows = append(a.Rows, x.row(n, now, store.RowOK, got.rows[0]))
		default:
			a.Rows = append(a.Rows, x.row(n, now, store.RowSkipped, nil))
			for _, cells := range got.rows {
				made := x.row(n, now, store.RowOK, cells)
				made.Item, made.Origin = 0, x.item
				a.Rows = append(a.Rows, made)
			}
		}
	}
	n.Served += int64(len(todo))
	n.Busy += took
	if n.Served > 0 {
		n.expect = n.Busy / time.Duration(n.Served)
	}
	return r.advance(ctx, a, n)
}
