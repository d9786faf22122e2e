package api

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/wire"
)

// file is a download.
type file struct {
	name, kind string
	write      func(*bufio.Writer) error
}

// stream sends rows as a file.
func (a *api) stream(name string, options table.WriterOptions, columns []string, rows iter.Seq2[[]string, error]) *huma.StreamResponse {
	return a.download(file{name + options.Format.Extension(), options.Format.ContentType(), func(w *bufio.Writer) error {
		return table.WriteRows(w, columns, options, rows)
	}})
}

// download sends a file. An error before anything was sent is answered as any other; one in
// the middle cuts the connection, so that half a file is never taken for a whole one.
func (a *api) download(f file) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		httpkit.Streaming(w)
		w.Header().Set("Content-Type", f.kind)
		w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", f.name))
		out := &httpkit.Download{To: w}
		buffer := bufio.NewWriterSize(out, 64<<10)
		err := f.write(buffer)
		if err == nil {
			err = buffer.Flush()
		}
		switch {
		case err == nil:
		case !out.Begun:
			w.Header().Del("Content-Disposition")
			a.refuse(ctx, err)
		default:
			httpkit.LogError(ctx.Context(), a.log, r, err)
			panic(http.ErrAbortHandler)
		}
	}}
}

// ExportPath is a download of a batch.
type ExportPath struct {
	BatchPath
	ForSpreadsheet
	Format string `query:"format" enum:"csv,tsv,jsonl" default:"csv"`
}

// options are those of the download, of whose columns these hold JSON.
func (x *ExportPath) options(jsonColumns ...string) table.WriterOptions {
	return table.WriterOptions{Format: table.Format(x.Format), JSONColumns: jsonColumns, GuardFormulas: x.Spreadsheet}
}

// ForSpreadsheet asks for a download that a spreadsheet may open: workers and
// inputs may hold texts that it would run.
type ForSpreadsheet struct {
	Spreadsheet bool `query:"spreadsheet" doc:"put an apostrophe before each cell of CSV or TSV that a spreadsheet would take for a formula"`
}

// tables are the content types of uploads and downloads.
var tables = []string{"text/csv", "text/tab-separated-values", "application/jsonl"}

func (a *api) results() {
	const tag = "Results"
	register(a, op{method: http.MethodGet, path: "/v1/batches/{id}/annotations", summary: "Download every answer, in order", tag: tag, access: signedIn, streams: tables,
		text: "Streamed, as of one moment. With `all`, assignments that ended without an answer too."},
		func(ctx context.Context, p *access.Principal, in *struct {
			ExportPath
			All   bool `query:"all"`
			Names bool `query:"names" doc:"add worker_id and worker_name, which needs the permission people.names"`
		}) (*huma.StreamResponse, error) {
			if in.Names {
				if err := a.app.Batches.MayName(ctx, p, in.id); err != nil {
					return nil, err
				}
			}
			b, list, err := a.app.Batches.Annotations(ctx, p, in.id, !in.All)
			if err != nil {
				return nil, err
			}
			t, err := results.AnnotationTable(&b, list, in.Names)
			if err != nil {
				return nil, err
			}
			return a.stream(b.Spec.ID.String()+"-annotations", in.options(t.JSON...), t.Columns, t.Rows), nil
		})
	register(a, op{method: http.MethodGet, path: "/v1/batches/{id}/labels", summary: "Download the label of every task, in order", tag: tag, access: signedIn, streams: tables,
		text: "`live`: as they were given while answers came in. The others make labels of all counted answers together, and learn from known answers if they can: which fit depends on the kind of question."},
		func(ctx context.Context, p *access.Principal, in *struct {
			ExportPath
			Method string `query:"method" enum:"live,majority,median,ds-map,robust,onecoin,wawa,incremental,ds,mean,trimmed,weighted,central,per-option,dawid-skene" default:"live" doc:"dawid-skene is what ds-map was called"`
		}) (*huma.StreamResponse, error) {
			b, list, err := a.app.Batches.Labels(ctx, p, in.id, in.Method)
			if err != nil {
				return nil, err
			}
			t := results.LabelTable(&b, list)
			name := b.Spec.ID.String() + "-labels"
			if in.Method != "live" { // those of each method are another file
				name += "-" + in.Method
			}
			return a.stream(name, in.options(t.JSON...), t.Columns, t.Rows), nil
		})
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}/quality", summary: "Agreement, accuracy against known answers, and how the workers do", tag: tag, access: signedIn,
		text: "Without `method`, by the one that fits the kind of question: `median` for ratings and numbers, `central` for short texts, `per-option` for several options, `ds-map` for all else."},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			Method string `query:"method" enum:"majority,median,ds-map,robust,onecoin,wawa,incremental,ds,mean,trimmed,weighted,central,per-option,dawid-skene" doc:"default: what fits the batch's kind; dawid-skene is what ds-map was called"`
		}) (wire.Quality, error) {
			return as(toQuality)(a.app.Batches.Quality(ctx, p, in.id, in.Method))
		})
	register(a, op{method: http.MethodGet, path: "/v1/batches/{id}/events", summary: "Watch a batch (server-sent events)", tag: tag, access: signedIn, streams: []string{"text/event-stream"},
		text: "An event `progress` whose data is the batch as it stands, without its template: one at once, then one after changes, at most four a second; the last when it has ended."},
		func(ctx context.Context, p *access.Principal, in *BatchPath) (*huma.StreamResponse, error) {
			changed, stop, err := a.app.Batches.Watch(ctx, p, in.id)
			return a.events("progress", changed, stop, func(ctx context.Context, p *access.Principal) (httpkit.Event, error) {
				v, err := a.app.Batches.Watched(ctx, p, in.id)
				b := toBatch(v)
				b.Template = nil // more than 1 MiB, of many streams at once, that none of its changes changes
				return httpkit.Event{Data: b, Last: v.Progress.State.Ended()}, err
			}), err
		})
}

// The pace of server-sent events.
const (
	eventGap  = 250 * time.Millisecond
	eventIdle = 20 * time.Second
)

// events is a stream of events of this name with what look returns: at once, and
// after changes, until it is the last or cannot be had. One without data is not sent. The bearer
// of the request's secret is authenticated before each event: what was true when the
// stream began may be long past. stop is called at the end.
func (a *api) events(name string, changed <-chan struct{}, stop func(), look func(context.Context, *access.Principal) (httpkit.Event, error)) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		defer stop()
		r, w := humago.Unwrap(ctx)
		err := httpkit.Events{Changed: changed, Gap: eventGap, Idle: eventIdle, Look: func(ctx context.Context) (e httpkit.Event, err error) {
			p, err := a.authenticate(ctx, r)
			if err != nil {
				return e, err
			}
			if e, err = look(ctx, p); e.Data != nil {
				e.Name = name
			}
			return e, err
		}}.Send(ctx.Context(), w)
		httpkit.LogError(ctx.Context(), a.log, r, err) // the status is out already
	}}
}

func toQuality(q *batches.Quality) wire.Quality {
	out := wire.Quality{Batch: q.Batch.Spec.ID, Asked: q.Asked, Scale: q.Scale.String(), Unanimous: q.Unanim, Several: q.Several, GoldTasks: q.GoldTasks, Learnt: q.Learnt,
		Workers: []wire.WorkerQuality{}, Groups: []wire.CopyGroup{}}
	for _, g := range q.Groups {
		group := wire.CopyGroup{Shared: g.Shared, Agreement: g.Agreement, Chance: g.Chance, Beyond: g.Low, Honest: g.Honest,
			Workers: lists.Map(g.Members, func(m pseudonym.Worker) string { return m.Pseudonym })}
		if q.Named {
			group.Names = lists.Map(g.Members, func(m pseudonym.Worker) string { return m.Name })
		}
		out.Groups = append(out.Groups, group)
	}
	if q.AlphaOK {
		out.Alpha = &q.Alpha
	}
	if q.GoldTasks > 0 {
		out.Accuracy = &q.Accuracy
	}
	if q.Result != nil {
		out.Method = q.Result.Method
	}
	for _, w := range q.Learning {
		out.Learning = append(out.Learning, wire.Learner{Worker: w.By.Pseudonym, WorkerID: w.By.ID, Name: w.By.Name, Right: w.Taught.Right, Answers: w.Taught.Done})
	}
	for i := range q.Workers {
		out.Workers = append(out.Workers, toWorkerQuality(&q.Workers[i]))
	}
	return out
}

func toWorkerQuality(w *results.WorkerQuality) wire.WorkerQuality {
	return wire.WorkerQuality{Worker: w.By.Pseudonym, WorkerID: w.By.ID, Name: w.By.Name, Blocked: w.Blocked, Answers: w.Answers, Agreement: w.Agreement,
		Skill: w.Reliability.Skill, SkillLow: w.Reliability.Low, SkillHigh: w.Reliability.High,
		GoldRight: w.Right, GoldAnswers: w.Gold, Taught: w.Taught.Done, TaughtRight: w.Taught.Right, Accuracy: w.Accuracy, Information: w.Information, Weight: lowered(w.Weight)}
}
