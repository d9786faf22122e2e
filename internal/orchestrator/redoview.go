package orchestrator

import (
	"context"
	"fmt"
	"strings"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
)

// viewCorrected fills in which labels were corrected since they were used, and what became of that.
func (r *run) viewCorrected(ctx context.Context, v *View) error {
	byNode, err := r.o.correctedByNode(ctx, &r.kept, lists.Map(r.nodes, func(n *node) store.Node { return n.Node }))
	if err != nil {
		return err
	}
	for i, n := range byNode {
		v.Nodes[i].Corrected = n
		v.Corrected += n
	}
	v.RedoneAs, err = r.o.cfg.Store.RedoneAs(ctx, v.ID)
	return err
}

// Redoable reports whether the run can be done anew with the labels that were corrected in it.
func (v *View) Redoable() bool {
	return v.State == store.RunDone && v.Corrected > 0 && v.RedoneAs == 0 && !v.RedoDue && v.FilesDeletedAt.IsZero()
}

// CorrectedText says how many labels were corrected since the steps of the run used them, and at which
// steps; "": none was.
func (v *View) CorrectedText() string {
	if v.Corrected == 0 {
		return ""
	}
	var steps []string
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Corrected > 0 {
			steps = append(steps, fmt.Sprintf("%d of %s", n.Corrected, n.Name))
		}
	}
	them := "them"
	if v.Corrected == 1 {
		them = "it"
	}
	return fmt.Sprintf("%s corrected since steps used %s (%s)", were(v.Corrected), them, strings.Join(steps, ", "))
}

// CorrectedRemedy says what becomes of corrected labels, or why nothing does; "": there are none, or nothing is
// known against it that somebody does the run anew, if it is Redoable.
func (v *View) CorrectedRemedy() string {
	switch {
	case v.Corrected == 0:
		return ""
	case v.RedoneAs != 0:
		return fmt.Sprintf("the run was done anew as %s; what was corrected since is taken over when that is done anew", v.RedoneAs)
	case !v.State.Ended() && v.Flow.Redo:
		return "the run is done anew with them when it is done"
	case !v.State.Ended():
		return "its steps keep what they made of the labels before; it can be done anew with them when it is done"
	case v.RedoDue:
		return "the run is about to be done anew with them"
	case v.State == store.RunCancelled:
		return "a run that goes on from this one takes them over"
	case !v.FilesDeletedAt.IsZero():
		return "its rows were deleted, so that it cannot be done anew"
	case v.RedoError != "":
		return "it could not be done anew: " + v.RedoError
	}
	return ""
}
