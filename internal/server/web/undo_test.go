package web

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/batches"
)

const undoForm = `{"kind": "form", "question": "Which ${thing}?", "label_field": "what", "fields": [{"name": "what"}, {"name": "sure", "type": "checkbox"},
	{"name": "where", "type": "checkbox", "options": [{"value": "a"}, {"value": "b"}]}, {"name": "legs", "type": "number"}]}`

// undoEffect: an answer is taken back by the button of the worker's page, whose form then has
// what they had answered.
func undoEffect(t *testing.T, c *company) {
	boss := c.req.principal()
	for _, other := range read(c.app.Batches.List(t.Context(), boss, 1, 0, 100))(t) { // so that they get this one
		if other.Progress.State == crowd.BatchRunning {
			read(c.app.Batches.Pause(t.Context(), boss, other.Spec.ID))(t)
			defer func() { read(c.app.Batches.Resume(t.Context(), boss, other.Spec.ID))(t) }()
		}
	}
	b := read(c.app.Batches.Create(t.Context(), boss, batches.NewBatch{Tenant: 1, Name: "forms", Template: []byte(undoForm), Reward: 10_000, Grace: time.Hour}))(t)
	read(c.app.Batches.Upload(t.Context(), boss, b.Spec.ID, strings.NewReader("thing\ncat\ndog\n"), batches.Upload{}))(t)
	read(c.app.Batches.Launch(t.Context(), boss, b.Spec.ID, true))(t)
	c.req.get("/batches/"+b.Spec.ID.String()).want(200, "answers may be taken back for 1 h")
	c.workers[0].get("/work").without("Undo")
	held := read(c.app.Work.Next(t.Context(), c.workers[0].principal(), 0))(t)
	equal(t, held.Batch, b.Spec.ID)
	after := c.workers[0].get("/work").form("/work/submit").set("s.what", "a <cat>").set("s.sure", "true").set("l.where", "b").send().want(200, "until then you may take it back", "Your last answer counts at")
	equal(t, c.stateOf(t, held.Batch, held.Assignment), crowd.Provisional)
	again := after.form("/work/undo").send().want(200, "You have taken your answer back").without("Your last answer counts")
	for name, want := range map[string]string{"assignment": held.Assignment.String(), "s.what": "a <cat>", "s.sure": "true", "l.where": "b", "s.legs": ""} {
		equal(t, again.form("/work/submit").values.Get(name), want)
	}
	equal(t, c.stateOf(t, held.Batch, held.Assignment), crowd.Assigned)
	equal(t, after.form("/work/undo").send().form("/work/submit").values.Get("assignment"), held.Assignment.String()) // from a page that was left open
	c.workers[0].post("/work/undo", url.Values{"assignment": {"a99.1"}}).want(200, "That answer can no longer be taken back")
	c.workers[0].get("/work").form("/work/submit").set("s.what", "a dog").set("l.where", "a").send().want(200, "until then")
	c.req.get("/batches/"+b.Spec.ID.String()).want(200, "that may be taken back")
	read(c.app.Batches.Cancel(t.Context(), boss, b.Spec.ID))(t)
	equal(t, c.stateOf(t, held.Batch, held.Assignment), crowd.Submitted)
	c.workers[0].get("/work").without("Undo")
}
