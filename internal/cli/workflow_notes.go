package cli

import (
	"io"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/wire"
)

// showStepNotes prints, below the table of a run's steps, what is to be known of each.
func showStepNotes(w io.Writer, r *wire.Run) {
	for i := range r.Nodes {
		if n := &r.Nodes[i]; n.Reused > 0 {
			again := "--ask-again has people asked again"
			if r.From != "" { // what comes before that step is taken over whole
				again = "--from " + clean(n.Name) + " --ask-again has people asked again"
			}
			if r.AskAgain {
				again = "the run began after it; --from " + clean(n.Name) + " has people asked again here, too"
			}
			say(w, "%s: %s taken over from %s (%s)\n", clean(n.Name), format.Count(int(n.Reused), "label"), r.Parent, again)
		}
		if n := &r.Nodes[i]; n.Enough != "" {
			say(w, "%s: had enough, %s: it asks nobody, and what comes is skipped\n", clean(n.Name), n.Enough)
		}
		if n := &r.Nodes[i]; n.HasEnough {
			say(w, "%s: %s\n", clean(n.Name), crowd.EnoughLabels.Text())
		}
		if n := &r.Nodes[i]; n.EndedEarly {
			say(w, "%s\n", endedEarly(n, r))
		}
		if n := &r.Nodes[i]; n.Error != "" && n.State == "failed" {
			say(w, "%s\n", clean(n.Name+": "+n.Error))
		}
		if n := &r.Nodes[i]; n.Service != nil && n.Service.Text != "" {
			say(w, "%s\n", clean(n.Name+": "+n.Service.Text))
		}
	}
}
