// Package diagram draws a workflow as a picture in SVG: layers of boxes, joined by
// its edges.
package diagram

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/workflow"
)

// Counts says where a node of a run stands.
type Counts struct {
	In, Out int64 // items that it has taken, and handed on
	Waiting int64 // that have come, and were not taken yet
	Working int64 // taken, not handed on and not held
	Held    int64 // that stay after an error
	Skipped int64
	Failed  int64
	State   string // in one word, such as running; "": none
	Blocked string // why it does not go on; "": it does. Its box is red
}

// Options is what a picture shows besides the workflow itself.
type Options struct {
	Counts []Counts // by node; nil: none
	Links  []string // by node: the address that its box leads to; nil or "": none
}

// Sizes in pixels.
const (
	fontName, fontSmall    = 14.0, 11.5
	margin                 = 16.0
	boxPad                 = 18.0
	boxHeight              = 50.0
	lineHeight             = 17.0
	boxLeast, boxMost      = 110.0, 250.0
	pillMost, pillHeight   = 210.0, 22.0
	pillGap                = 16.0 // between a condition and its step, for the arrow
	layerGap               = 54.0
	legendHeight           = 34.0
	legendWidth            = 470.0
	comfortable            = 1100.0 // a width that most pages have
	cylinder, slant, point = 5.0, 10.0, 12.0
)

// Draw returns a picture of the workflow in SVG. Edges go to the right, or down
// if that is less wide; those of a batch are solid, those of a stream dashed.
// The kinds differ in form and colour. A condition stands before its step.
func Draw(w *workflow.Workflow, d Options) []byte {
	p := newPicture(w, d, false)
	if p.width > comfortable {
		if down := newPicture(w, d, true); down.width < p.width {
			p = down
		}
	}
	return p.svg()
}

// rect is a box of the picture.
type rect struct{ x, y, w, h float64 }

func (r rect) right() float64  { return r.x + r.w }
func (r rect) bottom() float64 { return r.y + r.h }

// picture is a layout in pixels.
type picture struct {
	w             *workflow.Workflow
	d             Options
	down          bool
	width, height float64
	boxes         []box // by node
	paths         []path
}

// box is a node of the picture.
type box struct {
	rect  rect
	pill  rect // of its condition; no width: none
	when  string
	lines []textLine
	title string // all of it, shown on hover and read aloud

	blocked bool
}

// textLine is a line of text, cut to what fits.
type textLine struct {
	text  string
	class string
	size  float64
}

// path is an edge: points where it bends.
type path struct {
	from, to int
	edge     workflow.Edge
	points   []corner
}

type corner struct{ x, y float64 }

func newPicture(w *workflow.Workflow, d Options, down bool) *picture {
	p := &picture{w: w, d: d, down: down, boxes: make([]box, w.Nodes())}
	sizes := make([]float64, w.Nodes())
	height := boxHeight
	if d.Counts != nil {
		height += 3 * lineHeight
	}
	for n := range p.boxes {
		b := &p.boxes[n]
		p.describe(n, b)
		wide := boxLeast
		for _, l := range b.lines {
			wide = max(wide, textWidth(l.text, l.size)+2*boxPad)
		}
		b.rect.w, b.rect.h = wide, height
		if sizes[n] = height; down {
			sizes[n] = max(wide, b.pill.w)
		}
	}
	l := arrange(w, sizes)
	p.put(l)
	return p
}

// describe writes the lines of a node.
func (p *picture) describe(n int, b *box) {
	name, kind := p.w.NodeName(n), "input"
	b.title = "input " + name
	if s := p.w.Step(n); s != nil {
		kind = s.Spec.Summary()
		b.title = string(s.Kind) + " step " + name
		if s.When != nil {
			full := strings.Join(strings.Fields(s.When.Text()), " ")
			b.title += ", when " + full
			b.when = fit("when "+full, fontSmall, pillMost-2*10)
			b.pill.w, b.pill.h = textWidth(b.when, fontSmall)+2*10, pillHeight
		}
	}
	add := func(text, class string, size float64) {
		b.lines = append(b.lines, textLine{fit(text, size, boxMost-2*boxPad), class, size})
	}
	add(name, "name", fontName)
	add(kind, "kind", fontSmall)
	if n >= len(p.d.Counts) {
		return
	}
	c := p.d.Counts[n]
	first := grouped(c.In) + " in · " + grouped(c.Out) + " out"
	second, third := grouped(c.Waiting)+" waiting · "+grouped(c.Working)+" under way", ""
	if c.Blocked != "" { // nothing goes on with them
		second = grouped(c.Waiting) + " waiting · " + grouped(c.Working) + " inside"
	}
	if c.State != "" {
		third = c.State
	}
	for _, x := range []struct {
		n    int64
		what string
	}{{c.Held, "held"}, {c.Failed, "failed"}, {c.Skipped, "skipped"}} {
		if x.n > 0 {
			third += " · " + grouped(x.n) + " " + x.what
		}
	}
	third = strings.TrimPrefix(third, " · ")
	b.title += ": " + first + ", " + second
	if third != "" {
		b.title += ", " + third
	}
	class := "count"
	if c.Failed+c.Held > 0 {
		class = "bad"
	}
	if c.Blocked != "" {
		b.title += ", blocked: " + c.Blocked
		third = strings.TrimPrefix(third+": "+c.Blocked, ": ")
		b.blocked, class = true, "bad"
	}
	add(first, "count", fontSmall)
	add(second, "count", fontSmall)
	add(third, class, fontSmall)
}

func grouped(n int64) string { return format.Group(strconv.FormatInt(n, 10), ",") }

// put turns the layout into places.
func (p *picture) put(l *layout) {
	start := make([]float64, len(l.layers)) // of each layer, along
	end := make([]float64, len(l.layers))
	at := margin
	for i, layer := range l.layers {
		pill, long := 0.0, 0.0
		for _, s := range layer {
			if s.node < 0 {
				continue
			}
			b := &p.boxes[s.node]
			if p.down {
				long = max(long, b.rect.h)
				if b.pill.w > 0 {
					pill = pillHeight + pillGap
				}
			} else {
				long = max(long, b.rect.w)
				if b.pill.w > 0 {
					pill = max(pill, b.pill.w+pillGap)
				}
			}
		}
		start[i], end[i] = at, at+pill+long
		at = end[i] + layerGap
		for _, s := range layer {
			if s.node >= 0 {
				p.stand(&p.boxes[s.node], s.center+margin, end[i]-long, long)
			}
		}
	}
	for _, e := range l.edges {
		p.paths = append(p.paths, p.path(e, start, end))
	}
	p.width, p.height = legendWidth, 0
	for i := range p.boxes {
		b := &p.boxes[i]
		p.width = max(p.width, b.rect.right(), b.pill.right())
		p.height = max(p.height, b.rect.bottom(), b.pill.bottom())
	}
	for _, e := range p.paths {
		for _, c := range e.points {
			p.width, p.height = max(p.width, c.x), max(p.height, c.y)
		}
	}
	p.width += margin
	p.height += margin + legendHeight
}

// stand puts a box and its condition: center is across, from along.
func (p *picture) stand(b *box, center, from, long float64) {
	if p.down {
		b.rect.x, b.rect.y = center-b.rect.w/2, from
		if b.pill.w > 0 {
			b.pill.x, b.pill.y = center-b.pill.w/2, from-pillGap-pillHeight
		}
		return
	}
	b.rect.w = long
	b.rect.x, b.rect.y = from, center-b.rect.h/2
	if b.pill.w > 0 {
		b.pill.x, b.pill.y = from-pillGap-b.pill.w, center-pillHeight/2
	}
}

// path is the line of an edge: straight next to boxes, bent between layers.
func (p *picture) path(e route, start, end []float64) path {
	out := path{from: e.source.Node, to: e.to, edge: e.source.Edge}
	add := func(along, across float64) {
		if p.down {
			out.points = append(out.points, corner{across, along})
		} else {
			out.points = append(out.points, corner{along, across})
		}
	}
	for i, s := range e.spots {
		center := s.center + margin
		if i > 0 {
			add(start[s.layer], center)
		}
		if i < len(e.spots)-1 {
			if i == 0 {
				add(p.leaves(s.node), center)
			}
			add(end[s.layer], center)
		}
	}
	add(p.enters(e.to), e.spots[len(e.spots)-1].center+margin)
	return out
}

// leaves and enters say where edges touch a box, along.
func (p *picture) leaves(node int) float64 {
	if p.down {
		return p.boxes[node].rect.bottom()
	}
	return p.boxes[node].rect.right()
}

func (p *picture) enters(node int) float64 {
	r := p.boxes[node].rect
	if p.boxes[node].pill.w > 0 {
		r = p.boxes[node].pill
	}
	if p.down {
		return r.y
	}
	return r.x
}

// textWidth estimates how wide a text is, rather too wide than too narrow.
func textWidth(s string, size float64) float64 {
	sum := 0.0
	for _, c := range s {
		sum += runeWidth(c)
	}
	return sum * size
}

// runeWidth is the width of a character at size 1.
func runeWidth(c rune) float64 {
	switch {
	case strings.ContainsRune("iljtfrI.,:;'|!()[] ·", c):
		return 0.36
	case strings.ContainsRune("mwMW@%…", c):
		return 0.95
	case c >= 0x1100:
		return 1.05
	case unicode.IsUpper(c):
		return 0.72
	}
	return 0.60
}

// fit cuts a text to a width.
func fit(s string, size, most float64) string {
	room, end := most-textWidth("…", size), 0
	sum := 0.0
	for i, c := range s {
		if sum += runeWidth(c) * size; sum > most {
			return strings.TrimRight(s[:end], " ") + "…"
		}
		if sum <= room {
			end = i + utf8.RuneLen(c)
		}
	}
	return s
}
