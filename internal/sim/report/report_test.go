package report

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

func run(t *testing.T, s *scenario.Scenario, o Options) *Report {
	t.Helper()
	r, err := Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// outcomes runs a policy without the report.
func outcomes(t *testing.T, s *scenario.Scenario, policy string) []*sim.Outcome {
	t.Helper()
	var list []*sim.Outcome
	for rep := range s.Reps {
		run := sim.Run{Setup: s.Setup, Policy: policy, Seed: s.Seed, Rep: rep, Record: sim.Record{Samples: samples}}
		o, err := run.Do()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, o)
	}
	return list
}

func metricsOf(list []*sim.Outcome, m sim.Metric) []float64 {
	var values []float64
	for _, o := range list {
		values = append(values, o.Metrics().Of(m.Name))
	}
	return values
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func near(a, b float64) bool { return same(a, b) || math.Abs(a-b) < 1e-9 }

func TestFiguresAreThoseOfTheRuns(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*scenario.Scenario{"fixed load": twoTeams(), "drawn load": drawn()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, s, Options{Check: true})
			base := outcomes(t, s, s.Policies[0])
			cycles := int64(0)
			for i, policy := range s.Policies {
				p := r.Policies[i]
				if p.Name != policy {
					t.Fatalf("policy %d is %s, want %s", i, p.Name, policy)
				}
				direct := outcomes(t, s, policy)
				for _, o := range direct {
					cycles += o.HandOuts
				}
				for k, m := range sim.AllMetrics {
					values := metricsOf(direct, m)
					if want := stats.Summarise(values); !same(p.Figures[k].Mean, want.Mean) || !same(p.Figures[k].CI95, want.CI95) {
						t.Errorf("%s of %s is %+v, want %+v", m.Name, policy, p.Figures[k], want)
					}
					if i == 0 {
						continue
					}
					if want := stats.Paired(values, metricsOf(base, m)); !near(p.Paired[k].Mean, want.Mean) || !near(p.Paired[k].CI95, want.CI95) {
						t.Errorf("the difference in %s of %s is %+v, want %+v", m.Name, policy, p.Paired[k], want)
					}
				}
			}
			if r.Alphas == nil && r.Cycles != cycles {
				t.Errorf("%d cycles, want %d", r.Cycles, cycles)
			}
		})
	}
}

func TestBatchesOfAFixedLoadAreMeans(t *testing.T) {
	t.Parallel()
	s := twoTeams()
	r := run(t, s, Options{})
	if !r.Fixed || r.BatchesOf != MeanOfReps {
		t.Fatalf("fixed %v, batches are %s", r.Fixed, r.BatchesOf)
	}
	direct := outcomes(t, s, "fs")
	for k, b := range r.Policies[1].Batches {
		var ended []float64
		inTime := 0.0
		for _, o := range direct {
			if o.Batches[k].Completed >= 0 {
				ended = append(ended, o.Batches[k].Completed.Seconds())
			}
			if o.Batches[k].InTime() {
				inTime += 1 / float64(s.Reps)
			}
		}
		if want := stats.Summarise(ended); b.CompletedAt != want.Mean || b.CompletedCI != want.CI95 || b.Completed != 1 {
			t.Errorf("%s was completed at %g ± %g in %g of the runs, want %+v", b.Name, b.CompletedAt, b.CompletedCI, b.Completed, want)
		}
		if b.Name != "large" && b.InTime != inTime || b.Name == "large" && !math.IsNaN(b.InTime) {
			t.Errorf("%s was in time in %g of the runs, want %g", b.Name, b.InTime, inTime)
		}
	}
}

func TestBatchesOfADrawnLoadAreOfRepetition1(t *testing.T) {
	t.Parallel()
	s := drawn()
	r := run(t, s, Options{})
	if r.Fixed || r.BatchesOf != FirstRep {
		t.Fatalf("fixed %v, batches are %s", r.Fixed, r.BatchesOf)
	}
	direct := outcomes(t, s, "edf")[0]
	got := r.Policies[1].Batches
	if len(got) != len(direct.Batches) || len(got) < 10 {
		t.Fatalf("%d batches, want %d", len(got), len(direct.Batches))
	}
	for k := range got {
		if want := ever(direct.Batches[k].Completed); !same(got[k].CompletedAt, want) || got[k].ID != direct.Batches[k].ID || !math.IsNaN(got[k].CompletedCI) {
			t.Errorf("%s was completed at %g ± %g, want %g", got[k].Name, got[k].CompletedAt, got[k].CompletedCI, want)
		}
	}
}

func TestSweepDrawsDeadlinesAnew(t *testing.T) {
	t.Parallel()
	s := drawn()
	r := run(t, s, Options{})
	for i, policy := range s.Policies {
		for k, alpha := range s.Alphas {
			other := *s
			other.Setup = s.At(alpha)
			m, _ := sim.FindMetric("deadline_success_ratio")
			want := stats.Summarise(metricsOf(outcomes(t, &other, policy), m))
			if got := r.Policies[i].Alphas[k]; got.Alpha != alpha || got.Success.Mean != want.Mean {
				t.Errorf("%s at α = %g: %+v, want %+v", policy, alpha, got.Success, want)
			}
		}
	}
}

func TestSameReportOnAnyNumberOfCores(t *testing.T) {
	var texts []string
	for _, cores := range []int{1, 4} {
		func() {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			for _, s := range []*scenario.Scenario{twoTeams(), drawn()} {
				r := run(t, s, Options{})
				text, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				done, err := json.Marshal([]any{r.Policies[0].done, r.Policies[1].wanted})
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, string(text)+string(done))
			}
		}()
	}
	if texts[0] != texts[2] || texts[1] != texts[3] {
		t.Error("the number of cores changes the report")
	}
}

func TestOptionsTakeThePlaceOfTheScenarios(t *testing.T) {
	t.Parallel()
	seed, last := uint64(0), 0
	calls := 0
	r := run(t, twoTeams(), Options{
		Policies: []string{"rr", "wcfs( fs, k=3 )"}, Reps: 2, Seed: &seed,
		Progress: func(done, total int) {
			if calls++; done < last || total != 4 {
				t.Errorf("%d of %d after %d", done, total, last)
			}
			last = done
		},
	})
	if diff := cmp.Diff([]string{"rr", "wcfs(fs,k=3)"}, r.names()); diff != "" || r.Reps != 2 || r.Seed != 0 || last != 4 || calls != 5 {
		t.Errorf("%d repetitions, seed %d, %d of the runs told in %d calls; policies (-want +got):\n%s", r.Reps, r.Seed, last, calls, diff)
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"no policy":        {Policies: []string{}},
		"unknown policy":   {Policies: []string{"best"}},
		"twice":            {Policies: []string{"fs", "dafs", "fs"}},
		"twice, unalike":   {Policies: []string{"dafs", "dafs(f=log1p)"}},
		"negative":         {Reps: -1},
		"more than enough": {Reps: maxReps + 1},
		"too many":         {Policies: slices.Repeat([]string{"fs"}, maxPolicies+1)},
	} {
		if _, err := Run(context.Background(), twoTeams(), o); crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	_, err := Run(ctx, twoTeams(), Options{Progress: func(done, _ int) {
		if done == 1 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestRoundingIsNoDifference(t *testing.T) {
	t.Parallel()
	a, b := []float64{0.3, 32, 5}, []float64{0.1 + 0.2, 32.000000000000014, 5}
	if got := difference(a, b); got.Mean != 0 || got.Max != 0 || got.Min != 0 || Clear(got) {
		t.Errorf("the difference is %+v", got)
	}
	if got := difference([]float64{1, 2}, []float64{0.9, 1.9}); math.Abs(got.Mean-0.1) > 1e-9 || !Clear(got) {
		t.Errorf("the difference is %+v", got)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	r := run(t, drawn(), Options{})
	r.WallS = 1.5
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Scenario string
		Policies map[string]struct {
			Batches []map[string]any
			Metrics map[string]*float64
			CI95    map[string]*float64
			Paired  map[string]struct{ Mean, CI95 *float64 }
			Alphas  []map[string]*float64
		}
		Reps       int
		Seed       uint64
		Cycles     int64
		WallS      float64 `json:"wall_s"`
		BatchesOf  string  `json:"batches_of"`
		PairedWith string  `json:"paired_with"`
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Scenario != "drawn" || got.Reps != 3 || got.Seed != 2 || got.Cycles != r.Cycles || got.WallS != 1.5 || got.BatchesOf != FirstRep || got.PairedWith != "fs" {
		t.Errorf("got %+v", got)
	}
	fs, edf := got.Policies["fs"], got.Policies["edf"]
	for k, m := range sim.AllMetrics {
		mean, known := edf.Metrics[m.Name]
		if want := r.Policies[1].Figures[k]; !known || (mean == nil) != math.IsNaN(want.Mean) || mean != nil && *mean != exact(m, want.Mean) {
			t.Errorf("%s is %v, want %g", m.Name, mean, want.Mean)
		}
		if _, known := edf.Paired[m.Name]; !known {
			t.Errorf("%s has no difference", m.Name)
		}
	}
	// Nothing is labelled with options here, so there is no accuracy.
	if mean, known := fs.Metrics["label_accuracy"]; !known || mean != nil || fs.Paired != nil || len(fs.Alphas) != 3 {
		t.Errorf("accuracy %v (%v), differences %v, %d α", mean, known, fs.Paired, len(fs.Alphas))
	}
	if b := fs.Batches[0]; b["id"] != "b1" || b["name"] != "job-1" || b["launched_at_s"] == nil {
		t.Errorf("the first batch is %v", b)
	}
}

// TestInterruptedWithinARepetition: a long one does not run to its end first.
func TestInterruptedWithinARepetition(t *testing.T) {
	t.Parallel()
	s := twoTeams()
	r := &Report{Reps: 1, Seed: 1, classes: s.Setup.SizeClasses()}
	if err := r.name(s.Policies); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := newCollector(r, s).run(ctx, 0, false); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestIdleBatchesHaveNoColour: a legend names only what the picture shows.
func TestIdleBatchesHaveNoColour(t *testing.T) {
	t.Parallel()
	s := twoTeams()
	s.Setup.Horizon = 4 * time.Minute
	s.Setup.Batches[1].At, s.Setup.Batches[1].Requires = 0, map[string]int{"french": 50}
	p, ok := run(t, s, Options{Reps: 1}).allocation()
	if !ok || strings.Contains(p.caption, "vanished") {
		t.Fatalf("the picture is of %q", p.caption)
	}
	titled := p.titled()
	svg, err := titled.SVG()
	if err != nil || !strings.Contains(string(svg), ">large<") || strings.Contains(string(svg), ">small<") {
		t.Errorf("the legend names who has nobody (%v)", err)
	}
	s.Setup.Faults = []sim.Fault{{At: time.Minute, Vanish: 0.5}}
	if p, _ := run(t, s, Options{Reps: 1}).allocation(); !strings.Contains(p.caption, "until the lease of their task runs out") {
		t.Errorf("the picture is of %q", p.caption)
	}
}
