package client

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/wire"
)

// CheckWorkflow returns everything that is wrong with a workflow's file for the tenant of a run
// that is not made; 0: for any of the caller's. Of the run, it also sends what it goes on from.
func (c *Client) CheckWorkflow(ctx context.Context, n wire.NewRun) (out wire.Workflow, err error) {
	err = c.send(ctx, http.MethodPost, "/v1/workflows/check"+query("tenant", n.Tenant, "parent", n.Parent, "from", n.From), "application/yaml", strings.NewReader(n.Workflow), into(&out))
	return out, err
}

// MakeRun makes a run, which then needs its inputs.
func (c *Client) MakeRun(ctx context.Context, n wire.NewRun) (wire.Run, error) {
	return post[wire.Run](ctx, c, "/v1/runs", n)
}

// LoadRun sends the file of an input. format is csv, tsv, jsonl, parquet, or ""
// for what the content shows.
func (c *Client) LoadRun(ctx context.Context, id crowd.RunID, input string, file io.Reader, format string) (wire.Loaded, error) {
	return c.LoadTable(ctx, id, input, file, Table{Format: format})
}

// LoadTable sends the file of an input.
func (c *Client) LoadTable(ctx context.Context, id crowd.RunID, input string, file io.Reader, how Table) (out wire.Loaded, err error) {
	err = c.send(ctx, http.MethodPut, path("runs", id, "inputs", input)+how.query(), "application/octet-stream", file, into(&out))
	return out, err
}

// NewRows say what rows for an open input are from.
type NewRows struct {
	Input  string
	Format string // csv, tsv, jsonl, parquet, or "" for what the content shows
	Feed   string // such as a file; "": nothing, so that the rows are added however often they are sent
	After  int64  // how many rows of Feed come before these
	table.Duplicates
}

// AddRows adds rows to an open input: all of them, or none.
func (c *Client) AddRows(ctx context.Context, id crowd.RunID, n NewRows, rows io.Reader) (out wire.AddedRows, err error) {
	err = c.send(ctx, http.MethodPost, path("runs", id, "inputs", n.Input, "rows")+query("format", n.Format, "feed", n.Feed, "after", n.After, "duplicates", n.Do, "key", n.Key), "application/octet-stream", rows, into(&out))
	return out, err
}

// FeedRows returns how many rows of a feed an input has.
func (c *Client) FeedRows(ctx context.Context, id crowd.RunID, input, feed string) (wire.Feed, error) {
	return get[wire.Feed](ctx, c, path("runs", id, "inputs", input, "rows")+query("feed", feed))
}

// SealInput seals an open input.
func (c *Client) SealInput(ctx context.Context, id crowd.RunID, input string) (wire.Run, error) {
	return post[wire.Run](ctx, c, path("runs", id, "inputs", input, "seal"), nil)
}

// MoveRun does one of start, pause, resume, cancel, and seal, which is for all open inputs.
func (c *Client) MoveRun(ctx context.Context, id crowd.RunID, move string) (wire.Run, error) {
	return post[wire.Run](ctx, c, path("runs", id, move), nil)
}

// StartRun begins a run; smallCrowd allows steps that nobody is qualified for yet.
func (c *Client) StartRun(ctx context.Context, id crowd.RunID, smallCrowd bool) (wire.Run, error) {
	return post[wire.Run](ctx, c, path("runs", id, "start")+query("allow_small_crowd", smallCrowd), nil)
}

// RedoRun does a run anew with the labels that were corrected in it, and returns the run that does so.
func (c *Client) RedoRun(ctx context.Context, id crowd.RunID) (wire.Run, error) {
	return post[wire.Run](ctx, c, path("runs", id, "redo"), nil)
}

// TopUpRun adds to what a run may spend.
func (c *Client) TopUpRun(ctx context.Context, id crowd.RunID, amount crowd.Money) (wire.Run, error) {
	return post[wire.Run](ctx, c, path("runs", id, "top-up"), wire.TopUp{AmountMicros: amount})
}

// EndStep ends a crowd step early.
func (c *Client) EndStep(ctx context.Context, id crowd.RunID, step string) (wire.Run, error) {
	return post[wire.Run](ctx, c, path("runs", id, "steps", step, "end"), nil)
}

// RetryRun tries again what a step ("": every step) holds.
func (c *Client) RetryRun(ctx context.Context, id crowd.RunID, step string) (wire.Retried, error) {
	return post[wire.Retried](ctx, c, path("runs", id, "retry")+query("step", step), nil)
}

// SkipRun gives up what a step ("": every step) holds.
func (c *Client) SkipRun(ctx context.Context, id crowd.RunID, step string) (wire.Skipped, error) {
	return post[wire.Skipped](ctx, c, path("runs", id, "skip")+query("step", step), nil)
}

// Run returns a run.
func (c *Client) Run(ctx context.Context, id crowd.RunID) (wire.Run, error) {
	return get[wire.Run](ctx, c, path("runs", id))
}

// Runs lists the newest runs below before (0: all): of a tenant, or (0) of all
// that an admin, or a requester of one tenant, may see. limit 0: a hundred.
func (c *Client) Runs(ctx context.Context, tenant crowd.TenantID, before crowd.RunID, limit int) ([]wire.RunHead, error) {
	return get[[]wire.RunHead](ctx, c, "/v1/runs"+query("tenant", tenant, "before", before, "limit", limit))
}

// RunWorkflow copies the file of a run to w.
func (c *Client) RunWorkflow(ctx context.Context, id crowd.RunID, w io.Writer) error {
	return c.download(ctx, path("runs", id, "workflow"), w)
}

// RunGraph copies a picture of a run to w, in SVG.
func (c *Client) RunGraph(ctx context.Context, id crowd.RunID, w io.Writer) error {
	return c.download(ctx, path("runs", id, "graph.svg"), w)
}

// SlowestItems returns the items that take longest, at most limit a step (0: ten).
func (c *Client) SlowestItems(ctx context.Context, id crowd.RunID, limit int) ([]wire.SlowItem, error) {
	return get[[]wire.SlowItem](ctx, c, path("runs", id, "slowest")+query("limit", limit))
}

// ItemPath returns where an item has been.
func (c *Client) ItemPath(ctx context.Context, id crowd.RunID, item int64) ([]wire.ItemStop, error) {
	return get[[]wire.ItemStop](ctx, c, path("runs", id, "items", item))
}

// Items lists what a step has done after number n, at most limit (0: a hundred).
func (c *Client) Items(ctx context.Context, id crowd.RunID, step string, after int64, limit int) ([]wire.Item, error) {
	return get[[]wire.Item](ctx, c, path("runs", id, "steps", step, "items")+query("after", after, "limit", limit))
}

// Faults lists the items that steps hold, with numbers above after, at most about
// limit (0: a hundred).
func (c *Client) Faults(ctx context.Context, id crowd.RunID, after int64, limit int) ([]wire.Fault, error) {
	return get[[]wire.Fault](ctx, c, path("runs", id, "faults")+query("after", after, "limit", limit))
}

// RunResults copies the rows of a step or an input to w;
// failed: with the items that were given up.
func (c *Client) RunResults(ctx context.Context, id crowd.RunID, step string, w io.Writer, form TableForm, failed bool) error {
	return c.download(ctx, path("runs", id, "steps", step, "results")+form.query("failed", failed), w)
}

// RunOutput copies a file that a run writes to w.
func (c *Client) RunOutput(ctx context.Context, id crowd.RunID, output string, w io.Writer, form TableForm) error {
	return c.download(ctx, path("runs", id, "outputs", output)+form.query(), w)
}
