package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/task"
)

// Work is a task in the worker's hands.
type Work struct {
	Assignment   crowd.AssignmentID `json:"assignment"`
	Task         crowd.TaskID       `json:"task"`
	Batch        crowd.BatchID      `json:"batch"`
	Name         string             `json:"name"`
	ExpiresAt    time.Time          `json:"expires_at"`
	RewardMicros crowd.Money        `json:"reward_micros"`
	Values       map[string]string  `json:"values"`
	View         task.View          `json:"view"`
	HTML         string             `json:"html"`
}

type nextReply struct {
	Work *Work          `json:"work"`
	Why  map[string]int `json:"why"`
}

// Next returns the next task, waiting up to wait for one, or nil with the number
// of running batches by the reason why not.
func (c *Client) Next(ctx context.Context, wait time.Duration) (*Work, map[string]int, error) {
	var out nextReply
	err := c.call(ctx, http.MethodPost, "/v1/work/next"+waitQuery(wait), nil, &out)
	return out.Work, out.Why, err
}

// Outcome says what became of an answer.
type Outcome struct {
	Counted    bool        `json:"counted"`
	Late       bool        `json:"late"`
	Duplicate  bool        `json:"duplicate"`
	PaidMicros crowd.Money `json:"paid_micros"`
}

// Submit sends an answer. With next, it also returns the next task, waiting up
// to wait for one; nil says that there is none.
func (c *Client) Submit(ctx context.Context, id crowd.AssignmentID, answer json.RawMessage, next bool, wait time.Duration) (Outcome, *Work, error) {
	in := struct {
		Answer json.RawMessage `json:"answer"`
		Next   bool            `json:"next,omitempty"`
	}{answer, next}
	var out struct {
		Outcome Outcome `json:"outcome"`
		Work    *Work   `json:"work"`
	}
	err := c.call(ctx, http.MethodPost, "/v1/work/"+id.String()+"/submit"+waitQuery(wait), in, &out)
	return out.Outcome, out.Work, err
}

// Skip gives a task back and returns another one, or nil.
func (c *Client) Skip(ctx context.Context, id crowd.AssignmentID, wait time.Duration) (*Work, error) {
	var out nextReply
	err := c.call(ctx, http.MethodPost, "/v1/work/"+id.String()+"/skip"+waitQuery(wait), nil, &out)
	return out.Work, err
}

// Return gives a task back.
func (c *Client) Return(ctx context.Context, id crowd.AssignmentID) error {
	return c.call(ctx, http.MethodPost, "/v1/work/"+id.String()+"/return", nil, nil)
}

// Heartbeat extends the lease and returns when it ends.
func (c *Client) Heartbeat(ctx context.Context, id crowd.AssignmentID) (time.Time, error) {
	var out struct {
		ExpiresAt time.Time `json:"expires_at"`
	}
	err := c.call(ctx, http.MethodPost, "/v1/work/"+id.String()+"/heartbeat", nil, &out)
	return out.ExpiresAt, err
}

// Done is an answer of the worker's.
type Done struct {
	Assignment  crowd.AssignmentID `json:"assignment"`
	SubmittedAt time.Time          `json:"submitted_at"`
	Counted     bool               `json:"counted"`
	Late        bool               `json:"late"`
	PaidMicros  crowd.Money        `json:"paid_micros"`
}

// Earnings returns what the worker has earned in all, and his latest answers.
func (c *Client) Earnings(ctx context.Context) (crowd.Money, []Done, error) {
	var out struct {
		Earned crowd.Money `json:"earned_micros"`
		Latest []Done      `json:"latest"`
	}
	err := c.call(ctx, http.MethodGet, "/v1/work/earnings", nil, &out)
	return out.Earned, out.Latest, err
}
