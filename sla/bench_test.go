package sla_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sla"
)

const many = 100_000

// crowded returns a queue of many requests of all kinds of penalties, spread
// over the ages at which they matter.
func crowded(form sla.Form) (*sla.Queue, func(id int64) sla.Request) {
	rng := rand.New(rand.NewPCG(1, 2))
	shared := []*sla.Penalty{
		{Kind: sla.Staged, After: 3 * sec, Cost: 10 * unit, Every: sec},
		{Kind: sla.Staged, After: 3 * sec, Cost: 15 * unit, Every: sec, AtMost: 200 * unit},
		{Kind: sla.Constant, After: 8 * sec, Cost: 20 * unit},
		{Kind: sla.Linear, After: 5 * sec, Cost: 10 * unit, Every: sec, AtMost: 100 * unit},
	}
	request := func(id int64) sla.Request {
		start := epoch.Add(-time.Duration(rng.Int64N(int64(20 * sec))))
		return sla.Request{
			ID: id, Start: start, Since: start.Add(time.Duration(rng.Int64N(int64(sec)))),
			Tail: time.Duration(rng.Int64N(int64(sec))), Penalty: shared[rng.IntN(len(shared))],
		}
	}
	q := sla.NewQueue(form, 300*ms)
	for id := range int64(many) {
		q.Put(epoch, request(id))
	}
	return q, request
}

func BenchmarkPutAndDrop(b *testing.B) {
	q, request := crowded(sla.ATC)
	id := int64(many)
	for b.Loop() {
		q.Put(epoch, request(id))
		q.Drop(id - many)
		id++
	}
	if q.Len() != many {
		b.Fatalf("%d requests left", q.Len())
	}
}

func BenchmarkReplace(b *testing.B) {
	q, request := crowded(sla.ATC)
	id := int64(0)
	for b.Loop() {
		q.Put(epoch, request(id%many))
		id++
	}
}

// BenchmarkAdvance is one change of the calendar at a time.
func BenchmarkAdvance(b *testing.B) {
	q, _ := crowded(sla.ATC)
	for b.Loop() {
		next, ok := q.NextChange()
		if !ok {
			b.Fatal("nothing changes any more")
		}
		q.Advance(next)
	}
}

// BenchmarkAdvanceFrame is what is due after a 60th of a second.
func BenchmarkAdvanceFrame(b *testing.B) {
	q, _ := crowded(sla.ATC)
	now := epoch
	for b.Loop() {
		now = now.Add(sec / 60)
		q.Advance(now)
	}
}

func BenchmarkPass(b *testing.B) {
	for _, form := range sla.Forms() {
		b.Run(string(form)+"/response", func(b *testing.B) {
			q, _ := crowded(form)
			now := epoch
			for i := 0; b.Loop(); i++ {
				q.SetResponse(now, 300*ms+time.Duration(i%50)*ms)
			}
		})
		b.Run(string(form)+"/tail", func(b *testing.B) {
			q, _ := crowded(form)
			for i := 0; b.Loop(); i++ {
				q.SetTail(epoch, time.Duration(i%50)*20*ms)
			}
		})
	}
	b.Run("loop/tick", func(b *testing.B) {
		q, _ := crowded(sla.Loop)
		for i := 0; b.Loop(); i++ {
			now := epoch.Add(time.Duration(i%64+1) * 150 * ms)
			if i%64 == 0 {
				b.StopTimer()
				q, _ = crowded(sla.Loop)
				b.StartTimer()
			}
			q.Advance(now)
		}
	})
	b.Run("event/all due", func(b *testing.B) { // every request changes at the same instant
		q := sla.NewQueue(sla.Event, 300*ms)
		p := &sla.Penalty{Kind: sla.Staged, After: 3 * sec, Cost: 10 * unit, Every: sec}
		for id := range int64(many) {
			q.Put(epoch, sla.Request{ID: id, Start: epoch, Penalty: p})
		}
		for b.Loop() {
			next, ok := q.NextChange()
			if !ok {
				b.Fatal("nothing changes any more")
			}
			q.Advance(next)
		}
	})
}

func BenchmarkHead(b *testing.B) {
	q, _ := crowded(sla.ATC)
	var sum crowd.Money
	for b.Loop() {
		_, d, _ := q.Head()
		sum += d
	}
	if sum == 0 {
		b.Fatal("the head has nothing to lose")
	}
}

func BenchmarkWalk100(b *testing.B) {
	q, _ := crowded(sla.ATC)
	for b.Loop() {
		n := 0
		for range q.All() {
			if n++; n == 100 {
				break
			}
		}
	}
}

// BenchmarkMemory reports what a queue keeps of a request.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		q, _ := crowded(sla.ATC)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(q.Len()), "B/request")
	}
}

func BenchmarkRank(b *testing.B) {
	for _, n := range []int{100, 600, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			plan, err := sla.NewPlan(claims)
			if err != nil {
				b.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(3, 4))
			ls := &sla.Penalty{Kind: sla.Staged, After: 3 * sec, Cost: 10 * unit, Every: sec}
			var all []*sla.Process
			for id := range n {
				p := &sla.Process{ID: int64(id), Plan: plan, Services: services, Start: epoch.Add(-time.Duration(rng.Int64N(int64(8 * sec)))), Penalty: ls, Steps: make([]sla.StepState, len(services))}
				for step := range rng.IntN(len(services)) {
					p.Steps[step].Progress = sla.Done
				}
				for step := range p.Steps {
					if p.Steps[step].Progress == sla.Ahead {
						p.Steps[step] = sla.StepState{Progress: sla.Waiting, Since: epoch}
						break
					}
				}
				all = append(all, p)
			}
			for b.Loop() {
				if len(sla.Rank(epoch, decision, tableI, all)) == 0 {
					b.Fatal("nothing was ranked")
				}
			}
		})
	}
}
