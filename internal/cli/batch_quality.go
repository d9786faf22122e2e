package cli

import (
	"io"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/wire"
)

// BatchActions is "throng batch actions".
type BatchActions struct{ One }

// Run shows them.
func (x *BatchActions) Run(c *Context, r *remote) error {
	all := []wire.QualityAction{}
	for after, first := "", true; first || after != ""; first = false {
		page, err := r.QualityActions(c.Ctx, x.ID, after)
		if err != nil {
			return err
		}
		all, after = append(all, page.Actions...), page.Next
	}
	return r.print(wire.QualityActions{Actions: all}, nil, func(w io.Writer) {
		if len(all) == 0 {
			say(w, "no rule has acted on anybody\n")
			return
		}
		for _, a := range all {
			what := actedAs[a.Kind] + weighing(": ", a.Weight)
			switch a.Kind {
			case string(engine.Train):
				what += ": " + clean(a.Text)
			case string(engine.Warn):
				what += ": " + clean(a.Text) + when(!a.SeenAt.IsZero(), " (read)")
			}
			say(w, "%d  %s  %s  %s\n", a.N, stamp(a.At), calledBy(a.Worker, clean(a.WorkerName)), what)
			say(w, "   rule %d, %s: %s\n", a.Rule, clean(a.When), engine.Figures(a.Figures))
			if !a.UndoneAt.IsZero() {
				say(w, "   undone %s%s\n", stamp(a.UndoneAt), when(a.UndoneBy != "", " by "+clean(a.UndoneBy)))
			}
		}
	})
}

// BatchUndo is "throng batch undo".
type BatchUndo struct {
	One
	N uint32 `arg:"" placeholder:"ACTION" help:"The action's number, as throng batch actions shows it."`
}

// Run undoes it.
func (x *BatchUndo) Run(c *Context, r *remote) error {
	err := r.UndoQualityAction(c.Ctx, x.ID, x.N)
	return r.tell(map[string]any{"batch": x.ID, "n": x.N}, err, "%s: action %d is undone; their figures begin at nothing\n", x.ID, x.N)
}
