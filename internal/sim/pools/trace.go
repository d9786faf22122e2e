package pools

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/table"
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
		if len(*s.list) == 0 {
			return crowd.Fieldf("trace", "there is no row of the stream %s", s.name)
		}
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

// traceRow is a row of a trace file.
type traceRow struct {
	stream        int // of Trace.streams
	when, seconds float64
}

// traceColumns says what a file lacks that is no trace.
const traceColumns = ": a trace has stream, time_s and seconds"

// traceLayout is the columns of a trace file, which may have others too.
var traceLayout = table.Layout[traceRow]{Columns: []table.Column[traceRow]{
	{Name: "stream", Required: true, Filled: true, Advice: traceColumns, Read: func(r *traceRow, name string) error {
		if r.stream = slices.IndexFunc(new(Trace).streams(), func(s namedStream) bool { return s.name == name }); r.stream < 0 {
			return fmt.Errorf("%.60q is none of recruitment, task and stay", name)
		}
		return nil
	}},
	{Name: "time_s", Required: true, Filled: true, Advice: traceColumns, Read: table.Number(0, 1e12, func(r *traceRow) *float64 { return &r.when })},
	{Name: "seconds", Required: true, Filled: true, Advice: traceColumns, Read: table.Number(0, longestTask.Seconds(), func(r *traceRow) *float64 { return &r.seconds })},
}}

// ReadTrace reads a trace file: CSV with the columns stream (recruitment, task
// or stay), time_s (when it was observed, in seconds since any moment; within a
// stream it never falls) and seconds (the figure). Lines that begin with # are
// comments. What is wrong with it comes as crowd.Errors, each with its line.
func ReadTrace(in io.Reader) (*Trace, error) {
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	t := &Trace{}
	text, line := t.takeComments(text)
	rows, err := table.NewReader(bytes.NewReader(text), table.Options{Format: table.CSV})
	if err == nil {
		streams := t.streams()
		last := make([]float64, len(streams))
		err = traceLayout.Each(rows, func(r *table.Record[traceRow]) error {
			line = r.Line
			s, from := streams[r.Value.stream], last[r.Value.stream]
			if len(*s.list) > 0 && r.Value.when < from {
				return crowd.Fieldf("time_s", "%s comes after %s, but the stream %s is to be in chronological order", format.Number(r.Value.when), format.Number(from), s.name)
			}
			last[r.Value.stream] = r.Value.when
			*s.list = append(*s.list, r.Value.seconds)
			return nil
		})
	}
	if err == nil {
		err = t.validate()
	}
	wrong := crowd.ErrorsOf(err)
	for _, e := range wrong {
		e.Row, e.Message = cmp.Or(e.Row, line), oneLine(e.Message)
	}
	switch {
	case wrong != nil:
		return nil, wrong
	case err != nil:
		return nil, err
	}
	return t, nil
}

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

// takeComments keeps the lines that begin with #, and returns the text with empty
// lines in their places and the number of its first line that is none.
func (t *Trace) takeComments(text []byte) (rest []byte, header int) {
	for line := range bytes.Lines(text) {
		switch {
		case line[0] != '#':
			rest = append(rest, bytes.TrimPrefix(line, []byte("\ufeff"))...)
			continue
		case len(t.Comments) < maxComments:
			t.Comments = append(t.Comments, oneLine(strings.TrimSpace(string(line[1:]))))
		}
		rest = append(rest, '\n')
	}
	return rest, 1 + len(rest) - len(bytes.TrimLeft(rest, "\n"))
}

// Write writes the trace as ReadTrace reads it, the comments first. A trace that
// was read has lost its times: the rows of a stream are numbered.
func (t *Trace) Write(out io.Writer) error {
	w := bufio.NewWriter(out)
	for _, c := range t.Comments {
		_, _ = fmt.Fprintf(w, "# %s\n", oneLine(c)) // w keeps its first error
	}
	_, _ = fmt.Fprintln(w, "stream,time_s,seconds")
	for _, s := range t.streams() {
		for i, x := range *s.list {
			_, _ = fmt.Fprintf(w, "%s,%d,%s\n", s.name, i+1, format.Number(x))
		}
	}
	return w.Flush()
}
