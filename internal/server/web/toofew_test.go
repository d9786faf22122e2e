package web

import (
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
	p.want(200, "It cannot finish: "+short, "9 waiting: "+short+"; invite people with throng worker invite (--pool NAME, if it is not main), or ask an administrator to add them")
	for range 3 { // a rate is known
		c.workers[0].get("/work").want(200, "a cat?").form("/work/submit").set("s.label", "yes").send().want(200, "Your answer is in")
	}
	c.req.get(p.URL.Path).want(200, "3 of 9", "It cannot finish: "+short).without("ready in about")

	path := c.startPets(strings.Replace(flow, "reward: 0.10", "redundancy: {count: 2}\n      reward: 0.10", 1))
	const says = "kind cannot finish: a task needs answers from 2 different people, but the pool has 1 who may do it"
	c.req.becomes(path, "Batch b").want(200, says)
	c.workers[0].answerAll(3, "cat")
	c.req.get(path).want(200, says).without("Expected end")

	path = c.startPets(strings.Replace(flow, "reward: 0.10", "qualifications: {skill: 80}\n      reward: 0.10", 1))
	c.req.becomes(path, "Batch b").want(200, "kind cannot finish: nobody in the pool holds skill >= 80; ask an administrator to give it to somebody with throng worker qualify NAME skill=80.")
	c.boss.get(path).want(200, "skill >= 80; give it to somebody with throng worker qualify NAME skill=80.")
}
