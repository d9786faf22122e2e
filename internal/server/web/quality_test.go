package web

import (
	"encoding/json"
	"testing"

	"github.com/throng-dev/throng/crowd"
)

// ruled is a running batch, a rule of which has paused the first worker.
func (c *company) ruled(t testing.TB) crowd.BatchID {
	t.Helper()
	draft := c.req.get("/batches/new").want(200).form("/batches").set("name", "Ruled").set("tenant", "n1").set("kind", "choose_one").
		set("question", "Is ${name} a cat?").set("show", "photo | image | The photo").set("options", "yes | Yes\nno | No\n").
		sendFile("cats.csv", cats).want(200)
	settings := draft.URL.Path + "/settings"
	draft.form(settings).set("rule", "count").set("count", "1").set("reward", "0.10").set("quality", "answers > 0").press("then", "save").send().want(422, "is no rule: write CONDITION")
	p := draft.form(settings).set("rule", "count").set("count", "1").set("reward", "0.10").set("quality", "answers > 0 => pause\nanswers > 0 => weight 0.3").press("then", "launch").send().want(200, "Launched")
	id := batchOf(p)
	who := c.workers[0].principal()
	for range 20 {
		held := read(c.app.Work.Next(t.Context(), who, 0))(t)
		if held.Batch != id {
			read(c.app.Work.Skip(t.Context(), who, held.Assignment, 0))(t)
			continue
		}
		_, _, err := c.app.Work.Submit(t.Context(), who, held.Assignment, json.RawMessage(`"yes"`), false, 0)
		equal(t, err, nil)
		return id
	}
	t.Fatal("no task of the batch came")
	return 0
}
