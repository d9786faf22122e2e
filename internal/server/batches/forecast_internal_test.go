package batches

import (
	"log/slog"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// TestForecastOfABatchThatWaitsForTasks: an open batch all of whose tasks have
// their label is in no forecast, and none is being computed for it.
func TestForecastOfABatchThatWaitsForTasks(t *testing.T) {
	t.Parallel()
	s := New(Config{Log: slog.New(slog.DiscardHandler), Clock: time.Now}) // nothing is computed: RunForecasts does not run
	var b BatchView
	p := &b.Progress
	p.State, p.Open, p.Tasks, p.Labelled = crowd.BatchRunning, true, 3, 3
	var f BatchForecast
	if got := s.forecastOf(&b, &f); got != ForecastUnknown || f.Text == "" {
		t.Errorf("with nothing left to do the forecast is %q (%s)", got, f.Text)
	}
	for what, change := range map[string]func(){
		"a task is left":     func() { p.Open, p.Labelled = true, 2 },
		"no more tasks come": func() { p.Open, p.Labelled = false, 3 },
	} {
		f = BatchForecast{}
		if change(); s.forecastOf(&b, &f) != ForecastPending || f.Text != "" {
			t.Errorf("%s: the forecast is not waited for (%s)", what, f.Text)
		}
	}
}
