package api

import (
	"context"
	"net/http"

	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/wire"
)

// WorkerPath names one worker of a batch.
type WorkerPath struct {
	BatchPath
	Worker string `path:"worker" doc:"the tenant's pseudonym of the worker, or their id if you may see who workers are" example:"w_qk3ybd5nn2l7xw6dlbrnqhzcaq"`
}

// batchWorkers registers what one worker did in a batch, and that it is disregarded.
func (a *api) batchWorkers() {
	const disregard = "/v1/batches/{id}/workers/{worker}/disregard"
	add(a, op{method: http.MethodGet, path: disregard, summary: "Say what it would come to that a worker's answers to a batch are disregarded", tag: "Results", access: access.BatchesWouldDisregard},
		func(ctx context.Context, p *access.Principal, in *WorkerPath) (wire.Disregarded, error) {
			return as(toDisregarded)(a.app.Batches.WouldDisregard(ctx, p, in.id, in.Worker))
		})
	add(a, op{method: http.MethodPost, path: disregard, summary: "Disregard what a worker answered in a running batch, and ask again", tag: "Results", access: access.BatchesDisregard,
		text: "Their answers that count do so no more. What was earned stays paid. Tasks without a label are planned anew; a label that rests on such an answer is made again if the others suffice, or else withdrawn, and the task asked again of others. " +
			"A label that somebody has corrected or reviewed stays. The batch must be running or paused, and not of a run's step. " +
			"If asking again can cost more than is left of the budget it is refused with what is missing, unless it asks for `add_budget`. More than 2,000 answers are disregarded in parts: if it fails in between, sent again under another key it goes on."},
		func(ctx context.Context, p *access.Principal, in *struct {
			WorkerPath
			AddBudget bool `query:"add_budget" doc:"reserve what the budget lacks for asking again from the tenant's account, which needs the permission budgets.change as well"`
		}) (wire.Disregarded, error) {
			return as(toDisregarded)(a.app.Batches.Disregard(ctx, p, in.id, in.Worker, in.AddBudget))
		})
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}/workers/{worker}", summary: "One worker's part in a batch: their figures, how they went, and their answers", tag: "Results", access: access.ResultsWorker,
		text: "Who has answered nothing in the batch is answered as who does not exist. Pages of answers that follow each other have each answer once, whatever is answered meanwhile."},
		func(ctx context.Context, p *access.Principal, in *struct {
			WorkerPath
			Method string `query:"method" enum:"majority,median,ds-map,robust,onecoin,wawa,incremental,ds,mean,trimmed,weighted,central,per-option,dawid-skene" doc:"by which labels are made; default: what fits the batch's kind; dawid-skene is what ds-map was called"`
			Wrong  bool   `query:"wrong" doc:"only answers that are not right"`
			Cursor string `query:"cursor" doc:"next of the page before"`
			Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
		}) (wire.BatchWorker, error) {
			return as(toBatchWorker)(a.app.Results.Worker(ctx, p, in.id, results.WorkerQuery{Worker: in.Worker, Method: in.Method, Wrong: in.Wrong, Cursor: in.Cursor, Limit: in.Limit}))
		})
}

// AnswerPath names one answer to a task.
type AnswerPath struct {
	TaskPath
	Worker string `path:"worker" doc:"who gave it: the tenant's pseudonym of the worker, or their id if you may see who workers are" example:"w_qk3ybd5nn2l7xw6dlbrnqhzcaq"`
}

// sendBack registers that single answers are sent back.
func (a *api) sendBack() {
	const sendBack = "/v1/batches/{id}/tasks/{n}/answers/{worker}/send-back"
	add(a, op{method: http.MethodGet, path: sendBack, summary: "Say what it would come to that an answer is sent back", tag: "Results", access: access.BatchesWouldSendBack},
		func(ctx context.Context, p *access.Principal, in *AnswerPath) (wire.Disregarded, error) {
			return as(toDisregarded)(a.app.Batches.WouldSendBack(ctx, p, in.id, in.N, in.Worker))
		})
	add(a, op{method: http.MethodPost, path: sendBack, summary: "Send an answer back: it counts no more, and the task is asked again with a comment", tag: "Results", access: access.BatchesSendBack,
		text: "What was earned stays paid, and the label is withdrawn or made again as where a worker's answers are disregarded. The comment is told to whoever gets the task from then on. " +
			"A label that is known, or that somebody has corrected or reviewed, stays: it is refused, as is an answer that counts no more already. Nobody sends an answer back to a task that they answered themselves."},
		func(ctx context.Context, p *access.Principal, in *struct {
			AnswerPath
			Body wire.SendBack
		}) (wire.Disregarded, error) {
			x := in.Body
			return as(toDisregarded)(a.app.Batches.SendBack(ctx, p, in.id, batches.SentBack{Task: in.N, Worker: in.Worker, Comment: x.Comment, AddBudget: x.AddBudget}))
		})
}

func toDisregarded(d batches.Disregarded) wire.Disregarded {
	return wire.Disregarded{Worker: d.By.Pseudonym, WorkerID: d.By.ID, WorkerName: d.By.Name, Answers: d.Answers, Tasks: d.Tasks, Withdrawn: d.Withdrawn, Relabelled: d.Relabelled,
		CostMicros: d.Cost, Missing: d.Missing, Reserved: d.Reserved}
}

func toBatchWorker(v *results.WorkerView) wire.BatchWorker {
	out := wire.BatchWorker{Batch: v.Batch.Spec.ID, Worker: v.By.Pseudonym, WorkerID: v.By.ID, WorkerName: v.By.Name, Blocked: v.Blocked, Method: v.Method, At: v.At,
		Given: v.Answers, Counted: v.Counted, Late: v.Late, Out: v.Disregarded, PaidMicros: v.Paid, Figures: wire.QualityFigures(v.Figures), Paused: v.Paused, Weight: lowered(v.Weight), DriftBounds: v.Bounds,
		Compared: v.Compared, Right: v.Right, Matching: v.Matching, Next: v.Next, Actions: []wire.QualityAction{}, Course: []wire.WorkerPoint{}, Answers: []wire.WorkerAnswer{}}
	if v.Counted > 0 {
		typical := v.Typical.Seconds()
		out.Typical = &typical
	}
	if v.Quality != nil {
		q := toWorkerQuality(v.Quality)
		q.Worker, q.WorkerID, q.Name, q.Blocked, q.Weight = out.Worker, out.WorkerID, out.WorkerName, out.Blocked, out.Weight
		out.Quality = &q
	}
	for _, a := range v.Actions {
		out.Actions = append(out.Actions, toQualityAction(batches.QualityAction{QualityAction: a, By: v.By}))
	}
	for _, x := range v.Course {
		out.Course = append(out.Course, wire.WorkerPoint{Answers: x.Answers, At: x.At, Right: x.Right.Of, RightLow: x.Right.Low, RightHigh: x.Right.High,
			Recent: x.Recent.Of, RecentLow: x.Recent.Low, RecentHigh: x.Recent.High, Checks: x.Checks, Drift: x.Drift})
	}
	for i := range v.Rows {
		out.Answers = append(out.Answers, toWorkerAnswer(v.Batch.Columns, &v.Rows[i]))
	}
	return out
}

func toWorkerAnswer(columns []string, r *results.WorkerAnswer) wire.WorkerAnswer {
	x := wire.WorkerAnswer{Assignment: r.Assignment, Task: r.Task, TakenOut: r.TakenOut, AnsweredAt: r.EndedAt, Seconds: r.Took().Seconds(), Said: r.Key, Answer: r.Body,
		Counted: r.Counted, Late: r.Late, OutAt: r.DisregardedAt, PaidMicros: r.Paid, Label: toLabel(r.Label), Known: r.Gold, Training: r.Lesson, Corrected: r.Corrected, Right: r.Right}
	for i, v := range r.Values {
		if x.Input == nil {
			x.Input = make(map[string]string)
		}
		x.Input[columns[i]] = v
	}
	return x
}
