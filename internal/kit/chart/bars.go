package chart

import (
	"fmt"
	"math"
	"strings"
)

// Bars draws groups of bars, in each group one bar a series, with error bars.
func Bars(spec BarsSpec) Chart {
	p := &plot{levels: spec.Levels}
	var ys span
	for i, s := range spec.Series {
		if len(s.Values) != len(spec.Groups) {
			return Chart{err: fmt.Errorf("chart: bars %q have %d values for %d groups", s.Name, len(s.Values), len(spec.Groups))}
		}
		if err := sameLength("bars", s.Name, len(s.Values), map[string]int{"Lo": len(s.Lo), "Hi": len(s.Hi)}); err != nil {
			return Chart{err: err}
		}
		for g, v := range s.Values {
			if math.IsNaN(v) {
				continue // a gap, as the spec says
			}
			if !spec.Y.Kind.accepts(v, &p.skipped) {
				continue
			}
			ys.add(v)
			if lo, hi, ok := errorBar(s.Lo, s.Hi, g, spec.Y); ok {
				ys.add(lo, hi)
			}
		}
		p.keys = append(p.keys, key{name: s.Name, style: styleOf(i, s.Ink), tile: barStrength})
	}
	p.empty = ys.n == 0
	if !spec.Y.Kind.log() && ys.n > 0 {
		ys.add(0) // the length of a bar is its value
	}
	includeLevels(spec.Levels, spec.Y, &ys)
	padding := 0.05
	if spec.Numbers {
		padding = 0.1
	}
	p.x, p.y = groupAxis(spec.X, spec.Groups), spec.Y.resolve(ys, padding)
	p.draw = func(f *frame) { drawBars(f, spec) }
	return p.chart(spec.Head, "bars", names(spec.Series, func(s BarSeries) string { return s.Name }))
}

const barStrength = 0.85

// groupAxis is an axis on which groups stand at 0, 1, 2 ...
func groupAxis(a Axis, groups []string) axis {
	out := axis{Axis: Axis{Label: a.Label}, unit: 1, name: clean(a.Label), lo: -0.5, hi: float64(len(groups)) - 0.5, groups: groups}
	if len(groups) == 0 {
		out.hi, out.groups = 0.5, []string{}
	}
	return out
}

// errorBar returns the ends of an error bar as far as they can be shown.
func errorBar(lo, hi []float64, i int, a Axis) (float64, float64, bool) {
	if len(lo) == 0 {
		return 0, 0, false
	}
	l, h := math.Min(lo[i], hi[i]), math.Max(lo[i], hi[i])
	ok := finite(l) && finite(h) && (!a.Kind.log() || l > 0)
	return l, h, ok
}

// slots are the places of the members of groups: the centre of a member's box,
// and its width.
func slots(f *frame, members int, widestBox float64) (centre func(group, member int) float64, width float64) {
	group := f.box.w() / math.Max(1, f.x.hi-f.x.lo)
	width = math.Min(widestBox, group*0.8/float64(max(1, members)))
	return func(g, m int) float64 {
		return f.px(float64(g)) + (float64(m)-float64(members-1)/2)*width
	}, width
}

func drawBars(f *frame, spec BarsSpec) {
	centre, width := slots(f, len(spec.Series), 46)
	base := f.box.y1
	if !f.y.Kind.log() {
		base = math.Max(f.box.y0, math.Min(f.box.y1, clampPlace(f.py(0))))
	}
	inner := width * 0.9
	for n, s := range spec.Series {
		st := styleOf(n, s.Ink)
		for g, v := range s.Values {
			if !finite(v) || (f.y.Kind.log() && v <= 0) {
				continue
			}
			x := centre(g, n)
			y := math.Max(f.box.y0, math.Min(f.box.y1, clampPlace(f.py(v))))
			text := valueText(v, f.y)
			lo, hi, bar := errorBar(s.Lo, s.Hi, g, spec.Y)
			about := clean(s.Name+", "+spec.Groups[g]) + ": " + text
			if bar {
				about += " (" + valueText(lo, f.y) + " to " + valueText(hi, f.y) + ")"
			}
			f.s.begin(about)
			tile(f.s, st, rect{x - inner/2, math.Min(y, base), x + inner/2, math.Max(y, base)}, barStrength)
			top := math.Min(y, base)
			if bar {
				a, b := clampPlace(f.py(lo)), clampPlace(f.py(hi))
				lines := errorLines(f, pt{x, a}, pt{x, b}, math.Min(4, inner/3))
				f.s.stroke(pen{paper, 0.8, 2.6, nil}, lines)
				f.s.stroke(pen{ink, 1, 1.1, nil}, lines)
				top = math.Min(top, b)
			}
			if spec.Numbers && textWidth(text, noteText, false) < width+6 && v >= 0 {
				f.s.write(label{at: pt{x, top - 4}, text: text, size: noteText, colour: ink, align: middle})
			}
			f.s.end()
		}
	}
}

// errorLines are the lines of an error bar from a to b, upright or level, with
// short lines of half a length of end across it. An end beyond the frame has none.
func errorLines(f *frame, a, b pt, end float64) [][]pt {
	lines := cutLine([]pt{a, b}, f.box)
	if len(lines) == 0 {
		return nil
	}
	for _, p := range []pt{a, b} {
		switch {
		case !f.contains(p):
		case a.x == b.x:
			lines = append(lines, []pt{{p.x - end, p.y}, {p.x + end, p.y}})
		default:
			lines = append(lines, []pt{{p.x, p.y - end}, {p.x, p.y + end}})
		}
	}
	return lines
}

// valueText writes a value of the axis a with three digits, fewer if they are zero.
func valueText(v float64, a axis) string {
	if a.Kind == LogTime {
		unit, name := timeUnit(math.Abs(v))
		return digits(v/unit) + " " + name
	}
	return digits(v / a.unit)
}

func digits(v float64) string {
	t := threeDigits(v)
	if strings.Contains(t, ".") && !strings.Contains(t, "e") {
		t = strings.TrimRight(strings.TrimRight(t, "0"), ".")
	}
	return t
}

func threeDigits(v float64) string {
	size := math.Abs(v)
	switch {
	case size == 0:
		return "0"
	case size >= 1e9 || size < 1e-3:
		return fmt.Sprintf("%.3g", v)
	case size >= 100:
		return numberText(v, 1)
	case size >= 10:
		return numberText(v, 0.1)
	case size >= 1:
		return numberText(v, 0.01)
	}
	return numberText(v, math.Pow(10, math.Floor(math.Log10(size))-2))
}
