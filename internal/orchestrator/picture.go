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

// Counts are what a picture of the run says of a node, the same as a table of its nodes.
func (v *View) Counts(node int) diagram.Counts {
	n := &v.Nodes[node]
	return diagram.Counts{
		In: v.Taken(node), Out: n.OK, Waiting: n.Waiting, Working: n.Working(), Held: n.Faults, Skipped: n.Skipped, Failed: n.Failed,
		State: string(n.State), Blocked: v.Blocked(node),
	}
}

// Picture draws the run as SVG: its steps, and where the items are.
func (v *View) Picture() []byte {
	d := diagram.Options{Counts: make([]diagram.Counts, len(v.Nodes))}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		d.Counts[i] = v.Counts(i)
		switch {
		case n.State != store.NodeRunning:
		case d.Counts[i].Blocked != "":
			d.Counts[i].State = "blocked"
		case n.HadEnough() != "":
			d.Counts[i].State = "had enough"
		case n.HasEnough():
			d.Counts[i].State = "has enough"
		case n.EndedEarly:
			d.Counts[i].State = "ended early"
		}
	}
	return diagram.Draw(v.Flow, d)
}
