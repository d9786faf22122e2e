package client

import (
	"context"
	"net/http"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim/forecast"
)

// PoolState copies a pool's state, to forecast it. Admins only.
func (c *Client) PoolState(ctx context.Context, id crowd.PoolID) (*forecast.State, error) {
	out := &forecast.State{}
	err := c.call(ctx, http.MethodGet, "/v1/pools/"+id.String()+"/state", nil, out)
	return out, err
}

// Forecast is when a batch will be done, as the server reckons. Times that are
// zero are later than it has looked.
type Forecast struct {
	Status     string    `json:"status"` // "ready", or why there is none
	Text       string    `json:"text"`
	ComputedAt time.Time `json:"computed_at"`
	Policy     string    `json:"policy"`
	Left       int       `json:"left"`
	Low        time.Time `json:"low"`
	Median     time.Time `json:"median"`
	High       time.Time `json:"high"`
	Horizon    time.Time `json:"horizon"`
	Unfinished float64   `json:"unfinished"`
	Deadline   time.Time `json:"deadline"`
	Chance     *float64  `json:"chance"` // nil: no deadline
	ChanceLow  *float64  `json:"chance_low"`
	ChanceHigh *float64  `json:"chance_high"`
	Reps       int       `json:"reps"`
	Basis      string    `json:"basis"`
}

// Forecast returns when a batch will be done. The first request orders a
// forecast, which later ones bring.
func (c *Client) Forecast(ctx context.Context, id crowd.BatchID) (out Forecast, err error) {
	err = c.call(ctx, http.MethodGet, "/v1/batches/"+id.String()+"/forecast", nil, &out)
	return out, err
}
