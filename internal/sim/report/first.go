package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/sim"
)

// first is what is kept of repetition 1 of a policy: what happened over time.
type first struct {
	batches []sim.BatchOutcome
	samples []sim.Sample // without the allocation
	layers  []layer      // the allocation
	took    [][]float64  // by batch: seconds from launch to completion, by repetition
}

// layer is how many people worked on a batch, or on all others, by sample.
type layer struct {
	name    string
	ink     int
	running []float64
}

// maxLayers is how many batches are shown one by one, where they are not all.
const maxLayers = 11

// The inks of batches, and that of all others: nothing else is as blue.
var batchInks = []int{2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 7}

const otherInk = 14

func newFirst(o *sim.Outcome) *first {
	f := &first{batches: o.Batches, samples: slices.Clone(o.Samples.List)}
	shown := shownBatches(o.Batches)
	place := make(map[int]int, len(shown))
	for i, k := range shown {
		place[k] = i
		f.layers = append(f.layers, layer{name: o.Batches[k].Name, ink: batchInks[i], running: make([]float64, len(f.samples))})
	}
	others := make([]float64, len(f.samples))
	for i := range f.samples {
		for _, a := range f.samples[i].Allocation {
			if at, ok := place[int(a.Batch)]; ok {
				f.layers[at].running[i] = float64(a.Running)
			} else {
				others[i] += float64(a.Running)
			}
		}
		f.samples[i].Allocation = nil
	}
	if n := len(o.Batches) - len(shown); n > 0 {
		f.layers = append(f.layers, layer{name: fmt.Sprintf("the other %d", n), ink: otherInk, running: others})
	}
	return f
}

// shownBatches are the largest batches, in order of arrival. They depend on the
// load only, so that every policy's picture shows the same ones in the same
// colours.
func shownBatches(list []sim.BatchOutcome) []int {
	order := lists.Indices(len(list))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(list[j].Tasks, list[i].Tasks) })
	order = order[:min(len(order), maxLayers)]
	slices.Sort(order)
	return order
}
