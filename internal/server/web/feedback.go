package web

import (
	"github.com/throng-dev/throng/crowd"
)

// feedback tells a worker whether their answer to a task for training was right, and why.
func (rq *request) feedback() error {
	id, err := crowd.ParseAssignmentID(rq.r.PathValue("assignment"))
	if err != nil {
		return err
	}
	f, err := rq.App.Work.Feedback(rq.ctx(), rq.p, id)
	switch {
	case err != nil && crowd.CodeOf(err) != crowd.NotFound:
		return err
	case f == nil: // whether it is somebody else's is not told
		return crowd.Errorf(crowd.NotFound, "you have not answered such a task for training")
	}
	return rq.render("feedback", page{Title: f.Name, Section: "work", Data: f})
}
