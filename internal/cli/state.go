package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/sched"
)

// state is the batches of a state file, in the order of their ids.
type state struct {
	batches []stateBatch
	tenants map[crowd.TenantID]string
	dated   bool // one of its times is a date; else it counts seconds from a moment that it does not say
}

// now returns the time of the state where nobody says: the current time if its
// times are dates, else the latest arrival on its own clock, which begins at 0.
func (st *state) now(current time.Time) time.Time {
	if st.dated {
		return current
	}
	latest, known := time.Unix(0, 0), false
	for i := range st.batches {
		if b := &st.batches[i]; b.arrived && (!known || b.Arrived.After(latest)) {
			latest, known = b.Arrived, true
		}
	}
	return latest
}

// stateBatch is a batch with the names that it has in the file.
type stateBatch struct {
	sched.Batch
	id, tenant string
	assignable bool // whether the file says
	arrived    bool // the same
	dated      bool // has a time as a date, not as a number of seconds
}

// readState reads a state file: JSON (an array, an object with "batches", one
// object a line) or a table with a header.
func readState(r io.Reader, name string) (*state, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	var rows table.Rows
	format := table.FormatOf(name)
	head := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case len(head) == 0:
		return nil, crowd.Errorf(crowd.Invalid, "the file is empty")
	case format != table.CSV && format != table.TSV && (head[0] == '[' || head[0] == '{'):
		rows, err = readObjects(data)
	default:
		rows, err = table.NewReader(bytes.NewReader(data), table.Options{Format: format})
	}
	if err != nil {
		return nil, err
	}
	st := &state{}
	err = stateLayout.Each(rows, func(r *table.Record[stateBatch]) error {
		st.batches, st.dated = append(st.batches, r.Value), st.dated || r.Value.dated
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(st.batches) == 0:
		return nil, crowd.Errorf(crowd.Invalid, "there is no batch in the file")
	}
	st.number()
	return st, nil
}

// stateLayout is the fields of a batch, as columns or as keys of an object.
var stateLayout = table.Layout[stateBatch]{
	Closed: true,
	Default: stateBatch{Batch: sched.Batch{
		ID:           1, // until all ids are known
		TenantWeight: 1, Priority: engine.DefaultPriority, TaskTime: engine.DefaultTaskTime,
	}},
	Columns: []table.Column[stateBatch]{
		{Name: "id", Required: true, Filled: true, Unique: true, Read: table.Text(func(b *stateBatch) *string { return &b.id })},
		{Name: "tenant", Read: table.Text(func(b *stateBatch) *string { return &b.tenant })},
		{Name: "tenant_weight", Read: stateNumber(func(b *stateBatch) *float64 { return &b.TenantWeight })},
		{Name: "priority", Read: stateNumber(func(b *stateBatch) *float64 { return &b.Priority })},
		{Name: "reward", Read: func(b *stateBatch, text string) (err error) { b.Reward, err = crowd.ParseMoney(text); return err }},
		{Name: "planned", Required: true, Filled: true, Read: stateCount(func(b *stateBatch) *int { return &b.Planned })},
		{Name: "running", Read: stateCount(func(b *stateBatch) *int { return &b.Running })},
		{Name: "completed", Read: stateCount(func(b *stateBatch) *int { return &b.Completed })},
		{Name: "deadline", Read: stateTime(func(b *stateBatch) *time.Time { return &b.Deadline })},
		{Name: "arrived", Read: func(b *stateBatch, text string) error {
			b.arrived = true
			return stateTime(func(b *stateBatch) *time.Time { return &b.Arrived })(b, text)
		}},
		{Name: "production", Read: stateBool(func(b *stateBatch) *bool { return &b.Production })},
		{Name: "task_time_seconds", Read: stateSeconds(func(b *stateBatch) *time.Duration { return &b.TaskTime })},
		{Name: "turn", Read: stateTurn(func(b *stateBatch) *uint64 { return &b.Turn })},
		{Name: "tenant_turn", Read: stateTurn(func(b *stateBatch) *uint64 { return &b.TenantTurn })},
		{Name: "assignable", Read: func(b *stateBatch, text string) error {
			b.assignable = true
			return stateBool(func(b *stateBatch) *bool { return &b.Assignable })(b, text)
		}},
	},
	Check: func(b *stateBatch) error {
		var e *crowd.Error
		if errors.As(b.Validate(), &e) {
			e.Field = strings.Replace(e.Field, "task_time", "task_time_seconds", 1)
			return e
		}
		if !b.assignable {
			b.Assignable = b.Completed < b.Planned && b.Running < b.Planned-b.Completed
		}
		return nil
	},
}

// objects is the batches of a JSON text, as the rows of a table.
type objects struct {
	data    []byte
	columns []string
	rows    [][]string
	lines   []int // where each begins

	counted, line int // so many line ends in the first so many bytes
}

// lineAt returns the line of an offset that is not before the last one asked for.
func (o *objects) lineAt(at int) int {
	o.line += bytes.Count(o.data[o.counted:at], []byte("\n"))
	o.counted = at
	return 1 + o.line
}

func (o *objects) Columns() []string { return o.columns }

func (o *objects) Format() table.Format { return table.JSONL }

func (o *objects) Delimiter() table.Delimiter { return 0 }

func (o *objects) Read() (row []string, line int, err error) {
	if len(o.rows) == 0 {
		return nil, 0, io.EOF
	}
	row, line, o.rows, o.lines = o.rows[0], o.lines[0], o.rows[1:], o.lines[1:]
	return row, line, nil
}

func readObjects(data []byte) (*objects, error) {
	o := &objects{data: data}
	for _, c := range stateLayout.Columns {
		o.columns = append(o.columns, c.Name)
	}
	return o, o.read(0, len(data))
}

// read reads arrays of objects, and objects, from a part of the text.
func (o *objects) read(from, to int) error {
	dec := json.NewDecoder(bytes.NewReader(o.data[from:to]))
	for depth := 0; ; {
		at := from + int(dec.InputOffset())
		rest := bytes.TrimLeft(o.data[at:to], ", \t\r\n")
		at = to - len(rest)
		var err error
		switch {
		case len(rest) == 0 && depth == 0:
			return nil
		case len(rest) > 0 && (rest[0] == '[' && depth == 0 || rest[0] == ']' && depth == 1):
			_, err = dec.Token()
			depth = 1 - depth
		default:
			var value json.RawMessage
			if err = dec.Decode(&value); err == nil {
				if err := o.object(at, value); err != nil {
					return err
				}
			}
		}
		if err != nil {
			return o.notJSON(from, at, err)
		}
	}
}

// object adds a batch, or those of an object that has them all under "batches".
func (o *objects) object(at int, text []byte) error {
	line := o.lineAt(at)
	names, values, err := table.ParseObject(text)
	var e *crowd.Error
	switch {
	case errors.As(err, &e):
		e.Row, e.Message = line, strings.Replace(e.Message, "the line is", "a batch is an object; this is", 1)
		return e
	case len(names) == 1 && names[0] == "batches" && len(o.rows) == 0:
		begin := bytes.IndexByte(text, '[')
		if !strings.HasPrefix(values[0], "[") {
			return &crowd.Error{Code: crowd.Invalid, Row: line, Field: "batches", Message: "is not an array"}
		}
		return o.read(at+begin, at+bytes.LastIndexByte(text, ']')+1)
	}
	row := make([]string, len(o.columns))
	for i, name := range names {
		c := slices.Index(o.columns, name)
		switch {
		case c < 0:
			return &crowd.Error{Code: crowd.Invalid, Row: line, Field: name, Message: "is not a field of a batch (known: " + strings.Join(o.columns, ", ") + ")"}
		case slices.Contains(names[:i], name):
			return &crowd.Error{Code: crowd.Invalid, Row: line, Field: name, Message: "is given twice"}
		}
		row[c] = values[i]
	}
	o.rows, o.lines = append(o.rows, row), append(o.lines, line)
	return nil
}

// notJSON is an error of the decoder that began at from, in the value at.
func (o *objects) notJSON(from, at int, cause error) error {
	var syntax *json.SyntaxError
	text := "the file ends too early"
	if errors.As(cause, &syntax) {
		at, text = min(from+int(syntax.Offset), len(o.data)), syntax.Error()
	} else if !errors.Is(cause, io.EOF) && !errors.Is(cause, io.ErrUnexpectedEOF) {
		text = cause.Error()
	}
	return &crowd.Error{Code: crowd.Invalid, Row: o.lineAt(max(at, o.counted)), Message: "this is not JSON: " + text, Cause: cause}
}

// number gives the batches and tenants their numbers, and sorts the batches by them.
func (st *state) number() {
	var ids, tenants []string
	for i := range st.batches {
		ids, tenants = append(ids, st.batches[i].id), append(tenants, st.batches[i].tenant)
	}
	batchNumbers, tenantNumbers := numbered(ids, "b"), numbered(tenants, "n")
	st.tenants = make(map[crowd.TenantID]string)
	for i := range st.batches {
		b := &st.batches[i]
		b.ID, b.Tenant = crowd.BatchID(batchNumbers[b.id]), crowd.TenantID(tenantNumbers[b.tenant])
		st.tenants[b.Tenant] = b.tenant
	}
	slices.SortFunc(st.batches, func(a, b stateBatch) int { return cmp.Compare(a.ID, b.ID) })
}

// numbered gives every name a number from 1, in order: by number if all names
// are numbers, or all are numbers after the same letter as in b17; else by the
// bytes. Numbers that can stand for themselves do.
func numbered(names []string, letter string) map[string]int64 {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	digits := func(s string) string { return s }
	if !slices.ContainsFunc(names, func(s string) bool { return !strings.HasPrefix(s, letter) }) {
		digits = func(s string) string { return strings.TrimPrefix(s, letter) }
	}
	out := make(map[string]int64, len(names))
	themselves := true
	for _, s := range names {
		d := digits(s)
		if d == "" || strings.Trim(d, "0123456789") != "" {
			digits = nil
			break
		}
		n, err := strconv.ParseInt(d, 10, 64)
		themselves = themselves && err == nil && n >= 1 && n <= crowd.MaxBatchID && strconv.FormatInt(n, 10) == d
		out[s] = n
	}
	if digits != nil && themselves {
		return out
	}
	if digits != nil {
		slices.SortStableFunc(names, func(a, b string) int {
			x, y := strings.TrimLeft(digits(a), "0"), strings.TrimLeft(digits(b), "0")
			return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
		})
	}
	for i, s := range names {
		out[s] = int64(i + 1)
	}
	return out
}

// reader is how a cell becomes a field of a batch.
type reader = func(b *stateBatch, text string) error

// parsed is how a cell becomes a part of a batch, by a parser that says whether it can
// read the text, and what it reads.
func parsed[T any](part func(*stateBatch) *T, what string, parse func(string) (T, bool)) reader {
	return func(b *stateBatch, text string) error {
		v, ok := parse(text)
		if !ok {
			return fmt.Errorf("%q is %s", text, what)
		}
		*part(b) = v
		return nil
	}
}

func stateNumber(part func(*stateBatch) *float64) reader {
	return table.Number(-math.MaxFloat64, math.MaxFloat64, part)
}

func stateCount(part func(*stateBatch) *int) reader {
	return parsed(part, "not a whole number", func(text string) (int, bool) {
		f, err := strconv.ParseFloat(text, 64)
		return int(f), err == nil && f == math.Trunc(f) && math.Abs(f) <= 1<<53
	})
}

func stateTurn(part func(*stateBatch) *uint64) reader {
	return parsed(part, "not a whole number from 0", func(text string) (uint64, bool) {
		n, err := strconv.ParseUint(text, 10, 63)
		return n, err == nil
	})
}

func stateBool(part func(*stateBatch) *bool) reader {
	return parsed(part, "neither true nor false", func(text string) (is, ok bool) {
		text = strings.ToLower(text)
		is = text == "true" || text == "yes" || text == "1"
		return is, is || text == "false" || text == "no" || text == "0"
	})
}

func stateTime(part func(*stateBatch) *time.Time) reader {
	return func(b *stateBatch, text string) error {
		t, dated, err := readTime(text)
		*part(b), b.dated = t, b.dated || dated
		return err
	}
}

func stateSeconds(part func(*stateBatch) *time.Duration) reader {
	return parsed(part, "not a number of seconds above 0", func(text string) (time.Duration, bool) {
		f, err := strconv.ParseFloat(text, 64)
		return time.Duration(math.Round(f * float64(time.Second))), err == nil && f > 0 && f <= math.MaxInt64/float64(time.Second)/2
	})
}

// readTime reads RFC 3339, or seconds since whatever moment the file counts from;
// dated says which.
func readTime(s string) (t time.Time, dated bool, err error) {
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, true, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > 9e9 {
		return t, false, fmt.Errorf("%q is neither a time (like 2030-01-31T18:00:00Z) nor a number of seconds", s)
	}
	whole := math.Floor(f)
	return time.Unix(int64(whole), int64(math.Round((f-whole)*1e9))).UTC(), false, nil
}
