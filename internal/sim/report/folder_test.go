package report

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

func read(t *testing.T, parts ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func rowsOf(t *testing.T, parts ...string) []map[string]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(read(t, parts...))).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%s: %d rows, %v", parts, len(rows), err)
	}
	var list []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, cell := range row {
			m[rows[0][i]] = cell
		}
		list = append(list, m)
	}
	return list
}

func TestFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "report")
	if err := os.MkdirAll(dir, 0o755); err != nil { // an empty folder will do
		t.Fatal(err)
	}
	r := run(t, twoTeams(), Options{Source: []byte("scenario: <two> teams\n")})
	if err := r.Write(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(dir, path); path != dir && !ours.MatchString(filepath.ToSlash(name)) {
			t.Errorf("%s is not known to be ours", name)
		}
		files = append(files, filepath.Base(path))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"deadlines", "completion", "tasks", "allocation", "fairness", "cost", "queue", "people"} {
		if !slices.Contains(files, p+".svg") {
			t.Errorf("there is no picture %s in %v", p, files)
			continue
		}
		d := xml.NewDecoder(bytes.NewReader(read(t, dir, "charts", p+".svg")))
		for {
			if _, err := d.Token(); err != nil {
				if err != io.EOF {
					t.Errorf("%s: %v", p, err)
				}
				break
			}
		}
	}
	if rows := rowsOf(t, dir, "summary.csv"); len(rows) != 3*len(sim.AllMetrics) || rows[0]["metric"] != "deadline_success_ratio" || rows[0]["diff"] != "" || rows[len(rows)-1]["n"] != "4" {
		t.Errorf("summary.csv: %d rows, %v", len(rows), rows[0])
	}
	if rows := rowsOf(t, dir, "runs.csv"); len(rows) != 3*4 || rows[5]["policy"] != "fs" || rows[5]["repetition"] != "2" || rows[5]["makespan_s"] == "" {
		t.Errorf("runs.csv: %d rows, %v", len(rows), rows[5])
	}
	if rows := rowsOf(t, dir, "batches.csv"); len(rows) != 3*3 || rows[2]["name"] != "medium <b>" || rows[2]["tenant"] != "south" {
		t.Errorf("batches.csv: %d rows, %v", len(rows), rows[2])
	}
	if list, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(list) != 1 {
		t.Errorf("beside the report: %v, %v", list, err)
	}
}

// TestPageStandsAlone: it needs no other file and no script, and says in words
// what it shows.
func TestPageStandsAlone(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*Report{
		"two teams": run(t, twoTeams(), Options{Source: []byte("<script>alert(1)</script>")}),
		"drawn":     run(t, drawn(), Options{Reps: 1, Policies: []string{"fs"}}),
	} {
		r.Verdicts = []scenario.Verdict{
			{Expectation: &scenario.Expectation{Text: "less than <1 %"}, Found: "2 %", State: scenario.NotMet},
			{Expectation: &scenario.Expectation{Text: "fine"}, State: scenario.Met},
		}
		dir := t.TempDir()
		if err := r.Write(context.Background(), dir); err != nil {
			t.Fatal(err)
		}
		page, err := html.Parse(bytes.NewReader(read(t, dir, "report.html")))
		if err != nil {
			t.Fatal(err)
		}
		count := map[string]int{}
		ids, links := map[string]bool{}, []string{}
		for n := range page.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			count[n.Data]++
			for _, a := range n.Attr {
				switch a.Key {
				case "src", "srcset":
					t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
				case "href":
					links = append(links, a.Val)
				case "id":
					if ids[a.Val] {
						t.Errorf("%s: two elements have the id %s", name, a.Val)
					}
					ids[a.Val] = true
				}
				if strings.HasPrefix(a.Key, "on") {
					t.Errorf("%s: <%s %s>", name, n.Data, a.Key)
				}
			}
			if n.Data == "svg" && !slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "aria-label" && len(a.Val) > 20 }) {
				t.Errorf("%s: a picture says nothing to who cannot see it", name)
			}
		}
		for _, l := range links {
			if !ids[strings.TrimPrefix(l, "#")] {
				t.Errorf("%s: the link %s goes nowhere", name, l)
			}
		}
		if count["script"]+count["link"]+count["img"]+count["b"]-2-3 != 0 || count["h1"] != 1 || count["svg"] < 7 || count["figcaption"] != count["svg"] || count["table"] < 2 {
			t.Errorf("%s: %v", name, count)
		}
	}
}

func TestFolderOfSomebodyElseIsLeftAlone(t *testing.T) {
	t.Parallel()
	r := run(t, twoTeams(), Options{Reps: 1, Policies: []string{"fs"}})
	for name, prepare := range map[string]func(dir string) error{
		"a file": func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"other files": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "x"), nil, 0o600))
		},
		"another report": func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "report.html"), []byte("<html>"), 0o600))
		},
		"a report and more": func(dir string) error {
			return errors.Join(oldReport(dir), os.WriteFile(filepath.Join(dir, "charts", "notes.txt"), nil, 0o600))
		},
	} {
		dir := filepath.Join(t.TempDir(), "report")
		if err := prepare(dir); err != nil {
			t.Fatal(err)
		}
		before := listing(t, filepath.Dir(dir))
		err := r.Write(context.Background(), dir)
		if crowd.CodeOf(err) != crowd.Invalid || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
		if after := listing(t, filepath.Dir(dir)); !slices.Equal(before, after) {
			t.Errorf("%s: %v became %v", name, before, after)
		}
	}
}

func TestCheckFill(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	file := filepath.Join(top, "file")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(file, filepath.Join(top, "link"))); err != nil {
		t.Fatal(err)
	}
	before := listing(t, top)
	for _, dir := range []string{top, filepath.Join(top, "new"), filepath.Join(top, "new", "newer")} {
		if err := CheckFill(dir); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
	for _, dir := range []string{file, filepath.Join(file, "new"), filepath.Join(file, "new", "newer"), filepath.Join(top, "link")} {
		if err := CheckFill(dir); crowd.CodeOf(err) != crowd.Invalid || !strings.HasSuffix(err.Error(), " is a file, not a folder") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if after := listing(t, top); !slices.Equal(before, after) {
		t.Errorf("%v became %v", before, after)
	}
}

// oldReport makes what passes for a report.
func oldReport(dir string) error {
	return errors.Join(
		os.MkdirAll(filepath.Join(dir, "charts"), 0o700),
		os.WriteFile(filepath.Join(dir, "report.html"), []byte("<!doctype html>"+scenarioMark), 0o600),
		os.WriteFile(filepath.Join(dir, "alpha.csv"), nil, 0o600),
	)
}

func listing(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		list = append(list, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestReportIsReplacedWhole(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "report")
	if err := oldReport(dir); err != nil {
		t.Fatal(err)
	}
	if err := run(t, twoTeams(), Options{Reps: 1, Policies: []string{"fs"}}).Write(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "alpha.csv")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file of the old report is left: %v", err)
	}
	if !bytes.Contains(read(t, dir, "report.html"), []byte("<h1>two teams</h1>")) {
		t.Error("it is not the new report")
	}
	if list, err := os.ReadDir(top); err != nil || len(list) != 1 {
		t.Errorf("beside the report: %v, %v", list, err)
	}
}

// Who stops it while the pictures are drawn finds everything as it was, and does
// not wait for those that are still to be drawn.
func TestInterruptedReportLeavesNothing(t *testing.T) {
	t.Parallel()
	r := run(t, twoTeams(), Options{Reps: 1, Policies: []string{"fs"}})
	last := len(r.pictures())
	for _, at := range []int{1, last} {
		top := t.TempDir()
		dir := filepath.Join(top, "report")
		if err := oldReport(dir); err != nil {
			t.Fatal(err)
		}
		before := listing(t, top)
		ctx, stop := context.WithCancel(context.Background())
		var drawn atomic.Int32
		d := r.document()
		for i := range d.pictures {
			p := &d.pictures[i]
			draw := p.draw
			p.draw = func(h chart.Head) chart.Chart {
				if h.Title == "" && int(drawn.Add(1)) == at { // each is drawn twice, with and without its title
					stop()
				}
				if at == 1 {
					<-ctx.Done()
				}
				return draw(h)
			}
		}
		err := d.write(ctx, dir)
		stop()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("stopped at picture %d of %d: %v", at, last, err)
		}
		if n := int(drawn.Load()); at == 1 && n > runtime.GOMAXPROCS(0) {
			t.Errorf("%d of %d pictures were begun after all", n, last)
		}
		if after := listing(t, top); !slices.Equal(before, after) {
			t.Errorf("stopped at picture %d of %d: %v became %v", at, last, before, after)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	nan := stats.Summarise(nil)
	for _, c := range []struct {
		unit string
		s    stats.Summary
		want string
	}{
		{"1", stats.Summary{N: 9, Mean: 0.41234, CI95: 0.0081}, "41.23 ± 0.81 %"},
		{"1", stats.Summary{N: 9, Mean: 1, CI95: 0}, "100 ± 0 %"},
		{"1", stats.Summarise([]float64{0.41234}), "41.2 %"},
		{"1", stats.Summarise([]float64{0}), "0 %"},
		{"1", nan, "–"},
		{"s", stats.Summary{N: 9, Mean: 83.3, CI95: 12}, "83 ± 12 s"},
		{"s", stats.Summary{N: 9, Mean: 1234, CI95: 60}, "20.6 ± 1.0 min"},
		{"s", stats.Summary{N: 9, Mean: 36000, CI95: 36000}, "10 ± 10 h"},
		{"s", stats.Summarise([]float64{86400 * 10}), "10.0 d"},
		{"1/s", stats.Summary{N: 9, Mean: 1, CI95: 0.01}, "3,600 ± 36 /h"},
		{"currency", stats.Summary{N: 9, Mean: 1234567.891, CI95: 0.1}, "1,234,568 ± 0"},
		{"", stats.Summary{N: 9, Mean: -12.345, CI95: 1.5}, "−12.3 ± 1.5"},
	} {
		if got := Words(sim.Metric{Unit: c.unit}, c.s); got != c.want {
			t.Errorf("%+v in %q is %q, want %q", c.s, c.unit, got, c.want)
		}
	}
	for _, c := range []struct {
		unit     string
		diff, of stats.Summary
		want     string
	}{
		{"1", stats.Summary{N: 9, Mean: 0.02, CI95: 0.01, Max: 1}, stats.Summary{N: 9, Mean: 0.5}, "+2.0 ± 1.0 points"},
		{"1", stats.Summary{N: 9, Mean: -0.02, CI95: 0.01, Min: -1}, stats.Summary{N: 9, Mean: 0.5}, "−2.0 ± 1.0 points"},
		{"1", stats.Summary{N: 9}, stats.Summary{N: 9, Mean: 0.5}, "the same"},
		{"s", stats.Summary{N: 9, Mean: -30, CI95: 6, Min: -40}, stats.Summary{N: 9, Mean: 1200}, "−0.50 ± 0.10 min"},
		{"1", stats.Summary{N: 9, Mean: -2e-6, CI95: 3e-6, Min: -1}, stats.Summary{N: 9, Mean: 0.99}, "−0.00020 ± 0.00030 points"},
		{"s", stats.Summary{N: 9, Mean: 1e-9, CI95: 1e-9, Min: -1}, stats.Summary{N: 9, Mean: 90}, "nearly the same"},
		{"s", nan, nan, "–"},
		{"s", stats.Summarise([]float64{7}), stats.Summarise([]float64{90}), "+7.0 s"},
	} {
		if got := PairedWords(sim.Metric{Unit: c.unit}, c.diff, c.of); got != c.want {
			t.Errorf("%+v in %q is %q, want %q", c.diff, c.unit, got, c.want)
		}
	}
}

// TestFiguresOfSomeRepetitions: means over other repetitions than the difference
// may contradict it, so it is said of how many they are.
func TestFiguresOfSomeRepetitions(t *testing.T) {
	t.Parallel()
	r := &Report{Reps: 3, Policies: []*Policy{{Figures: []stats.Summary{{N: 3}}}}}
	m := sim.Metric{Unit: "1"}
	if got := r.Words(m, stats.Summary{N: 2, Mean: 0.5, CI95: 0.1}); got != "50 ± 10 % (n = 2)" {
		t.Error(got)
	}
	if got := r.Words(m, stats.Summary{N: 3, Mean: 0.5, CI95: 0.1}); got != "50 ± 10 %" || r.Partly() {
		t.Error(got)
	}
	if got := r.Words(m, stats.Summary{}); got != "–" {
		t.Error(got)
	}
	if r.Policies[0].Figures[0].N = 1; !r.Partly() {
		t.Error("it is not said what n means")
	}
}

// TestWhatIsLeftOfKilledWritesIsRemoved: and nothing that may be somebody else's.
func TestWhatIsLeftOfKilledWritesIsRemoved(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "report")
	old := time.Now().Add(-2 * stale)
	for name, then := range map[string]time.Time{
		".report.1": old, ".report.2.old": old, ".report.3": time.Now(), ".report.4": old,
		".report.notes": old, ".other.5": old,
	} {
		path := filepath.Join(top, name)
		err := oldReport(path)
		if name == ".report.4" {
			err = errors.Join(err, os.WriteFile(filepath.Join(path, "charts", "notes.txt"), nil, 0o600))
		}
		for _, file := range listing(t, path) {
			err = errors.Join(err, os.Chtimes(file, then, then))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := run(t, twoTeams(), Options{Reps: 1, Policies: []string{"fs"}}).Write(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	var left []string
	list, err := os.ReadDir(top)
	for _, entry := range list {
		left = append(left, entry.Name())
	}
	if want := []string{".other.5", ".report.3", ".report.4", ".report.notes", "report"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left is %v, want %v (%v)", left, want, err)
	}
}

func TestMoneyHasSixPlaces(t *testing.T) {
	t.Parallel()
	m, _ := sim.FindMetric("cost")
	if got := cell(exact(m, 309.7200000000002)); got != "309.72" {
		t.Error(got)
	}
	if got := cell(math.Copysign(0, -1)); got != "0" {
		t.Error(got)
	}
}
