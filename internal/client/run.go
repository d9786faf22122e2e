package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// InWorkflow is a place in a workflow's file where something is wrong: the cause
// of an error.
type InWorkflow struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

func (e *InWorkflow) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// Workflow says what is wrong with a workflow's file, or what its steps are.
type Workflow struct {
	Name   string         `json:"name,omitempty"`
	Errors []InWorkflow   `json:"errors"`
	Inputs []string       `json:"inputs"`
	Steps  []WorkflowStep `json:"steps"`
}

// WorkflowStep is a step of a workflow that is in order.
type WorkflowStep struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	From []struct {
		Name string `json:"name"`
		Edge string `json:"edge"`
	} `json:"from"`
	When    string `json:"when,omitempty"`
	Columns []struct {
		Name string `json:"name"`
		Type string `json:"type"`
	} `json:"columns"`
	Open            bool    `json:"open,omitempty"`
	RowByRow        bool    `json:"row_by_row"`
	Why             string  `json:"why,omitempty"`
	ExpectedSeconds float64 `json:"expected_seconds"`
}

// CheckWorkflow says everything that is wrong with a workflow's file.
func (c *Client) CheckWorkflow(ctx context.Context, text string) (out Workflow, err error) {
	err = c.send(ctx, http.MethodPost, "/v1/workflows/check", "application/yaml", strings.NewReader(text),
		func(r io.Reader) error { return json.NewDecoder(r).Decode(&out) })
	return out, err
}

// NewRun is what a run of a workflow is made of.
type NewRun struct {
	Tenant       crowd.TenantID `json:"tenant,omitzero"`
	Name         string         `json:"name,omitempty"`
	Workflow     string         `json:"workflow"` // the file's text
	BudgetMicros crowd.Money    `json:"budget_micros,omitempty"`
	Parent       crowd.RunID    `json:"parent,omitzero"` // a run that has ended, whose rows are taken over
	From         string         `json:"from,omitempty"`  // the step from which it does anew; "": all
}

// RunHead is what a list says of a run of a workflow.
type RunHead struct {
	ID            crowd.RunID    `json:"id"`
	Tenant        crowd.TenantID `json:"tenant"`
	Name          string         `json:"name"`
	State         string         `json:"state"`
	BudgetMicros  crowd.Money    `json:"budget_micros,omitempty"`
	Deadline      time.Time      `json:"deadline,omitzero"`
	Parent        crowd.RunID    `json:"parent,omitzero"`
	From          string         `json:"from,omitempty"`
	CreatedBy     crowd.WorkerID `json:"created_by"`
	CreatedAt     time.Time      `json:"created_at"`
	StartedAt     time.Time      `json:"started_at,omitzero"`
	EndedAt       time.Time      `json:"ended_at,omitzero"`
	PenaltyMicros crowd.Money    `json:"penalty_micros"`
	ItemsEnded    int64          `json:"items_ended"`
	ItemsLate     int64          `json:"items_late"`
}

// Run is a run of a workflow as it stands.
type Run struct {
	RunHead
	Needs           []string    `json:"needs,omitempty"`
	Notes           []string    `json:"notes,omitempty"`
	Nodes           []RunNode   `json:"nodes,omitempty"`
	Outputs         []RunFile   `json:"outputs,omitempty"`
	SpentMicros     crowd.Money `json:"spent_micros"`
	PredictedMicros crowd.Money `json:"predicted_micros"`
	Going           int64       `json:"going"`
	Stuck           bool        `json:"stuck"`
}

// Ended says whether nothing happens in the run any more.
func (r *Run) Ended() bool { return r.State == "done" || r.State == "cancelled" }

// RunNode is an input or a step of a run as it stands.
type RunNode struct {
	Name            string        `json:"name"`
	Kind            string        `json:"kind"`
	State           string        `json:"state"`
	Error           string        `json:"error,omitempty"`
	In              int64         `json:"in"`
	OK              int64         `json:"ok"`
	Skipped         int64         `json:"skipped"`
	Failed          int64         `json:"failed"`
	Held            int64         `json:"held"`
	Waiting         int64         `json:"waiting"`
	Inside          int64         `json:"inside"`
	ExpectedSeconds float64       `json:"expected_seconds,omitempty"`
	Batch           crowd.BatchID `json:"batch,omitzero"`
	Answers         int           `json:"answers,omitempty"`
	SpentMicros     crowd.Money   `json:"spent_micros,omitempty"`
	StartedAt       time.Time     `json:"started_at,omitzero"`
	EndedAt         time.Time     `json:"ended_at,omitzero"`
}

// RunFile is a file that a run writes.
type RunFile struct {
	Name   string `json:"name"`
	Step   string `json:"step"`
	Format string `json:"format"`
}

func runPath(id crowd.RunID, more ...string) string {
	path := "/v1/runs/" + id.String()
	for _, part := range more {
		path += "/" + url.PathEscape(part)
	}
	return path
}

// MakeRun makes a run, which then needs its inputs.
func (c *Client) MakeRun(ctx context.Context, n NewRun) (out Run, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/runs", n, &out)
	return out, err
}

// Loaded says what became of an input's file.
type Loaded struct {
	Input    string `json:"input"`
	Rows     int64  `json:"rows"`
	Bad      int64  `json:"bad"`
	Problems []struct {
		Field   string `json:"field,omitempty"`
		Line    int    `json:"line,omitempty"`
		Message string `json:"message"`
	} `json:"problems"`
	Needs []string `json:"needs"`
}

// LoadRun sends the file of an input. format is csv, tsv, jsonl, parquet, or "" to
// let the server see.
func (c *Client) LoadRun(ctx context.Context, id crowd.RunID, input string, file io.Reader, format string) (out Loaded, err error) {
	err = c.send(ctx, http.MethodPut, runPath(id, "inputs", input)+query("format", format), "application/octet-stream", file,
		func(r io.Reader) error { return json.NewDecoder(r).Decode(&out) })
	return out, err
}

// MoveRun does one of start, pause, resume and cancel.
func (c *Client) MoveRun(ctx context.Context, id crowd.RunID, move string) (out Run, err error) {
	err = c.call(ctx, http.MethodPost, runPath(id, move), nil, &out)
	return out, err
}

// EndStep ends a crowd step early.
func (c *Client) EndStep(ctx context.Context, id crowd.RunID, step string) (out Run, err error) {
	err = c.call(ctx, http.MethodPost, runPath(id, "steps", step, "end"), nil, &out)
	return out, err
}

// Again says what is tried again, or was given up.
type Again struct {
	Items int `json:"items"`
	Steps int `json:"steps"`
}

// RetryRun tries again what a step ("": every step) holds.
func (c *Client) RetryRun(ctx context.Context, id crowd.RunID, step string) (out Again, err error) {
	err = c.call(ctx, http.MethodPost, runPath(id, "retry")+query("step", step), nil, &out)
	return out, err
}

// SkipRun gives up what a step ("": every step) holds.
func (c *Client) SkipRun(ctx context.Context, id crowd.RunID, step string) (out Again, err error) {
	err = c.call(ctx, http.MethodPost, runPath(id, "skip")+query("step", step), nil, &out)
	return out, err
}

// Run returns a run.
func (c *Client) Run(ctx context.Context, id crowd.RunID) (out Run, err error) {
	err = c.call(ctx, http.MethodGet, runPath(id), nil, &out)
	return out, err
}

// Runs lists the newest runs below before (0: all): of a tenant, or (0) of all
// that an admin, or a requester of one tenant, may see. limit 0: a hundred.
func (c *Client) Runs(ctx context.Context, tenant crowd.TenantID, before crowd.RunID, limit int) (out []RunHead, err error) {
	of, below, most := "", "", ""
	if tenant != 0 {
		of = tenant.String()
	}
	if before != 0 {
		below = before.String()
	}
	if limit != 0 {
		most = strconv.Itoa(limit)
	}
	err = c.call(ctx, http.MethodGet, "/v1/runs"+query("tenant", of, "before", below, "limit", most), nil, &out)
	return out, err
}

// RunWorkflow copies the file of a run to w.
func (c *Client) RunWorkflow(ctx context.Context, id crowd.RunID, w io.Writer) error {
	return c.download(ctx, runPath(id, "workflow"), w)
}

// RunGraph copies a picture of a run to w, in SVG.
func (c *Client) RunGraph(ctx context.Context, id crowd.RunID, w io.Writer) error {
	return c.download(ctx, runPath(id, "graph.svg"), w)
}

// SlowItem is an item that is on its way.
type SlowItem struct {
	Item          int64       `json:"item"`
	Step          string      `json:"step"`
	Why           string      `json:"why"`
	Since         time.Time   `json:"since"`
	Born          time.Time   `json:"born"`
	Ends          time.Time   `json:"ends"`
	PenaltyMicros crowd.Money `json:"penalty_micros"`
}

// SlowestItems returns the items that take longest, at most limit a step (0: ten).
func (c *Client) SlowestItems(ctx context.Context, id crowd.RunID, limit int) (out []SlowItem, err error) {
	most := ""
	if limit != 0 {
		most = strconv.Itoa(limit)
	}
	err = c.call(ctx, http.MethodGet, runPath(id, "slowest")+query("limit", most), nil, &out)
	return out, err
}

// ItemStop is where an item has been.
type ItemStop struct {
	Step   string            `json:"step"`
	Kind   string            `json:"kind"`
	Item   int64             `json:"item"`
	State  string            `json:"state"` // ok, skipped, failed, held
	At     time.Time         `json:"at"`
	Values map[string]string `json:"values,omitempty"`
	Error  string            `json:"error,omitempty"`
	Tries  int               `json:"tries,omitempty"`
}

// ItemPath returns where an item has been.
func (c *Client) ItemPath(ctx context.Context, id crowd.RunID, item int64) (out []ItemStop, err error) {
	err = c.call(ctx, http.MethodGet, runPath(id, "items", strconv.FormatInt(item, 10)), nil, &out)
	return out, err
}

// Item is what a step has made of an item.
type Item struct {
	N      int64     `json:"n"`
	Item   int64     `json:"item"`
	Origin int64     `json:"origin,omitempty"`
	State  string    `json:"state"`
	Born   time.Time `json:"born"`
	At     time.Time `json:"at"`
	Error  string    `json:"error,omitempty"`
	Values []string  `json:"values"`
}

// Items lists what a step has done after number n, at most limit (0: a hundred).
func (c *Client) Items(ctx context.Context, id crowd.RunID, step string, after int64, limit int) (out []Item, err error) {
	err = c.call(ctx, http.MethodGet, runPath(id, "steps", step, "items")+page(after, limit), nil, &out)
	return out, err
}

// Fault is an item that a step holds after an error.
type Fault struct {
	Step  string    `json:"step"`
	Item  int64     `json:"item"`
	At    time.Time `json:"at"`
	Tries int       `json:"tries"`
	Error string    `json:"error"`
}

// Faults lists the items that steps hold, with numbers above after, at most about
// limit (0: a hundred).
func (c *Client) Faults(ctx context.Context, id crowd.RunID, after int64, limit int) (out []Fault, err error) {
	err = c.call(ctx, http.MethodGet, runPath(id, "faults")+page(after, limit), nil, &out)
	return out, err
}

func page(after int64, limit int) string {
	from, most := "", ""
	if after != 0 {
		from = strconv.FormatInt(after, 10)
	}
	if limit != 0 {
		most = strconv.Itoa(limit)
	}
	return query("after", from, "limit", most)
}

// RunResults copies the rows of a step or an input to w. format is csv, tsv, jsonl
// or parquet; failed: with the items that were given up.
func (c *Client) RunResults(ctx context.Context, id crowd.RunID, step string, w io.Writer, format string, failed bool) error {
	too := ""
	if failed {
		too = "true"
	}
	return c.download(ctx, runPath(id, "steps", step, "results")+query("format", format, "failed", too), w)
}

// RunOutput copies a file that a run writes to w. format "": that of the workflow.
func (c *Client) RunOutput(ctx context.Context, id crowd.RunID, output string, w io.Writer, format string) error {
	return c.download(ctx, runPath(id, "outputs", output)+query("format", format), w)
}

func secretPath(tenant crowd.TenantID, name string) string {
	return "/v1/tenants/" + tenant.String() + "/secrets/" + url.PathEscape(name)
}

// PutSecret keeps a secret of a tenant.
func (c *Client) PutSecret(ctx context.Context, tenant crowd.TenantID, name, value string) error {
	return c.call(ctx, http.MethodPut, secretPath(tenant, name), map[string]string{"value": value}, nil)
}

// DeleteSecret forgets one.
func (c *Client) DeleteSecret(ctx context.Context, tenant crowd.TenantID, name string) error {
	return c.call(ctx, http.MethodDelete, secretPath(tenant, name), nil, nil)
}

// Secrets lists the names of a tenant's secrets.
func (c *Client) Secrets(ctx context.Context, tenant crowd.TenantID) (out []string, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/tenants/"+tenant.String()+"/secrets", nil, &out)
	return out, err
}
