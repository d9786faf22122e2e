package workflow

import (
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

// SQL is a query over the sources, which it knows by their names.
type SQL struct {
	Query    string
	RowByRow bool          // each item of a stream edge by itself
	Why      string        // why it needs all rows, if it does, even on a stream edge
	Time     time.Duration // 0: the default of the SQL engine
	Rows     int64         // at most, of its result; 0: the default of the SQL engine
}

// queryTime is how long a query is expected to take for one item.
const queryTime = 100 * time.Millisecond

// MakesItems reports whether the query needs all rows.
func (s *SQL) MakesItems() bool { return !s.RowByRow }

// WhyAllRows says what in the query needs all rows.
func (s *SQL) WhyAllRows() string { return s.Why }

// Summary says what the query sees at a time.
func (s *SQL) Summary() string {
	if s.RowByRow {
		return "SQL · row by row"
	}
	return "SQL · all rows"
}

// SQL returns what an SQL step says; nil for another kind.
func (s *Step) SQL() *SQL {
	q, _ := s.Spec.(*SQL)
	return q
}

var sqlKind = kind{
	name:     SQLStep,
	shape:    fields.Either(fields.Text(1, MaxQuery).Doc("The query."), sqlShape).Doc("A query over the sources, which are its tables."),
	fields:   fields.Fields{fields.May("columns", fields.Map(maxColumns, anyName, typeShape).Doc("The types of an SQL step's columns that are not as the query says."))},
	foreign:  "columns gives the types of the columns of an SQL step",
	reshapes: true,
	look:     Look{"sql", "SQL", Cylinder, Paint{"#e3eefb", "#2f6fb5"}, Paint{"#16324f", "#6ba7e5"}},
	read:     (*reader).sqlStep,
	typeHint: func(step, column string) string {
		return column + " is a text unless columns: {" + column + ": number} of the step " + step + " declares it"
	},
}

var sqlShape = fields.Object("A query and its limits.",
	fields.Must("query", fields.Text(1, MaxQuery).Doc("The query.")),
	fields.May("time", fields.Duration(time.Millisecond, MaxTime).Doc("The most that it may take.")),
	fields.May("rows", fields.Count(1, MaxRows).Doc("The most rows that it may give.")),
)

// sqlStep reads an SQL step.
func (r *reader) sqlStep(m *made, v *fields.Part) {
	s := &SQL{}
	m.step.Spec = s
	query := v
	if v != nil && v.Node.Kind == yamlfile.Mapping {
		query = v.Get("query")
		s.Time = fields.Or[time.Duration](v, "time", 0)
		s.Rows = int64(fields.Or(v, "rows", 0))
	}
	s.Query = query.Text()
	if m.step.Expect == 0 {
		m.step.Expect = queryTime
	}
	streamed := slices.ContainsFunc(m.sources, func(s source) bool { return s.edge == Stream })
	facts := r.checkQuery(m, query, streamed)
	s.RowByRow = streamed && facts.RowByRow
	if !s.RowByRow {
		s.Why = facts.Why
	}
	if s.RowByRow {
		// Each item of the streamed sources goes by itself.
		r.joinSources(m, slices.DeleteFunc(slices.Clone(m.sources), func(s source) bool { return s.edge != Stream }))
	} else {
		r.allRows(m, query, facts, streamed)
	}
	m.columns, m.open = nil, facts.Open
	if !m.open {
		m.lost = false // of a row-by-row query only a source was
	}
	r.own(m, r.typed(m, facts), func(int) Place { return m.value.Start() })
}

// allRows notes what makes no sense for a query over all rows, whose rows are
// items of their own.
func (r *reader) allRows(m *made, query *fields.Part, facts SQLFacts, streamed bool) {
	m.family = m.index
	v := m.value
	if v.Has("when") {
		r.problem(v.KeyPlace("when"), "this query takes all rows at once, so when cannot choose among them: write the condition into the query, after where")
	}
	if v.Has("join") && len(m.sources) > 1 {
		r.problem(v.KeyPlace("join"), "this query takes all rows at once, so there is nothing to wait for: leave join out and join in the query")
	}
	if !streamed || query == nil || len(facts.Problems) > 0 {
		return
	}
	why := "the query needs all rows at once"
	if facts.Why != "" {
		why += " (" + facts.Why + ")"
	}
	for _, s := range m.sources {
		if s.edge == Stream {
			r.problem(s.at, "%s cannot come by a stream edge: %s; use batch", s.from.label(), why)
		}
	}
}

func (m *made) label() string {
	if m == nil {
		return "this source"
	}
	return m.name
}

// checkQuery has the query checked.
func (r *reader) checkQuery(m *made, query *fields.Part, streamed bool) SQLFacts {
	if query == nil {
		m.lost = true
	}
	if r.checker == nil || query == nil {
		return SQLFacts{Open: true, RowByRow: streamed}
	}
	var sources []SQLSource
	for _, s := range m.sources {
		if s.from == nil || !s.from.built || s.from.lost {
			m.lost = true
			return SQLFacts{Open: true, RowByRow: streamed}
		}
		t := SQLSource{Name: s.from.name, Open: s.from.open, Stream: s.edge == Stream}
		for _, c := range s.from.columns {
			t.Columns = append(t.Columns, c.Column)
		}
		sources = append(sources, t)
	}
	facts := r.checker.CheckSQL(query.Text(), sources)
	at := query.Node.At
	for _, p := range facts.Problems {
		place := query.At()
		if p.Line > 0 {
			place = at(p.Line, max(p.Column, 1))
		}
		r.problem(place, "sql: %s", p.Message)
	}
	if len(facts.Problems) > 0 {
		m.lost, facts.Open, facts.RowByRow = true, true, facts.RowByRow || streamed
	}
	if facts.Why != "" && facts.WhyAt.Line > 0 {
		place := at(facts.WhyAt.Line, max(facts.WhyAt.Column, 1))
		facts.Why += ", at line " + format.Number(float64(place.Line)) + ", column " + format.Number(float64(place.Column))
	}
	return facts
}

// typed returns the columns of a query with the types that the step declares.
func (r *reader) typed(m *made, facts SQLFacts) []Column {
	columns := slices.Clone(facts.Columns)
	var names []string
	seen := map[string]bool{}
	for _, c := range columns {
		names = append(names, c.Name)
		if wrong := checkColumn(c.Name); wrong != nil {
			r.problem(m.value.Get("sql").Start(), "sql: %s; give it a name with as", wrong)
		}
		if lower := strings.ToLower(c.Name); seen[lower] {
			r.problem(m.value.Get("sql").Start(), "sql: two columns of the result are named %s; give one another name with as", yamlfile.Quote(c.Name))
		} else {
			seen[lower] = true
		}
	}
	for _, d := range m.value.Get("columns").Parts() {
		i := slices.Index(names, d.Name())
		switch {
		case i >= 0:
			columns[i].Type = condition.Type(d.Text())
		case facts.Open:
			columns = append(columns, Column{d.Name(), condition.Type(d.Text())})
		default:
			r.problem(d.Start(), "the query gives no column %s: %s", yamlfile.Quote(d.Name()), r.notes.Hint(d.Name(), names))
		}
	}
	return columns
}
