package orchestrator

import (
	"context"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/store"
)

// newRows are rows for an open input, and their lines.
type newRows struct {
	cells [][]string
	lines []int

	delimiter table.Delimiter // that stood between the cells
}

// after returns the rows after the first n.
func (x newRows) after(n int64) newRows { return newRows{x.cells[n:], x.lines[n:], x.delimiter} }

// inputRows finds those of new rows that an input has.
type inputRows struct {
	do    table.Duplicates
	log   store.Log
	input *node
	from  *table.Compared // the new rows, by their places among them: what is compared is theirs alone
	upTo  int64           // rows of the log that were compared
	had   map[int]int64   // of the new rows that the log has, where it has them
}

// compareRows compares new rows with those that an input has by now; nil: all are kept.
func (o *Orchestrator) compareRows(ctx context.Context, do table.Duplicates, input *node, rows newRows) (*inputRows, error) {
	if err := do.Check(); err != nil || do.Kept() {
		return nil, err
	}
	x := &inputRows{do: do, log: store.Log{Store: o.cfg.Store, Run: input.Run, Node: input.Node.Node}, input: input, had: make(map[int]int64)}
	var err error
	if x.from, err = do.Compare(input.Columns); err != nil {
		return nil, err
	}
	for i, cells := range rows.cells {
		if x.from.Before(cells) == nil {
			if err := x.from.Add(cells, int64(i)); err != nil {
				return nil, err
			}
		}
	}
	return x, x.goOn(ctx)
}

// goOn compares the rows that the log has got since.
func (x *inputRows) goOn(ctx context.Context) error {
	for row, err := range x.log.After(ctx, x.upTo) {
		if err != nil {
			return err
		}
		x.upTo = row.N
		if row.State != store.RowOK {
			continue
		}
		if same := x.from.Before(row.Cells); same != nil && x.had[int(same.Of)] == 0 {
			x.had[int(same.Of)] = row.N
		}
	}
	return nil
}

// distinct returns the rows that are neither in the log nor before in the file, and how
// many are dropped. The error names those that are refused.
func (x *inputRows) distinct(ctx context.Context, rows newRows) (out newRows, dropped int64, err error) {
	if err := x.goOn(ctx); err != nil {
		return out, 0, err
	}
	var bad crowd.Errors
	file, err := x.do.Compare(x.input.Columns)
	if err != nil {
		return out, 0, err
	}
	for i, cells := range rows.cells {
		twice := file.Before(cells)
		if twice == nil {
			if first := x.from.Before(cells); x.had[int(first.Of)] != 0 {
				twice = &table.Duplicate{Of: x.had[int(first.Of)], In: "the input " + x.input.Name, Key: x.do.Key}
			} else if err := file.Add(cells, int64(rows.lines[i])); err != nil {
				return out, 0, err
			}
		}
		switch {
		case twice == nil:
			out.cells, out.lines = append(out.cells, cells), append(out.lines, rows.lines[i])
		case x.do.Do == table.Drop:
			dropped++
		default:
			if bad = append(bad, twice.At(rows.lines[i])); len(bad) == maxExamples {
				return newRows{}, 0, bad
			}
		}
	}
	return out, dropped, slices.Clip(bad).Err()
}
