package web

import (
	"net/http"
	"net/url"
	"testing"
)

// TestDelimiters: each form with a file takes what stands between its cells, and its page
// tells what was found.
func TestDelimiters(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	const cats, found = "name;photo;_gold\nTom;1.png;yes\n", "Between the cells of the file stood: ;"
	b := batchOf(c.req.get("/batches/new").form("/batches").set("name", "Cats").set("tenant", "n1").set("question", "A cat?").sendFile("cats.csv", cats).want(200, found, "1 task").without("<code>_gold"))
	page := "/batches/" + b.String()
	c.req.get(page).form(page+"/upload").set("delimiter", "|").sendFile("cats.csv", cats).
		want(http.StatusUnprocessableEntity, "has the name of the column _gold within its own")
	c.req.get(page).form(page+"/upload").set("delimiter", ";").sendFile("cats.csv", cats).want(200, found)
	c.launchCats("Others")
	c.req.post("/batches/b2/topup", url.Values{"amount": {"5"}}).want(200)
	c.req.get("/batches/b2").form("/batches/b2/tasks").set("delimiter", ";").sendFile("more.csv", "name;photo\nTom;1.png\n").want(200, "The tasks are added. "+found)

	c.req.get("/runs/new").form("/runs").set("tenant", "n1").set("text", flowOfCats).press("then", "make").send().want(200).at("/runs/r1")
	c.req.get("/runs/r1").form("/runs/r1/inputs").set("delimiter", ";").sendFile("cats.csv", "name;more\nTom;1\n").want(200, "The files are in. "+found)
	c.req.post("/runs/r1/do", url.Values{"do": {"start"}}).want(200)
	c.req.get("/runs/r1").form("/runs/r1/rows").sendFile("cats.csv", "name;more\nKim;1\n").want(200, "The rows are added. "+found)
	c.req.get("/tests").form("/tests").set("name", "Cats").set("tenant", "n1").set("question", "A cat?").set("pass_mark", "50").set("delimiter", ",").
		sendFile("cats.csv", cats).want(http.StatusUnprocessableEntity, "has the name of the column _gold within its own")
}

// pseudonym is how the requester's tenant knows a worker.
func (c *company) pseudonym(t testing.TB, who *browser) string {
	t.Helper()
	return read(c.app.Accounts.Worker(t.Context(), c.boss.principal(), 1, who.principal().User.ID.String()))(t).Pseudonym
}
