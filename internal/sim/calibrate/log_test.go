package calibrate_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim/calibrate"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

func read(t testing.TB, text string, c calibrate.Columns, where ...calibrate.Where) *calibrate.Log {
	t.Helper()
	log, err := calibrate.ReadLog(strings.NewReader(text), c, where)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestWhatATaskFollowsIsDerivedBeforeRowsAreLeftOut(t *testing.T) {
	t.Parallel()
	const text = "worker,kind,seconds,seq,price\na,x,5,1,1\nb,x,6,2,1\na,y,7,3,2\na,x,8,4,1\nb,x,,5,1\nb,x,9,6,1\n"
	log := read(t, text, calibrate.Columns{}, calibrate.Where{Column: "price", Value: "1"}, calibrate.Where{Column: "price", Value: "3"}, calibrate.Where{Column: "worker", Value: "a"}, calibrate.Where{Column: "worker", Value: "b"})
	var got []string
	for _, a := range log.Answers {
		got = append(got, fmt.Sprintf("%s %s %g n=%d first=%v switched=%v", a.Worker, a.Kind, a.Seconds, a.N, a.First, a.Switched))
	}
	want := []string{
		"a x 5 n=1 first=true switched=false", "b x 6 n=1 first=true switched=false",
		"a x 8 n=2 first=false switched=true", "b x 9 n=2 first=false switched=false",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if log.Left != (calibrate.Left{Filtered: 1, Empty: 1}) || !log.Derived {
		t.Errorf("left out %+v, derived %v", log.Left, log.Derived)
	}
}

func TestALongPauseBeginsAnotherVisit(t *testing.T) {
	t.Parallel()
	const text = "worker,seconds,assigned_at,ended_at,state\n" +
		"a,5.5,2026-03-01T10:00:00Z,2026-03-01T10:00:05.5Z,submitted\n" +
		"a,4,2026-03-01T10:00:10Z,2026-03-01T10:00:14Z,submitted\n" +
		"a,9,2026-03-01T10:01:00Z,2026-03-01T10:01:09Z,skipped\n" +
		"a,3,2026-03-02T10:00:00Z,2026-03-02T10:00:03Z,submitted\n" +
		"b,,2026-03-01T10:00:00Z,,assigned\n"
	log := read(t, text, calibrate.Columns{})
	if len(log.Visits) != 2 || log.Visits[0].Session != 14 || log.Visits[1].Session != 3 {
		t.Errorf("visits %+v", log.Visits)
	}
	if a := log.Answers; a[1].Gap != 4.5 || a[1].N != 2 || a[2].N != 1 || !a[2].First || !math.IsNaN(a[2].Gap) {
		t.Errorf("answers %+v", a)
	}
	if g := log.GaveUp; len(g) != 1 || g[0].How != crowd.Skipped || g[0].Seconds != 9 || log.Left.Other != 1 {
		t.Errorf("given up %+v, left out %+v", g, log.Left)
	}
}

// TestVisitsShareTheirAnswers: whose visits are told apart by a table of them has
// their answers once, and not with each visit.
func TestVisitsShareTheirAnswers(t *testing.T) {
	t.Parallel()
	log := read(t, "worker,seconds\na,5\na,6\na,7\nb,8\n", calibrate.Columns{})
	if err := log.ReadSessions(strings.NewReader("worker,session_s\na,100\nb,50\na,\nc,9\n"), nil); err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, v := range log.Visits {
		got = append(got, v.Answers)
	}
	if want := []int{2, 1, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("the visits have %v answers, want %v", got, want)
	}
}

func TestBadLogs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text    string
		columns calibrate.Columns
		where   []calibrate.Where
		want    string
		row     int
	}{
		"no column of seconds":        {"worker,took\na,5\n", calibrate.Columns{}, nil, "the columns are worker, took", 0},
		"no column of workers":        {"who,seconds\na,5\n", calibrate.Columns{}, nil, "say which one with --worker", 0},
		"named column is not there":   {"worker,seconds\na,5\n", calibrate.Columns{Kind: "type"}, nil, `there is no column type; the columns are worker, seconds`, 0},
		"filter by an unknown column": {"worker,seconds\na,5\n", calibrate.Columns{}, []calibrate.Where{{"x", "1"}}, "no column x", 0},
		"a word for seconds":          {"worker,seconds\na,5\nb,soon\n", calibrate.Columns{}, nil, `"soon" is not a number`, 3},
		"negative":                    {"worker,seconds\na,-5\n", calibrate.Columns{}, nil, "less than 0", 2},
		"not a number":                {"worker,seconds\na,NaN\n", calibrate.Columns{}, nil, "is not a number", 2},
		"milliseconds":                {"worker,seconds\na,86401\n", calibrate.Columns{}, nil, "more than a day", 2},
		"nobody":                      {"worker,seconds\n,5\n", calibrate.Columns{}, nil, "is empty", 2},
		"no kind":                     {"worker,seconds,kind\na,5,\n", calibrate.Columns{}, nil, "is empty", 2},
		"no time":                     {"worker,seconds,start\na,5,noon\n", calibrate.Columns{}, nil, "nor a time like", 2},
		"neither same nor not":        {"worker,seconds,same\na,5,maybe\n", calibrate.Columns{Same: "same"}, nil, "neither 1 nor 0", 2},
		"ragged":                      {"worker,seconds\na\n", calibrate.Columns{}, nil, "cell", 2},
		"empty":                       {"", calibrate.Columns{}, nil, "empty", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := calibrate.ReadLog(strings.NewReader(c.text), c.columns, c.where)
			var e *crowd.Error
			if !errors.As(err, &e) || e.Code != crowd.Invalid || !strings.Contains(err.Error(), c.want) || e.Row != c.row {
				t.Errorf("got %v, want row %d and %q", err, c.row, c.want)
			}
		})
	}
	if _, err := calibrate.Fit(read(t, "worker,seconds\na,\n", calibrate.Columns{}), calibrate.Auto); crowd.CodeOf(err) != crowd.Invalid {
		t.Errorf("a log without an answer: %v", err)
	}
	if _, err := calibrate.ParseRounding("up"); crowd.CodeOf(err) != crowd.Invalid {
		t.Errorf("a rounding up: %v", err)
	}
}

func TestSmallLogs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		note string
	}{
		"one answer":           {"worker,seconds\na,5\n", "only 1 answers"},
		"one worker":           {"worker,seconds\n" + strings.Repeat("a,5\na,7\na,0\n", 20), "one worker only"},
		"all the same":         {"worker,seconds\n" + strings.Repeat("a,5\nb,5\n", 20), "does not say how long people stayed"},
		"zeros":                {"worker,seconds\n" + strings.Repeat("a,0\nb,0\n", 20), ""},
		"nobody answers twice": {"worker,kind,seconds\na,x,5\nb,x,6\nc,y,7\n", "no worker answered a kind twice"},
		"a kind of few":        {"worker,kind,seconds\n" + strings.Repeat("a,x,5\nb,x,6\na,x,9\n", 20) + "a,y,30\nb,y,40\nb,y,50\n", "the sigma of the other kinds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := calibrate.Fit(read(t, c.text, calibrate.Columns{}), calibrate.Auto)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(m.Notes, "\n"), c.note) {
				t.Errorf("the notes do not say %q: %q", c.note, m.Notes)
			}
			runnable(t, m)
			for _, picture := range []interface{ SVG() ([]byte, error) }{m.Times(), m.People()} {
				if _, err := picture.SVG(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// runnable parses the scenario of a model.
func runnable(t testing.TB, m *calibrate.Model) *scenario.Scenario {
	t.Helper()
	var b bytes.Buffer
	if err := m.WriteScenario(&b, "fitted"); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Parse("fitted.yaml", b.Bytes(), nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return s
}

// TestTheOrderOfRowsDoesNotMatter where a column says it.
func TestTheOrderOfRowsDoesNotMatter(t *testing.T) {
	t.Parallel()
	var rows []string
	for i := range 120 {
		rows = append(rows, fmt.Sprintf("w%d,%s,%d,%d", i%7, []string{"x", "y"}[i/3%2], 5+i*i%23, i))
	}
	model := func() string {
		m, err := calibrate.Fit(read(t, "worker,kind,seconds,seq\n"+strings.Join(rows, "\n")+"\n", calibrate.Columns{}), calibrate.Auto)
		if err != nil {
			t.Fatal(err)
		}
		return m.Table() + m.Report().Model
	}
	want := model()
	slices.Reverse(rows)
	if d := cmp.Diff(want, model()); d != "" {
		t.Error(d)
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add("worker,kind,run,seconds,start_s,submit_s,state\na,x,1,5,0,5,submitted\nb,y,1,0,3,3,\na,y,1,7.5,9,16.5,submitted\na,y,1,7.5,9,16.5,skipped\n", "x=1")
	f.Add("worker,seconds\na,1e-300\nb,86400\na,0\n", "worker=a")
	f.Add("worker,seconds,kind,start_s,submit_s\na,1,\"no: [\",1e12,-1e12\na,1,\"tab \",1,2\n\"é\u2028\",3,null,,\n", "")
	f.Fuzz(func(t *testing.T, text, filter string) {
		if len(text) > 4000 {
			t.Skip("short logs find the same")
		}
		var where []calibrate.Where
		if w, err := calibrate.ParseWhere(filter); err == nil && strings.HasPrefix(text, "worker") {
			where = append(where, w)
		}
		log, err := calibrate.ReadLog(strings.NewReader(text), calibrate.Columns{}, where)
		if err != nil {
			log, err = calibrate.ReadLog(strings.NewReader(text), calibrate.Columns{}, nil)
		}
		if err != nil {
			return
		}
		m, err := calibrate.Fit(log, calibrate.Auto)
		if err != nil {
			return
		}
		runnable(t, m)
	})
}
