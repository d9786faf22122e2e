package web

import (
	"net/http"
	"net/url"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/work"
)

// reviseData is the page of an answer that its worker may revise.
type reviseData struct {
	*work.Revisable
	Task *taskData
}

// revisePage shows an answer of the worker's that counts, with its task, so that they give another one in its place.
func (rq *request) revisePage() error {
	id, err := crowd.ParseAssignmentID(rq.r.PathValue("assignment"))
	if err != nil {
		return err
	}
	return rq.showRevise(id, nil, nil)
}

// showRevise shows the answer, or what was typed in its place and is refused.
func (rq *request) showRevise(id crowd.AssignmentID, values url.Values, refused error) error {
	x, err := rq.App.Work.Revisable(rq.ctx(), rq.p, id)
	if err != nil {
		return err
	}
	view, frame := x.Template.Render(x.Values), ""
	if view.Framed() {
		frame = "/work/revise/" + id.String() + "/frame"
	}
	task := newTask(view, frame)
	task.values, task.errs = values, problems(refused)
	if values == nil {
		task.values = formOf(x.Answer)
	}
	status := http.StatusOK
	if refused != nil {
		status = httpkit.Status(crowd.CodeOf(refused))
	}
	pg := page{Title: "Revise an answer", Section: "earnings", Task: true, Data: reviseData{x, task}}
	if frame != "" {
		pg.Script = "revise.js"
	}
	return rq.renderStatus(status, "revise", pg)
}

// revise puts another answer in the place of one that counts.
func (rq *request) revise() error {
	id, err := held(rq.r)
	if err != nil {
		return err
	}
	answer, err := answerOf(rq.r.PostForm)
	if err != nil {
		return err
	}
	_, err = rq.App.Work.Revise(rq.ctx(), rq.p, id, answer)
	switch crowd.CodeOf(err) {
	case crowd.Invalid, crowd.TooLarge, crowd.BudgetTooSmall:
		return rq.showRevise(id, rq.r.PostForm, err)
	}
	if err != nil {
		return err
	}
	return rq.seeOther("/work/earnings", "revised")
}

// reviseFrame is the requester's HTML of a task whose answer is revised.
func (rq *request) reviseFrame() error {
	id, err := crowd.ParseAssignmentID(rq.r.PathValue("assignment"))
	if err != nil {
		return err
	}
	x, err := rq.App.Work.Revisable(rq.ctx(), rq.p, id)
	if err != nil {
		return err
	}
	html, err := x.RenderHTML(rq.origin())
	if err != nil {
		return err
	}
	sendFrame(rq.w, html)
	return nil
}
