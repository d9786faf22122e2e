package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/similarity"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// The most that is added to an open input at a time: it is one transaction.
const (
	MaxAddedRows = 10_000
	maxAddedText = 2 * store.PageBytes
	maxFeedName  = 200 // bytes
)

// NewRows are rows for an open input.
type NewRows struct {
	Input string
	File  table.Open
	Feed  string // what they are from, such as a file that grows; "": nothing, so that they are added however often they come
	After int64  // how many rows of Feed come before these
	// Duplicates is what becomes of rows that the input has, or that come before in File.
	Duplicates table.Duplicates
}

// AddedRows describes what became of rows for an open input.
type AddedRows struct {
	Added int64
	Known int64 // that had been added before
	Feed  int64 // rows that the input has of the feed by now

	Dropped int64 // that the input has, or that were the same as others of the file

	Delimiter table.Delimiter // that stood between the cells; 0: none
}

// AddRows adds rows to an open input of a run that has started: all of them, or none.
// Each becomes an item whose age begins now. They are durable when it returns. Of a feed,
// rows that were added before are passed over. The error is crowd.Errors, with their lines,
// if rows cannot be read or have a cell that is no value of its column's type; Conflict, if
// the input takes no rows, or if the feed has rows before these that were not added.
func (o *Orchestrator) AddRows(ctx context.Context, id crowd.RunID, n NewRows) (out AddedRows, err error) {
	if err := format.ValidLine("feed", n.Feed, maxFeedName); err != nil {
		return out, err
	}
	if n.After != 0 && n.Feed == "" {
		return out, crowd.Fieldf("feed", "is missing: after counts its rows")
	}
	r, err := o.snapshot(ctx, 0, id)
	if err != nil {
		return out, err
	}
	input, err := r.openInput(n.Input)
	if err != nil {
		return out, err
	}
	rows, err := readNewRows(n.File, input, &r.flow.Inputs[input.Node.Node])
	if err != nil {
		return out, err
	}
	had, err := o.compareRows(ctx, n.Duplicates, input, rows)
	if err != nil {
		return out, err
	}
	err = o.modify(ctx, id, func(r *run) error {
		out, err = r.addRows(ctx, n, rows, had)
		return err
	})
	out.Delimiter = rows.delimiter
	return out, err
}

// addRows adds the rows that the input does not have yet.
func (r *run) addRows(ctx context.Context, n NewRows, rows newRows, had *inputRows) (out AddedRows, err error) {
	input, err := r.openInput(n.Input) // it may have been sealed since
	if err != nil {
		return out, err
	}
	c := r.newChange()
	if n.Feed != "" {
		has, err := r.o.cfg.Store.FeedRows(ctx, r.kept.ID, input.Node.Node, n.Feed)
		if err != nil {
			return out, err
		}
		if has < n.After {
			return out, crowd.Errorf(crowd.Conflict, "the input %s has %s of %q: the rows after those come first, and these begin after %d", n.Input, format.Count(int(has), "row"), n.Feed, n.After)
		}
		out.Known = min(has-n.After, int64(len(rows.cells)))
		out.Feed = max(has, n.After+int64(len(rows.cells)))
		c.Feed = &store.Feed{Node: input.Node.Node, Name: n.Feed, Rows: out.Feed}
	}
	class := classifier{r.flow.SLA, input.Node.Node, columnsOf(input.Columns, r.flow.Inputs[input.Node.Node].Columns)}
	rows = rows.after(out.Known)
	if had != nil {
		if rows, out.Dropped, err = had.distinct(ctx, rows); err != nil {
			return AddedRows{}, err
		}
	}
	for _, cells := range rows.cells {
		c.Rows = append(c.Rows, store.Row{Node: input.Node.Node, Born: c.at, Class: class.of(cells), At: c.at, State: store.RowOK, Cells: cells})
	}
	if out.Added = int64(len(c.Rows)); out.Added == 0 && (out.Dropped == 0 || c.Feed == nil) {
		return out, nil
	}
	return out, r.commit(ctx, c)
}

// FeedRows returns how many rows of a feed an input of a run has.
func (o *Orchestrator) FeedRows(ctx context.Context, id crowd.RunID, input, feed string) (int64, error) {
	r, err := o.snapshot(ctx, 0, id)
	if err != nil {
		return 0, err
	}
	n, err := r.findInput(input)
	if err != nil {
		return 0, err
	}
	if feed == "" {
		return 0, crowd.Fieldf("feed", "is missing: the name of the feed")
	}
	if err := format.ValidLine("feed", feed, maxFeedName); err != nil {
		return 0, err
	}
	return o.cfg.Store.FeedRows(ctx, id, n.Node.Node, feed)
}

// SealInputs ends an open input ("": all of them): no more rows come. It is no error if
// that was said before.
func (o *Orchestrator) SealInputs(ctx context.Context, id crowd.RunID, input string) error {
	return o.modify(ctx, id, func(r *run) error {
		if input != "" {
			if n, err := r.findInput(input); err != nil {
				return err
			} else if !n.Open {
				return notOpen(input)
			}
		}
		c := r.newChange()
		var sealed []*node
		for _, n := range r.nodes {
			if n.TakesRows() && (input == "" || n.Name == input) {
				n.State, n.EndedAt = store.NodeDone, c.at
				sealed = append(sealed, n)
			}
		}
		if len(sealed) == 0 {
			return nil
		}
		return r.commit(ctx, c, sealed...)
	})
}

// openInput finds an input that takes rows.
func (r *run) openInput(name string) (*node, error) {
	n, err := r.findInput(name)
	switch {
	case err != nil:
		return nil, err
	case r.kept.State == store.RunLoading:
		return nil, crowd.Errorf(crowd.Conflict, "%s has not started: load a file as %s, or start it first", r.kept.ID, name)
	case r.kept.State.Ended():
		return nil, crowd.Errorf(crowd.Conflict, "%s is %s: it takes no more rows", r.kept.ID, r.kept.State)
	case !n.Open:
		return nil, notOpen(name)
	case !n.TakesRows():
		return nil, crowd.Errorf(crowd.Conflict, "the input %s of %s is sealed: it takes no more rows", name, r.kept.ID)
	}
	return n, nil
}

func notOpen(input string) error {
	return crowd.Errorf(crowd.Conflict, "the input %s is not open: say open: true in the workflow, or name it when the run is made", input)
}

// findInput finds an input by name.
func (r *run) findInput(name string) (*node, error) {
	if i := slices.IndexFunc(r.nodes, func(n *node) bool { return n.Name == name && n.step == nil }); i >= 0 {
		return r.nodes[i], nil
	}
	var names []string
	for _, n := range r.nodes {
		if n.step == nil {
			names = append(names, n.Name)
		}
	}
	return nil, &crowd.Error{Code: crowd.NotFound, Field: "input", Message: "the run has no input " + name + cmp.Or(similarity.DidYouMean(name, names), "; it has: "+strings.Join(names, ", "))}
}

// readNewRows reads rows for an input, with the cells in the order in which it keeps them.
func readNewRows(open table.Open, n *node, input *workflow.Input) (rows newRows, err error) {
	file, closed, err := open()
	if err != nil {
		return rows, err
	}
	defer closed()
	rows.delimiter = file.Delimiter()
	from, err := placesOf(n, input, file.Columns())
	if err != nil {
		return rows, err
	}
	typed := typed(file, input.Columns)
	var bad crowd.Errors
	bytes := 0
	for {
		cells, line, err := typed.Read()
		var wrong *crowd.Error
		switch {
		case errors.Is(err, io.EOF):
			if len(bad) > 0 {
				return newRows{}, bad
			}
			return rows, nil
		case errors.As(err, &wrong) && wrong.Row != 0:
			if bad = append(bad, wrong); len(bad) == maxExamples {
				return newRows{}, bad
			}
			continue
		case err != nil:
			return newRows{}, err
		}
		row := make([]string, len(from))
		for i, j := range from {
			if j >= 0 {
				row[i] = cells[j]
			}
		}
		if bytes += store.TextBytes(row); len(rows.cells) == MaxAddedRows || bytes > maxAddedText {
			return newRows{}, crowd.Errorf(crowd.TooLarge, "at most %d rows, with %s of text, are added at a time: nothing is added; send fewer", MaxAddedRows, format.Bytes(maxAddedText))
		}
		rows.cells, rows.lines = append(rows.cells, row), append(rows.lines, line)
	}
}

// placesOf finds, for each cell that an input keeps, the column of a file; -1: it has none,
// and no step reads it.
func placesOf(n *node, input *workflow.Input, file []string) ([]int, error) {
	places := make([]int, len(n.Columns))
	for i, name := range n.Columns {
		places[i] = slices.Index(file, name)
		if places[i] < 0 && slices.ContainsFunc(input.Columns, func(c workflow.Column) bool { return c.Name == name }) {
			return nil, crowd.Fieldf(name, "is a column of the input %s, and not of these rows", n.Name)
		}
	}
	return places, nil
}
