package calibrate

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
)

// Columns name the columns of a log. "" stands for the usual names, of which
// the first that is there is taken.
type Columns struct {
	Seconds string // how long the answer took; required
	Worker  string // required
	Kind    string // kind of task; none: all are of one kind, "task"
	Run     string // recording, where a log holds several; none: one
	Order   string // numbers in the order of the answers; none: by start, else as the rows stand
	Start   string // when the task was begun: seconds, or RFC 3339
	Submit  string // when it was answered
	Same    string // 1: the worker's task before was of the same kind, 0: not, empty: there was none
	Gap     string // seconds from the worker's answer before to this task's beginning
	Task    string // which task
	State   string // how the assignment ended: submitted, skipped, returned, expired
}

// A Where keeps the rows whose column has a value; of several for one column,
// any will do.
type Where struct{ Column, Value string }

// ParseWhere reads column=value.
func ParseWhere(text string) (Where, error) {
	column, value, ok := strings.Cut(text, "=")
	if !ok || strings.TrimSpace(column) == "" {
		return Where{}, crowd.Fieldf("where", "%q is not of the form column=value", text)
	}
	return Where{strings.TrimSpace(column), value}, nil
}

// sheet is a table whose rows are filtered.
type sheet[T any] struct {
	*table.Records[T]
	where []condition
}

// A condition is a Where with the place of its column.
type condition struct {
	column int
	value  string
}

// openSheet begins to read a table by a layout. Where it lacks a column of where,
// that is an error if strict, else the filter is not applied.
func openSheet[T any](r io.Reader, layout *table.Layout[T], where []Where, strict bool) (*sheet[T], error) {
	rows, err := table.NewReader(r, table.Options{})
	if err != nil {
		return nil, err
	}
	s := &sheet[T]{}
	if s.Records, err = layout.Bind(rows); err != nil {
		return nil, err
	}
	for _, w := range where {
		switch i := slices.Index(rows.Columns(), w.Column); {
		case i >= 0:
			s.where = append(s.where, condition{i, w.Value})
		case strict:
			return nil, crowd.Fieldf("where", "there is no column %s; the columns are %s", w.Column, strings.Join(rows.Columns(), ", "))
		}
	}
	return s, nil
}

// keeps reports whether a row has, in each column that is filtered by, one of the
// values.
func (s *sheet[T]) keeps(row []string) bool {
	for _, w := range s.where {
		any := false
		for _, o := range s.where {
			any = any || o.column == w.column && row[o.column] == o.value
		}
		if !any {
			return false
		}
	}
	return true
}

// usualColumn is a column that has one of the usual names, or the one that was
// given, and then must be there.
func usualColumn[T any](what, named string, read func(*T, string) error) table.Column[T] {
	if named != "" {
		return table.Column[T]{Name: what, Names: []string{named}, Required: true, Read: read}
	}
	return table.Column[T]{Name: what, Names: usual[what], Read: read}
}

// answerSeconds reads how long an answer took.
func answerSeconds[T any](part func(*T) *float64) func(*T, string) error {
	return func(to *T, text string) error {
		v, err := table.NumberIn(text, 0, maxFigure)
		if v > maxAnswer {
			return fmt.Errorf("%s is more than a day: seconds are wanted", text)
		}
		*part(to) = v
		return err
	}
}

// moment reads seconds from any moment, of a number or an RFC 3339 time.
func moment[T any](part func(*T) *float64) func(*T, string) error {
	return func(to *T, text string) error {
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
			*part(to) = float64(at.Unix()) + float64(at.Nanosecond())/1e9
			return nil
		}
		v, err := table.NumberIn(text, -maxFigure, maxFigure)
		if err != nil {
			return fmt.Errorf("%q is neither a number of seconds nor a time like 2026-01-31T12:00:00Z", text)
		}
		*part(to) = v
		return nil
	}
}
