package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// BenchmarkWaitInVain measures cycles of 64 people at tasks that want one more answer again and
// again, while so many others wait who may not do them: for want of a qualification, each with a
// score of their own in another one, or since they serve another tenant.
func BenchmarkWaitInVain(b *testing.B) {
	for _, people := range []int{0, 4000} {
		b.Run(fmt.Sprint("waiting=", people), func(b *testing.B) {
			const workers = 64
			now := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)
			e := engine.New(engine.Config{Policy: sched.MustParse("tenant-fair(wfs)")})
			for n := crowd.TenantID(1); n <= 2; n++ {
				must(b, e.SetTenant(now, engine.Tenant{ID: n, Weight: 1}))
			}
			for n := crowd.WorkerID(1); n <= workers; n++ {
				must(b, e.SetWorker(now, engine.Worker{ID: n, Qualifications: map[string]int{"birds": 90}}))
			}
			spec := benchSpec(1, 1_000_000)
			spec.Rule, spec.Requirements = label.Agree(2, 5), []engine.Requirement{{Name: "birds", Min: 80}}
			must(b, e.Launch(now, spec))
			holds := make([]crowd.AssignmentID, workers)
			ready := func(n int) {
				h, ok, err := e.Ready(now, crowd.WorkerID(n+1))
				if err != nil || !ok {
					b.Fatalf("u%d got nothing: %v", n+1, err)
				}
				holds[n] = h.Assignment
			}
			for n := range holds {
				ready(n)
			}
			for i := range people {
				w := engine.Worker{ID: crowd.WorkerID(workers + 1 + i), Qualifications: map[string]int{"birds": i % 80, "fish": i % 101}}
				if i%2 == 0 {
					w.Qualifications["birds"], w.Serves = 90, []crowd.TenantID{2}
				}
				must(b, e.SetWorker(now, w))
				if _, ok, err := e.Ready(now, w.ID); ok || err != nil {
					b.Fatalf("%s was given something: %v", w.ID, err)
				}
			}
			var ch engine.Changes
			e.Take(&ch)
			b.ResetTimer()
			for i := range b.N {
				n := i % workers
				now = now.Add(10 * time.Microsecond)
				key := fmt.Sprint(i * 7919 % 5)
				if _, err := e.Submit(now, crowd.WorkerID(n+1), holds[n], key, key); err != nil {
					b.Fatal(err)
				}
				ready(n)
				if i%64 == 0 {
					e.Take(&ch)
				}
			}
		})
	}
}
