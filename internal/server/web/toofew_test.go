package web

import (
	"net/url"
	"strings"
	"testing"
)

// A batch and a run that want answers from more people than the pool has say so, and
// say nothing of when they will be done, however many answers have come.
func TestTooFewPeople(t *testing.T) {
	t.Parallel()
	c, _, flow := flowCompany(t, 1)
	draft := c.req.get("/batches/new").want(200).form("/batches").set("name", "Cats").set("tenant", "n1").set("kind", "choose_one").
		set("question", "Is ${name} a cat?").set("options", "yes\nno\n").sendFile("cats.csv", cats).want(200)
	p := draft.form(draft.URL.Path+"/settings").set("rule", "count").set("count", "3").set("reward", "0.10").set("small_crowd", "1").press("then", "launch").send().want(200, "Launched")
	const short = "a task needs answers from 3 different people, but the pool has 1 who may do it"
	p.want(200, "It cannot finish: "+short, "9 waiting: "+short+"; invite people with throng worker invite --mail ADDRESS (--pool POOL, if it is not main), or ask an administrator to add them")
	for range 3 { // a rate is known
		c.workers[0].get("/work").want(200, "a cat?").form("/work/submit").set("s.label", "yes").send().want(200, "Your answer is in")
	}
	c.req.get(p.URL.Path).want(200, "3 of 9", "It cannot finish: "+short).without("ready in about")

	path := c.startPets(strings.Replace(flow, "reward: 0.10", "redundancy: {count: 2}\n      reward: 0.10", 1))
	const says = "kind cannot finish: a task needs answers from 2 different people, but the pool has 1 who may do it"
	c.req.becomes(path, "Batch b").want(200, says)
	c.workers[0].answerAll(3, "cat")
	c.req.get(path).want(200, says).without("Done about")

	// Nobody is qualified: that is said before the start, which has to be meant.
	made := c.req.sendRun("", strings.Replace(flow, "reward: 0.10", "qualifications: {skill: 80}\n      reward: 0.10", 1), "make").want(200, "kind cannot finish: nobody in the pool holds skill >= 80")
	path = made.URL.Path
	c.req.sendInputs(path, "start", "pets", "pets.csv", petFile).want(200, "kind cannot finish: nobody in the pool holds skill >= 80", "Start all the same").without("Started.")
	c.req.post(path+"/do", url.Values{"do": {"start"}}).want(200, "Start all the same").without("Started.")
	c.req.post(path+"/do", url.Values{"do": {"start"}, "small_crowd": {"yes"}}).want(200, "Started.")
	c.req.becomes(path, "Batch b").want(200, "kind cannot finish: nobody in the pool holds skill >= 80; ask an administrator to give it to somebody with throng worker qualify NAME skill=80.")
	c.boss.get(path).want(200, "skill >= 80; give it to somebody with throng worker qualify NAME skill=80.")
}

// A run whose budget is used up, and the batch of its step, say so and lead to the form
// that adds to it; neither foresees its end.
func TestARunWhoseBudgetIsUsedUp(t *testing.T) {
	t.Parallel()
	c, _, flow := flowCompany(t, 1)
	path := c.startPets(strings.Replace(flow, "budget: 5.00", "budget: 0.15", 1))
	p := c.req.becomes(path, "Add to the budget").want(200, "Spent 0.00 of 0.15; 0.10 reserved for its steps", "not enough for one more task (0.10)", "not known").without("Done about").without("throng workflow top-up")
	if !links(p)["#budget-head"] {
		t.Error("no link to the form of the budget")
	}
	c.workers[0].answerAll(1, "cat")
	c.req.becomes(path, "Ended 1")
	b := c.req.becomes("/batches/b1", "2 waiting: 2 tasks not handed out: the run's budget is used up; add to the run's budget").
		want(200, "No forecast: 2 tasks not handed out: the run's budget is used up.", "1 of 3", "It has no budget of its own: it spends that of its run").
		without("Spent 0.10 of").without("ready in about").without(`action="/batches/b1/topup`)
	if !links(b)[path+"#budget-head"] {
		t.Error("no link to the budget of the run")
	}
}
