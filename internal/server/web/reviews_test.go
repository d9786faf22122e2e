package web

import (
	"encoding/json"
	"fmt"
	"testing"
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
