package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/sqlstep"
)

// maxMade is about how many rows a query gives before they are kept.
const maxMade = 20_000

// maxTurn is about how long a query goes on before it gives its turn to others.
const maxTurn = 5 * time.Second

// maxIdle is how many bytes the streams that are open for further items hold
// together while no query runs in them.
const maxIdle = 256 << 20

// rowQueryRunner runs a query for each item by itself.
type rowQueryRunner struct {
	sqlBase
	stream    *sqlstep.Stream // nil: not opened
	retrying  bool            // held items are tried again …
	retriedTo int64           // … and those up to this item have been
	round     int             // results of a query that began in another round are dropped
}

func (s *rowQueryRunner) closeStream() {
	s.takeStream()
	if s.stream != nil {
		s.stream.Close()
		s.stream = nil
	}
}

// takeStream takes the stream off those that are idle.
func (s *rowQueryRunner) takeStream() {
	o := s.run.o
	o.streams = slices.DeleteFunc(o.streams, func(x *rowQueryRunner) bool { return x == s })
}

// keepStream leaves the stream open for further items. Those that are idle for the
// longest are closed where all of them hold too much; they are opened again when items come.
func (s *rowQueryRunner) keepStream(stream *sqlstep.Stream) {
	o := s.run.o
	if s.stream = stream; stream == nil {
		return
	}
	o.streams = append(o.streams, s)
	held := int64(0)
	for _, x := range o.streams {
		held += x.stream.Held()
	}
	for held > maxIdle && len(o.streams) > 1 {
		held -= o.streams[0].stream.Held()
		o.streams[0].closeStream()
	}
}

func (s *rowQueryRunner) release() {
	if !s.busy {
		s.closeStream()
	}
}

// retryHeld leaves the held items to the next passes: a query may be under way.
func (s *rowQueryRunner) retryHeld(context.Context) (items int, err error) {
	s.retrying, s.retriedTo = s.node.Faults > 0, 0
	return int(s.node.Faults), nil
}

func (s *rowQueryRunner) dropRetries() {
	s.round++ // a query under way may be about them
	s.retrying = false
}

func (s *rowQueryRunner) advance(ctx context.Context) (more bool, err error) {
	r, n := s.run, s.node
	if s.busy {
		return false, nil
	}
	for j, from := range n.step.From {
		if !slices.Contains(n.joined, j) && r.nodes[from.Node].State != store.NodeDone {
			return false, nil // a table in which each row is looked up
		}
	}
	if s.retrying {
		return s.retryChunk(ctx)
	}
	t, err := r.takeArrivals(ctx, n)
	if err != nil {
		return false, err
	}
	if t.moved {
		err = s.queryItems(ctx, &t, nil)
		return !s.busy, err // if no item needed the query, the step may be done
	}
	if r.exhausted(n) {
		s.closeStream()
		return false, r.finishStep(ctx, n)
	}
	s.noteResult()
	return false, nil
}

// retryChunk runs the query again for some of the held items.
func (s *rowQueryRunner) retryChunk(ctx context.Context) (more bool, err error) {
	list, faults, err := s.run.heldItems(ctx, s.node, s.retriedTo)
	if err != nil {
		return false, err
	}
	if s.retrying = len(faults) > 0; !s.retrying {
		return true, nil
	}
	s.retriedTo = faults[len(faults)-1].Item
	err = s.queryItems(ctx, &intake{list: list, cursors: slices.Clone(s.node.Cursors)}, faults)
	return !s.busy, err
}

// tables returns the step's sources as inputs of its query.
func (s *rowQueryRunner) tables() (static, streamed []sqlstep.Table) {
	for j, from := range s.node.step.From {
		if slices.Contains(s.node.joined, j) {
			streamed = append(streamed, s.run.table(from.Node))
		} else {
			static = append(static, s.run.table(from.Node))
		}
	}
	return static, streamed
}

// queryResult is what a query gave for one item.
type queryResult struct {
	rows [][]string
	err  error
}

// queryItems runs the query for each item that was taken. If it gives very many
// rows, only the first items are dealt with.
//
// It is long as the three parts, in the run, aside and in the run again, share what they know
// of the round, and stand in the order in which they run.
func (s *rowQueryRunner) queryItems(ctx context.Context, t *intake, release []store.Fault) error {
	r, n := s.run, s.node
	c := r.newChange()
	c.Release = release
	items := n.filter(t.list, c)
	if len(items) == 0 {
		n.setCursors(t)
		return r.commit(ctx, c, n)
	}
	static, streamed := s.tables()
	s.takeStream()
	round := s.round
	stream, columns, limits := s.stream, n.step.Own, s.limits()
	s.runQuery(func(turn context.Context) func(context.Context) {
		began := r.o.now()
		err := r.ctx.Err() // it may have waited for its turn
		if stream != nil {
			stream.SetGiven(limits.Given) // not all that it gave was kept
		} else if err == nil {
			stream, err = sqlstep.Open(turn, s.query.Query, static, streamed, limits)
		}
		var results []queryResult
		made, bytes := 0, 0
		enough := func() bool {
			return made >= maxMade || bytes >= store.PageBytes || len(results) > 0 && r.o.now().Sub(began) >= maxTurn
		}
		for err == nil && len(results) < len(items) && !enough() {
			rows, wrong := stream.Row(turn, items[len(results)].rows)
			if turn.Err() != nil && len(results) > 0 {
				break // the next turn begins with this item
			}
			for i := 0; wrong == nil && i < len(rows); i++ {
				bytes += store.TextBytes(rows[i])
				if e := misfitIn(columns, rows[i]); e != nil {
					wrong = e
				}
			}
			results = append(results, queryResult{slices.Clone(rows), wrong}) // the stream uses its list again
			made += len(rows)
			err = r.ctx.Err()
		}
		took := r.o.now().Sub(began)
		return func(ctx context.Context) {
			s.busy = false
			s.keepStream(stream)
			if r.isAbandoned(ctx) {
				s.closeStream()
				return
			}
			err := s.keepResult(ctx, err, func() error {
				if round != s.round { // what is not given up is taken again
					return nil
				}
				if done := len(results); done < len(items) {
					s.retriedTo = min(s.retriedTo, items[done-1].item) // less: Retry was called since
					s.putOff(c, t, items[done:])
				}
				n.setCursors(t)
				return s.saveResults(ctx, items[:len(results)], results, c, took)
			})
			if err != nil {
				s.retriedTo = 0
			}
		}
	})
	return nil
}

// putOff leaves the last items of a change to the next one: the first of them is the
// next that is taken, and those that were held are held on.
func (s *rowQueryRunner) putOff(c *change, t *intake, items []arrival) {
	c.Release = slices.DeleteFunc(c.Release, func(f store.Fault) bool {
		return slices.ContainsFunc(items, func(x arrival) bool { return x.item == f.Item })
	})
	next, i := items[0].n, items[0].source
	copy(t.cursors[i:], s.node.Cursors[i:])
	t.cursors[i] = max(t.cursors[i], next-1) // an item that was held was taken before
}

// became begins what the row of an item says that was split. Runs that are kept have it.
const became = "it became "

// wasSplit reports whether a query made several items of the one that a row of it is of.
func wasSplit(row store.Row) bool {
	return row.State == store.RowSkipped && strings.HasPrefix(row.Error, became)
}

// saveResults keeps what a query gave for each item. One row is the item's own; of
// several each is a new item, and the one that they were made from goes no
// further.
func (s *rowQueryRunner) saveResults(ctx context.Context, items []arrival, results []queryResult, c *change, took time.Duration) error {
	n := s.node
	c.at = s.run.o.now()
	for i := range items {
		x, got := &items[i], results[i]
		switch {
		case got.err != nil:
			c.reject(n, x, 1, messageOf(got.err))
		case len(got.rows) > 1 && n.otherJoin != "":
			c.reject(n, x, 1, fmt.Sprintf("the query gave %d rows for one item, but %s waits for it by another path, too, where there is only one: give at most one row, or join both paths in the query", len(got.rows), n.otherJoin))
		case len(got.rows) == 1:
			c.add(n, x, store.RowOK, got.rows[0])
			n.Text += int64(store.TextBytes(got.rows[0]))
		case len(got.rows) == 0:
			c.skip(n, x, "the query gave no row")
		default:
			c.skip(n, x, became+format.Count(len(got.rows), "item"))
			for _, cells := range got.rows {
				c.addMade(n, x, cells)
				n.Text += int64(store.TextBytes(cells))
			}
		}
	}
	n.Served += int64(len(items))
	n.Busy += took
	if n.Served > 0 {
		n.expect = n.Busy / time.Duration(n.Served)
	}
	return s.run.commit(ctx, c, n)
}
