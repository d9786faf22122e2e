package web

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/throng-dev/throng/internal/server/work"
)

// TestReviewPages: how labels are reviewed is said on the draft's page; the reviewer sees the label
// and the answers and accepts it by one button, and what came of it is on the batch's pages.
func TestReviewPages(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	draft := c.req.get("/batches/new").want(200).form("/batches").set("name", "Looked at").set("tenant", "n1").set("kind", "choose_one").
		set("question", "Is ${name} a cat?").set("show", "photo | image | The photo").set("options", "yes | Yes\nno | No\n").
		sendFile("cats.csv", cats).want(200)
	settings := draft.URL.Path + "/settings"
	draft.form(settings).set("rule", "count").set("count", "1").set("reward", "0.10").set("priority", "100").set("review", "1").set("review.reward", "0.20").press("then", "save").send().want(422, "picks no label")
	p := draft.form(settings).set("rule", "count").set("count", "1").set("reward", "0.10").set("priority", "100").set("review", "1").set("review.share", "1").set("review.reward", "0.20").set("review.priority", "100").
		press("then", "launch").send().want(200, "Launched", "labels are reviewed in")
	id := batchOf(p)
	who, other := c.workers[0].principal(), c.workers[1]
	answered := 0
	for range 20 {
		held := read(c.app.Work.Next(t.Context(), who, 0))(t)
		if held.Batch == id {
			answered++
		}
		_, _, err := c.app.Work.Submit(t.Context(), who, held.Assignment, json.RawMessage(`"yes"`), false, 0)
		if err != nil {
			t.Fatal(err)
		}
		if answered > 0 {
			break
		}
	}
	path := fmt.Sprintf("/batches/%s", id)
	in := read(c.app.Batches.Get(t.Context(), c.req.principal(), id))(t).ReviewedIn
	c.req.get(path).want(200, "1 waiting")
	c.req.get(fmt.Sprintf("/batches/%s", in)).want(200, "Reviews of Looked at", "reviews labels of").without("More tasks, with the columns")
	c.req.get(path+"/results").want(200, "review waits", "Waiting for review 1")

	reviewing := false
	for range 30 {
		held := read(c.app.Work.Next(t.Context(), other.principal(), 0))(t)
		if held.IsReview {
			reviewing = true
			break
		}
		if _, _, err := c.app.Work.Submit(t.Context(), other.principal(), held.Assignment, json.RawMessage(`"no"`), false, 0); err != nil {
			t.Fatal(err)
		}
	}
	if !reviewing {
		t.Fatal("no review came")
	}
	work := other.get("/work").want(200, "Others have answered this", "Accept the label", "1 person")
	for _, f := range work.all("form") { // the first of the two that submit
		if attr(f, "action") == "/work/submit" {
			work.sheetOf(f).send().want(200)
			break
		}
	}
	c.req.get(path).want(200, "1 accepted")
	c.req.get(path+"/results?q=reviewed:yes").want(200, "1 task", "Reviewed 1")
	held := read(c.app.Results.Task(t.Context(), c.req.principal(), id.Task(1), ""))(t)
	if held.Row.Review == nil || held.Row.Review.State != "accepted" {
		t.Fatalf("the review is %+v", held.Row.Review)
	}
	c.req.get(path+"/results/1").want(200, "Review: accepted", "one of a random share", fmt.Sprintf("t%d.1", in))
}

// TestSendBackPages: a reviewer sends the label back by a form of the task's page, which keeps what was typed where that is
// refused; the comment is on the page of the task, and above the task for somebody else.
func TestSendBackPages(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 3)
	draft := c.req.get("/batches/new").want(200).form("/batches").set("name", "Sent back").set("tenant", "n1").set("kind", "choose_one").
		set("question", "Is ${name} a cat?").set("show", "photo | image | The photo").set("options", "yes | Yes\nno | No\n").
		sendFile("cats.csv", cats).want(200)
	settings := draft.URL.Path + "/settings"
	p := draft.form(settings).set("rule", "count").set("count", "1").set("reward", "0.10").set("priority", "100").set("budget", "5").set("review", "1").set("review.share", "1").set("review.reward", "0.20").set("review.priority", "100").
		press("then", "launch").send().want(200, "Launched")
	id := batchOf(p)
	var held *work.HeldTask
	next := func(i int, want func(*work.HeldTask) bool) {
		t.Helper()
		for held = read(c.app.Work.Next(t.Context(), c.workers[i].principal(), 0))(t); !want(held); {
			held = read(c.app.Work.Skip(t.Context(), c.workers[i].principal(), held.Assignment, 0))(t)
			if held == nil {
				t.Fatal("nothing like that comes")
			}
		}
	}
	next(0, func(h *work.HeldTask) bool { return h.Batch == id })
	task := held.Task
	if _, _, err := c.app.Work.Submit(t.Context(), c.workers[0].principal(), held.Assignment, json.RawMessage(`"yes"`), false, 0); err != nil {
		t.Fatal(err)
	}
	next(1, func(h *work.HeldTask) bool { return h.IsReview })
	sends := func(comment string) *sheet {
		t.Helper()
		at := c.workers[1].get("/work").want(200, "Send the label back", "What has to be looked at?")
		for _, f := range at.all("form") {
			if x := at.sheetOf(f); attr(f, "action") == "/work/submit" && len(x.values["send_back"]) > 0 {
				return x.set("send_back", comment)
			}
		}
		t.Fatal("there is no form to send the label back")
		return nil
	}
	sends("  ").send().want(422, "say what whoever gets the task next has to look at")
	sends("Look at <the> ears.\u202e").send().want(422, "Look at <the> ears.", "cannot be seen")
	sends("Look at <the> ears.").send().want(200)
	path := fmt.Sprintf("/batches/%s", id)
	c.req.get(path).want(200, "1 sent-back")
	c.req.get(path+"/results?q=review:sent-back").want(200, "1 task", "sent back")
	c.req.get(fmt.Sprintf("%s/results/%d", path, task.N())).want(200, "Review: sent-back", "Sent back by", "Look at <the> ears.")
	next(2, func(h *work.HeldTask) bool { return h.Task == task })
	c.workers[2].get("/work").want(200, "From a reviewer", "Look at <the> ears.")
	c.workers[0].get("/work").want(200).without("ears.")
	c.workers[1].get("/work").want(200).without("ears.")
}
