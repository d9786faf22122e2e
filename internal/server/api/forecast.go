package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/sim/forecast"
)

// poolState is a pool's state; package forecast writes and reads it.
type poolState struct{ *forecast.State }

// Schema implements huma.SchemaProvider.
func (poolState) Schema(huma.Registry) *huma.Schema {
	text := &huma.Schema{Type: huma.TypeString}
	things := &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}}
	return &huma.Schema{
		Type:        huma.TypeObject,
		Description: "A pool at one moment, in the form that `version` says",
		Properties: map[string]*huma.Schema{
			"version": {Type: huma.TypeInteger, Enum: []any{forecast.Version}}, "now": {Type: huma.TypeString, Format: "date-time"},
			"pool": text, "name": text, "policy": text, "tenants": things, "workers": things, "batches": things,
			"observed": {Type: huma.TypeObject, AdditionalProperties: true},
		},
		Required:             []string{"version", "now", "pool", "policy", "tenants", "workers", "batches", "observed"},
		AdditionalProperties: true,
	}
}

// forecastOut is when a batch will be done.
type forecastOut struct {
	Status     string     `json:"status" enum:"ready,pending,unknown,nobody,paused,stopped,too_big,failed,draft,over" doc:"ready: there is a forecast; else why there is none"`
	Text       string     `json:"text,omitempty" doc:"the same in words"`
	ComputedAt *time.Time `json:"computed_at,omitempty" doc:"the moment that it starts from"`
	Policy     string     `json:"policy,omitempty" doc:"under which it was computed"`
	Left       *int       `json:"left,omitempty" doc:"answers wanted then, those in people's hands among them"`
	Low        *time.Time `json:"low,omitempty" doc:"done before with 10 % probability; left out: after the horizon"`
	Median     *time.Time `json:"median,omitempty" doc:"done before with 50 % probability; left out: after the horizon"`
	High       *time.Time `json:"high,omitempty" doc:"done before with 90 % probability; left out: after the horizon"`
	Horizon    *time.Time `json:"horizon,omitempty" doc:"how far was looked"`
	Unfinished *float64   `json:"unfinished,omitempty" doc:"probability that it is not done at the horizon"`
	Deadline   *time.Time `json:"deadline,omitempty"`
	Chance     *float64   `json:"chance,omitempty" doc:"probability to meet the deadline"`
	ChanceLow  *float64   `json:"chance_low,omitempty" doc:"95 % bound that the number of repetitions leaves"`
	ChanceHigh *float64   `json:"chance_high,omitempty"`
	Reps       *int       `json:"reps,omitempty" doc:"repetitions"`
	Basis      string     `json:"basis,omitempty" doc:"what it rests on, in words"`
}

func toForecastOut(f app.BatchForecast) forecastOut {
	out := forecastOut{Status: string(f.Status), Text: f.Text, Deadline: ptr(f.Deadline)}
	if f.Status != app.ForecastReady {
		return out
	}
	x := &f.Finish
	out.ComputedAt, out.Policy, out.Left, out.Horizon, out.Reps, out.Basis = &f.At, x.Policy, &f.Left, &f.Horizon, &f.Reps, f.Basis
	out.Low, out.Median, out.High, out.Unfinished = ptr(x.Low), ptr(x.Median), ptr(x.High), &x.Unfinished
	if c := x.Chance; c != nil {
		out.Chance, out.ChanceLow, out.ChanceHigh = &c.Value, &c.Low, &c.High
	}
	return out
}

func (a *api) forecasts() {
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}/forecast", summary: "When will it be done?", tag: "Batches", access: signedIn,
		text: "The pool is simulated from its present state, many times, in the background: the first request orders it and says `pending`. " +
			"A forecast is computed anew when somebody asks and it is older than 15 seconds or twenty times what it took. It knows nothing of batches and people yet to come."},
		func(ctx context.Context, p *app.Principal, in *BatchPath) (*struct{ Body forecastOut }, error) {
			id, err := in.batch()
			if err != nil {
				return nil, err
			}
			f, err := a.app.Batches.Forecast(ctx, p, id)
			return &struct{ Body forecastOut }{toForecastOut(f)}, err
		})
}
