package web

import "testing"

// TestAStepThatWasEndedEarly: the page of its run and its own say so, in its state,
// too, as long as its run is open.
func TestAStepThatWasEndedEarly(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 1)
	const flow = "workflow: Cats\ninputs: {things: {columns: [name], open: true}}\nsteps:\n  look:\n    from: {things: stream}\n" +
		"    crowd: {template: {kind: choose_one, question: \"Good?\", options: [\"yes\", \"no\"]}, redundancy: {count: 2}, reward: 0.05}\n"
	path := c.req.sendRun("", flow, "make").want(200).URL.Path
	c.req.sendInputs(path, "start", "things", "things.csv", cats).want(200, "Started.")
	c.req.becomes(path, "look cannot finish").without("Ended early", "ended early")
	c.req.get(path + "/steps/look").want(200).without("Ended early")
	c.req.get(path+"/confirm?do=end&step=look").want(200, "End this step early?").form(path+"/do").send().want(200, "The step ends")

	const says = "Ended early: it asks nobody, and what comes to it fails."
	c.req.becomes(path, says).want(200, "■ ended early")
	c.req.get(path+"/steps/look").want(200, says)
}

// TestAStepThatHasEnough: while somebody still holds a task of it, the page of its run and its
// own say that it has enough and ends when that is done; no item of it waits for people.
func TestAStepThatHasEnough(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	const flow = "workflow: Cats\ninputs: {things: {columns: [name]}}\nsteps:\n  look:\n    from: {things: stream}\n" +
		"    crowd: {template: {kind: choose_one, question: \"Good?\", options: [\"yes\", \"no\"]}, reward: 0.05, enough: {labels: 1}}\n"
	path := c.req.sendRun("", flow, "make").want(200).URL.Path
	c.req.sendInputs(path, "start", "things", "things.csv", cats).want(200, "Started.")
	c.req.becomes(path, "Batch b")
	const says = "It has enough labels, and ends when those at work have finished."
	held := c.workers[0].get("/work").want(200, "Good?")
	c.req.get(path).want(200, "for people").without(says)
	c.workers[1].answerAll(1, "yes")
	c.req.becomes(path, says).want(200, "▶ has enough", "for those at work to finish: the step has enough").without("for people").without("ad enough: ")
	c.req.get(path+"/steps/look").want(200, says, "▶ has enough")
	held.form("/work/submit").set("s.label", "yes").send().want(200, "Your answer is in")
	c.req.becomes(path, "Had enough: 2 labels. What comes is skipped.").without(says)
}
