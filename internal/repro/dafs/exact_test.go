package dafs

import (
	"math"
	"testing"

	"github.com/throng-dev/throng/internal/repro/experiment"
)

// reruns are runs of the published program itself, unchanged but for the speed of
// its fairness index: completion (mean and standard deviation, of deadline and of
// best-effort batches) and success at alphas[:6].
var reruns = []struct {
	window     float64
	policy     string
	seed       uint64
	completion [4]float64
	success    [6]float64
}{
	{1200, "edf-code", 1, [4]float64{0.997622, 0.02998, 0.831639, 0.374099}, [6]float64{0.00625, 0.31875, 0.475, 0.575, 0.61875, 0.6625}},
	{1200, "edf-code", 2, [4]float64{1.0, 0.0, 0.908622, 0.28812}, [6]float64{0.0, 0.43125, 0.63125, 0.71875, 0.80625, 0.88125}},
	{1200, "edf-code", 3, [4]float64{1.0, 0.0, 0.442213, 0.496649}, [6]float64{0.0, 0.3, 0.48125, 0.56875, 0.66875, 0.71875}},
	{1200, "fs-code", 1, [4]float64{0.933464, 0.17464, 0.998673, 0.019988}, [6]float64{0.0, 0.0, 0.0, 0.04375, 0.15, 0.34375}},
	{1200, "fs-code", 2, [4]float64{0.926782, 0.186728, 0.998314, 0.02442}, [6]float64{0.0, 0.0, 0.0, 0.0375, 0.1625, 0.3125}},
	{1200, "fs-code", 3, [4]float64{0.920226, 0.212895, 0.99726, 0.034654}, [6]float64{0.0, 0.0, 0.025, 0.05625, 0.1625, 0.35}},
	{2400, "edf-code", 1, [4]float64{1.0, 0.0, 1.0, 0.0}, [6]float64{0.003125, 0.328125, 0.471875, 0.553125, 0.60625, 0.6375}},
	{2400, "edf-code", 2, [4]float64{1.0, 0.0, 0.867526, 0.339006}, [6]float64{0.0, 0.2, 0.353125, 0.45, 0.509375, 0.56875}},
	{2400, "edf-code", 3, [4]float64{1.0, 0.0, 1.0, 0.0}, [6]float64{0.003125, 0.371875, 0.6125, 0.678125, 0.73125, 0.740625}},
	{2400, "fs-code", 1, [4]float64{1.0, 0.0, 1.0, 0.0}, [6]float64{0.0, 0.046875, 0.084375, 0.15625, 0.278125, 0.425}},
	{2400, "fs-code", 2, [4]float64{0.965764, 0.13178, 0.999541, 0.011542}, [6]float64{0.0, 0.00625, 0.01875, 0.05, 0.14375, 0.309375}},
	{2400, "fs-code", 3, [4]float64{1.0, 0.0, 1.0, 0.0}, [6]float64{0.0, 0.03125, 0.0625, 0.15625, 0.25625, 0.434375}},
}

// The engine with edf-code and fs-code gives the authors' EDF and FS, digit by
// digit: the same batches, the same people, the same service times in the same
// order, the same choices.
func TestAuthorsRunsExactly(t *testing.T) {
	t.Parallel()
	for _, want := range reruns {
		if testing.Short() && want.window > 1200 {
			continue
		}
		w := table2(want.window)
		v := variant{form: program, policy: want.policy, world: w}
		s, err := v.run(t.Context(), w.setup(v.rule()), want.seed, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := []float64{s.meanDeadline, s.stdDeadline, s.meanBest, s.stdBest}
		for i := range got {
			if math.Abs(got[i]-want.completion[i]) > 5.1e-7 { // six digits are known
				t.Errorf("%s over %g s, seed %d: %s is %.7f, want %.6f", want.policy, want.window, want.seed, main4[i].name, got[i], want.completion[i])
			}
		}
		for i := range want.success {
			if math.Abs(s.success[i].all-want.success[i]) > 5.1e-7 {
				t.Errorf("%s over %g s, seed %d: success at α = %g is %.7f, want %.6f", want.policy, want.window, want.seed, alphas[i], s.success[i].all, want.success[i])
			}
		}
	}
}

// The program's runs scored by the formula's deadlines are those runs, with less
// time at a small α.
func TestRescored(t *testing.T) {
	t.Parallel()
	w := table2(1200)
	v := variants(w, 0, program)[0]
	run, err := v.run(t.Context(), w.setup(v.rule()), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	own := &sample{v, []scenario{run}}
	other := own.rescored()
	if other.form != mixed || other.deterministic() || other.of(meanBest.of)[0] != own.of(meanBest.of)[0] {
		t.Errorf("%+v", other.variant)
	}
	for i, alpha := range alphas {
		a, b := own.of(success(i).of)[0], other.of(success(i).of)[0]
		if b > a && alpha < 1 || alpha == 0.2 && b >= a {
			t.Errorf("α = %g: %g by the program's deadlines, %g by the formula's", alpha, a, b)
		}
	}
	if own.of(success(at(0.4)).of)[0] != 0.475 { // as in reruns: the sample itself is not changed
		t.Errorf("%g", own.of(success(at(0.4)).of)[0])
	}
}

// Of 49 scenarios, the 32 with the most best-effort work, and those that do not
// starve it.
func TestSurvivors(t *testing.T) {
	t.Parallel()
	s := &sample{variant: variants(table2(2400), 0, program)[3]}
	for i := range 49 {
		best := 0.5 + float64(i)/100
		if i < 9 {
			best = 0.1
		}
		s.runs = append(s.runs, scenario{seed: uint64(1 + i), meanBest: best})
	}
	rows := survivors(s)
	if len(rows) != 2 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, want := range []struct {
		mean float64
		of   string
	}{{0.825, "mean of 32 of 49"}, {0.785, "mean of 40 of 49"}} { // 0.67 to 0.98; 0.59 to 0.98
		if math.Abs(float64(rows[i].Ours)-want.mean) > 1e-9 || rows[i].Statistic != want.of || rows[i].Verdict != experiment.Differs || rows[i].Why == "" {
			t.Errorf("%+v", rows[i])
		}
	}
	s.runs = s.runs[:48]
	if rows := survivors(s); rows != nil {
		t.Errorf("of 48: %+v", rows)
	}
}

// Every rival has its figures at every α, whether it reads deadlines or not.
func TestRivalsStandAtEveryAlpha(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("left out: it looks at what pareto came to")
	}
	looked := 0
	for _, r := range resultOf(t, "pareto").Rows {
		if r.Metric == "best-effort completion" || r.Metric == "deadline success" && r.Claim == "" {
			looked++
			if r.Ours.Missing() || r.Ours < 0 || r.Ours > 1.1 { // one row is against FS
				t.Errorf("%s: %g", r.Name, r.Ours)
			}
		}
	}
	if want := 2*2*len(rivals)*len(paretoAlphas) + 2*2*len(paretoAlphas); looked != want {
		t.Errorf("%d figures of %d", looked, want)
	}
}
