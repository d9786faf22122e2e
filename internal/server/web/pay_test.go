package web

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/throng-dev/throng/crowd"
)

// TestPayOnThePages: a requester approves and refuses what is ticked, or all of one worker; a worker
// sees what becomes of their pay, and appeals; somebody else decides.
func TestPayOnThePages(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	other := c.as(t, c.boss, "olga", func(f *sheet) { f.set("tenants", "n1") })
	draft := c.req.get("/batches/new").want(200).form("/batches").set("name", "Paid later").set("tenant", "n1").set("kind", "choose_one").
		set("question", "Is ${name} a cat?").set("show", "photo | image | The photo").set("options", "yes | Yes\nno | No\n").
		sendFile("cats.csv", cats+"Tom,tom.png,\n").want(200)
	settings := draft.URL.Path + "/settings"
	draft.form(settings).set("rule", "count").set("count", "1").set("reward", "0.10").set("approval.within", "1000").press("then", "save").send().want(422, "is not between 1s and 30 days")
	draft.form(settings).set("rule", "count").set("count", "1").set("reward", "0.10").set("approval.appeal", "3").press("then", "save").send().want(422, "is not between 1s and 30 days")
	p := draft.form(settings).set("rule", "count").set("count", "1").set("reward", "0.10").set("approval.within", "72").press("then", "launch").send().want(200, "Launched", "pay is approved within 3 days")
	id := batchOf(p)
	var given []crowd.AssignmentID
	who := c.workers[0].principal()
	for held := read(c.app.Work.Next(t.Context(), who, 0))(t); held != nil; held = read(c.app.Work.Next(t.Context(), who, 0))(t) {
		_, _, err := c.app.Work.Submit(t.Context(), who, held.Assignment, json.RawMessage(`"yes"`), false, 0)
		equal(t, err, nil)
		given = append(given, held.Assignment)
	}
	equal(t, len(given), 4)
	path := "/batches/" + id.String() + "/pay"
	w := c.workers[0]

	w.get("/work/earnings").want(200, "Awaits approval", "What becomes of it")
	w.get("/work/pay").want(200, "Paid later", "awaits approval").without("Why the refusal is wrong")
	c.req.get("/batches/"+id.String()).want(200, "Pay that is held", "Pay to decide", "Spent 0.00")
	c.req.get("/batches").want(200, "0.00 spent, 0.40 held")
	c.req.get(path).want(200, given[0].String(), "awaits approval", "Approve and pay")
	c.req.post(path, url.Values{"do": {"approve"}}).want(422, "Tick the answers")
	c.req.post(path, url.Values{"do": {"refuse"}, "assignment": {given[1].String()}, "reason": {" "}}).want(422, "Is missing: say why")
	c.req.get(path).form(path).set("assignment", given[3].String()).set("reason", "Once.").press("do", "refuse").send().want(200, "Refused. The worker reads why")
	c.req.get(path+"?state=refused").form(path).set("assignment", given[3].String()).press("do", "approve").send().want(200, "Approved, and paid.")
	c.req.post(path, url.Values{"do": {"refuse"}, "assignment": {given[3].String()}, "reason": {"No <b>cat</b>."}}).want(409, "is paid already", "No <b>cat</b>.")
	c.req.post(path, url.Values{"do": {"refuse"}, "assignment": {given[1].String(), given[2].String()}, "reason": {"No <b>cat</b>."}}).want(200, "Refused. The worker reads why")
	name := c.pseudonym(t, w)
	c.req.get("/batches/"+id.String()+"/workers/"+name).want(200, "approve or refuse pay")
	c.req.get(path+"?worker="+name).want(200, "All of this worker that await approval")
	c.req.post(path, url.Values{"do": {"approve"}, "all": {"1"}, "worker": {name}}).want(200, "Approved, and paid.", "There is none.")
	c.req.get(path+"?state=refused").want(200, "No <b>cat</b>.", "refused by rita", "may be appealed until").without(given[0].String())
	c.req.get(path+"?state=paid").want(200, given[0].String()).without(given[1].String())

	w.get("/work/pay?state=refused").want(200, "No <b>cat</b>.", "refused", "Appeal").without("rita")
	w.post("/work/pay", url.Values{"assignment": {given[0].String()}, "text": {"It is."}}).want(409, "it is paid already")
	w.post("/work/pay", url.Values{"assignment": {given[1].String()}, "text": {""}}).want(422, "is missing: say why")
	w.post("/work/pay", url.Values{"assignment": {given[1].String()}, "text": {"Behind the <i>chair</i>."}}).want(200, "Your appeal is in.", "Behind the <i>chair</i>.")
	w.post("/work/pay", url.Values{"assignment": {given[2].String()}, "text": {"And there."}}).want(200, "Your appeal is in.")
	w.post("/work/pay", url.Values{"assignment": {given[2].String()}, "text": {"Once more."}}).want(409, "you have appealed already")
	c.workers[1].post("/work/pay", url.Values{"assignment": {given[2].String()}, "text": {"x"}}).want(404)

	c.req.get("/appeals").want(200, "Behind the <i>chair</i>.", "No <b>cat</b>.", "You have refused it: somebody else decides.").without("Your decision")
	c.req.post("/appeals", url.Values{"assignment": {given[1].String()}, "text": {"So it is."}, "do": {"grant"}}).want(403, "You have refused this pay yourself")
	other.get("/appeals").want(200, "Behind the <i>chair</i>.", "It stays refused").without("You have refused it")
	other.post("/appeals", url.Values{"assignment": {given[1].String()}, "text": {""}, "do": {"grant"}}).want(422, "is missing: say why")
	other.post("/appeals", url.Values{"assignment": {given[1].String()}, "text": {"So it is."}, "do": {"grant"}}).want(200, "Paid.", "And there.").without("Behind the")
	other.post("/appeals", url.Values{"assignment": {given[2].String()}, "text": {"I see none."}, "do": {"uphold"}}).want(200, "It stays refused, and the money has gone back", "No appeal waits to be decided")
	w.get("/work/pay").want(200, "I see none.", "not paid", "So it is.").without("olga")
	c.req.get(path+"?state=returned").want(200, "I see none.", "decided by olga")

	b := c.view(t, id)
	equal(t, [3]crowd.Money{b.Paid(), b.Held(), b.PayReturned}, [3]crowd.Money{crowd.Money(len(given)-1) * crowd.Unit / 10, 0, crowd.Unit / 10})

	c.launchCats("Cats")
	c.req.get("/batches/b2/pay").want(200, "This batch pays answers when they count")
}
