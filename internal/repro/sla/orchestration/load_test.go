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
	for i, share := range offered(w, 10) {
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

// offered returns the load that each service is offered while so many processes
// a second begin, as a share of what it can serve.
func offered(w *orchestration.World, rate float64) []float64 {
	list := make([]float64, len(w.Services))
	for _, k := range w.Kinds {
		for _, s := range k.Steps {
			v := &w.Services[s.Service]
			mean := v.Response.Seconds()
			if s.Service == w.Delay.Service {
				mean += w.Delay.Share * w.Delay.By.Seconds()
			}
			list[s.Service] += rate / float64(len(w.Kinds)) * s.Chance * mean / float64(v.Capacity)
		}
	}
	return list
}
