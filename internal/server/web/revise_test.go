package web

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/batches"
)

// reviseEffect: an answer that counts is revised from the page of earnings, by a form that has what was answered; its page
// has what was answered before, and the label follows.
func reviseEffect(t *testing.T, c *company) {
	boss := c.req.principal()
	for _, other := range read(c.app.Batches.List(t.Context(), boss, 1, 0, 100))(t) { // so that they get this one
		if other.Progress.State == crowd.BatchRunning {
			read(c.app.Batches.Pause(t.Context(), boss, other.Spec.ID))(t)
			defer func() { read(c.app.Batches.Resume(t.Context(), boss, other.Spec.ID))(t) }()
		}
	}
	b := read(c.app.Batches.Create(t.Context(), boss, batches.NewBatch{Tenant: 1, Name: "slips", Template: []byte(undoForm), Reward: 10_000, Revise: time.Hour}))(t)
	read(c.app.Batches.Upload(t.Context(), boss, b.Spec.ID, strings.NewReader("thing\ncat\ndog\n"), batches.Upload{}))(t)
	read(c.app.Batches.Launch(t.Context(), boss, b.Spec.ID, true))(t)
	c.req.get("/batches/"+b.Spec.ID.String()).want(200, "answers that count may be revised for 1 h")
	held := read(c.app.Work.Next(t.Context(), c.workers[0].principal(), 0))(t)
	equal(t, held.Batch, b.Spec.ID)
	path := "/work/revise/" + held.Assignment.String()
	c.workers[0].get(path).want(409, "there is no answer to revise")
	c.workers[0].get("/work").form("/work/submit").set("s.what", "a <cat>").set("s.sure", "true").set("l.where", "b").send().want(200, "Your answer is in")
	c.workers[0].get("/work/earnings").want(200, `Revise`)
	form := c.workers[0].get(path).want(200, "What you give here takes its place").form("/work/revise")
	for name, want := range map[string]string{"assignment": held.Assignment.String(), "s.what": "a <cat>", "s.sure": "true", "l.where": "b", "s.legs": ""} {
		equal(t, form.values.Get(name), want)
	}
	c.workers[0].get(path).form("/work/revise").set("s.what", "a dog").set("s.legs", "many").send().want(422, "is not a number")
	form.set("s.what", "a dog").send().want(200, "Your new answer is in place of the one before", "revised")
	form.send().want(200, "Your new answer is in place") // from a page that was left open: the same again
	c.req.get("/batches/"+b.Spec.ID.String()+"/results/"+held.Task.String()[strings.Index(held.Task.String(), ".")+1:]).want(200, "a dog", "revised their answer 1 time", "at first", "a <cat>")
	c.workers[1].get(path).want(404)
	c.workers[1].post("/work/revise", url.Values{"assignment": {held.Assignment.String()}, "s.what": {"x"}}).want(404)
	read(c.app.Batches.Cancel(t.Context(), boss, b.Spec.ID))(t)
	c.workers[0].get(path).want(409, "has ended")
	c.workers[0].get("/work/earnings").without("/work/revise/")
}
