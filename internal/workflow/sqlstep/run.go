package sqlstep

import (
	"context"
	"fmt"
	"iter"
)

// Run answers a query over all rows of the inputs, and gives the rows of the
// result one by one. The inputs are read first, before the first row comes out.
// An error, which is the last thing to come, is an *Error about the query, a
// *crowd.Error about a limit or a value, what reading an input gave, or the
// cause of the end of ctx. Rows that came before it are no whole result.
func Run(ctx context.Context, query string, inputs []Table, limits Limits) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		if err := run(ctx, query, inputs, limits.orDefault(), func(row []string) bool { return yield(row, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// The query hands over so many rows at once, or fewer if they have so much text.
const (
	chunk     = 256
	chunkText = 1 << 20
)

// run gives the rows to yield until that says false. The query runs in a
// goroutine of its own, so that whatever yield does, it does not do it inside of
// the engine.
func run(ctx context.Context, query string, inputs []Table, limits Limits, yield func([]string) bool) error {
	e, err := open(inputs, limits)
	if err != nil {
		return err
	}
	defer e.close()
	q, err := e.compile(query, nil)
	if err != nil {
		return err
	}
	for _, t := range inputs {
		if err := e.load(ctx, t); err != nil {
			return err
		}
		if hasSubquery(q.text) {
			if err := e.index(t, q.text); err != nil {
				return err
			}
		}
	}

	ctx, cancel := context.WithCancel(ctx)
	rows := make(chan [][]string, 2)
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(rows)
		failed = e.stream(ctx, q, rows)
	}()
	defer func() { // also when yield panics or ends its goroutine
		cancel()
		for range rows {
			// is not wanted any more
		}
		<-done
	}()
	for some := range rows {
		for _, row := range some {
			if !yield(row) {
				return nil
			}
		}
	}
	<-done
	return failed
}

// stream runs the query into the channel.
func (e *engine) stream(ctx context.Context, q compiled, rows chan<- [][]string) error {
	s := newSink(e, q.shape)
	defer s.close()
	w := newWatch(e)
	var some [][]string
	sent := s.text // of the text of the result
	send := func() (err error) {
		w.wait(func() {
			select {
			case rows <- some:
			case <-ctx.Done():
				err = context.Cause(ctx)
			}
		})
		some, sent = make([][]string, 0, chunk), s.text
		return err
	}
	s.take = func(row []string) error {
		if some = append(some, row); len(some) < chunk && s.text-sent < chunkText {
			return nil
		}
		return send()
	}
	if err := e.answer(ctx, w, q, s); err != nil {
		return err
	}
	if len(some) > 0 {
		return send()
	}
	return nil
}

// answer runs the query into the sink, once.
func (e *engine) answer(ctx context.Context, w *watch, q compiled, s *sink) error {
	e.inner = true
	defer func() { e.inner = false }()
	stmt, err := e.conn.PrepareContext(ctx, around(q.text, s))
	if err != nil {
		return fmt.Errorf("prepare query: %w", err)
	}
	defer stmt.Close()
	return e.step(ctx, w, stmt.(execer), s)
}
