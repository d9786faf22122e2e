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
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/sched"
)

// state is the batches of a state file, in the order of their ids.
type state struct {
	batches []stateBatch
	tenants map[crowd.TenantID]string
}

// now returns the time of the state where nobody says: the current time if its
// times are dates, else the latest arrival on its own clock, which begins at 0.
func (st *state) now(current time.Time) time.Time {
	latest, known := time.Unix(0, 0), false
	for i := range st.batches {
		b := &st.batches[i]
		if b.dated {
			return current
		}
		if b.arrived && (!known || b.Arrived.After(latest)) {
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

// maxStateErrors is how many errors of a state file are told.
const maxStateErrors = 20

// readState reads a state file: JSON (an array, an object with "batches", one
// object a line) or a table with a header.
func readState(r io.Reader, name string) (*state, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	var list []rawBatch
	format := table.FormatOf(name)
	head := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case len(head) == 0:
		return nil, crowd.Errorf(crowd.Invalid, "the file is empty")
	case format != table.CSV && format != table.TSV && (head[0] == '[' || head[0] == '{'):
		list, err = readObjects(data)
	default:
		list, err = readRows(data, format)
	}
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, crowd.Errorf(crowd.Invalid, "there is no batch in the file")
	}
	return makeState(list)
}

// rawBatch is a batch as it stands in the file: texts by field, "" for none.
type rawBatch struct {
	line   int
	fields map[string]string
}

// stateFields are the fields of a batch, and how each is read.
var stateFields = []struct {
	name string
	set  func(b *stateBatch, text string) error
}{
	{"id", func(b *stateBatch, s string) error { b.id = s; return nil }},
	{"tenant", func(b *stateBatch, s string) error { b.tenant = s; return nil }},
	{"tenant_weight", func(b *stateBatch, s string) error { return setFloat(&b.TenantWeight, s) }},
	{"priority", func(b *stateBatch, s string) error { return setFloat(&b.Priority, s) }},
	{"planned", func(b *stateBatch, s string) error { return setCount(&b.Planned, s) }},
	{"running", func(b *stateBatch, s string) error { return setCount(&b.Running, s) }},
	{"completed", func(b *stateBatch, s string) error { return setCount(&b.Completed, s) }},
	{"deadline", func(b *stateBatch, s string) error { return b.setTime(&b.Deadline, s) }},
	{"arrived", func(b *stateBatch, s string) error { b.arrived = true; return b.setTime(&b.Arrived, s) }},
	{"production", func(b *stateBatch, s string) error { return setBool(&b.Production, s) }},
	{"task_time_seconds", func(b *stateBatch, s string) error { return setSeconds(&b.TaskTime, s) }},
	{"turn", func(b *stateBatch, s string) error { return setTurn(&b.Turn, s) }},
	{"tenant_turn", func(b *stateBatch, s string) error { return setTurn(&b.TenantTurn, s) }},
	{"assignable", func(b *stateBatch, s string) error { b.assignable = true; return setBool(&b.Assignable, s) }},
}

func stateFieldNames() []string {
	names := make([]string, len(stateFields))
	for i, f := range stateFields {
		names[i] = f.name
	}
	return names
}

func unknownField(line int, name string) *crowd.Error {
	return &crowd.Error{Code: crowd.Invalid, Row: line, Field: name, Message: "is not a field of a batch (known: " + strings.Join(stateFieldNames(), ", ") + ")"}
}

func readRows(data []byte, format table.Format) ([]rawBatch, error) {
	rows, err := table.NewReader(bytes.NewReader(data), table.Options{Format: format})
	if err != nil {
		return nil, err
	}
	for _, name := range rows.Columns() {
		if !slices.Contains(stateFieldNames(), name) {
			return nil, unknownField(1, name)
		}
	}
	var list []rawBatch
	var problems client.Problems
	for {
		row, line, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return list, several(problems)
		}
		var bad *crowd.Error
		if table.BadRow(err) && errors.As(err, &bad) {
			if problems = append(problems, bad); len(problems) == maxStateErrors {
				return nil, problems
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		b := rawBatch{line: line, fields: make(map[string]string, len(row))}
		for i, cell := range row {
			b.fields[rows.Columns()[i]] = strings.TrimSpace(cell)
		}
		list = append(list, b)
	}
}

// several is nil, one error, or the list.
func several(list client.Problems) error {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return list
}

// objects reads the batches of a JSON text and keeps count of its lines.
type objects struct {
	data []byte
	dec  *json.Decoder
	list []rawBatch

	counted, lines int // so many line ends in the first so many bytes
}

func readObjects(data []byte) ([]rawBatch, error) {
	o := &objects{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	o.dec.UseNumber()
	for {
		token, err := o.dec.Token()
		switch {
		case errors.Is(err, io.EOF):
			return o.list, nil
		case err != nil:
			return nil, o.notJSON(err)
		case token == json.Delim('['):
			err = o.array()
		case token == json.Delim('{'):
			err = o.object(len(o.list) == 0)
		default:
			err = o.bad("", "an array of batches, or an object, was expected, not %v", token)
		}
		if err != nil {
			return nil, err
		}
	}
}

func (o *objects) array() error {
	for o.dec.More() {
		token, err := o.dec.Token()
		if err != nil {
			return o.notJSON(err)
		}
		if token != json.Delim('{') {
			return o.bad("", "a batch is an object, not %v", token)
		}
		if err := o.object(false); err != nil {
			return err
		}
	}
	if _, err := o.dec.Token(); err != nil {
		return o.notJSON(err)
	}
	return nil
}

// object reads the rest of an object: a batch or, if it may be, the one that
// has them all under "batches".
func (o *objects) object(mayHold bool) error {
	b := rawBatch{line: o.line(), fields: make(map[string]string)}
	held := false
	for o.dec.More() {
		token, err := o.dec.Token()
		if err != nil {
			return o.notJSON(err)
		}
		name, _ := token.(string)
		if mayHold && name == "batches" && len(b.fields) == 0 {
			if token, err := o.dec.Token(); err != nil || token != json.Delim('[') {
				return o.bad("batches", "is not an array")
			}
			if err := o.array(); err != nil {
				return err
			}
			held = true
			continue
		}
		if !slices.Contains(stateFieldNames(), name) {
			return unknownField(o.line(), name)
		}
		if _, twice := b.fields[name]; twice {
			return o.bad(name, "is given twice")
		}
		value, err := o.dec.Token()
		if err != nil {
			return o.notJSON(err)
		}
		switch v := value.(type) {
		case nil:
			b.fields[name] = ""
		case string:
			b.fields[name] = v
		case json.Number:
			b.fields[name] = v.String()
		case bool:
			b.fields[name] = strconv.FormatBool(v)
		default:
			return o.bad(name, "must be a single value")
		}
	}
	if _, err := o.dec.Token(); err != nil {
		return o.notJSON(err)
	}
	if held {
		if len(b.fields) > 0 {
			return o.bad("batches", "stands next to fields of a batch")
		}
		return nil
	}
	o.list = append(o.list, b)
	return nil
}

func (o *objects) line() int { return o.lineAt(o.dec.InputOffset()) }

// lineAt returns the line of an offset; it counts on from the last one asked for.
func (o *objects) lineAt(offset int64) int {
	to := min(int(offset), len(o.data))
	if to < o.counted {
		o.counted, o.lines = 0, 0
	}
	o.lines += bytes.Count(o.data[o.counted:to], []byte("\n"))
	o.counted = to
	return 1 + o.lines
}

func (o *objects) bad(field, format string, args ...any) error {
	return &crowd.Error{Code: crowd.Invalid, Row: o.line(), Field: field, Message: fmt.Sprintf(format, args...)}
}

func (o *objects) notJSON(cause error) error {
	var syntax *json.SyntaxError
	line, text := o.line(), "the file ends too early"
	if errors.As(cause, &syntax) {
		line, text = o.lineAt(syntax.Offset), syntax.Error()
	} else if !errors.Is(cause, io.EOF) && !errors.Is(cause, io.ErrUnexpectedEOF) {
		text = cause.Error()
	}
	return &crowd.Error{Code: crowd.Invalid, Row: line, Message: "this is not JSON: " + text, Cause: cause}
}

// makeState reads the fields and gives the batches and tenants their numbers.
func makeState(list []rawBatch) (*state, error) {
	st := &state{tenants: make(map[crowd.TenantID]string)}
	var problems client.Problems
	lines := make(map[string]int, len(list))
	var ids, tenants []string
	for _, raw := range list {
		b, bad := raw.batch()
		if first, twice := lines[b.id]; twice && len(bad) == 0 {
			bad = client.Problems{{Code: crowd.Invalid, Row: raw.line, Field: "id", Message: fmt.Sprintf("%q is the id of the batch on line %d already", b.id, first)}}
		}
		lines[b.id] = raw.line
		if problems = append(problems, bad...); len(problems) >= maxStateErrors {
			break
		}
		st.batches = append(st.batches, b)
		ids, tenants = append(ids, b.id), append(tenants, b.tenant)
	}
	if err := several(problems); err != nil {
		return nil, err
	}
	batchNumbers, tenantNumbers := numbered(ids, "b"), numbered(tenants, "n")
	for i := range st.batches {
		b := &st.batches[i]
		b.ID, b.Tenant = crowd.BatchID(batchNumbers[b.id]), crowd.TenantID(tenantNumbers[b.tenant])
		st.tenants[b.Tenant] = b.tenant
	}
	slices.SortFunc(st.batches, func(a, b stateBatch) int { return cmp.Compare(a.ID, b.ID) })
	return st, nil
}

func (raw rawBatch) batch() (b stateBatch, problems client.Problems) {
	b.ID = 1 // until all ids are known
	b.TenantWeight, b.Priority, b.TaskTime, b.Arrived = 1, 1, 30*time.Second, time.Unix(0, 0)
	for _, f := range stateFields {
		text := raw.fields[f.name]
		if text == "" {
			if f.name == "id" || f.name == "planned" {
				problems = append(problems, &crowd.Error{Code: crowd.Invalid, Row: raw.line, Field: f.name, Message: "is missing"})
			}
			continue
		}
		if err := f.set(&b, text); err != nil {
			problems = append(problems, &crowd.Error{Code: crowd.Invalid, Row: raw.line, Field: f.name, Message: err.Error()})
		}
	}
	var e *crowd.Error
	if len(problems) == 0 && errors.As(b.Validate(), &e) {
		e.Row, e.Field = raw.line, strings.Replace(e.Field, "task_time", "task_time_seconds", 1)
		problems = append(problems, e)
	}
	if !b.assignable {
		b.Assignable = b.Completed < b.Planned && b.Running < b.Planned-b.Completed
	}
	return b, problems
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

func setFloat(to *float64, s string) error {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%q is not a number", s)
	}
	*to = f
	return nil
}

func setCount(to *int, s string) error {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return fmt.Errorf("%q is not a whole number", s)
	}
	*to = int(f)
	return nil
}

func setTurn(to *uint64, s string) error {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return fmt.Errorf("%q is not a whole number from 0", s)
	}
	*to = n
	return nil
}

func setBool(to *bool, s string) error {
	switch strings.ToLower(s) {
	case "true", "yes", "1":
		*to = true
	case "false", "no", "0":
		*to = false
	default:
		return fmt.Errorf("%q is neither true nor false", s)
	}
	return nil
}

// setSeconds reads a number of seconds.
func setSeconds(to *time.Duration, s string) error {
	var f float64
	if err := setFloat(&f, s); err != nil {
		return err
	}
	if f <= 0 || f > math.MaxInt64/float64(time.Second)/2 {
		return fmt.Errorf("%q is not a number of seconds above 0", s)
	}
	*to = time.Duration(f * float64(time.Second))
	return nil
}

func (b *stateBatch) setTime(to *time.Time, s string) error {
	t, dated, err := readTime(s)
	if err != nil {
		return err
	}
	*to = t
	b.dated = b.dated || dated
	return nil
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
