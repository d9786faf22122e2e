package report_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim/pools"
	"github.com/throng-dev/throng/internal/sim/report"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// TestPoolFilesShow runs the files of scenarios/pools: they show what they say.
func TestPoolFilesShow(t *testing.T) {
	t.Parallel()
	// By file and variant: what the ratio to the first variant is, over all pools.
	type claim struct {
		variant   int
		metric    string
		low, high float64
	}
	claims := map[string][]claim{
		"three-applications.yaml": {{1, "cost", 0.01, 0.3}, {2, "cost", 0.3, 0.8}, {2, "mean_wait_all", 0.05, 0.8}, {3, "throughput", 0.97, 1.1}, {3, "preference", 0.95, 2}},
		"abandonment.yaml":        {{1, "throughput", 2, 50}, {2, "throughput", 2, 50}, {3, "throughput", 2, 50}},
		"trace.yaml":              {{1, "cost", 0.01, 0.5}, {1, "throughput", 1, 1.5}, {1, "preference", 1, 3}},
	}
	files, err := filepath.Glob("../../../scenarios/pools/*.yaml")
	if err != nil || len(files) != len(claims) {
		t.Fatalf("%d files of pools, claims about %d: %v", len(files), len(claims), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _, err := scenario.LoadPools(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := report.RunPools(context.Background(), p, report.PoolsOptions{Reps: 1})
			if err != nil {
				t.Fatal(err)
			}
			if len(claims[name]) == 0 {
				t.Fatal("nothing is claimed")
			}
			for _, c := range claims[name] {
				m := poolMetric(t, c.metric)
				if x := r.Ratio(c.variant, pools.EveryPool, m).Value; !(x >= c.low && x <= c.high) {
					t.Errorf("%s of %s is %.3g times that of %s, not %g to %g", c.metric, r.Variants[c.variant].Name, x, r.Variants[0].Name, c.low, c.high)
				}
			}
			if traced := strings.Contains(strings.Join(r.Trace, " "), "generated from published moments"); traced != (name == "trace.yaml") {
				t.Errorf("of the trace it says: %q", r.Trace)
			}
		})
	}
}

const smallPools = `scenario: "=two & <pools>"
about: Small.
horizon: 5m
people: {recruitment: 10s}
pools:
  - {name: a, arrivals: 1/s, service: {exponential: 5s}}
  - {name: b, arrivals: 1/s, service: {exponential: 5s}, start: 2}
compare:
  - {name: "=fixed", control: {stability: none}}
  - {name: follows, balance: random, control: {elasticity: ct-p}}
`

func smallReport(t *testing.T) *report.PoolsReport {
	t.Helper()
	p, err := scenario.ParsePools("x.yaml", []byte(smallPools), nil)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(4)
	r, err := report.RunPools(context.Background(), p, report.PoolsOptions{Reps: 2, Seed: &seed, Check: true, Samples: true, Source: []byte(smallPools)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPoolsReportIsWritten(t *testing.T) {
	t.Parallel()
	r := smallReport(t)
	dir := filepath.Join(t.TempDir(), "report")
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	rows := func(name string) [][]string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		list, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if got, want := len(rows("summary.csv")), 1+2*3*len(pools.Metrics); got != want {
		t.Errorf("summary.csv has %d rows, want %d", got, want)
	}
	if got, want := len(rows("runs.csv")), 1+2*2*3; got != want {
		t.Errorf("runs.csv has %d rows, want %d", got, want)
	}
	series := rows("series.csv")
	if len(series) < 2*2*100 || strings.Join(series[0], ",") != "variant,pool,time_s,size,training,idle,queue,coming,c_star,c_star_seen,lambda_seen,mu_seen,cost" || series[1][0] != "'=fixed" {
		t.Errorf("series.csv has %d rows: %v %v", len(series), series[0], series[1])
	}
	if actions := rows("actions.csv"); len(actions) < 5 {
		t.Errorf("actions.csv has %d rows", len(actions))
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"=two &amp; &lt;pools&gt;", "how many times =fixed", "<svg", "--reps 2 --seed 4", "all pools", "follows"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, name := range []string{"size", "queue", "cost"} {
		if info, err := os.Stat(filepath.Join(dir, "charts", name+".svg")); err != nil || info.Size() < 1000 {
			t.Errorf("charts/%s.svg: %v", name, err)
		}
	}
	// It takes its own place, and nobody else's.
	if err := r.Write(dir); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Write(dir); crowd.CodeOf(err) != crowd.Invalid {
		t.Errorf("%v", err)
	}
}

func TestPoolsJSON(t *testing.T) {
	t.Parallel()
	r := smallReport(t)
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Reps     int
		Seed     uint64
		HorizonS float64 `json:"horizon_s"`
		RatiosTo string  `json:"ratios_to"`
		Variants map[string]struct {
			Pools map[string]struct {
				Metrics, CI95 map[string]*float64
				Ratios        map[string]struct{ Value, Low, High *float64 }
			}
			Total struct{ Metrics map[string]*float64 }
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	follows := got.Variants["follows"]
	m := poolMetric(t, "throughput")
	if got.Reps != 2 || got.Seed != 4 || got.HorizonS != 300 || got.RatiosTo != "=fixed" || len(follows.Pools) != 2 || len(follows.Total.Metrics) != len(pools.Metrics) {
		t.Errorf("%s", text)
	}
	if x := follows.Pools["b"]; *x.Metrics["throughput"] != r.Figure(1, 1, m).Mean || *x.Ratios["throughput"].Value != r.Ratio(1, 1, m).Value || got.Variants["=fixed"].Pools["a"].Metrics["moved_to_preference"] != nil {
		t.Errorf("%+v", x)
	}
}

func poolMetric(t *testing.T, name string) pools.Metric {
	t.Helper()
	for _, m := range pools.Metrics {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("there is no metric %s", name)
	return pools.Metric{}
}
