package pool

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
)

func BenchmarkControlStep1000(b *testing.B) {
	for _, moving := range []bool{false, true} {
		b.Run(map[bool]string{false: "steady", true: "moving"}[moving], func(b *testing.B) {
			const pools = 1000
			rnd := rand.New(rand.NewPCG(5, 6))
			c := NewControl(nil)
			readings := make([]Reading, pools)
			load := make([]float64, pools)
			for i := range readings {
				load[i] = 1 + 49*rnd.Float64()
				readings[i] = Reading{Pool: crowd.PoolID(i + 1), Affordable: -1}
				if err := c.Set(crowd.PoolID(i+1), fmt.Sprint(i), Settings{Elasticity: "ct-t", Stability: "hybrid", Min: 1, Max: 200, Cooldown: time.Minute}); err != nil {
					b.Fatal(err)
				}
			}
			now := epoch
			next := func() {
				now = now.Add(10 * time.Second)
				for i := range readings {
					r := &readings[i]
					n := int64(load[i])
					if moving {
						n = int64(load[i] * 2 * rnd.Float64())
						r.Counters.Worked += time.Duration(rnd.IntN(1e9))
					}
					r.Workers = int(load[i]) + 3
					r.Busy = int(load[i])
					r.Queue = rnd.IntN(5)
					r.Counters.Arrived += n
					r.Counters.Completed += n
					r.Counters.Abandoned += int64(rnd.IntN(2))
					r.Counters.Worked += time.Duration(n) * 10 * time.Second
				}
			}
			for range 60 * 7 { // more than an hour: all windows are full
				next()
				c.Step(now, readings, rnd)
			}
			b.ReportAllocs()
			changed := 0
			last := make([]float64, pools)
			for b.Loop() {
				b.StopTimer()
				next()
				b.StartTimer()
				d := c.Step(now, readings, rnd)
				b.StopTimer()
				for i := range d {
					if d[i].Saw.CStar < 1 {
						b.Fatalf("pool %d: c* %d", i, d[i].Saw.CStar)
					}
					if d[i].Saw.Lambda != last[i] {
						changed++
					}
					last[i] = d[i].Saw.Lambda
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(changed)/float64(b.N)/pools, "changed/pool")
		})
	}
}
