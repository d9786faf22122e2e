package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/sim/forecast"
)

func TestForecast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		d := definition()
		d.Deadline = time.Now().Add(time.Hour).UTC()
		b := must(w.ann.CreateBatch(w.ctx, d))(t)
		must(w.ann.Upload(w.ctx, b.ID, strings.NewReader("thing\n"+strings.Repeat("a dog\n", 40)), "csv", false))(t)
		must(w.ann.Launch(w.ctx, b.ID, false))(t)
		if f := must(w.ann.Forecast(w.ctx, b.ID))(t); f.Status != "pending" || f.Text == "" || !f.Median.IsZero() {
			t.Errorf("at first: %+v", f)
		}
		for range 5 {
			for _, c := range w.workers {
				work := w.next(c)
				<-time.After(10 * time.Second) // of the bubble
				_, _, err := c.Submit(w.ctx, work.Assignment, yes, false, 0)
				ok(t, err)
			}
		}
		must(w.ann.Forecast(w.ctx, b.ID))(t)
		synctest.Wait()
		f := must(w.ann.Forecast(w.ctx, b.ID))(t)
		if f.Status != "ready" || *f.Left != 30 || f.Low.After(f.Median) || f.Median.After(f.High) || f.Low.Before(f.ComputedAt) || f.Chance == nil || f.Basis == "" || f.Policy == "" {
			t.Errorf("ready: %+v", f)
		}
		_, err := w.bob.Forecast(w.ctx, b.ID)
		refused(t, err, crowd.NotFound)
		_, err = w.workers[0].Forecast(w.ctx, b.ID)
		refused(t, err, crowd.Forbidden)
		_, err = w.nobody.Forecast(w.ctx, b.ID)
		refused(t, err, crowd.Unauthenticated)

		pool := must(w.admin.Pools(w.ctx))(t)[0].ID
		s := must(w.admin.PoolState(w.ctx, pool))(t)
		if len(s.Snapshot.Batches) != 1 || s.Observed.HandOuts != 10 || s.Pool != pool {
			t.Errorf("the state: %+v", s)
		}
		must(forecast.Forecast(w.ctx, s, forecast.Options{Reps: 10, Policies: []string{"fifo", "edf"}}))(t)
		for _, c := range []*client.Client{w.ann, w.workers[0]} {
			_, err = c.PoolState(w.ctx, pool)
			refused(t, err, crowd.Forbidden)
		}
		_, err = w.admin.PoolState(w.ctx, 77)
		refused(t, err, crowd.NotFound)
	})
}

// TestForecastStatuses compares the document with what there is.
func TestForecastStatuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Enum []batches.ForecastStatus }
			}
		}
	}
	ok(t, json.Unmarshal(w.send(w.nobody, http.MethodGet, "/v1/openapi.json", "").body, &doc))
	if got := doc.Components.Schemas["ForecastOut"].Properties["status"].Enum; !slices.Equal(got, batches.ForecastStatuses()) {
		t.Errorf("the document lists %q, there are %q", got, batches.ForecastStatuses())
	}
}
