package orchestrator

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/store"
)

// hiddenError stands in for an error that may quote what is in rows.
const hiddenError = "why is shown to who may see results"

// WithoutContents returns the view as it is for those who see how far a run is, and not
// what is in its rows: errors of steps that have failed may quote those.
func (v *View) WithoutContents(now time.Time) *View {
	failed := func(n NodeView) bool { return n.State == store.NodeFailed }
	if !slices.ContainsFunc(v.Nodes, failed) {
		return v
	}
	out := *v
	out.Nodes = slices.Clone(v.Nodes)
	for i := range out.Nodes {
		if n := &out.Nodes[i]; failed(*n) {
			n.Error = hiddenError
		}
	}
	out.Outlook = out.outlook(now)
	return &out
}
