package table

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// A Column is a column that a program reads from a table, and how its cells
// become a part of a value of type T.
type Column[T any] struct {
	Name     string   // as errors call it
	Names    []string // what a table may call it: the first that is there is taken; nil: Name
	Required bool     // the table has it
	Filled   bool     // where the table has it, no cell of it is empty
	Unique   bool     // no two rows have the same text there
	Advice   string   // what to do where it is missing

	// Read reads a cell that is not empty. Nil: the cell is not looked at.
	Read func(to *T, cell string) error
}

// A Layout is the columns that a program reads from a table.
type Layout[T any] struct {
	Columns []Column[T]
	Closed  bool // a table has no other columns
	Exact   bool // white space around cells is part of them
	Default T    // a row before its cells are read

	// Check looks at a row whose cells could all be read. Nil: there is nothing to check.
	Check func(*T) error

	// Skip is told what is wrong with a row, which is then left out. Nil: it is an error.
	Skip func(crowd.Errors)
}

// A Record is a row that was read.
type Record[T any] struct {
	Value T
	Line  int      // of the file, from 1
	Cells []string // all of them, as they stand in the file
}

// MaxErrors is how many errors of a table are told; then reading ends.
const MaxErrors = 100

// Records reads the rows of a table by a layout.
type Records[T any] struct {
	layout *Layout[T]
	rows   Rows
	at     []int            // place of each column of the layout in the table, or -1
	seen   []map[string]int // line of each text of the columns that are unique
}

// Bind finds the columns of a layout in a table. An error names all that are
// missing, or that nobody knows.
func (l *Layout[T]) Bind(rows Rows) (*Records[T], error) {
	r := &Records[T]{layout: l, rows: rows, at: make([]int, len(l.Columns)), seen: make([]map[string]int, len(l.Columns))}
	header := rows.Columns()
	var problems crowd.Errors
	var known []string
	for i, c := range l.Columns {
		names := c.Names
		if names == nil {
			names = []string{c.Name}
		}
		known = append(known, names...)
		r.at[i], r.seen[i] = -1, make(map[string]int)
		for _, name := range names {
			if r.at[i] = slices.Index(header, name); r.at[i] >= 0 {
				break
			}
		}
		if r.at[i] < 0 && c.Required {
			problems = append(problems, crowd.Fieldf(c.Name, "there is no column %s; the columns are %s%s", strings.Join(names, " or "), strings.Join(header, ", "), c.Advice))
		}
	}
	for i, name := range header {
		if l.Closed && !slices.Contains(r.at, i) {
			problems = append(problems, bad(1, clip(name), "is not known (known: %s)", strings.Join(known, ", ")))
		}
	}
	return r, problems.Err()
}

// Each finds the columns and calls do for each row: see Records.Each.
func (l *Layout[T]) Each(rows Rows, do func(*Record[T]) error) error {
	r, err := l.Bind(rows)
	if err != nil {
		return err
	}
	return r.Each(do)
}

// Name returns what the table calls a column of the layout, or "" if it has none.
func (r *Records[T]) Name(column string) string {
	i := slices.IndexFunc(r.layout.Columns, func(c Column[T]) bool { return c.Name == column })
	if r.at[i] < 0 {
		return ""
	}
	return r.rows.Columns()[r.at[i]]
}

// Each calls do for each row that can be read. The error is of type
// *crowd.Error, or crowd.Errors if more is wrong: what is wrong with rows, which
// does may say, too, or the first other error, which ends the reading.
func (r *Records[T]) Each(do func(*Record[T]) error) error {
	var problems crowd.Errors
	for len(problems) < MaxErrors {
		cells, line, err := r.rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !BadRow(err) {
			return err
		}
		if err == nil {
			record := Record[T]{Value: r.layout.Default, Line: line, Cells: cells}
			if err = r.read(&record); err == nil {
				err = do(&record)
			}
		}
		wrong := crowd.ErrorsOf(err)
		for _, e := range wrong {
			e.Row = cmp.Or(e.Row, line)
		}
		switch {
		case err != nil && wrong == nil:
			return err
		case wrong != nil && r.layout.Skip != nil:
			r.layout.Skip(wrong)
		default:
			problems = append(problems, wrong...)
		}
	}
	return problems.Err()
}

// read reads the cells of a row into its value.
func (r *Records[T]) read(record *Record[T]) error {
	var problems crowd.Errors
	for i, c := range r.layout.Columns {
		if r.at[i] < 0 {
			continue
		}
		cell := record.Cells[r.at[i]]
		if !r.layout.Exact {
			cell = strings.TrimSpace(cell)
		}
		var err error
		switch {
		case cell == "" && c.Filled:
			err = errors.New("is empty")
		case cell != "" && c.Read != nil:
			err = c.Read(&record.Value, cell)
		}
		if first := r.seen[i][cell]; c.Unique && first > 0 {
			err = fmt.Errorf("%q stands in line %d already", clip(cell), first)
		} else if c.Unique && cell != "" {
			r.seen[i][cell] = record.Line
		}
		if err != nil {
			problems = append(problems, bad(record.Line, r.rows.Columns()[r.at[i]], "%s", err))
		}
	}
	if problems == nil && r.layout.Check != nil {
		return r.layout.Check(&record.Value)
	}
	return problems.Err()
}

// Text reads a cell as it stands.
func Text[T any](part func(*T) *string) func(*T, string) error {
	return func(to *T, cell string) error {
		*part(to) = cell
		return nil
	}
}

// Number reads a cell with a number from least to most.
func Number[T any](least, most float64, part func(*T) *float64) func(*T, string) error {
	return func(to *T, cell string) (err error) {
		*part(to), err = NumberIn(cell, least, most)
		return err
	}
}

// NumberIn reads a number from least to most.
func NumberIn(text string, least, most float64) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange), math.IsNaN(f):
		return 0, crowd.Errorf(crowd.Invalid, "%q is not a number", clip(text))
	case f < least:
		return 0, crowd.Errorf(crowd.Invalid, "%q is less than %s", clip(text), format.Number(least))
	case f > most:
		return 0, crowd.Errorf(crowd.Invalid, "%q is too much (at most %s)", clip(text), format.Number(most))
	}
	return f, nil
}
