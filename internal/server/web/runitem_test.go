package web

import (
	"strings"
	"testing"
	"time"
)

// TestAnItemIsWhereItHasCome: its page lists the steps to which it has come, and
// none that waits for another.
func TestAnItemIsWhereItHasCome(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	c.req.sendRun("", "workflow: Pets\ninputs: {pets: {columns: [name]}}\nsteps:\n"+
		"  look: {from: {pets: stream}, crowd: {template: {kind: choose_one, question: \"A cat?\", options: [\"yes\", \"no\"], show: [name]}, reward: 0.01, redundancy: {count: 1}}}\n"+
		"  after: {from: {look: stream}, sql: \"select look_answers as said from look\", columns: {said: text}}\n", "make").want(200).at("/runs/r1")
	c.req.sendInputs("/runs/r1", "start", "pets", "pets.csv", "name\nRex\n").want(200)
	steps := func() []string {
		var list []string
		for _, x := range c.req.get("/runs/r1/items/1").want(200).all("td") {
			if attr(x, "data-label") == "Step" {
				list = append(list, strings.Fields(words(x))[0])
			}
		}
		return list
	}
	became := func(want string) {
		t.Helper()
		for limit := time.Now().Add(20 * time.Second); strings.Join(steps(), " ") != want; {
			if time.Now().After(limit) {
				t.Fatalf("the steps are %q, want %q", steps(), want)
			}
		}
	}
	became("pets look")
	c.workers[0].becomes("/work", "A cat?")
	c.workers[0].get("/work").want(200).form("/work/submit").set("s.label", "yes").send().want(200)
	became("pets look after")
}

// TestLongPagesHaveSlots: a page of long rows waits for those that nobody takes.
func TestLongPagesHaveSlots(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it waits ten seconds")
	}
	c := newCompany(t, 0)
	c.req.sendRun("", "workflow: Pets\ninputs: {pets: {columns: [name]}}\nsteps: {same: {from: pets, sql: select name from pets}}\n", "make").want(200).at("/runs/r1")
	c.req.sendInputs("/runs/r1", "", "pets", "pets.csv", "name\nRex\n").want(200)
	c.req.get("/runs/r1/steps/pets").want(200, "Rex")
	p := c.req.principal()
	var ends []func()
	for range 4 {
		end, err := c.site.app.StartList(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, end)
	}
	c.req.get("/runs/r1").want(200)
	c.req.get("/runs/r1/steps/pets").want(429, "long lists")
	ends[0]()
	c.req.get("/runs/r1/items/1").want(200, "Rex")
}
