package chart

import (
	"math"
	"sort"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// column is the width, in points, within which points of a line are thinned: a
// pixel of a screen with two pixels a point.
const column = 0.5

// few is the number of points that need no thinning.
const few = 400

// thinLine keeps of each column the first, the lowest, the highest and the last
// point, in their order: that is all a line through the column can show (Jugel,
// Jerzak, Hackenbroich and Markl, "M4", VLDB 2014).
func thinLine(line []pt) []pt {
	if len(line) < few {
		return line
	}
	var out []pt
	for i := 0; i < len(line); {
		c := math.Floor(line[i].x / column)
		first, low, high, last := i, i, i, i
		for ; i < len(line) && math.Floor(line[i].x/column) == c; i++ {
			if line[i].y < line[low].y {
				low = i
			}
			if line[i].y > line[high].y {
				high = i
			}
			last = i
		}
		kept := []int{first, min(low, high), max(low, high), last}
		for k, at := range kept {
			if k == 0 || at != kept[k-1] {
				out = append(out, line[at])
			}
		}
	}
	return out
}

// thinBand keeps the outermost edges of each column. top has the smaller y.
func thinBand(top, bottom []pt) ([]pt, []pt) {
	if len(top) < few {
		return top, bottom
	}
	var tops, bottoms []pt
	for i := 0; i < len(top); {
		c := math.Floor(top[i].x / column)
		x, hi, lo := top[i].x, top[i].y, bottom[i].y
		for ; i < len(top) && math.Floor(top[i].x/column) == c; i++ {
			hi, lo = math.Min(hi, top[i].y), math.Max(lo, bottom[i].y)
		}
		tops, bottoms = append(tops, pt{x, hi}), append(bottoms, pt{x, lo})
	}
	return tops, bottoms
}

// thinDots keeps one of the points that would cover one another: those in the same
// square of so many points of width. stand is how many points each of them stands
// for.
func thinDots(at []pt, cell float64) (kept []pt, stand []int) {
	seen := make(map[[2]int]int)
	for _, p := range at {
		key := [2]int{int(math.Floor(p.x / cell)), int(math.Floor(p.y / cell))}
		i, known := seen[key]
		if !known {
			i = len(kept)
			seen[key] = i
			kept, stand = append(kept, p), append(stand, 0)
		}
		stand[i]++
	}
	return kept, stand
}

// order returns the indices of x from left to right; equal ones stay as given.
func order(x []float64) []int {
	index := lists.Indices(len(x))
	if !sort.Float64sAreSorted(x) {
		sort.SliceStable(index, func(i, j int) bool { return x[index[i]] < x[index[j]] })
	}
	return index
}

// stepped turns a line into steps: each value holds until the next point.
func stepped(line []pt) []pt {
	if len(line) == 0 {
		return nil
	}
	out := make([]pt, 0, 2*len(line))
	out = append(out, line[0])
	for i := 1; i < len(line); i++ {
		if line[i].y != line[i-1].y {
			out = append(out, pt{line[i].x, line[i-1].y})
			out = append(out, line[i])
		} else if i == len(line)-1 {
			out = append(out, line[i])
		}
	}
	return out
}

// cut clips the line from a to b to r (Liang and Barsky, 1984).
func cut(a, b pt, r rect) (pt, pt, bool) {
	t0, t1 := 0.0, 1.0
	dx, dy := b.x-a.x, b.y-a.y
	for _, e := range [4][2]float64{{-dx, a.x - r.x0}, {dx, r.x1 - a.x}, {-dy, a.y - r.y0}, {dy, r.y1 - a.y}} {
		p, q := e[0], e[1]
		switch {
		case p == 0 && q < 0:
			return a, b, false
		case p < 0:
			t0 = math.Max(t0, q/p)
		case p > 0:
			t1 = math.Min(t1, q/p)
		}
	}
	if t0 > t1 {
		return a, b, false
	}
	p, q := a, b
	if t0 > 0 {
		p = pt{a.x + t0*dx, a.y + t0*dy}
	}
	if t1 < 1 {
		q = pt{a.x + t1*dx, a.y + t1*dy}
	}
	return p, q, true
}

// cutLine clips a line to r. What leaves and comes back becomes two lines. A line
// along the edge stays, on whichever side of it rounding has put it.
func cutLine(line []pt, r rect) [][]pt {
	r = rect{r.x0 - edgeTolerance, r.y0 - edgeTolerance, r.x1 + edgeTolerance, r.y1 + edgeTolerance}
	var out [][]pt
	var now []pt
	for i := 1; i < len(line); i++ {
		p, q, ok := cut(line[i-1], line[i], r)
		if !ok {
			if now != nil {
				out, now = append(out, now), nil
			}
			continue
		}
		if now != nil && now[len(now)-1] != p {
			out, now = append(out, now), nil
		}
		if now == nil {
			now = []pt{p}
		}
		now = append(now, q)
	}
	if now != nil {
		out = append(out, now)
	}
	return out
}

// cutRing clips an area to r (Sutherland and Hodgman, 1974).
func cutRing(ring []pt, r rect) []pt {
	sides := []struct {
		in   func(pt) bool
		meet func(a, b pt) pt
	}{
		{func(p pt) bool { return p.x >= r.x0 }, func(a, b pt) pt { return atX(a, b, r.x0) }},
		{func(p pt) bool { return p.x <= r.x1 }, func(a, b pt) pt { return atX(a, b, r.x1) }},
		{func(p pt) bool { return p.y >= r.y0 }, func(a, b pt) pt { return atY(a, b, r.y0) }},
		{func(p pt) bool { return p.y <= r.y1 }, func(a, b pt) pt { return atY(a, b, r.y1) }},
	}
	for _, side := range sides {
		inside := true
		for _, p := range ring {
			inside = inside && side.in(p)
		}
		if inside {
			continue
		}
		var out []pt
		for i, b := range ring {
			a := ring[(i+len(ring)-1)%len(ring)]
			if side.in(a) != side.in(b) {
				out = append(out, side.meet(a, b))
			}
			if side.in(b) {
				out = append(out, b)
			}
		}
		ring = out
	}
	return ring
}

func atX(a, b pt, x float64) pt { return pt{x, a.y + (b.y-a.y)*(x-a.x)/(b.x-a.x)} }
func atY(a, b pt, y float64) pt { return pt{a.x + (b.x-a.x)*(y-a.y)/(b.y-a.y), y} }
