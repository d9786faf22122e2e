package chart

import (
	"math"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
)

// CDF draws the empirical distribution functions of samples.
func CDF(spec CDFSpec) Chart {
	if spec.Y.Label == "" {
		spec.Y.Label, spec.Y.Kind = "share at or below", Percent
	}
	if spec.Y.Min >= spec.Y.Max && !spec.Y.Kind.log() {
		spec.Y.Min, spec.Y.Max = 0, 1
	}
	p := &plot{gridX: true}
	var xs span
	curves := make([]curve, len(spec.Samples))
	for i, s := range spec.Samples {
		values := sortedValues(s.Values, spec.X, &p.skipped)
		if n := len(values); n > 0 {
			xs.add(values[0], values[n-1])
		}
		curves[i] = curve{name: s.Name, style: styleOf(i, s.Ink), steps: true, pieces: shares(values)}
		p.keys = append(p.keys, key{name: s.Name, style: curves[i].style, line: true})
	}
	p.empty = xs.n == 0
	p.x, p.y = spec.X.resolve(xs, 0.02), spec.Y.resolve(span{}, 0)
	p.draw = func(f *frame) {
		for _, c := range curves {
			c.drawShares(f)
		}
	}
	return p.chart(spec.Head, "distribution functions", names(spec.Samples, func(s Sample) string { return s.Name }))
}

// shares are the points of a distribution function: at each value the share of
// those at or below it.
func shares(sorted []float64) [][][2]float64 {
	if len(sorted) == 0 {
		return nil
	}
	var line [][2]float64
	for i, v := range sorted {
		if i+1 < len(sorted) && sorted[i+1] == v {
			continue
		}
		line = append(line, [2]float64{v, float64(i+1) / float64(len(sorted))})
	}
	return [][][2]float64{line}
}

// drawShares draws a distribution function from the lowest value to the
// highest. What is beyond is left to the eye: lines along the frame would cover
// each other.
func (c curve) drawShares(f *frame) {
	if len(c.pieces) == 0 {
		return
	}
	first := c.pieces[0][0]
	line := []pt{{clampPlace(f.px(first[0])), f.box.y1}}
	for _, v := range c.pieces[0] {
		line = append(line, f.place(v[0], v[1]))
	}
	line = stepped(thinLine(line))
	f.s.begin(clean(c.name))
	f.s.stroke(pen{c.style.colour, 1, 1.6, c.style.dash}, cutLine(line, f.box))
	f.s.end()
}

// Histogram draws bars whose area is the share of the values within, so that
// densities can be laid over it. On a logarithmic axis the bins are of equal
// width as drawn, and so is the area: the density is that of the decimal
// logarithm of x, and Curves must be given as such.
func Histogram(spec HistogramSpec) Chart {
	if spec.Y.Label == "" {
		spec.Y.Label = "density"
	}
	p := &plot{marks: spec.Marks}
	all := sortedValues(spec.Values, spec.X, &p.skipped)
	values := lists.Filter(all, spec.X.inRange)
	var xs, ys, ignored span
	if len(values) > 0 {
		xs.add(values[0], values[len(values)-1])
		if spec.Least > 0 && !spec.X.Kind.log() {
			lo, wide, n := widened(values, spec.Least)
			xs.add(lo, lo+float64(n)*wide)
		}
	}
	st := styleOf(0, 0)
	if spec.Name != "" {
		p.keys = append(p.keys, key{name: spec.Name, style: st, tile: histogramStrength})
	}
	var curves []curve
	for i, s := range spec.Curves {
		if err := s.check(); err != nil {
			return Chart{err: err}
		}
		k := s.prepare(i+1, spec.X, spec.Y, false, &ignored, &ys, &p.skipped)
		curves = append(curves, k)
		p.keys = append(p.keys, key{name: s.Name, style: k.style, line: true, dot: s.Markers, band: s.Lo != nil})
	}
	x := spec.X.resolve(xs, 0.03)
	bins := binsOf(values, len(all), x, spec.Least)
	for _, b := range bins {
		if b.density > 0 {
			ys.add(b.density)
		}
	}
	if ys.n > 0 && !spec.Y.Kind.log() {
		ys.add(0)
	}
	p.empty = len(values) == 0
	p.x, p.y = x, spec.Y.resolve(ys, 0.06)
	p.draw = func(f *frame) {
		drawBins(f, bins, st)
		drawCurves(f, curves)
	}
	return p.chart(spec.Head, "a histogram of "+format.WithCommas(len(all), "value"), names(spec.Curves, func(s Series) string { return s.Name }))
}

const histogramStrength = 0.45

type bin struct{ from, to, density float64 } // from and to as axis.at returns

// binsOf counts values in bins of equal width on the axis. Density is the share
// of all values over the width, which is at least that on an axis that is not logarithmic.
func binsOf(sorted []float64, all int, x axis, least float64) []bin {
	if len(sorted) == 0 {
		return nil
	}
	at := lists.Map(sorted, x.at)
	lo, hi := at[0], at[len(at)-1]
	n := binCount(at)
	if lo == hi {
		half := (x.hi - x.lo) / 20
		lo, hi = lo-half, hi+half
	}
	wide := (hi - lo) / float64(n)
	if least > 0 && !x.Kind.log() {
		lo, wide, n = widened(at, least)
	}
	out := make([]bin, n)
	for i := range out {
		out[i].from, out[i].to = lo+float64(i)*wide, lo+float64(i+1)*wide
	}
	for _, v := range at {
		out[max(0, min(n-1, int((v-lo)/wide)))].density++
	}
	for i := range out {
		out[i].density /= float64(all) * wide
	}
	return out
}

// widened are bins of sorted values no narrower than least: where the first begins, their
// width and their number. The first begins at a multiple of least.
func widened(sorted []float64, least float64) (lo, wide float64, n int) {
	lo, hi := math.Floor(sorted[0]/least)*least, sorted[len(sorted)-1]
	wide = max(least, (hi-lo)/float64(binCount(sorted)))
	return lo, wide, max(1, int(math.Ceil((hi-lo)/wide)))
}

// binCount is the number of bins for sorted values: one if they are all the same,
// else by the rule of Freedman and Diaconis (1981) within bounds.
func binCount(sorted []float64) int {
	const fewest, usual, most = 5, 20, 120
	reach := sorted[len(sorted)-1] - sorted[0]
	width := 2 * (stats.Quantile(sorted, 0.75) - stats.Quantile(sorted, 0.25)) / math.Cbrt(float64(len(sorted)))
	switch {
	case reach == 0:
		return 1
	case width <= 0:
		return usual
	case reach/width >= most:
		return most
	}
	return max(fewest, int(math.Ceil(reach/width)))
}

func drawBins(f *frame, bins []bin, st style) {
	px := func(at float64) float64 { return f.box.x0 + (at-f.x.lo)/(f.x.hi-f.x.lo)*f.box.w() }
	base := f.box.y1
	if !f.y.Kind.log() {
		base = math.Min(f.box.y1, clampPlace(f.py(0)))
	}
	var rings [][]pt
	for _, b := range bins {
		if b.density == 0 {
			continue
		}
		y := math.Max(f.box.y0, clampPlace(f.py(b.density)))
		r := rect{math.Max(f.box.x0, px(b.from)), y, math.Min(f.box.x1, px(b.to)), base}
		if r.w() > 0 && r.h() > 0 {
			rings = append(rings, r.ring())
		}
	}
	f.s.fill(st.colour, histogramStrength, rings)
	edges := lists.Map(rings, func(r []pt) []pt { return append(append([]pt{}, r...), r[0]) })
	if len(rings) > 0 {
		gap := math.Min(0.8, 0.1*(rings[0][1].x-rings[0][0].x))
		f.s.stroke(pen{paper, 1, gap, nil}, edges)
	}
}
