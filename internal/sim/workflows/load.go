package workflows

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
	"github.com/throng-dev/throng/internal/workflow"
)

// Load is what comes to a workflow while a simulation goes.
type Load struct {
	Arrivals sim.Arrivals
	For      time.Duration // after which nothing more comes; what is there is done to the end
	// Runs has each arrival be a run of its own, with rows of all inputs; else it is a
	// row of the inputs that a step streams, in one run, and the other inputs are whole.
	Runs   bool
	Rows   int                // of each input of a run, drawn from its table; 0: all of a table, or defaultRows
	Tables map[string]*Table  // by input; where there is none, rows are made up
	Cells  map[string]columns // by input, what the cells of columns are drawn from
}

type columns = map[string]scenario.Values

// defaultRows is how many rows of an input without a table a run has.
const defaultRows = 10

// MaxTable is the most rows that a Table has.
const MaxTable = 1_000_000

// Table is a file that is in memory, from which rows are drawn.
type Table struct {
	Columns []string
	Rows    [][]string
	Bad     int // rows that were left out, as a cell is no value of its column's type
}

// ReadTable reads a file as the table of an input.
func ReadTable(file table.Rows, in *workflow.Input) (*Table, error) {
	t := &Table{Columns: slices.Clone(file.Columns())}
	types := make([]condition.Type, len(t.Columns))
	var missing []string
	for _, c := range in.Columns {
		if i := slices.Index(t.Columns, c.Name); i >= 0 {
			types[i] = c.Type
		} else {
			missing = append(missing, strconv.Quote(c.Name))
		}
	}
	if len(missing) > 0 {
		return nil, crowd.Fieldf("input", "the file of %s has no column %s: its columns are %s, and the workflow names %s", in.Name, strings.Join(missing, ", "),
			strings.Join(t.Columns, ", "), strings.Join(lists.Map(in.Columns, func(c workflow.Column) string { return c.Name }), ", "))
	}
	for {
		cells, _, err := file.Read()
		var wrong *crowd.Error
		switch {
		case errors.Is(err, io.EOF):
			if len(t.Rows) == 0 {
				return nil, crowd.Fieldf("input", "the file of %s has no row that can be read", in.Name)
			}
			return t, nil
		case errors.As(err, &wrong) && errors.As(wrong.Cause, new(*table.Duplicate)): // it is refused
			return nil, &InputError{in.Name, err}
		case errors.As(err, &wrong) && wrong.Row != 0:
			t.Bad++
			continue
		case err != nil:
			return nil, err
		case len(t.Rows) == MaxTable:
			return nil, crowd.Errorf(crowd.TooLarge, "the file of %s has more than %d rows: rows are drawn from what is in memory", in.Name, MaxTable)
		}
		fits := true
		for i, cell := range cells {
			if types[i] != "" {
				_, ok := types[i].Value(cell)
				fits = fits && ok
			}
		}
		if !fits {
			t.Bad++
			continue
		}
		t.Rows = append(t.Rows, slices.Clone(cells))
	}
}

// InputError is what is wrong with the file of an input.
type InputError struct {
	Input string
	Err   error
}

// Error implements error.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *InputError) Unwrap() error { return e.Err }

// Streams lists the inputs to which rows come one by one, where an arrival is a row: those
// that a step streams.
func Streams(w *workflow.Workflow) (names []string) {
	for i := range w.Inputs {
		if slices.ContainsFunc(w.Steps, func(s workflow.Step) bool {
			return slices.ContainsFunc(s.From, func(from workflow.Source) bool { return from.Node == i && from.Edge == workflow.Stream })
		}) {
			names = append(names, w.Inputs[i].Name)
		}
	}
	return names
}

// WaitForAll lists the steps that hand an item on only when all items of a source are
// there, though they go item by item.
func WaitForAll(w *workflow.Workflow) (names []string) {
	streams := Streams(w)
	for i := range w.Steps {
		s := &w.Steps[i]
		if slices.ContainsFunc(s.From, func(from workflow.Source) bool {
			whole := from.Node < len(w.Inputs) && !slices.Contains(streams, from.Name)
			return from.Edge == workflow.Batch && s.JoinsItems(from) && !whole
		}) {
			names = append(names, s.Name)
		}
	}
	return names
}

// ArriveAsRuns reports whether an arrival is best a whole run: what being late costs is
// per run, or items would wait for the end of the load.
func ArriveAsRuns(w *workflow.Workflow) bool {
	return w.SLA != nil && !w.SLA.PerItem || len(Streams(w)) == 0 || len(WaitForAll(w)) > 0
}

// memory is rows that are in memory, as a file.
type memory struct {
	columns []string
	rows    [][]string
}

func (m *memory) Columns() []string    { return m.columns }
func (m *memory) Format() table.Format { return table.CSV }

func (m *memory) Delimiter() table.Delimiter { return 0 }
func (m *memory) Read() ([]string, int, error) {
	if len(m.rows) == 0 {
		return nil, 0, io.EOF
	}
	row := m.rows[0]
	m.rows = m.rows[1:]
	return row, 1, nil
}

// rowsOf draws rows of an input for the n-th arrival; count 0: the whole table, in which
// only the columns are drawn that the model names.
func (w *world) rowsOf(in *workflow.Input, n, count int) *memory {
	t, cells := w.Load.Tables[in.Name], w.Load.Cells[in.Name]
	whole := t != nil && count == 0
	switch {
	case whole && len(cells) == 0:
		return &memory{t.Columns, t.Rows}
	case whole:
		count = len(t.Rows)
	}
	m := &memory{columns: lists.Map(in.Columns, func(c workflow.Column) string { return c.Name })}
	if t != nil {
		m.columns = t.Columns
	} else if count == 0 {
		count = defaultRows
	}
	stream := sim.NewStream(w.Seed, n, "rows of "+in.Name)
	for k := range count {
		r := stream.At(uint64(k))
		var row []string
		switch {
		case whole:
			row = slices.Clone(t.Rows[k])
		case t != nil:
			row = slices.Clone(t.Rows[r.IntN(len(t.Rows))])
		default:
			for _, c := range in.Columns {
				row = append(row, w.madeCell(c, n*max(count, 1)+k+1, &r))
			}
		}
		for i, name := range m.columns {
			if v, ok := cells[name]; ok {
				row[i] = v.Draw(&r)
			}
		}
		m.rows = append(m.rows, row)
	}
	return m
}

// madeCell makes up a cell of an input that has no file: a known answer is not known.
func (w *world) madeCell(c workflow.Column, n int, r *sim.Rand) string {
	switch {
	case slices.ContainsFunc(w.out.Flow.Steps, func(s workflow.Step) bool {
		return s.Crowd() != nil && (s.Crowd().Truth == c.Name || s.Crowd().Explain == c.Name)
	}):
		return ""
	case c.Type == condition.Number:
		return fmt.Sprint(1 + r.IntN(100))
	case c.Type == condition.Bool:
		return fmt.Sprint(r.IntN(2) == 0)
	}
	return fmt.Sprintf("%s %d", c.Name, n)
}

// checkLoad checks that there are rows for each input.
func (w *world) checkLoad() error {
	for i := range w.out.Flow.Inputs {
		in := &w.out.Flow.Inputs[i]
		if in.Open() && w.Load.Tables[in.Name] == nil {
			return crowd.Fieldf("input", "the workflow does not say which columns %s has: give a file from which its rows are drawn, with --input %s=PATH", in.Name, in.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Load.Tables)) {
		if !slices.ContainsFunc(w.out.Flow.Inputs, func(in workflow.Input) bool { return in.Name == name }) {
			return crowd.Fieldf("input", "the workflow has no input %q", name)
		}
	}
	return nil
}

// beginLoad has the load come: what is there from the start is made now.
func (w *world) beginLoad() error {
	if err := w.checkLoad(); err != nil {
		return err
	}
	if !w.Load.Runs {
		if err := w.beginRows(); err != nil {
			return err
		}
	}
	w.nextArrival = w.Load.Arrivals.Each(sim.NewStream(w.Seed, 0, "arrivals"), w.Load.For)
	w.comes = true
	w.scheduleArrival()
	return nil
}

// beginRows starts the one run to whose inputs rows come.
func (w *world) beginRows() error {
	o, flow, streams := w.out.Orchestrator, w.out.Flow, Streams(w.out.Flow)
	made, err := o.Create(w.ctx, orchestrator.NewRun{Tenant: 1, Text: w.Text, Budget: w.Budget, Open: streams})
	if err != nil {
		return err
	}
	w.addRun(made.Run.ID)
	for i := range flow.Inputs {
		in := &flow.Inputs[i]
		rows := w.rowsOf(in, 0, 0)
		if slices.Contains(streams, in.Name) {
			if !in.Open() {
				continue
			}
			rows.rows = nil // it tells the columns
		}
		if _, err = o.Load(w.ctx, made.Run.ID, in.Name, table.Opened(rows)); err != nil {
			return err
		}
	}
	return o.Start(w.ctx, made.Run.ID)
}

// scheduleArrival plans the next arrival, or the end of the load.
func (w *world) scheduleArrival() {
	at, ok := w.nextArrival()
	if ok && at <= w.Load.For && w.arrived < 2*MaxItems {
		w.schedule(w.out.Began.Add(at), func() {
			w.note(w.arrive())
			w.scheduleArrival()
		})
		return
	}
	w.schedule(w.out.Began.Add(w.Load.For), func() {
		w.comes = false
		if !w.Load.Runs {
			w.note(w.out.Orchestrator.SealInputs(w.ctx, w.out.Run, ""))
		}
	})
}

// MaxItems is the most items that come in a simulation: rows, or runs times their rows.
const MaxItems = 1_000_000

// Items is how many items are expected to come.
func (l *Load) Items(flow *workflow.Workflow) float64 {
	items := l.Arrivals.Expected(l.For)
	if !l.Runs {
		return items * float64(len(Streams(flow)))
	}
	each := 0
	for i := range flow.Inputs {
		switch t := l.Tables[flow.Inputs[i].Name]; {
		case l.Rows > 0:
			each += l.Rows
		case t != nil:
			each += len(t.Rows)
		default:
			each += defaultRows
		}
	}
	return items * float64(max(each, 1))
}

// arrive lets the next row or run come.
func (w *world) arrive() error {
	o := w.out.Orchestrator
	n := w.arrived
	w.arrived++
	if w.Load.Runs {
		w.births = append(w.births, w.now.Sub(w.out.Began))
		return w.arriveRun(n)
	}
	for _, name := range Streams(w.out.Flow) {
		in := &w.out.Flow.Inputs[slices.IndexFunc(w.out.Flow.Inputs, func(in workflow.Input) bool { return in.Name == name })]
		if _, err := o.AddRows(w.ctx, w.out.Run, orchestrator.NewRows{Input: name, File: table.Opened(w.rowsOf(in, n, 1))}); err != nil {
			return err
		}
	}
	return nil
}

// arriveRun begins a run of its own.
func (w *world) arriveRun(n int) error {
	o, flow := w.out.Orchestrator, w.out.Flow
	made, err := o.Create(w.ctx, orchestrator.NewRun{Tenant: 1, Text: w.Text, Budget: w.Budget})
	if err != nil {
		return err
	}
	w.addRun(made.Run.ID)
	for i := range flow.Inputs {
		if _, err := o.Load(w.ctx, made.Run.ID, flow.Inputs[i].Name, table.Opened(w.rowsOf(&flow.Inputs[i], n, w.Load.Rows))); err != nil {
			return err
		}
	}
	if err := o.Start(w.ctx, made.Run.ID); err != nil {
		return err
	}
	return o.SealInputs(w.ctx, made.Run.ID, "")
}

// addRun counts a run among those that are under way.
func (w *world) addRun(id crowd.RunID) {
	if w.out.Run == 0 {
		w.out.Run = id
	}
	w.runs, w.open = append(w.runs, id), append(w.open, id)
}
