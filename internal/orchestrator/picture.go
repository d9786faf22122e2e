package orchestrator

import (
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/diagram"
)

// Taken returns how many items a node has taken.
func (v *View) Taken(node int) int64 {
	n := &v.Nodes[node]
	if n.Step == nil || !n.Step.MakesItems() {
		return n.Last - n.split.made - n.gone + max(n.Inside, n.Faults)
	}
	in := int64(0)
	if n.State == store.NodeDone { // it looks at all rows at once
		for _, s := range n.Step.From {
			in += v.Nodes[s.Node].OK
		}
	}
	return in
}

// Picture draws the run as SVG: its steps, and where the items are.
func (v *View) Picture() []byte {
	d := diagram.Options{Counts: make([]diagram.Counts, len(v.Nodes))}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		d.Counts[i] = diagram.Counts{In: v.Taken(i), Out: n.OK, Waiting: n.Waiting + n.Inside, Failed: n.Failed + n.Faults, State: string(n.State)}
	}
	return diagram.Draw(v.Flow, d)
}
