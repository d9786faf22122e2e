package stats

import (
	"math"
	"testing"
)

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// near compares to the digits of a printed table.
func near(got, want float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return math.IsNaN(got) && math.IsNaN(want) || got == want
	}
	return math.Abs(got-want) <= 1e-4*max(1, math.Abs(want))
}

func check(t *testing.T, what string, got, want Summary) {
	t.Helper()
	if got.N != want.N || got.NaN != want.NaN || !near(got.Mean, want.Mean) || !near(got.SD, want.SD) || !near(got.CI95, want.CI95) ||
		!near(got.Median, want.Median) || !near(got.Min, want.Min) || !near(got.Max, want.Max) {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

// TestSummarise: worked out by hand. The t-quantiles 0.975 are those of printed
// tables: 12.7062 with one degree of freedom, 4.3027 with two, 2.7764 with four.
func TestSummarise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		values []float64
		want   Summary
	}{
		{"none", nil, Summary{Mean: nan, SD: nan, CI95: nan, Median: nan, Min: nan, Max: nan}},
		{"only NaNs", []float64{nan, nan}, Summary{NaN: 2, Mean: nan, SD: nan, CI95: nan, Median: nan, Min: nan, Max: nan}},
		// One figure says nothing of how far others would lie from it.
		{"one", []float64{3}, Summary{N: 1, Mean: 3, SD: nan, CI95: nan, Median: 3, Min: 3, Max: 3}},
		{"one and NaNs", []float64{nan, 3, nan}, Summary{N: 1, NaN: 2, Mean: 3, SD: nan, CI95: nan, Median: 3, Min: 3, Max: 3}},
		// SD of 1 and 3: √2; × 12.7062 / √2.
		{"two", []float64{3, 1}, Summary{N: 2, Mean: 2, SD: 1.41421, CI95: 12.7062, Median: 2, Min: 1, Max: 3}},
		{"two alike", []float64{7, 7}, Summary{N: 2, Mean: 7, SD: 0, CI95: 0, Median: 7, Min: 7, Max: 7}},
		// Squares 9 + 1 + 16 = 26; /2: 13; × 4.3027 / √3.
		{"three and a NaN", []float64{1, nan, 8, 3}, Summary{N: 3, NaN: 1, Mean: 4, SD: 3.60555, CI95: 8.95675, Median: 3, Min: 1, Max: 8}},
		// Squares 4 + 1 + 0 + 1 + 4 = 10; /4: 2.5; × 2.7764 / √5.
		{"five", []float64{5, 1, 4, 2, 3}, Summary{N: 5, Mean: 3, SD: 1.58114, CI95: 1.96324, Median: 3, Min: 1, Max: 5}},
		{"an infinite one", []float64{1, inf, 2}, Summary{N: 3, Mean: inf, SD: nan, CI95: nan, Median: 2, Min: 1, Max: inf}},
		{"both infinities", []float64{-inf, inf}, Summary{N: 2, Mean: nan, SD: nan, CI95: nan, Median: nan, Min: -inf, Max: inf}},
	} {
		check(t, c.what, Summarise(c.values), c.want)
	}
}

func TestSummariseLeavesItsFiguresAlone(t *testing.T) {
	t.Parallel()
	values := []float64{3, 1, 2}
	Summarise(values)
	Quantile(values, 0.5)
	if values[0] != 3 || values[1] != 1 || values[2] != 2 {
		t.Errorf("sorted: %v", values)
	}
}

// TestPaired: the differences 2, 4, 9 have squares 9 + 1 + 16 about their mean 5.
func TestPaired(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what string
		a, b []float64
		want Summary
	}{
		{"three", []float64{12, 24, 39}, []float64{10, 20, 30}, Summary{N: 3, Mean: 5, SD: 3.60555, CI95: 8.95675, Median: 4, Min: 2, Max: 9}},
		{"a NaN on either side", []float64{12, nan, 24, 5, 39}, []float64{10, 1, 20, nan, 30}, Summary{N: 3, NaN: 2, Mean: 5, SD: 3.60555, CI95: 8.95675, Median: 4, Min: 2, Max: 9}},
		{"one pair is left", []float64{nan, 4}, []float64{1, 3}, Summary{N: 1, NaN: 1, Mean: 1, SD: nan, CI95: nan, Median: 1, Min: 1, Max: 1}},
		{"no pair is left", []float64{nan, 4}, []float64{1, nan}, Summary{NaN: 2, Mean: nan, SD: nan, CI95: nan, Median: nan, Min: nan, Max: nan}},
		// Which of two infinities is the greater nobody can say.
		{"infinities", []float64{inf, 4, 6}, []float64{inf, 3, 3}, Summary{N: 2, NaN: 1, Mean: 2, SD: 1.41421, CI95: 12.7062, Median: 2, Min: 1, Max: 3}},
	} {
		check(t, c.what, Paired(c.a, c.b), c.want)
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values  []float64
		q, want float64
	}{
		{nil, 0.5, nan},
		{[]float64{nan}, 0.5, nan},
		{[]float64{4}, 0, 4}, {[]float64{4}, 0.3, 4}, {[]float64{4}, 1, 4},
		{[]float64{4, 2}, 0, 2}, {[]float64{4, 2}, 0.25, 2.5}, {[]float64{4, 2}, 1, 4},
		{[]float64{5, 1, 4, 2, 3}, 0.5, 3}, {[]float64{5, 1, 4, 2, 3}, 0.9, 4.6}, {[]float64{5, nan, 1, 4, 2, 3}, 0.75, 4},
		{[]float64{1, 2, 3}, -0.1, 1}, {[]float64{1, 2, 3}, 1.1, 3}, {[]float64{1, 2, 3}, nan, nan},
		// No part of an infinite step is nothing.
		{[]float64{1, inf}, 0, 1}, {[]float64{1, 2, inf}, 0.5, 2}, {[]float64{1, inf}, 0.5, inf},
		{[]float64{1, inf, inf}, 0.75, inf}, {[]float64{-inf, -inf, 1}, 0.25, -inf},
	} {
		if got := Quantile(c.values, c.q); !near(got, c.want) {
			t.Errorf("the %g-quantile of %v is %g, want %g", c.q, c.values, got, c.want)
		}
	}
}

func TestMeanAndPopulationSD(t *testing.T) {
	t.Parallel()
	if m, sd := Mean([]float64{2, 4, 4, 4, 5, 5, 7, 9}), PopulationSD([]float64{2, 4, 4, 4, 5, 5, 7, 9}); m != 5 || sd != 2 {
		t.Errorf("mean %g, sd %g, want 5 and 2", m, sd)
	}
	if !math.IsNaN(Mean(nil)) || !math.IsNaN(PopulationSD(nil)) {
		t.Error("of nothing there is a mean")
	}
}
