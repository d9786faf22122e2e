package chart_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/kit/chart"
)

func TestTheTimeOfDay(t *testing.T) {
	start := time.Date(2026, 3, 31, 13, 7, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		span time.Duration
		want []string
	}{
		{"half a minute", 30 * time.Second, []string{"13:07:00", "13:07:15"}},
		{"an hour", time.Hour, []string{"13:15", "14:00"}},
		{"a day", 24 * time.Hour, []string{"18:00", "00:00", "12:00"}},
		{"a month", 30 * 24 * time.Hour, []string{"4 Apr"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			from := float64(start.Unix())
			p := draw(t, chart.Steps(chart.LinesSpec{X: chart.Axis{Label: "time", Unit: "UTC", Kind: chart.Clock, Min: from, Max: from + c.span.Seconds()},
				Y: chart.Axis{Label: "people"}, Series: []chart.Series{{X: []float64{from, from + c.span.Seconds()}, Y: []float64{10, 20}}}}))
			p.has(t, append(c.want, "time (UTC)")...)
		})
	}
}

func TestWholeNumbersOnly(t *testing.T) {
	for _, most := range []float64{1, 3, 13, 40, 900} {
		p := draw(t, chart.Steps(chart.LinesSpec{X: chart.Axis{Label: "x"}, Y: chart.Axis{Label: "people", Whole: true, Zero: true},
			Series: []chart.Series{{X: []float64{0, 100}, Y: []float64{0, most}}}}))
		if len(p.yTicks) < 2 {
			t.Errorf("up to %g: ticks %v", most, p.yTicks)
		}
		for text := range p.yTicks {
			if strings.Contains(text, ".") {
				t.Errorf("up to %g: a tick at %s", most, text)
			}
		}
	}
}

// Events are markers and nothing else; those that only might have been are empty
// inside.
func TestEventsOnATimeline(t *testing.T) {
	for ink := range 5 {
		spec := func(hollow bool) chart.LinesSpec {
			return chart.LinesSpec{X: chart.Axis{Label: "x"}, Y: chart.Axis{Label: "y"},
				Series: []chart.Series{{Name: "e", X: []float64{1, 2, 3}, Y: []float64{1, 2, 3}, Dots: true, Hollow: hollow, Ink: ink + 1}}}
		}
		full, hollow := draw(t, chart.Lines(spec(false))), draw(t, chart.Lines(spec(true)))
		colour := chart.Colours()[ink]
		inside := func(p picture) (filled, all int) {
			for _, l := range p.of(colour) {
				all++
				if l.fill == colour {
					filled++
				}
			}
			return filled, all
		}
		if filled, all := inside(full); ink > 0 && (filled != 2 || all != 2) { // in the legend, and on the line
			t.Errorf("ink %d: %d of %d shapes are filled, want 2 of 2: no line", ink+1, filled, all)
		}
		if filled, all := inside(hollow); filled != 0 || all == 0 {
			t.Errorf("ink %d, hollow: %d of %d shapes are filled", ink+1, filled, all)
		}
	}
}

// TestSmallPicturesHaveAScale: two ticks at least, wherever the figures lie.
func TestSmallPicturesHaveAScale(t *testing.T) {
	for _, height := range []float64{200, 220, 240, 260} {
		for low := -100; low < 100; low += 7 {
			for _, width := range []float64{3, 11, 26, 31, 34, 47, 60, 99, 140} {
				lo, hi := float64(low)/100, (float64(low)+width)/100
				p := draw(t, chart.Lines(chart.LinesSpec{Head: chart.Head{Size: chart.Size{Width: 360, Height: height}}, Y: chart.Axis{Label: "share", Kind: chart.Percent},
					Series: []chart.Series{{X: []float64{0, 1}, Y: []float64{lo, hi}}}}))
				if len(p.yTicks) < 2 {
					t.Fatalf("from %g to %g in %g px: ticks %v", lo, hi, height, p.yTicks)
				}
			}
		}
	}
}
