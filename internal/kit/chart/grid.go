package chart

import (
	"fmt"
	"math"
)

// Grid draws charts in rows and columns with a common title. The size of each
// panel is a share of the whole. If the legends of the panels do not contradict
// each other, there is one for all.
func Grid(spec GridSpec) Chart {
	c := Chart{head: spec.Head, panels: spec.Panels, columns: spec.Columns}
	if len(spec.Panels) == 0 {
		c.panels = nil
		return c
	}
	for i, p := range spec.Panels {
		if p.err != nil {
			return Chart{err: fmt.Errorf("panel %d: %w", i+1, p.err)}
		}
		if p.panels != nil {
			return Chart{err: fmt.Errorf("chart: panel %d is a grid itself", i+1)}
		}
	}
	c.autoAlt = fmt.Sprintf("%d charts. The first: %s", len(spec.Panels), spec.Panels[0].alt())
	return c
}

func (c Chart) columnsFor(n int) int {
	columns := c.columns
	if columns <= 0 {
		switch {
		case n <= 3:
			columns = n
		case n == 4:
			columns = 2
		case n <= 9:
			columns = 3
		default:
			columns = 4
		}
	}
	return max(1, min(columns, n))
}

// sameNames reports for each axis whether all panels have the same name at it, so
// that one for all is enough.
func (c Chart) sameNames() (x, y bool) {
	plots := c.plots()
	x, y = len(plots) > 1, len(plots) > 1
	for _, p := range plots {
		x = x && p.x.name == plots[0].x.name
		y = y && p.y.name == plots[0].y.name
	}
	return x, y
}

// Gaps between panels, in points.
const (
	columnGap = 14.0
	rowGap    = 10.0
)

// cell is the place of a panel. All panels of a column have the same margins at
// the left and right, all of a row those above and below.
type cell struct {
	box      rect // what title, legend and note of the panel have left
	view     view
	row, col int
}

// drawPanels draws the panels of a grid whose title is drawn.
func (c Chart) drawPanels(s *svg, r rect, hasLegend bool) {
	columns := c.columnsFor(len(c.panels))
	rows := (len(c.panels) + columns - 1) / columns
	oneX, oneY := c.sameNames()
	nameX, nameY := 0.0, 0.0 // space in the last row and the first column for names that hold for all
	if oneX {
		nameX = nameHeight
	}
	if oneY {
		nameY = nameHeight
	}
	w := (r.w() - columnGap*float64(columns-1) - nameY) / float64(columns)
	h := (r.h() - rowGap*float64(rows-1) - nameX) / float64(rows)
	cells := make([]cell, len(c.panels))
	wide, high := make([]margins, columns), make([]margins, rows)
	for i, p := range c.panels {
		k := &cells[i]
		k.row, k.col = i/columns, i%columns
		full := rect{x0: r.x0 + float64(k.col)*(w+columnGap), y0: r.y0 + float64(k.row)*(h+rowGap)}
		full.x1, full.y1 = full.x0+nameY+w, full.y0+h
		if k.col > 0 {
			full.x0 += nameY
		}
		if k.row == rows-1 {
			full.y1 += nameX
		}
		k.view = view{x: !oneX || i+columns >= len(c.panels), y: !oneY || k.col == 0}
		k.box, _ = p.drawHeadings(s, full, panelText, p.head.Note, hasLegend)
		m := p.plotOrEmpty().margins(k.box, k.view)
		wide[k.col].left, wide[k.col].right = math.Max(wide[k.col].left, m.left), math.Max(wide[k.col].right, m.right)
		high[k.row].top, high[k.row].bottom = math.Max(high[k.row].top, m.top), math.Max(high[k.row].bottom, m.bottom)
	}
	for i, p := range c.panels {
		k := cells[i]
		m := margins{left: wide[k.col].left, right: wide[k.col].right, top: high[k.row].top, bottom: high[k.row].bottom}
		p.plotOrEmpty().paint(s, k.box, m, k.view)
	}
}
