package calibrate

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
)

// usual are the names that are looked for.
var usual = map[string][]string{
	"seconds": {"seconds", "duration_s", "elapsed_s"},
	"worker":  {"worker", "worker_id"},
	"kind":    {"kind", "batch", "type"},
	"run":     {"run"},
	"order":   {"seq", "order", "position"},
	"start":   {"start_s", "assigned_at", "start"},
	"submit":  {"submit_s", "ended_at", "submit"},
	"same":    {"previous_task_type_same"},
	"gap":     {"gap_s"},
	"task":    {"task", "task_id"},
	"state":   {"state"},

	"session": {"session_s"},
	"arrival": {"arrival_s"},
}

// An Answer is a row of a log. Figures that it does not give are NaN.
type Answer struct {
	Worker, Kind, Run, Task string
	Seconds                 float64
	Start, Submit           float64 // seconds from any moment
	Gap                     float64
	N                       int  // n-th answer of the worker to this kind in this visit, from 1
	First                   bool // the worker's first in this visit: no other task came before
	Switched                bool // the one before was of another kind

	order float64
	visit int
}

// A GaveUp is a task that came to no answer.
type GaveUp struct {
	Kind    string
	How     crowd.AssignmentState // Skipped, Returned or Expired
	Seconds float64               // NaN: not known
}

// A Visit is a worker's stay in one run, until a pause of more than half an hour.
type Visit struct {
	Run, Worker string
	Arrival     float64 // seconds from any moment of the run; NaN: not known
	Session     float64 // seconds; NaN: not known
	End         float64 // when the last answer came; NaN: not known
	Answers     int
}

// Left counts what was left out.
type Left struct {
	Filtered int // rows, by --where
	Empty    int // answers without seconds
	Other    int // assignments that ended in another way
}

func (l Left) words() string {
	if l == (Left{}) {
		return ""
	}
	return fmt.Sprintf(" (left out: %d rows by the filter, %d without seconds, %d that were neither answered nor given up)", l.Filtered, l.Empty, l.Other)
}

// A Log is what was recorded of a crowd.
type Log struct {
	Answers []Answer
	GaveUp  []GaveUp
	Visits  []Visit
	Left    Left
	Skips   bool // the log has what was given up
	Derived bool // Switched was derived from the order
	kindBy  string
}

// The bounds of kinds: beyond them, another column was meant.
const (
	maxName  = 100 // bytes
	maxKinds = 200
)

// The bounds of figures. Beyond those of times, as a scenario has them, they are
// in another unit.
const (
	maxFigure = 1e12
	maxAnswer = 24 * 3600     // seconds
	maxVisit  = 3650 * 86_400 // seconds
)

// ReadLog reads a log of answers. Rows come in any order if a column says which
// is first.
func ReadLog(r io.Reader, c Columns, where []Where) (*Log, error) {
	layout := logLayout(c)
	s, err := openSheet(r, &layout, where, true)
	if err != nil {
		return nil, err
	}
	log := &Log{Skips: s.Name("state") != "", Derived: s.Name("same") == "", kindBy: s.Name("kind")}
	var rows []logRow
	err = s.Each(func(r *table.Record[logRow]) error {
		r.Value.keep = s.keeps(r.Cells)
		rows = append(rows, r.Value)
		return nil
	})
	if err != nil {
		return nil, err
	}
	log.take(rows, s.Name("order") != "", s.Name("start") != "")
	return log, nil
}

// logRow is a row before it is known what it follows.
type logRow struct {
	Answer
	state string
	same  string
	keep  bool
}

// logLayout is the columns of a log.
func logLayout(c Columns) table.Layout[logRow] {
	nan := math.NaN()
	same := usualColumn("same", c.Same, func(l *logRow, text string) error {
		switch l.same = strings.ToLower(text); l.same {
		case "0", "1", "true", "false":
			return nil
		}
		return fmt.Errorf("%q is neither 1 nor 0", text)
	})
	if c.Kind != "" && c.Same == "" {
		same.Names = []string{} // what the usual column calls the same may be another division
	}
	anyNumber := func(part func(*logRow) *float64) func(*logRow, string) error {
		return table.Number(-maxFigure, maxFigure, part)
	}
	seconds := usualColumn("seconds", c.Seconds, answerSeconds(func(l *logRow) *float64 { return &l.Seconds }))
	worker := usualColumn("worker", c.Worker, table.Text(func(l *logRow) *string { return &l.Worker }))
	for _, column := range []*table.Column[logRow]{&seconds, &worker} {
		if !column.Required {
			column.Required, column.Advice = true, ": say which one with --"+column.Name
		}
	}
	kind := usualColumn("kind", c.Kind, func(l *logRow, text string) error {
		if l.Kind = text; len(text) > maxName || strings.ContainsFunc(text, unicode.IsControl) {
			return fmt.Errorf("is not the name of a kind: that has at most %d characters, in one line", maxName)
		}
		return nil
	})
	worker.Filled, kind.Filled = true, true
	return table.Layout[logRow]{
		Default: logRow{Answer: Answer{Kind: "task", Seconds: nan, Start: nan, Submit: nan, Gap: nan, order: nan}},
		Columns: []table.Column[logRow]{
			seconds, worker, kind, same,
			usualColumn("run", c.Run, table.Text(func(l *logRow) *string { return &l.Run })),
			usualColumn("order", c.Order, anyNumber(func(l *logRow) *float64 { return &l.order })),
			usualColumn("start", c.Start, moment(func(l *logRow) *float64 { return &l.Start })),
			usualColumn("submit", c.Submit, moment(func(l *logRow) *float64 { return &l.Submit })),
			usualColumn("gap", c.Gap, anyNumber(func(l *logRow) *float64 { return &l.Gap })),
			usualColumn("task", c.Task, table.Text(func(l *logRow) *string { return &l.Task })),
			usualColumn("state", c.State, func(l *logRow, text string) error { l.state = strings.ToLower(text); return nil }),
		},
	}
}

// take puts the rows in order and notes what each follows. That is done before any
// is left out: a row that a filter keeps still follows the one before it.
func (log *Log) take(rows []logRow, ordered, started bool) {
	key := func(l *logRow) float64 {
		switch {
		case ordered:
			return l.order
		case started:
			return l.Start
		}
		return 0
	}
	slices.SortStableFunc(rows, func(a, b logRow) int { return cmp.Compare(key(&a), key(&b)) }) // NaN first
	type person struct{ run, worker string }
	type stay struct {
		visit int
		last  *logRow
		done  map[string]int // answers, by kind
	}
	stays := map[person]*stay{}
	visits := 0
	for i := range rows {
		l := &rows[i]
		answered := l.state == "" || l.state == string(crowd.Submitted)
		log.count(l, answered)
		if !answered || math.IsNaN(l.Seconds) {
			continue
		}
		who := person{l.Run, l.Worker}
		now := stays[who]
		if now == nil || l.Start-now.last.Submit > breakAfter {
			now = &stay{visit: visits, done: map[string]int{}}
			visits++
			stays[who] = now
		}
		now.done[l.Kind]++
		l.N, l.visit = now.done[l.Kind], now.visit
		l.First = now.last == nil
		l.Switched = now.last != nil && now.last.Kind != l.Kind
		if !log.Derived {
			l.First = l.same == ""
			l.Switched = l.same == "0" || l.same == "false"
		}
		if now.last != nil && math.IsNaN(l.Gap) {
			l.Gap = l.Start - now.last.Submit
		}
		if l.Gap < 0 {
			l.Gap = 0 // clocks of two rows may differ by a rounding
		}
		now.last = l
		if l.keep {
			log.Answers = append(log.Answers, l.Answer)
		}
	}
	log.visits()
}

// breakAfter is how long a worker pauses, in seconds, who comes back for another
// visit.
const breakAfter = 30 * 60

// count books a row that is no answer.
func (log *Log) count(l *logRow, answered bool) {
	switch {
	case !l.keep:
		log.Left.Filtered++
	case !answered:
		switch how := crowd.AssignmentState(l.state); how {
		case crowd.Reported: // they went on to another task, too
			log.GaveUp = append(log.GaveUp, GaveUp{Kind: l.Kind, How: crowd.Skipped, Seconds: l.Seconds})
		case crowd.Skipped, crowd.Returned, crowd.Expired:
			log.GaveUp = append(log.GaveUp, GaveUp{Kind: l.Kind, How: how, Seconds: l.Seconds})
		default:
			log.Left.Other++
		}
	case math.IsNaN(l.Seconds):
		log.Left.Empty++
	}
}

// visits derives the workers' stays from their answers.
func (log *Log) visits() {
	index := map[int]int{} // a filter may leave none of a visit
	for i := range log.Answers {
		a := &log.Answers[i]
		n := number(index, a.visit)
		if n == len(log.Visits) {
			log.Visits = append(log.Visits, Visit{Run: a.Run, Worker: a.Worker, Arrival: a.Start, Session: math.NaN(), End: a.Submit})
		}
		w := &log.Visits[n]
		w.Answers++
		w.Arrival, w.End = math.Min(w.Arrival, a.Start), math.Max(w.End, a.Submit)
		w.Session = w.End - w.Arrival
	}
}

// ReadSessions reads a table of visits in place of those that follow from the
// answers: columns worker, session_s, and arrival_s and run where there are.
func (log *Log) ReadSessions(r io.Reader, where []Where) error {
	worker := usualColumn("worker", "", table.Text(func(v *Visit) *string { return &v.Worker }))
	session := usualColumn("session", "", func(v *Visit, text string) (err error) {
		if v.Session, err = table.NumberIn(text, 0, maxFigure); v.Session > maxVisit {
			return fmt.Errorf("%s is more than ten years: seconds are wanted", text)
		}
		return err
	})
	worker.Required, session.Required = true, true
	layout := table.Layout[Visit]{Default: Visit{Arrival: math.NaN(), Session: math.NaN()}, Columns: []table.Column[Visit]{
		worker, session,
		usualColumn("arrival", "", moment(func(v *Visit) *float64 { return &v.Arrival })),
		usualColumn("run", "", table.Text(func(v *Visit) *string { return &v.Run })),
	}}
	s, err := openSheet(r, &layout, where, false)
	if err != nil {
		return err
	}
	type visit struct{ run, worker string }
	answers, rows := map[visit]int{}, map[visit]int{}
	for _, v := range log.Visits {
		answers[visit{v.Run, v.Worker}] += v.Answers
	}
	var list []Visit
	err = s.Each(func(r *table.Record[Visit]) error {
		if v := r.Value; s.keeps(r.Cells) {
			v.End = v.Arrival + v.Session
			list = append(list, v)
			rows[visit{v.Run, v.Worker}]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Which answer was in which of somebody's visits is not known: each has as
	// many, the first ones those that are left over.
	for i := range list {
		key := visit{list[i].Run, list[i].Worker}
		list[i].Answers = (answers[key] + rows[key] - 1) / rows[key]
		answers[key] -= list[i].Answers
		rows[key]--
	}
	log.Visits = list
	return nil
}

// ReadSkips reads a table of tasks that were given back without an answer: one
// row each, with the column of the kind as the log calls it, and seconds where
// they are known.
func (log *Log) ReadSkips(r io.Reader, where []Where) error {
	layout := table.Layout[GaveUp]{Default: GaveUp{How: crowd.Skipped, Seconds: math.NaN()}, Columns: []table.Column[GaveUp]{
		usualColumn("seconds", "", answerSeconds(func(g *GaveUp) *float64 { return &g.Seconds })),
	}}
	if log.kindBy == "" {
		layout.Default.Kind = "task"
	} else {
		layout.Columns = append(layout.Columns, usualColumn("kind", log.kindBy, table.Text(func(g *GaveUp) *string { return &g.Kind })))
	}
	s, err := openSheet(r, &layout, where, false)
	if err != nil {
		return err
	}
	err = s.Each(func(r *table.Record[GaveUp]) error {
		if s.keeps(r.Cells) {
			log.GaveUp = append(log.GaveUp, r.Value)
		}
		return nil
	})
	log.Skips = err == nil
	return err
}
