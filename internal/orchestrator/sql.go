package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/sqlstep"
)

// newSQLRunner makes the runner of an SQL step: over all rows, or row by row.
func newSQLRunner(b stepBase) stepRunner {
	q := sqlBase{stepBase: b, query: b.node.step.SQL()}
	if q.query.RowByRow {
		return &rowQueryRunner{sqlBase: q}
	}
	return &tableQueryRunner{sqlBase: q}
}

// sqlBase is what both runners of SQL steps have.
type sqlBase struct {
	stepBase
	query *workflow.SQL
	busy  bool // a query is under way
}

func (s *sqlBase) waitsFor() string { return "for the query" }

func (s *sqlBase) limits() sqlstep.Limits {
	return sqlstep.Limits{Time: s.query.Time, Rows: s.query.Rows, Given: s.node.Text}
}

// runQuery runs f without the lock when it is the query's turn, and what it returns
// under the lock, in the next Step. The context of f is done when the turn is over.
func (s *sqlBase) runQuery(f func(turn context.Context) func(context.Context)) {
	s.busy = true
	o, key, waited := s.run.o, s.run.key(s.node), false
	before := o.waitOf(key) // as its last result was not kept: that is over when this one is
	o.cfg.Query(Query{
		Ctx: s.run.ctx, Tenant: s.run.kept.Tenant, Time: cmp.Or(s.query.Time, sqlstep.DefaultTime),
		Wait: func(w Wait) {
			waited = true
			what := "the query waits: "
			if w.Kind == ForTurn {
				what = "the query waits for its turn: "
			}
			o.setWait(key, Wait{w.Kind, what + w.Why})
		},
		Do: func(turn context.Context) {
			if waited {
				o.setWait(key, before)
			}
			o.deliver(f(turn))
		},
	})
}

// storeError is a failure of the store during a query, which is not the query's.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// isAbandoned reports whether the result of a query is not wanted any more: the
// run has ended, or the server stops.
func (r *run) isAbandoned(ctx context.Context) bool {
	return r.o.runs[r.kept.ID] != r || r.ctx.Err() != nil || ctx.Err() != nil
}

// keepResult keeps the result of a query that has ended, by save; err is how it ended.
// What is kept is read again first if it may be stale.
func (s *sqlBase) keepResult(ctx context.Context, err error, save func() error) error {
	r := s.run
	if r.stale {
		wrong := r.refresh(ctx)
		if wrong == nil && r.isAbandoned(ctx) {
			wrong = crowd.Errorf(crowd.Conflict, "%s is %s", r.kept.ID, r.kept.State)
		}
		if wrong != nil {
			err = &storeError{wrong}
		}
	}
	s.noteResult()
	switch {
	case err == nil:
		err = save()
	case !errors.As(err, new(*storeError)):
		err = r.failStep(ctx, s.node, err)
	}
	if err != nil {
		if ctx.Err() == nil {
			r.tellPause("the result of a query cannot be kept", err)
		}
		r.pauseAfter(err, s.node)
		s.node.resultLost = true
		return err
	}
	r.o.markDirty(r.kept.ID)
	return nil
}

// noteResult ends what is noted of a result that was not kept: there is another one, or none is
// wanted any more.
func (s *sqlBase) noteResult() {
	if s.node.resultLost {
		s.node.resultLost = false
		s.run.o.setWait(s.run.key(s.node), Wait{})
	}
}

// tableQueryRunner runs a query that needs all rows once, when the step's sources
// have ended. A query that was cut off is repeated, and the rows that are kept
// already are passed over: the same query over the same rows gives the same rows
// in the same order.
type tableQueryRunner struct{ sqlBase }

func (s *tableQueryRunner) advance(ctx context.Context) (more bool, err error) {
	r, n := s.run, s.node
	if s.busy || !r.sourcesDone(n) {
		return false, nil
	}
	if n.State == store.NodeWaiting {
		n.State, n.StartedAt = store.NodeRunning, r.o.now()
		if err := r.saveNode(ctx, n); err != nil {
			return false, err
		}
	}
	inputs := lists.Map(n.step.From, func(from workflow.Source) sqlstep.Table { return r.table(from.Node) })
	q := tableQuery{o: r.o, run: r.kept.ID, runCtx: r.ctx, keptRows: n.Last, text: s.query.Query, class: classifier{r.flow.SLA, n.Node.Node, n.step.Own}, inputs: inputs, limits: s.limits()}
	s.runQuery(func(turn context.Context) func(context.Context) {
		began := r.o.now()
		err := q.do(turn)
		took := r.o.now().Sub(began)
		return func(ctx context.Context) {
			s.busy = false
			if r.isAbandoned(ctx) {
				return
			}
			_ = s.keepResult(ctx, err, func() error { // which has logged it, and retries
				n.Served, n.Busy = 1, took
				return r.finishStep(ctx, n)
			})
		}
	})
	return false, nil
}

// tableQuery is a query over all rows. It is done without the orchestrator's lock,
// so it has what it needs of its run and its node by itself.
type tableQuery struct {
	o        *Orchestrator
	run      crowd.RunID
	runCtx   context.Context // in which its rows are kept
	keptRows int64           // the first rows, which are kept already
	text     string
	class    classifier // of its items, by the columns of the result
	inputs   []sqlstep.Table
	limits   sqlstep.Limits
}

// do runs the query during its turn, and keeps its rows after those that are kept
// already.
func (q *tableQuery) do(turn context.Context) error {
	if turn.Err() != nil { // while it waited for its turn
		return context.Cause(turn)
	}
	chunks := store.Chunks[store.Row]{Keep: q.keep}
	given := int64(0)
	for cells, err := range sqlstep.Run(turn, q.text, q.inputs, q.limits) {
		if err != nil {
			return err
		}
		if given++; given <= q.keptRows {
			continue
		}
		if wrong := misfitIn(q.class.columns, cells); wrong != nil {
			return crowd.Errorf(crowd.Invalid, "row %d of the result: %s", given, wrong)
		}
		now := q.o.now()
		row := store.Row{Node: q.class.node, Born: now, Class: q.class.of(cells), At: now, State: store.RowOK, Cells: slices.Clone(cells)}
		if err := chunks.Add(row, cells); err != nil {
			return err
		}
	}
	return chunks.Flush()
}

// keep keeps rows of the result.
func (q *tableQuery) keep(rows []store.Row) error {
	_, err := q.o.cfg.Store.Advance(q.runCtx, &store.Advance{Run: q.run, Rows: rows})
	q.o.markDirty(q.run)
	if err != nil {
		return &storeError{err}
	}
	return nil
}

// retryHeld does nothing: a query over all rows holds no item. A failed step runs
// again in the next pass.
func (s *tableQueryRunner) retryHeld(context.Context) (items int, err error) { return 0, nil }

// table returns a node's rows as an input of a query.
func (r *run) table(node int) sqlstep.Table {
	from := r.nodes[node]
	t := sqlstep.Table{Name: from.Name}
	for _, c := range from.columns {
		t.Columns = append(t.Columns, sqlstep.Column{Name: c.Name, Kind: sqlstep.Kind(c.Type)})
	}
	id, columns, o, ctx := r.kept.ID, from.columns, r.o, r.ctx
	with := from.foreignNodes()
	t.Rows = func(yield func([]string, error) bool) {
		for row, err := range o.rows(ctx, id, node, with) {
			if err != nil {
				yield(nil, &storeError{err})
				return
			}
			if row.State == store.RowOK && !yield(cellsOf(columns, &row), nil) {
				return
			}
		}
	}
	return t
}

// foreignNodes lists the other nodes whose cells the node's rows hand on.
func (n *node) foreignNodes() []int {
	var list []int
	for _, c := range n.columns {
		if c.node != n.Node.Node && !slices.Contains(list, c.node) {
			list = append(list, c.node)
		}
	}
	return list
}

// rows yields a node's log in order.
func (o *Orchestrator) rows(ctx context.Context, id crowd.RunID, node int, with []int) iter.Seq2[store.JoinedRow, error] {
	log := store.Log{Store: o.cfg.Store, Run: id, Node: node, With: with}
	return log.After(ctx, 0)
}
