package chart

import (
	"fmt"
	"math"
)

// HeatSpec is what [Heat] draws.
type HeatSpec struct {
	Head
	X, Y    Axis        // only the labels count
	Columns []string    // from the left
	Rows    []string    // from the bottom up
	Values  [][]float64 // by row, then by column; NaN and what is not above 0 leave the cell empty
}

// Heat draws a map of ratios: each cell carries its number, and its colour says
// how far it is from 1, on a logarithmic scale that ends at a tenth and at ten:
// blue is above, orange below, white is the same. A cell below 1 is hatched too.
func Heat(spec HeatSpec) Chart {
	if len(spec.Values) != len(spec.Rows) {
		return Chart{err: fmt.Errorf("chart: %d rows of values for %d rows", len(spec.Values), len(spec.Rows))}
	}
	p := &plot{x: groupAxis(spec.X, spec.Columns), y: groupAxis(spec.Y, spec.Rows)}
	lowest, highest, n := math.Inf(1), math.Inf(-1), 0
	for i, row := range spec.Values {
		if len(row) != len(spec.Columns) {
			return Chart{err: fmt.Errorf("chart: row %q has %d values for %d columns", spec.Rows[i], len(row), len(spec.Columns))}
		}
		for _, v := range row {
			switch {
			case math.IsNaN(v): // a gap, as the spec says
			case !finite(v) || v <= 0:
				Log.accepts(v, &p.skipped)
			default:
				lowest, highest, n = math.Min(lowest, v), math.Max(highest, v), n+1
			}
		}
	}
	p.empty = n == 0
	p.draw = func(f *frame) { drawHeat(f, spec) }
	c := p.chart(spec.Head, "heat map", nil)
	if n > 0 {
		c.autoAlt += " Values from " + digits(lowest) + " to " + digits(highest) + "."
	}
	return c
}

func drawHeat(f *frame, spec HeatSpec) {
	for i, row := range spec.Values {
		for k, v := range row {
			if !finite(v) || v <= 0 {
				continue
			}
			cell := rect{f.px(float64(k) - 0.5), f.py(float64(i) + 0.5), f.px(float64(k) + 0.5), f.py(float64(i) - 0.5)}
			strength := math.Min(1, math.Abs(math.Log10(v)))
			colour := Colours()[0]
			if v < 1 {
				colour = Colours()[1]
			}
			f.s.begin(clean(spec.Rows[i] + ", " + spec.Columns[k] + ": " + digits(v)))
			ring := [][]pt{cell.ring()}
			f.s.fill(paper, 1, ring) // the grid must not show through
			f.s.fill(colour, 0.75*strength, ring)
			if v < 1 {
				f.s.stroke(pen{colour: colour, alpha: 0.45, width: 0.8}, hatch(cell, 6, false))
			}
			f.s.stroke(pen{colour: paper, alpha: 1, width: 1.5}, outline(cell))
			text := digits(v)
			if v >= 10 {
				text = digits(math.Round(v*10) / 10)
			}
			if size := tickText; textWidth(text, size, false)*widthMargin < cell.w()-4 && cell.h() > size*1.2 {
				f.s.write(label{at: pt{(cell.x0 + cell.x1) / 2, (cell.y0+cell.y1)/2 + size*0.36}, text: text, size: size, colour: ink, align: middle})
			}
			f.s.end()
		}
	}
}
