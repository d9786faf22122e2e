package orchestrator

import (
	"io"
	"iter"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/workflow"
)

// Table is the rows of a step or an output, as they are written to a file.
type Table struct {
	Columns []string
	Options table.WriterOptions
	Rows    iter.Seq2[[]string, error]
}

// errorColumn is the column of a table with the reason why an item was given up.
const errorColumn = "_error"

// Table makes a table of the rows of a node: of these columns (nil: of all), and
// with failed also the items that were given up, with nothing but the column
// _error. A column that does not exist is an error.
func (r *Results) Table(columns []string, format table.Format, failed bool) (*Table, error) {
	var places []int // of the columns
	if columns == nil {
		places = lists.Indices(len(r.Columns))
	}
	for _, name := range columns {
		i := slices.IndexFunc(r.Columns, func(c workflow.Column) bool { return c.Name == name })
		if i < 0 {
			return nil, crowd.Fieldf("columns", "%s has no column %q", r.Node.Name, name)
		}
		places = append(places, i)
	}
	t := &Table{Options: table.WriterOptions{Format: format, Types: make(map[string]table.ColumnType)}}
	for _, i := range places {
		c := r.Columns[i]
		t.Columns = append(t.Columns, c.Name)
		if c.Type == condition.Number || c.Type == condition.Bool {
			t.Options.Types[c.Name] = table.ColumnType(c.Type)
			t.Options.JSONColumns = append(t.Options.JSONColumns, c.Name)
		}
	}
	if failed {
		if slices.Contains(t.Columns, errorColumn) {
			return nil, crowd.Fieldf("failed", "%s has a column %s of its own", r.Node.Name, errorColumn)
		}
		t.Columns = append(t.Columns, errorColumn)
	}
	if len(t.Columns) == 0 {
		return nil, crowd.Errorf(crowd.Conflict, "the columns of %s are not known before its file is there", r.Node.Name)
	}
	t.Rows = func(yield func([]string, error) bool) {
		row := make([]string, len(t.Columns))
		for x, err := range r.Rows {
			switch {
			case err != nil:
				yield(nil, err)
				return
			case x.State != store.RowOK && (!failed || x.State != store.RowFailed):
				continue
			}
			clear(row)
			for j, i := range places {
				if x.Cells != nil {
					row[j] = encodeCell(x.Cells[i], r.Columns[i].Type, format)
				}
			}
			if failed {
				row[len(row)-1] = x.Error
			}
			if !yield(row, nil) {
				return
			}
		}
	}
	return t, nil
}

// encodeCell returns a cell as a format wants it. A cell that does not fit the
// type of its column becomes a text in JSON, and is left out in Parquet, whose
// columns have one type.
func encodeCell(cell string, kind condition.Type, format table.Format) string {
	if kind != condition.Number && kind != condition.Bool || cell == "" || format != table.JSONL && format != table.Parquet {
		return cell
	}
	text, ok := kind.JSON(cell)
	switch {
	case !ok && format == table.JSONL:
		return string(task.AppendString(nil, cell))
	case !ok || text == "null":
		return ""
	}
	return text
}

// Write writes the table, and returns how many rows it has.
func (t *Table) Write(w io.Writer) (int, error) {
	n := 0
	err := table.WriteRows(w, t.Columns, t.Options, lists.MapRead(t.Rows, func(row []string) []string {
		n++
		return row
	}))
	return n, err
}
