package web

import (
	"net/http"
	"net/url"
	"testing"
)

const twiceCats = "name,photo\nTom,1.png\nTim,2.png\nTom,1.png\nTom,3.png\n"

// TestRowsThatAreThereTwice: each form with a file asks what becomes of them, and its page
// tells how many there were.
func TestRowsThatAreThereTwice(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	b := batchOf(c.req.get("/batches/new").form("/batches").set("name", "Cats").set("tenant", "n1").set("question", "A cat?").
		set("duplicates", "drop").sendFile("cats.csv", twiceCats).want(200, "1 row of the file dropped", "3 tasks"))
	page := "/batches/" + b.String()
	c.req.get(page).form(page+"/upload").set("duplicates", "refuse").set("key", "name").sendFile("cats.csv", twiceCats).
		want(http.StatusUnprocessableEntity, "Is what line 2 has, too.", "2 rows cannot be used")
	c.req.get(page).form(page+"/upload").set("duplicates", "drop").set("key", "nome").sendFile("cats.csv", twiceCats).
		want(http.StatusUnprocessableEntity, `There is no column "nome"; there are: name, photo.`)
	c.req.get(page).form(page+"/upload").set("key", "name").sendFile("cats.csv", twiceCats).want(200, "4 tasks").without("dropped")
	c.launchCats("Others")
	c.req.post("/batches/b2/topup", url.Values{"amount": {"5"}}).want(200)
	c.req.get("/batches/b2").form("/batches/b2/tasks").set("duplicates", "drop").set("key", "name").sendFile("more.csv", twiceCats).
		want(200, "The tasks are added. 2 rows of the file dropped")

	c.req.get("/runs/new").form("/runs").set("tenant", "n1").set("text", flowOfCats).press("then", "make").send().want(200).at("/runs/r1")
	c.req.get("/runs/r1").form("/runs/r1/inputs").set("duplicates", "refuse").sendFile("cats.csv", "name\nTom\nTim\nTom\n").
		want(http.StatusUnprocessableEntity, "the same as line 2")
	c.req.get("/runs/r1").form("/runs/r1/inputs").set("duplicates", "drop").sendFile("cats.csv", "name\nTom\nTim\nTom\n").
		want(200, "The files are in. 1 row of the file dropped")
	c.req.post("/runs/r1/do", url.Values{"do": {"start"}}).want(200)
	c.req.get("/runs/r1").form("/runs/r1/rows").set("duplicates", "drop").sendFile("cats.csv", "name\nTom\nKim\n").
		want(200, "The rows are added. 1 row of the file dropped")
	c.req.get("/runs/r1").form("/runs/r1/rows").set("duplicates", "refuse").sendFile("cats.csv", "name\nTom\nJim\n").
		want(http.StatusUnprocessableEntity, "the same as row 1 of the input things")
}
