package pools

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
)

const goodTrace = `# seen in May
stream,time_s,seconds
recruitment,5,30
task,1,2.5
stay,9,300
task,1,0
recruitment,6,45
`

func TestReadTrace(t *testing.T) {
	t.Parallel()
	want := &Trace{Recruitments: []float64{30, 45}, Tasks: []float64{2.5, 0}, Stays: []float64{300}, Comments: []string{"seen in May"}}
	for name, text := range map[string]string{
		"as it is":                           goodTrace,
		"other columns, spaces":              "# seen in May\nworker, seconds ,stream,time_s\nx,30,recruitment,5\nx,2.5,task,1\nx,300,stay,9\nx,0, task ,1\nx,45,recruitment,6\n",
		"a mark of the order of bytes, CRLF": "# seen in May\n\ufeff" + strings.ReplaceAll(strings.TrimPrefix(goodTrace, "# seen in May\n"), "\n", "\r\n"),
	} {
		got, err := ReadTrace(strings.NewReader(text))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestWrongTraces(t *testing.T) {
	t.Parallel()
	head := "stream,time_s,seconds\n"
	whole := head + "recruitment,0,1\ntask,0,1\nstay,0,1\n"
	for name, c := range map[string]struct {
		text string
		want []string // line: part of the message
	}{
		"nothing":               {"", []string{"1: the file is empty"}},
		"comments only":         {"# a\n# b\n", []string{"3: the file is empty"}},
		"a missing column":      {"stream,time_s\ntask,1\n", []string{"1: seconds: there is no column seconds; the columns are stream, time_s: a trace has stream, time_s and seconds"}},
		"two missing columns":   {"# x\nstream\n", []string{"2: time_s: there is no column time_s", "2: seconds: there is no column seconds"}},
		"unsorted":              {whole + "task,5,1\nstay,1,1\ntask,4.5,1\n", []string{"7: time_s: 4.5 comes after 5, but the stream task is to be in chronological order"}},
		"another stream":        {whole + "tasks,5,1\n", []string{`5: stream: "tasks" is none of recruitment, task and stay`}},
		"negative":              {whole + "task,5,-1\n", []string{`5: seconds: "-1" is less than 0`}},
		"no number":             {whole + "task,soon,1s\n", []string{`5: time_s: "soon" is not a number`, `5: seconds: "1s" is not a number`}},
		"NaN":                   {whole + "task,1,NaN\n", []string{`5: seconds: "NaN" is not a number`}},
		"infinite":              {whole + "task,1,Inf\n", []string{`5: seconds: "Inf" is too much`}},
		"a figure out of range": {whole + "task,1,1e999\n", []string{`5: seconds: "1e999" is too much`}},
		"longer than a lease":   {whole + "task,1,2678400\n", []string{`5: seconds: "2678400" is too much`}},
		"a short row":           {whole + "task,1\n", []string{"5: the row has 2 cells, the header has 3"}},
		"a stream is missing":   {head + "task,0,1\nstay,1,1\n", []string{"3: trace: there is no row of the stream recruitment"}},
		"only zeros":            {head + "recruitment,0,1\ntask,0,0\nstay,0,1\n", []string{`4: trace: the stream "task" has no figure above 0`}},
		"no CSV":                {whole + "task,1,\"1\n", []string{"5: seconds: the quoted cell is not closed"}},
	} {
		_, err := ReadTrace(strings.NewReader(c.text))
		var bad crowd.Errors
		if !errors.As(err, &bad) || len(bad) != len(c.want) || crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, w := range c.want {
			line, message, _ := strings.Cut(w, ": ")
			if fmt.Sprint(bad[i].Row) != line || !strings.Contains(strings.TrimPrefix(bad[i].Error(), "line "+line), message) {
				t.Errorf("%s: line %d: %s, want %s", name, bad[i].Row, bad[i], w)
			}
		}
	}
	_, err := ReadTrace(strings.NewReader(head + strings.Repeat("x,0,0\n", 1000)))
	if bad := crowd.Errors(nil); !errors.As(err, &bad) || len(bad) != table.MaxErrors {
		t.Errorf("%d errors", len(bad))
	}
}

func TestGenerate(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{1, 2} {
		trace := Generate(seed)
		if !strings.HasPrefix(trace.Comments[0], "generated from published moments") {
			t.Error(trace.Comments)
		}
		var file bytes.Buffer
		if err := trace.Write(&file); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(file.String(), "# generated from published moments, not observed") {
			t.Errorf("the file begins %.80q", file.String())
		}
		got, err := ReadTrace(&file)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(trace) {
			t.Error("what was written is not what is read")
		}
		for i, list := range [][]float64{got.Recruitments, got.Tasks, got.Stays} {
			m := Published[i]
			mean, sd := Describe(list)
			places := 1e3
			if len(list) != m.N || math.Abs(mean-m.Mean)*places > 0.5 || math.Abs(sd-m.SD)*places > 0.5 || slices.Min(list) < 0 {
				t.Errorf("%s: n = %d, mean %g, sd %g; published %+v", m.Stream, len(list), mean, sd, m)
			}
			// In no order: neighbours are not alike.
			sum := 0.0
			for k := 1; k < len(list); k++ {
				sum += (list[k] - mean) * (list[k-1] - mean)
			}
			if r := sum / float64(len(list)) / sd / sd; math.Abs(r) > 4/math.Sqrt(float64(len(list))) {
				t.Errorf("%s: neighbours are correlated by %g", m.Stream, r)
			}
		}
	}
	first, again := fmt.Sprint(Generate(1)), fmt.Sprint(Generate(1))
	if first != again || fmt.Sprint(Generate(1).Tasks) == fmt.Sprint(Generate(2).Tasks) {
		t.Error("it is the seed that tells them apart")
	}
}

// FuzzReadTrace: nothing makes it panic; what it accepts can be written and read
// again.
func FuzzReadTrace(f *testing.F) {
	f.Add([]byte(goodTrace))
	f.Add([]byte("stream,time_s,seconds\ntask,1\n\"x"))
	f.Add([]byte("#\n#\xff\nstream,time_s,seconds\nrecruitment,0,1e-9\ntask,1e11,1\nstay,0,1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		trace, err := ReadTrace(bytes.NewReader(text))
		var bad crowd.Errors
		if err != nil {
			if !errors.As(err, &bad) || len(bad) == 0 {
				t.Fatalf("%T %v", err, err)
			}
			for _, e := range bad {
				if e.Row < 1 || e.Message == "" || strings.ContainsAny(e.Message, "\n\r") {
					t.Fatalf("%+v", e)
				}
			}
			return
		}
		var again bytes.Buffer
		if err := trace.Write(&again); err != nil {
			t.Fatal(err)
		}
		second, err := ReadTrace(&again)
		if err != nil {
			t.Fatal(err)
		}
		trace.Comments, second.Comments = nil, nil
		if fmt.Sprint(trace) != fmt.Sprint(second) {
			t.Fatalf("%v became %v", trace, second)
		}
	})
}
