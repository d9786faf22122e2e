package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Duty is what somebody on call has to know.
type Duty struct {
	Pool      crowd.PoolID `json:"pool"`
	PoolName  string       `json:"pool_name"`
	CallsOnly bool         `json:"calls_only"`
	On        bool         `json:"on"`
	Since     time.Time    `json:"since,omitzero"`
	IdleSince time.Time    `json:"idle_since,omitzero"`
	Waiting   bool         `json:"waiting"`
	Leaves    string       `json:"leaves,omitempty"`
	Training  int          `json:"training"`
	Earned    crowd.Money  `json:"earned_micros"`
	Rate      crowd.Money  `json:"rate_micros_per_minute"`
	Called    *struct {
		Call    int64     `json:"call"`
		AskedAt time.Time `json:"asked_at"`
		EndsAt  time.Time `json:"ends_at"`
	} `json:"called,omitempty"`
	Place bool   `json:"place"`
	Seen  string `json:"seen"`
}

// Duty returns the worker's duty. With the Seen of one that he knows, it waits up
// to wait for another one.
func (c *Client) Duty(ctx context.Context, seen string, wait time.Duration) (out Duty, err error) {
	path := "/v1/duty" + waitQuery(wait)
	if seen != "" && wait > 0 {
		path += "&seen=" + url.QueryEscape(seen)
	}
	err = c.call(ctx, http.MethodGet, path, nil, &out)
	return out, err
}

// StartDuty comes on duty.
func (c *Client) StartDuty(ctx context.Context) (out Duty, err error) {
	err = c.call(ctx, http.MethodPost, "/v1/duty", nil, &out)
	return out, err
}

// EndDuty goes off duty, at once or when what is held is finished.
func (c *Client) EndDuty(ctx context.Context) (out Duty, err error) {
	err = c.call(ctx, http.MethodDelete, "/v1/duty", nil, &out)
	return out, err
}

// DeclineCall says that the worker does not come this time.
func (c *Client) DeclineCall(ctx context.Context) error {
	return c.call(ctx, http.MethodPost, "/v1/duty/decline", nil, nil)
}

// Wishes are a worker's own.
type Wishes struct {
	Prefers map[crowd.PoolID]float64 `json:"prefers"`
	Away    bool                     `json:"away"`
	NoMail  bool                     `json:"no_mail"`
}

// Wishes returns the worker's wishes.
func (c *Client) Wishes(ctx context.Context) (out Wishes, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/me/wishes", nil, &out)
	return out, err
}

// SetWishes replaces them.
func (c *Client) SetWishes(ctx context.Context, w Wishes) (out Wishes, err error) {
	err = c.call(ctx, http.MethodPut, "/v1/me/wishes", w, &out)
	return out, err
}
