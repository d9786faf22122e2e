package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/wire"
)

// WorkflowRows is "throng workflow rows".
type WorkflowRows struct {
	Add  WorkflowRowsAdd  `cmd:"" help:"Add rows to an open input of a run."`
	Seal WorkflowRowsSeal `cmd:"" help:"Say that no more rows come to an open input."`
}

// WorkflowRowsAdd is "throng workflow rows add".
type WorkflowRowsAdd struct {
	aRun
	Input  string `placeholder:"NAME" help:"The open input; not needed if there is one only."`
	File   string `required:"" help:"The rows: CSV, TSV, JSON Lines or Parquet; - for standard input."`
	Format string `enum:"csv,tsv,jsonl,parquet," default:"" help:"csv, tsv, jsonl or parquet; default: by the name of the file, or by its content."`
	Follow bool   `help:"Go on with what is written to the end of the file, until the input is sealed or an interrupt. A server that cannot be reached once this has begun is tried again."`
	Every  *span  `help:"With --follow: how often to look; default: 1s."`
	RowsOfFile
	Feed string `help:"What the rows are from: those of it that were added before are not added again. Default: nothing; with --follow, the file."`
}

// Run adds the rows.
func (x *WorkflowRowsAdd) Run(c *Context, r *remote) error {
	if x.Every != nil && !x.Follow {
		return wrong("every", "goes with --follow: without it the file is read once")
	}
	run, err := r.Run(c.Ctx, x.ID)
	if err != nil {
		return err
	}
	if x.Input == "" {
		if x.Input, err = theOpenInput(&run); err != nil {
			return err
		}
	}
	if x.Follow && !slices.Contains(openNames(&run), x.Input) {
		return notOpen(&run, x.Input)
	}
	form, err := table.ParseFormat(x.Format)
	if err != nil {
		return err
	}
	if form == table.Auto {
		form = table.FormatOf(x.File)
	}
	if !x.JSON {
		for i := range run.Nodes {
			if n := &run.Nodes[i]; n.EndedEarly {
				say(c.Stderr, "%s %s\n", run.ID, endedEarly(n, &run))
			}
		}
	}
	f := &feeder{c: c, to: r, duplicates: x.rule(), outage: c.outage(), run: run.ID, input: x.Input, file: x.File, opts: table.Options{Format: form, Delimiter: x.Delimiter}, feed: x.Feed}
	if x.Follow {
		ctx, stop := c.untilFirstSignal()
		defer stop()
		f.watches = true
		f.added = func(n int64) {
			if !x.JSON {
				say(c.Stderr, "%s %s: %s added\n", run.ID, clean(x.Input), format.Count(int(n), "row"))
			}
		}
		err = f.follow(ctx, x.Every.or(time.Second))
	} else {
		err = f.addFile(c.Ctx)
	}
	if err != nil {
		return err
	}
	sum := f.sum()
	if x.Feed == "" && !x.Follow {
		sum.Feed = 0 // of a feed that nobody knows
	}
	known := when(sum.Known > 0, fmt.Sprintf(", %d had been added before", sum.Known))
	c.tellFile(x.File, sum.Delimiter, sum.Dropped)
	all := when(x.Follow, " in all") // each group was told as it was added
	return r.tell(sum, nil, "%s %s: %s added%s%s\n", run.ID, clean(x.Input), format.Count(int(sum.Added), "row"), all, known)
}

// theOpenInput names the input of a run that takes rows, if there is one only.
func theOpenInput(run *wire.Run) (string, error) {
	if run.Ended() {
		return "", noMoreRows(run)
	}
	list := openNames(run)
	if len(list) == 0 { // the server says of a single one why it takes none
		for i := range run.Nodes {
			if run.Nodes[i].Kind == "input" {
				list = append(list, run.Nodes[i].Name)
			}
		}
		if len(list) != 1 {
			return "", crowd.Errorf(crowd.Conflict, "no input of %s is open: %s", run.ID, strings.Join(list, ", "))
		}
	}
	if len(list) != 1 {
		return "", wrong("input", "say which input: %s", strings.Join(list, ", "))
	}
	return list[0], nil
}

// notOpen is the error of following a file for an input that takes no rows.
func notOpen(run *wire.Run, input string) error {
	if run.Ended() {
		return noMoreRows(run)
	}
	if !slices.ContainsFunc(run.Nodes, func(n wire.RunNode) bool { return n.Kind == "input" && n.Name == input }) {
		return &crowd.Error{Code: crowd.NotFound, Field: "input", Message: "the run has no input " + input}
	}
	return crowd.Errorf(crowd.Conflict, "the input %s of %s takes no rows: it is sealed, or never was open", input, run.ID)
}

// WorkflowRowsSeal is "throng workflow rows seal".
type WorkflowRowsSeal struct {
	aRun
	Input string `placeholder:"NAME" help:"The open input; default: all of them."`
}

// Run seals.
func (x *WorkflowRowsSeal) Run(c *Context, r *remote) error {
	before, err := r.Run(c.Ctx, x.ID)
	if err != nil {
		return err
	}
	sealed := openNames(&before)
	var run wire.Run
	if x.Input == "" {
		run, err = r.MoveRun(c.Ctx, x.ID, "seal")
	} else {
		sealed = slices.DeleteFunc(sealed, func(name string) bool { return name != x.Input })
		run, err = r.SealInput(c.Ctx, x.ID, x.Input)
	}
	what := "sealed " + clean(strings.Join(sealed, ", "))
	if len(sealed) == 0 {
		what = "no input was open, so none was sealed"
	}
	return r.tell(run, err, "%s %s: %s; %s\n", run.ID, clean(run.Name), run.State, what)
}

// feeder adds the rows of a file to an open input, in groups.
type feeder struct {
	c     *Context
	to    *remote
	run   crowd.RunID
	input string
	file  string
	opts  table.Options
	feed  string // "": not chosen yet

	duplicates table.Duplicates
	gained     int64 // rows that the server says it added: somebody else may add those of the feed, too
	dropped    int64
	delimiter  string // that stood between the cells

	added func(n int64) // called after each group, if not nil
	// piecewise adds the rows before one that is bad; else none of its group is added.
	piecewise bool
	// watches has follow ask whether the input still takes rows while none comes.
	watches bool

	outage outage
	group  group
	sent   int64 // rows of the file before the group
	known  int64 // rows of the feed that were there at the beginning
}

// sum is what became of the file's rows.
func (f *feeder) sum() wire.AddedRows {
	return wire.AddedRows{Input: f.input, Added: f.gained, Known: max(f.sent-f.gained-f.dropped, 0), Feed: max(f.known, f.sent), Dropped: f.dropped, Delimiter: f.delimiter}
}

// group is rows of a file that are added together.
type group struct {
	columns []string
	rows    [][]string
	lines   []int // of the rows, in the file
	bytes   int
}

// maxGroupText is how many bytes of text a group has at most, but for its last row.
const maxGroupText = 2 << 20

// addFile adds all rows of the file. A file of at most orchestrator.MaxAddedRows rows and
// maxGroupText goes in one request: all of it is added, or nothing.
func (f *feeder) addFile(ctx context.Context) error {
	if f.feed == "" {
		f.feed = "add-" + rand.Text()
	} else if err := f.lookUp(ctx); err != nil {
		return err
	}
	file, size, err := f.c.open(f.file)
	if err != nil {
		return err
	}
	defer file.Close()
	rows, err := openRows(file, size, f.opts)
	if err != nil {
		return ofFile(f.file, err)
	}
	if err := f.read(ctx, rows, 0, orchestrator.MaxAddedRows); err != nil {
		if f.sent > 0 {
			return &noted{err, fmt.Sprintf("%s before that are added; put the file right, and go on with --feed %s, which adds none of them again", format.Count(int(f.sent), "row"), f.feed)}
		}
		return err
	}
	return nil
}

// lookUp finds how many rows of the feed are there.
func (f *feeder) lookUp(ctx context.Context) error {
	feed, err := f.to.FeedRows(ctx, f.run, f.input, f.feed)
	f.known = feed.Rows
	return err
}

// read adds rows, at most most at a time. They stand after so many lines of the file.
// Of a group with rows that cannot be read those before them are added if f is piecewise,
// else none.
func (f *feeder) read(ctx context.Context, rows table.Rows, lines, most int) error {
	f.delimiter, f.group = rows.Delimiter().String(), group{columns: rows.Columns()}
	var bad crowd.Errors
	before := 0 // rows of the group before the first bad one
	for {
		cells, line, err := rows.Read()
		var wrong *crowd.Error
		switch {
		case errors.Is(err, io.EOF):
			return f.end(ctx, bad, before)
		case errors.As(err, &wrong) && wrong.Row != 0:
			wrong.Row += lines
			if bad = append(bad, wrong); len(bad) == 1 {
				before = len(f.group.rows)
			}
		case err != nil:
			return ofFile(f.file, err)
		default:
			g := &f.group
			g.rows, g.lines, g.bytes = append(g.rows, cells), append(g.lines, line+lines), g.bytes+textOf(cells)
		}
		if len(f.group.rows)+len(bad) >= most || f.group.bytes >= maxGroupText {
			if err := f.end(ctx, bad, before); err != nil {
				return err
			}
		}
	}
}

// end adds the group, of which some rows could not be read.
func (f *feeder) end(ctx context.Context, bad crowd.Errors, before int) error {
	if len(bad) == 0 {
		return f.send(ctx)
	}
	if f.piecewise {
		f.group.rows, f.group.lines = f.group.rows[:before], f.group.lines[:before]
		if err := f.send(ctx); err != nil {
			return err
		}
	}
	return ofFile(f.file, bad)
}

func textOf(cells []string) (n int) {
	for _, c := range cells {
		n += len(c)
	}
	return n
}

// send adds the group, without the rows that were there at the beginning.
func (f *feeder) send(ctx context.Context) error {
	g := f.group
	f.group = group{columns: g.columns}
	skip := min(max(f.known-f.sent, 0), int64(len(g.rows)))
	f.sent += skip
	g.rows, g.lines = g.rows[skip:], g.lines[skip:]
	err := f.add(ctx, &g)
	if err == nil {
		return nil
	}
	first := 0 // of the rows that are refused, from 1; 0: it is not about rows
	for _, e := range crowd.ErrorsOf(err) {
		if e.Row > 0 && (first == 0 || e.Row < first) {
			first = e.Row
		}
	}
	err = ofFile(f.file, g.placed(err))
	if f.piecewise && first > 1 && first <= len(g.rows) {
		g.rows, g.lines = g.rows[:first-1], g.lines[:first-1]
		if err := f.add(ctx, &g); err != nil {
			return ofFile(f.file, g.placed(err))
		}
	}
	return err
}

// add has the server add the rows of a group.
func (f *feeder) add(ctx context.Context, g *group) error {
	if len(g.rows) == 0 {
		return nil
	}
	var text bytes.Buffer
	out := table.WriterOptions{Format: table.JSONL}
	if err := table.WriteRows(&text, g.columns, out, func(yield func([]string, error) bool) {
		for _, row := range g.rows {
			if !yield(row, nil) {
				return
			}
		}
	}); err != nil {
		return err
	}
	added, err := f.to.AddRows(ctx, f.run, client.NewRows{Input: f.input, Format: string(table.JSONL), Feed: f.feed, After: f.sent, Duplicates: f.duplicates}, &text)
	if err != nil {
		return err
	}
	f.sent += int64(len(g.rows))
	f.gained, f.dropped = f.gained+added.Added, f.dropped+added.Dropped
	if f.added != nil && added.Added > 0 {
		f.added(added.Added)
	}
	return nil
}

// placed has the errors of rows name their lines in the file, where they were numbered in
// the group.
func (g *group) placed(err error) error {
	for _, e := range crowd.ErrorsOf(err) {
		if e.Row > 0 && e.Row <= len(g.lines) {
			e.Row = g.lines[e.Row-1]
		}
		var twice *table.Duplicate
		if errors.As(e.Cause, &twice) && twice.Of <= int64(len(g.lines)) {
			twice.Of = int64(g.lines[twice.Of-1])
			e.Message = twice.Error()
		}
	}
	return err
}
