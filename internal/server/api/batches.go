package api

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// redundancy is the JSON form of label.Rule.
type redundancy struct{ label.Rule }

// Schema implements huma.SchemaProvider.
func (redundancy) Schema(huma.Registry) *huma.Schema {
	number := &huma.Schema{Type: huma.TypeInteger}
	return &huma.Schema{
		Type:        huma.TypeObject,
		Description: `How many answers a task needs: {"count": n}, or {"agree": k, "of": n}: as soon as k are equal, at most n`,
		Properties:  map[string]*huma.Schema{"count": number, "agree": number, "of": number},
		Examples:    []any{map[string]int{"count": 3}},
	}
}

// templateJSON is a template as it stands in JSON; package template reads it.
type templateJSON json.RawMessage

// MarshalJSON implements json.Marshaler.
func (t templateJSON) MarshalJSON() ([]byte, error) { return json.RawMessage(t).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (t *templateJSON) UnmarshalJSON(data []byte) error {
	*t = append((*t)[:0], data...)
	return nil
}

// Schema implements huma.SchemaProvider.
func (templateJSON) Schema(huma.Registry) *huma.Schema {
	kinds := make([]any, 0, len(task.Kinds()))
	for _, k := range task.Kinds() {
		kinds = append(kinds, string(k))
	}
	return &huma.Schema{
		Type:                 huma.TypeObject,
		Description:          "How a task is shown and answered; see docs/templates.md",
		Properties:           map[string]*huma.Schema{"kind": {Type: huma.TypeString, Enum: kinds}},
		Required:             []string{"kind"},
		AdditionalProperties: true,
		Examples:             []any{map[string]any{"kind": "choose_one", "question": "Is this a ${thing}?", "options": []string{"yes", "no"}}},
	}
}

type requirement struct {
	Name string `json:"name"`
	Min  int    `json:"min" minimum:"0" maximum:"100"`
}

// BatchIn is the definition of a batch.
type BatchIn struct {
	Name            string        `json:"name"`
	Pool            crowd.PoolID  `json:"pool,omitempty" doc:"default: the first pool"`
	Template        templateJSON  `json:"template"`
	Redundancy      *redundancy   `json:"redundancy,omitempty"`
	RewardMicros    crowd.Money   `json:"reward_micros" doc:"for each counted answer, in millionths of the currency" example:"50000"`
	BudgetMicros    crowd.Money   `json:"budget_micros,omitempty" doc:"reserved at launch; default: the most that the batch can cost"`
	Priority        float64       `json:"priority,omitempty" doc:"P_b > 0; default 1"`
	Deadline        time.Time     `json:"deadline,omitzero"`
	Production      bool          `json:"production,omitempty" doc:"deadline-aware policies push it towards the finish"`
	LeaseSeconds    int64         `json:"lease_seconds,omitempty" minimum:"0" maximum:"2678400" doc:"how long a worker may hold a task; default 1800"`
	TaskTimeSeconds float64       `json:"task_time_seconds,omitempty" minimum:"0" maximum:"2678400" doc:"your estimate for one answer; default 30"`
	EndsAt          time.Time     `json:"ends_at,omitzero" doc:"ended then with what there is"`
	Qualifications  []requirement `json:"qualifications,omitempty" doc:"what a worker must hold"`
	Training        bool          `json:"training,omitempty" doc:"its tasks are for newcomers of the pool, who do some of them before they get others"`
}

func (b *BatchIn) toService(tenant crowd.TenantID) app.NewBatch {
	n := app.NewBatch{
		Tenant: tenant, Pool: b.Pool, Name: b.Name, Template: json.RawMessage(b.Template), Reward: b.RewardMicros, Budget: b.BudgetMicros,
		Priority: b.Priority, Deadline: b.Deadline, Production: b.Production,
		Lease:    time.Duration(b.LeaseSeconds) * time.Second,
		TaskTime: time.Duration(b.TaskTimeSeconds * float64(time.Second)), EndsAt: b.EndsAt, Training: b.Training,
	}
	if b.Redundancy != nil {
		n.Redundancy = b.Redundancy.Rule
	}
	for _, q := range b.Qualifications {
		n.Requirements = append(n.Requirements, engine.Requirement(q))
	}
	return n
}

// batchOut is a batch as it stands.
type batchOut struct {
	ID     crowd.BatchID    `json:"id"`
	Tenant crowd.TenantID   `json:"tenant"`
	State  crowd.BatchState `json:"state" enum:"draft,running,paused,done,ended,cancelled"`
	BatchIn
	Columns     []string      `json:"columns"`
	Tasks       uint32        `json:"tasks"`
	Stopped     bool          `json:"stopped" doc:"emergency stop"`
	Planned     int           `json:"planned" doc:"answers wanted: T_b"`
	Completed   int           `json:"completed" doc:"answers that count: C_b"`
	Running     *int          `json:"running,omitempty" doc:"in somebody's hands: R_b; left out of lists"`
	Waiting     *int          `json:"waiting,omitempty" doc:"wanted, in nobody's hands; left out of lists"`
	Labelled    int           `json:"labelled" doc:"tasks with a label"`
	SpentMicros crowd.Money   `json:"spent_micros"`
	Reason      *crowd.Reason `json:"reason,omitempty" doc:"why what waits is not taken"`
	ReasonText  string        `json:"reason_text,omitempty"`
	CreatedAt   time.Time     `json:"created_at"`
	LaunchedAt  *time.Time    `json:"launched_at,omitempty"`
	EndedAt     *time.Time    `json:"ended_at,omitempty"`
}

func toBatchOut(v app.BatchView) batchOut {
	s, p := &v.Spec, &v.Progress
	out := batchOut{
		ID: s.ID, Tenant: s.Tenant, State: p.State,
		BatchIn: BatchIn{
			Name: v.Name, Pool: v.Pool, Template: templateJSON(v.Template), Redundancy: &redundancy{s.Rule},
			RewardMicros: s.Reward, BudgetMicros: v.Budget(), Priority: s.Priority, Deadline: s.Deadline, Production: s.Production,
			LeaseSeconds: int64(s.Lease / time.Second), TaskTimeSeconds: s.TaskTime.Seconds(), EndsAt: s.EndsAt, Training: s.Training,
		},
		Columns: append([]string{}, v.Columns...), Tasks: s.Tasks, Stopped: p.Stopped,
		Planned: p.Planned, Completed: p.Completed, Running: &v.Running, Waiting: &v.Waiting, Labelled: p.Labelled,
		SpentMicros: p.Spent, Reason: ptr(v.Reason), CreatedAt: v.CreatedAt, LaunchedAt: ptr(p.LaunchedAt), EndedAt: ptr(p.EndedAt),
	}
	if v.Reason != crowd.Eligible {
		out.ReasonText = v.Reason.Text()
	}
	if p.State != crowd.BatchDraft {
		out.Priority, out.Deadline = p.Priority, p.Deadline
		reserved, _ := app.Budget(s) // it was launched, so there is one
		out.BudgetMicros = max(reserved, v.Budget())
	}
	for _, q := range s.Requirements {
		out.Qualifications = append(out.Qualifications, requirement(q))
	}
	return out
}

type BatchPath struct {
	ID string `path:"id" example:"b17"`
}

func (b BatchPath) batch() (crowd.BatchID, error) { return crowd.ParseBatchID(b.ID) }

type oneBatch struct{ Body batchOut }

// Stream gives a handler the body as it comes, for as long as it takes.
type Stream struct{ reader io.Reader }

// Resolve implements huma.Resolver.
func (s *Stream) Resolve(ctx huma.Context) []error {
	s.reader = ctx.BodyReader()
	_, w := humago.Unwrap(ctx)
	httpkit.Streaming(w)
	_ = ctx.SetReadDeadline(time.Time{}) // a writer of tests has none, and none is in the way
	return nil
}

type uploadOut struct {
	Body struct {
		Columns  []string    `json:"columns"`
		Tasks    int         `json:"tasks" doc:"rows kept"`
		Bad      int         `json:"bad" doc:"rows that were wrong"`
		Problems []FieldNote `json:"problems" doc:"the first of them"`
	}
}

func (a *api) batches() {
	const tag = "Batches"
	add(a, op{method: http.MethodGet, path: "/v1/batches", summary: "List batches, newest first", tag: tag, access: signedIn,
		text: "Of one tenant; admins may leave the tenant out. Go on with `before`, the last id seen. Counts are as of the last commit."},
		func(ctx context.Context, p *app.Principal, in *struct {
			Tenant string `query:"tenant"`
			Before string `query:"before"`
			Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) (*struct{ Body []batchOut }, error) {
			tenant, err := optional(in.Tenant, crowd.ParseTenantID)
			if err != nil {
				return nil, err
			}
			if tenant == 0 && len(p.Tenants()) == 1 && !p.Is(app.Admin) {
				tenant = p.Tenants()[0]
			}
			before, err := optional(in.Before, crowd.ParseBatchID)
			if err != nil {
				return nil, err
			}
			list, err := a.service.Batches(ctx, p, tenant, before, in.Limit)
			return &struct{ Body []batchOut }{mapped(list, func(b store.Batch) batchOut {
				out := toBatchOut(app.BatchView{Batch: b})
				out.Running, out.Waiting = nil, nil // only the engine knows
				return out
			})}, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/batches", summary: "Make a draft", tag: tag, access: signedIn, status: http.StatusCreated, maxBody: 4 << 20,
		text: "Then PUT its tasks, look at a preview, and launch it."},
		func(ctx context.Context, p *app.Principal, in *struct {
			Body struct {
				Tenant crowd.TenantID `json:"tenant,omitempty" doc:"may be left out by a requester of one tenant"`
				BatchIn
			}
		}) (*oneBatch, error) {
			tenant := in.Body.Tenant
			if tenant == 0 && len(p.Tenants()) == 1 {
				tenant = p.Tenants()[0]
			}
			if tenant == 0 {
				return nil, crowd.Fieldf("tenant", "say for which tenant")
			}
			b, err := a.service.CreateBatch(ctx, p, in.Body.toService(tenant))
			return &oneBatch{toBatchOut(app.BatchView{Batch: b})}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}", summary: "Show a batch as it stands", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *BatchPath) (*oneBatch, error) {
			return a.onBatch(in, func(id crowd.BatchID) (app.BatchView, error) { return a.service.Batch(ctx, p, id) })
		})
	add(a, op{method: http.MethodPut, path: "/v1/batches/{id}", summary: "Replace the definition of a draft", tag: tag, access: signedIn, maxBody: 4 << 20},
		func(ctx context.Context, p *app.Principal, in *struct {
			BatchPath
			Body BatchIn
		}) (*oneBatch, error) {
			return a.onBatch(&in.BatchPath, func(id crowd.BatchID) (app.BatchView, error) {
				b, err := a.service.EditDraft(ctx, p, id, in.Body.toService(0))
				return app.BatchView{Batch: b}, err
			})
		})
	add(a, op{method: http.MethodPatch, path: "/v1/batches/{id}", summary: "Change a running batch: priority, deadline, emergency stop", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *struct {
			BatchPath
			Body struct {
				Priority      *float64   `json:"priority,omitempty"`
				Deadline      *time.Time `json:"deadline,omitempty"`
				ClearDeadline bool       `json:"clear_deadline,omitempty"`
				Stopped       *bool      `json:"stopped,omitempty"`
			}
		}) (*oneBatch, error) {
			edit := app.BatchEdit{Priority: in.Body.Priority, Deadline: in.Body.Deadline, Stopped: in.Body.Stopped}
			if in.Body.ClearDeadline {
				edit.Deadline = &time.Time{}
			}
			return a.onBatch(&in.BatchPath, func(id crowd.BatchID) (app.BatchView, error) { return a.service.EditBatch(ctx, p, id, edit) })
		})
	add(a, op{method: http.MethodPut, path: "/v1/batches/{id}/tasks", summary: "Upload a draft's tasks, one a row", tag: tag, access: signedIn,
		text: "CSV with a header, TSV, or JSON Lines, read as it comes. It takes the place of earlier tasks. If a row is wrong, nothing is kept and every bad row is named; " +
			"with skip_bad the good rows are kept. The column `_gold` holds known answers, `_workers` the names of the only people who may do the task.",
		uploads: tables},
		func(ctx context.Context, p *app.Principal, in *struct {
			BatchPath
			Stream
			Format  string `query:"format" enum:"csv,tsv,jsonl" doc:"default: from the content"`
			SkipBad bool   `query:"skip_bad"`
		}) (*uploadOut, error) {
			id, err := in.batch()
			if err != nil {
				return nil, err
			}
			r, err := a.service.Upload(ctx, p, id, in.reader, app.Upload{Format: table.Format(in.Format), SkipBad: in.SkipBad})
			if err != nil {
				return nil, err
			}
			out := &uploadOut{}
			out.Body.Columns, out.Body.Tasks, out.Body.Bad, out.Body.Problems = r.Columns, r.Tasks, r.Bad, mapped(r.Problems, note)
			return out, nil
		})
	type previewOut struct {
		Body struct {
			Task   crowd.TaskID `json:"task"`
			Tasks  uint32       `json:"tasks"`
			Values values       `json:"values"`
			View   task.View    `json:"view"`
			HTML   string       `json:"html,omitempty" doc:"of kind html: a document for a sandboxed frame"`
		}
	}
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}/preview/{n}", summary: "Show the n-th task as a worker sees it", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *struct {
			BatchPath
			N uint32 `path:"n" minimum:"1"`
		}) (*previewOut, error) {
			id, err := in.batch()
			if err != nil {
				return nil, err
			}
			v, err := a.service.Preview(ctx, p, id, in.N)
			if err != nil {
				return nil, err
			}
			out := &previewOut{}
			out.Body.Task, out.Body.Tasks, out.Body.Values, out.Body.View = v.Task, v.Tasks, values(v.Values), v.Template.Render(v.Values)
			if v.Template.Template().Kind == task.HTML {
				out.Body.HTML, err = v.Template.RenderHTML(v.Values, task.Frame{Preview: true, TaskID: v.Task.String()})
			}
			return out, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/batches/{id}/launch", summary: "Launch a draft", tag: tag, access: signedIn,
		text: "Its budget is reserved from the tenant's account, and the rest given back at its end."},
		func(ctx context.Context, p *app.Principal, in *struct {
			BatchPath
			AllowSmallCrowd bool `query:"allow_small_crowd" doc:"even if the pool has fewer people than a task needs answers from"`
		}) (*oneBatch, error) {
			return a.onBatch(&in.BatchPath, func(id crowd.BatchID) (app.BatchView, error) {
				return a.service.Launch(ctx, p, id, in.AllowSmallCrowd)
			})
		})
	moves := []struct {
		name, summary string
		do            func(context.Context, *app.Principal, crowd.BatchID) (app.BatchView, error)
	}{
		{"pause", "Hand out nothing more for now", a.service.PauseBatch},
		{"resume", "Hand out again", a.service.ResumeBatch},
		{"end", "End early, with the labels that there are", a.service.EndBatch},
		{"cancel", "Give the batch up, running or draft", a.service.CancelBatch},
	}
	for _, m := range moves {
		add(a, op{method: http.MethodPost, path: "/v1/batches/{id}/" + m.name, summary: m.summary, tag: tag, access: signedIn},
			func(ctx context.Context, p *app.Principal, in *BatchPath) (*oneBatch, error) {
				return a.onBatch(in, func(id crowd.BatchID) (app.BatchView, error) { return m.do(ctx, p, id) })
			})
	}
	add(a, op{method: http.MethodPost, path: "/v1/batches/{id}/top-up", summary: "Add to a running batch's budget", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *struct {
			BatchPath
			Body struct {
				AmountMicros crowd.Money `json:"amount_micros"`
			}
		}) (*oneBatch, error) {
			return a.onBatch(&in.BatchPath, func(id crowd.BatchID) (app.BatchView, error) {
				return a.service.TopUp(ctx, p, id, in.Body.AmountMicros)
			})
		})
	type heldOut struct {
		Assignment crowd.AssignmentID `json:"assignment"`
		Task       crowd.TaskID       `json:"task"`
		Worker     crowd.WorkerID     `json:"worker"`
		Since      time.Time          `json:"since"`
		ExpiresAt  time.Time          `json:"expires_at"`
	}
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}/holding", summary: "Who holds what, the longest held first", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *BatchPath) (*struct{ Body []heldOut }, error) {
			id, err := in.batch()
			if err != nil {
				return nil, err
			}
			list, err := a.service.Holding(ctx, p, id)
			return &struct{ Body []heldOut }{mapped(list, func(h engine.Handout) heldOut {
				return heldOut{h.Assignment, h.Task, h.Worker, h.At, h.Expires}
			})}, err
		})
	type whyOut struct {
		Body struct {
			Reason  crowd.Reason   `json:"reason"`
			Text    string         `json:"text"`
			Ahead   int            `json:"ahead" doc:"running batches before it in the policy's order"`
			Workers map[string]int `json:"workers" doc:"people of the pool, by the reason why they could not take it now"`
		}
	}
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}/why", summary: "Why is my task waiting?", tag: tag, access: signedIn},
		func(ctx context.Context, p *app.Principal, in *BatchPath) (*whyOut, error) {
			id, err := in.batch()
			if err != nil {
				return nil, err
			}
			why, err := a.service.WhyBatch(ctx, p, id)
			out := &whyOut{}
			out.Body.Reason, out.Body.Text, out.Body.Ahead, out.Body.Workers = why.Reason, why.Reason.Text(), why.Ahead, byReason(why.Workers)
			return out, err
		})
}

func byReason(counts map[crowd.Reason]int) map[string]int {
	out := make(map[string]int, len(counts))
	for r, n := range counts {
		out[r.String()] = n
	}
	return out
}

// onBatch parses the id and answers with the batch.
func (a *api) onBatch(in *BatchPath, do func(crowd.BatchID) (app.BatchView, error)) (*oneBatch, error) {
	id, err := in.batch()
	if err != nil {
		return nil, err
	}
	v, err := do(id)
	if err != nil {
		return nil, err
	}
	return &oneBatch{toBatchOut(v)}, nil
}
