package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/verify/process"
	"github.com/throng-dev/throng/internal/wire"
)

const twoSteps = `
workflow: hand over
inputs: {items: {columns: [id]}}
steps:
  first:
    from: {items: stream}
    crowd: {template: {kind: choose_one, question: Good?, show: [id], options: [good, bad]}, reward: 0.01, task_time: 1s}
  second:
    from: {first: stream}
    crowd: {template: {kind: choose_one, question: Really?, show: [id], options: [good, bad]}, reward: 0.01, task_time: 1s, pool: experts}
`

// BenchmarkHandOver measures how long it takes on a real server from an acknowledged
// answer until somebody who waits has the task that follows from it, when 1 and 8
// people answer as fast as they can. An operation is an item through both steps.
func BenchmarkHandOver(b *testing.B) {
	for _, people := range []int{1, 8} {
		b.Run(strconv.Itoa(people), func(b *testing.B) {
			r := newRelay(b, people)
			b.ResetTimer()
			if _, err := r.site.Admin.MoveRun(b.Context(), r.run, "start"); err != nil {
				b.Fatal(err)
			}
			for i, x := range r.workers {
				r.crew.Go(func() error { return r.work(x, i >= people) })
			}
			if err := r.crew.Wait(); err != nil {
				b.Fatalf("%v\n%s", err, r.site.Log())
			}
			b.StopTimer()
			took := make([]float64, 0, b.N)
			for id, at := range r.got {
				took = append(took, max(at.Sub(r.told[id]), 0).Seconds()*1000) // the reply and the task are on their way at the same time
			}
			if len(took) != b.N || len(r.told) != b.N {
				b.Fatalf("%d of %d items came to the second step, %d were answered at the first", len(took), b.N, len(r.told))
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "answers/s")
			b.ReportMetric(stats.Quantile(took, 0.5), "p50-ms")
			b.ReportMetric(stats.Quantile(took, 0.99), "p99-ms")
		})
	}
}

// relay is a run of two steps, each with people of its own.
type relay struct {
	site    *load.Site
	run     crowd.RunID
	workers []load.Worker // those of the first step first
	crew    *load.Crew
	items   int

	mu   sync.Mutex
	told map[string]time.Time // by item: the first answer was acknowledged
	got  map[string]time.Time // somebody has the second task
	done int                  // second answers
}

// newRelay starts a server with a run of b.N items that has not begun. At the second
// step are twice as many people as at the first, and two more, so that some wait.
func newRelay(b *testing.B, people int) *relay {
	ctx := b.Context()
	r := &relay{items: b.N, crew: load.NewCrew(ctx), told: make(map[string]time.Time), got: make(map[string]time.Time)}
	ok := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	var err error
	r.site, err = load.Start(context.WithoutCancel(ctx), process.Config{Data: b.TempDir()})
	ok(err)
	b.Cleanup(r.site.Kill)
	tenant, err := r.site.AddTenant(ctx, "Tenant", 1, crowd.MaxMoney, "for the benchmark")
	ok(err)
	experts, err := r.site.Admin.CreatePool(ctx, "experts", "")
	ok(err)
	r.workers, err = r.site.AddWorkers(ctx, 3*people+2, func(i int) (string, crowd.PoolID) {
		if i < people {
			return fmt.Sprintf("worker-%d", i+1), r.site.Pool
		}
		return fmt.Sprintf("expert-%d", i+1), experts.ID
	})
	ok(err)
	made, err := r.site.Admin.MakeRun(ctx, wire.NewRun{Tenant: tenant, Workflow: twoSteps})
	ok(err)
	r.run = made.ID
	items := load.CSV([]string{"id"}, b.N, func(i int) []string { return []string{strconv.Itoa(i)} })
	_, err = r.site.Admin.LoadRun(ctx, r.run, "items", items, "csv")
	ok(err)
	return r
}

// work answers tasks until the last item has been answered at the second step.
func (r *relay) work(w load.Worker, second bool) error {
	c, quit := w.Client(r.site.URL), r.crew.Quit()
	var task *wire.Work
	for {
		var err error
		if task == nil {
			task, _, err = c.Next(quit, 10*time.Second)
		} else {
			id := task.Values.Get("id")
			if second {
				r.note(r.got, id)
			}
			if _, task, err = c.Submit(quit, task.Assignment, json.RawMessage(`{"label":"good"}`), true, 0); err == nil {
				r.answered(id, second)
			}
		}
		if quit.Err() != nil {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (r *relay) note(in map[string]time.Time, id string) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	in[id] = now
}

// answered notes that an answer was acknowledged. The last one ends the work.
func (r *relay) answered(id string, second bool) {
	if !second {
		r.note(r.told, id)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done++; r.done == r.items {
		r.crew.End()
	}
}
