package sim

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
)

// busyWorld has every habit there is: a band, sessions, patience, pauses, speeds,
// switches, practice, skips, returns, silence, several answers.
func busyWorld() *Setup {
	return &Setup{
		Horizon: 20 * time.Minute,
		Tenants: []Tenant{{Name: "one"}},
		Kinds: []Kind{{
			Name: "tag", Service: Exponential(8), SwitchFactor: 1.4, SwitchTime: Exponential(2), Learning: 0.1,
			Skip: 0.05, Return: 0.01, Silent: 0.3, GiveUpAfter: Exponential(3), Answers: []string{"a", "b"}, Accuracy: 0.8,
		}},
		Groups: []Group{
			{Name: "band", Arrive: Arrivals{Rate: 600, Min: 3, Max: 5}, Session: Exponential(150), Speed: Uniform{0.5, 2}, Pause: Exponential(4)},
			{Name: "steady", Arrive: Arrivals{Rate: 120, Count: 20}, Session: Exponential(200), Patience: Exponential(40), Pause: Exponential(2), Speed: Uniform{0.5, 2}},
		},
		Flows: []Flow{
			{Batch: Batch{Name: "once", Lease: 20 * time.Second}, Arrive: Arrivals{Rate: 100}, Size: Zipf{A: 2, Max: 30}},
			{Batch: Batch{Name: "thrice", Rule: label.Count(3)}, Arrive: Arrivals{Rate: 40}, Size: Constant(4)},
		},
	}
}

// TestEverybodyIsTheSameUnderEveryPolicy compares, between policies, what belongs
// to a thing: people by who they are, tasks by their number.
func TestEverybodyIsTheSameUnderEveryPolicy(t *testing.T) {
	t.Parallel()
	type figures struct {
		speed map[uint64]float64
		end   map[uint64]int64 // of a visit, from its begin
		took  map[crowd.TaskID]float64
	}
	watch := func(policy string) figures {
		f := figures{map[uint64]float64{}, map[uint64]int64{}, map[crowd.TaskID]float64{}}
		run := Run{Setup: busyWorld(), Policy: policy, Seed: 3}
		w, err := newWorld(&run)
		if err != nil {
			t.Fatal(err)
		}
		for w.err == nil {
			first, ok := w.queue.Next()
			at := int64(first)
			if !ok || at > w.horizon {
				break
			}
			if timer, set := w.engine.NextTimer(); set && int64(timer.Sub(w.epoch)) <= at {
				w.tick(max(int64(timer.Sub(w.epoch)), w.now))
				continue
			}
			_, e := w.queue.Pop()
			if e.kind == sessionEnds && !w.void(e) {
				f.end[w.workers[e.who].self] = at - w.workers[e.who].came
			}
			w.step(at, e)
			for i := range w.workers {
				p := &w.workers[i]
				if p.doing == gone {
					continue
				}
				f.speed[p.self] = p.speed
				if p.doing != working {
					continue
				}
				if b := &w.batches[p.batch]; !b.perWorker {
					r := w.figures(w.service, b, p, p.holds.Task)
					f.took[p.holds.Task] = w.setup.Kinds[0].Service.Draw(&r)
				}
			}
		}
		return f
	}
	a := watch("fifo")
	for _, policy := range []string{"rr", "sdafs", "market"} {
		b := watch(policy)
		compared, ends := 0, 0
		for self, speed := range a.speed {
			if other, both := b.speed[self]; both {
				if compared++; other != speed {
					t.Errorf("%s: person %x has speed %g, under fifo %g", policy, self, other, speed)
				}
			}
		}
		for self, end := range a.end { // of those who did not go before
			if other, both := b.end[self]; both {
				if ends++; other != end {
					t.Errorf("%s: person %x stays %d, under fifo %d", policy, self, other, end)
				}
			}
		}
		tasks := 0
		for task, took := range a.took {
			if other, both := b.took[task]; both {
				if tasks++; other != took {
					t.Errorf("%s: %s takes %g, under fifo %g", policy, task, other, took)
				}
			}
		}
		if compared < 15 || ends < 10 || tasks < 100 {
			t.Errorf("%s: only %d people, %d ends of their sessions and %d tasks compared", policy, compared, ends, tasks)
		}
	}
}

// TestCheckingChangesNothing, nor when what changed is read.
func TestCheckingChangesNothing(t *testing.T) {
	t.Parallel()
	short := &Setup{
		Tenants: []Tenant{{}}, Kinds: []Kind{{Service: Exponential(10)}},
		Groups: []Group{
			{Arrive: Arrivals{Count: 3}, Session: Exponential(20)},
			{Arrive: Arrivals{Count: 1, From: 10 * time.Hour}},
		},
		Batches: []Batch{{Name: "b", Tasks: 3}},
	}
	paused := busyWorld()
	paused.Horizon = 0
	paused.Flows[0].Arrive.Count, paused.Flows[1].Arrive.Count = 10, 5
	for name, s := range map[string]*Setup{"short": short, "busy": busyWorld(), "to its end": paused} {
		for rep := range 5 {
			outcome := func(check bool) string {
				run := Run{Setup: s, Policy: "fs", Seed: 1, Rep: rep, Check: check, Record: Record{Samples: 20, Allocation: true, Finished: true}}
				o, err := run.Do()
				if err != nil {
					t.Fatal(err)
				}
				return fmt.Sprintf("%+v", *o)
			}
			if a, b := outcome(true), outcome(false); a != b {
				t.Errorf("%s, repetition %d: with all checks and without differ:\n%.600s\n%.600s", name, rep+1, a, b)
			}
		}
	}
}

// TestATaskMayTakeNoTime: figures of 0 are drawn as they are.
func TestATaskMayTakeNoTime(t *testing.T) {
	t.Parallel()
	mostly, err := NewEmpirical([]float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 10})
	if err != nil {
		t.Fatal(err)
	}
	s := &Setup{
		Tenants: []Tenant{{}}, Kinds: []Kind{{Service: mostly}},
		Groups:  []Group{{Arrive: Arrivals{Count: 1}}},
		Batches: []Batch{{Name: "b", Tasks: 5000}},
	}
	run := Run{Setup: s, Policy: "fs", Seed: 1}
	o, err := run.Do()
	if err != nil {
		t.Fatal(err)
	}
	if mean := o.Crowd.Worked.Seconds() / 5000; math.Abs(mean-1) > 0.12 {
		t.Errorf("a task took %g s, want 1", mean)
	}
}

// TestWhatALifetimeEndsIsNotCompleted.
func TestWhatALifetimeEndsIsNotCompleted(t *testing.T) {
	t.Parallel()
	s := &Setup{
		Horizon: time.Hour,
		Tenants: []Tenant{{}}, Kinds: []Kind{{Service: Constant(6)}},
		Groups:  []Group{{Arrive: Arrivals{Count: 1}}},
		Batches: []Batch{{Name: "b", Tasks: 1000, Lifetime: 20 * time.Second, Deadline: 30 * time.Minute}},
	}
	run := Run{Setup: s, Policy: "fs", Seed: 1, Check: true}
	o, err := run.Do()
	if err != nil {
		t.Fatal(err)
	}
	b, m := &o.Batches[0], o.Metrics()
	if b.Completed != -1 || b.Ended != 20*time.Second || b.Answers != 3 || b.Wanted != 1000 {
		t.Errorf("completed %s, ended %s, %d answers of %d", b.Completed, b.Ended, b.Answers, b.Wanted)
	}
	if m.Of("deadline_success_ratio") != 0 || m.Of("mean_deadline") != 0.003 || m.Of("unfinished") != 1 || !math.IsNaN(m.Of("makespan_s")) {
		t.Errorf("success %g, completion %g, unfinished %g, makespan %g", m.Of("deadline_success_ratio"), m.Of("mean_deadline"), m.Of("unfinished"), m.Of("makespan_s"))
	}
}

// TestAsManySamplesAsAskedFor, the last one at the horizon.
func TestAsManySamplesAsAskedFor(t *testing.T) {
	t.Parallel()
	for _, n := range []int{16, 64, 401} {
		s := busyWorld()
		run := Run{Setup: s, Policy: "fs", Seed: 1, Record: Record{Samples: n}}
		o, err := run.Do()
		if err != nil {
			t.Fatal(err)
		}
		if got := len(o.Samples.List); got != n || s.Horizon-o.Samples.List[got-1].At > o.Samples.Every {
			t.Errorf("%d samples of %d, the last at %s", got, n, o.Samples.List[got-1].At)
		}
	}
}

// TestTheMarketIsAnotherInEachRepetition, and the same under the same seed.
func TestTheMarketIsAnotherInEachRepetition(t *testing.T) {
	t.Parallel()
	order := func(seed uint64, rep int, policy string) string {
		s := &Setup{
			Tenants: []Tenant{{}}, Kinds: []Kind{{Service: Constant(5)}},
			Groups:  []Group{{Arrive: Arrivals{Count: 1}}},
			Batches: []Batch{{Tasks: 20}, {Tasks: 20}, {Tasks: 20}},
		}
		text := ""
		run := Run{Setup: s, Policy: policy, Seed: seed, Rep: rep, Observe: func(_ time.Duration, b int, _ []BatchView) { text += fmt.Sprint(b) }}
		if _, err := run.Do(); err != nil {
			t.Fatal(err)
		}
		return text
	}
	one := order(1, 0, "market(stay=0)")
	if len(one) != 60 || one != order(1, 0, "market(stay=0)") {
		t.Errorf("the same seed gives %s and %s", one, order(1, 0, "market(stay=0)"))
	}
	for _, other := range []string{order(1, 1, "market(stay=0)"), order(2, 0, "market(stay=0)"), order(1, 0, "market(stay=0,seed=2)")} {
		if other == one {
			t.Error("another repetition or seed makes the same choices")
		}
	}
}

// TestStopsOverlap: the longest one counts.
func TestStopsOverlap(t *testing.T) {
	t.Parallel()
	s := &Setup{
		Tenants: []Tenant{{}}, Kinds: []Kind{{Service: Constant(5)}},
		Groups:  []Group{{Arrive: Arrivals{Count: 1}}},
		Batches: []Batch{{Tasks: 40}},
		Faults:  []Fault{{At: 10 * time.Second, Stop: 100 * time.Second}, {At: 50 * time.Second, Stop: 200 * time.Second}},
	}
	var began []time.Duration
	run := Run{Setup: s, Policy: "fs", Seed: 1, Check: true, Observe: func(at time.Duration, _ int, _ []BatchView) { began = append(began, at) }}
	if _, err := run.Do(); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(began, func(at time.Duration) bool { return at == 250*time.Second }) ||
		slices.ContainsFunc(began, func(at time.Duration) bool { return at > 10*time.Second && at < 250*time.Second }) {
		t.Errorf("tasks begin at %v", began)
	}
}

// TestMemoryIsFlat: what a long run holds does not grow with what has happened.
func TestMemoryIsFlat(t *testing.T) {
	t.Parallel()
	s := busyWorld()
	s.Kinds[0].Vanish = 0.02
	s.Groups[1].Arrive.Count = 0
	s.Groups[1].Patience = Exponential(36000)
	s.Horizon = 60 * time.Hour
	run := Run{Setup: s, Policy: "fs", Seed: 1}
	w, err := newWorld(&run)
	if err != nil {
		t.Fatal(err)
	}
	w.loop(t.Context())
	if w.err != nil {
		t.Fatal(w.err)
	}
	people := len(w.engineWorkers())
	if w.out.Crowd.Came < 3000 || w.out.Expired < 300 {
		t.Fatalf("%d came, %d leases ran out: too little has happened", w.out.Crowd.Came, w.out.Expired)
	}
	if w.queue.Len() > 2000 || len(w.workers) > 500 || people > 500 || len(w.people) > 500 || len(w.missed) > 100 {
		t.Errorf("after %d arrivals: %d plans, %d places for people, %d people in the pool, %d known, %d missed",
			w.out.Crowd.Came, w.queue.Len(), len(w.workers), people, len(w.people), len(w.missed))
	}
}

// engineWorkers lists those of everybody who ever came whom the engine still has.
func (w *world) engineWorkers() []crowd.WorkerID {
	var list []crowd.WorkerID
	for id := w.firstID; id < w.firstID+w.comers; id++ {
		if _, err := w.engine.WhyWorker(id); crowd.CodeOf(err) != crowd.NotFound {
			list = append(list, id)
		}
	}
	return list
}

// TestObserversSeeOpenBatches only.
func TestObserversSeeOpenBatches(t *testing.T) {
	t.Parallel()
	s := busyWorld()
	seen := 0
	run := Run{Setup: s, Policy: "fs", Seed: 1, Observe: func(_ time.Duration, b int, open []BatchView) {
		here := map[int]bool{}
		for _, v := range open {
			here[v.Batch] = true
			if v.Completed >= v.Planned && v.Running == 0 {
				t.Errorf("batch %d is shown with %d answers of %d", v.Batch, v.Completed, v.Planned)
			}
		}
		if !here[b] {
			t.Errorf("batch %d was handed out and is not open: %v", b, slices.Sorted(maps.Keys(here)))
		}
		seen++
	}}
	if _, err := run.Do(); err != nil || seen < 200 {
		t.Fatalf("%d hand-outs, %v", seen, err)
	}
}
