package batches

import (
	"log/slog"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim/forecast"
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

// TestWhatAForecastNeeds: somebody who is there or comes, and five hand-outs or
// answers; and it is of the batch as it is now.
func TestWhatAForecastNeeds(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	deadline := now.Add(time.Hour)
	for name, x := range map[string]struct {
		change func(r *forecast.Result, b *forecast.Batch)
		want   ForecastStatus
	}{
		"enough of both":            {func(*forecast.Result, *forecast.Batch) {}, ForecastReady},
		"enough hand-outs":          {func(_ *forecast.Result, b *forecast.Batch) { b.Answers = 4 }, ForecastReady},
		"enough answers":            {func(r *forecast.Result, _ *forecast.Batch) { r.Basis.RecentHandOuts = 4 }, ForecastReady},
		"too little of both":        {func(r *forecast.Result, b *forecast.Batch) { r.Basis.RecentHandOuts, b.Answers = 4, 4 }, ForecastUnknown},
		"nobody is there":           {func(r *forecast.Result, _ *forecast.Batch) { r.Basis.Present = 0 }, ForecastReady},
		"nobody comes":              {func(r *forecast.Result, _ *forecast.Batch) { r.Basis.Arrivals = 0 }, ForecastReady},
		"nobody is there nor comes": {func(r *forecast.Result, _ *forecast.Batch) { r.Basis.Present, r.Basis.Arrivals = 0, 0 }, ForecastNobody},
		"it was paused at the time": {func(_ *forecast.Result, b *forecast.Batch) { b.State = crowd.BatchOnHold }, ForecastPending},
		"it was stopped":            {func(_ *forecast.Result, b *forecast.Batch) { b.Stopped = true }, ForecastPending},
		"it was not there":          {func(_ *forecast.Result, b *forecast.Batch) { b.ID = 8 }, ForecastPending},
		"another deadline":          {func(_ *forecast.Result, b *forecast.Batch) { b.Deadline = deadline.Add(1) }, ForecastReady},
	} {
		r := &forecast.Result{At: now, Horizon: now.Add(24 * time.Hour), Reps: 100, Basis: forecast.Basis{Present: 1, Arrivals: 1, RecentHandOuts: 5}}
		r.Batches = []forecast.Batch{{ID: 7, State: crowd.BatchRunning, Left: 12, Deadline: deadline, Answers: 5, Finish: []forecast.Finish{{Chance: new(forecast.Chance)}}}}
		x.change(r, &r.Batches[0])
		s := New(Config{Log: slog.New(slog.DiscardHandler), Clock: func() time.Time { return now }})
		s.forecasts.list[1] = &poolForecast{result: r, until: now}
		b := BatchView{Running: 1}
		b.Pool, b.Spec.ID, b.Progress.State, b.Progress.Tasks, b.Progress.Deadline = 1, 7, crowd.BatchRunning, 20, deadline
		var f BatchForecast
		if got := s.forecastOf(&b, &f); got != x.want {
			t.Errorf("%s: the forecast is %q, want %q", name, got, x.want)
		}
		if x.want != ForecastReady {
			continue
		}
		if !f.At.Equal(r.At) || !f.Horizon.Equal(r.Horizon) || f.Reps != 100 || f.Left != 12 || f.Basis == "" {
			t.Errorf("%s: it is %+v", name, f)
		}
		if known := f.Finish.Chance != nil; known != (name != "another deadline") {
			t.Errorf("%s: the chance is known: %t", name, known)
		}
		if len(s.forecasts.queue) != 0 { // it is good until then
			t.Errorf("%s: another is computed already", name)
		}
	}
}

// TestTimeLeft: three answers are enough to speak of a rate.
func TestTimeLeft(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for name, x := range map[string]struct {
		change func(v *BatchView)
		want   time.Duration
	}{
		"three answers":  {func(*BatchView) {}, 70 * time.Second},
		"two answers":    {func(v *BatchView) { v.Progress.Completed = 2 }, 0},
		"nobody there":   {func(v *BatchView) { v.Here = 0 }, 0},
		"it is paused":   {func(v *BatchView) { v.Progress.State = crowd.BatchOnHold }, 0},
		"never begun":    {func(v *BatchView) { v.Progress.FirstStarted = time.Time{} }, 0},
		"all are there":  {func(v *BatchView) { v.Progress.Planned = 3 }, 0},
		"more than that": {func(v *BatchView) { v.Progress.Planned = 2 }, 0},
	} {
		v := BatchView{Here: 1}
		p := &v.Progress
		p.State, p.Completed, p.Planned, p.FirstStarted = crowd.BatchRunning, 3, 10, now.Add(-30*time.Second)
		x.change(&v)
		if got := v.TimeLeft(now); got != x.want {
			t.Errorf("%s: %s are left, want %s", name, got, x.want)
		}
	}
}
