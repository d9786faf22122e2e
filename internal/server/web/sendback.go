package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/work"
)

// sendBackField is the field of a comment with which a label is sent back.
const sendBackField = "send_back"

// commit commits what was sent from the page of a task: an answer, or a comment with which the label is sent back.
func (rq *request) commit(id crowd.AssignmentID, answer json.RawMessage, values url.Values, next bool) (out engine.Outcome, err error) {
	if values.Has(sendBackField) {
		out, _, err = rq.App.Work.SendBack(rq.ctx(), rq.p, id, values.Get(sendBackField), next, 0)
	} else {
		out, _, err = rq.App.Work.Submit(rq.ctx(), rq.p, id, answer, next, 0)
	}
	return out, err
}

// isSendBack reports whether a label could not be sent back, and the reviewer has to say something else.
func isSendBack(err error) bool {
	var wrong *crowd.Error
	return errors.As(err, &wrong) && wrong.Field == sendBackField
}

// sendBackProblems takes what is wrong with a comment out of what is wrong with a form.
func sendBackProblems(list []*crowd.Error) (refused string, rest []*crowd.Error) {
	for _, e := range list {
		if e.Field == sendBackField {
			refused = sentence(e.Message)
		}
	}
	return refused, slices.DeleteFunc(list, func(e *crowd.Error) bool { return e.Field == sendBackField })
}

// commentOf is the comment that was typed into the form of a review, or taken back.
func commentOf(w *work.HeldTask, values url.Values) string {
	if !w.IsReview {
		return ""
	}
	return cmp.Or(values.Get(sendBackField), values.Get("s."+sendBackField))
}
