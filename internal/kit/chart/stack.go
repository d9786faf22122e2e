package chart

import (
	"fmt"
	"math"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// legendLimit is the number of layers that a reader can still find in a legend.
const legendLimit = 14

// Stack draws areas on top of each other. Up to 14 layers get a legend; of more,
// the SVG shows the name of the layer under the mouse.
func Stack(spec StackSpec) Chart {
	for _, l := range spec.Layers {
		if len(l.Y) != len(spec.At) {
			return Chart{err: fmt.Errorf("chart: layer %q has %d values, the stack has %d x", l.Name, len(l.Y), len(spec.At))}
		}
	}
	if spec.Y.Kind.log() {
		return Chart{err: fmt.Errorf("chart: a stack has no logarithmic axis of y: its areas would mean nothing")}
	}
	p := &plot{sideKeys: true}
	kept := lists.Filter(order(spec.At), func(i int) bool { return spec.X.Kind.accepts(spec.At[i], &p.skipped) })
	layers := spec.layers(kept, &p.skipped)
	at := make([]float64, len(kept))
	total := make([]float64, len(kept))
	var xs, ys span
	for k, i := range kept {
		at[k] = spec.At[i]
		for _, l := range layers {
			total[k] += l.y[k]
		}
		if spec.X.inRange(at[k]) {
			xs.add(at[k])
			ys.add(math.Min(total[k], widest))
		}
	}
	if ys.n > 0 {
		ys.add(0)
	}
	p.x, p.y = spec.X.resolve(xs, 0), spec.Y.resolve(ys, 0.05)
	p.empty = ys.n == 0 || len(layers) == 0
	if len(layers) <= legendLimit {
		for i := len(layers) - 1; i >= 0; i-- { // as they lie
			p.keys = append(p.keys, key{name: layers[i].name, style: layers[i].style, tile: 1})
		}
	}
	p.draw = func(f *frame) { drawStack(f, at, total, layers, spec.Stepped) }
	return p.chart(spec.Head, "stacked areas", names(spec.Layers, func(l Layer) string { return l.Name }))
}

type stackLayer struct {
	name  string
	y     []float64
	style style
}

// layers are the layers at the x that are kept.
func (spec StackSpec) layers(kept []int, seen *skips) []stackLayer {
	out := make([]stackLayer, len(spec.Layers))
	for n, l := range spec.Layers {
		st := styleOf(n, l.Ink)
		st.texture = 0
		out[n] = stackLayer{clean(l.Name), make([]float64, len(kept)), st}
		for k, i := range kept {
			if !finite(l.Y[i]) {
				seen.bad++
				continue
			}
			out[n].y[k] = math.Max(0, math.Min(l.Y[i], widest/1e6))
		}
	}
	return out
}

// drawStack paints the layers from the top one down, each from its upper edge
// to the axis: areas that overlap leave no seams between them.
func drawStack(f *frame, at, total []float64, layers []stackLayer, steps bool) {
	wide := 1.0
	if len(layers) > 40 {
		wide = 2 // hundreds of edges: half as many places on each
	}
	columns := columnsOf(f, at, wide)
	sums := make([]float64, len(columns))
	edges, runs := make([][]pt, len(layers)), make([][][2]int, len(layers))
	for n, l := range layers {
		edge := make([]pt, len(columns))
		seen := make([]bool, len(columns))
		for k, c := range columns {
			mean := 0.0
			for i := c.from; i < c.to; i++ {
				mean += l.y[i] / float64(c.to-c.from)
			}
			sums[k] += mean
			seen[k] = mean > 0
			edge[k] = pt{c.x, clampPlace(f.py(sums[k]))}
		}
		edges[n], runs[n] = edge, runsOf(seen)
	}
	base := clampPlace(f.py(0))
	for n := len(layers) - 1; n >= 0; n-- {
		var rings, rims [][]pt
		for _, run := range runs[n] {
			edge := edges[n][run[0]:run[1]]
			if steps {
				edge = stepped(edge)
			}
			first, last := edge[0], edge[len(edge)-1]
			ring := append(append([]pt{}, edge...), pt{last.x, base}, pt{first.x, base})
			if len(columns) == 1 { // one moment: a bar
				ring = rect{first.x - 6, first.y, first.x + 6, base}.ring()
			}
			if ring = cutRing(ring, f.box); len(ring) > 2 {
				rings = append(rings, ring)
			}
			if !jagged(edge) {
				rims = append(rims, cutLine(edge, f.box)...)
			}
		}
		f.s.begin(layers[n].name)
		f.s.fill(layers[n].style.colour, 1, rings)
		if len(layers) <= 40 && n < len(layers)-1 {
			f.s.stroke(pen{paper, 1, 0.7, nil}, rims)
		}
		f.s.end()
	}
	line := make([]pt, len(at))
	for i := range at {
		line[i] = f.place(at[i], total[i])
	}
	if line = thinLine(line); steps {
		line = stepped(line)
	}
	f.s.stroke(pen{ink, 0.8, 0.6, nil}, cutLine(line, f.box))
}

// jagged reports whether an edge turns so often that a rim along it would hide its
// layer.
func jagged(edge []pt) bool {
	const every = 2 // points
	turns := 0
	for i := 1; i < len(edge); i++ {
		if edge[i].y != edge[i-1].y {
			turns++
		}
	}
	return every*float64(turns) > edge[len(edge)-1].x-edge[0].x
}

// runsOf returns the runs of columns in which a layer can be seen, each with one
// more column at both ends: of hundreds of layers most are empty most of the time.
func runsOf(seen []bool) [][2]int {
	var out [][2]int
	for i := 0; i < len(seen); i++ {
		if !seen[i] {
			continue
		}
		from := max(0, i-1)
		for i < len(seen) && seen[i] {
			i++
		}
		to := min(len(seen), i+1)
		if last := len(out) - 1; last >= 0 && out[last][1] >= from {
			out[last][1] = to
		} else {
			out = append(out, [2]int{from, to})
		}
	}
	return out
}

// columnOf is a run of points that share a column of the picture.
type columnOf struct {
	x        float64
	from, to int
}

func columnsOf(f *frame, at []float64, wide float64) []columnOf {
	var out []columnOf
	if len(at) < 400 {
		wide = 0 // each point for itself
	}
	last := math.NaN()
	for i, v := range at {
		x := clampPlace(f.px(v))
		c := float64(i)
		if wide > 0 {
			c = math.Floor(x / wide)
		}
		if c != last {
			out = append(out, columnOf{x, i, i})
			last = c
		}
		out[len(out)-1].to = i + 1
	}
	if len(out) > 1 {
		out[len(out)-1].x = clampPlace(f.px(at[len(at)-1])) // the areas end where the data does
	}
	return out
}
