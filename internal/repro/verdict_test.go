package repro

import (
	"encoding/json"
	"math"
	"testing"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	ours := estimate{10, 9, 12}
	for _, c := range []struct {
		what string
		f    figure
		want Verdict
	}{
		{"within the interval above", figure{value: 11.9}, Reproduced},
		{"beyond it", figure{value: 12.1}, Differs},
		{"within the interval below", figure{value: 9.1}, Reproduced},
		{"beyond it below, where it is narrower", figure{value: 8.5}, Differs},
		{"its own uncertainty is added in squares", figure{value: 13, own: 2.3}, Reproduced},
		{"and not as it is", figure{value: 14, own: 2.3}, Differs},
		{"half a unit of the last digit", figure{value: 12.4, unit: 1}, Reproduced},
		{"the same runs must agree", figure{value: 10.2, same: true, unit: 0.1}, Differs},
		{"to the digits that are printed", figure{value: 10.04, same: true, unit: 0.1}, Reproduced},
	} {
		if got := c.f.judge(ours); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

func TestClaim(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		sample []float64
		must   side
		want   Verdict
	}{
		{"all of it above", []float64{1, 1.1, 1.2, 0.9}, above(0), Reproduced},
		{"not decided", []float64{1, -1, 2, -1.5, 1}, above(0), Differs},
		{"all of it below", []float64{-1, -1.1, -0.9}, above(0), Differs},
		{"between", []float64{0.01, 0.02, 0.015}, within(-0.05, 0.05), Reproduced},
	} {
		r := claim("P", "figure", "s", mean, c.sample, "words", c.must, "§", "a reason")
		if r.Verdict != c.want || (c.want == Differs) != (r.Why != "") {
			t.Errorf("%s: %s (%q), want %s", c.what, r.Verdict, r.Why, c.want)
		}
	}
}

// The median of ten figures: 2nd and 9th hold it with 97.9 %, 3rd and 8th with
// 89.1 % only (binomial table, n = 10).
func TestMedianInterval(t *testing.T) {
	t.Parallel()
	got := median.of([]float64{10, 1, 9, 2, 8, 3, 7, 4, 6, 5, math.NaN()})
	if want := (estimate{5.5, 2, 9}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestOneFigureHasNoInterval: it is not taken for exactly known.
func TestOneFigureHasNoInterval(t *testing.T) {
	t.Parallel()
	sample := []float64{math.NaN(), 10}
	for _, c := range []struct {
		f    figure
		want Verdict
		why  bool
	}{
		{figure{value: 10, unit: 0.1}, Reproduced, false},
		{figure{value: 10.5, own: 1}, Reproduced, false},
		{figure{value: 12, own: 1}, Differs, true},
	} {
		r := row("P", "figure", "s", mean, sample, c.f, "§", "a reason")
		if r.Verdict != c.want || (r.Why != "") != c.why || r.Why == "a reason" || !r.CI95.Missing() || !r.Low.Missing() || !r.High.Missing() {
			t.Errorf("%+v: %+v", c.f, r)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	}
	if r := claim("P", "figure", "s", mean, sample, "words", above(0), "§", "a reason"); r.Verdict != Differs || r.Why == "a reason" {
		t.Errorf("%+v", r)
	}
}

func TestMissingNumbersAreNull(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(Row{Name: "x", Published: missing, Ours: 1.5, CI95: Number(math.Inf(1))})
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if back["published"] != nil || back["ci95"] != nil || back["ours"] != 1.5 {
		t.Errorf("%s", data)
	}
}

// The p of two samples of five without overlap is 0.009 by the normal
// approximation.
func TestRankSum(t *testing.T) {
	t.Parallel()
	if p := rankSum([]float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}); math.Abs(p-0.00902) > 1e-4 {
		t.Errorf("p = %g", p)
	}
	if p := rankSum([]float64{1, 4, 5, 8}, []float64{2, 3, 6, 7}); p < 0.9 {
		t.Errorf("p = %g of two alike", p)
	}
}
