package chart

import (
	"math"
	"sort"
	"strings"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// margins are the space around the frame of a plot, in points.
type margins struct{ left, right, top, bottom float64 }

const (
	nameHeight = nameText * 1.5  // for the name of an axis
	tickHeight = tickText + 7    // for the texts at the ticks of x
	markHeight = noteText * 1.35 // for a row of texts of marks
)

// margins measures what the axes of a plot need in r.
func (p *plot) margins(r rect, v view) margins {
	m := margins{left: 8, right: 8, top: 6, bottom: 4}
	guess := rect{r.x0 + math.Min(50, r.w()/4), r.y0, r.x1 - 10, r.y1}
	if _, rows := p.placeMarks(guess, r.x1); rows > 0 {
		m.top += float64(rows)*markHeight - 2
	}
	if v.x && p.x.name != "" {
		m.bottom += nameHeight
	}
	if v.y && p.y.name != "" {
		m.left += nameHeight
	}
	for _, l := range p.levels {
		if p.shows(p.y, l) {
			m.right = math.Max(m.right, 6+math.Min(r.w()*0.25, widthMargin*textWidth(clean(l.Text), noteText, false)))
		}
	}
	if p.empty {
		return m
	}
	reach := 0.0
	if p.x.groups == nil {
		m.bottom += tickHeight
	} else {
		names := p.groupNames(guess.w())
		m.bottom += names.height
		reach = names.out
	}
	wide := 0.0
	for _, t := range p.yTicks(r.h() - m.top - m.bottom) {
		wide = math.Max(wide, textWidth(t.text, tickText, false))
	}
	m.left = math.Max(m.left+wide*widthMargin, math.Min(reach, r.w()/4))
	if p.x.groups == nil {
		ticks := p.xTicks(r.w() - m.left - m.right)
		for _, t := range ticks { // the last one may stick out
			at := (t.at - p.x.lo) / (p.x.hi - p.x.lo) * (r.w() - m.left - m.right)
			out := at + widthMargin*textWidth(t.text, tickText, false)/2 - (r.w() - m.left - m.right)
			m.right = math.Max(m.right, math.Min(out, 60))
		}
	}
	return m
}

func (p *plot) yTicks(h float64) []tick { return p.y.ticks(int(h / 34)) }

// xTicks returns as many ticks as fit with their texts into the width w.
func (p *plot) xTicks(w float64) []tick {
	var ticks []tick
	for most := max(2, int(w/46)); most >= 2; most-- {
		ticks = p.x.ticks(most)
		free, fits := math.Inf(-1), true
		for _, t := range ticks {
			if t.text == "" {
				continue
			}
			at, half := (t.at-p.x.lo)/(p.x.hi-p.x.lo)*w, widthMargin*textWidth(t.text, tickText, false)/2
			fits = fits && at-half >= free
			free = at + half + 9
		}
		if fits {
			break
		}
	}
	return ticks
}

// groupNames are the names of groups as they are written below the axis.
type groupNames struct {
	lines  [][]string
	turned bool
	height float64
	out    float64 // to the left of the frame
}

// groupNames writes them upright, on several lines if need be, or slanted if
// that does not do.
func (p *plot) groupNames(w float64) groupNames {
	const most = 3
	out := groupNames{}
	slot := w / float64(max(1, len(p.x.groups)))
	rows := 1
	for _, g := range p.x.groups {
		g = clean(g)
		lines := wrapText(g, tickText, false, (slot-6)/widthMargin, most)
		out.turned = out.turned || strings.Join(lines, " ") != g
		out.lines = append(out.lines, lines)
		rows = max(rows, len(lines))
	}
	if !out.turned {
		out.height = tickHeight + float64(rows-1)*tickText*1.2
		return out
	}
	wide := 0.0
	for i, g := range p.x.groups {
		g = fitText(clean(g), tickText, false, 120)
		out.lines[i] = []string{g}
		wide = math.Max(wide, textWidth(g, tickText, false)*widthMargin)
	}
	sin, cos := math.Sincos(slant * math.Pi / 180)
	out.height = wide*sin + tickHeight - 6
	for i, l := range out.lines { // how far the first ones reach out to the left
		out.out = math.Max(out.out, widthMargin*textWidth(l[0], tickText, false)*cos-(float64(i)+0.5)*slot)
	}
	return out
}

const slant = 40.0 // degrees

// shows reports whether a mark is within the range of its axis.
func (p *plot) shows(a axis, m Mark) bool {
	if p.empty || !finite(m.At) || (a.Kind.log() && m.At <= 0) {
		return false
	}
	at := a.fraction(m.At)
	return at >= -1e-9 && at <= 1+1e-9
}

type placedMark struct {
	x        float64
	row      int // -1: no text
	text     string
	align    align
	from, to float64 // of the text
}

// placeMarks finds rows above the frame in which the texts of marks meet
// neither each other nor the lines that lead up to them. A text begins at its
// line, or ends there if it would leave the picture.
func (p *plot) placeMarks(box rect, end float64) ([]placedMark, int) {
	marks := lists.Filter(p.marks, func(m Mark) bool { return p.shows(p.x, m) })
	// From the right: a text that goes to the right is then only met by lines
	// that are there already.
	sort.SliceStable(marks, func(i, j int) bool { return marks[i].At > marks[j].At })
	const most = 4
	rows := 0
	out := make([]placedMark, len(marks))
	for i, m := range marks {
		k := placedMark{x: box.x0 + p.x.fraction(m.At)*box.w(), row: -1}
		text := fitText(clean(m.Text), noteText, false, box.w())
		w := widthMargin * textWidth(text, noteText, false)
		k.from, k.to = k.x, k.x+w+8
		if k.x+w > end {
			k.align, k.from, k.to = right, k.x-w-8, k.x
		}
		for row := 0; row < most && text != "" && k.row < 0; row++ {
			if k.fits(row, out[:i]) {
				k.row, k.text = row, text // else the line stays alone: texts over each other would say less
			}
		}
		rows = max(rows, k.row+1)
		out[i] = k
	}
	return out, rows
}

// fits reports whether the mark can have its text in a row, given the others.
func (k placedMark) fits(row int, others []placedMark) bool {
	for _, o := range others {
		if o.row == row && k.from < o.to && o.from < k.to {
			return false
		}
		if o.row >= 0 && o.row < row && k.x > o.from && k.x < o.to {
			return false // its line would cross that text
		}
		if o.row > row && o.x > k.from && o.x < k.to {
			return false // that line would cross its text
		}
	}
	return true
}

// paint draws a plot into r.
func (p *plot) paint(s *svg, r rect, m margins, v view) {
	box := rect{r.x0 + m.left, r.y0 + m.top, r.x1 - m.right, r.y1 - m.bottom}
	if box.w() < 4 || box.h() < 4 {
		return // too small for anything
	}
	p.names(s, r, box, v)
	if p.empty {
		s.stroke(pen{colour: faint, alpha: 1, width: 1}, outline(box))
		s.write(label{at: pt{(box.x0 + box.x1) / 2, (box.y0+box.y1)/2 + 4}, text: "no data", size: panelText, colour: soft, align: middle})
		return
	}
	f := &frame{s: s, box: box, x: p.x, y: p.y}
	p.ticks(f)
	axes := [][]pt{{{box.x0, box.y1}, {box.x1, box.y1}}, {{box.x0, box.y0}, {box.x0, box.y1}}}
	s.stroke(pen{colour: edge, alpha: 1, width: thin}, axes)
	p.lines(f, r, m)
	p.draw(f)
}

func (p *plot) names(s *svg, r, box rect, v view) {
	if v.x {
		s.write(label{at: pt{(box.x0 + box.x1) / 2, r.y1 - 3}, text: fitText(p.x.name, nameText, false, r.w()), size: nameText, colour: ink, align: middle})
	}
	if v.y {
		s.write(label{at: pt{r.x0 + nameText*0.85, (box.y0 + box.y1) / 2}, text: fitText(p.y.name, nameText, false, r.h()), size: nameText, colour: ink, align: middle, turn: 90})
	}
}

// ticks draws the grid and what stands at it.
func (p *plot) ticks(f *frame) {
	box := f.box
	var grid, short [][]pt
	zero := math.NaN()
	for _, t := range p.yTicks(box.h()) {
		y := box.y1 - (t.at-p.y.lo)/(p.y.hi-p.y.lo)*box.h()
		if t.text == "" {
			short = append(short, []pt{{box.x0 - 2.5, y}, {box.x0, y}})
			continue
		}
		if !p.y.Kind.log() && t.at == 0 && y < box.y1-1 {
			zero = y
		}
		grid = append(grid, []pt{{box.x0, y}, {box.x1, y}})
		f.s.write(label{at: pt{box.x0 - 6, y + tickText*0.36}, text: t.text, size: tickText, colour: soft, align: right})
	}
	if p.x.groups != nil {
		p.groupTicks(f)
	} else {
		for _, t := range p.xTicks(box.w()) {
			x := box.x0 + (t.at-p.x.lo)/(p.x.hi-p.x.lo)*box.w()
			if t.text == "" {
				short = append(short, []pt{{x, box.y1}, {x, box.y1 + 2.5}})
				continue
			}
			if p.gridX || p.x.Kind.log() {
				grid = append(grid, []pt{{x, box.y0}, {x, box.y1}})
			}
			short = append(short, []pt{{x, box.y1}, {x, box.y1 + 4}})
			f.s.write(label{at: pt{x, box.y1 + tickText + 5}, text: t.text, size: tickText, colour: soft, align: middle})
		}
	}
	f.s.stroke(pen{colour: faint, alpha: 1, width: thin}, grid)
	f.s.stroke(pen{colour: edge, alpha: 1, width: thin}, short)
	if !math.IsNaN(zero) {
		f.s.stroke(pen{colour: edge, alpha: 1, width: thin}, [][]pt{{{box.x0, zero}, {box.x1, zero}}})
	}
}

func (p *plot) groupTicks(f *frame) {
	names := p.groupNames(f.box.w())
	for i, lines := range names.lines {
		x := f.px(float64(i))
		for k, line := range lines {
			l := label{at: pt{x, f.box.y1 + tickText*(1+1.2*float64(k)) + 5}, text: line, size: tickText, colour: soft, align: middle}
			if names.turned {
				l.at, l.align, l.turn = pt{x + 3, f.box.y1 + tickText + 1}, right, slant
			}
			f.s.write(l)
		}
	}
}

// lines draws marks and levels, under the data.
func (p *plot) lines(f *frame, r rect, m margins) {
	box := f.box
	line := pen{colour: soft, alpha: 1, width: 1, dash: []float64{3, 2.5}}
	marks, _ := p.placeMarks(box, r.x1)
	rows := int((m.top - 4) / markHeight)
	for _, k := range marks {
		row := min(k.row, max(0, rows-1))
		if row < 0 {
			f.s.stroke(line, [][]pt{{{k.x, box.y1}, {k.x, box.y0}}})
			continue
		}
		y := box.y0 - 4 - float64(row)*markHeight
		l := label{at: pt{k.x + 2, y}, text: k.text, size: noteText, colour: ink, align: k.align}
		if k.align == right {
			l.at.x = k.x - 2
		}
		f.s.stroke(line, [][]pt{{{k.x, box.y1}, {k.x, y - noteText*0.7}}})
		f.s.write(l)
	}
	levels := lists.Filter(p.levels, func(l Mark) bool { return p.shows(p.y, l) })
	sort.SliceStable(levels, func(i, j int) bool { return levels[i].At < levels[j].At })
	free := math.Inf(1)
	for _, l := range levels {
		y := f.py(l.At)
		f.s.stroke(line, [][]pt{{{box.x0, y}, {box.x1, y}}})
		at := math.Min(y+noteText*0.35, free)
		free = at - noteText*1.15
		f.s.write(label{at: pt{box.x1 + 4, at}, text: fitText(clean(l.Text), noteText, false, math.Max(0, r.x1-box.x1-3)), size: noteText, colour: ink})
	}
}
