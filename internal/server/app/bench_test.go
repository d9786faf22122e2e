package app_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/pool"
)

// BenchmarkSubmit is the hot path: 64 workers submit and get the next task in
// the same call, each answer durable before its reply. An operation is a cycle.
func BenchmarkSubmit(b *testing.B) {
	const people = 64
	w := newWorld(b, people)
	w.launch(b.N/3+people, func(d *batches.NewBatch) {
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
				_, next, err := w.Work.Submit(w.ctx, p, held[i], yes, true, 0)
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

// BenchmarkControlStep is a control step of 1,000 pools with 20 people each, 15 of
// them on duty: when nothing is to be done, when every pool calls five more of
// whom nobody comes, when every pool's state is kept besides; and what a
// monitor reads of them all.
func BenchmarkControlStep(b *testing.B) {
	const pools, people, here = 1000, 20, 15
	w := newWorld(b, 0)
	w.Close()
	settings := pool.Settings{Elasticity: "ct-p", Stability: "hybrid", Balance: true, Min: here, Max: people}
	for i := range pools {
		id := must(w.store.CreatePool(w.ctx, store.Pool{
			Name: fmt.Sprint("pool ", i), Policy: control.DefaultPolicy, Control: settings, Calling: recruit.DefaultCalling(),
			Retainer: engine.Retainer{Called: true, Rate: crowd.Unit / 20, Promise: time.Minute},
		}))(b)
		c := engine.Changes{Transfers: []engine.Transfer{{At: w.clock.now(), Kind: engine.Deposit,
			From: engine.Account{Kind: engine.Outside}, To: engine.Account{Kind: engine.PoolAccount, ID: int64(id)}, Amount: 100 * crowd.Unit}}}
		for j := range people {
			u := store.User{Name: fmt.Sprint("u", i, ".", j), Pool: id}
			u.ID = must(w.store.CreateUser(w.ctx, u))(b)
			if j < here {
				c.Duties = append(c.Duties, engine.Duty{Pool: id, Worker: u.ID, On: true, At: w.clock.now(), Since: w.clock.now()})
			}
		}
		ok(b, w.store.Commit(w.ctx, &c))
	}
	ok(b, w.store.Close())
	w.moves = pool.MustParseBalance("search")
	w.open()
	w.step(time.Second)
	run := func(name string, every time.Duration) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.clock.advance(every)
				ok(b, w.Control.Step(w.ctx))
			}
		})
	}
	run("quiet", time.Millisecond)
	run("kept", 10*time.Second)
	b.Run("figures", func(b *testing.B) {
		for b.Loop() {
			must(w.Pools.Figures(w.ctx))(b)
		}
	})
	settings.Min = people
	for _, v := range must(w.Pools.List(w.ctx, w.admin))(b)[1:] {
		must(w.Pools.Update(w.ctx, w.admin, v.ID, control.PoolEdit{Control: &settings}))(b)
	}
	start := time.Now()
	w.step(time.Second)
	b.Logf("the step in which all begin to call: %s", time.Since(start))
	run("calling", time.Millisecond)
}
