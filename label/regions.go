package label

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/stats"
)

// Regions labels tasks whose answers are lists of marked regions, spans of a text or boxes
// in a picture, written as JSON:
//
//	[{"label":"city","start":4,"end":10}]
//	[{"label":"bird","x":10,"y":20,"width":50,"height":40}]
//
// Regions with the same label from different workers that overlap by Overlap or more
// (intersection over union), the most alike first, are one group with at most one region
// of each worker. A group of more than half of the workers who answered the task is in the
// label, each side being the median of its regions' sides. The confidence of a label is
// the mean, over its groups and those left out, of the share of workers who are on the
// winning side; 1 where all agree that there is nothing.
//
// Gold is not used. The usual overlap of .5 is that of the PASCAL visual object classes
// challenge (Everingham et al. 2010).
type Regions struct{ Overlap float64 } // more than 0, to 1

// DefaultRegions returns the overlap of .5.
func DefaultRegions() Regions { return Regions{.5} }

// Name returns "regions".
func (Regions) Name() string { return "regions" }

// UsesGold returns false.
func (Regions) UsesGold() bool { return false }

// Takes returns Marks.
func (Regions) Takes() Answers { return Marks }

// region is a span, or a box.
type region struct {
	Label string   `json:"label,omitempty"`
	Start *float64 `json:"start,omitempty"`
	End   *float64 `json:"end,omitempty"`
	X     *float64 `json:"x,omitempty"`
	Y     *float64 `json:"y,omitempty"`
	Width *float64 `json:"width,omitempty"`
	High  *float64 `json:"height,omitempty"`
	Votes int      `json:"votes,omitempty"` // of a label: who marked it
}

// sides returns the least and greatest of each dimension, one of a span and two of a box.
func (r *region) sides() [][2]float64 {
	if r.Start != nil {
		return [][2]float64{{*r.Start, *r.End}}
	}
	return [][2]float64{{*r.X, *r.X + *r.Width}, {*r.Y, *r.Y + *r.High}}
}

// Check refuses an answer that is no list of regions.
func (Regions) Check(label string) error {
	_, err := regionsOf(label)
	return err
}

func regionsOf(answer string) (list []region, err error) {
	dec := json.NewDecoder(bytes.NewReader([]byte(answer)))
	if err := dec.Decode(&list); err != nil || list == nil || dec.More() {
		return nil, crowd.Errorf(crowd.Invalid, `%.80q is not a JSON list of regions, such as [{"label":"city","start":4,"end":10}]`, answer)
	}
	for n := range list {
		r := &list[n]
		span, box := r.Start != nil && r.End != nil, r.X != nil && r.Y != nil && r.Width != nil && r.High != nil
		if span == box {
			return nil, crowd.Errorf(crowd.Invalid, "region %d of %.80q has not start and end, or x, y, width and height", n+1, answer)
		}
		for _, side := range r.sides() {
			if !(side[1] > side[0]) {
				return nil, crowd.Errorf(crowd.Invalid, "region %d of %.80q is empty: its end must be greater than its start", n+1, answer)
			}
		}
	}
	return list, nil
}

// overlap returns the intersection over the union of two regions, 0 if they are not of a
// kind.
func overlap(a, b *region) float64 {
	x, y := a.sides(), b.sides()
	if a.Label != b.Label || len(x) != len(y) {
		return 0
	}
	both, sizeA, sizeB := 1.0, 1.0, 1.0
	for n := range x {
		both *= max(0, min(x[n][1], y[n][1])-max(x[n][0], y[n][0]))
		sizeA *= x[n][1] - x[n][0]
		sizeB *= y[n][1] - y[n][0]
	}
	return both / (sizeA + sizeB - both)
}

// maxRegions bounds the regions of one task: they are compared by pairs.
const maxRegions = 5000

// Fit groups the regions. O(Σ r_i² log r_i) for r_i regions at a task.
func (m Regions) Fit(d *Dataset, gold Truth) (*Result, error) {
	if !(m.Overlap > 0 && m.Overlap <= 1) {
		return nil, crowd.Fieldf("overlap", "must be more than 0 and at most 1, not %v", m.Overlap)
	}
	if err := gold.validFor(d); err != nil {
		return nil, err
	}
	r := &Result{Data: d, Method: m.Name(), Converged: true, values: make([]string, len(d.tasks)), confidence: make([]float64, len(d.tasks))}
	r.pickAll() // what most marked alike stands for a label where a class is needed
	clear(r.Ties)
	for i, task := range d.tasks {
		groups, err := m.groups(d, i)
		if err != nil {
			return nil, err
		}
		workers, _ := d.Answers(i)
		label, agree, all := []region{}, 0.0, 0.0
		for _, g := range groups {
			share := float64(len(g)) / float64(len(workers))
			agree += max(share, 1-share)
			all++
			if share > .5 {
				label = append(label, medianRegion(g))
			}
			r.Ties[i] = r.Ties[i] || share == .5
		}
		if all == 0 {
			agree, all = 1, 1
		}
		text, err := json.Marshal(label)
		if err != nil {
			return nil, crowd.Errorf(crowd.Invalid, "task %q: %v", task, err)
		}
		r.values[i], r.confidence[i] = string(text), agree/all
	}
	return r, nil
}

// marked is a region with who marked it.
type marked struct {
	region
	worker int32
}

// groups groups the regions of a task, in the order of their first sides.
func (m Regions) groups(d *Dataset, task int) ([][]marked, error) {
	workers, labels := d.Answers(task)
	var all []marked
	for n, j := range workers {
		list, err := regionsOf(d.classes[labels[n]])
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			all = append(all, marked{r, j})
		}
	}
	if len(all) > maxRegions {
		return nil, crowd.Errorf(crowd.TooLarge, "task %q has %d regions, too many to be compared: at most %d", d.tasks[task], len(all), maxRegions)
	}
	type pair struct {
		a, b  int
		alike float64
	}
	var pairs []pair
	for a := range all {
		for b := range a {
			if all[a].worker == all[b].worker {
				continue
			}
			if alike := overlap(&all[a].region, &all[b].region); alike >= m.Overlap {
				pairs = append(pairs, pair{b, a, alike})
			}
		}
	}
	slices.SortStableFunc(pairs, func(x, y pair) int { return cmp.Compare(y.alike, x.alike) })
	group := make([]int, len(all)) // of each region
	members := make([][]marked, len(all))
	for n, r := range all {
		group[n], members[n] = n, []marked{r}
	}
	for _, p := range pairs {
		a, b := group[p.a], group[p.b]
		if a == b || shareWorker(members[a], members[b]) {
			continue
		}
		members[a] = append(members[a], members[b]...)
		members[b] = nil
		for n := range group {
			if group[n] == b {
				group[n] = a
			}
		}
	}
	members = slices.DeleteFunc(members, func(g []marked) bool { return g == nil })
	slices.SortStableFunc(members, func(x, y []marked) int {
		return cmp.Or(slices.Compare(firstSides(x), firstSides(y)), cmp.Compare(x[0].Label, y[0].Label))
	})
	return members, nil
}

func firstSides(g []marked) (list []float64) {
	for _, side := range g[0].sides() {
		list = append(list, side[0])
	}
	return list
}

func shareWorker(a, b []marked) bool {
	return slices.ContainsFunc(a, func(x marked) bool {
		return slices.ContainsFunc(b, func(y marked) bool { return x.worker == y.worker })
	})
}

// medianRegion returns the region with the median of each side, and how many marked it.
func medianRegion(g []marked) region {
	median := func(dimension, end int) float64 {
		list := make([]float64, len(g))
		for n := range g {
			list[n] = g[n].sides()[dimension][end]
		}
		return stats.Quantile(list, .5)
	}
	out := region{Label: g[0].Label, Votes: len(g)}
	low, high := median(0, 0), median(0, 1)
	if g[0].Start != nil {
		out.Start, out.End = &low, &high
		return out
	}
	top := median(1, 0)
	width, height := high-low, median(1, 1)-top
	out.X, out.Y, out.Width, out.High = &low, &top, &width, &height
	return out
}

var _ Method = Regions{}
