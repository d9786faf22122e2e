package experiment

import (
	"encoding/json"
	"math"
	"testing"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	ours := Estimate{10, 9, 12}
	for _, c := range []struct {
		what string
		f    Figure
		want Verdict
	}{
		{"within the interval above", Figure{Value: 11.9}, Reproduced},
		{"beyond it", Figure{Value: 12.1}, Differs},
		{"within the interval below", Figure{Value: 9.1}, Reproduced},
		{"beyond it below, where it is narrower", Figure{Value: 8.5}, Differs},
		{"its own uncertainty is added in squares", Figure{Value: 13, Own: 2.3}, Reproduced},
		{"and not as it is", Figure{Value: 14, Own: 2.3}, Differs},
		{"half a unit of the last digit", Figure{Value: 12.4, Unit: 1}, Reproduced},
		{"the same runs must agree", Figure{Value: 10.2, Same: true, Unit: 0.1}, Differs},
		{"to the digits that are printed", Figure{Value: 10.04, Same: true, Unit: 0.1}, Reproduced},
	} {
		if got := c.f.Judge(ours); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

func TestClaim(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		sample []float64
		must   Side
		want   Verdict
	}{
		{"all of it above", []float64{1, 1.1, 1.2, 0.9}, Above(0), Reproduced},
		{"not decided", []float64{1, -1, 2, -1.5, 1}, Above(0), Differs},
		{"all of it below", []float64{-1, -1.1, -0.9}, Above(0), Differs},
		{"between", []float64{0.01, 0.02, 0.015}, Within(-0.05, 0.05), Reproduced},
	} {
		r := Mean.Row("P", "figure", "s", c.sample).Claims("words", c.must, "§", "a reason")
		if r.Verdict != c.want || (c.want == Differs) != (r.Why != "") {
			t.Errorf("%s: %s (%q), want %s", c.what, r.Verdict, r.Why, c.want)
		}
	}
}

// The median of ten figures: 2nd and 9th hold it with 97.9 %, 3rd and 8th with
// 89.1 % only (binomial table, n = 10).
func TestMedianInterval(t *testing.T) {
	t.Parallel()
	got := Median.Of([]float64{10, 1, 9, 2, 8, 3, 7, 4, 6, 5, math.NaN()})
	if want := (Estimate{5.5, 2, 9}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestOneFigureHasNoInterval: it is not taken for exactly known.
func TestOneFigureHasNoInterval(t *testing.T) {
	t.Parallel()
	sample := []float64{math.NaN(), 10}
	for _, c := range []struct {
		f    Figure
		want Verdict
		why  bool
	}{
		{Figure{Value: 10, Unit: 0.1}, Reproduced, false},
		{Figure{Value: 10.5, Own: 1}, Reproduced, false},
		{Figure{Value: 12, Own: 1}, Differs, true},
	} {
		r := Mean.Row("P", "figure", "s", sample).Against(c.f, "§", "a reason")
		if r.Verdict != c.want || (r.Why != "") != c.why || r.Why == "a reason" || !r.CI95.Missing() || !r.Low.Missing() || !r.High.Missing() {
			t.Errorf("%+v: %+v", c.f, r)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	}
	if r := Mean.Row("P", "figure", "s", sample).Claims("words", Above(0), "§", "a reason"); r.Verdict != Differs || r.Why == "a reason" {
		t.Errorf("%+v", r)
	}
}

func TestMissingNumbersAreNull(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(Row{Name: "x", Published: Missing, Ours: 1.5, CI95: Number(math.Inf(1))})
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
