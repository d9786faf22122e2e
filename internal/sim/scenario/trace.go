package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/label"
)

// trace reads batches from the rows of a file. What a row does not say is as
// the trace itself says.
func (r *reader) trace(o *object) {
	t := trace{
		r: r, o: o, prefix: o.name(map[string]bool{}, "trace", "trace"), rules: map[label.Rule]bool{},
		kinds: r.translation(o, "kinds", r.kindNames, "kind"), tenants: r.translation(o, "tenants", r.tenantNames, "tenant"),
	}
	columns := r.section(o, "columns")
	r.common(o, &t.base, func(field string) bool { return columns == nil || columns.Has(field) })
	if !o.Has("file") {
		return
	}
	table := r.table(o.Value("file"))
	if table == nil || columns == nil {
		return
	}
	t.file = o.Value("file").Text
	at := map[string]int{}
	for _, field := range traceColumns {
		if columns.Has(field) {
			if i, ok := r.column(table, columns.Value(field)); ok {
				at[field] = i
			}
		}
	}
	keep, ok := r.where(table, o)
	if !ok || len(at) < columns.Len() {
		return
	}
	if len(table.rows) > maxBatches {
		r.errorf(o.Value("file"), "%d rows are too many (at most %d)", len(table.rows), maxBatches)
		return
	}
	first := len(r.s.Setup.Batches)
	for i, row := range table.rows {
		if keep(row) {
			t.row(at, row, i+1)
		}
	}
	if len(r.s.Setup.Batches) == first && r.notes.Count() == 0 {
		r.errorf(o.Node, "no row is left of the file%s", r.others(table, o))
	}
	t.fromFirst(first)
}

// A trace is the reading of one.
type trace struct {
	r              *reader
	o              *object
	file, prefix   string
	kinds, tenants map[string]int
	base           sim.Batch
	rules          map[label.Rule]bool // of the rows so far
	moments        []time.Time         // of the rows whose times are of the calendar
}

// translation reads {value in the file: name in the scenario}.
func (r *reader) translation(o *object, field string, names []string, of string) map[string]int {
	known := map[string]int{}
	for i, name := range names {
		known[name] = i
	}
	if o.Has(field) {
		r.notes.Mapping(o.Value(field), field+" is a mapping of values in the file to names, like B1: search", func(value string, k, v *node) {
			if name, ok := r.text(v); ok {
				if i, ok := r.find(v, name, names, of); ok {
					known[value] = i
				}
			}
		})
	}
	return known
}

// row reads one batch.
func (t *trace) row(at map[string]int, row row, number int) {
	b := t.base
	b.Name = fmt.Sprintf("%s-%d", t.prefix, number)
	bad := false
	for _, field := range traceColumns {
		i, given := at[field]
		if !given || row.cells[i] == "" && field != "tasks" {
			continue
		}
		if err := t.cell(&b, field, row.cells[i]); err != nil {
			t.r.notes.AddIn(t.file, row.line, "column %s: %s", yamlfile.Quote(t.o.Value("columns").Field(field).Value.Text), err)
			bad = true
		}
	}
	switch most := mostTasks(&b); {
	case bad:
		return
	case b.Tasks > most:
		t.r.notes.AddIn(t.file, row.line, "%s", tooMany(&b, b.Tasks, most))
		return
	case t.r.batchNames[b.Name]:
		t.r.notes.AddIn(t.file, row.line, "two batches have the name %s", yamlfile.Quote(b.Name))
		return
	}
	t.r.batchNames[b.Name] = true
	t.r.s.Setup.Batches = append(t.r.s.Setup.Batches, b)
	if !t.rules[b.Rule] { // the last checks need one of each only
		t.rules[b.Rule] = true
		t.r.batches = append(t.r.batches, placed{index: len(t.r.s.Setup.Batches) - 1, node: t.o.Node})
	}
}

// named sets the index of a kind or a tenant to that of a value in the file.
func named(to *int, known map[string]int, what, text string) error {
	i, ok := known[text]
	if *to = i; !ok {
		return fmt.Errorf("%s is no %s of the scenario; say in %ss: which it is", yamlfile.Quote(text), what, what)
	}
	return nil
}

var calendarForm = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]`)

func (t *trace) cell(b *sim.Batch, field, text string) error {
	switch field {
	case "name":
		b.Name = text
		return validName(text)
	case "kind":
		return named(&b.Kind, t.kinds, "kind", text)
	case "tenant":
		return named(&b.Tenant, t.tenants, "tenant", text)
	case "redundancy":
		rule, err := parseRule(text)
		b.Rule = rule
		return err
	case "at":
		if calendarForm.MatchString(text) {
			return t.moment(b, text)
		}
	}
	return setBatch(b, field, text, parseSeconds)
}

// moment reads a time of the calendar; the earliest one is the start.
func (t *trace) moment(b *sim.Batch, text string) error {
	for _, form := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if m, err := time.Parse(form, text); err == nil {
			t.moments = append(t.moments, m)
			b.At = -time.Duration(len(t.moments)) // until all are known
			return nil
		}
	}
	return fmt.Errorf("%s is not a time, like 2026-11-21T09:30:00Z", yamlfile.Quote(text))
}

// fromFirst counts the times of the calendar from the earliest one.
func (t *trace) fromFirst(first int) {
	if len(t.moments) == 0 {
		return
	}
	start := slices.MinFunc(t.moments, time.Time.Compare)
	batches := t.r.s.Setup.Batches[first:]
	for i := range batches {
		b := &batches[i]
		if b.At >= 0 {
			continue
		}
		if b.At = t.moments[-b.At-1].Sub(start); b.At > maxDuration {
			t.r.errorf(t.o.Value("columns"), "the times of the file span more than %s", yamlfile.Words(maxDuration))
			return
		}
	}
}
