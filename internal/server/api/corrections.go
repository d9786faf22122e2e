package api

import (
	"context"
	"net/http"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

// TaskPath names a task of a batch.
type TaskPath struct {
	BatchPath
	N uint32 `path:"n" minimum:"1" maximum:"4294967295" doc:"its number: 5 of t17.5"`
}

func (x *TaskPath) task() crowd.TaskID { return x.id.Task(x.N) }

// corrections registers what people say that labels are.
func (a *api) corrections() {
	const tag = "Results"
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}/tasks/{n}/corrections", summary: "List the corrections of a task's label", tag: tag, access: access.ResultsCorrections},
		func(ctx context.Context, p *access.Principal, in *TaskPath) (wire.Corrections, error) {
			list, err := a.app.Results.Corrections(ctx, p, in.task())
			return wire.Corrections{Corrections: lists.Map(list, toCorrection)}, err
		})
	add(a, op{method: http.MethodPut, path: "/v1/batches/{id}/tasks/{n}/label", summary: "Correct the label of a task", tag: tag, access: access.ResultsCorrect,
		text: "Whatever was answered: from then on it is the label in lists, files and pages, with confidence 1, and methods that learn from known answers learn from it. What is measured against known answers does not count it. Nobody corrects a task that they have answered, and no label is corrected that a run has used. At most 100 corrections of a task are kept."},
		func(ctx context.Context, p *access.Principal, in *struct {
			TaskPath
			Body wire.NewCorrection
		}) (wire.Correction, error) {
			return as(toCorrection)(a.app.Results.Correct(ctx, p, in.task(), in.Body.Value, in.Body.Note))
		})
	addAction(a, op{method: http.MethodDelete, path: "/v1/batches/{id}/tasks/{n}/label", summary: "Take the correction of a task's label back", tag: tag, access: access.ResultsWithdraw,
		text: "The label is again what the answers say. The correction stays in the list of them."},
		func(ctx context.Context, p *access.Principal, in *TaskPath) error {
			_, err := a.app.Results.Withdraw(ctx, p, in.task(), "")
			return err
		})
}

func toCorrection(c store.Correction) wire.Correction {
	return wire.Correction{N: c.N, At: c.At, By: c.ByName, Value: c.Value, Withdrawn: c.Withdrawn, Note: c.Note, Review: c.Review}
}
