package chart

import (
	"fmt"
	"math"
)

// Chart is a picture that can be drawn in either format. The zero value is one
// without data.
type Chart struct {
	err     error
	head    Head
	usual   Size   // if the head has none
	about   string // for the alternative text, if the head has none
	plot    *plot  // or panels
	panels  []Chart
	columns int
}

// plot is one pair of axes with something on it.
type plot struct {
	x, y     axis
	keys     []key
	sideKeys bool // the legend reads from top to bottom, as the data does
	marks    []Mark
	levels   []Mark
	skipped  skips
	empty    bool
	gridX    bool // lines at the ticks of x too
	draw     func(*frame)
}

// frame is where a plot draws its data.
type frame struct {
	drawing
	box  rect
	x, y axis
}

// drawing is a surface, and what is needed to measure texts for it.
type drawing struct {
	s     surface
	fonts fonts
}

func (f *frame) px(x float64) float64 { return f.box.x0 + f.x.share(x)*f.box.w() }
func (f *frame) py(y float64) float64 { return f.box.y1 - f.y.share(y)*f.box.h() }

// near keeps far-off places within what a picture can hold: they are cut at
// the frame anyway.
func near(v float64) float64 { return math.Max(-1e6, math.Min(1e6, v)) }

func (f *frame) place(x, y float64) pt { return pt{near(f.px(x)), near(f.py(y))} }

// hair is by how much a place may be outside of the frame and still lie on it:
// more than rounding, less than can be seen. In points.
const hair = 0.01

// holds says whether a marker at p is within the frame.
func (f *frame) holds(p pt) bool {
	b := f.box
	return p.x >= b.x0-hair && p.x <= b.x1+hair && p.y >= b.y0-hair && p.y <= b.y1+hair
}

// The sizes that can be drawn, in points.
const (
	smallest = 40
	largest  = 4000
)

func (c Chart) size() (Size, error) {
	size := c.head.Size
	usual := c.usual
	if usual == (Size{}) {
		usual = Size{640, 360}
	}
	if size.Width == 0 {
		size.Width = usual.Width
	}
	if size.Height == 0 {
		size.Height = usual.Height
	}
	for _, v := range []float64{size.Width, size.Height} {
		if !(v >= smallest && v <= largest) {
			return size, fmt.Errorf("chart: a size of %g x %g points: each side must be from %d to %d", size.Width, size.Height, smallest, largest)
		}
	}
	return size, nil
}

// SVG returns the picture as an SVG document that can stand inline in a page:
// no ids, no scripts, no style sheet, no font but the reader's own, and the
// alternative text in it. One unit of it is a point of its size.
func (c Chart) SVG() ([]byte, error) {
	size, fonts, err := c.begin()
	if err != nil {
		return nil, err
	}
	s := newSVG(size, clean(c.head.Title), c.alt())
	c.paint(drawing{s, fonts}, size)
	return s.bytes(), nil
}

// PNG returns the picture as a PNG of two pixels a point.
func (c Chart) PNG() ([]byte, error) {
	size, fonts, err := c.begin()
	if err != nil {
		return nil, err
	}
	r := newRaster(size, fonts)
	c.paint(drawing{r, fonts}, size)
	return r.bytes()
}

func (c Chart) begin() (Size, fonts, error) {
	if c.err != nil {
		return Size{}, fonts{}, c.err
	}
	size, err := c.size()
	if err != nil {
		return Size{}, fonts{}, err
	}
	f, err := loadFonts()
	return size, f, err
}

func (c Chart) alt() string {
	switch {
	case c.head.Alt != "":
		return clean(c.head.Alt)
	case c.about != "":
		return clean(c.about)
	}
	return "A chart without data"
}

func (c Chart) paint(d drawing, size Size) {
	all := rect{0, 0, size.Width, size.Height}
	d.s.fill(paper, 1, [][]pt{all.ring()})
	margin := math.Min(12, size.Height/12)
	c.lay(d, rect{margin, margin, size.Width - margin, size.Height - margin})
}

// leaves are the plots of the chart and its panels.
func (c Chart) leaves() []*plot {
	if c.panels == nil {
		return []*plot{c.leaf()}
	}
	var out []*plot
	for _, p := range c.panels {
		out = append(out, p.leaves()...)
	}
	return out
}

func (c Chart) leaf() *plot {
	if c.plot == nil {
		return &plot{x: Axis{}.settle(span{}, 0), y: Axis{}.settle(span{}, 0), empty: true}
	}
	return c.plot
}

// keys returns the entries of a legend that is true for all panels, and
// whether there is one.
func (c Chart) keys() (keys []key, side bool, ok bool) {
	known := map[string]style{}
	for _, p := range c.leaves() {
		for _, k := range p.keys {
			if k.name == "" {
				continue
			}
			was, seen := known[k.name]
			if seen && was.colour+fmt.Sprint(was.marker) != k.style.colour+fmt.Sprint(k.style.marker) {
				return nil, false, false
			}
			if !seen {
				known[k.name] = k.style
				keys = append(keys, k)
			}
		}
		side = side || p.sideKeys
	}
	return keys, side, true
}

// lay draws a whole chart into r.
func (c Chart) lay(d drawing, r rect) {
	var all skips
	for _, p := range c.leaves() {
		all.join(p.skipped)
	}
	note := c.head.Note
	if s := all.note(); s != "" {
		note += " " + s
	}
	inner, shared := c.dress(d, r, titleText, note, false)
	c.fillIn(d, inner, shared, view{true, true})
}

// view says which names of axes a panel shows.
type view struct{ x, y bool }

// dress draws what is around the plots: title, legend and note. It returns the
// room that is left, and whether the plots need no legend any more.
func (c Chart) dress(d drawing, r rect, titleSize float64, note string, keysDone bool) (rect, bool) {
	lines := 2
	if titleSize < titleText {
		lines = 1
	}
	if title := clean(c.head.Title); title != "" {
		for _, line := range d.fonts.wrap(title, titleSize, true, r.w()/slack, lines) {
			d.s.write(label{at: pt{r.x0, r.y0 + titleSize*0.85}, text: line, size: titleSize, bold: true, colour: ink})
			r.y0 += titleSize * 1.3
		}
		r.y0 += 2
	}
	if note = clean(note); note != "" {
		text := d.fonts.wrap(note, noteText, false, r.w()/slack, 3)
		r.y1 -= float64(len(text)) * noteText * 1.3
		for i, line := range text {
			d.s.write(label{at: pt{r.x0, r.y1 + noteText*(1.15+1.3*float64(i))}, text: line, size: noteText, colour: soft})
		}
		r.y1 -= 3
	}
	if !keysDone {
		if keys, side, ok := c.keys(); ok {
			r, keysDone = d.legend(keys, side, r), true
			if c.panels != nil && len(keys) > 0 {
				r.y0 += 4
			}
		}
	}
	return r, keysDone
}

// slack is how much wider the letters of a reader's font may be than ours.
const slack = 1.04

// fillIn draws the plots of a chart whose title and legend are there.
func (c Chart) fillIn(d drawing, r rect, keysDone bool, v view) {
	if c.panels == nil {
		p := c.leaf()
		p.paint(d, r, p.margins(d, r, v), v)
		return
	}
	columns := c.columnsFor(len(c.panels))
	rows := (len(c.panels) + columns - 1) / columns
	oneX, oneY := c.sameNames()
	gapX, gapY := 14.0, 10.0
	nameX, nameY := 0.0, 0.0 // the last row and the first column carry the names
	if oneX {
		nameX = nameRoom
	}
	if oneY {
		nameY = nameRoom
	}
	w := (r.w() - gapX*float64(columns-1) - nameY) / float64(columns)
	h := (r.h() - gapY*float64(rows-1) - nameX) / float64(rows)

	type cell struct {
		room rect
		view view
		m    margins
		done bool
	}
	cells := make([]cell, len(c.panels))
	lefts, rights := make([]float64, columns), make([]float64, columns)
	tops, bottoms := make([]float64, rows), make([]float64, rows)
	for i, p := range c.panels {
		row, col := i/columns, i%columns
		full := rect{x0: r.x0 + float64(col)*(w+gapX), y0: r.y0 + float64(row)*(h+gapY)}
		if col > 0 {
			full.x0 += nameY
		}
		full.x1 = r.x0 + nameY + float64(col)*(w+gapX) + w
		full.y1 = full.y0 + h
		if row == rows-1 {
			full.y1 += nameX
		}
		k := &cells[i]
		k.view = view{x: v.x && (!oneX || i+columns >= len(c.panels)), y: v.y && (!oneY || col == 0)}
		k.room, k.done = p.dress(d, full, panelText, p.head.Note, keysDone)
		if p.panels != nil {
			continue
		}
		k.m = p.leaf().margins(d, k.room, k.view)
		lefts[col], rights[col] = math.Max(lefts[col], k.m.left), math.Max(rights[col], k.m.right)
		tops[row], bottoms[row] = math.Max(tops[row], k.m.top), math.Max(bottoms[row], k.m.bottom)
	}
	for i, p := range c.panels {
		k := cells[i]
		if p.panels != nil {
			p.fillIn(d, k.room, k.done, k.view)
			continue
		}
		row, col := i/columns, i%columns
		p.leaf().paint(d, k.room, margins{left: lefts[col], right: rights[col], top: tops[row], bottom: bottoms[row]}, k.view)
	}
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

// sameNames says whether all panels have the same name at an axis, so that one
// for all is enough.
func (c Chart) sameNames() (x, y bool) {
	leaves := c.leaves()
	x, y = len(leaves) > 1, len(leaves) > 1
	for _, p := range c.panels {
		if p.panels != nil {
			return false, false
		}
	}
	for _, p := range leaves {
		x = x && p.x.name == leaves[0].x.name
		y = y && p.y.name == leaves[0].y.name
	}
	return x, y
}

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
	}
	columns := c.columnsFor(len(spec.Panels))
	rows := (len(spec.Panels) + columns - 1) / columns
	c.usual = Size{Width: 720, Height: math.Min(largest, 60+210*float64(rows))}
	c.about = fmt.Sprintf("%d charts. The first: %s", len(spec.Panels), spec.Panels[0].alt())
	return c
}
