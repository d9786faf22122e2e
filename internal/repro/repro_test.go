package repro

import (
	"context"
	"encoding/csv"
	"html"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/repro/experiment"
)

// least is how many rows each experiment has at least, and a piece of a name that
// one of them must have.
var least = map[string]struct {
	rows int
	name string
}{
	"table3": {45, "DAFS, paper's formula: mean completion of best-effort batches"}, "fig5": {9, "SEQ25"}, "fig6": {40, "SJF: completion of B4"},
	"fig7a": {20, "B2 at $0.05"}, "fig7b": {20, "20 to 25 people"}, "fig8": {10, "WCFS"}, "fig9": {13, "large (16-45)"}, "fig10": {7, "95 % of the tasks"},
	"fig11": {150, "FIFO, 200 workers: completion of B5"}, "fig12": {40, "priority 50"}, "fig13": {100, "DAFS, authors' program: deadline success at α = 0.6"},
	"fig14": {30, "DAFS against FS"}, "fig15": {23, "EDF less FS"}, "fig16": {10, "not finite"}, "pareto": {500, "laxity, share 0.6 over 300 s, α = 1"},
	"cioppino-fig3a": {40, "CT-p over S"}, "cioppino-fig3b": {30, "AR over N"}, "cioppino-fig3c": {30, "PB over RT"},
	"cioppino-fig4": {70, "our balance contributes"}, "cioppino-headline": {30, "Throng over Cioppino"}, "cioppino-search": {6, "a step every 10s"}, "cioppino-sensitivity": {54, "a step every 1s"},
	"sla-e1": {135, "loop, each 2 RT less"}, "sla-e2": {90, "most that an order can save"}, "sla-e3": {90, "reduction less that of E1"},
	"sla-e4": {80, "reduction less that of E2"}, "sla-e5": {90, "reduction less that of E3"}, "sla-e6": {130, "T2 without the information request"},
	"sla-search": {8, "k = 0, equal gaps"}, "sla-orders": {80, "a slope, costs 1 and 10"}, "sla-people": {163, "optimum: 5 at once, 2 people, once"}, "sla-fig9": {70, "loop, its cost charged: F' = 400"}, "cymphony-events": {30, "u2 commits no for t1.1: event 4 of t1.1, aggregate() → update_task()"},
}

// inShort are the experiments of a short run, as under the race detector: one for
// each way in which experiments share out their runs among goroutines.
var inShort = map[string]bool{
	"fig5": true, "fig6": true, "fig9": true, "fig12": true, "fig15": true, "cioppino-fig3c": true, "sla-e3": true, "cymphony-events": true,
}

// brief are the options with which the tests run an experiment. The rows of what
// the paper does not have are made where they are cheap or no other has them: the
// extras of fig14 are those of fig15, and those of sla-e1, by height of the peak,
// and of sla-e6, by length and with all types and delays, those of the others.
func brief(name string) experiment.Options {
	o := experiment.Options{Reps: 2, Extra: 2, Small: true}
	switch name {
	case "fig15", "sla-e2", "sla-e3", "sla-e4", "sla-e5":
		o.Extra = -1
	}
	return o
}

// results runs each experiment once, for all tests that look at its rows.
var results = func() map[string]func() (*experiment.Result, error) {
	all := map[string]func() (*experiment.Result, error){}
	for _, e := range Experiments() {
		all[e.Name] = sync.OnceValues(func() (*experiment.Result, error) { return Run(context.Background(), e.Name, brief(e.Name)) })
	}
	return all
}()

// resultOf is the shared result of an experiment, only to be read.
func resultOf(t *testing.T, name string) *experiment.Result {
	t.Helper()
	r, err := results[name]()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryExperiment(t *testing.T) {
	t.Parallel()
	if len(Experiments()) != len(least) {
		t.Errorf("%d experiments, %d expected", len(Experiments()), len(least))
	}
	for _, e := range Experiments() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && !inShort[e.Name] {
				t.Skip("left out: another experiment runs the same way")
			}
			if e.Title == "" || e.What == "" || e.Source == "" || e.Reps < 2 {
				t.Errorf("%+v is not described", e)
			}
			r := resultOf(t, e.Name)
			want := least[e.Name]
			if len(r.Rows) < want.rows {
				t.Errorf("%d rows, want %d or more", len(r.Rows), want.rows)
			}
			names, found := map[string]bool{}, false
			for _, row := range r.Rows {
				found = found || strings.Contains(row.Name, want.name)
				if names[row.Name] {
					t.Errorf("two rows are %q", row.Name)
				}
				names[row.Name] = true
				checkRow(t, &row)
				checkReasons(t, r.Doc, row.Why)
			}
			if !found {
				t.Errorf("no row has %q in its name", want.name)
			}
			dir := filepath.Join(t.TempDir(), "new")
			if err := r.WriteTo(dir); err != nil {
				t.Fatal(err)
			}
			checkFolder(t, dir, r)
		})
	}
}

// checkReasons looks for the paragraph of each reason.
func checkReasons(t *testing.T, doc, why string) {
	t.Helper()
	if why == "" {
		return
	}
	text, err := os.ReadFile(filepath.Join("../..", doc))
	if err != nil {
		t.Fatal(err)
	}
	for code := range strings.SplitSeq(why, ", ") {
		if !strings.Contains(string(text), "\n- `"+code+"`: ") {
			t.Errorf("%s does not explain %q", doc, code)
		}
	}
}

// A reason that nothing shows is a conjecture, by its code and in its paragraph.
// Each reason that a document explains is one that a package gives, in these very
// letters: a code that is written wrongly, or that no row has any more, is found here.
func TestEveryReasonIsGiven(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	given := regexp.MustCompile("[\"`]([a-z0-9-]+(?:, [a-z0-9-]+)*)[\"`]")
	codes := map[string]bool{}
	for _, found := range given.FindAllStringSubmatch(source.String(), -1) {
		for code := range strings.SplitSeq(found[1], ", ") {
			codes[code] = true
		}
	}
	docs, rows := map[string]int{}, 0
	for _, e := range Experiments() {
		docs[e.Doc] = 0
	}
	reasons := regexp.MustCompile("(?m)^\\| .*\\| (?:differs|imprecise|not [a-z ]+) \\(`([a-z0-9-]+(?:`, `[a-z0-9-]+)*)`\\) \\|$")
	explained := regexp.MustCompile("(?m)^- `([a-z0-9-]+)`: (Conjecture: )?")
	for doc := range docs {
		text, err := os.ReadFile(filepath.Join("../..", doc))
		if err != nil {
			t.Fatal(err)
		}
		said := map[string]bool{}
		for _, found := range explained.FindAllSubmatch(text, -1) {
			docs[doc]++
			said[string(found[1])] = true
			if strings.HasPrefix(string(found[1]), "maybe-") != (len(found[2]) > 0) {
				t.Errorf("%s: %q begins with maybe- or its paragraph with Conjecture:, not both", doc, found[1])
			}
			if !codes[string(found[1])] {
				t.Errorf("%s explains %q, which no row gives", doc, found[1])
			}
		}
		for _, row := range reasons.FindAllStringSubmatch(string(text), -1) {
			rows++
			for _, code := range strings.Split(row[1], "`, `") {
				if !said[code] {
					t.Errorf("%s has a row with the reason %q, which it does not explain", doc, code)
				}
			}
		}
		if docs[doc] == 0 {
			t.Errorf("%s explains no reason", doc)
		}
	}
	if rows < 100 {
		t.Errorf("%d rows of the documents have a reason", rows)
	}
}

func checkRow(t *testing.T, row *experiment.Row) {
	t.Helper()
	switch {
	case slices.Contains(experiment.Verdicts(), row.Verdict):
		if !slices.Contains(experiment.Kinds(), row.Kind) || row.NoVerdict != "" {
			t.Errorf("%s: %s, of kind %q, without a verdict for %q", row.Name, row.Verdict, row.Kind, row.NoVerdict)
		}
	case row.Verdict != "" || row.Kind != "" || row.NoVerdict != experiment.NotInPaper && row.NoVerdict != experiment.NotSimulatable:
		t.Errorf("%s: verdict %q, of kind %q, without a verdict for %q", row.Name, row.Verdict, row.Kind, row.NoVerdict)
	}
	if row.Why == "" && (row.Verdict == experiment.Differs || row.Verdict == experiment.Imprecise || row.NoVerdict == experiment.NotSimulatable) {
		t.Errorf("%s: %s%s, and does not say why", row.Name, row.Verdict, row.NoVerdict)
	}
	if row.NoVerdict != experiment.NotInPaper && row.Published.Missing() && row.Claim == "" {
		t.Errorf("%s: compared with nothing", row.Name)
	}
	if row.NoVerdict != experiment.NotInPaper && row.Source == "" {
		t.Errorf("%s: no source", row.Name)
	}
	if row.Statistic == "" {
		t.Errorf("%s: of what?", row.Name)
	}
}

func checkFolder(t *testing.T, dir string, r *experiment.Result) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "rows.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != len(r.Rows)+1 {
		t.Errorf("rows.csv has %d rows of %d: %v", len(rows)-1, len(r.Rows), err)
	}
	if len(r.Pictures) == 0 {
		t.Error("no picture")
	}
	for _, p := range r.Pictures {
		data, err := os.ReadFile(filepath.Join(dir, p.Name+".svg"))
		if err != nil || !strings.HasPrefix(string(data), "<svg") {
			t.Errorf("%s.svg: %v, begins %.10q", p.Name, err, data)
		}
	}
	for _, name := range []string{"report.md", "report.html"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(html.UnescapeString(string(data)), r.Pictures[0].Words) {
			t.Errorf("%s does not show the picture: %v", name, err)
		}
	}
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	for field, o := range map[string]experiment.Options{
		"reps": {Reps: 1}, "extra-reps": {Reps: 5, Extra: 1}, "seed": {Reps: 5, Seed: 1<<32 - 3},
	} {
		_, err := Run(context.Background(), "table3", o)
		if crowd.CodeOf(err) != crowd.Invalid || !strings.Contains(err.Error(), field) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	number := func(x float64) *float64 { return &x }
	for _, tc := range []struct {
		field string
		open  experiment.Open
	}{
		{"f0", experiment.Open{F0: number(1e300)}},
		{"f0", experiment.Open{F0: number(0)}},
		{"f0", experiment.Open{F0: number(math.NaN())}},
		{"f0", experiment.Open{F0: number(90)}}, // times the 20 s of T₀
		{"t0", experiment.Open{T0: number(1e7)}},
		{"t0", experiment.Open{T0: number(1e300)}},
		{"t0", experiment.Open{T0: number(-1)}},
		{"t0", experiment.Open{T0: number(4)}}, // the peak of 5 s does not lie in it
		{"t0", experiment.Open{T0: number(1e-4), F0: number(1e-4)}},
		{"k", experiment.Open{K: number(1.1)}},
	} {
		_, err := Run(context.Background(), "sla-e1", experiment.Options{Reps: 2, Open: tc.open})
		if crowd.CodeOf(err) != crowd.Invalid || !strings.HasPrefix(err.Error(), tc.field+": ") {
			t.Errorf("%s: %v", tc.field, err)
		}
	}
	if _, err := Run(context.Background(), "fig99", experiment.Options{}); crowd.CodeOf(err) != crowd.Invalid {
		t.Errorf("an experiment that is none: %v", err)
	}
}

// The same seed gives the same rows, and another seed others. Rows of what the
// clock says are in none of these.
func TestSameSeedSameRows(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fig12", "fig15", "fig9", "cioppino-fig3c", "sla-e3", "cymphony-events"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := brief(name)
			o.Seed = 1 // as when none is given
			again, err := Run(context.Background(), name, o)
			if err != nil {
				t.Fatal(err)
			}
			if string(resultOf(t, name).CSV()) != string(again.CSV()) {
				t.Error("two runs differ")
			}
		})
	}
	for name, rows := range map[string][]string{
		"fig12":          {"B2 with priority 1, 25 workers: completion of B2", "B2 with priority 1, 25 workers as threads: completion of B2"},
		"cioppino-fig3c": {"PB over RT: throughput"}, "cymphony-events": nil,
	} {
		o := brief(name)
		o.Seed = 5
		other, err := Run(context.Background(), name, o)
		if err != nil {
			t.Fatal(err)
		}
		one := resultOf(t, name)
		if string(one.CSV()) == string(other.CSV()) || !strings.HasSuffix(other.Command(), " --seed 5") {
			t.Errorf("%s: another seed makes no difference, or is not told: %s", name, other.Command())
		}
		for _, begin := range rows {
			i := slices.IndexFunc(one.Rows, func(r experiment.Row) bool { return strings.HasPrefix(r.Name, begin) })
			if i < 0 || one.Rows[i].Ours == other.Rows[i].Ours {
				t.Errorf("%s: row %d, %q, is the same with another seed", name, i, begin)
			}
		}
	}
}

// TestSmallIsLess: --small does less of every entry of the list, and what it leaves out
// besides repetitions is said where there is such.
func TestSmallIsLess(t *testing.T) {
	t.Parallel()
	var ends []string
	for _, e := range Experiments() {
		reps, extra := e.Repetitions(false)
		fewer, fewerExtra := e.Repetitions(true)
		if fewer >= reps || fewer < 2 || fewerExtra > extra || extra > 2 && fewerExtra >= extra {
			t.Errorf("%s: %d and %d repetitions, small %d and %d", e.Name, reps, extra, fewer, fewerExtra)
		}
		if e.Ends != "" {
			ends = append(ends, e.Name)
		}
	}
	if want := []string{"pareto", "cioppino-fig4", "cioppino-search", "cioppino-sensitivity", "sla-fig9", "sla-search"}; !slices.Equal(ends, want) {
		t.Errorf("%v say what they leave out, and the help names %v", ends, want)
	}
	r, err := Run(context.Background(), "cymphony-events", experiment.Options{Small: true})
	if err != nil || r.Reps != 30 || r.Command() != "throng paper run cymphony-events --reps 30 --small" {
		t.Fatalf("%+v, %v", r, err)
	}
}
