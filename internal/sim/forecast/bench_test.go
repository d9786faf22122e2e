package forecast_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/sim/forecast"
	"github.com/throng-dev/throng/label"
)

// BenchmarkForecast is a pool with a million tasks left, of which people do a
// part until the horizon.
func BenchmarkForecast(b *testing.B) {
	w := newTruth(b, 1, 200, "wfs", aBatch(1, 1_000_000, label.Count(1), 30), aBatch(2, 5000, label.Count(3), 30))
	w.until(dawn.Add(time.Hour))
	s := w.stateNow()
	data, err := json.Marshal(s)
	ok(b, err)
	b.ReportMetric(float64(len(data)), "bytes")
	cycles := int64(0)
	for b.Loop() {
		r, err := forecast.Forecast(ctx, s, forecast.Options{Seed: 1})
		ok(b, err)
		cycles += r.Cycles
		b.ReportMetric(float64(r.Reps), "reps")
	}
	b.ReportMetric(float64(cycles)/b.Elapsed().Seconds(), "cycles/s")
}
