package cioppino

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim/pools"
	"github.com/throng-dev/throng/pool"
)

// The rows that carry the published figures.
func TestPublishedFiguresOfCioppino(t *testing.T) {
	t.Parallel()
	want := map[string]map[string]float64{
		"cioppino-fig3a": {"CT-t over S: cost": 88, "CT-p over RB: throughput": 1.12, "CT-p over S: throughput": 1.17},
		"cioppino-fig3b": {"HR over AR: cost": 3.3, "RB over AR: cost": 47},
		"cioppino-fig3c": {"PB over RT: throughput": 1.18, "PB over NT: throughput": 1.76, "PB over RT: cost": 10, "PB over NT: cost": 27, "PB over NT: mean preference": 1.43},
		"cioppino-fig4":  {"Cioppino over baseline: throughput": 1.2, "Cioppino over baseline: cost": 19.4, "Throng over baseline: net preference": 2.3},
	}
	for name, figures := range want {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && name != "cioppino-fig3c" {
				t.Skip("left out, as in TestEveryExperiment")
			}
			r := resultOf(t, name)
			for begin, published := range figures {
				n := 0
				for _, row := range r.Rows {
					if strings.HasPrefix(row.Name, begin) && float64(row.Published) == published && !row.Ours.Missing() && row.Ours > 0 {
						n++
					}
				}
				if n != 1 {
					t.Errorf("%d rows begin with %q and have %g as published", n, begin, published)
				}
			}
		})
	}
}

// What must be reached: the throughput and the cost in the setting of all rows, all three
// at once there by calling those who like an application, and in the largest rush hour.
func TestOursMatchesTheHeadline(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: as TestEveryExperiment's, only longer")
	}
	t.Parallel()
	o, w := &experiment.Options{Seed: 1}, onTrace(&experiment.Options{})
	rush := w
	rush.high = surge
	runs, err := try(context.Background(), o, []trial{{baseline, w, 8}, {throng, w, 8}, {baseline, rush, 5}, {throng, rush, 5}, {choosy, w, 8}})
	if err != nil {
		t.Fatal(err)
	}
	// The rows of the other systems are not looked at.
	rows := w.endToEnd([][]*poolRun{runs[0], runs[1], runs[1], runs[1], runs[1], runs[4], runs[4]}, "a reason")
	rows = append(rows, w.atPeaks([][]*poolRun{runs[2], runs[3], runs[3]}, map[float64]int{surge: 0})...)
	looked := 0
	for _, row := range rows {
		switch row.Name {
		case "Throng over baseline: throughput, times as high", "Throng over baseline: cost, times lower",
			"Throng, choosy, over baseline: throughput, times as high", "Throng, choosy, over baseline: cost, times lower",
			"Throng, choosy, over baseline: net preference, times as high",
			"Throng over baseline, rush hour of 300 busy people: throughput, times as high",
			"Throng over baseline, rush hour of 300 busy people: cost, times lower",
			"Throng over baseline, rush hour of 300 busy people: net preference, times as high":
			looked++
			if row.Low < row.Published || row.Verdict == experiment.Differs {
				t.Errorf("%s: %.4g, from %.4g, %s", row.Name, row.Ours, row.Low, row.Verdict)
			}
		}
	}
	if looked != 8 {
		t.Errorf("%d rows were found", looked)
	}
}

func TestVerdictsOfRatios(t *testing.T) {
	t.Parallel()
	run := func(cost float64) *poolRun { return &poolRun{cost: cost} }
	base, half := []*poolRun{run(8), run(12), run(10), run(9), run(11)}, []*poolRun{run(4), run(6), run(5), run(4.5), run(5.5)}
	w := poolWorld{}
	row := w.compare("a over b", gainCost, half, base)
	if math.Abs(float64(row.Ours)-2) > 1e-9 || row.Statistic != "mean ratio of 5" || row.NoVerdict != experiment.NotInPaper {
		t.Errorf("half the cost is %+v", row)
	}
	for name, x := range map[string]struct {
		row  experiment.Row
		want experiment.Verdict
	}{
		"as published":      {row.Against(experiment.Figure{Value: 2, Unit: 0.1}, "s", "w"), experiment.Reproduced},
		"not as published":  {row.Against(experiment.Figure{Value: 2.2, Unit: 0.1}, "s", "w"), experiment.Differs},
		"at least":          {row.AtLeast(1.9, "s", "w"), experiment.Reproduced},
		"less":              {row.AtLeast(2.1, "s", "w"), experiment.Differs},
		"in the range":      {row.Claims("words", experiment.Within(1.5, 3), "s", "w"), experiment.Reproduced},
		"not in the range":  {row.Claims("words", experiment.Within(5, 8), "s", "w"), experiment.Differs},
		"better, the order": {row.Claims("words", experiment.Above(1), "s", "w"), experiment.Reproduced},
	} {
		if x.row.Verdict != x.want || (x.want == experiment.Differs) != (x.row.Why != "") {
			t.Errorf("%s: %s, why %q", name, x.row.Verdict, x.row.Why)
		}
	}
	// Where nobody was paid there is no ratio.
	if row := w.compare("a over b", gainCost, []*poolRun{run(0), run(0)}, base); !row.Ours.Missing() {
		t.Errorf("a ratio over nothing is %g", row.Ours)
	}
}

func TestPartsMultiplyToAll(t *testing.T) {
	t.Parallel()
	var logs [allParts + 1][]float64
	for set := range logs {
		logs[set] = []float64{float64(set*set) / 7, math.Sqrt(float64(set))}
	}
	for i := range 2 {
		sum := 0.0
		for _, part := range []int{elasticity, stability, balance} {
			sum += shapley(part, logs)[i]
		}
		if math.Abs(sum-(logs[allParts][i]-logs[0][i])) > 1e-12 {
			t.Errorf("the parts add up to %g of %g", sum, logs[allParts][i])
		}
	}
	if s := with(allParts); s.elastic != throng.elastic || s.stable != throng.stable || s.balancer != throng.balancer || s.start != throng.start {
		t.Errorf("all parts are %+v", s)
	}
	if s := with(stability); s.elastic != baseline.elastic || s.start != baseline.start || s.balancer != baseline.balancer {
		t.Errorf("stability alone is %+v", s)
	}
}

// Equation 2 of samples: people less queue, not below nothing.
// TestWorldsBelowOne: a mean of 1 is not below, and worlds that differ in the interval of
// control do not count.
func TestWorldsBelowOne(t *testing.T) {
	t.Parallel()
	got := belowNote([][]float64{{0.99, 1, 1.01, 0.5}, {1, 1, 1, 0.5}, {0.1, 0.2, 0.3, 0.5}}, 3)
	want := "Of 3 worlds of abandonment, time to come and load, by the means of the repetitions ours has the lower throughput in 1, the higher cost in 0 and the lower net preference in 3."
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEquation2(t *testing.T) {
	t.Parallel()
	out := &pools.Outcome{Series: []pools.Series{{Samples: []pools.Sample{{Size: 10, Queue: 4, Best: pool.Unknown}, {Size: 3, Queue: 9}}}, {Samples: []pools.Sample{{Size: 2}, {}}}}}
	if got := summary(out, time.Minute, time.Hour, false).equation2; math.Abs(got-0.05*(6+0+2)) > 1e-12 {
		t.Errorf("%g", got)
	}
}

func TestBestPreference(t *testing.T) {
	t.Parallel()
	// Of two, E[max(u,v)/(u+v)] = ln 2.
	if got := bestPreference(2); math.Abs(got-2*math.Ln2) > 0.003 {
		t.Errorf("of two pools %g, not %g", got, 2*math.Ln2)
	}
	if bestPreference(1) != 1 {
		t.Error("of one pool there is no choice")
	}
}

func TestOwnTrace(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("left out: as TestEveryExperiment's, on another trace")
	}
	own := &pools.Trace{Recruitments: []float64{20}, Tasks: []float64{8, 12}, Stays: []float64{300}}
	r, err := experiment.Run(context.Background(), Experiments(), "cioppino-fig4", experiment.Options{Reps: 2, Extra: -1, Trace: own, File: "mine.csv"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(r.Command(), "--trace mine.csv") || !strings.HasSuffix(r.Rows[0].Statistic, "your trace") || !strings.Contains(strings.Join(r.Notes, " "), "n = 2, mean 10 s") {
		t.Errorf("%s, %s, %s", r.Command(), r.Rows[0].Statistic, r.Notes)
	}
	if _, err := experiment.Run(context.Background(), Experiments(), "cioppino-headline", experiment.Options{Reps: 2, Trace: own}); crowd.CodeOf(err) != crowd.Invalid || !strings.Contains(err.Error(), "trace") {
		t.Errorf("a trace for what takes none: %v", err)
	}
}
