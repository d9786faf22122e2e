package chart

import (
	"math"

	"github.com/throng-dev/throng/internal/kit/format"
)

// key is an entry of a legend.
type key struct {
	name  string
	style style
	line  bool // a piece of the line
	dot   bool // its marker
	band  bool
	tile  float64 // strength of a tile; 0: none
}

const (
	keySignWidth = 24.0 // for the sign before a name
	keyText      = 10.5
	keyRow       = 15.0
	keyGap       = 14.0 // between entries of a row
	// keyMargin is how much wider a name may be in a reader's font than in ours. Verdana and
	// DejaVu, which stand in for ours, need a sixth more, and an entry ends where the next begins.
	keyMargin = 1.17
)

// legend draws the entries in at most two rows above what remains of r, or to
// its right, and returns what remains.
func (s *svg) legend(keys []key, side bool, r rect) rect {
	if len(keys) == 0 || r.w() < 60 || r.h() < 60 {
		return r
	}
	names := make([]string, len(keys))
	widths := make([]float64, len(keys))
	widest, rows, x := 0.0, 1, 0.0
	for i, k := range keys {
		names[i] = fitText(clean(k.name), keyText, false, math.Max(80, r.w()*0.3))
		widths[i] = keySignWidth + keyMargin*textWidth(names[i], keyText, false)
		widest = math.Max(widest, widths[i])
		if x > 0 && x+widths[i] > r.w() {
			rows, x = rows+1, 0
		}
		x += widths[i] + keyGap
	}
	if !side && rows <= 2 {
		r.y0 += 2
		x, y := r.x0, r.y0
		for i, k := range keys {
			if x > r.x0 && x+widths[i] > r.x1 {
				x, y = r.x0, y+keyRow
			}
			s.entry(k, names[i], pt{x, y})
			x += widths[i] + keyGap
		}
		r.y0 += float64(rows)*keyRow + 5
		return r
	}
	shown := min(len(keys), max(1, int((r.h()-20)/keyRow)))
	x0 := r.x1 - widest
	for i := range shown {
		at := pt{x0, r.y0 + 6 + float64(i)*keyRow}
		if i == shown-1 && shown < len(keys) {
			s.write(label{at: pt{at.x, at.y + keyRow*0.72}, text: "and " + format.WithCommas(len(keys)-i, "other"), size: keyText, colour: soft})
			break
		}
		s.entry(keys[i], names[i], at)
	}
	r.x1 = x0 - 12
	return r
}

// entry draws one entry whose top left corner is at.
func (s *svg) entry(k key, name string, at pt) {
	const long = 20.0
	mid := at.y + keyRow/2
	if k.band {
		s.fill(k.style.colour, bandAlpha, [][]pt{rect{at.x, mid - 5, at.x + long, mid + 5}.ring()})
	}
	if k.line {
		s.stroke(pen{k.style.colour, 1, thick, k.style.dash}, [][]pt{{{at.x, mid}, {at.x + long, mid}}})
	}
	if k.dot {
		drawMarkers(s, k.style, 3.2, []pt{{at.x + long/2, mid}})
	}
	if k.tile > 0 {
		tile(s, k.style, rect{at.x + 2, mid - 5, at.x + long - 2, mid + 5}, k.tile)
	}
	s.write(label{at: pt{at.x + keySignWidth, mid + keyText*0.36}, text: name, size: keyText, colour: ink})
}

const bandAlpha = 0.18
