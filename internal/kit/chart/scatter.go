package chart

import (
	"math"
)

// Scatter draws points, with labels next to them.
func Scatter(spec ScatterSpec) Chart {
	p := &plot{levels: spec.Levels, gridX: true}
	var xs, ys span
	clouds := make([]cloud, len(spec.Series))
	for i, s := range spec.Series {
		lists := map[string]int{"Y": len(s.Y), "Labels": len(s.Labels), "XLo": len(s.XLo), "XHi": len(s.XHi), "YLo": len(s.YLo), "YHi": len(s.YHi)}
		if err := sameLength("series", s.Name, len(s.X), lists); err != nil {
			return Chart{err: err}
		}
		k := cloud{Points: s, style: styleOf(i, s.Ink)}
		for j := range s.X {
			if !spec.X.Kind.accepts(s.X[j], &p.skipped) || !spec.Y.Kind.accepts(s.Y[j], &p.skipped) {
				continue
			}
			k.shown = append(k.shown, j)
			if !spec.X.inRange(s.X[j]) || !spec.Y.inRange(s.Y[j]) {
				continue
			}
			xs.add(s.X[j])
			ys.add(s.Y[j])
			if lo, hi, ok := errorBar(s.XLo, s.XHi, j, spec.X); ok {
				xs.add(lo, hi)
			}
			if lo, hi, ok := errorBar(s.YLo, s.YHi, j, spec.Y); ok {
				ys.add(lo, hi)
			}
		}
		clouds[i] = k
		p.keys = append(p.keys, key{name: s.Name, style: k.style, dot: true, line: s.Joined})
	}
	p.empty = xs.n == 0
	includeLevels(spec.Levels, spec.Y, &ys)
	p.x, p.y = spec.X.resolve(xs, 0.06), spec.Y.resolve(ys, 0.08)
	p.draw = func(f *frame) { drawClouds(f, clouds, spec.X, spec.Y) }
	return p.chart(spec.Head, "points", names(spec.Series, func(s Points) string { return s.Name }))
}

// cloud is a series of points, and which of them can be shown.
type cloud struct {
	Points
	style style
	shown []int
}

func drawClouds(f *frame, clouds []cloud, ax, ay Axis) {
	var taken []rect // what labels must not cover
	at := make([][]pt, len(clouds))
	for n, k := range clouds {
		for _, j := range k.shown {
			p := f.place(k.X[j], k.Y[j])
			at[n] = append(at[n], p)
			if len(taken) < 2000 {
				taken = append(taken, rect{p.x - 4, p.y - 4, p.x + 4, p.y + 4})
			}
		}
	}
	for n, k := range clouds {
		if k.Joined {
			f.s.stroke(pen{k.style.colour, 0.75, 1.4, k.style.dash}, cutLine(thinLine(at[n]), f.box))
			for i := 1; i < len(at[n]) && len(at[n]) < 100; i++ {
				taken = append(taken, along(at[n][i-1], at[n][i])...)
			}
		}
	}
	for n, k := range clouds {
		f.s.begin(clean(k.Name))
		var dots []pt
		for i, j := range k.shown {
			p := at[n][i]
			if !f.contains(p) {
				continue
			}
			var ends [][2]pt
			if lo, hi, ok := errorBar(k.XLo, k.XHi, j, ax); ok {
				ends = append(ends, [2]pt{f.place(lo, k.Y[j]), f.place(hi, k.Y[j])})
			}
			if lo, hi, ok := errorBar(k.YLo, k.YHi, j, ay); ok {
				ends = append(ends, [2]pt{f.place(k.X[j], lo), f.place(k.X[j], hi)})
			}
			for _, e := range ends {
				f.s.stroke(pen{k.style.colour, 0.7, 1, nil}, errorLines(f, e[0], e[1], 2.5))
				if len(taken) < 4000 {
					taken = append(taken, along(e[0], e[1])...)
				}
			}
			dots = append(dots, p)
		}
		if len(dots) <= 400 {
			drawMarkers(f.s, k.style, 3.6, dots)
		} else {
			drawCloud(f, k.style.colour, dots)
		}
		f.s.end()
	}
	drawLabels(f, clouds, at, taken)
}

// drawCloud draws many points as small dots, the stronger the more of them are
// at the same place.
func drawCloud(f *frame, colour string, at []pt) {
	kept, stand := thinDots(at, 1.5)
	strengths := []float64{0.3, 0.5, 0.75, 1} // for 1, 2, 4 and 8 points or more
	classes := make([][]pt, len(strengths))
	for i, p := range kept {
		class := 0
		for n := stand[i]; n > 1 && class < len(classes)-1; n /= 2 {
			class++
		}
		classes[class] = append(classes[class], p)
	}
	for i, dots := range classes {
		f.s.circles(colour, strengths[i], 1.3, dots)
	}
}

// along covers a line with small squares, so that labels keep off it.
func along(a, b pt) []rect {
	n := int(math.Hypot(b.x-a.x, b.y-a.y)/6) + 1
	if n > 300 {
		return nil
	}
	var out []rect
	for i := range n {
		t := (float64(i) + 0.5) / float64(n)
		x, y := a.x+t*(b.x-a.x), a.y+t*(b.y-a.y)
		out = append(out, rect{x - 1, y - 1, x + 1, y + 1})
	}
	return out
}

// drawLabels puts each label next to its point, on the side where it covers
// least. Beyond the first hundred, labels would be all there is to see.
func drawLabels(f *frame, clouds []cloud, at [][]pt, taken []rect) {
	drawn := 0
	for n, k := range clouds {
		if len(k.Labels) == 0 {
			continue
		}
		for i, j := range k.shown {
			p := at[n][i]
			text := fitText(clean(k.Labels[j]), noteText, false, 150)
			if text == "" || !f.contains(p) || drawn == 100 {
				continue
			}
			drawn++
			w := widthMargin * textWidth(text, noteText, false)
			best, least := label{}, math.Inf(1)
			var room rect
			for order, o := range []struct {
				dx, dy float64
				align  align
			}{{7, 3, left}, {-7, 3, right}, {0, -8, middle}, {0, 14, middle}, {5, -6, left}, {5, 12, left}, {-5, -6, right}, {-5, 12, right}, {0, -18, middle}, {0, 24, middle}, {18, 3, left}, {-18, 3, right}} {
				x := p.x + o.dx
				r := rect{x, p.y + o.dy - 7, x + w, p.y + o.dy + 2}
				switch o.align {
				case middle:
					r.x0, r.x1 = x-w/2, x+w/2
				case right:
					r.x0, r.x1 = x-w, x
				}
				cost := float64(order) * 0.01
				if r.x0 < f.box.x0 || r.x1 > f.box.x1+10 || r.y0 < f.box.y0-4 || r.y1 > f.box.y1 {
					cost += 1000
				}
				for _, t := range taken {
					ox, oy := math.Min(r.x1, t.x1)-math.Max(r.x0, t.x0), math.Min(r.y1, t.y1)-math.Max(r.y0, t.y0)
					if ox > 0 && oy > 0 {
						cost += 1 + ox*oy
					}
				}
				if cost < least {
					least, room = cost, r
					best = label{at: pt{x, p.y + o.dy}, text: text, size: noteText, colour: ink, align: o.align}
				}
			}
			taken = append(taken, room)
			f.s.write(best)
		}
	}
}
