package diagram

import (
	"cmp"
	"slices"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/workflow"
)

// A layout puts boxes into layers, by the longest path from an input, so that
// every edge goes forward; an edge over several layers has a lane of its own in
// those between. Along is the direction in which edges go, across is the other.
type layout struct {
	layers [][]*spot
	boxes  []*spot // by node
	edges  []route
}

// spot is a box or a piece of a lane.
type spot struct {
	node       int // -1: of a lane
	layer      int
	size       float64 // across
	center     float64 // across
	before     []*spot
	behind     []*spot
	order, sum float64
}

// route is the path of an edge: the source's box, lanes, the step's box.
type route struct {
	source workflow.Source
	to     int
	spots  []*spot
}

const (
	spaceBox  = 26.0 // between what stands side by side
	spaceLane = 12.0
	maxLanes  = 4000 // pieces; above that, edges are drawn straight
)

// arrange makes a layout of a workflow whose boxes have the given sizes across.
func arrange(w *workflow.Workflow, sizes []float64) *layout {
	l := &layout{}
	level := make([]int, w.Nodes())
	deepest := 0
	for i := range w.Steps {
		s := &w.Steps[i]
		for _, from := range s.From {
			level[s.Node] = max(level[s.Node], level[from.Node]+1)
		}
		deepest = max(deepest, level[s.Node])
	}
	// An input stands right before the first step that reads it.
	for n := range w.Inputs {
		first := deepest
		for i := range w.Steps {
			for _, from := range w.Steps[i].From {
				if from.Node == n {
					first = min(first, level[w.Steps[i].Node]-1)
				}
			}
		}
		level[n] = max(first, 0)
	}
	l.layers = make([][]*spot, deepest+1)
	for n, size := range sizes {
		l.boxes = append(l.boxes, l.add(&spot{node: n, layer: level[n], size: size}))
	}
	l.connect(w)
	l.sort()
	l.place()
	return l
}

func (l *layout) add(s *spot) *spot {
	l.layers[s.layer] = append(l.layers[s.layer], s)
	return s
}

// connect finds the routes of the edges. Edges of one kind from one source share
// their lane.
func (l *layout) connect(w *workflow.Workflow) {
	pieces := 0
	type lane struct {
		node int
		edge workflow.Edge
	}
	lanes := map[lane][]*spot{}
	for i := range w.Steps {
		to := l.boxes[w.Steps[i].Node]
		for _, from := range w.Steps[i].From {
			source := l.boxes[from.Node]
			r := route{source: from, to: to.node, spots: []*spot{source}}
			shared := lanes[lane{from.Node, from.Edge}]
			for layer := source.layer + 1; layer < to.layer && pieces < maxLanes; layer++ {
				k := layer - source.layer - 1
				if k == len(shared) {
					s := l.add(&spot{node: -1, layer: layer, size: 1})
					link(r.spots[len(r.spots)-1], s)
					shared = append(shared, s)
					pieces++
				}
				r.spots = append(r.spots, shared[k])
			}
			lanes[lane{from.Node, from.Edge}] = shared
			link(r.spots[len(r.spots)-1], to)
			r.spots = append(r.spots, to)
			l.edges = append(l.edges, r)
		}
	}
}

func link(a, b *spot) { a.behind, b.before = append(a.behind, b), append(b.before, a) }

// sort orders each layer so that few edges cross: each spot goes to the mean
// place of its neighbours, forwards and backwards in turn.
// Source: Sugiyama, Tagawa, Toda 1981, the barycenter method.
func (l *layout) sort() {
	l.number()
	best, least := l.orders(), l.crossings()
	for round := range 12 {
		forward := round%2 == 0
		for i := range l.layers {
			layer := l.layers[i]
			if !forward {
				layer = l.layers[len(l.layers)-1-i]
			}
			for _, s := range layer {
				near := s.before
				if !forward {
					near = s.behind
				}
				s.sum = s.order
				if len(near) > 0 {
					s.sum = 0
					for _, n := range near {
						s.sum += n.order / float64(len(near))
					}
				}
			}
			slices.SortStableFunc(layer, func(a, b *spot) int { return cmp.Compare(a.sum, b.sum) })
			for j, s := range layer {
				s.order = float64(j)
			}
		}
		if n := l.crossings(); n < least {
			best, least = l.orders(), n
		}
	}
	l.layers = best
	l.number()
}

func (l *layout) number() {
	for _, layer := range l.layers {
		for j, s := range layer {
			s.order = float64(j)
		}
	}
}

func (l *layout) orders() [][]*spot {
	return lists.Map(l.layers, slices.Clone)
}

// crossings counts the pairs of edges between neighbouring layers that cross:
// sorted by where they begin, those that end in the wrong order.
func (l *layout) crossings() int {
	n := 0
	for _, layer := range l.layers {
		var ends []float64
		for _, s := range layer {
			from := len(ends)
			for _, b := range s.behind {
				ends = append(ends, b.order)
			}
			slices.Sort(ends[from:])
		}
		n += inversions(ends, make([]float64, len(ends)))
	}
	return n
}

// inversions sorts a list by merging, and counts the pairs that stood in the wrong
// order.
func inversions(list, room []float64) int {
	if len(list) < 2 {
		return 0
	}
	half := len(list) / 2
	left, right := list[:half], list[half:]
	n := inversions(left, room[:half]) + inversions(right, room[half:])
	out := room[:0]
	for len(left) > 0 && len(right) > 0 {
		if left[0] <= right[0] {
			out, left = append(out, left[0]), left[1:]
			continue
		}
		out, right = append(out, right[0]), right[1:]
		n += len(left)
	}
	copy(list, append(append(out, left...), right...))
	return n
}

// place finds the centers, so that each spot is near the mean of its neighbours
// and nothing overlaps.
func (l *layout) place() {
	for _, layer := range l.layers {
		at := 0.0
		for i, s := range layer {
			if i > 0 {
				at += apart(layer[i-1], s)
			}
			s.center = at
		}
		middle := at / 2
		for _, s := range layer {
			s.center -= middle
		}
	}
	for round := range 16 {
		for i := range l.layers {
			layer := l.layers[i]
			if round%2 == 1 {
				layer = l.layers[len(l.layers)-1-i]
			}
			settle(layer, round)
		}
	}
	low := 0.0
	for _, layer := range l.layers {
		for _, s := range layer {
			low = min(low, s.center-s.size/2)
		}
	}
	for _, layer := range l.layers {
		for _, s := range layer {
			s.center -= low
		}
	}
}

// apart is how far the centers of two neighbours must be from each other.
func apart(a, b *spot) float64 {
	space := spaceBox
	if a.node < 0 || b.node < 0 {
		space = spaceLane
	}
	return (a.size+b.size)/2 + space
}

// settle moves the spots of a layer to where they want to be, as near as their
// order and their sizes allow: the least squares under these bounds, by pooling
// neighbours that would overlap.
func settle(layer []*spot, round int) {
	type block struct {
		sum, weight float64 // of wanted places, less the offsets
		from        int
	}
	offset := make([]float64, len(layer))
	var blocks []block
	for i, s := range layer {
		if i > 0 {
			offset[i] = offset[i-1] + apart(layer[i-1], s)
		}
		wanted, weight := s.wanted(round)
		b := block{(wanted - offset[i]) * weight, weight, i}
		for len(blocks) > 0 {
			last := blocks[len(blocks)-1]
			if last.sum/last.weight < b.sum/b.weight {
				break
			}
			b = block{last.sum + b.sum, last.weight + b.weight, last.from}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	for k, b := range blocks {
		end := len(layer)
		if k+1 < len(blocks) {
			end = blocks[k+1].from
		}
		for i := b.from; i < end; i++ {
			layer[i].center = b.sum/b.weight + offset[i]
		}
	}
}

// wanted is where a spot would like to be. Lanes pull more, so that they are straight.
func (s *spot) wanted(round int) (place, weight float64) {
	near := s.before
	if round%2 == 1 {
		near = s.behind
	}
	if round >= 12 || len(near) == 0 {
		near = slices.Concat(s.before, s.behind)
	}
	if len(near) == 0 {
		return s.center, 1
	}
	weight = 1
	if s.node < 0 {
		weight = 4
	}
	for _, n := range near {
		place += n.center / float64(len(near))
	}
	return place, weight
}
