package pool_test

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/pool"
)

// city makes n pools, of which those before giving have each so many idle, and
// those from wanting on a queue of up to longest.
func city(n, giving, wanting, each, longest int) []pool.BalanceView {
	rng := rand.New(rand.NewPCG(1, 14))
	views := make([]pool.BalanceView, n)
	for i := range views {
		v := &views[i]
		v.Pool, v.At = crowd.PoolID(i+1), i
		v.Mu = 1 / (20 + 80*rng.Float64())
		v.TrainingRate = 1 / (60 + 600*rng.Float64())
		v.Busy = 5 + rng.IntN(20)
		v.Workers = v.Busy
		if i < giving {
			v.Workers += each
			for k := range each {
				p := pool.Person{
					ID:      crowd.WorkerID(1 + i + n*k),
					Prefers: preferences(rng, n, 3),
				}
				for range n {
					p.Knows = append(p.Knows, rng.IntN(5) == 0)
				}
				v.Idle = append(v.Idle, p)
				v.Preference += p.PrefersAt(i)
			}
			rng.Shuffle(each, func(a, b int) { v.Idle[a], v.Idle[b] = v.Idle[b], v.Idle[a] })
		}
		v.OnDuty = v.Workers
		if i >= wanting {
			v.Queue = 1 + rng.IntN(longest)
		}
	}
	return views
}

var cities = []struct {
	name                              string
	n, giving, wanting, each, longest int
}{
	{"25x2000_idle_25_queues", 50, 25, 25, 2000, 2000},
	{"25x2000_idle_25_long_queues", 50, 25, 25, 2000, 1_000_000},
	{"50x1000_idle_25_queues", 50, 50, 25, 1000, 2000},
	{"50x1000_idle_50_queues", 50, 50, 0, 1000, 2000},
	{"50x1000_idle_50_long_queues", 50, 50, 0, 1000, 1_000_000},
	{"49x1020_idle_1_queue", 50, 49, 49, 1020, 2000},
	{"25x40_idle_25_queues", 50, 25, 25, 40, 200},
	{"25x40_idle_25_long_queues", 50, 25, 25, 40, 20_000},
	{"50x20_idle_25_queues", 50, 50, 25, 20, 200},
}

// processor is the processor time that the tests have taken so far, the collector
// of garbage included: on a busy machine it tells more than the clock.
func processor() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

func BenchmarkPlan(b *testing.B) {
	for _, c := range cities {
		views := city(c.n, c.giving, c.wanting, c.each, c.longest)
		for _, name := range []string{"paper", "search"} {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				balancer := pool.MustParseBalance(name)
				moved := 0
				spent := processor()
				for b.Loop() {
					moved = len(balancer.Plan(views, nil))
				}
				b.ReportMetric(float64(processor()-spent)/1e6/float64(b.N), "cpu-ms/op")
				b.ReportMetric(float64(moved), "moved")
				b.ReportMetric(pool.Evaluate(views, balancer.Plan(views, nil), 0.5).Value, "value")
			})
		}
	}
}
