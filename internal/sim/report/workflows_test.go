package report

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim/scenario"
	"github.com/throng-dev/throng/internal/sim/workflows"
)

// twoOrders are the outcomes of two policies in two repetitions, of which the second
// always costs 3 less.
func twoOrders() *WorkflowReport {
	outcome := func(penalty int, latency ...float64) *workflows.Outcome {
		mean := 12.5
		return &workflows.Outcome{
			Arrived: 3, Ended: len(latency), Promised: len(latency), Late: 1, Penalty: crowd.Money(penalty) * crowd.Unit, Latency: latency, Duration: time.Hour, Answers: 3,
			Classes: []workflows.ClassOutcome{{Name: "premium", Outcome: workflows.Outcome{Ended: 2, Promised: 2, Late: 1, Penalty: crowd.Unit, Latency: []float64{10, 20}}}, {Name: "regular"}},
			Pools:   []workflows.PoolOutcome{{Name: "main", People: 4, Utilisation: 0.5, Queue: 1.5, MaxQueue: 7}},
			Steps:   []workflows.Step{{Name: "ask", Kind: "crowd", In: 3, OK: 3, MeanS: &mean}, {Name: "sums", Kind: "sql"}},
			Samples: []workflows.Sample{{At: 0, Going: 1, Queues: []int{0}}, {At: time.Minute, Going: 2, Queues: []int{1}}},
		}
	}
	variant := func(policy string, runs ...*workflows.Outcome) *workflows.Variant {
		return &workflows.Variant{Policy: policy, Workers: scenario.Workers{Each: 4}, Runs: runs}
	}
	r := NewWorkflowReport(&workflows.Comparison{Seed: 7, Reps: 2, Variants: []*workflows.Variant{
		variant("fifo", outcome(8, 10, 20, 30), outcome(9, 10, 20, 60)), variant("penalty", outcome(5, 10, 20, 30), outcome(6, 10, 20, 60)),
	}}, "Claims <1>")
	r.Load = []string{"rows come"}
	return r
}

// TestWorkflowReport: text, JSON and files have the figures, their intervals and the
// paired differences.
func TestWorkflowReport(t *testing.T) {
	r := twoOrders()
	rows := r.Rows(r.Tables()[0])
	if rows[0][0] != "penalty" || rows[0][1] != "8.5 ± 6.4" || rows[0][2] != "5.5 ± 6.4" {
		t.Errorf("penalties: %q", rows[0])
	}
	if diff := r.Differences(r.Tables()[0])[0]; diff[1] != minus+"3 ± 0" && diff[1] != minus+"3.0 ± 0" {
		t.Errorf("difference: %q", diff)
	}
	if names := []string{r.Tables()[0].Title, r.Tables()[1].Title, r.Tables()[2].Title, r.Tables()[3].Title}; names[1] != "classes of items" || names[2] != "pools" || len(r.Rows(r.Tables()[3])) != 1 {
		t.Errorf("tables: %q", names)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Policies []struct {
			Policy  string
			Workers int
			Penalty float64
			Late    float64
			P50     float64 `json:"latency_p50_s"`
			P95     float64 `json:"latency_p95_s"`
			CI95    map[string]float64
			Paired  map[string]struct{ Mean float64 }
			Pools   []struct {
				Name        string
				Utilisation float64
			}
			Steps   []struct{ Name string }
			Classes []struct {
				Class     string
				Penalty   float64
				LateShare *float64 `json:"late_share"`
				P95       *float64 `json:"latency_p95_s"`
				CI95      map[string]*float64
			}
		}
		Each string
		Seed int
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	first, second := got.Policies[0], got.Policies[1]
	if first.Policy != "fifo" || first.Workers != 4 || first.Penalty != 8.5 || first.Late != 1 || first.P50 != 20 || first.P95 != 42.5 || first.Paired != nil ||
		second.Paired["penalty"].Mean != -3 || second.CI95["penalty"] < 6.3 || second.Pools[0].Utilisation != 0.5 || second.Steps[0].Name != "ask" || got.Each != "row" || got.Seed != 7 {
		t.Errorf("%s", raw)
	}
	if c := first.Classes; len(c) != 2 || c[0].Class != "premium" || c[0].Penalty != 1 || *c[0].LateShare != 0.5 || *c[0].P95 != 19.5 || c[1].P95 != nil || c[1].LateShare != nil {
		t.Errorf("classes: %+v\n%s", c, raw)
	}
	if rows := r.Rows(r.Tables()[1]); rows[0][0] != "premium: penalty" || rows[0][1] != "1 ± 0" {
		t.Errorf("rows of the classes: %q", rows)
	}
	dir := filepath.Join(t.TempDir(), "report")
	for range 2 { // it may be replaced
		if err := CheckDir(dir); err != nil {
			t.Fatal(err)
		}
		if err := r.Write(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"report.html": "Claims &lt;1&gt;", "summary.csv ": "penalty,4,premium: late,,2,1,", "summary.csv": "penalty,4,penalty,currency,2,5.5,", "runs.csv": "fifo,4,2,9,1,", "steps.csv": "penalty,4,1,ask,crowd,3,3,0,0,0,12.5",
		"series.csv": "penalty,4,60,2,main,1", "charts/penalty.svg": "<svg", "charts/latency.svg": "<svg", "charts/going.svg": "<svg", "charts/queuea.svg": "<svg",
		"report.json": `"latency_p95_s": 42.5`,
	} {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(strings.TrimSpace(name))))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s has not %s (%v)\n%.2000s", name, want, err, text)
		}
	}
}

// TestTheOthersAreComparedWithWhatHasFigures: if nothing ended under the first variant, the next one is
// the base of the differences, in text, JSON, page and tables.
func TestTheOthersAreComparedWithWhatHasFigures(t *testing.T) {
	r := twoOrders()
	lose := func(v *workflows.Variant) {
		for _, o := range v.Runs {
			o.Lost, o.DeadEnds, o.DeadEnd, o.Steps = true, 1, errors.New("alone"), nil
		}
	}
	third := twoOrders().Variants[0]
	third.Policy = "wfs"
	r.Variants = append(r.Variants, third)
	lose(r.Variants[0])
	if base, instead := r.Base(); base != "penalty" || !instead || !slices.Equal(r.Compared(), []string{"wfs"}) {
		t.Errorf("%q (%t) is compared with %q", base, instead, r.Compared())
	}
	if row := r.Differences(r.Tables()[0])[0]; len(row) != 2 || row[1] != "+3.0 ± 0" {
		t.Errorf("differences: %q", row)
	}
	raw, err := json.Marshal(r)
	var got struct {
		With     string `json:"paired_with"`
		Policies []struct {
			Paired map[string]struct{ Mean *float64 }
		}
	}
	if err = errors.Join(err, json.Unmarshal(raw, &got)); err != nil {
		t.Fatal(err)
	}
	if p := got.Policies; got.With != "penalty" || p[0].Paired["penalty"].Mean != nil || p[1].Paired != nil || *p[2].Paired["penalty"].Mean != 3 {
		t.Errorf("%s", raw)
	}
	dir := filepath.Join(t.TempDir(), "out")
	if err := r.Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"report.html": "how far a policy differs from penalty on the same", "summary.csv": "wfs,4,penalty,currency,2,8.5,0.707107,6.353102,8.5,8,9,3,0"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s has no %q: %v\n%.2000s", name, want, err, got)
		}
	}
	lose(r.Variants[2])
	if base, _ := r.Base(); base != "penalty" || len(r.Compared()) != 0 {
		t.Errorf("one has figures, and %q is compared with %q", base, r.Compared())
	}
}

// TestDeadEndsInTheReport: what cannot end is marked in text, JSON, page and tables, and its
// figures are those of the rest.
func TestDeadEndsInTheReport(t *testing.T) {
	r := twoOrders()
	if len(r.DeadEnds()) != 0 || r.Headings()[0] != "fifo" {
		t.Errorf("without: %q, %q", r.DeadEnds(), r.Headings())
	}
	lost := r.Variants[0].Runs[0]
	lost.Lost, lost.DeadEnds, lost.DeadEnd, lost.Penalty, lost.Steps = true, 1, errors.New("ask: the step cannot go on: alone"), 0, nil
	some := r.Variants[1].Runs[1]
	some.DeadEnds, some.DeadEnd = 2, errors.New("no money")
	want := []string{
		"† fifo: a dead end of 1 of 2 repetitions, left out of the figures; in repetition 1: ask: the step cannot go on: alone",
		"† penalty: a dead end of 2 runs in 1 of 2 repetitions, left out of the figures; in repetition 2: no money",
	}
	if got := r.DeadEnds(); !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	if got := r.Headings(); got[0] != "fifo †" || got[1] != "penalty †" {
		t.Errorf("headings: %q", got)
	}
	if row := r.Rows(r.Tables()[0])[0]; row[1] != "9.00 (n = 1)" || row[2] != "5.5 ± 6.4" {
		t.Errorf("penalties: %q", row)
	}
	if diff := r.Differences(r.Tables()[0])[0]; !strings.HasSuffix(diff[1], "(n = 1)") {
		t.Errorf("difference: %q", diff)
	}
	raw, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(raw), `"dead_ends":[{"repetition":1,"runs":1,"left_out":true,"why":"ask: the step cannot go on: alone"}]`) {
		t.Errorf("%s, %v", raw, err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	if err := r.Write(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"runs.csv": "fifo,4,1,,,,", "report.html": "fifo †"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(got), text) {
			t.Errorf("%s has no %q: %v\n%.600s", name, text, err, got)
		}
	}
}

// TestWhatGaveUpIsReported: of items that failed the report says how many and where, and shows the
// figure among the first; else it has neither.
func TestWhatGaveUpIsReported(t *testing.T) {
	r := twoOrders()
	has := func() bool {
		return slices.ContainsFunc(r.Rows(r.Tables()[0]), func(row []string) bool { return row[0] == "gave_up" })
	}
	if len(r.GaveUp()) != 0 || has() {
		t.Errorf("without: %q", r.GaveUp())
	}
	failed := r.Variants[1].Runs[1]
	failed.GaveUp, failed.Steps[0].GaveUp = 2, 2
	lost := r.Variants[1].Runs[0]
	lost.Lost, lost.Steps, lost.Ended = true, nil, 0
	if got := r.GaveUp(); !has() || len(got) != 1 || !strings.HasPrefix(got[0], "penalty: 2 of 3 items in 2 repetitions were given up after an error (2 at ask); ") {
		t.Errorf("%q", got)
	}
	r.Runs = true // of which an item that failed is a part
	if got := r.GaveUp(); len(got) != 1 || !strings.HasPrefix(got[0], "penalty: 2 items in 2 repetitions were given up") {
		t.Errorf("of runs: %q", got)
	}
}
