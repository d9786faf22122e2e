package web

import (
	"math"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// workersShown is how many workers the quality page lists.
const workersShown = 200

// ruleActionsShown is how many actions of quality rules the quality page lists.
const ruleActionsShown = 500

// quality shows how good a batch's answers are.
func (rq *request) quality(id crowd.BatchID) error {
	q, err := rq.App.Batches.Quality(rq.ctx(), rq.p, id, rq.r.URL.Query().Get("method"))
	if err != nil {
		return err
	}
	actions, moreActions, err := rq.App.Batches.QualityActions(rq.ctx(), rq.p, id, 0, ruleActionsShown)
	if err != nil {
		return err
	}
	more, learning := max(0, len(q.Workers)-workersShown), q.Learning[:min(len(q.Learning), workersShown)]
	return rq.render("quality", page{Title: "Quality of " + q.Batch.Name, Section: "batches", Data: map[string]any{
		"Q": q, "B": q.Batch, "Tenant": rq.findTenant(q.Batch.Spec.Tenant).Name, "Workers": q.Workers[:len(q.Workers)-more], "More": more,
		"Learning": learning, "MoreLearning": len(q.Learning) - len(learning), "Actions": actions, "MoreActions": moreActions,
	}})
}

// qualityRules reads rules, one a line.
func (f *fields) qualityRules(name string) (rules []engine.QualityRule) {
	for line := range strings.Lines(f.text(name)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		rule, err := engine.ParseQualityRule(strings.TrimSpace(line))
		if err != nil {
			f.bad(name, "%s", err)
			continue
		}
		rules = append(rules, rule)
	}
	return rules
}

// undoAction undoes what a quality rule did.
func (rq *request) undoAction(id crowd.BatchID) error {
	f := rq.sent()
	n := f.wholeNumber("n")
	if err := f.err(); err != nil {
		return err
	}
	_, err := rq.App.Batches.UndoQualityAction(rq.ctx(), rq.p, id, uint32(min(max(n, 0), math.MaxUint32)))
	return rq.done(err, "/batches/"+id.String()+"/quality", "undone")
}

// seeNote says that the worker has seen what a quality rule has for them.
func (rq *request) seeNote() error {
	f := rq.sent()
	id, err := crowd.ParseBatchID(f.text("batch"))
	if err != nil {
		return err
	}
	return rq.done(rq.App.Work.SeeNote(rq.ctx(), rq.p, id, uint32(min(max(f.wholeNumber("n"), 0), math.MaxUint32))), "/work", "")
}
