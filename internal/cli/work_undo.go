package cli

import (
	"context"
	"encoding/json"
	"io"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

// errNoUndo says that somebody has no answer to take back.
var errNoUndo = crowd.Errorf(crowd.NotFound, "there is no answer that you may take back: each counts by now")

// undoLast takes the worker's latest answer back.
func undoLast(ctx context.Context, c *client.Client) (wire.Undone, error) {
	list, err := c.Undoable(ctx)
	if err == nil && len(list) == 0 {
		err = errNoUndo
	}
	if err != nil {
		return wire.Undone{}, err
	}
	return c.Undo(ctx, list[0].Assignment)
}

// undo takes the last answer back, and puts its task in place of the one in hand.
func (w *working) undo() error {
	var undone wire.Undone
	err := w.outage.ask(w.ctx, func() (err error) {
		undone, err = undoLast(w.ctx, w.Client)
		return err
	})
	switch code := crowd.CodeOf(err); {
	case err == nil:
	case code == crowd.NotFound || code == crowd.Conflict:
		w.event("refused", refused(err), "%s\n", err)
		return errSkipped
	default:
		return err
	}
	w.held, w.answers, w.later = undone.Work, max(w.answers-1, 0), max(w.later-1, 0)
	w.event("undone", takenBack{undone.Work.Assignment, undone.Answer}, "taken back: %s\n", undone.Answer)
	w.show()
	return errSkipped
}

// takenBack is an answer that was taken back.
type takenBack struct {
	Assignment crowd.AssignmentID `json:"assignment"`
	Answer     json.RawMessage    `json:"answer"`
}

// WorkerUndo is "throng worker undo".
type WorkerUndo struct {
	Assignment *crowd.AssignmentID `arg:"" optional:"" placeholder:"ASSIGNMENT" help:"Which answer; default: your last one."`
	List       bool                `help:"Only show the answers that you may take back."`
	Remote
}

// Run takes the answer back.
func (x *WorkerUndo) Run(c *Context, r *remote) error {
	if x.List {
		if x.Assignment != nil {
			return wrong("list", "shows all of them: leave out which")
		}
		list, err := r.Undoable(c.Ctx)
		return r.print(wire.UndoableList{Answers: list}, err, func(w io.Writer) {
			if len(list) == 0 {
				say(w, "there is no answer that you may take back\n")
			}
			for _, u := range list {
				say(w, "%s  %s  %s  counts at %s\n", u.Assignment, u.Task, clean(u.Name), stamp(u.CountsAt))
			}
		})
	}
	var undone wire.Undone
	var err error
	if x.Assignment == nil {
		undone, err = undoLast(c.Ctx, r.Client)
	} else {
		undone, err = r.Undo(c.Ctx, *x.Assignment)
	}
	return r.print(undone, err, func(w io.Writer) {
		say(w, "you hold %s again, until %s: throng worker run\n", undone.Work.Task, stamp(undone.Work.ExpiresAt))
	})
}
