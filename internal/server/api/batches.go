package api

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/wire"
)

func newBatch(tenant crowd.TenantID, b *wire.BatchTerms) batches.NewBatch {
	n := batches.NewBatch{
		Tenant: tenant, Pool: b.Pool, Name: b.Name, Template: json.RawMessage(b.Template), Reward: b.RewardMicros, Budget: b.BudgetMicros,
		Priority: b.Priority, Deadline: b.Deadline, Production: b.Production,
		Lease:    time.Duration(b.LeaseSeconds) * time.Second,
		TaskTime: instant.Seconds(b.TaskTimeSeconds), EndsAt: b.EndsAt, Training: b.Training, PerWorker: b.PerWorker, Enough: (*engine.Enough)(b.Enough),
		Grace: time.Duration(b.GraceSeconds) * time.Second, Revise: time.Duration(b.ReviseSeconds) * time.Second, Requirements: requirements(b.Qualifications), Review: reviewTerms(b.Review), Approval: approval(b.Approval),
	}
	if b.Redundancy != nil {
		n.Redundancy = *b.Redundancy
	}
	n.Quality = lists.Map(b.Quality, func(r wire.QualityRule) engine.QualityRule { return engine.QualityRule(r) })
	if b.Checks != nil {
		checks := engine.Checks(*b.Checks).Completed()
		n.Checks = &checks
	}
	return n
}

func toBatch(v batches.BatchView) wire.Batch {
	s, p := &v.Spec, &v.Progress
	out := wire.Batch{
		ID: s.ID, Tenant: s.Tenant, State: p.State,
		BatchTerms: wire.BatchTerms{
			Name: v.Name, Pool: v.Pool, Redundancy: &s.Rule,
			RewardMicros: s.Reward, BudgetMicros: v.Budget(), Priority: s.Priority, Deadline: s.Deadline, Production: s.Production,
			LeaseSeconds: int64(s.Lease / time.Second), TaskTimeSeconds: s.TaskTime.Seconds(), EndsAt: s.EndsAt, Training: s.Training,
			PerWorker: s.PerWorker, Enough: (*wire.Enough)(s.Enough), GraceSeconds: int64(s.Grace / time.Second), ReviseSeconds: int64(s.Revise / time.Second), Checks: (*wire.Checks)(s.Checks), Approval: toApproval(s.Approval),
			Quality:        lists.Map(s.Quality, func(r engine.QualityRule) wire.QualityRule { return wire.QualityRule(r) }),
			Qualifications: qualifications(s.Requirements), Review: toReview(v.Review),
		},
		Template: wire.Template(v.Template), Columns: some(v.Columns), Tasks: s.Tasks, Known: p.Known, Stopped: p.Stopped,
		Planned: v.Planned(), Completed: p.Completed, Running: &v.Running, Waiting: &v.Waiting, Provisional: v.Undo, Labelled: p.Labelled, Removed: p.Removed,
		SpentMicros: v.Paid(), HeldMicros: v.Held(), RefusedPay: v.PayReturned, Spare: v.Spare, Reserved: max(v.Added, 0), Released: max(-v.Added, 0), CreatedAt: v.CreatedAt, LaunchedAt: p.LaunchedAt, EndedAt: p.EndedAt,
		ReviewOf: s.ReviewOf, ReviewedIn: v.ReviewedIn, Reviews: toReviews(v.Reviews), TakenOver: p.TakenOver.Labels, HadEnough: v.HadEnough(),
		AnswersDeletedAt: v.AnswersDeletedAt, FilesDeletedAt: v.FilesDeletedAt,
	}
	if s.ReviewOf == 0 {
		out.NotBy = s.NotBy
	}
	if v.Reason != crowd.Eligible {
		out.Reason, out.ReasonText, out.ReasonRemedy = &v.Reason, v.Because(), v.Remedy
	}
	if v.Place.N > 0 {
		out.Queue = &wire.QueuePlace{Place: v.Place.N, Of: v.Place.Of}
	}
	if v.Crowd.TooSmall() {
		out.Short, out.Remedy = v.Crowd.String(), v.CrowdRemedy
	}
	if p.State != crowd.BatchDraft {
		out.Priority, out.Deadline = p.Priority, p.Deadline
	}
	return out
}

// toStored is a batch of a list: what only the engine knows is left out, as lists of the
// store leave the template and the columns out.
func toStored(b store.Batch) wire.Batch {
	out := toBatch(batches.BatchView{Batch: b})
	out.Running, out.Waiting, out.Columns = nil, nil, nil
	return out
}

func toDraft(b store.Batch) wire.Batch { return toBatch(batches.BatchView{Batch: b}) }

func toUploaded(r batches.UploadReport) wire.Uploaded {
	return wire.Uploaded{Columns: r.Columns, Tasks: r.Tasks, Bad: r.Bad, Dropped: r.Dropped, Reserved: r.Reserved, Delimiter: r.Delimiter.String(), Problems: lists.Map(r.Problems, note)}
}

// Stream gives a handler the body as it comes, for as long as it keeps the pace.
type Stream struct {
	reader io.Reader
	sentAs table.Format // by its content type
}

// Resolve implements huma.Resolver.
func (s *Stream) Resolve(ctx huma.Context) []error {
	r, w := humago.Unwrap(ctx)
	httpkit.Receiving(w, r)
	s.reader, s.sentAs = r.Body, table.FormatOfType(ctx.Header("Content-Type"))
	return nil
}

// TableStream is a Stream that has a table.
type TableStream struct {
	Stream
	Delimiter string `query:"delimiter" doc:"what stands between the cells of CSV: , ; | or tab, or comma, semicolon and pipe, which need no escapes; default: found out from the content, whose header and most rows have as many cells by it"`
	by        table.Delimiter
}

// Resolve implements huma.Resolver.
func (s *TableStream) Resolve(ctx huma.Context) (wrong []error) {
	by, err := table.ParseDelimiter(s.Delimiter)
	if err != nil {
		return []error{problemOf(err)}
	}
	s.by = by
	return s.Stream.Resolve(ctx)
}

// options say how the table is read: by what the query says, or the content type.
func (s *TableStream) options(format string) table.Options {
	return table.Options{Format: cmp.Or(table.Format(format), s.sentAs), Delimiter: s.by}
}

// Duplicates says what becomes of rows of a file that are there twice.
type Duplicates struct {
	Do  string `query:"duplicates" enum:"keep,drop,refuse" default:"keep" doc:"of rows that are the same: keep all, drop all but the first, or refuse them as bad rows"`
	Key string `query:"key" doc:"the column that tells which rows are the same; default: all columns"`
}

func (d *Duplicates) rule() table.Duplicates {
	return table.Duplicates{Do: table.OnDuplicate(d.Do), Key: d.Key}
}

const batchTag = "Batches"

func (a *api) batches() {
	const tag = batchTag
	add(a, op{method: http.MethodGet, path: "/v1/batches", summary: "List batches, newest first", tag: tag, access: signedIn,
		text: "Of one tenant; admins may leave the tenant out. Go on with `before`, the last id seen. Counts are as of the last commit. Templates and columns are left out: each batch shows its own."},
		func(ctx context.Context, p *access.Principal, in *struct {
			OfTenant
			Before string `query:"before"`
			Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) ([]wire.Batch, error) {
			before, err := optional(in.Before, crowd.ParseBatchID)
			if err != nil {
				return nil, err
			}
			return each(toStored)(a.app.Batches.List(ctx, p, in.tenant, before, in.Limit))
		})
	add(a, op{method: http.MethodPost, path: "/v1/batches", summary: "Make a draft", tag: tag, access: access.BatchesCreate, status: http.StatusCreated, maxBody: 4 << 20,
		text: "Then PUT its tasks, look at a preview, and launch it."},
		func(ctx context.Context, p *access.Principal, in *struct{ Body wire.NewBatch }) (out wire.Batch, err error) {
			tenant, err := a.app.Tenants.Owner(ctx, p, in.Body.Tenant)
			if err != nil {
				return out, err
			}
			return as(toDraft)(a.app.Batches.Create(ctx, p, newBatch(tenant, &in.Body.BatchTerms)))
		})
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}", summary: "Show a batch as it stands", tag: tag, access: signedIn},
		of[BatchPath](a.app.Batches.Get, toBatch))
	add(a, op{method: http.MethodPut, path: "/v1/batches/{id}", summary: "Replace the definition of a draft", tag: tag, access: access.BatchesEditDraft, maxBody: 4 << 20},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			Body wire.BatchTerms
		}) (wire.Batch, error) {
			return as(toDraft)(a.app.Batches.EditDraft(ctx, p, in.id, func(n *batches.NewBatch) error { *n = newBatch(0, &in.Body); return nil }))
		})
	add(a, op{method: http.MethodPatch, path: "/v1/batches/{id}", summary: "Change a running batch: priority, deadline, reward, redundancy, production, when it has enough, emergency stop", tag: tag, access: access.BatchesChange,
		text: "All of it, or nothing. A change that can cost more than is left of the budget is refused with what is missing, unless it asks for `add_budget`. `release_budget` gives back what can no longer be spent. " +
			"Either needs the permission `budgets.change` as well, as does whatever reserves more for a step of a run; `stopped`, and an `enough` that is there already, that to launch."},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			Body wire.BatchEdit
		}) (wire.Batch, error) {
			if in.Body.Deadline != nil && in.Body.ClearDeadline {
				return wire.Batch{}, crowd.Fieldf("clear_deadline", "the deadline is set, too: give one of the two")
			}
			return as(toBatch)(a.app.Batches.Change(ctx, p, in.id, func(x *batches.RunningSettings) error {
				input.Set(&x.Priority, in.Body.Priority)
				input.Set(&x.Deadline, in.Body.Deadline)
				input.Set(&x.Reward, in.Body.RewardMicros)
				input.Set(&x.Redundancy, in.Body.Redundancy)
				input.Set(&x.Production, in.Body.Production)
				input.Set(&x.Enough, (*engine.Enough)(in.Body.Enough))
				input.Set(&x.Stopped, in.Body.Stopped)
				x.AddBudget, x.ReleaseBudget, x.AllowSmallCrowd = in.Body.AddBudget, in.Body.ReleaseBudget, in.Body.AllowSmallCrowd
				if in.Body.ClearDeadline {
					x.Deadline = time.Time{}
				}
				return nil
			}))
		})
	a.batchTasks()
	a.batchMoves()
	a.batchWaits()
}

// batchTasks registers what is done with the tasks of a batch.
func (a *api) batchTasks() {
	add(a, op{method: http.MethodPut, path: "/v1/batches/{id}/tasks", summary: "Upload a draft's tasks, one a row", tag: batchTag, access: access.BatchesUpload,
		text: "CSV with a header, TSV, or JSON Lines, read as it comes. It takes the place of earlier tasks. If a row is wrong, nothing is kept and every bad row is named; " +
			"with skip_bad the good rows are kept. The column `_gold` holds known answers, `_explain` why they are right, of those that are for training, `_workers` the only people who may do the task, by pseudonym, or with the permission people.names by name; empty: anybody.",
		uploads: tables},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			TableStream
			Duplicates
			Format  string `query:"format" enum:"csv,tsv,jsonl" doc:"default: from the content type, if it is that of TSV or JSON Lines, or else from the content"`
			SkipBad bool   `query:"skip_bad"`
		}) (out wire.Uploaded, err error) {
			opts := in.options(in.Format)
			return as(toUploaded)(a.app.Batches.Upload(ctx, p, in.id, in.reader, batches.Upload{Format: opts.Format, Delimiter: opts.Delimiter, SkipBad: in.SkipBad, Duplicates: in.rule()}))
		})
	add(a, op{method: http.MethodPost, path: "/v1/batches/{id}/tasks", summary: "Add tasks to a running batch, one a row", tag: batchTag, access: access.BatchesAddTasks,
		text: "A file as that of a draft, with the columns of the batch in any order, and without `_workers`: they are for everybody. All of its tasks are added, or none. " +
			"They are refused if the budget does not suffice for all that is left then, unless `add_budget` has what is missing reserved from the tenant's account, which needs the permission `budgets.change` as well.",
		uploads: tables},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			TableStream
			Duplicates
			Format    string `query:"format" enum:"csv,tsv,jsonl" doc:"default: from the content type, if it is that of TSV or JSON Lines, or else from the content"`
			SkipBad   bool   `query:"skip_bad"`
			After     uint32 `query:"after" minimum:"1" maximum:"4294967295" doc:"how many tasks the batch has now: if it has others, nothing is added. With it, what is sent again is not added twice."`
			AddBudget bool   `query:"add_budget"`
		}) (out wire.Uploaded, err error) {
			opts := in.options(in.Format)
			how := batches.Addition{Upload: batches.Upload{Format: opts.Format, Delimiter: opts.Delimiter, SkipBad: in.SkipBad, Duplicates: in.rule()}, After: in.After, AddBudget: in.AddBudget}
			return as(toUploaded)(a.app.Batches.AddTasks(ctx, p, in.id, in.reader, how))
		})
	add(a, op{method: http.MethodDelete, path: "/v1/batches/{id}/tasks/{n}", summary: "Take a task out of a running batch", tag: batchTag, access: access.BatchesRemoveTask,
		text: "It is handed out no more, gets no label, and is left out of the labels. Its answers are kept, and who holds it is paid for theirs. A task that has its label stays. With `also`, all of the tasks are taken out, or none."},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			N    uint32   `path:"n" minimum:"1" maximum:"4294967295" doc:"its number: 5 of t17.5"`
			Also []uint32 `query:"also" maxItems:"10000" doc:"numbers of others that are taken out with it, such as 6,9"`
		}) (wire.Batch, error) {
			return as(toBatch)(a.app.Batches.RemoveTask(ctx, p, in.id.Task(in.N), in.Also...))
		})
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}/preview/{n}", summary: "Show the n-th task as a worker sees it", tag: batchTag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			N uint32 `path:"n" minimum:"1" maximum:"4294967295"`
		}) (out wire.Preview, err error) {
			v, err := a.app.Batches.Preview(ctx, p, in.id, in.N)
			if err != nil {
				return out, err
			}
			out = wire.Preview{Task: v.Task, Tasks: v.Tasks, Values: wire.Values{Values: v.Values.Values()}, View: v.Template.Render(v.Values)}
			if out.View.Framed() {
				out.HTML, err = v.Template.RenderHTML(v.Values, task.Frame{Preview: true, TaskID: v.Task.String()})
			}
			return out, err
		})
}

// batchMoves registers what changes the state or the budget of a batch.
func (a *api) batchMoves() {
	add(a, op{method: http.MethodPost, path: "/v1/batches/{id}/launch", summary: "Launch a draft", tag: batchTag, access: signedIn,
		text: "Its budget is reserved from the tenant's account, and the rest given back at its end."},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			AllowSmallCrowd bool `query:"allow_small_crowd" doc:"even if the pool has fewer people than a task needs answers from"`
		}) (wire.Batch, error) {
			return as(toBatch)(a.app.Batches.Launch(ctx, p, in.id, in.AllowSmallCrowd))
		})
	moves := []struct {
		name, summary string
		do            func(context.Context, *access.Principal, crowd.BatchID) (batches.BatchView, error)
	}{
		{"pause", "Hand out nothing more for now", a.app.Batches.Pause},
		{"resume", "Hand out again", a.app.Batches.Resume},
		{"end", "End early, with the labels that there are", a.app.Batches.End},
		{"cancel", "Give the batch up, running or draft, of which the tasks and the template are deleted", a.app.Batches.Cancel},
	}
	for _, m := range moves {
		add(a, op{method: http.MethodPost, path: "/v1/batches/{id}/" + m.name, summary: m.summary, tag: batchTag, access: signedIn},
			of[BatchPath](m.do, toBatch))
	}
	add(a, op{method: http.MethodPost, path: "/v1/batches/{id}/top-up", summary: "Add to a running batch's budget", tag: batchTag, access: access.BatchesTopUp},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			Body wire.TopUp
		}) (wire.Batch, error) {
			return as(toBatch)(a.app.Batches.TopUp(ctx, p, in.id, in.Body.AmountMicros))
		})
}

// batchWaits registers who holds the tasks of a batch, and why the others wait.
func (a *api) batchWaits() {
	toHeld := func(h batches.Holder) wire.Held {
		return wire.Held{Assignment: h.Assignment, Task: h.Task, Worker: h.By.Pseudonym, WorkerID: h.By.ID, WorkerName: h.By.Name, Since: h.At, ExpiresAt: h.Expires}
	}
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}/holding", summary: "Who holds what, the longest held first", tag: batchTag, access: signedIn},
		of[BatchPath](a.app.Batches.Holding, all(toHeld)))
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}/why", summary: "Why is my task waiting?", tag: batchTag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *BatchPath) (wire.Why, error) {
			why, err := a.app.Batches.Why(ctx, p, in.id)
			return wire.Why{Reason: why.Reason, Text: why.Text, Ahead: why.Ahead, Workers: byReason(why.Workers)}, err
		})
}

func byReason(counts map[crowd.Reason]int) map[string]int {
	out := make(map[string]int, len(counts))
	for r, n := range counts {
		out[r.String()] = n
	}
	return out
}
