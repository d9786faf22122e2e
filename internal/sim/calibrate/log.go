package calibrate

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/throng-dev/throng/crowd"
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

// The bounds of times, as a scenario has them: beyond them, they are in another
// unit.
const (
	maxAnswer = 24 * 3600     // seconds
	maxVisit  = 3650 * 86_400 // seconds
)

// ReadLog reads a log of answers. Rows come in any order if a column says which
// is first.
func ReadLog(r io.Reader, c Columns, where []Where) (*Log, error) {
	s, err := openSheet(r)
	if err != nil {
		return nil, err
	}
	for _, f := range []struct {
		what, named string
		required    bool
	}{
		{"seconds", c.Seconds, true}, {"worker", c.Worker, true}, {"kind", c.Kind, false}, {"run", c.Run, false},
		{"order", c.Order, false}, {"start", c.Start, false}, {"submit", c.Submit, false}, {"same", c.Same, false},
		{"gap", c.Gap, false}, {"task", c.Task, false}, {"state", c.State, false},
	} {
		if err := s.find(f.what, f.named, f.required); err != nil {
			return nil, err
		}
	}
	if err := s.filter(where, true); err != nil {
		return nil, err
	}
	if c.Kind != "" && c.Same == "" {
		s.at["same"] = -1 // what the usual column calls the same may be another division
	}
	log := &Log{Skips: s.at["state"] >= 0, Derived: s.at["same"] < 0, kindBy: s.name("kind")}
	var rows []logRow
	for {
		row, line, err := s.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		l, err := s.answer(row, line)
		if err != nil {
			return nil, err
		}
		l.keep = s.keeps(row)
		rows = append(rows, l)
	}
	log.take(rows, s.at["order"] >= 0, s.at["start"] >= 0)
	return log, nil
}

// logRow is a row before it is known what it follows.
type logRow struct {
	Answer
	state string
	same  string
	keep  bool
}

func (s *sheet) answer(row []string, line int) (l logRow, err error) {
	l.Worker, l.Run, l.Task = s.text(row, "worker"), s.text(row, "run"), s.text(row, "task")
	l.Kind, l.state, l.same = s.text(row, "kind"), strings.ToLower(s.text(row, "state")), strings.ToLower(s.text(row, "same"))
	if l.Worker == "" {
		return l, s.bad(line, "worker", "is empty")
	}
	if s.at["kind"] < 0 {
		l.Kind = "task"
	} else if l.Kind == "" {
		return l, s.bad(line, "kind", "is empty")
	} else if len(l.Kind) > maxName || strings.ContainsFunc(l.Kind, unicode.IsControl) {
		return l, s.bad(line, "kind", "is not the name of a kind: that has at most %d characters, in one line", maxName)
	}
	if l.Seconds, err = s.number(row, line, "seconds", 0); err != nil {
		return l, err
	}
	if l.Seconds > maxAnswer {
		return l, s.bad(line, "seconds", "%s is more than a day: seconds are wanted", s.text(row, "seconds"))
	}
	if l.Gap, err = s.number(row, line, "gap", math.Inf(-1)); err != nil {
		return l, err
	}
	if l.order, err = s.number(row, line, "order", math.Inf(-1)); err != nil {
		return l, err
	}
	if l.Start, err = s.moment(row, line, "start"); err != nil {
		return l, err
	}
	if l.Submit, err = s.moment(row, line, "submit"); err != nil {
		return l, err
	}
	switch l.same {
	case "", "0", "1", "true", "false":
	default:
		return l, s.bad(line, "same", "%q is neither 1 nor 0", l.same)
	}
	return l, nil
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
	s, err := openSheet(r)
	if err != nil {
		return err
	}
	for _, what := range []string{"worker", "session", "arrival", "run"} {
		if err := s.find(what, "", what == "worker" || what == "session"); err != nil {
			return strip(err)
		}
	}
	if err := s.filter(where, false); err != nil {
		return err
	}
	type visit struct{ run, worker string }
	answers, rows := map[visit]int{}, map[visit]int{}
	for _, v := range log.Visits {
		answers[visit{v.Run, v.Worker}] += v.Answers
	}
	var list []Visit
	for {
		row, line, err := s.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		v := Visit{Run: s.text(row, "run"), Worker: s.text(row, "worker")}
		if v.Session, err = s.number(row, line, "session", 0); err != nil {
			return err
		}
		if v.Arrival, err = s.moment(row, line, "arrival"); err != nil {
			return err
		}
		if v.Session > maxVisit {
			return s.bad(line, "session", "%s is more than ten years: seconds are wanted", s.text(row, "session"))
		}
		v.End = v.Arrival + v.Session
		if s.keeps(row) {
			list = append(list, v)
			rows[visit{v.Run, v.Worker}]++
		}
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
	s, err := openSheet(r)
	if err != nil {
		return err
	}
	if err := s.find("kind", log.kindBy, log.kindBy != ""); err != nil {
		return strip(err)
	}
	if err := s.find("seconds", "", false); err != nil {
		return err
	}
	if err := s.filter(where, false); err != nil {
		return err
	}
	for {
		row, line, err := s.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		g := GaveUp{Kind: "task", How: crowd.Skipped}
		if log.kindBy != "" {
			g.Kind = s.text(row, "kind")
		}
		if g.Seconds, err = s.number(row, line, "seconds", 0); err != nil {
			return err
		}
		if g.Seconds > maxAnswer {
			return s.bad(line, "seconds", "%s is more than a day: seconds are wanted", s.text(row, "seconds"))
		}
		if s.keeps(row) {
			log.GaveUp = append(log.GaveUp, g)
		}
	}
	log.Skips = true
	return nil
}
