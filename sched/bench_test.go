package sched_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/verify/bench/schedbench"
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
				w := schedbench.NewWorld(sched.MustParse(name), size)
				b.ReportAllocs()
				for b.Loop() {
					step(w)
				}
			})
		}
	}
}

// BenchmarkLaxityAmongTooBig times a cycle for a worker of one class of eight,
// most batches of which are urgent and too big for the crowd: a decision must not
// look at them one by one.
func BenchmarkLaxityAmongTooBig(b *testing.B) {
	for _, size := range benchSizes[:3] {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			p := sched.MustParse("laxity")
			p.Next(epoch, anyone{}) // tells the time
			batches := make([]sched.Batch, size)
			for i := range batches {
				batch := &batches[i]
				*batch = sched.Batch{
					ID: crowd.BatchID(i + 1), Tenant: 1, TenantWeight: 1, Class: sched.Class(i % 8), Arrived: epoch, Priority: 1,
					Planned: 2000 + i, TaskTime: time.Minute, Production: true, Deadline: epoch.Add(time.Hour), Assignable: true,
				}
				if i%100 == 0 {
					batch.Deadline = epoch.Add(100_000 * time.Hour)
				}
				p.Set(batch)
			}
			w := &person{classes: [3]bool{1: true}}
			now, turn := epoch, uint64(0)
			var hands []int
			b.ReportAllocs()
			for b.Loop() {
				now = now.Add(time.Microsecond)
				w.asked = w.asked[:0]
				id := p.Next(now, limited{w})
				if id == 0 {
					b.Fatal("nothing to do")
				}
				k := int(id) - 1
				turn++
				batches[k].Running, batches[k].Turn = batches[k].Running+1, turn
				p.Set(&batches[k])
				if hands = append(hands, k); len(hands) == 20 {
					batches[hands[0]].Running--
					p.Set(&batches[hands[0]])
					hands = append(hands[:0], hands[1:]...)
				}
			}
			if len(w.asked) != 1 {
				b.Fatalf("asked about %d batches", len(w.asked))
			}
		})
	}
}

// limited is a worker of some of more classes than person has.
type limited struct{ *person }

func (l limited) MayClass(c sched.Class) bool { return c < 3 && l.person.MayClass(c) }
