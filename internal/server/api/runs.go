package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/runs"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/internal/workflow"
)

func toRunHead(r store.Run) wire.RunHead {
	return wire.RunHead{
		ID: r.ID, Tenant: r.Tenant, Name: r.Name, State: string(r.State), BudgetMicros: r.Budget, Deadline: r.Deadline,
		Parent: r.Parent, From: r.From, AskAgain: r.AskAgain, RenewAges: r.RenewAges, RedoLabels: r.RedoLabels, CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
		PenaltyMicros: r.Penalty, ItemsEnded: r.Ended, ItemsLate: r.Late,
		AnswersDeletedAt: r.AnswersDeletedAt, FilesDeletedAt: r.FilesDeletedAt,
	}
}

// toRun returns what makes the body of a run that p sees.
func toRun(p *access.Principal) func(*orchestrator.View) wire.Run {
	return func(v *orchestrator.View) wire.Run { return runFor(p, v) }
}

// foreseen is the penalty that is foreseen; nil: not known.
func foreseen(f orchestrator.Foreseen) *crowd.Money {
	if !f.Known() {
		return nil
	}
	return &f.Predicted
}

// promiseOf names what a time is promised for; "": nothing.
func promiseOf(s *workflow.SLA) string {
	switch {
	case s == nil:
		return ""
	case s.PerItem:
		return "item"
	}
	return "run"
}

func runFor(p *access.Principal, v *orchestrator.View) wire.Run {
	out := wire.Run{
		RunHead: toRunHead(v.Run), Needs: some(v.Needs()), Nodes: make([]wire.RunNode, 0, len(v.Nodes)), Outputs: []wire.RunFile{},
		PredictedMicros: foreseen(v.Foreseen), PredictedAtLeast: v.AtLeast, Going: v.Going, Stuck: v.Stuck, SpentMicros: v.Spent(),
		SLA:   promiseOf(v.Flow.SLA),
		Notes: v.Notes, CorrectedLabels: v.Corrected, Corrected: v.CorrectedText(), CorrectedRemedy: runs.CorrectedRemedy(v), RedoneAs: v.RedoneAs,
	}
	for i := range v.Classes {
		c := &v.Classes[i]
		out.Classes = append(out.Classes, wire.RunClass{
			Class: c.Name, Ended: c.Ended, Late: c.Late, Unread: c.Unread, Failed: c.Failed, Judged: c.Judged(), InTime: float64(c.Kept()) / float64(max(c.Judged(), 1)), PenaltyMicros: c.Penalty, Going: c.Going, PredictedMicros: foreseen(c.Foreseen),
		})
	}
	if o := &v.Outlook; !o.None() {
		out.Outlook = new(wire.RunOutlook(*o))
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		x := wire.RunNode{
			Name: n.Name, Kind: wire.NodeKind(n.Kind), State: string(n.State), Open: v.OpenInput(i), Error: n.Error, In: v.Taken(i), OK: n.OK, Skipped: n.Skipped, Failed: n.Failed, Held: n.Faults,
			Waiting: n.Waiting, Inside: n.Inside, Reused: n.Reused, Corrected: n.Corrected, ExpectedSeconds: n.Expect.Seconds(), StartedAt: n.StartedAt, EndedAt: n.EndedAt,
			AddBudget: runs.AddToBudget(v, n), Blocked: v.Blocked(i), Enough: n.HadEnough(), HasEnough: n.HasEnough(), EndedEarly: n.EndedEarly,
		}
		if n.Crowd.TooSmall() {
			x.Short, x.Remedy = n.Crowd.String(), batches.Remedy(p, n.Crowd, batches.WaysOfStep(v.ID, n.Name, n.Node.Batch))
		}
		if n.Batch != nil {
			x.Batch, x.Answers, x.SpentMicros = n.Batch.Spec.ID, n.Batch.Progress.Completed, n.Batch.Progress.Spent
			x.Lift = batches.Lift(p, n.Batch, n.Stops)
		}
		if s := n.Service; s != nil {
			x.Service = &wire.RunService{
				Name: s.Name, Concurrency: s.Concurrency, Rate: s.Rate.String(), UnderWay: s.All.UnderWay, Waiting: s.All.Waiting,
				OwnUnderWay: s.Own.UnderWay, OwnWaiting: s.Own.Waiting, Opens: s.Opens, Text: s.Text(),
			}
		}
		out.Nodes = append(out.Nodes, x)
	}
	for _, o := range v.Flow.Outputs {
		out.Outputs = append(out.Outputs, wire.RunFile{Name: o.Name, Step: v.Flow.NodeName(o.Node), Format: o.Format})
	}
	return out
}

const runTag = "Workflows"

func (a *api) runs() {
	add(a, op{method: http.MethodGet, path: "/v1/runs", summary: "List runs of workflows, newest first", tag: runTag, access: signedIn,
		text: "Of one tenant; admins may leave the tenant out. Go on with `before`, the last id seen."},
		func(ctx context.Context, p *access.Principal, in *struct {
			OfTenant
			Before string `query:"before"`
			Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) ([]wire.RunHead, error) {
			before, err := optional(in.Before, crowd.ParseRunID)
			if err != nil {
				return nil, err
			}
			return each(toRunHead)(a.app.Runs.List(ctx, p, in.tenant, before, in.Limit))
		})
	add(a, op{method: http.MethodPost, path: "/v1/runs", summary: "Make a run of a workflow", tag: runTag, access: access.RunsMake, status: http.StatusCreated, maxBody: 4 << 20,
		text: "Then PUT the inputs that it `needs`, and start it. A workflow that is wrong is refused with 422 and everything that is wrong, each with its line and column. " +
			"With `parent`, the inputs of that run are taken over, and with `from` also the rows of all steps that do not come after that step. The labels of crowd steps that are done again are taken over where the task is the same and its redundancy asked for at least as much, unless `ask_again`. Their items keep their ages, unless `renew_ages`. " +
			"Inputs that are `open` (in the workflow, or here) need no file if their columns are declared: rows are added to them while the run goes, until they are sealed."},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.NewRun }) (out wire.Run, err error) {
			b := &in.Body
			tenant, err := a.app.Tenants.Owner(ctx, p, b.Tenant)
			if err != nil {
				return out, err
			}
			made, err := a.app.Runs.Make(ctx, p, orchestrator.NewRun{
				Tenant: tenant, Text: b.Workflow, Name: b.Name, Budget: b.BudgetMicros, Parent: b.Parent, From: b.From, AskAgain: b.AskAgain, RenewAges: b.RenewAges, Open: b.Open,
			})
			if err != nil {
				return out, err
			}
			out, err = a.afterMove(ctx, p, made.Run, nil)
			out.Notes = append(made.Notes, out.Notes...)
			return out, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/runs/{id}", summary: "Show a run as it stands", tag: runTag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *RunPath) (wire.Run, error) {
			return as(toRun(p))(a.app.Runs.Get(ctx, p, in.id))
		})
	files := []struct {
		name, summary, kind, sentAs string
		of                          func(*orchestrator.View) []byte
	}{
		{"workflow", "Show the file of a run", "application/yaml", "application/yaml; charset=utf-8", func(v *orchestrator.View) []byte { return []byte(v.Text) }},
		{"graph.svg", "Draw a run: its steps, and where the items are", "image/svg+xml", "image/svg+xml", (*orchestrator.View).Picture},
	}
	for _, f := range files {
		register(a, op{method: http.MethodGet, path: "/v1/runs/{id}/" + f.name, summary: f.summary, tag: runTag, access: signedIn, streams: []string{f.kind}},
			of[RunPath](a.app.Runs.Get, func(v *orchestrator.View) *huma.StreamResponse { return sent(f.sentAs, f.of(v)) }))
	}
	a.runMoves()
	register(a, op{method: http.MethodGet, path: "/v1/runs/{id}/events", summary: "Watch a run (server-sent events)", tag: runTag, access: signedIn, streams: []string{"text/event-stream"},
		text: "An event `progress` whose data is the run as it stands: one at once, then one after changes, at most four a second; the last when it has ended."},
		func(ctx context.Context, p *access.Principal, in *RunPath) (*huma.StreamResponse, error) {
			changed, stop, err := a.app.Runs.Watch(ctx, p, in.id)
			return a.events("progress", changed, stop, func(ctx context.Context, p *access.Principal) (httpkit.Event, error) {
				v, err := a.app.Runs.Watched(ctx, p, in.id)
				if err != nil {
					return httpkit.Event{}, err
				}
				return httpkit.Event{Data: runFor(p, v), Last: v.State.Ended()}, nil
			}), err
		})
}

// sent is a response of this kind.
func sent(kind string, body []byte) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", kind)
		_, _ = ctx.BodyWriter().Write(body) // a client that has gone needs no answer
	}}
}

// afterMove returns a run as it stands after a move. Who may make the move and not look at
// runs is told what has become of it, and no more: a refusal would say that nothing was done.
func (a *api) afterMove(ctx context.Context, p *access.Principal, r store.Run, err error) (out wire.Run, _ error) {
	if err != nil {
		return out, err
	}
	if p.MayFor(access.RunsGet, r.Tenant) != nil {
		return wire.Run{RunHead: wire.RunHead{ID: r.ID, Tenant: r.Tenant, Name: r.Name, State: string(r.State), CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt},
			Needs: []string{}, Nodes: []wire.RunNode{}, Outputs: []wire.RunFile{}}, nil
	}
	return as(toRun(p))(a.app.Runs.Get(ctx, p, r.ID))
}

// runMoves registers what can be done to a run.
func (a *api) runMoves() {
	moves := []struct {
		name, summary string
		do            func(context.Context, *access.Principal, crowd.RunID) (store.Run, error)
	}{
		{"pause", "Hand out and call nothing more for now", a.app.Runs.Pause},
		{"resume", "Go on with a paused run", a.app.Runs.Resume},
		{"cancel", "Give a run up; what it has made stays to be read", a.app.Runs.Cancel},
		{"seal", "Seal all open inputs of a run: no more rows come", func(ctx context.Context, p *access.Principal, id crowd.RunID) (store.Run, error) {
			return a.app.Runs.SealInputs(ctx, p, id, "")
		}},
	}
	for _, m := range moves {
		add(a, op{method: http.MethodPost, path: "/v1/runs/{id}/" + m.name, summary: m.summary, tag: runTag, access: signedIn},
			func(ctx context.Context, p *access.Principal, in *RunPath) (wire.Run, error) {
				r, err := m.do(ctx, p, in.id)
				return a.afterMove(ctx, p, r, err)
			})
	}
	add(a, op{method: http.MethodPost, path: "/v1/runs/{id}/start", summary: "Begin a run whose inputs are there", tag: runTag, access: signedIn,
		text: "Refused with 409 if nobody of a step's pool holds the qualifications that it asks for, unless `allow_small_crowd`."},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunPath
			AllowSmallCrowd bool `query:"allow_small_crowd" doc:"even if nobody holds a qualification that a step asks for"`
		}) (wire.Run, error) {
			r, err := a.app.Runs.Start(ctx, p, in.id, in.AllowSmallCrowd)
			return a.afterMove(ctx, p, r, err)
		})
	add(a, op{method: http.MethodPost, path: "/v1/runs/{id}/top-up", summary: "Add to what a run may spend", tag: runTag, access: access.RunsTopUp,
		text: "Of a run that has a budget. No money moves: the run reserves it, task by task, from its tenant's account."},
		func(ctx context.Context, p *access.Principal, in *struct {
			RunPath
			Body wire.TopUp
		}) (wire.Run, error) {
			r, err := a.app.Runs.TopUp(ctx, p, in.id, in.Body.AmountMicros)
			return a.afterMove(ctx, p, r, err)
		})
	add(a, op{method: http.MethodPost, path: "/v1/runs/{id}/redo", summary: "Do a run anew with the labels that were corrected in it", tag: runTag, access: access.RunsRedo, status: http.StatusCreated,
		text: "Makes a run of the same workflow, with the same inputs, that goes on from this one, which must be done, and begins it. Corrected labels stand in it in place of those that were given; people are asked, and services called, for what rests on them. Refused with 409 if no label was corrected since the steps used it, or if it was done before."},
		func(ctx context.Context, p *access.Principal, in *RunPath) (wire.Run, error) {
			r, err := a.app.Runs.Redo(ctx, p, in.id)
			return a.afterMove(ctx, p, r, err)
		})
	a.runStepMoves()
}

// runStepMoves registers what can be done to a step of a run, or to the items that it holds.
func (a *api) runStepMoves() {
	add(a, op{method: http.MethodPost, path: "/v1/runs/{id}/steps/{step}/end", summary: "End a crowd step early, with the labels that there are", tag: runTag, access: signedIn,
		text: "The other items in it go on as failed."},
		func(ctx context.Context, p *access.Principal, in *RunStep) (wire.Run, error) {
			r, err := a.app.Runs.EndStep(ctx, p, in.id, in.Step)
			return a.afterMove(ctx, p, r, err)
		})
	type ofStep struct {
		RunPath
		Step string `query:"step" doc:"of this step only"`
	}
	add(a, op{method: http.MethodPost, path: "/v1/runs/{id}/retry", summary: "Try again what is held by an error, and steps that have failed", tag: runTag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *ofStep) (out wire.Retried, err error) {
			out.Items, out.Steps, err = a.app.Runs.Retry(ctx, p, in.id, in.Step)
			return out, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/runs/{id}/skip", summary: "Give up the items that are held by an error", tag: runTag, access: signedIn,
		text: "They go on as failed."},
		func(ctx context.Context, p *access.Principal, in *ofStep) (out wire.Skipped, err error) {
			out.Items, err = a.app.Runs.Skip(ctx, p, in.id, in.Step)
			return out, err
		})
}
