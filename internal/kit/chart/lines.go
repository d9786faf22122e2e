package chart

import (
	"fmt"
	"math"
	"strings"
)

// Lines draws one line a series.
func Lines(spec LinesSpec) Chart { return lines(spec, false) }

// Steps draws series that keep their value until the next point: the length of
// a queue, an allocation.
func Steps(spec LinesSpec) Chart { return lines(spec, true) }

func lines(spec LinesSpec, steps bool) Chart {
	var xs, ys span
	p := &plot{marks: spec.Marks, levels: spec.Levels}
	curves := make([]curve, len(spec.Series))
	padding := 0.0
	for i, s := range spec.Series {
		if err := s.check(); err != nil {
			return Chart{err: err}
		}
		curves[i] = s.prepare(i, spec.X, spec.Y, steps, &xs, &ys, &p.skipped)
		if s.Markers || s.Dots || len(s.X) == 1 {
			padding = 0.02
		}
		p.keys = append(p.keys, key{name: s.Name, style: curves[i].style, line: !s.Dots, dot: s.Markers || s.Dots, band: s.Lo != nil})
	}
	includeLevels(spec.Levels, spec.Y, &ys)
	p.x, p.y = spec.X.resolve(xs, padding), spec.Y.resolve(ys, 0.05)
	p.empty = ys.n == 0
	p.draw = func(f *frame) { drawCurves(f, curves) }
	return p.chart(spec.Head, "lines", names(spec.Series, func(s Series) string { return s.Name }))
}

// includeLevels extends the range of y to levels that are not far off the data.
func includeLevels(levels []Mark, a Axis, s *span) {
	if s.n == 0 {
		return
	}
	was := *s
	reach := was.hi - was.lo
	for _, l := range levels {
		if !finite(l.At) || (a.Kind.log() && l.At <= 0) {
			continue
		}
		if a.Kind.log() || (l.At <= was.hi+reach && l.At >= was.lo-reach) || was.lo == was.hi {
			s.add(l.At)
		}
	}
}

// chart makes a chart of the plot, whose alternative text, if the head has none, is
// what the plot shows.
func (p *plot) chart(head Head, what string, names []string) Chart {
	text := "Chart of " + what
	if p.y.name != "" {
		text += ": " + p.y.name
	}
	if p.x.name != "" {
		text += " over " + p.x.name
	}
	if len(names) > 12 {
		names = append(append([]string{}, names[:12]...), fmt.Sprintf("%d more", len(names)-12))
	}
	if len(names) > 0 {
		text += "; " + strings.Join(names, ", ")
	}
	return Chart{head: head, plot: p, autoAlt: text + "."}
}

func names[T any](list []T, name func(T) string) []string {
	var out []string
	for _, v := range list {
		if n := clean(name(v)); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// sameLength returns an error if an optional list is there and not of length n.
func sameLength(kind, name string, n int, lists map[string]int) error {
	for _, what := range []string{"Y", "Lo", "Hi", "Labels", "XLo", "XHi", "YLo", "YHi"} {
		if got, there := lists[what]; there && got != n && (got != 0 || what == "Y") {
			return fmt.Errorf("chart: %s %q has %d values, but %d of %s", kind, name, n, got, what)
		}
	}
	for _, pair := range [][2]string{{"Lo", "Hi"}, {"XLo", "XHi"}, {"YLo", "YHi"}} {
		if lists[pair[0]] != lists[pair[1]] {
			return fmt.Errorf("chart: %s %q has %d values of %s, but %d of %s", kind, name, lists[pair[0]], pair[0], lists[pair[1]], pair[1])
		}
	}
	return nil
}

func (s Series) check() error {
	return sameLength("series", s.Name, len(s.X), map[string]int{"Y": len(s.Y), "Lo": len(s.Lo), "Hi": len(s.Hi)})
}

// curve is a series that is ready to be drawn: sorted, in pieces between the
// gaps, without what cannot be shown.
type curve struct {
	name    string
	style   style
	steps   bool
	markers bool
	dots    bool           // markers only
	pieces  [][][2]float64 // x, y
	bands   [][][3]float64 // x, low, high
}

func (s Series) prepare(place int, ax, ay Axis, steps bool, xs, ys *span, seen *skips) curve {
	c := curve{name: s.Name, style: styleOf(place, s.Ink), steps: steps, markers: s.Markers || s.Dots, dots: s.Dots}
	c.style.hollow = s.Hollow
	var line [][2]float64
	var band [][3]float64
	flush := func() {
		if len(line) > 0 {
			c.pieces, line = append(c.pieces, line), nil
		}
		if len(band) > 0 {
			c.bands, band = append(c.bands, band), nil
		}
	}
	for _, i := range order(s.X) {
		x, y := s.X[i], s.Y[i]
		if !finite(x) {
			seen.bad++
			continue
		}
		if !ax.Kind.accepts(x, seen) {
			continue
		}
		if !ay.Kind.accepts(y, seen) {
			flush()
			continue
		}
		line = append(line, [2]float64{x, y})
		if ax.inRange(x) {
			xs.add(x)
			ys.add(y)
		}
		if s.Lo == nil {
			continue
		}
		lo, hi := math.Min(s.Lo[i], s.Hi[i]), math.Max(s.Lo[i], s.Hi[i])
		if !finite(lo) || !finite(hi) || (ay.Kind.log() && hi <= 0) {
			continue // the point has no band
		}
		if ay.Kind.log() && lo <= 0 {
			lo = y / 1e3 // the band leaves the picture at the bottom
		} else if ax.inRange(x) {
			ys.add(lo)
		}
		band = append(band, [3]float64{x, lo, hi})
		if ax.inRange(x) {
			ys.add(hi)
		}
	}
	flush()
	return c
}

// drawCurves draws the bands first, so that none covers a line.
func drawCurves(f *frame, curves []curve) {
	for _, c := range curves {
		c.drawBand(f)
	}
	for _, c := range curves {
		c.draw(f)
	}
}

func (c curve) drawBand(f *frame) {
	var rings [][]pt
	for _, piece := range c.bands {
		top, bottom := make([]pt, len(piece)), make([]pt, len(piece))
		for i, v := range piece {
			top[i], bottom[i] = f.place(v[0], v[2]), f.place(v[0], v[1])
		}
		top, bottom = thinBand(top, bottom)
		if c.steps {
			top, bottom = stepped(top), stepped(bottom)
		}
		ring := append([]pt{}, top...)
		for i := len(bottom) - 1; i >= 0; i-- {
			ring = append(ring, bottom[i])
		}
		if ring = cutRing(ring, f.box); len(ring) > 2 {
			rings = append(rings, ring)
		}
	}
	f.s.fill(c.style.colour, bandAlpha, rings)
}

func (c curve) draw(f *frame) {
	var all [][]pt
	var dots []pt
	points := 0
	for _, piece := range c.pieces {
		points += len(piece)
		line := make([]pt, len(piece))
		for i, v := range piece {
			line[i] = f.place(v[0], v[1])
			if (c.markers || len(piece) == 1) && f.contains(line[i]) {
				dots = append(dots, line[i])
			}
		}
		if c.dots {
			continue
		}
		line = thinLine(line)
		if c.steps {
			line = stepped(line)
		}
		all = append(all, cutLine(line, f.box)...)
	}
	f.s.begin(clean(c.name))
	width, dash := thick, c.style.dash
	if points > 4*int(f.box.w()) { // a cloud of peaks, in which a thick line or a dash would be lost
		width, dash = 0.7, nil
	}
	f.s.stroke(pen{c.style.colour, 1, width, dash}, all)
	if len(dots) > 0 {
		size := 3.0
		if f.box.w() < 260 {
			size = 2.4
		}
		if len(dots) > few {
			dots, _ = thinDots(dots, 2)
		}
		drawMarkers(f.s, c.style, size, dots)
	}
	f.s.end()
}
