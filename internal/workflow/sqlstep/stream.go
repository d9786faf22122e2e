package sqlstep

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
)

type execer = driver.StmtExecContext

// Stream answers a query item by item. The static inputs are loaded once; each
// streamed one holds the row of one item at a time, or none. It is for one
// goroutine at a time.
type Stream struct {
	e       *engine
	shape   Shape
	sink    *sink
	watch   *watch
	stmt    execer
	inserts []*inserter
	deletes []execer
	filled  []bool
	closers []func() error
	rows    [][]string
	before  int64 // bytes of text that came before rows
	broken  error
}

// Open loads the static inputs, and makes ready for the rows of the streamed
// ones. A query that needs all rows is refused with the *Error of what needs them.
func Open(ctx context.Context, query string, static, stream []Table, limits Limits) (_ *Stream, err error) {
	limits = limits.orDefault()
	names := lists.Map(stream, func(t Table) string { return t.Name })
	e, err := open(append(append([]Table(nil), static...), stream...), limits)
	if err != nil {
		return nil, err
	}
	s := &Stream{e: e, watch: newWatch(e), filled: make([]bool, len(stream))}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	q, err := e.compile(query, names)
	if err != nil {
		return nil, err
	}
	if s.shape = q.shape; !s.shape.RowByRow {
		return nil, q.needs
	}
	for _, t := range static {
		if err := e.load(ctx, t); err != nil {
			return nil, err
		}
		if err := e.index(t, q.text); err != nil {
			return nil, err
		}
	}
	for _, t := range stream {
		in, err := e.inserter(t)
		if err != nil {
			return nil, fmt.Errorf("open stream: %w", err)
		}
		s.inserts, s.closers = append(s.inserts, in), append(s.closers, in.closing)
		del, closing, err := e.prepare("delete from " + quote(t.Name))
		if err != nil {
			return nil, fmt.Errorf("open stream: %w", err)
		}
		s.deletes, s.closers = append(s.deletes, del), append(s.closers, closing)
	}
	s.sink = newSink(e, s.shape)
	s.sink.take = func(row []string) error {
		s.rows = append(s.rows, row)
		if int64(len(s.rows)*(24+16*len(row)))+s.sink.text-s.before > limits.Memory { // a slice of texts
			return memoryError(limits.Memory)
		}
		return nil
	}
	e.inner = true // the query was compiled without it; what follows is compiled once more at most
	stmt, err := e.conn.PrepareContext(ctx, around(q.text, s.sink))
	if err != nil {
		return nil, fmt.Errorf("open stream: %w", err)
	}
	s.stmt, s.closers = stmt.(execer), append(s.closers, stmt.Close)
	return s, nil
}

// Shape returns what comes out.
func (s *Stream) Shape() Shape { return s.shape }

// Held returns how many bytes it holds, most of them of the static inputs.
func (s *Stream) Held() int64 { return s.e.memory.used.Load() }

// SetGiven says how many bytes of text of the step's result are kept. Text that comes
// counts from there: see Limits.Given.
func (s *Stream) SetGiven(bytes int64) { s.sink.text = bytes }

// Row answers the query for one item. rows[i] is the row of the i-th streamed
// input, nil if it has none for this item. An error about a limit or a value is
// of this item only: the next one may follow.
func (s *Stream) Row(ctx context.Context, rows [][]string) ([][]string, error) {
	if s.broken != nil {
		return nil, s.broken
	}
	if len(rows) != len(s.inserts) {
		return nil, fmt.Errorf("answer query: there are %d rows for %d streamed inputs", len(rows), len(s.inserts))
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("answer query: %w", context.Cause(ctx))
	}
	for i, row := range rows {
		if s.filled[i] {
			if _, err := s.deletes[i].ExecContext(context.Background(), nil); err != nil {
				s.broken = fmt.Errorf("clear input %s: %w", s.inserts[i].table.Name, err)
				return nil, s.broken
			}
			s.filled[i] = false
		}
		if row != nil {
			if err := s.inserts[i].add(row, 0); err != nil {
				return nil, err
			}
			s.filled[i] = true
		}
	}
	s.rows, s.before, s.sink.n, s.sink.err = nil, s.sink.text, 0, nil
	if err := s.e.step(ctx, s.watch, s.stmt, s.sink); err != nil {
		s.sink.text = s.before
		return nil, err
	}
	return s.rows, nil
}

// Close frees the memory.
func (s *Stream) Close() error {
	if s.broken == errClosed {
		return nil
	}
	s.broken = errClosed
	if s.sink != nil {
		s.sink.close()
	}
	errs := lists.Map(s.closers, func(f func() error) error { return f() })
	s.e.close()
	return errors.Join(errs...)
}

var errClosed = crowd.Errorf(crowd.Conflict, "the stream is closed")

// step runs a prepared statement under the watch.
func (e *engine) step(ctx context.Context, w *watch, stmt execer, s *sink) error {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	w.begin(stop)
	_, err := stmt.ExecContext(inner, nil)
	w.end()
	if s.err != nil {
		err = s.err
	}
	return e.limitError(ctx, w, err)
}
