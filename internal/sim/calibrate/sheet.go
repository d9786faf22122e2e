package calibrate

import (
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
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

// sheet is a table with some of its columns found.
type sheet struct {
	*table.Reader
	at    map[string]int
	where []struct {
		column int
		value  string
	}
}

func openSheet(r io.Reader) (*sheet, error) {
	t, err := table.NewReader(r, table.Options{})
	if err != nil {
		return nil, err
	}
	return &sheet{Reader: t, at: map[string]int{}}, nil
}

// find looks for a column: the one that was named, or the first usual one.
func (s *sheet) find(what, named string, required bool) error {
	s.at[what] = -1
	names := usual[what]
	if named != "" {
		names = []string{named}
	}
	for _, n := range names {
		if i := slices.Index(s.Columns(), n); i >= 0 {
			s.at[what] = i
			return nil
		}
	}
	if named == "" && !required {
		return nil
	}
	if named == "" {
		return crowd.Fieldf(what, "there is no column %s; the columns are %s: say which one with --%s", strings.Join(names, " or "), strings.Join(s.Columns(), ", "), flagOf(what))
	}
	return crowd.Fieldf(what, "there is no column %q; the columns are %s", named, strings.Join(s.Columns(), ", "))
}

// flagOf is how the command line calls a column.
func flagOf(what string) string {
	if what == "kind" {
		return "by"
	}
	return what
}

// filter keeps rows. Where a table lacks a column it is an error if strict,
// else the filter is not applied to it.
func (s *sheet) filter(list []Where, strict bool) error {
	for _, w := range list {
		i := slices.Index(s.Columns(), w.Column)
		if i < 0 {
			if !strict {
				continue
			}
			return crowd.Fieldf("where", "there is no column %q; the columns are %s", w.Column, strings.Join(s.Columns(), ", "))
		}
		s.where = append(s.where, struct {
			column int
			value  string
		}{i, w.Value})
	}
	return nil
}

// keeps reports whether a row has, in each column that is filtered by, one of the
// values.
func (s *sheet) keeps(row []string) bool {
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

// text returns a cell, "" where the column is not there.
func (s *sheet) text(row []string, what string) string {
	if i, ok := s.at[what]; ok && i >= 0 {
		return strings.TrimSpace(row[i])
	}
	return ""
}

// number returns a figure ≥ least; NaN of an empty cell.
func (s *sheet) number(row []string, line int, what string, least float64) (float64, error) {
	t := s.text(row, what)
	if t == "" {
		return math.NaN(), nil
	}
	v, err := strconv.ParseFloat(t, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || math.Abs(v) > 1e12 {
		return 0, s.bad(line, what, "%q is not a number", t)
	}
	if v < least {
		return 0, s.bad(line, what, "%s is less than %g", t, least)
	}
	return v, nil
}

// moment returns seconds from any moment, of a number or an RFC 3339 time.
func (s *sheet) moment(row []string, line int, what string) (float64, error) {
	t := s.text(row, what)
	if at, err := time.Parse(time.RFC3339Nano, t); err == nil {
		return float64(at.Unix()) + float64(at.Nanosecond())/1e9, nil
	}
	v, err := s.number(row, line, what, math.Inf(-1))
	if err != nil {
		return 0, s.bad(line, what, "%q is neither a number of seconds nor a time like 2026-01-31T12:00:00Z", t)
	}
	return v, nil
}

func (s *sheet) bad(line int, what, format string, args ...any) error {
	e := crowd.Fieldf(s.Columns()[s.at[what]], format, args...)
	e.Row = line
	return e
}

func (s *sheet) name(what string) string {
	if s.at[what] < 0 {
		return ""
	}
	return s.Columns()[s.at[what]]
}

// strip removes the advice to use a flag that there is not for this table.
func strip(err error) error {
	var e *crowd.Error
	if errors.As(err, &e) {
		e.Message, _, _ = strings.Cut(e.Message, ": say which one")
	}
	return err
}
