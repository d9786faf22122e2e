package cli

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/wire"
)

// showReview prints what a reviewer sees of the label that their task reviews.
func showReview(w io.Writer, h *wire.Work) {
	if !h.IsReview {
		return
	}
	say(w, "This is a review of what others have answered.\n")
	x := h.Review
	if x == nil {
		return
	}
	for _, a := range x.Answers {
		say(w, "  %s: %s\n", format.Count(a.People, "person"), a.Label)
	}
	say(w, "The label is %q%s%s\n", x.Label, when(x.Corrected, ", as somebody has corrected it"), when(x.Acceptable, " (a: accept it)"))
}

// errAccepted answers a task with the label that it reviews, without being an error.
var errAccepted = errors.New("accepted")

// accept is errAccepted if the task in hand reviews a label that can be accepted as it stands, else nil.
func (w *working) accept() error {
	if w.held != nil && w.held.Review != nil && w.held.Review.Acceptable {
		return errAccepted
	}
	return nil
}

// send sends an answer, or that the label is right which the task reviews.
func (w *working) send(id crowd.AssignmentID, raw json.RawMessage, accepts, more bool) (wire.Outcome, *wire.Work, error) {
	if accepts {
		return w.Accept(w.ctx, id, more, 0)
	}
	return w.Submit(w.ctx, id, raw, more, 0)
}
