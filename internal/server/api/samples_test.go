package api_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// TestSamplesTellThePayForWaiting: each has what was paid since the one before.
func TestSamplesTellThePayForWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.set(`{"retainer": {"rate_micros_per_minute": 60000}}`)
		must(w.admin.FundPool(w.ctx, main, crowd.Unit))(t)
		w.step()
		must(w.workers[0].StartDuty(w.ctx))(t)
		_, _, err := w.workers[0].Next(w.ctx, 30*time.Second) // there is nothing
		ok(t, err)
		must(w.workers[0].EndDuty(w.ctx))(t)
		w.step()
		samples := must(w.admin.PoolSamples(w.ctx, main, time.Hour))(t)
		if len(samples) != 2 || samples[0].Waiting != 0 || samples[1].Waiting != 30_000 {
			t.Errorf("samples: %+v", samples)
		}
		w.close()
	})
}
