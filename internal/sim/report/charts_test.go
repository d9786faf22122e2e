package report

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

var nan, inf = math.NaN(), math.Inf(1)

// TestSmoothKeepsGaps: where there was no figure, neighbours make none.
func TestSmoothKeepsGaps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values, want []float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{1.5, 2, 3, 3.5}},
		{[]float64{1, -inf, 3, nan, 5}, []float64{1, nan, 3, nan, 5}},
		{[]float64{1, 3, -inf, -inf, 7}, []float64{2, 2, nan, nan, 7}},
		{[]float64{nan, -inf}, []float64{nan, nan}},
	} {
		got := smooth(c.values, 3)
		for i := range c.want {
			if !same(got[i], c.want[i]) {
				t.Errorf("%v becomes %v, want %v", c.values, got, c.want)
				break
			}
		}
	}
}

// caption returns that of a picture.
func caption(t *testing.T, r *Report, name string) string {
	t.Helper()
	for _, p := range r.pictures() {
		if p.name == name {
			return p.caption
		}
	}
	t.Fatalf("there is no picture %s", name)
	return ""
}

// TestServedIsShownWhereItIsFinite: a run in which no batch is open for most of
// the time, and each has somebody while one is, has a J∞ to show.
func TestServedIsShownWhereItIsFinite(t *testing.T) {
	t.Parallel()
	s := twoTeams()
	s.Policies, s.Reps = []string{"fs"}, 1
	r := run(t, s, Options{})
	samples := r.Policies[0].first.samples
	for i := range samples {
		samples[i].JInf, samples[i].Jain = nan, nan
	}
	if _, found := r.fairness(); found {
		t.Error("fairness is shown where there is none")
	}
	samples[3].Jain, samples[3].JInf = 1, -inf
	if text := caption(t, r, "fairness"); !strings.Contains(text, "J∞ is not shown") {
		t.Errorf("at no time finite: %s", text)
	}
	samples[4].JInf = -2
	if text := caption(t, r, "fairness"); !strings.Contains(text, "there is no point where") {
		t.Errorf("half of the time finite: %s", text)
	}
}

// TestTasksEndWithTheRun: however long the steps are in which times are counted,
// no line goes on after the last run has ended.
func TestTasksEndWithTheRun(t *testing.T) {
	t.Parallel()
	r := run(t, twoTeams(), Options{})
	for i := range r.Policies {
		for k := range r.Policies[i].done {
			l := &r.Policies[i].done[k]
			for l.Step < 64*time.Second && l.Total > 0 { // as in a run of many hours
				l.Merge(&sim.Timeline{Step: 2 * l.Step, Total: 1})
				l.Total--
			}
		}
	}
	panels := r.taskLines()
	if len(panels) != 2 {
		t.Fatalf("%d panels", len(panels))
	}
	for _, p := range panels {
		for _, s := range p.Series {
			last := len(s.X) - 1
			if s.X[last] != r.longest() || s.Y[last] != 1 || s.X[last] > p.X.Max {
				t.Errorf("%s, %s: the line ends at %g s with %g, the runs at %g s", p.Title, s.Name, s.X[last], s.Y[last], r.longest())
			}
		}
	}
	if text := caption(t, r, "tasks"); !strings.Contains(text, "by when, to 1m4s;") {
		t.Errorf("the caption does not say how exact it is: %s", text)
	}
}

// TestOneRepetitionHasNoIntervals, on no chart and in no table.
func TestOneRepetitionHasNoIntervals(t *testing.T) {
	t.Parallel()
	r := run(t, drawn(), Options{Reps: 1})
	var text strings.Builder
	for _, f := range r.tables() {
		if err := f.write(&text); err != nil {
			t.Fatal(err)
		}
	}
	for i := range r.Policies {
		for k, m := range sim.AllMetrics {
			if f := r.Policies[i].Figures[k]; !math.IsNaN(f.CI95) || strings.Contains(Words(m, f), "±") {
				t.Errorf("%s of one repetition is %+v", m.Name, f)
			}
		}
		for _, a := range r.Policies[i].Alphas {
			if !math.IsNaN(a.Success.CI95) {
				t.Errorf("at α = %g: %+v", a.Alpha, a.Success)
			}
		}
	}
	lines := r.alphaLines()
	bars := r.barSeries(sim.MetricAt("cost"))
	for _, s := range lines.Series {
		if s.Lo != nil || s.Hi != nil {
			t.Errorf("%s has a band: %v to %v", s.Name, s.Lo, s.Hi)
		}
	}
	for i := range bars.Lo {
		if !math.IsNaN(bars.Lo[i]) || !math.IsNaN(bars.Hi[i]) {
			t.Errorf("the bar of %s has an interval: %g to %g", r.Policies[i].Name, bars.Lo[i], bars.Hi[i])
		}
	}
	if diff := difference([]float64{3}, []float64{1}); Clear(diff) {
		t.Errorf("one pair is taken for more than chance: %+v", diff)
	}
	// A few whole numbers are the same by chance.
	alike := func(n int) bool {
		return Clear(difference(slices.Repeat([]float64{3}, n), slices.Repeat([]float64{1}, n)))
	}
	if alike(2) || alike(4) || !alike(5) {
		t.Errorf("so many pairs that are all alike are more than chance: 2 %t, 4 %t, 5 %t", alike(2), alike(4), alike(5))
	}
}

// TestBandOfOneFigure: where only one repetition has a figure the line has no
// band there, and keeps it elsewhere.
func TestBandOfOneFigure(t *testing.T) {
	t.Parallel()
	r := run(t, drawn(), Options{})
	r.Policies[0].Alphas[1].Success = stats.Summarise([]float64{0.5, nan, nan})
	s := r.alphaLines().Series[0]
	if len(s.Lo) != 3 || !math.IsNaN(s.Lo[1]) || !math.IsNaN(s.Hi[1]) || math.IsNaN(s.Lo[0]) || s.Y[1] != 0.5 {
		t.Errorf("the band goes from %v to %v", s.Lo, s.Hi)
	}
}

// TestArrivals: with a band it depends on the policy who is let in.
func TestArrivals(t *testing.T) {
	t.Parallel()
	s := twoTeams()
	if text := caption(t, run(t, s, Options{Reps: 1}), "people"); !strings.Contains(text, "Everybody who comes, comes at the same time under every policy.") {
		t.Error(text)
	}
	setup := *s.Setup
	setup.Groups = []sim.Group{{Name: "crowd", Arrive: sim.Arrivals{Rate: 600, Min: 3, Max: 5}, Session: sim.Exponential(300)}}
	setup.Horizon = time.Hour
	s.Setup = &setup
	if text := caption(t, run(t, s, Options{Reps: 1}), "people"); strings.Contains(text, "Everybody") || !strings.Contains(text, "who is let in depends on") {
		t.Error(text)
	}
}

// TestEndedIsNotCompleted: a batch that its lifetime ended has an end, and is
// not completed.
func TestEndedIsNotCompleted(t *testing.T) {
	t.Parallel()
	s := &scenario.Scenario{
		Name: "cut", Reps: 2, Seed: 1, Policies: []string{"fs"},
		Setup: &sim.Setup{
			Tenants: []sim.Tenant{{Name: "all"}}, Kinds: []sim.Kind{{Name: "task", Service: sim.Constant(10)}},
			Groups:  []sim.Group{{Name: "crowd", Arrive: sim.Arrivals{Count: 2}}},
			Batches: []sim.Batch{{Name: "cut", Tasks: 100, Lifetime: 35 * time.Second}, {Name: "whole", Tasks: 2, At: time.Minute}},
		},
	}
	r := run(t, s, Options{})
	cut, whole := r.Policies[0].Batches[0], r.Policies[0].Batches[1]
	if cut.Completed != 0 || !math.IsNaN(cut.CompletedAt) || cut.EndedAt != 35 || cut.Done >= 0.1 {
		t.Errorf("cut: %+v", cut)
	}
	if whole.Completed != 1 || whole.CompletedAt != 70 || whole.EndedAt != 70 || whole.Done != 1 {
		t.Errorf("whole: %+v", whole)
	}
	if c := r.cell(r.Policies[0], 0); c.Note != "its lifetime ended it" {
		t.Errorf("the page says: %+v", c)
	}
	var rows strings.Builder
	for _, f := range r.tables() {
		if err := f.write(&rows); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(rows.String(), ",0,35,") {
		t.Error(rows.String())
	}
}
