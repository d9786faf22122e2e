package chart

import (
	"fmt"
	"math"
	"sort"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
)

// Boxes draws box plots: groups side by side, in each one box a series. A box
// spans the quartiles (by linear interpolation), the line across it is the
// median. The whiskers reach to the last value within 1.5 interquartile ranges of
// the box (Tukey, 1977); values beyond them are dots.
func Boxes(spec BoxesSpec) Chart {
	p := &plot{}
	var ys span
	boxes := make([][]box, len(spec.Series))
	for i, s := range spec.Series {
		if len(s.Values) != len(spec.Groups) {
			return Chart{err: fmt.Errorf("chart: boxes %q have values for %d of %d groups", s.Name, len(s.Values), len(spec.Groups))}
		}
		for _, values := range s.Values {
			b := boxOf(sortedValues(values, spec.Y, &p.skipped))
			boxes[i] = append(boxes[i], b)
			if b.n > 0 {
				ys.add(b.lowEnd, b.highEnd)
				ys.add(b.out...)
			}
		}
		p.keys = append(p.keys, key{name: s.Name, style: styleOf(i, s.Ink), tile: boxStrength})
	}
	p.empty = ys.n == 0
	p.x, p.y = groupAxis(spec.X, spec.Groups), spec.Y.resolve(ys, 0.05)
	p.draw = func(f *frame) {
		for n, s := range spec.Series {
			for g, b := range boxes[n] {
				b.draw(f, n, g, len(spec.Series), styleOf(n, s.Ink), clean(s.Name+", "+spec.Groups[g]))
			}
		}
	}
	return p.chart(spec.Head, "box plots", names(spec.Series, func(s BoxSeries) string { return s.Name }))
}

const boxStrength = 0.6

// sortedValues returns those values, sorted, that can be shown.
func sortedValues(values []float64, a Axis, seen *skips) []float64 {
	out := lists.Filter(values, func(v float64) bool { return a.Kind.accepts(v, seen) })
	sort.Float64s(out)
	return out
}

type box struct {
	n               int
	q1, median, q3  float64
	lowEnd, highEnd float64
	out             []float64 // beyond the whiskers
}

// maxOutliers is how many dots a box has at either end, the outermost first.
const maxOutliers = 20

func boxOf(sorted []float64) box {
	if len(sorted) == 0 {
		return box{}
	}
	b := box{n: len(sorted), q1: stats.Quantile(sorted, 0.25), median: stats.Quantile(sorted, 0.5), q3: stats.Quantile(sorted, 0.75)}
	first, last := 0, len(sorted)-1
	reach := 1.5 * (b.q3 - b.q1)
	for first < last && sorted[first] < b.q1-reach {
		first++
	}
	for last > first && sorted[last] > b.q3+reach {
		last--
	}
	b.lowEnd, b.highEnd = math.Min(sorted[first], b.q1), math.Max(sorted[last], b.q3)
	b.out = append(b.out, sorted[:min(first, maxOutliers)]...)
	b.out = append(b.out, sorted[max(last+1, len(sorted)-maxOutliers):]...)
	return b
}

func (b box) draw(f *frame, member, group, members int, st style, name string) {
	if b.n == 0 {
		return
	}
	centre, width := slots(f, members, 40)
	x, half := centre(group, member), width*0.39
	y := func(v float64) float64 { return clampPlace(f.py(v)) }
	clamp := func(v float64) float64 { return math.Max(f.box.y0, math.Min(f.box.y1, v)) }
	f.s.begin(fmt.Sprintf("%s: median %s, quartiles %s and %s, %s", name, valueText(b.median, f.y), valueText(b.q1, f.y), valueText(b.q3, f.y), format.WithCommas(b.n, "value")))
	line := pen{st.colour, 1, 1.1, nil}
	var whiskers [][]pt
	for _, w := range [][2]float64{{b.lowEnd, b.q1}, {b.highEnd, b.q3}} {
		whiskers = append(whiskers, cutLine([]pt{{x, y(w[0])}, {x, y(w[1])}}, f.box)...)
		if end := (pt{x, y(w[0])}); f.contains(end) {
			whiskers = append(whiskers, []pt{{x - half*0.5, end.y}, {x + half*0.5, end.y}})
		}
	}
	f.s.stroke(line, whiskers)
	r := rect{x - half, clamp(y(b.q3)), x + half, clamp(y(b.q1))}
	tile(f.s, st, r, boxStrength)
	if m := (pt{x, y(b.median)}); f.contains(m) {
		across := [][]pt{{{x - half, m.y}, {x + half, m.y}}}
		f.s.stroke(pen{paper, 0.9, 4, nil}, across)
		f.s.stroke(pen{ink, 1, 2.2, nil}, across)
	}
	var dots []pt
	for _, v := range b.out {
		if at := (pt{x, y(v)}); f.contains(at) {
			dots = append(dots, at)
		}
	}
	f.s.circles(st.colour, 0.55, 1.6, dots)
	f.s.end()
}
