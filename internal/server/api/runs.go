package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/diagram"
)

// RunBrief is a run of a workflow without its steps.
type RunBrief struct {
	ID            crowd.RunID    `json:"id"`
	Tenant        crowd.TenantID `json:"tenant"`
	Name          string         `json:"name"`
	State         store.RunState `json:"state" enum:"loading,running,paused,done,cancelled"`
	BudgetMicros  crowd.Money    `json:"budget_micros,omitempty" doc:"over all its crowd steps; left out: what the tenant has"`
	Deadline      *time.Time     `json:"deadline,omitempty" doc:"of the run as a whole"`
	Parent        *crowd.RunID   `json:"parent,omitempty" doc:"the run whose rows it took over"`
	From          string         `json:"from,omitempty" doc:"the step from which it does anew, if it has a parent"`
	CreatedBy     crowd.WorkerID `json:"created_by"`
	CreatedAt     time.Time      `json:"created_at"`
	StartedAt     *time.Time     `json:"started_at,omitempty"`
	EndedAt       *time.Time     `json:"ended_at,omitempty"`
	PenaltyMicros crowd.Money    `json:"penalty_micros" doc:"for being late, so far"`
	ItemsEnded    int64          `json:"items_ended" doc:"items that have come to the end of their way, if the SLA is per item"`
	ItemsLate     int64          `json:"items_late" doc:"of those, the ones with a penalty"`
}

func toRunBrief(r store.Run) RunBrief {
	return RunBrief{
		ID: r.ID, Tenant: r.Tenant, Name: r.Name, State: r.State, BudgetMicros: r.Budget, Deadline: ptr(r.Deadline),
		Parent: ptr(r.Parent), From: r.From, CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt, StartedAt: ptr(r.StartedAt), EndedAt: ptr(r.EndedAt),
		PenaltyMicros: r.Penalty, ItemsEnded: r.Ended, ItemsLate: r.Late,
	}
}

// RunNode is an input or a step of a run as it stands.
type RunNode struct {
	Name            string          `json:"name"`
	Kind            string          `json:"kind" enum:"input,crowd,sql,service"`
	State           store.NodeState `json:"state" enum:"waiting,running,failed,done"`
	Error           string          `json:"error,omitempty" doc:"why it cannot go on, or waits"`
	In              int64           `json:"in" doc:"items that it has taken; of an input, rows read"`
	OK              int64           `json:"ok"`
	Skipped         int64           `json:"skipped" doc:"whose condition did not hold, or for which a query gave nothing"`
	Failed          int64           `json:"failed" doc:"given up; an input's are rows that could not be read"`
	Held            int64           `json:"held" doc:"that stay after an error, until somebody says retry or skip"`
	Waiting         int64           `json:"waiting" doc:"that have come, and were not taken yet"`
	Inside          int64           `json:"inside" doc:"taken, and not handed on; the held ones are among them"`
	ExpectedSeconds float64         `json:"expected_seconds,omitempty" doc:"for one item"`
	Batch           *crowd.BatchID  `json:"batch,omitempty" doc:"of a crowd step that has begun"`
	Answers         int             `json:"answers,omitempty" doc:"of people, that count"`
	SpentMicros     crowd.Money     `json:"spent_micros,omitempty"`
	StartedAt       *time.Time      `json:"started_at,omitempty"`
	EndedAt         *time.Time      `json:"ended_at,omitempty"`
}

// RunFile is a file that a run writes.
type RunFile struct {
	Name   string `json:"name"`
	Step   string `json:"step" doc:"whose rows it holds"`
	Format string `json:"format" enum:"csv,jsonl,parquet"`
}

// RunOut is a run as it stands.
type RunOut struct {
	RunBrief
	Needs           []string    `json:"needs" doc:"inputs without rows yet; empty once it has started"`
	Notes           []string    `json:"notes,omitempty" doc:"of what was taken over from the parent"`
	Nodes           []RunNode   `json:"nodes" doc:"inputs first, then steps in the order in which they follow each other"`
	Outputs         []RunFile   `json:"outputs"`
	SpentMicros     crowd.Money `json:"spent_micros" doc:"for answers"`
	PredictedMicros crowd.Money `json:"predicted_micros" doc:"the penalty that the items on their way will cost if all goes as expected, on top of penalty_micros"`
	Going           int64       `json:"going" doc:"items on their way, counted up to a hundred thousand, if there is an SLA"`
	Stuck           bool        `json:"stuck" doc:"nothing goes on until somebody says retry or skip"`
}

// ToRunOut is the JSON form of a run.
func ToRunOut(v *orchestrator.View) RunOut {
	out := RunOut{
		RunBrief: toRunBrief(v.Run), Needs: []string{}, Nodes: make([]RunNode, 0, len(v.Nodes)), Outputs: []RunFile{},
		PredictedMicros: v.Predicted, Going: v.Going, Stuck: v.Stuck,
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		x := RunNode{
			Name: n.Name, Kind: n.Kind, State: n.State, Error: n.Error, In: taken(v, n), OK: n.OK, Skipped: n.Skipped, Failed: n.Failed, Held: n.Faults,
			Waiting: n.Waiting, Inside: n.Inside, ExpectedSeconds: n.Expect.Seconds(), StartedAt: ptr(n.StartedAt), EndedAt: ptr(n.EndedAt),
		}
		if n.Batch != nil {
			x.Batch, x.Answers, x.SpentMicros = &n.Batch.Spec.ID, n.Batch.Progress.Completed, n.Batch.Progress.Spent
			out.SpentMicros += x.SpentMicros
		}
		if n.Step == nil && v.State == store.RunLoading && n.State != store.NodeDone {
			out.Needs = append(out.Needs, n.Name)
		}
		out.Nodes = append(out.Nodes, x)
	}
	for _, o := range v.Flow.Outputs {
		out.Outputs = append(out.Outputs, RunFile{o.Name, v.Flow.NodeName(o.Node), o.Format})
	}
	return out
}

// taken is how many items a node has taken.
func taken(v *orchestrator.View, n *orchestrator.NodeView) int64 {
	if n.Step == nil || !n.Step.MakesItems() {
		return n.Last + max(n.Inside, n.Faults)
	}
	in := int64(0)
	if n.State == store.NodeDone { // it looks at all rows at once
		for _, s := range n.Step.From {
			in += v.Nodes[s.Node].OK
		}
	}
	return in
}

// Picture draws a run.
func Picture(v *orchestrator.View) []byte {
	d := diagram.Options{Counts: make([]diagram.Counts, len(v.Nodes))}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		d.Counts[i] = diagram.Counts{In: taken(v, n), Out: n.OK, Waiting: n.Waiting + n.Inside, Failed: n.Failed + n.Faults, State: string(n.State)}
	}
	return diagram.Draw(v.Flow, d)
}

type RunPath struct {
	ID string `path:"id" example:"r3"`
}

func (r RunPath) run() (crowd.RunID, error) { return crowd.ParseRunID(r.ID) }

type RunStep struct {
	RunPath
	Step string `path:"step" doc:"its name"`
}

type oneRun struct{ Body RunOut }

const runTag = "Workflows"

// theRun parses the id, does something to the run and answers with it.
func (a *api) theRun(ctx context.Context, p *access.Principal, in RunPath, do func(crowd.RunID) error) (*oneRun, error) {
	id, err := in.run()
	if err != nil {
		return nil, err
	}
	if do != nil {
		if err := do(id); err != nil {
			return nil, err
		}
	}
	v, err := a.app.Runs.Get(ctx, p, id)
	if err != nil {
		return nil, err
	}
	return &oneRun{ToRunOut(v)}, nil
}

func (a *api) runs() {
	add(a, op{method: http.MethodGet, path: "/v1/runs", summary: "List runs of workflows, newest first", tag: runTag, access: signedIn,
		text: "Of one tenant; admins may leave the tenant out. Go on with `before`, the last id seen."},
		func(ctx context.Context, p *access.Principal, in *struct {
			Tenant string `query:"tenant"`
			Before string `query:"before"`
			Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) (*struct{ Body []RunBrief }, error) {
			tenant, err := optional(in.Tenant, crowd.ParseTenantID)
			if err != nil {
				return nil, err
			}
			if tenant == 0 && len(p.Tenants()) == 1 && !p.Is(access.Admin) {
				tenant = p.Tenants()[0]
			}
			before, err := optional(in.Before, crowd.ParseRunID)
			if err != nil {
				return nil, err
			}
			list, err := a.app.Runs.List(ctx, p, tenant, before, in.Limit)
			return &struct{ Body []RunBrief }{mapped(list, toRunBrief)}, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/runs", summary: "Make a run of a workflow", tag: runTag, access: signedIn, status: http.StatusCreated, maxBody: 4 << 20,
		text: "Then PUT the inputs that it `needs`, and start it. A workflow that is wrong is refused with 422 and everything that is wrong, each with its line and column. " +
			"With `parent`, the inputs of that run are taken over, and with `from` also the rows of all steps that do not come after that step."},
		func(ctx context.Context, p *access.Principal, in *struct {
			Body struct {
				Tenant       crowd.TenantID `json:"tenant,omitempty" doc:"may be left out by a requester of one tenant"`
				Name         string         `json:"name,omitempty" doc:"default: that of the workflow" maxLength:"200"`
				Workflow     string         `json:"workflow" doc:"the file's text"`
				BudgetMicros crowd.Money    `json:"budget_micros,omitempty" doc:"over all its crowd steps; default: that of the workflow"`
				Parent       crowd.RunID    `json:"parent,omitempty" doc:"a run that has ended, whose rows are taken over"`
				From         string         `json:"from,omitempty" doc:"a step: it and what comes after it is done anew; default: all of them"`
			}
		}) (*oneRun, error) {
			b := &in.Body
			if b.Tenant == 0 && len(p.Tenants()) == 1 {
				b.Tenant = p.Tenants()[0]
			}
			switch {
			case b.Tenant == 0:
				return nil, crowd.Fieldf("tenant", "say for which tenant")
			case b.BudgetMicros < 0:
				return nil, crowd.Fieldf("budget", "%s is not a budget (more than 0)", b.BudgetMicros)
			case b.From != "" && b.Parent == 0:
				return nil, crowd.Fieldf("parent", "is missing: from is a step of it")
			}
			made, err := a.app.Runs.Make(ctx, p, orchestrator.NewRun{
				Tenant: b.Tenant, Text: b.Workflow, Name: b.Name, Budget: b.BudgetMicros, Parent: b.Parent, From: b.From,
			})
			if err != nil {
				return nil, err
			}
			v, err := a.app.Runs.Get(ctx, p, made.Run.ID)
			if err != nil {
				return nil, err
			}
			out := &oneRun{ToRunOut(v)}
			out.Body.Notes = made.Notes
			return out, nil
		})
	add(a, op{method: http.MethodGet, path: "/v1/runs/{id}", summary: "Show a run as it stands", tag: runTag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *RunPath) (*oneRun, error) {
			return a.theRun(ctx, p, *in, nil)
		})
	add(a, op{method: http.MethodGet, path: "/v1/runs/{id}/workflow", summary: "Show the file of a run", tag: runTag, access: signedIn, streams: []string{"application/yaml"}},
		func(ctx context.Context, p *access.Principal, in *RunPath) (*huma.StreamResponse, error) {
			id, err := in.run()
			if err != nil {
				return nil, err
			}
			v, err := a.app.Runs.Get(ctx, p, id)
			if err != nil {
				return nil, err
			}
			return sent("application/yaml; charset=utf-8", []byte(v.Text)), nil
		})
	add(a, op{method: http.MethodGet, path: "/v1/runs/{id}/graph.svg", summary: "Draw a run: its steps, and where the items are", tag: runTag, access: signedIn, streams: []string{"image/svg+xml"}},
		func(ctx context.Context, p *access.Principal, in *RunPath) (*huma.StreamResponse, error) {
			id, err := in.run()
			if err != nil {
				return nil, err
			}
			v, err := a.app.Runs.Get(ctx, p, id)
			if err != nil {
				return nil, err
			}
			return sent("image/svg+xml", Picture(v)), nil
		})
	a.runMoves()
	add(a, op{method: http.MethodGet, path: "/v1/runs/{id}/events", summary: "Watch a run (server-sent events)", tag: runTag, access: signedIn, streams: []string{"text/event-stream"},
		text: "An event `progress` whose data is the run as it stands: one at once, then one after changes, at most four a second; the last when it has ended."},
		func(ctx context.Context, p *access.Principal, in *RunPath) (*huma.StreamResponse, error) {
			id, err := in.run()
			if err != nil {
				return nil, err
			}
			changed, stop, err := a.app.Runs.Watch(ctx, p, id)
			if err != nil {
				return nil, err
			}
			return &huma.StreamResponse{Body: func(ctx huma.Context) {
				defer stop()
				r, w := humago.Unwrap(ctx)
				httpkit.Streaming(w)
				w.Header().Set("Content-Type", "text/event-stream")
				w.Header().Set("Cache-Control", "no-store")
				a.sendEvents(ctx.Context(), w, httpkit.Secret(r), "progress", changed, func(p *access.Principal) (any, bool, error) {
					v, err := a.app.Runs.Get(ctx.Context(), p, id)
					if err != nil {
						return nil, false, err
					}
					return ToRunOut(v), v.State.Ended(), nil
				})
			}}, nil
		})
}

// sent is a response of this kind.
func sent(kind string, body []byte) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", kind)
		_, _ = ctx.BodyWriter().Write(body) // who has gone needs no answer
	}}
}

// runMoves are what can be done to a run.
func (a *api) runMoves() {
	moves := []struct {
		name, summary string
		do            func(context.Context, *access.Principal, crowd.RunID) (store.Run, error)
	}{
		{"start", "Begin a run whose inputs are there", a.app.Runs.Start},
		{"pause", "Hand out and call nothing more for now", a.app.Runs.Pause},
		{"resume", "Go on with a paused run", a.app.Runs.Resume},
		{"cancel", "Give a run up; what it has made stays to be read", a.app.Runs.Cancel},
	}
	for _, m := range moves {
		add(a, op{method: http.MethodPost, path: "/v1/runs/{id}/" + m.name, summary: m.summary, tag: runTag, access: signedIn},
			func(ctx context.Context, p *access.Principal, in *RunPath) (*oneRun, error) {
				return a.theRun(ctx, p, *in, func(id crowd.RunID) error {
					_, err := m.do(ctx, p, id)
					return err
				})
			})
	}
	add(a, op{method: http.MethodPost, path: "/v1/runs/{id}/steps/{step}/end", summary: "End a crowd step early, with the labels that there are", tag: runTag, access: signedIn,
		text: "The other items in it go on as failed."},
		func(ctx context.Context, p *access.Principal, in *RunStep) (*oneRun, error) {
			return a.theRun(ctx, p, in.RunPath, func(id crowd.RunID) error {
				_, err := a.app.Runs.EndStep(ctx, p, id, in.Step)
				return err
			})
		})
	type againIn struct {
		RunPath
		Step string `query:"step" doc:"of this step only"`
	}
	type againOut struct {
		Body struct {
			Items int `json:"items"`
			Steps int `json:"steps" doc:"that had failed as a whole"`
		}
	}
	add(a, op{method: http.MethodPost, path: "/v1/runs/{id}/retry", summary: "Try again what is held by an error, and steps that have failed", tag: runTag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *againIn) (*againOut, error) {
			id, err := in.run()
			if err != nil {
				return nil, err
			}
			out := &againOut{}
			out.Body.Items, out.Body.Steps, err = a.app.Runs.Retry(ctx, p, id, in.Step)
			return out, err
		})
	type skipOut struct {
		Body struct {
			Items int `json:"items"`
		}
	}
	add(a, op{method: http.MethodPost, path: "/v1/runs/{id}/skip", summary: "Give up the items that are held by an error", tag: runTag, access: signedIn,
		text: "They go on as failed."},
		func(ctx context.Context, p *access.Principal, in *againIn) (*skipOut, error) {
			id, err := in.run()
			if err != nil {
				return nil, err
			}
			out := &skipOut{}
			out.Body.Items, err = a.app.Runs.Skip(ctx, p, id, in.Step)
			return out, err
		})
}

// WorkflowStep is a step of a workflow that is in order.
type WorkflowStep struct {
	Name            string           `json:"name"`
	Kind            workflow.Kind    `json:"kind" enum:"crowd,sql,service"`
	From            []WorkflowEdge   `json:"from"`
	When            string           `json:"when,omitempty" doc:"its condition"`
	Columns         []WorkflowColumn `json:"columns" doc:"of its rows, whole"`
	Open            bool             `json:"open,omitempty" doc:"it has further columns, of an input that declares none"`
	RowByRow        bool             `json:"row_by_row" doc:"it makes a row of each item; false: it is a query over all rows"`
	Why             string           `json:"why,omitempty" doc:"why a query needs all rows, if it does even on a stream edge"`
	ExpectedSeconds float64          `json:"expected_seconds" doc:"for one item, until it has been observed"`
}

// WorkflowEdge is an edge into a step.
type WorkflowEdge struct {
	Name string        `json:"name"`
	Edge workflow.Edge `json:"edge" enum:"batch,stream"`
}

// WorkflowColumn is a column of a step's rows.
type WorkflowColumn struct {
	Name string `json:"name"`
	Type string `json:"type" enum:"text,number,bool"`
}

// WorkflowError is something wrong with a workflow's file, and where.
type WorkflowError struct {
	Line    int    `json:"line" doc:"from 1"`
	Column  int    `json:"column" doc:"in characters, from 1"`
	Message string `json:"message" doc:"what is wrong, and what would be right"`
}

// WorkflowOut says what is wrong with a workflow, or what its steps are.
type WorkflowOut struct {
	Name   string          `json:"name,omitempty"`
	Errors []WorkflowError `json:"errors"`
	Inputs []string        `json:"inputs"`
	Steps  []WorkflowStep  `json:"steps"`
}

// ToWorkflowOut is the JSON form of what checking a file gave.
func ToWorkflowOut(w *workflow.Workflow, problems []workflow.Problem) WorkflowOut {
	out := WorkflowOut{Errors: mapped(problems, func(p workflow.Problem) WorkflowError { return WorkflowError(p) }), Inputs: []string{}, Steps: []WorkflowStep{}}
	if len(problems) > 0 || w == nil {
		return out
	}
	out.Name = w.Name
	for _, in := range w.Inputs {
		out.Inputs = append(out.Inputs, in.Name)
	}
	for i := range w.Steps {
		s := &w.Steps[i]
		x := WorkflowStep{Name: s.Name, Kind: s.Kind, Columns: []WorkflowColumn{}, Open: s.Open, RowByRow: !s.MakesItems(), ExpectedSeconds: s.Expect.Seconds()}
		if s.When != nil {
			x.When = s.When.Text()
		}
		if s.SQL() != nil {
			x.Why = s.SQL().Why
		}
		for _, from := range s.From {
			x.From = append(x.From, WorkflowEdge{from.Name, from.Edge})
		}
		for _, c := range s.Columns {
			x.Columns = append(x.Columns, WorkflowColumn{c.Name, cmp.Or(string(c.Type), "text")})
		}
		out.Steps = append(out.Steps, x)
	}
	return out
}
