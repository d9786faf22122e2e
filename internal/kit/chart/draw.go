package chart

import (
	"cmp"
	"fmt"
	"math"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// Chart is a picture that can be drawn. The zero value is one without data.
type Chart struct {
	err     error
	head    Head
	autoAlt string // the alternative text if the head has none
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
	s    *svg
	box  rect
	x, y axis
}

func (f *frame) px(x float64) float64 { return f.box.x0 + f.x.fraction(x)*f.box.w() }
func (f *frame) py(y float64) float64 { return f.box.y1 - f.y.fraction(y)*f.box.h() }

// clampPlace keeps far-off places within what a picture can hold: they are cut at
// the frame anyway.
func clampPlace(v float64) float64 { return math.Max(-1e6, math.Min(1e6, v)) }

func (f *frame) place(x, y float64) pt { return pt{clampPlace(f.px(x)), clampPlace(f.py(y))} }

// edgeTolerance is by how much a place may be outside of the frame and still lie on it:
// more than rounding, less than can be seen. In points.
const edgeTolerance = 0.01

// contains reports whether a marker at p is within the frame.
func (f *frame) contains(p pt) bool {
	b := f.box
	return p.x >= b.x0-edgeTolerance && p.x <= b.x1+edgeTolerance && p.y >= b.y0-edgeTolerance && p.y <= b.y1+edgeTolerance
}

// The sizes that can be drawn, in points.
const (
	smallest = 40
	largest  = 4000
)

func (c Chart) size() (Size, error) {
	size := Size{cmp.Or(c.head.Size.Width, 640), cmp.Or(c.head.Size.Height, 340)}
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
	if c.err != nil {
		return nil, c.err
	}
	size, err := c.size()
	if err != nil {
		return nil, err
	}
	s := newSVG(size, clean(c.head.Title), c.alt())
	c.paint(s, size)
	return s.bytes(), nil
}

func (c Chart) alt() string {
	switch {
	case c.head.Alt != "":
		return clean(c.head.Alt)
	case c.autoAlt != "":
		return clean(c.autoAlt)
	}
	return "A chart without data"
}

func (c Chart) paint(s *svg, size Size) {
	all := rect{0, 0, size.Width, size.Height}
	s.fill(paper, 1, [][]pt{all.ring()})
	margin := math.Min(12, size.Height/12)
	c.layout(s, rect{margin, margin, size.Width - margin, size.Height - margin})
}

// plots are the plots of the chart or of its panels.
func (c Chart) plots() []*plot {
	if c.panels == nil {
		return []*plot{c.plotOrEmpty()}
	}
	return lists.Map(c.panels, Chart.plotOrEmpty)
}

func (c Chart) plotOrEmpty() *plot {
	if c.plot == nil {
		return &plot{x: Axis{}.resolve(span{}, 0), y: Axis{}.resolve(span{}, 0), empty: true}
	}
	return c.plot
}

// keys returns the entries of a legend that holds for all panels, and reports
// whether there is such a legend, and whether it reads from top to bottom.
func (c Chart) keys() (keys []key, side bool, ok bool) {
	known := map[string]style{}
	for _, p := range c.plots() {
		for _, k := range p.keys {
			if k.name == "" {
				continue
			}
			other, seen := known[k.name]
			if seen && (other.colour != k.style.colour || other.marker != k.style.marker) {
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

// layout draws a whole chart into r.
func (c Chart) layout(s *svg, r rect) {
	var all skips
	for _, p := range c.plots() {
		all.add(p.skipped)
	}
	note := c.head.Note
	if skipped := all.note(); skipped != "" {
		note += " " + skipped
	}
	inner, shared := c.drawHeadings(s, r, titleText, note, false)
	if c.panels != nil {
		c.drawPanels(s, inner, shared)
		return
	}
	p, v := c.plotOrEmpty(), view{true, true}
	p.paint(s, inner, p.margins(inner, v), v)
}

// view is which axes of a panel have their names written.
type view struct{ x, y bool }

// drawHeadings draws title, legend and note. It returns the space that is left,
// and reports whether the legend of the plots is drawn.
func (c Chart) drawHeadings(s *svg, r rect, titleSize float64, note string, hasLegend bool) (rect, bool) {
	lines := 2
	if titleSize < titleText {
		lines = 1
	}
	if title := clean(c.head.Title); title != "" {
		for _, line := range wrapText(title, titleSize, true, r.w()/widthMargin, lines) {
			s.write(label{at: pt{r.x0, r.y0 + titleSize*0.85}, text: line, size: titleSize, bold: true, colour: ink})
			r.y0 += titleSize * 1.3
		}
		r.y0 += 2
	}
	if note = clean(note); note != "" {
		text := wrapText(note, noteText, false, r.w()/widthMargin, 3)
		r.y1 -= float64(len(text)) * noteText * 1.3
		for i, line := range text {
			s.write(label{at: pt{r.x0, r.y1 + noteText*(1.15+1.3*float64(i))}, text: line, size: noteText, colour: soft})
		}
		r.y1 -= 3
	}
	if !hasLegend {
		if keys, side, ok := c.keys(); ok {
			r, hasLegend = s.legend(keys, side, r), true
			if c.panels != nil && len(keys) > 0 {
				r.y0 += 4
			}
		}
	}
	return r, hasLegend
}

// widthMargin is how much wider the letters of a reader's font may be than ours.
const widthMargin = 1.04
