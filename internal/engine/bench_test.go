package engine_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// BenchmarkCycle measures whole cycles of a busy pool: an answer, what follows
// from it, and the next task. 1,000 workers, count 3; Take every 64 cycles, as
// a group commit would.
func BenchmarkCycle(b *testing.B) {
	for _, bb := range []struct {
		batches, tasks int
		policy         string
	}{
		{1, 1_000_000, "fs"},
		{1, 1_000_000, "tenant-fair(dafs)"},
		{100, 10_000, "fs"},
		{100, 10_000, "tenant-fair(dafs)"},
		{10_000, 100, "fs"},
		{10_000, 100, "tenant-fair(dafs)"},
	} {
		b.Run(fmt.Sprintf("batches=%d/policy=%s", bb.batches, bb.policy), func(b *testing.B) {
			benchmarkCycle(b, bb.batches, bb.tasks, bb.policy)
		})
	}
}

func benchmarkCycle(b *testing.B, batches, tasks int, policy string) {
	const workers, perCommit = 1000, 64
	now := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)
	var ch engine.Changes
	id, left := crowd.BatchID(0), 0 // batches so far; answers still wanted
	e := engine.New(engine.Config{Policy: sched.MustParse(policy)})
	launch := func() {
		id++
		spec := benchSpec(id, tasks)
		spec.Tenant = crowd.TenantID(1 + id%10)
		spec.Deadline = now.Add(time.Hour)
		spec.Production = true
		must(b, e.Launch(now, spec))
		left += 3 * tasks
	}
	for n := crowd.TenantID(1); n <= 10; n++ {
		must(b, e.SetTenant(now, engine.Tenant{ID: n, Weight: 1}))
	}
	for n := crowd.WorkerID(1); n <= workers; n++ {
		must(b, e.SetWorker(now, engine.Worker{ID: n}))
	}
	for range batches {
		launch()
	}
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
	e.Take(&ch)

	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		n := i * 7919 % workers // not in the order in which they came
		now = now.Add(10 * time.Microsecond)
		if _, err := e.Submit(now, crowd.WorkerID(n+1), holds[n], `{"label":"cat"}`, "cat"); err != nil {
			b.Fatal(err)
		}
		if left--; left < (3*batches-1)*tasks {
			launch() // before the crowd runs dry
		}
		ready(n)
		if i%perCommit == 0 {
			e.Take(&ch)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
}

func benchSpec(id crowd.BatchID, tasks int) engine.Spec {
	return engine.Spec{
		ID: id, Tenant: 1, Tasks: uint32(tasks), Rule: label.Count(3), Reward: 10_000, Budget: crowd.Money(3*tasks) * 10_000,
		Priority: 1, Lease: time.Hour, TaskTime: time.Minute,
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// BenchmarkTaskMemory reports what a task costs that has no label yet: 1M tasks
// in 1,000 batches. The bar is 200 bytes (DESIGN.md §11).
func BenchmarkTaskMemory(b *testing.B) {
	const batches, tasks, workers = 1000, 1000, 100
	now := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)
	for _, bb := range []struct {
		name    string
		invited int // people invited to each task, 0: everybody may do it
		started bool
	}{
		{"fresh", 0, false}, {"fresh, 3 people invited to each", 3, false}, {"one answer of three", 0, true},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for range b.N {
				before := heap()
				e := engine.New(engine.Config{Policy: sched.MustParse("fs")})
				must(b, e.SetTenant(now, engine.Tenant{ID: 1, Weight: 1}))
				for n := crowd.WorkerID(1); n <= workers; n++ {
					must(b, e.SetWorker(now, engine.Worker{ID: n}))
				}
				for id := crowd.BatchID(1); id <= batches; id++ {
					spec := benchSpec(id, tasks)
					spec.Invited = invite(bb.invited, tasks, workers)
					must(b, e.Launch(now, spec))
				}
				var ch engine.Changes
				for bb.started { // one worker does a first answer of everything
					h, ok, err := e.Ready(now, 1)
					must(b, err)
					if !ok {
						break
					}
					_, err = e.Submit(now, 1, h.Assignment, `{"label":"cat"}`, "cat")
					must(b, err)
					e.Take(&ch)
				}
				b.ReportMetric(float64(heap()-before)/(batches*tasks), "bytes/task")
				runtime.KeepAlive(e)
			}
		})
	}
}

func invite(each, tasks, workers int) map[crowd.WorkerID][]uint32 {
	if each == 0 {
		return nil
	}
	lists := make(map[crowd.WorkerID][]uint32)
	for n := range tasks {
		for i := range each {
			w := crowd.WorkerID(1 + (n+i)%workers)
			lists[w] = append(lists[w], uint32(n+1))
		}
	}
	return lists
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
