package chart

import (
	"bytes"
	"encoding/xml"
	"strconv"
	"strings"
)

// pt is a place on the picture, in points from its top left corner.
type pt struct{ x, y float64 }

// rect is a part of the picture. y grows downwards: y0 is its top.
type rect struct{ x0, y0, x1, y1 float64 }

func (r rect) w() float64 { return r.x1 - r.x0 }
func (r rect) h() float64 { return r.y1 - r.y0 }

func (r rect) ring() []pt {
	return []pt{{r.x0, r.y0}, {r.x1, r.y0}, {r.x1, r.y1}, {r.x0, r.y1}}
}

// pen is how a line is drawn.
type pen struct {
	colour string // "#rrggbb"
	alpha  float64
	width  float64
	dash   []float64
}

// align is where a text stands relative to its place.
type align uint8

const (
	left align = iota
	middle
	right
)

// label is a text on the picture; at is on its baseline.
type label struct {
	at     pt
	text   string
	size   float64
	bold   bool
	colour string
	align  align
	turn   float64 // degrees, against the clock
}

// fontFamily begins with fonts whose letters are as wide as the tables by which
// texts are measured; any other sans-serif font will do.
const fontFamily = "Arial, Liberation Sans, Helvetica, sans-serif"

// svg is an SVG document that is being written.
type svg struct{ b bytes.Buffer }

func newSVG(size Size, title, desc string) *svg {
	s := &svg{}
	w, h := number(size.Width), number(size.Height)
	s.b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" width="` + w + `" height="` + h + `" viewBox="0 0 ` + w + ` ` + h +
		`" font-family="` + fontFamily + `" role="img" aria-label="` + escape(desc) + "\">\n")
	if title != "" {
		s.b.WriteString("<title>" + escape(title) + "</title>\n")
	}
	s.b.WriteString("<desc>" + escape(desc) + "</desc>\n")
	return s
}

func (s *svg) bytes() []byte {
	s.b.WriteString("</svg>\n")
	return s.b.Bytes()
}

// begin opens a group: what follows until end belongs to name, which a reader
// sees under the mouse and a screen reader says.
func (s *svg) begin(name string) {
	s.b.WriteString("<g>")
	if name != "" {
		s.b.WriteString("<title>" + escape(name) + "</title>")
	}
	s.b.WriteByte('\n')
}

func (s *svg) end() { s.b.WriteString("</g>\n") }

func (s *svg) stroke(p pen, lines [][]pt) {
	if len(lines) == 0 {
		return
	}
	s.b.WriteString(`<path d="`)
	s.path(lines, false)
	s.b.WriteString(`" fill="none" stroke="` + p.colour + `" stroke-width="` + number(p.width) + `" stroke-linejoin="round"`)
	s.alpha("stroke-opacity", p.alpha)
	if len(p.dash) > 0 {
		s.b.WriteString(` stroke-dasharray="`)
		for i, d := range p.dash {
			if i > 0 {
				s.b.WriteByte(' ')
			}
			s.b.WriteString(number(d))
		}
		s.b.WriteByte('"')
	}
	s.b.WriteString("/>\n")
}

func (s *svg) fill(colour string, alpha float64, rings [][]pt) {
	if len(rings) == 0 {
		return
	}
	s.b.WriteString(`<path d="`)
	s.path(rings, true)
	s.b.WriteString(`" fill="` + colour + `"`)
	s.alpha("fill-opacity", alpha)
	s.b.WriteString("/>\n")
}

// circles draws lines of no length with round ends: a third of the bytes of
// circle elements.
func (s *svg) circles(colour string, alpha, radius float64, centres []pt) {
	if len(centres) == 0 {
		return
	}
	s.b.WriteString(`<path d="`)
	for _, c := range centres {
		s.place('M', c)
		s.b.WriteString("h0")
	}
	s.b.WriteString(`" fill="none" stroke="` + colour + `" stroke-width="` + number(2*radius) + `" stroke-linecap="round"`)
	s.alpha("stroke-opacity", alpha)
	s.b.WriteString("/>\n")
}

func (s *svg) write(l label) {
	if l.text == "" {
		return
	}
	x, y := number(l.at.x), number(l.at.y)
	s.b.WriteString(`<text x="` + x + `" y="` + y + `" font-size="` + number(l.size) + `" fill="` + l.colour + `"`)
	if l.bold {
		s.b.WriteString(` font-weight="bold"`)
	}
	switch l.align {
	case middle:
		s.b.WriteString(` text-anchor="middle"`)
	case right:
		s.b.WriteString(` text-anchor="end"`)
	}
	if l.turn != 0 {
		s.b.WriteString(` transform="rotate(` + number(-l.turn) + ` ` + x + ` ` + y + `)"`)
	}
	s.b.WriteString(">" + escape(l.text) + "</text>\n")
}

func (s *svg) path(lines [][]pt, closed bool) {
	for _, line := range lines {
		for i, p := range line {
			switch {
			case i == 0:
				s.place('M', p)
			case p.y == line[i-1].y: // steps need one number a piece
				s.b.WriteString("H" + number(p.x))
			case p.x == line[i-1].x:
				s.b.WriteString("V" + number(p.y))
			default:
				s.place('L', p)
			}
		}
		if closed {
			s.b.WriteByte('Z')
		}
	}
}

func (s *svg) place(op byte, p pt) {
	s.b.WriteByte(op)
	s.b.WriteString(number(p.x))
	s.b.WriteByte(' ')
	s.b.WriteString(number(p.y))
}

func (s *svg) alpha(name string, a float64) {
	if a < 1 {
		s.b.WriteString(" " + name + `="` + number(a) + `"`)
	}
}

// number writes v with up to two decimals: a hundredth of a point is finer
// than any screen.
func number(v float64) string {
	t := strconv.FormatFloat(v, 'f', 2, 64)
	t = strings.TrimRight(strings.TrimRight(t, "0"), ".")
	if t == "-0" || t == "" {
		return "0"
	}
	return t
}

// escape makes t safe in an element and in an attribute. What XML cannot hold,
// such as control characters, becomes U+FFFD.
func escape(t string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(t)); err != nil {
		return "" // a Builder does not fail
	}
	return b.String()
}
