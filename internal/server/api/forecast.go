package api

import (
	"net/http"

	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/wire"
)

func toForecast(f batches.BatchForecast) wire.Forecast {
	out := wire.Forecast{Status: string(f.Status), Text: f.Text, Deadline: f.Deadline}
	if f.Status != batches.ForecastReady {
		return out
	}
	x := &f.Finish
	out.ComputedAt, out.Policy, out.Left, out.Horizon, out.Reps, out.Basis = f.At, x.Policy, &f.Left, f.Horizon, &f.Reps, f.Basis
	out.Low, out.Median, out.High, out.Unfinished = x.Low, x.Median, x.High, &x.Unfinished
	if c := x.Chance; c != nil {
		out.Chance, out.ChanceLow, out.ChanceHigh = &c.Value, &c.Low, &c.High
	}
	return out
}

func (a *api) forecasts() {
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}/forecast", summary: "When will it be done?", tag: batchTag, access: signedIn,
		text: "The pool is simulated from its present state, many times, in the background: the first request orders it and says `pending`. " +
			"A forecast is computed again when somebody asks and it is older than 15 seconds or twenty times what it took. It knows nothing of batches and people yet to come."},
		of[BatchPath](a.app.Batches.Forecast, toForecast))
}
