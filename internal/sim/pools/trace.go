package pools

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
)

// A Trace is what was observed of a real crowd, in the three streams of section
// 6.1 of the paper, each in chronological order. A run takes their figures in
// order, and starts a stream again when it is used up:
//
//   - Each person asked for takes the next recruitment time.
//   - Each task takes the next duration; with several pools they take turns, so
//     that the n-th task of pool i of P takes the figure n·P + i, in whatever order
//     the tasks of the pools arrive.
//   - Each person takes the next stay: those of the start first, then the others
//     as they were asked for.
//
// So every control that is compared meets the same streams. When the figures
// were observed is not used but to see that they are in order.
type Trace struct {
	Recruitments []float64 // seconds from being asked to coming
	Tasks        []float64 // seconds of a task
	Stays        []float64 // seconds on duty before a person abandons it
	Comments     []string  // the lines of the file that begin with #, without it
}

// TraceUse is how often each stream of a trace was used.
type TraceUse struct {
	Recruitments, Tasks, Stays stream
}

// stream is how much of a stream was used.
type stream struct {
	Used  uint64 // figures taken: up to the last one in order
	Wraps uint64 // how often it started again
}

// take is figure n of a list that starts again when it is used up.
func (*TraceUse) take(s *stream, list []float64, n uint64) float64 {
	s.Used = max(s.Used, n+1)
	return list[n%uint64(len(list))]
}

func (u *TraceUse) count(t *Trace) {
	u.Recruitments.count(t.Recruitments)
	u.Tasks.count(t.Tasks)
	u.Stays.count(t.Stays)
}

func (s *stream) count(list []float64) {
	if s.Used > 0 {
		s.Wraps = (s.Used - 1) / uint64(len(list))
	}
}

func (u TraceUse) String() string {
	return fmt.Sprintf("%d recruitment times (began again %s), %d task times (%s), %d stays (%s)",
		u.Recruitments.Used, times(u.Recruitments.Wraps), u.Tasks.Used, times(u.Tasks.Wraps), u.Stays.Used, times(u.Stays.Wraps))
}

func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func (t *Trace) validate() error {
	for _, s := range t.streams() {
		sum := 0.0
		for _, x := range *s.list {
			if !(x >= 0 && x <= longestTask.Seconds()) {
				return crowd.Fieldf("trace", "%s: %g seconds are not between 0 and %g", s.name, x, longestTask.Seconds())
			}
			sum += x
		}
		if sum == 0 {
			return crowd.Fieldf("trace", "the stream %q has no figure above 0", s.name)
		}
	}
	return nil
}

type namedStream struct {
	name string
	list *[]float64
}

func (t *Trace) streams() []namedStream {
	return []namedStream{{"recruitment", &t.Recruitments}, {"task", &t.Tasks}, {"stay", &t.Stays}}
}

// The columns of a trace file, which may have others too.
var traceColumns = []string{"stream", "time_s", "seconds"}

// A TraceError is one thing that is wrong with a trace file.
type TraceError struct {
	Line    int // from 1
	Message string
}

// TraceErrors is all that is wrong with one, up to maxTraceErrors, in order. It
// is never empty, and its code is crowd.Invalid.
type TraceErrors []TraceError

const maxTraceErrors = 100

// Error returns one line for each.
func (e TraceErrors) Error() string {
	lines := make([]string, len(e))
	for i, x := range e {
		lines[i] = fmt.Sprintf("line %d: %s", x.Line, x.Message)
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives it the code of bad input.
func (e TraceErrors) Unwrap() error { return crowd.Errorf(crowd.Invalid, "%s", e.Error()) }

// ReadTrace reads a trace file: CSV with the columns stream (recruitment, task
// or stay), time_s (when it was observed, in seconds since any moment; within a
// stream it never falls) and seconds (the figure). Lines that begin with # are
// comments. What is wrong with it comes as TraceErrors.
func ReadTrace(in io.Reader) (*Trace, error) {
	t := &Trace{}
	var bad TraceErrors
	note := func(line int, format string, args ...any) {
		if len(bad) < maxTraceErrors {
			bad = append(bad, TraceError{line, oneLine(fmt.Sprintf(format, args...))})
		}
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comment, r.FieldsPerRecord, r.ReuseRecord = '#', -1, true
	header, err := r.Read()
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		note(1, "the file is empty; its first line is %s", strings.Join(traceColumns, ","))
		return nil, bad
	case errors.As(err, &parse):
		note(parse.Line, "this is not CSV: %v", parse.Err)
		return nil, bad
	case err != nil:
		return nil, err
	}
	var at [3]int
	line, _ := r.FieldPos(0)
	for i, name := range traceColumns {
		if at[i] = indexOf(header, name); at[i] < 0 {
			note(line, "the column %s is missing; a trace has %s", name, strings.Join(traceColumns, ", "))
		}
	}
	if bad != nil {
		return nil, bad
	}
	streams := t.streams()
	last := make([]float64, len(streams))
	for {
		row, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			for _, s := range streams {
				if len(*s.list) == 0 && bad == nil {
					note(line, "there is no row of the stream %s", s.name)
				}
			}
			if bad != nil {
				return nil, bad
			}
			t.Comments = commentsOf(text)
			if err := t.validate(); err != nil {
				note(line, "%s", err)
				return nil, bad
			}
			return t, nil
		case errors.As(err, &parse):
			note(parse.Line, "this is not CSV: %v", parse.Err)
			return nil, bad
		case err != nil:
			return nil, err
		}
		line, _ = r.FieldPos(0)
		if len(row) <= slices.Max(at[:]) {
			note(line, "%d cells are too few: the line ends before the column %s", len(row), header[min(len(row), len(header)-1)])
			continue
		}
		k := slices.IndexFunc(streams, func(s namedStream) bool { return s.name == strings.TrimSpace(row[at[0]]) })
		if k < 0 {
			note(line, "stream: %.60q is none of recruitment, task and stay", row[at[0]])
			continue
		}
		when, err1 := figure(row[at[1]], 1e12)
		seconds, err2 := figure(row[at[2]], longestTask.Seconds())
		switch {
		case err1 != nil:
			note(line, "time_s: %s", err1)
		case len(*streams[k].list) > 0 && when < last[k]:
			note(line, "time_s: %s comes after %s, but the stream %s is to be in chronological order", short(when), short(last[k]), streams[k].name)
		default:
			last[k] = when
		}
		if err2 != nil {
			note(line, "seconds: %s", err2)
		}
		*streams[k].list = append(*streams[k].list, seconds)
	}
}

func indexOf(header []string, name string) int {
	return slices.IndexFunc(header, func(s string) bool { return strings.TrimSpace(strings.TrimPrefix(s, "\ufeff")) == name })
}

// figure reads a number from 0 to most.
func figure(text string, most float64) (float64, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange), math.IsNaN(f):
		return 0, fmt.Errorf("%.60q is not a number", text)
	case f < 0:
		return 0, fmt.Errorf("%.60q is negative", text)
	case f > most:
		return 0, fmt.Errorf("%.60q is too much (at most %s)", text, short(most))
	}
	return f, nil
}

func short(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func oneLine(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// maxComments is how many comments of a file are kept: the first.
const maxComments = 20

// commentsOf returns the first lines that begin with #, without it.
func commentsOf(text []byte) []string {
	var list []string
	for line := range bytes.Lines(text) {
		if line[0] == '#' && len(list) < maxComments {
			list = append(list, oneLine(strings.TrimSpace(string(line[1:]))))
		}
	}
	return list
}

// Write writes the trace as ReadTrace reads it, the comments first. A trace that
// was read has lost its times: the rows of a stream are numbered.
func (t *Trace) Write(out io.Writer) error {
	w := bufio.NewWriter(out)
	for _, c := range t.Comments {
		_, _ = fmt.Fprintf(w, "# %s\n", oneLine(c)) // w keeps its first error
	}
	_, _ = fmt.Fprintln(w, strings.Join(traceColumns, ","))
	for _, s := range t.streams() {
		for i, x := range *s.list {
			_, _ = fmt.Fprintf(w, "%s,%d,%s\n", s.name, i+1, short(x))
		}
	}
	return w.Flush()
}
