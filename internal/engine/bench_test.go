package engine_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
	"github.com/throng-dev/throng/sla"
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

// BenchmarkSimulated measures what the engine costs a simulation of a pool: one
// answer a task, 200 workers who are ready with their tasks at random, and Take
// after every cycle, as a simulator that looks at all that happens would. As many
// batches are open all the time: each that ends is followed by a new one (one
// more when the crowd might run dry). What it costs to draw the worker is next to
// nothing. The bar is 600 ns a cycle
// (1M cycles/s on one core, the simulator's own work included).
//
// The sizes are the numbers of tasks that batches have, in turn. Where they are
// few, "short batches come and go", a launch and an end are part of every cycle
// or every second one.
func BenchmarkSimulated(b *testing.B) {
	short := []int{1, 2, 3, 1, 1, 2}
	for _, policy := range []string{"fs", "fs-ratio", "edf", "sdafs", "dafs", "wcfs(fs,k=3)"} {
		for _, batches := range []int{5, 100, 1000, 4000} {
			b.Run(fmt.Sprintf("long/policy=%s/batches=%d", policy, batches), func(b *testing.B) {
				benchmarkSimulated(b, policy, batches, []int{max(200, 10_000/batches)})
			})
		}
		b.Run(fmt.Sprintf("short/policy=%s/batches=%d", policy, 1000), func(b *testing.B) {
			benchmarkSimulated(b, policy, 1000, short)
		})
	}
}

func benchmarkSimulated(b *testing.B, policy string, batches int, sizes []int) {
	s := newSimulated(b, policy, batches, sizes)
	for range 20_000 { // what is open has come to be of all ages
		s.cycle()
	}
	launched := s.launched
	b.ReportAllocs()
	for b.Loop() {
		s.cycle()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
	b.ReportMetric(float64(s.launched-launched)/float64(b.N), "launches/cycle")
}

// simulated is a pool in its steady state.
type simulated struct {
	b        *testing.B
	engine   *engine.Engine
	now      time.Time
	sizes    []int
	launched crowd.BatchID
	fresh    int // tasks that nobody was given yet
	holds    [200]crowd.AssignmentID
	drawn    []uint8 // which worker is next
	cycles   int
	changes  engine.Changes
}

func newSimulated(b *testing.B, policy string, batches int, sizes []int) *simulated {
	s := &simulated{
		b: b, engine: engine.New(engine.Config{Policy: sched.MustParse(policy)}),
		now: time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC), sizes: sizes, drawn: make([]uint8, 1<<16),
	}
	draw := rand.New(rand.NewPCG(1, 2))
	for i := range s.drawn {
		s.drawn[i] = uint8(draw.IntN(len(s.holds)))
	}
	must(b, s.engine.SetTenant(s.now, engine.Tenant{ID: 1, Weight: 1}))
	for n := range s.holds {
		must(b, s.engine.SetWorker(s.now, engine.Worker{ID: crowd.WorkerID(n + 1)}))
	}
	for range batches {
		s.launch()
	}
	for n := range s.holds {
		s.ready(n)
	}
	s.engine.Take(&s.changes)
	return s
}

// launch starts a batch; every second one is due some time.
func (s *simulated) launch() {
	s.launched++
	tasks := s.sizes[int(s.launched)%len(s.sizes)]
	spec := engine.Spec{
		ID: s.launched, Tenant: 1, Tasks: uint32(tasks), Rule: label.Count(1), Reward: 10_000, Budget: crowd.Money(tasks) * 10_000,
		Priority: 1 + float64(s.launched%3), Lease: time.Hour, TaskTime: time.Minute, Production: s.launched%2 == 0,
	}
	if spec.Production {
		spec.Deadline = s.now.Add(time.Hour + time.Duration(s.launched%100)*time.Minute)
	}
	if err := s.engine.Launch(s.now, spec); err != nil {
		s.b.Fatal(err)
	}
	s.fresh += tasks
}

func (s *simulated) ready(n int) {
	h, ok, err := s.engine.Ready(s.now, crowd.WorkerID(n+1))
	if err != nil || !ok {
		s.b.Fatalf("u%d got nothing: %v", n+1, err)
	}
	s.holds[n] = h.Assignment
	if s.fresh--; s.fresh < 2*len(s.holds) {
		s.launch()
	}
}

// cycle lets one worker answer and take the next task: each takes a minute on
// average.
func (s *simulated) cycle() {
	n := int(s.drawn[s.cycles%len(s.drawn)])
	s.cycles++
	s.now = s.now.Add(time.Minute / time.Duration(len(s.holds)))
	if at, ok := s.engine.NextTimer(); ok && !at.After(s.now) {
		s.b.Fatal("a lease ran out")
	}
	if _, err := s.engine.Submit(s.now, crowd.WorkerID(n+1), s.holds[n], `{"label":"cat"}`, "cat"); err != nil {
		s.b.Fatal(err)
	}
	s.engine.Take(&s.changes)
	for i := range s.changes.Progress {
		if s.changes.Progress[i].State != crowd.BatchRunning {
			s.launch()
		}
	}
	s.ready(n)
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
// in 1,000 batches. The bar is 200 bytes.
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

// BenchmarkOrder measures a batch with an SLA in which 100,000 items wait, which
// came at random within a day and are dearer by the hour from the 13th on. A cycle
// is of 100 people who need a minute each; in the meantime some 15 items change. The
// bars are 10 µs an event and 50 ms a full pass.
func BenchmarkOrder(b *testing.B) {
	const items, workers = 100_000, 100
	setup := func(b *testing.B, redundancy int) (*engine.Engine, *time.Time, []engine.Handout) {
		e, now := newPool(b, "penalty", workers), start
		s := benchSpec(1, 0)
		s.Open, s.Budget, s.Rule, s.Lease = true, 0, label.Count(redundancy), 24*time.Hour
		s.Reward = 1
		s.SLA = &engine.Terms{Penalty: sla.Penalty{Kind: sla.Staged, After: 12 * time.Hour, Cost: crowd.Unit, Every: time.Hour}}
		must(b, e.Launch(now, s))
		list := make([]engine.Item, items)
		draw := rand.New(rand.NewPCG(1, 2))
		for i := range list {
			list[i].Born = now.Add(-time.Duration(draw.Int64N(int64(24 * time.Hour))))
		}
		must(b, e.Grow(now, 1, 1, list))
		holds := make([]engine.Handout, workers)
		for w := range holds {
			holds[w], _, _ = e.Ready(now, crowd.WorkerID(w+1))
		}
		return e, &now, holds
	}
	for _, redundancy := range []int{1, 3} {
		b.Run(fmt.Sprintf("cycle/answers=%d", redundancy), func(b *testing.B) {
			e, now, holds := setup(b, redundancy)
			var ch engine.Changes
			next, n := uint32(items+1), 0
			cycle := func() { // time goes by, an item comes, and a task is answered and another one taken
				*now = now.Add(600 * time.Millisecond)
				if n++; n%redundancy == 0 {
					must(b, e.Grow(*now, 1, next, []engine.Item{{Born: *now}}))
					next++
				}
				e.Tick(*now)
				h := &holds[n*7919%workers]
				_, err := e.Submit(*now, h.Worker, h.Assignment, "1", "1")
				must(b, err)
				*h, _, err = e.Ready(*now, h.Worker)
				must(b, err)
				e.Take(&ch)
			}
			for range 2000 { // until the expected time is that of these people
				cycle()
			}
			b.ReportAllocs()
			for b.Loop() {
				cycle()
			}
		})
	}
	b.Run("change", func(b *testing.B) {
		e, _, _ := setup(b, 1)
		for b.Loop() {
			at, ok := e.NextTimer()
			if !ok {
				b.Fatal("no change is to come")
			}
			e.Tick(at)
		}
	})
	b.Run("grow", func(b *testing.B) {
		e, now, _ := setup(b, 1)
		next := uint32(items + 1)
		for b.Loop() {
			must(b, e.Grow(*now, 1, next, []engine.Item{{Born: *now}}))
			next++
		}
	})
	b.Run("pass", func(b *testing.B) {
		e, now, _ := setup(b, 1)
		tail := time.Duration(0)
		for b.Loop() {
			tail = (tail + 37*time.Second) % (10 * time.Minute)
			must(b, e.SetRest(*now, 1, engine.Rest{Tail: tail}))
		}
	})
}

// BenchmarkRemove takes 10,000 tasks out of a batch in which 100,000 were answered after
// one that somebody still holds.
func BenchmarkRemove(b *testing.B) {
	const answered, out = 100_000, 10_000
	for range b.N {
		b.StopTimer()
		e, now := newPool(b, "fs", 2), start
		s := benchSpec(1, answered+out+1)
		s.Rule = label.Count(1)
		must(b, e.Launch(now, s))
		_, _, err := e.Ready(now, 1)
		must(b, err)
		var ch engine.Changes
		for range answered {
			h, _, err := e.Ready(now, 2)
			must(b, err)
			_, err = e.Submit(now, 2, h.Assignment, `{"label":"cat"}`, "cat")
			must(b, err)
			e.Take(&ch)
		}
		var numbers []uint32
		for n := range uint32(out) {
			numbers = append(numbers, answered+2+n)
		}
		b.StartTimer()
		if e.Ends(1, nil, numbers...) {
			b.Fatal("it ends, and 1 holds a task")
		}
		must(b, e.Remove(now, 1, numbers...))
		b.StopTimer()
		e.Take(&ch)
		if len(ch.Removals) != out {
			b.Fatalf("%d are taken out", len(ch.Removals))
		}
	}
}
