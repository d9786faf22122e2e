package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/wire"
)

// Filtered is which tasks of a batch are asked for, and how their answers are combined.
type Filtered struct {
	BatchPath
	Filter string `query:"filter" doc:"conditions such as agree:no confidence:<0.9; see docs/results.md"`
	Method string `query:"method" enum:"live,majority,median,ds-map,robust,onecoin,wawa,incremental,ds,mean,trimmed,weighted,central,per-option" doc:"default: for each field what fits it best; live: as the labels were given while answers came in"`

	parsed results.Filter
}

// Resolve implements huma.Resolver.
func (x *Filtered) Resolve(ctx huma.Context) []error {
	problems := x.BatchPath.Resolve(ctx)
	return append(problems, parse(&x.parsed, x.Filter, results.ParseFilter)...)
}

func (a *api) taskResults() {
	const tag = "Results"
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}/results", summary: "List tasks with their answers, labels and how sure they are", tag: tag, access: signedIn,
		text: "Those that meet the filter. In order of task, pages that follow each other have each task once, whatever is answered meanwhile; in another order they are of one moment."},
		func(ctx context.Context, p *access.Principal, in *struct {
			Filtered
			Cursor string `query:"cursor" doc:"next of the page before"`
			Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
		}) (wire.Results, error) {
			return as(toResults)(a.app.Results.List(ctx, p, in.id, results.Query{Filter: in.parsed, Method: in.Method, Cursor: in.Cursor, Limit: in.Limit}))
		})
	register(a, op{method: http.MethodGet, path: "/v1/batches/{id}/results/download", summary: "Download the tasks that meet a filter, or their answers", tag: tag, access: signedIn, streams: tables,
		text: "Exactly those that the list has on all its pages, with a column for each column of the file (`Input.x`) and each field of the answers (`Answer.y`)."},
		func(ctx context.Context, p *access.Principal, in *struct {
			Filtered
			ForSpreadsheet
			Names  bool   `query:"names" doc:"of answers: add worker_id and worker_name, which needs the permission people.names"`
			Rows   string `query:"rows" enum:"tasks,answers" default:"tasks" doc:"what a row is: a task with its labels, or an answer that counts"`
			Format string `query:"format" enum:"csv,tsv,jsonl" default:"csv"`
		}) (*huma.StreamResponse, error) {
			if in.Names {
				if err := a.app.Batches.MayName(ctx, p, in.id); err != nil {
					return nil, err
				}
			}
			d, err := a.app.Results.All(ctx, p, in.id, results.Query{Filter: in.parsed, Method: in.Method})
			if err != nil {
				return nil, err
			}
			t, err := d.Table(results.RowsAre(in.Rows), in.Names)
			if err != nil {
				return nil, err
			}
			name := d.FileName(results.RowsAre(in.Rows), in.parsed, time.Now())
			return a.stream(name, table.WriterOptions{Format: table.Format(in.Format), JSONColumns: t.JSON, GuardFormulas: in.Spreadsheet}, t.Columns, t.Rows), nil
		})
}

// reports registers what workers said is wrong with tasks.
func (a *api) reports() {
	const tag = "Results"
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}/reports", summary: "List what workers said is wrong with tasks", tag: tag, access: access.WorkReports},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			After uint32 `query:"after" doc:"next of the page before"`
			Limit int    `query:"limit" minimum:"1" maximum:"500" default:"100"`
		}) (wire.Reports, error) {
			_, list, more, err := a.app.Work.Reports(ctx, p, in.id, in.id.Assignment(in.After), in.Limit)
			out := wire.Reports{Reports: lists.Map(list, toReport)}
			if more {
				out.Next = strconv.FormatUint(uint64(list[len(list)-1].Assignment.N()), 10)
			}
			return out, err
		})
	addAction(a, op{method: http.MethodPut, path: "/v1/batches/{id}/tasks/{n}/reply", summary: "Answer the reports of a task, once for all", tag: tag, access: access.WorkReply,
		text: "The answer is shown to whoever gets the task later. It replaces an earlier one. A task that nobody has reported has none."},
		func(ctx context.Context, p *access.Principal, in *struct {
			TaskPath
			Body wire.NewReply
		}) error {
			return a.app.Work.Reply(ctx, p, in.task(), in.Body.Text)
		})
}

func toReport(r work.Report) wire.Report {
	return wire.Report{Assignment: r.Assignment, Task: r.Task, Worker: r.By.Pseudonym, WorkerID: r.By.ID, WorkerName: r.By.Name, At: r.At, Text: r.Text, Reply: r.Reply.Text, RepliedAt: r.Reply.At}
}

func toResults(p *results.Page) wire.Results {
	out := wire.Results{Batch: p.Batch.Spec.ID, Method: p.Method, At: p.At, Next: p.Next, Tasks: []wire.ResultTask{},
		Fields: lists.Map(p.Questions, func(q task.Question) wire.ResultField {
			return wire.ResultField{Name: q.Name, Type: string(q.Type), Options: q.Options, Labels: q.Labels}
		})}
	if c := p.Counts; p.Counted {
		out.Matching = &p.Matching
		out.Counts = &wire.ResultCounts{All: c.All, Disagree: c.Differ, Tie: c.Tie, Wrong: c.Wrong, Undecided: c.Undecided, Unanswered: c.Unanswered, Corrected: c.Corrected, Reviewed: c.Reviewed, Waiting: c.Waiting}
	}
	for i := range p.Rows {
		out.Tasks = append(out.Tasks, toResult(p.Batch.Columns, &p.Rows[i]))
	}
	return out
}

func toResult(columns []string, r *results.Row) wire.ResultTask {
	t := wire.ResultTask{Task: r.Task, Input: make(map[string]string), Known: r.Gold, Training: r.Lesson, Label: toLabel(r.Label), Wrong: r.Wrong, Review: toResultReview(r), SentBack: toSentBack(r), Answers: []wire.ResultAnswer{}}
	for i, v := range r.Values {
		t.Input[columns[i]] = v
	}
	for _, f := range r.Fields {
		if l := toLabel(f.Label); l != nil {
			if t.Fields == nil {
				t.Fields = make(map[string]wire.ResultLabel)
			}
			t.Fields[f.Name] = *l
		}
	}
	if r.Corrected != nil {
		c := toCorrection(*r.Corrected)
		t.Corrected = &c
	}
	if len(r.Answers) > 1 {
		agree := !r.Differ
		t.Agree = &agree
	}
	for i := range r.Answers {
		a := &r.Answers[i]
		t.Answers = append(t.Answers, wire.ResultAnswer{Assignment: a.Assignment, Worker: a.By.Pseudonym, WorkerID: a.By.ID, WorkerName: a.By.Name, AnsweredAt: a.EndedAt, Seconds: a.Took().Seconds(), Label: a.Key, Answer: a.Body, PaidMicros: a.Paid, Weight: lowered(a.Weight),
			Revised: a.Revised, RevisedAt: a.RevisedAt, Revisions: lists.Map(a.Revisions, func(x store.Revision) wire.ResultRevision {
				return wire.ResultRevision{N: x.N, At: x.At, Label: x.Key, Answer: x.Body}
			})})
	}
	return t
}

func toLabel(l *engine.Label) *wire.ResultLabel {
	if l == nil {
		return nil
	}
	return &wire.ResultLabel{Value: l.Value, Confidence: l.Confidence, Answers: l.Answers, Tie: l.Tie, Undecided: l.Undecided}
}
