package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/label"
)

// download streams rows as a file. Errors in the middle cut the connection, so
// that half a file is never taken for a whole one.
func (a *api) download(name string, format table.Format, columns []string, jsonColumns []string, rows iter.Seq2[[]string, error]) *huma.StreamResponse {
	return a.stream(name, table.WriterOptions{Format: format, JSONColumns: jsonColumns}, columns, rows)
}

func (a *api) stream(name string, options table.WriterOptions, columns []string, rows iter.Seq2[[]string, error]) *huma.StreamResponse {
	format := options.Format
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		httpkit.Streaming(w)
		w.Header().Set("Content-Type", format.ContentType())
		w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name+format.Extension()))
		buffer := bufio.NewWriterSize(w, 64<<10)
		err := table.WriteRows(buffer, columns, options, rows)
		if err == nil {
			err = buffer.Flush()
		}
		if err != nil {
			httpkit.LogError(ctx.Context(), a.log, r, err)
			panic(http.ErrAbortHandler)
		}
	}}
}

// inputColumns names the columns of the upload in an export, as MTurk does.
func inputColumns(b store.Batch) []string {
	out := make([]string, len(b.Columns))
	for i, c := range b.Columns {
		out[i] = "Input." + c
	}
	return out
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func seconds(from, to time.Time) string {
	if from.IsZero() || to.IsZero() {
		return ""
	}
	return strconv.FormatFloat(to.Sub(from).Seconds(), 'f', 3, 64)
}

// ExportPath is a download of a batch.
type ExportPath struct {
	BatchPath
	Format string `query:"format" enum:"csv,tsv,jsonl" default:"csv"`
}

// tables are the content types of uploads and downloads.
var tables = []string{"text/csv", "text/tab-separated-values", "application/jsonl"}

func (a *api) results() {
	const tag = "Results"
	register(a, op{method: http.MethodGet, path: "/v1/batches/{id}/annotations", summary: "Download every answer, in order", tag: tag, access: signedIn, streams: tables,
		text: "Streamed, as of one moment. With `all`, assignments that ended without an answer too."},
		func(ctx context.Context, p *access.Principal, in *struct {
			ExportPath
			All bool `query:"all"`
		}) (*huma.StreamResponse, error) {
			b, list, err := a.app.Batches.Annotations(ctx, p, in.id, !in.All)
			if err != nil {
				return nil, err
			}
			columns := append([]string{"assignment", "task", "worker", "worker_name", "state", "assigned_at", "ended_at", "seconds",
				"label", "answer", "counted", "late", "paid_micros"}, inputColumns(b)...)
			return a.download(b.Spec.ID.String()+"-annotations", table.Format(in.Format), columns, []string{"seconds", "answer", "counted", "late", "paid_micros"}, annotationRows(list)), nil
		})
	register(a, op{method: http.MethodGet, path: "/v1/batches/{id}/labels", summary: "Download the label of every task, in order", tag: tag, access: signedIn, streams: tables,
		text: "`live`: as they were given while answers came in. `majority`, `median`, `dawid-skene`: from all counted answers together; `median` is for ratings and numbers."},
		func(ctx context.Context, p *access.Principal, in *struct {
			ExportPath
			Method string `query:"method" enum:"live,majority,median,dawid-skene" default:"live"`
		}) (*huma.StreamResponse, error) {
			b, list, err := a.app.Batches.Labels(ctx, p, in.id)
			if err != nil {
				return nil, err
			}
			var fitted *label.Result
			if in.Method != "live" {
				q, err := a.app.Batches.Quality(ctx, p, in.id, in.Method)
				if err != nil {
					return nil, err
				}
				fitted = q.Result
			}
			columns := append([]string{"task", "label", "confidence", "answers", "tie", "undecided", "gold"}, inputColumns(b)...)
			return a.download(b.Spec.ID.String()+"-labels", table.Format(in.Format), columns, []string{"confidence", "answers", "tie", "undecided"}, labelRows(list, in.Method != "live", fitted)), nil
		})
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}/quality", summary: "Agreement, accuracy against known answers, and how the workers do", tag: tag, access: signedIn,
		text: "Without `method`, by the one that fits the kind of question: `median` for ratings, `majority` for numbers and short texts, `dawid-skene` for all else. `median` is for ratings and numbers only."},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			Method string `query:"method" enum:"majority,median,dawid-skene" doc:"default: what fits the batch's kind"`
		}) (wire.Quality, error) {
			return as(toQuality)(a.app.Batches.Quality(ctx, p, in.id, in.Method))
		})
	register(a, op{method: http.MethodGet, path: "/v1/batches/{id}/events", summary: "Watch a batch (server-sent events)", tag: tag, access: signedIn, streams: []string{"text/event-stream"},
		text: "An event `progress` whose data is the batch as it stands: one at once, then one after changes, at most four a second; the last when it has ended."},
		func(ctx context.Context, p *access.Principal, in *BatchPath) (*huma.StreamResponse, error) {
			changed, stop, err := a.app.Batches.Watch(ctx, p, in.id)
			return a.events("progress", changed, stop, func(ctx context.Context, p *access.Principal) (any, bool, error) {
				v, err := a.app.Batches.Get(ctx, p, in.id)
				return toBatch(v), v.Progress.State.Ended(), err
			}), err
		})
}

// Server-sent events: at most one in so long, and a comment when nothing else
// has been sent for so long, so that proxies keep the connection.
const (
	eventGap  = 250 * time.Millisecond
	keepAlive = 20 * time.Second
)

// events is a stream of events of this name with what look returns: at once, and
// after changes, until it is the last or cannot be had. Nil is not sent. stop is
// called at the end.
func (a *api) events(name string, changed <-chan struct{}, stop func(), look func(context.Context, *access.Principal) (v any, last bool, err error)) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		defer stop()
		r, w := humago.Unwrap(ctx)
		httpkit.Streaming(w)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-store")
		a.sendEvents(ctx.Context(), w, httpkit.Secret(r), name, changed, look)
	}}
}

// sendEvents writes the stream. The bearer of secret is authenticated before each
// event: what was true when the stream began may be long past.
func (a *api) sendEvents(ctx context.Context, w http.ResponseWriter, secret, name string, changed <-chan struct{}, look func(context.Context, *access.Principal) (v any, last bool, err error)) {
	flush := http.NewResponseController(w).Flush
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		p, err := a.app.Accounts.Authenticate(ctx, secret)
		if err != nil {
			return
		}
		v, last, err := look(ctx, p)
		if err != nil {
			return
		}
		if v != nil {
			data, err := json.Marshal(v)
			if err != nil {
				return
			}
			if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data); err != nil || flush() != nil {
				return
			}
		}
		if last {
			return
		}
		gap := time.NewTimer(eventGap)
		select {
		case <-gap.C:
		case <-ctx.Done():
			gap.Stop()
			return
		}
		for waiting := true; waiting; {
			select {
			case _, open := <-changed:
				if !open {
					return
				}
				waiting = false
			case <-alive.C:
				if _, err := io.WriteString(w, ": still here\n\n"); err != nil || flush() != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

func annotationRows(list iter.Seq2[store.Annotation, error]) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		var row []string
		for x, err := range list {
			if err != nil {
				yield(nil, err)
				return
			}
			row = append(row[:0], x.Assignment.String(), x.Task.String(), x.Worker.String(), x.WorkerName, string(x.State),
				stamp(x.AssignedAt), stamp(x.EndedAt), seconds(x.AssignedAt, x.EndedAt), x.Key, string(x.Body),
				strconv.FormatBool(x.Counted), strconv.FormatBool(x.Late), strconv.FormatInt(int64(x.Paid), 10))
			if !yield(append(row, x.Values...), nil) {
				return
			}
		}
	}
}

// labelRows yields a row for each task: with the label that it was given live, or,
// with combined, with that of fitted (nil: there is no answer at all).
func labelRows(list iter.Seq2[store.LabelledTask, error], combined bool, fitted *label.Result) iter.Seq2[[]string, error] {
	place := make(map[string]int)
	if fitted != nil {
		for i, t := range fitted.Data.Tasks() {
			place[t] = i
		}
	}
	return func(yield func([]string, error) bool) {
		var row []string
		for t, err := range list {
			if err != nil {
				yield(nil, err)
				return
			}
			l := t.Label
			if combined {
				l = nil
				if i, ok := place[t.Task.String()]; ok {
					workers, _ := fitted.Data.Answers(i)
					l = &engine.Label{Value: fitted.Label(i), Confidence: fitted.Confidence(i), Answers: len(workers), Tie: fitted.Ties[i]}
				}
			}
			if l == nil {
				row = append(row[:0], t.Task.String(), "", "", "", "", "", t.Gold)
			} else {
				row = append(row[:0], t.Task.String(), l.Value, strconv.FormatFloat(l.Confidence, 'g', 6, 64), strconv.Itoa(l.Answers),
					strconv.FormatBool(l.Tie), strconv.FormatBool(l.Undecided), t.Gold)
			}
			if !yield(append(row, t.Values...), nil) {
				return
			}
		}
	}
}

func toQuality(q *batches.Quality) wire.Quality {
	out := wire.Quality{Batch: q.Batch.Spec.ID, Asked: q.Asked, Scale: q.Scale.String(), Unanimous: q.Unanim, Several: q.Several, GoldTasks: q.GoldTasks, Workers: []wire.WorkerQuality{}}
	if q.AlphaOK {
		out.Alpha = &q.Alpha
	}
	if q.GoldTasks > 0 {
		out.Accuracy = &q.Accuracy
	}
	if q.Result != nil {
		out.Method = q.Result.Method
	}
	for _, w := range q.Workers {
		out.Workers = append(out.Workers, wire.WorkerQuality{Worker: w.ID, Name: w.Name, Blocked: w.Blocked, Answers: w.Answers, Agreement: w.Agreement,
			GoldRight: w.Right, GoldAnswers: w.Gold, Accuracy: w.Accuracy, Information: w.Information})
	}
	return out
}
