package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/disk"
	tables "github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

// A table is a file that the scenario names, read once however often it does.
type table struct {
	columns []string
	rows    []row
}

type row struct {
	line  int
	cells []string
}

// A cell is a value and its place.
type cell struct {
	file, column, text string
	line               int
}

// table reads the file that a node names; nil if it cannot be read, which has
// been noted.
func (r *reader) table(n *node) *table {
	name, ok := r.text(n)
	if !ok {
		return nil
	}
	t, known := r.tables[name]
	if !known {
		t = r.readTable(n, name)
		r.tables[name] = t
	}
	return t
}

func (r *reader) readTable(n *node, name string) *table {
	text, ok := r.contents(n, name)
	if !ok {
		return nil
	}
	in, err := tables.NewReader(bytes.NewReader(text), tables.Options{Format: tables.FormatOf(name)})
	if err != nil {
		r.badRow(name, err)
		return nil
	}
	t := &table{columns: in.Columns()}
	for {
		cells, line, err := in.Read()
		switch {
		case errors.Is(err, io.EOF):
			switch {
			case !ok:
				return nil
			case len(t.rows) == 0:
				r.notes.AddIn(name, 1, "there is no row below the names of the columns")
				return nil
			}
			return t
		case err != nil && !tables.BadRow(err):
			r.errorf(n, "%s cannot be read: %s", yamlfile.Quote(name), disk.Cause(err))
			return nil
		case err != nil:
			r.badRow(name, err)
			ok = false
		default:
			t.rows = append(t.rows, row{line, cells})
		}
	}
}

// contents returns the text of a file that a node names.
func (r *reader) contents(n *node, name string) ([]byte, bool) {
	if r.files == nil {
		r.errorf(n, "files cannot be read here")
		return nil, false
	}
	text, err := r.files(name)
	if err != nil {
		r.errorf(n, "%s cannot be read: %s", yamlfile.Quote(name), disk.Cause(err))
		return nil, false
	}
	return text, true
}

func (r *reader) badRow(file string, err error) {
	line, message := 1, err.Error()
	var known *crowd.Error
	if errors.As(err, &known) {
		line, message = known.Row, known.Message
		if known.Field != "" {
			message = "column " + yamlfile.Quote(known.Field) + ": " + message
		}
	}
	r.notes.AddIn(file, line, "%s", message)
}

// column returns the index of a column that a node names.
func (r *reader) column(t *table, n *node) (int, bool) {
	name, ok := r.text(n)
	if !ok {
		return 0, false
	}
	i := slices.Index(t.columns, name)
	if i < 0 {
		r.errorf(n, "there is no column %s; the file has %s", yamlfile.Quote(name), yamlfile.Enumerate(t.columns))
	}
	return i, i >= 0
}

// cells reads {file, column, where}: the cells of a column that are not empty.
// It is nil if there is none, which has been noted.
func (r *reader) cells(section string, n *node) []cell {
	o := r.object(section, n)
	if o == nil || !o.Complete {
		return nil
	}
	t := r.table(o.Value("file"))
	if t == nil {
		return nil
	}
	at, ok := r.column(t, o.Value("column"))
	keep, okWhere := r.where(t, o)
	if !ok || !okWhere {
		return nil
	}
	var list []cell
	for _, row := range t.rows {
		if keep(row) && row.cells[at] != "" {
			list = append(list, cell{o.Value("file").Text, t.columns[at], row.cells[at], row.line})
		}
	}
	if list == nil {
		r.errorf(n, "the column %s of the file has no value%s", yamlfile.Quote(t.columns[at]), r.others(t, o))
	}
	return list
}

// where reads {column: value or [values]}, which rows must have.
func (r *reader) where(t *table, o *object) (keep func(row) bool, ok bool) {
	if !o.Has("where") {
		return func(row) bool { return true }, true
	}
	type condition struct {
		column int
		values []string
	}
	var list []condition
	ok = r.notes.Mapping(o.Value("where"), "where is a mapping of columns to values", func(_ string, k, v *node) {
		at, found := r.column(t, k)
		if !found {
			ok = false
			return
		}
		c := condition{column: at}
		items := []*node{v}
		if v.Kind == yamlfile.List {
			items = v.Items
		}
		for _, item := range items {
			if text, good := r.text(item); good {
				c.values = append(c.values, text)
			}
		}
		list = append(list, c)
	})
	for _, c := range list {
		ok = ok && len(c.values) > 0
	}
	return func(row row) bool {
		return !slices.ContainsFunc(list, func(c condition) bool { return !slices.Contains(c.values, row.cells[c.column]) })
	}, ok && len(list) == len(o.Value("where").Fields)
}

// others tells what stands in the columns of a where that kept nothing.
func (r *reader) others(t *table, o *object) string {
	if !o.Has("where") {
		return ""
	}
	text := " where it should"
	for _, f := range o.Value("where").Fields {
		name := f.Key.Text
		at := slices.Index(t.columns, name)
		var values []string
		for _, row := range t.rows {
			if v := row.cells[at]; !slices.Contains(values, v) {
				if values = append(values, v); len(values) == 8 {
					values = append(values, "…")
					break
				}
			}
		}
		text += fmt.Sprintf("; %s has %s", yamlfile.Quote(name), yamlfile.Enumerate(values))
	}
	return text
}
