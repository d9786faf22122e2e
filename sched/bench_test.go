package sched_test

import (
	"fmt"
	"testing"

	"github.com/throng-dev/throng/internal/bench/schedbench"
	"github.com/throng-dev/throng/sched"
)

// The benchmarks run the worlds of schedbench in their steady state. Run one with
//
//	go test -run '^$' -bench 'Decision/dafs/10000$' ./sched
//
// A decision is timed with the two events that make the next one different, and
// BenchmarkEvent times events alone; "throng bench sched" tells them apart.

var benchSizes = []int{1_000, 10_000, 100_000, 1_000_000}

// BenchmarkDecision times a whole cycle: a finish, a decision and a start.
func BenchmarkDecision(b *testing.B) {
	inWorlds(b, func(w *schedbench.World) { w.Cycle() })
}

// BenchmarkEvent times one Set after a start or a finish of some batch.
func BenchmarkEvent(b *testing.B) {
	inWorlds(b, func(w *schedbench.World) { w.Touch() })
}

func inWorlds(b *testing.B, step func(*schedbench.World)) {
	for _, name := range sched.Names() {
		for _, size := range benchSizes {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				if name == "beta-fair(beta=-1)" && size > 10_000 {
					b.Skip("finite β walks the distinct pairs")
				}
				w := schedbench.NewWorld(sched.MustParse(name), size)
				b.ReportAllocs()
				for b.Loop() {
					step(w)
				}
			})
		}
	}
}
