package workflow

import (
	"slices"

	"github.com/throng-dev/throng/sla"
)

// Plan returns the shape of an item's path, for predictions: step i of the plan is
// Steps[i]. Inputs take no time, so they are not part of it. A fork is two steps
// after the same one, a join is a step after two, and a condition is a step that
// may be skipped; predictions take the latest branch.
func (w *Workflow) Plan() *sla.Plan {
	after := make([][]int, len(w.Steps))
	for i := range w.Steps {
		for _, from := range w.Steps[i].From {
			if j := from.Node - len(w.Inputs); j >= 0 {
				after[i] = append(after[i], j)
			}
		}
		slices.Sort(after[i])
	}
	p, err := sla.NewPlan(after)
	if err != nil {
		panic("workflow: steps are not in order: " + err.Error()) // Parse puts them in order
	}
	return p
}

// Text returns the file that was parsed.
func (w *Workflow) Text() []byte { return slices.Clone(w.text) }

// NodeName returns the name of a node.
func (w *Workflow) NodeName(node int) string {
	if node < len(w.Inputs) {
		return w.Inputs[node].Name
	}
	return w.Steps[node-len(w.Inputs)].Name
}

// Step returns the step of a node, or nil if it is an input.
func (w *Workflow) Step(node int) *Step {
	if i := node - len(w.Inputs); i >= 0 && i < len(w.Steps) {
		return &w.Steps[i]
	}
	return nil
}

// Columns returns the columns of a node's rows, and whether it may have others,
// too (see Input.Open).
func (w *Workflow) Columns(node int) (columns []Column, open bool) {
	if s := w.Step(node); s != nil {
		return s.Columns, s.Open
	}
	i := &w.Inputs[node]
	return i.Columns, i.Open()
}
