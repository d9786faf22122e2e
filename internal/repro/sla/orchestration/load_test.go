package orchestration_test

import (
	"math"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/repro/sla/orchestration"
)

// Over a long time without a peak a service is as busy as it is offered work, and
// people per second times time is people.
func TestOfferedLoadIsCarried(t *testing.T) {
	t.Parallel()
	w := claims(10)
	w.Load = orchestration.Load{Base: 10, Peak: 10, Span: 2000 * time.Second}
	w.Delay = orchestration.Delay{Service: 1, Share: 0.1, By: ms(500)}
	out := run(t, w, policies["event"], 1)
	// Processes a second × steps of each × seconds / places. Half of the processes are flows,
	// which register twice and are analysed; the delay adds a tenth of 0.5 s to that.
	offered := []float64{10 * 1.5 * 0.01 / 100, 10 * 0.5 * (0.15 + 0.05) / 5, 10 * 0.2 / 5, 10 * 0.7 * 0.5 / 5}
	for i, share := range offered {
		got := out.Services[i].Busy.Seconds() / 2000 / float64(w.Services[i].Capacity)
		if math.Abs(got/share-1) > 0.04 {
			t.Errorf("service %d is busy for %.4f of the time, offered are %.4f", i, got, share)
		}
	}
	n := float64(len(out.Processes))
	if math.Abs(n/20000-1) > 0.03 {
		t.Errorf("%g processes in 2,000 s", n)
	}
	flows := 0
	for _, p := range out.Processes {
		if p.Kind == 0 {
			flows++
		}
	}
	if math.Abs(float64(flows)/n-0.5) > 0.02 {
		t.Errorf("%d of %g are of the first kind", flows, n)
	}
	if share := float64(out.Services[3].Served) / n; math.Abs(share-0.7) > 0.02 {
		t.Errorf("%.3f of the processes were inspected", share)
	}
}
