package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
)

// BatchDefinition is what a requester says of a batch.
type BatchDefinition struct {
	Tenant          crowd.TenantID  `json:"tenant,omitzero"`
	Pool            crowd.PoolID    `json:"pool,omitzero"`
	Name            string          `json:"name"`
	Template        json.RawMessage `json:"template"`
	Redundancy      *label.Rule     `json:"redundancy,omitempty"`
	RewardMicros    crowd.Money     `json:"reward_micros"`
	BudgetMicros    crowd.Money     `json:"budget_micros,omitempty"`
	Priority        float64         `json:"priority,omitempty"`
	Deadline        time.Time       `json:"deadline,omitzero"`
	Production      bool            `json:"production,omitempty"`
	LeaseSeconds    int64           `json:"lease_seconds,omitempty"`
	TaskTimeSeconds float64         `json:"task_time_seconds,omitempty"`
	EndsAt          time.Time       `json:"ends_at,omitzero"`
	Qualifications  []Qualification `json:"qualifications,omitempty"`
	Training        bool            `json:"training,omitempty"`
}

// Qualification is one that a worker must hold, with the least score.
type Qualification struct {
	Name string `json:"name"`
	Min  int    `json:"min"`
}

// Batch is a batch as it stands.
type Batch struct {
	ID    crowd.BatchID    `json:"id"`
	State crowd.BatchState `json:"state"`
	BatchDefinition
	Columns     []string    `json:"columns"`
	Tasks       int         `json:"tasks"`
	Stopped     bool        `json:"stopped"`
	Planned     int         `json:"planned"`
	Completed   int         `json:"completed"`
	Running     int         `json:"running"`
	Waiting     int         `json:"waiting"`
	Labelled    int         `json:"labelled"`
	SpentMicros crowd.Money `json:"spent_micros"`
	Reason      string      `json:"reason"`
	ReasonText  string      `json:"reason_text"`
	CreatedAt   time.Time   `json:"created_at"`
	LaunchedAt  time.Time   `json:"launched_at"`
	EndedAt     time.Time   `json:"ended_at"`
}

// CreateBatch makes a draft.
func (c *Client) CreateBatch(ctx context.Context, d BatchDefinition) (out Batch, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/batches", d, &out)
	return out, err
}

// Uploaded says what became of an upload.
type Uploaded struct {
	Columns  []string `json:"columns"`
	Tasks    int      `json:"tasks"`
	Bad      int      `json:"bad"`
	Problems []struct {
		Field   string `json:"field"`
		Line    int    `json:"line"`
		Message string `json:"message"`
	} `json:"problems"`
}

// Upload sends a draft's tasks. format is csv, tsv, jsonl, or "" to let the
// server see.
func (c *Client) Upload(ctx context.Context, id crowd.BatchID, body io.Reader, format string, skipBad bool) (out Uploaded, err error) {
	skip := ""
	if skipBad {
		skip = "true"
	}
	err = c.send(ctx, http.MethodPut, "/v1/batches/"+id.String()+"/tasks"+query("format", format, "skip_bad", skip), "application/octet-stream", body,
		func(r io.Reader) error { return json.NewDecoder(r).Decode(&out) })
	return out, err
}

// Launch starts to hand a draft out.
func (c *Client) Launch(ctx context.Context, id crowd.BatchID, smallCrowd bool) (out Batch, err error) {
	err = c.call(ctx, http.MethodPost, fmt.Sprintf("/v1/batches/%s/launch?allow_small_crowd=%t", id, smallCrowd), nil, &out)
	return out, err
}

// Move does one of pause, resume, end and cancel.
func (c *Client) Move(ctx context.Context, id crowd.BatchID, move string) (out Batch, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/batches/"+id.String()+"/"+move, nil, &out)
	return out, err
}

// BatchEdit changes a running batch; nil fields stay.
type BatchEdit struct {
	Priority      *float64   `json:"priority,omitempty"`
	Deadline      *time.Time `json:"deadline,omitempty"`
	ClearDeadline bool       `json:"clear_deadline,omitempty"`
	Stopped       *bool      `json:"stopped,omitempty"`
}

// EditBatch changes a running batch.
func (c *Client) EditBatch(ctx context.Context, id crowd.BatchID, e BatchEdit) (out Batch, err error) {
	err = c.call(ctx, http.MethodPatch, "/v1/batches/"+id.String(), e, &out)
	return out, err
}

// TopUp adds to a batch's budget.
func (c *Client) TopUp(ctx context.Context, id crowd.BatchID, amount crowd.Money) (out Batch, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/batches/"+id.String()+"/top-up", map[string]crowd.Money{"amount_micros": amount}, &out)
	return out, err
}

// Batch returns a batch.
func (c *Client) Batch(ctx context.Context, id crowd.BatchID) (out Batch, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/batches/"+id.String(), nil, &out)
	return out, err
}

// Batches lists the newest batches: of a tenant, or (0) of all that an admin,
// or a requester of one tenant, may see.
func (c *Client) Batches(ctx context.Context, tenant crowd.TenantID) (out []Batch, err error) {
	of := ""
	if tenant != 0 {
		of = tenant.String()
	}
	err = c.call(ctx, http.MethodGet, "/v1/batches"+query("tenant", of), nil, &out)
	return out, err
}

// Held is a task in somebody's hands.
type Held struct {
	Assignment crowd.AssignmentID `json:"assignment"`
	Task       crowd.TaskID       `json:"task"`
	Worker     crowd.WorkerID     `json:"worker"`
	Since      time.Time          `json:"since"`
	ExpiresAt  time.Time          `json:"expires_at"`
}

// Holding lists who holds what of a batch.
func (c *Client) Holding(ctx context.Context, id crowd.BatchID) (out []Held, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/batches/"+id.String()+"/holding", nil, &out)
	return out, err
}

// Why says what keeps a batch waiting.
type Why struct {
	Reason  string         `json:"reason"`
	Text    string         `json:"text"`
	Ahead   int            `json:"ahead"`
	Workers map[string]int `json:"workers"`
}

// Why says what keeps a batch waiting.
func (c *Client) Why(ctx context.Context, id crowd.BatchID) (out Why, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/batches/"+id.String()+"/why", nil, &out)
	return out, err
}

// Annotations copies every answer of a batch to w. format is csv, tsv or jsonl.
func (c *Client) Annotations(ctx context.Context, id crowd.BatchID, w io.Writer, format string, all bool) error {
	every := ""
	if all {
		every = "true"
	}
	return c.download(ctx, "/v1/batches/"+id.String()+"/annotations"+query("format", format, "all", every), w)
}

// Labels copies the label of every task of a batch to w. method is live,
// majority or dawid-skene.
func (c *Client) Labels(ctx context.Context, id crowd.BatchID, w io.Writer, format, method string) error {
	return c.download(ctx, "/v1/batches/"+id.String()+"/labels"+query("format", format, "method", method), w)
}

func (c *Client) download(ctx context.Context, path string, w io.Writer) error {
	return c.send(ctx, http.MethodGet, path, "", nil, func(r io.Reader) error {
		_, err := io.Copy(w, r)
		return err
	})
}

// Quality is a batch's answers, looked at as a whole.
type Quality struct {
	Method    string   `json:"method"`
	Alpha     *float64 `json:"alpha"`
	Unanimous float64  `json:"unanimous"`
	Accuracy  *float64 `json:"accuracy"`
	GoldTasks int      `json:"gold_tasks"`
	Workers   []struct {
		Worker    string   `json:"worker"`
		Name      string   `json:"name"`
		Answers   int      `json:"answers"`
		Agreement float64  `json:"agreement"`
		Accuracy  *float64 `json:"accuracy"`
	} `json:"workers"`
}

// Quality looks at a batch's answers as a whole.
func (c *Client) Quality(ctx context.Context, id crowd.BatchID, method string) (out Quality, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/batches/"+id.String()+"/quality"+query("method", method), nil, &out)
	return out, err
}
