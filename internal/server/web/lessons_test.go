package web

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const taught = "name,_gold,_explain\nTom,yes,It has whiskers.\nRex,no,\nKit,,\nLeo,,\nPip,,\n"

// trains launches a batch that everybody begins with one training task of, by its form.
func (c *company) trains(t *testing.T) {
	t.Helper()
	draft := c.req.get("/batches/new").want(200).form("/batches").set("name", "Taught").set("tenant", "n1").set("kind", "choose_one").
		set("question", "Is ${name} a cat?").set("options", "yes | Yes\nno | No\n").
		sendFile("cats.csv", taught).want(200)
	settings := draft.URL.Path + "/settings"
	terms := func(p *pageOf) *sheet {
		return p.form(settings).set("rule", "count").set("count", "1").set("reward", "0.10").set("checks", "1").set("checks.first", "0.001")
	}
	refused := terms(draft).set("checks.training", "2").press("then", "launch").send().want(422, "everybody is to begin with 2 training tasks, but 1 task is for training")
	terms(refused).set("checks.training", "1").press("then", "launch").send().want(200, "Launched")
}

// TestTrainingPages: a training task says what it is, and what was right is read before the next task.
func TestTrainingPages(t *testing.T) {
	c := newCompany(t, 2)
	c.trains(t)
	ann, bob := c.workers[0], c.workers[1]
	told := ann.get("/work").want(200, "Is Tom a cat?", "This task is for training").form("/work/submit").set("s.label", "no").send().
		want(200, "Not right", "It has whiskers.", "What is right", "Next", "Your answer is in.")
	ann.get(told.URL.Path).want(200, "Not right")
	bob.get(told.URL.Path).want(404).without("whiskers")
	next := ann.get("/work").want(200).without("for training", "Tom")
	next.form("/work/submit").set("s.label", "yes").send().want(200, "a cat?").without("whiskers", "Not right")
	c.req.get("/batches/b1/quality").want(200, "Training", "0 of 1 right")
	c.req.get("/batches/b1/results").want(200, "training")

	w := c.window(t, startChromium(t), "w2")
	w.open("/work")
	w.says("This task is for training")
	w.shots("training")
	w.press("1")
	w.press(kb.Enter)
	w.says("It has whiskers.")
	w.shots("training-feedback")
	w.do(chromedp.Click(chromedp.ID("next")))
	w.says("a cat?")
	w.quiet()
}
