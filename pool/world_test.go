package pool

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a small pool in discrete time, a second a tick: answers come at rate
// lambda, each busy person completes with probability mu a second and leaves with
// probability abandon, and each one who was called comes with probability arrive.
// It carries out what a controller decides.
type world struct {
	lambda, mu, abandon, arrive float64

	rnd      *rand.Rand
	now      time.Time
	queue    int
	busy     int
	idle     int
	coming   int
	counters Counters
	waiting  float64 // answers in the queue, summed over seconds
	idling   float64 // people idle, summed over seconds
	actions  int     // people called, withdrawn and let go
	calls    int
	leaving  int // told to go, and still at work
}

func newWorld(seed uint64, lambda, mu, abandon, arrive float64, workers int) *world {
	return &world{lambda: lambda, mu: mu, abandon: abandon, arrive: arrive, idle: workers, now: epoch,
		rnd: rand.New(rand.NewPCG(seed, 7))}
}

func (w *world) poisson(mean float64) int {
	n, p := 0, w.rnd.Float64()
	for limit := math.Exp(-mean); p > limit; n++ {
		p *= w.rnd.Float64()
	}
	return n
}

func (w *world) count(n int, p float64) (hits int) {
	for range n {
		if w.rnd.Float64() < p {
			hits++
		}
	}
	return hits
}

func (w *world) tick() {
	w.now = w.now.Add(time.Second)
	w.counters.Worked += time.Duration(w.busy) * time.Second
	w.counters.OnDuty += time.Duration(w.busy+w.idle) * time.Second
	w.counters.Idled += time.Duration(w.idle) * time.Second
	w.counters.Awaited += time.Duration(w.coming) * time.Second
	n := w.poisson(w.lambda)
	w.queue += n
	w.counters.Arrived += int64(n)
	done := w.count(w.busy, w.mu)
	w.counters.Completed += int64(done)
	w.busy -= done
	went := min(done, w.leaving)
	w.leaving -= went
	w.idle += done - went
	left := w.count(w.idle, w.abandon)
	w.idle -= left
	lost := w.count(w.busy, w.abandon)
	w.busy -= lost
	w.leaving = min(w.leaving, w.busy)
	w.queue += lost
	w.counters.Abandoned += int64(left + lost)
	came := w.count(w.coming, w.arrive)
	w.coming -= came
	w.idle += came
	w.counters.Joined += int64(came)
	take := min(w.queue, w.idle)
	w.queue -= take
	w.idle -= take
	w.busy += take
	w.waiting += float64(w.queue)
	w.idling += float64(w.idle)
}

func (w *world) people() int { return w.busy + w.idle - w.leaving }

func (w *world) reading() *Reading {
	r := &Reading{Pool: 1, Workers: w.people(), Busy: w.busy - w.leaving, Coming: w.coming, Queue: w.queue, Counters: w.counters, Affordable: -1, Preference: float64(w.people())}
	for i := range w.idle {
		r.Idle = append(r.Idle, Person{ID: crowd.WorkerID(i + 1)})
	}
	return r
}

func (w *world) do(d Decision) {
	w.calls += d.Recruit
	w.actions += d.Recruit + d.Withdraw + d.Release
	w.coming += d.Recruit - d.Withdraw
	now := min(d.Release, w.idle)
	w.idle -= now
	w.leaving += d.Release - now
	w.counters.Released += int64(d.Release)
}

// run lets a controller work for a time.
func (w *world) run(c *Controller, length, step time.Duration) {
	for range int(length / step) {
		for range int(step / time.Second) {
			w.tick()
		}
		w.do(c.Step(w.now, w.reading(), w.rnd))
	}
}

func mustNew(t testing.TB, s Settings) *Controller {
	t.Helper()
	c, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
