package chart_test

import (
	"math"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/kit/chart"
)

func TestAHeatMapCarriesItsNumbers(t *testing.T) {
	spec := chart.HeatSpec{
		X: chart.Axis{Label: "time to come"}, Y: chart.Axis{Label: "share who leave"},
		Columns: []string{"10 s", "50 s"}, Rows: []string{"0 %", "10 %"},
		Values: [][]float64{{2.5, 0.125}, {math.NaN(), 4}},
	}
	p := draw(t, chart.Heat(spec))
	for _, text := range []string{"2.5", "0.125", "4", "10 s", "50 s", "0 %", "10 %", "time to come", "share who leave"} {
		p.has(t, text)
	}
	// The first row is at the bottom, the first column at the left.
	if a, b := p.texts["2.5"], p.texts["4"]; a.y <= b.y || a.x >= b.x {
		t.Errorf("the cell of the first row and column is at %v, that of the last at %v", a, b)
	}
	if above, below := p.of(chart.Colours()[0]), p.of(chart.Colours()[1]); len(above) != 2 || len(below) != 2 {
		t.Errorf("%d marks for two cells above 1, %d for a cell and its hatching below", len(above), len(below))
	}

	spec.Values[1][0] = 0
	draw(t, chart.Heat(spec)).has(t, "Not shown: 1 point at or below zero (logarithmic axis).")
	if c := chart.Heat(chart.HeatSpec{}); len(draw(t, c).texts) == 0 {
		t.Error("a map without cells does not say that there is no data")
	}
	for want, s := range map[string]chart.HeatSpec{
		"0 rows of values for 1 rows":        {Rows: []string{"a"}},
		`row "a" has 0 values for 1 columns`: {Rows: []string{"a"}, Columns: []string{"b"}, Values: [][]float64{nil}},
	} {
		if _, err := chart.Heat(s).SVG(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
