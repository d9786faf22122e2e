package web

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/access"
)

// confirmDisregard says what it comes to that a worker's answers are disregarded, and asks.
func (rq *request) confirmDisregard(id crowd.BatchID) error {
	d, err := rq.App.Batches.WouldDisregard(rq.ctx(), rq.p, id, rq.r.PathValue("worker"))
	if err != nil {
		return err
	}
	b, err := rq.App.Batches.Get(rq.ctx(), rq.p, id)
	if err != nil {
		return err
	}
	is := func(n int) string {
		if n == 1 {
			return " is"
		}
		return " are"
	}
	text := []string{format.Count(d.Answers, "answer") + is(d.Answers) + " disregarded, and what was earned stays paid.",
		fmt.Sprintf("%s%s decided anew: %s%s withdrawn, of which %d%s made again at once by the answers that are left.", format.Count(d.Tasks, "task"), is(d.Tasks), format.Count(d.Withdrawn, "label"), is(d.Withdrawn), d.Relabelled, is(d.Relabelled))}
	hidden := url.Values{}
	switch may := rq.p.MayFor(access.BatchesTopUp, b.Spec.Tenant) == nil; {
	case d.Missing > 0 && may:
		text = append(text, fmt.Sprintf("Asking again can cost %s at most, for which the budget lacks %s: that is reserved from the account.", d.Cost, d.Missing))
		hidden.Set("add_budget", "1")
	case d.Missing > 0:
		text = append(text, fmt.Sprintf("Asking again can cost %s at most, for which the budget lacks %s: somebody who may change budgets has to add it first.", d.Cost, d.Missing))
	default:
		text = append(text, fmt.Sprintf("Asking again can cost %s at most, which the budget has.", d.Cost))
	}
	if b.ReviewedIn != 0 {
		text = append(text, fmt.Sprintf("New labels are picked for review as any, which is paid from the budget of %s.", b.ReviewedIn))
	}
	back := "/batches/" + id.String() + "/workers/" + url.PathEscape(d.By.Pseudonym)
	return rq.render("ask", page{Title: "Disregard answers", Section: "batches", Data: map[string]any{
		"Question": "Disregard what this worker answered?", "About": d.By.String() + " in " + b.Name, "Verb": "Disregard", "Danger": true, "To": back + "/disregard?" + keyName + "=" + newKey(), "Back": back, "Hidden": hidden,
		"Consequence": strings.Join(text, " ") + " It cannot be undone.",
	}})
}

// disregard disregards what a worker answered.
func (rq *request) disregard(id crowd.BatchID) error {
	f := rq.sent()
	worker := rq.r.PathValue("worker")
	_, err := rq.App.Batches.Disregard(rq.ctx(), rq.p, id, worker, f.text("add_budget") != "")
	return rq.done(err, "/batches/"+id.String()+"/workers/"+url.PathEscape(worker), "disregarded")
}
