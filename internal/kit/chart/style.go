package chart

import (
	"math"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// The colours of the project's pages.
const (
	paper = "#ffffff"
	ink   = "#1d2422" // texts that are read first
	soft  = "#5a6663" // texts that are looked up
	edge  = "#8a9390" // axes
	faint = "#e9e6e0" // grid
)

// Sizes of text and lines, in points.
const (
	titleText = 14.0
	panelText = 11.5
	nameText  = 11.0
	tickText  = 10.0
	noteText  = 9.0
	thick     = 1.8
	thin      = 0.8
)

// Colours returns the colours of series in their order. The first eight are
// those of Okabe and Ito ("Color Universal Design", 2008) in an order that
// keeps neighbours far apart, with two changes for a white ground: the ink of
// the pages for black, and a darker yellow. The other six are from the muted
// scheme of Paul Tol ("Colour Schemes", 2021). Further series take them again,
// with another dash and marker.
func Colours() []string {
	return []string{
		"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", ink, "#9a8c00",
		"#882255", "#332288", "#44aa99", "#999933", "#661100", "#6699cc",
	}
}

// style is how one series differs from the others: by colour, and by all that can
// still be told apart in black and white.
type style struct {
	colour  string
	dash    []float64
	marker  int
	texture int
	hollow  bool // markers are empty inside
}

// styleOf gives the series at a place its style, or that of the ink it asks
// for.
func styleOf(place, wish int) style {
	if wish > 0 {
		place = wish - 1
	}
	colours := Colours()
	dashes := [][]float64{nil, {7, 3}, {2, 2.2}, {9, 3, 2, 3}, {13, 4}, {5, 2, 2, 2, 2, 2}, {4, 4}}
	// In the second round of colours the same colour meets another dash,
	// marker and texture, for their numbers do not divide that of the colours.
	round := place / len(colours)
	return style{
		colour:  colours[place%len(colours)],
		dash:    dashes[(place+round)%len(dashes)],
		marker:  (place + round) % markers,
		texture: (place + round) % textures,
	}
}

const (
	markers  = 8
	textures = 4
)

// drawMarkers draws the markers of a series. A white rim keeps them apart from
// each other and from lines.
func drawMarkers(s *svg, st style, size float64, at []pt) {
	rim := pen{colour: paper, alpha: 1, width: 1.4}
	switch st.marker {
	case 0:
		s.circles(paper, 1, size+0.7, at)
		s.circles(st.colour, 1, size, at)
		if st.hollow {
			s.circles(paper, 1, size-rim.width, at)
		}
		return
	case 6, 7: // crosses have no inside
		var lines [][]pt
		for _, p := range at {
			lines = append(lines, cross(p, size*1.05, st.marker == 7)...)
		}
		s.stroke(pen{colour: paper, alpha: 1, width: 3.4}, lines)
		s.stroke(pen{colour: st.colour, alpha: 1, width: 2}, lines)
		return
	}
	rings := lists.Map(at, func(p pt) []pt { return shape(p, size, st.marker) })
	closed := lists.Map(rings, func(r []pt) []pt { return append(append([]pt{}, r...), r[0], r[1]) })
	s.stroke(pen{colour: paper, alpha: 1, width: 2.4}, closed)
	if st.marker == 5 || st.hollow { // 5 is a hollow square
		s.fill(paper, 1, rings)
		s.stroke(pen{colour: st.colour, alpha: 1, width: rim.width}, closed)
		return
	}
	s.fill(st.colour, 1, rings)
}

// shape is the outline of a marker of about the area of a circle.
func shape(p pt, size float64, marker int) []pt {
	polygon := func(corners int, radius, turn float64) []pt {
		out := make([]pt, corners)
		for i := range out {
			sin, cos := math.Sincos(turn + 2*math.Pi*float64(i)/float64(corners))
			out[i] = pt{p.x + radius*sin, p.y - radius*cos}
		}
		return out
	}
	switch marker {
	case 1, 5:
		return polygon(4, size*1.22, math.Pi/4)
	case 2:
		return polygon(3, size*1.4, 0)
	case 3:
		return polygon(4, size*1.35, 0)
	}
	return polygon(3, size*1.4, math.Pi)
}

func cross(p pt, size float64, slanted bool) [][]pt {
	if slanted {
		d := size * 0.8
		return [][]pt{{{p.x - d, p.y - d}, {p.x + d, p.y + d}}, {{p.x - d, p.y + d}, {p.x + d, p.y - d}}}
	}
	return [][]pt{{{p.x - size, p.y}, {p.x + size, p.y}}, {{p.x, p.y - size}, {p.x, p.y + size}}}
}

// tile fills a rectangle with the colour and texture of a series.
func tile(s *svg, st style, r rect, strength float64) {
	if r.w() <= 0 || r.h() <= 0 {
		return
	}
	ring := [][]pt{r.ring()}
	s.fill(paper, 1, ring) // the grid must not show through
	switch st.texture {
	case 0:
		s.fill(st.colour, strength, ring)
	case 1:
		s.fill(st.colour, strength*0.3, ring)
	default:
		s.fill(st.colour, strength*0.15, ring)
		s.stroke(pen{colour: st.colour, alpha: math.Min(1, strength+0.1), width: 1}, hatch(r, 4, st.texture == 3))
	}
	s.stroke(pen{colour: st.colour, alpha: 1, width: 1}, outline(r))
}

func outline(r rect) [][]pt {
	ring := r.ring()
	return [][]pt{append(ring, ring[0], ring[1])}
}

// hatch covers r with slanted lines.
func hatch(r rect, gap float64, falling bool) [][]pt {
	var out [][]pt
	reach := r.w() + r.h()
	if reach/gap > 2000 {
		gap = reach / 2000
	}
	for d := gap; d < reach; d += gap {
		a, b := pt{r.x0, r.y0 + d}, pt{r.x0 + d, r.y0}
		if falling {
			a, b = pt{r.x0, r.y1 - d}, pt{r.x0 + d, r.y1}
		}
		if p, q, ok := cut(a, b, r); ok {
			out = append(out, []pt{p, q})
		}
	}
	return out
}
