package sqlstep

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"

	"github.com/throng-dev/throng/crowd"
)

// A result comes out through an aggregate function that is called with each of
// its rows: so the whole of a query is one call of the driver, which a context
// can interrupt at any time. (What the driver gives row by row it cannot.) An
// aggregate, unlike a function, gets the rows in the order of the query.

// sinks are where rows go, by the number that is the function's first argument.
var (
	sinks    sync.Map // int64 → *sink
	lastSink atomic.Int64
)

// sink takes the rows of one statement.
type sink struct {
	id    int64
	bools []bool // of the columns: whether they are of kind Bool
	names []string
	n     int64
	text  int64 // bytes
	limit Limits
	take  func(row []string) error // keeps the row
	err   error                    // why it stopped
}

func newSink(e *engine, shape Shape) *sink {
	s := &sink{id: lastSink.Add(1), names: shape.Columns, limit: e.limits, text: e.limits.Given, bools: make([]bool, len(shape.Kinds))}
	for i, k := range shape.Kinds {
		s.bools[i] = k == Bool
	}
	sinks.Store(s.id, s)
	return s
}

func (s *sink) close() { sinks.Delete(s.id) }

var errStopped = errors.New("stopped")

func (s *sink) step(values []driver.Value) error {
	if s.err != nil {
		return s.err
	}
	if s.n++; s.n > s.limit.Rows {
		s.err = crowd.Errorf(crowd.TooLarge, "the query gives more than %d rows, the limit of rows; narrow it by a condition or a limit", s.limit.Rows)
		return s.err
	}
	row := make([]string, len(values))
	for i, v := range values {
		if row[i], s.err = s.out(i, v); s.err != nil {
			return s.err
		}
		s.text += int64(len(row[i]))
	}
	if s.text > s.limit.Text {
		s.err = crowd.Errorf(crowd.TooLarge, "the result has more than %s of text, the limit of a step's result; narrow it by a condition, or keep fewer columns", bytesText(s.limit.Text))
		return s.err
	}
	s.err = s.take(row)
	return s.err
}

func (s *sink) out(i int, v driver.Value) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return strings.Clone(v), nil
	case int64:
		if s.bools[i] && (v == 0 || v == 1) {
			return strconv.FormatBool(v == 1), nil
		}
		return strconv.FormatInt(v, 10), nil
	case float64:
		if math.IsInf(v, 0) {
			return "", crowd.Errorf(crowd.Invalid, "column %s: a number is too large; it went beyond 1.8e308", s.names[i])
		}
		return numberText(v), nil
	}
	return "", crowd.Errorf(crowd.Invalid, "column %s: a value is a blob, which no column of a table holds; make a text of it, as with hex(x) or cast(x as text)", s.names[i])
}

// numberText is the shortest text that reads as v again, without exponent where
// that is short.
func numberText(v float64) string {
	if a := math.Abs(v); a == 0 {
		return "0"
	} else if a >= 1e-5 && a < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// taker is the aggregate function that hands rows to a sink.
type taker struct{}

func (taker) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	if id, ok := args[0].(int64); ok {
		if s, ok := sinks.Load(id); ok {
			return s.(*sink).step(args[1:])
		}
	}
	return errStopped
}

func (taker) WindowInverse(*sqlite.FunctionContext, []driver.Value) error { return errStopped }
func (taker) WindowValue(*sqlite.FunctionContext) (driver.Value, error)   { return nil, nil }
func (taker) Final(*sqlite.FunctionContext)                               {}

// around is the statement that runs the query into the sink.
func around(query string, s *sink) string {
	var names, args strings.Builder
	for i := range s.names {
		if i > 0 {
			names.WriteByte(',')
		}
		fmt.Fprintf(&names, "c%d", i)
		fmt.Fprintf(&args, ",c%d", i)
	}
	return fmt.Sprintf("with %s(%s) as (\n%s\n) select %s(%d%s) from %s", quote(resultName), names.String(), query, sinkName, s.id, args.String(), quote(resultName))
}
