package service_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/service"
	"github.com/throng-dev/throng/label"
)

// BenchmarkSubmit is the hot path: 64 workers submit and get the next task in
// the same call, each answer durable before its reply. An operation is a cycle.
func BenchmarkSubmit(b *testing.B) {
	const people = 64
	w := newWorld(b, people)
	w.launch(b.N/3+people, func(d *service.NewBatch) {
		d.Redundancy, d.Lease, d.Reward = label.Count(3), 24*time.Hour, 1
	})
	held := make([]crowd.AssignmentID, people)
	for i, p := range w.workers {
		held[i] = w.next(p).Assignment
	}
	b.ReportAllocs()
	b.ResetTimer()
	var left atomic.Int64
	left.Store(int64(b.N))
	var done sync.WaitGroup
	for i, p := range w.workers {
		done.Go(func() {
			for left.Add(-1) >= 0 {
				_, next, err := w.Submit(w.ctx, p, held[i], yes, true, 0)
				if err != nil || next == nil {
					b.Errorf("next %v: %v", next, err)
					return
				}
				held[i] = next.Assignment
			}
		})
	}
	done.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
}
