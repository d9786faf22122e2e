package client

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/wire"
)

// CreateBatch makes a draft.
func (c *Client) CreateBatch(ctx context.Context, b wire.NewBatch) (wire.Batch, error) {
	return post[wire.Batch](ctx, c, "/v1/batches", b)
}

// Upload sends a draft's tasks. format is csv, tsv, jsonl, or "" for what the
// content shows.
func (c *Client) Upload(ctx context.Context, id crowd.BatchID, body io.Reader, format string, skipBad bool) (wire.Uploaded, error) {
	return c.UploadTable(ctx, id, body, Table{Format: format, SkipBad: skipBad})
}

// Table is how the file of a batch or an input is read.
type Table struct {
	Format    string          // csv, tsv, jsonl, of inputs also parquet, or "" for what the content shows
	Delimiter table.Delimiter // of CSV; 0: found out
	SkipBad   bool            // of a batch: keep the good rows of a file with bad ones
	table.Duplicates
}

func (t *Table) query(more ...any) string {
	return query(append(more, "format", t.Format, "delimiter", t.Delimiter, "skip_bad", t.SkipBad, "duplicates", t.Do, "key", t.Key)...)
}

// UploadTable sends a draft's tasks.
func (c *Client) UploadTable(ctx context.Context, id crowd.BatchID, body io.Reader, how Table) (out wire.Uploaded, err error) {
	err = c.send(ctx, http.MethodPut, path("batches", id, "tasks")+how.query(), "application/octet-stream", body, into(&out))
	return out, err
}

// Addition is how more tasks are added.
type Addition struct {
	Table
	After     uint32 // when not 0, how many tasks the batch has: if it has others, nothing is added
	AddBudget bool   // reserve what the budget lacks
}

// AddTasks adds the tasks of a file to a running batch.
func (c *Client) AddTasks(ctx context.Context, id crowd.BatchID, body io.Reader, how Addition) (out wire.Uploaded, err error) {
	q := how.query("after", how.After, "add_budget", how.AddBudget)
	err = c.send(ctx, http.MethodPost, path("batches", id, "tasks")+q, "application/octet-stream", body, into(&out))
	return out, err
}

// RemoveTasks takes a task out of a running batch, and others of the batch with it: all
// of them, or none.
func (c *Client) RemoveTasks(ctx context.Context, task crowd.TaskID, also ...crowd.TaskID) (wire.Batch, error) {
	numbers := lists.Map(also, func(t crowd.TaskID) string { return strconv.FormatUint(uint64(t.N()), 10) })
	return call[wire.Batch](ctx, c, http.MethodDelete, path("batches", task.Batch(), "tasks", task.N())+query("also", strings.Join(numbers, ",")), nil)
}

// Launch starts to hand a draft out.
func (c *Client) Launch(ctx context.Context, id crowd.BatchID, smallCrowd bool) (wire.Batch, error) {
	return post[wire.Batch](ctx, c, path("batches", id, "launch")+query("allow_small_crowd", smallCrowd), nil)
}

// Move does one of pause, resume, end and cancel.
func (c *Client) Move(ctx context.Context, id crowd.BatchID, move string) (wire.Batch, error) {
	return post[wire.Batch](ctx, c, path("batches", id, move), nil)
}

// EditBatch changes a running batch.
func (c *Client) EditBatch(ctx context.Context, id crowd.BatchID, e wire.BatchEdit) (wire.Batch, error) {
	return call[wire.Batch](ctx, c, http.MethodPatch, path("batches", id), e)
}

// TopUp adds to a batch's budget.
func (c *Client) TopUp(ctx context.Context, id crowd.BatchID, amount crowd.Money) (wire.Batch, error) {
	return post[wire.Batch](ctx, c, path("batches", id, "top-up"), wire.TopUp{AmountMicros: amount})
}

// Batch returns a batch.
func (c *Client) Batch(ctx context.Context, id crowd.BatchID) (wire.Batch, error) {
	return get[wire.Batch](ctx, c, path("batches", id))
}

// Batches lists the newest batches, without templates and columns: of a tenant, or (0)
// of all that an admin, or a requester of one tenant, may see.
func (c *Client) Batches(ctx context.Context, tenant crowd.TenantID) ([]wire.Batch, error) {
	return get[[]wire.Batch](ctx, c, "/v1/batches"+query("tenant", tenant))
}

// Holding lists who holds what of a batch.
func (c *Client) Holding(ctx context.Context, id crowd.BatchID) ([]wire.Held, error) {
	return get[[]wire.Held](ctx, c, path("batches", id, "holding"))
}

// Why returns what keeps a batch waiting.
func (c *Client) Why(ctx context.Context, id crowd.BatchID) (wire.Why, error) {
	return get[wire.Why](ctx, c, path("batches", id, "why"))
}

// TableForm is the form of a table that is downloaded.
type TableForm struct {
	Format      string // csv, tsv, jsonl, or for runs parquet; "": csv, or what the workflow says
	Spreadsheet bool   // cells that a spreadsheet would take for formulas begin with an apostrophe
	Names       bool   // of answers: who the workers are, next to pseudonyms
}

func (f TableForm) query(pairs ...any) string {
	return query(append(pairs, "format", f.Format, "spreadsheet", f.Spreadsheet)...)
}

// Annotations copies every answer of a batch to w.
func (c *Client) Annotations(ctx context.Context, id crowd.BatchID, w io.Writer, form TableForm, all bool) error {
	return c.download(ctx, path("batches", id, "annotations")+form.query("all", all, "names", form.Names), w)
}

// ResultsQuery says which results are downloaded.
type ResultsQuery struct {
	Filter string // see docs/results.md; "": all
	Method string // "": what fits best
	Rows   string // tasks or answers
}

// Results copies the tasks that meet a filter, or their answers, to w.
func (c *Client) Results(ctx context.Context, id crowd.BatchID, w io.Writer, form TableForm, q ResultsQuery) error {
	return c.download(ctx, path("batches", id, "results", "download")+form.query("filter", q.Filter, "method", q.Method, "rows", q.Rows, "names", form.Names), w)
}

// Labels copies the label of every task of a batch to w. method is live,
// majority, median or ds-map.
func (c *Client) Labels(ctx context.Context, id crowd.BatchID, w io.Writer, form TableForm, method string) error {
	return c.download(ctx, path("batches", id, "labels")+form.query("method", method), w)
}

// QualityActions returns a page of what the quality rules of a batch did; after is Next of the page
// before, or empty.
func (c *Client) QualityActions(ctx context.Context, id crowd.BatchID, after string) (wire.QualityActions, error) {
	return get[wire.QualityActions](ctx, c, path("batches", id, "quality", "actions")+query("limit", 500, "after", after))
}

// UndoQualityAction undoes what a quality rule of a running batch did.
func (c *Client) UndoQualityAction(ctx context.Context, id crowd.BatchID, n uint32) error {
	return c.call(ctx, http.MethodPost, path("batches", id, "quality", "actions", n, "undo"), nil, nil)
}

// Quality measures a batch's answers together. method is majority, median,
// ds-map, or "" for what fits the batch's kind.
func (c *Client) Quality(ctx context.Context, id crowd.BatchID, method string) (wire.Quality, error) {
	return get[wire.Quality](ctx, c, path("batches", id, "quality")+query("method", method))
}

// WorkerQuery says which of a worker's answers are asked for.
type WorkerQuery struct {
	Method string // "": what fits the batch's kind
	Wrong  bool   // only those that are not right
	Cursor string // Next of the page before; "": the first one
	Limit  int    // of a page, 1 to 500
}

// BatchWorker returns one worker's part in a batch, with a page of their answers. worker is the tenant's
// pseudonym, or an id if who asks may see who workers are.
func (c *Client) BatchWorker(ctx context.Context, id crowd.BatchID, worker string, q WorkerQuery) (wire.BatchWorker, error) {
	return get[wire.BatchWorker](ctx, c, path("batches", id, "workers", worker)+query("method", q.Method, "wrong", q.Wrong, "cursor", q.Cursor, "limit", q.Limit))
}

// WouldDisregard returns what Disregard would come to.
func (c *Client) WouldDisregard(ctx context.Context, id crowd.BatchID, worker string) (wire.Disregarded, error) {
	return get[wire.Disregarded](ctx, c, path("batches", id, "workers", worker, "disregard"))
}

// Disregard takes what a worker answered out of a running batch, and has it asked again. With addBudget,
// what the budget lacks for that is reserved.
func (c *Client) Disregard(ctx context.Context, id crowd.BatchID, worker string, addBudget bool) (out wire.Disregarded, err error) {
	return out, c.call(ctx, http.MethodPost, path("batches", id, "workers", worker, "disregard")+query("add_budget", addBudget), nil, &out)
}

// WouldSendBack returns what SendBack would come to.
func (c *Client) WouldSendBack(ctx context.Context, id crowd.BatchID, task uint32, worker string) (wire.Disregarded, error) {
	return get[wire.Disregarded](ctx, c, path("batches", id, "tasks", task, "answers", worker, "send-back"))
}

// SendBack disregards one answer to a task of a running batch, and has the task asked again, with a comment.
func (c *Client) SendBack(ctx context.Context, id crowd.BatchID, task uint32, worker string, x wire.SendBack) (out wire.Disregarded, err error) {
	return out, c.call(ctx, http.MethodPost, path("batches", id, "tasks", task, "answers", worker, "send-back"), x, &out)
}

// Forecast returns when a batch will be done. The first request orders a
// forecast, which later ones bring.
func (c *Client) Forecast(ctx context.Context, id crowd.BatchID) (wire.Forecast, error) {
	return get[wire.Forecast](ctx, c, path("batches", id, "forecast"))
}
