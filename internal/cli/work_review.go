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
		say(w, "b TEXT sends what they made of it back\n")
		return
	}
	for _, a := range x.Answers {
		say(w, "  %s: %s\n", format.Count(a.People, "person"), a.Label)
	}
	say(w, "The label is %q%s%s\n", x.Label, when(x.Corrected, ", as somebody has corrected it"), when(x.Acceptable, " (a: accept it)"))
	say(w, "b TEXT sends it back\n")
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

// sentBack sends the label back that the task reviews, with a comment, without being an error.
type sentBack struct{ comment string }

func (sentBack) Error() string { return "sent back" }

// isVerdict reports whether a review is done without an answer.
func isVerdict(err error) bool {
	var back sentBack
	return errors.Is(err, errAccepted) || errors.As(err, &back)
}

// sendBack is sentBack if the task in hand is a review, else nil.
func (w *working) sendBack(comment string) error {
	if w.held != nil && w.held.IsReview {
		return sentBack{comment}
	}
	return nil
}

// staysHeld reports whether a label could not be sent back, and the review is still in the reviewer's hands.
func staysHeld(err error) bool {
	var wrong *crowd.Error
	return errors.As(err, &wrong) && wrong.Field == "send_back"
}

// send sends an answer, or what a verdict says of the label that the task reviews.
func (w *working) send(id crowd.AssignmentID, raw json.RawMessage, verdict error, more bool) (wire.Outcome, *wire.Work, error) {
	var back sentBack
	switch {
	case errors.As(verdict, &back):
		return w.SendLabelBack(w.ctx, id, back.comment, more, 0)
	case verdict != nil:
		return w.Accept(w.ctx, id, more, 0)
	}
	return w.Submit(w.ctx, id, raw, more, 0)
}

// from says whose the reply is that stands above a task.
func from(h *wire.Work) string {
	if h.ByReviewer {
		return "a reviewer"
	}
	return "the requester"
}
