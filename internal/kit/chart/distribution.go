package chart

import (
	"fmt"
	"math"
	"strconv"
)

// CDF draws empirical distribution functions in panels that share their axes.
func CDF(spec CDFSpec) Chart {
	if spec.Y.Label == "" {
		spec.Y.Label, spec.Y.Kind = "share at or below", Percent
	}
	if spec.Y.Min >= spec.Y.Max && !spec.Y.Kind.log() {
		spec.Y.Min, spec.Y.Max = 0, 1
	}
	c := Chart{head: spec.Head, columns: spec.Columns}
	var common span
	places := map[string]int{} // the same name looks the same in each panel
	sorted := make([][][]float64, len(spec.Panels))
	skipped := make([]skips, len(spec.Panels))
	for i, panel := range spec.Panels {
		for _, s := range panel.Samples {
			if _, known := places[s.Name]; !known {
				places[s.Name] = len(places)
			}
			v := seenValues(s.Values, spec.X, &skipped[i])
			if len(v) > 0 {
				common.add(v[0])
				common.add(v[len(v)-1])
			}
			sorted[i] = append(sorted[i], v)
		}
	}
	for i, panel := range spec.Panels {
		p := &plot{marks: spec.Marks, skipped: skipped[i], gridX: true}
		var own span
		var curves []curve
		for n, s := range panel.Samples {
			st := styleOf(places[s.Name], s.Ink)
			v := sorted[i][n]
			if len(v) > 0 {
				own.add(v[0])
				own.add(v[len(v)-1])
			}
			curves = append(curves, curve{name: s.Name, style: st, steps: true, pieces: shares(v)})
			p.keys = append(p.keys, key{name: s.Name, style: st, line: true})
		}
		p.empty = own.n == 0
		if !spec.Own {
			own = common
		}
		p.x, p.y = spec.X.settle(own, 0.02), spec.Y.settle(span{}, 0)
		p.draw = func(f *frame) {
			for _, c := range curves {
				c.drawShares(f)
			}
		}
		child := Chart{head: Head{Title: panel.Name}, plot: p}
		child.about = describe("distribution functions", p, names(panel.Samples, func(s Sample) string { return s.Name }))
		c.panels = append(c.panels, child)
	}
	n := len(c.panels)
	if n == 0 {
		return c
	}
	columns := c.columnsFor(n)
	rows := (n + columns - 1) / columns
	c.usual = Size{math.Min(720, 220+210*float64(columns)), 80 + 210*float64(rows)}
	if n == 1 {
		c.usual = Size{600, 340}
	}
	c.usual.Height = math.Min(c.usual.Height, largest)
	c.about = c.panels[0].about
	if n > 1 {
		c.about = fmt.Sprintf("%d panels. %s", n, c.about)
	}
	return c
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
	line := []pt{{near(f.px(first[0])), f.box.y1}}
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
	c := Chart{head: spec.Head, usual: Size{560, 320}}
	p := &plot{marks: spec.Marks}
	all := seenValues(spec.Values, spec.X, &p.skipped)
	values := all[:0:0]
	for _, v := range all {
		if spec.X.within(v) {
			values = append(values, v)
		}
	}
	var xs, ys, ignored span
	if len(values) > 0 {
		xs.add(values[0])
		xs.add(values[len(values)-1])
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
	x := spec.X.settle(xs, 0.03)
	bins := binsOf(values, len(all), spec.Bins, x)
	for _, b := range bins {
		if b.density > 0 {
			ys.add(b.density)
		}
	}
	if ys.n > 0 && !spec.Y.Kind.log() {
		ys.add(0)
	}
	p.empty = len(values) == 0
	p.x, p.y = x, spec.Y.settle(ys, 0.06)
	p.draw = func(f *frame) {
		drawBins(f, bins, st)
		for _, c := range curves {
			c.drawBand(f)
		}
		for _, c := range curves {
			c.draw(f)
		}
	}
	c.plot = p
	c.about = describe("a histogram of "+plural(len(all), "value"), p, names(spec.Curves, func(s Series) string { return s.Name }))
	return c
}

const histogramStrength = 0.45

type bin struct{ from, to, density float64 } // from and to as axis.at returns

// binsOf counts values in bins of equal width on the axis. Density is the share
// of all values over the width.
func binsOf(sorted []float64, all, n int, x axis) []bin {
	if len(sorted) == 0 {
		return nil
	}
	at := make([]float64, len(sorted))
	for i, v := range sorted {
		at[i] = x.at(v)
	}
	lo, hi := at[0], at[len(at)-1]
	if lo == hi {
		half := (x.hi - x.lo) / 20
		lo, hi, n = lo-half, hi+half, 1
	}
	const most = 120
	if n <= 0 {
		wide := 2 * (quantile(at, 0.75) - quantile(at, 0.25)) / math.Cbrt(float64(len(at)))
		n = most
		if wide > 0 && (hi-lo)/wide < most {
			n = max(5, int(math.Ceil((hi-lo)/wide)))
		} else if wide <= 0 {
			n = 20
		}
	}
	n = min(n, 1000)
	wide := (hi - lo) / float64(n)
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

func drawBins(f *frame, bins []bin, st style) {
	px := func(at float64) float64 { return f.box.x0 + (at-f.x.lo)/(f.x.hi-f.x.lo)*f.box.w() }
	base := f.box.y1
	if !f.y.Kind.log() {
		base = math.Min(f.box.y1, near(f.py(0)))
	}
	var rings [][]pt
	for _, b := range bins {
		if b.density == 0 {
			continue
		}
		y := math.Max(f.box.y0, near(f.py(b.density)))
		r := rect{math.Max(f.box.x0, px(b.from)), y, math.Min(f.box.x1, px(b.to)), base}
		if r.w() > 0 && r.h() > 0 {
			rings = append(rings, r.ring())
		}
	}
	f.s.fill(st.colour, histogramStrength, rings)
	var edges [][]pt
	for _, r := range rings {
		edges = append(edges, append(append([]pt{}, r...), r[0]))
	}
	if len(rings) > 0 {
		gap := math.Min(0.8, 0.1*(rings[0][1].x-rings[0][0].x))
		f.s.stroke(pen{paper, 1, gap, nil}, edges)
	}
}

// QQ draws the quantiles of samples over those of a distribution, and the line
// on which they would be equal. Of a big sample it draws 400 quantiles, closer
// together towards both ends.
func QQ(spec QQSpec) Chart {
	c := Chart{head: spec.Head, usual: Size{420, 400}}
	p := &plot{gridX: true}
	var both span
	clouds := make([]cloud, len(spec.Samples))
	for i, s := range spec.Samples {
		if s.Quantile == nil {
			return Chart{err: fmt.Errorf("chart: sample %s has no Quantile", strconv.Quote(s.Name))}
		}
		v := seenValues(s.Values, spec.Y, &p.skipped)
		k := cloud{Points: Points{Name: s.Name}, style: styleOf(i, s.Ink), size: 2}
		for _, share := range quantileShares(len(v)) {
			x, y := s.Quantile(share), quantile(v, (share*float64(len(v))-0.5)/math.Max(1, float64(len(v)-1)))
			if !spec.X.Kind.sees(x, &p.skipped) {
				continue
			}
			k.shown = append(k.shown, len(k.X))
			k.X, k.Y = append(k.X, x), append(k.Y, y)
			both.add(x)
			both.add(y)
		}
		clouds[i] = k
		p.keys = append(p.keys, key{name: s.Name, style: k.style, dot: true})
	}
	p.empty = both.n == 0
	p.x, p.y = spec.X.settle(both, 0.05), spec.Y.settle(both, 0.05)
	p.draw = func(f *frame) {
		drawClouds(f, clouds, spec.X, spec.Y)
		if both.n > 0 {
			f.s.stroke(pen{ink, 1, 1, []float64{4, 3}}, cutLine([]pt{f.place(both.lo, both.lo), f.place(both.hi, both.hi)}, f.box))
		}
	}
	c.plot = p
	c.about = describe("quantiles against quantiles", p, names(spec.Samples, func(s QQSample) string { return s.Name }))
	return c
}

// quantileShares are the shares at which n values are held against a
// distribution: (i-1/2)/n for each if they are few, else a choice of these that
// lies closer together at the ends, where fits fail.
func quantileShares(n int) []float64 {
	const most = 400
	var out []float64
	last := -1
	for i := range min(n, most) {
		k := i
		if n > most {
			t := (float64(i) + 0.5) / most
			k = int(math.Floor((1 - math.Cos(math.Pi*t)) / 2 * float64(n)))
			switch i {
			case 0:
				k = 0
			case most - 1:
				k = n - 1
			}
		}
		if k = max(0, min(n-1, k)); k != last {
			out = append(out, (float64(k)+0.5)/float64(n))
			last = k
		}
	}
	return out
}
