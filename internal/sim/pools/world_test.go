package pools

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/pool"
	"github.com/throng-dev/throng/queueing"
)

func mustDo(t testing.TB, r Run) *Outcome {
	t.Helper()
	out, err := r.Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const s = time.Second

// at are moments in seconds.
func at(list ...int) []time.Duration {
	var out []time.Duration
	for _, n := range list {
		out = append(out, time.Duration(n)*s)
	}
	return out
}

// alone is a pool whose tasks take ten seconds.
func alone(start int, times ...int) Pool {
	return Pool{Name: "a", Times: at(times...), Service: sim.Constant(10), Start: start}
}

// byRule makes a pool that is controlled by one rule.
func byRule(p Pool, when, do string) Pool {
	p.Settings = pool.Settings{Elasticity: "rules", Rules: []pool.Rule{{When: when, Do: do}}}
	return p
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }

// TestByHand holds small worlds, in which nothing is random, against figures
// worked out by hand.
func TestByHand(t *testing.T) {
	t.Parallel()
	named := func(name string, p Pool) Pool { p.Name = name; return p }
	learns := func(p Pool) Pool { p.Training = sim.Constant(5); return p }
	for name, c := range map[string]struct {
		setup Setup
		want  map[string]float64 // of all pools
		also  func(t *testing.T, o *Outcome)
	}{
		// One works until 20, the other until 10: waits of 0, 0 and 10, and 30 idle seconds,
		// of which each is paid in whole micro-units.
		"three tasks for two people": {
			Setup{Horizon: 30 * s, Salary: 50_000, Pools: []Pool{alone(2, 0, 0, 0)}},
			map[string]float64{"completed": 3, "mean_wait": 10.0 / 3, "cost": 0.024999, "idle": 30, "utilisation": 0.5, "throughput": 0.1, "size": 2, "preference": 1, "queue": 0},
			nil,
		},
		"what is in the queue at the end has waited too": {
			Setup{Horizon: 15 * s, Pools: []Pool{alone(1, 0, 0, 0)}},
			map[string]float64{"completed": 1, "mean_wait": 5, "mean_wait_all": 25.0 / 3, "queue": 1, "arrived": 3, "cost": 0},
			nil,
		},
		// The first step that sees a queue is at 1: a recruit comes at 6, and works 6 to 16.
		// The steps from 2 on see nobody in the queue who is not asked for.
		"a recruit comes in their own time": {
			Setup{Horizon: 20 * s, Pools: []Pool{byRule(alone(0, 0), "queue > coming + workers", "recruit 1")}, People: People{Recruitment: sim.Constant(5)}},
			map[string]float64{"completed": 1, "mean_wait": 6, "asked": 1, "joined": 1, "size": 14.0 / 20},
			nil,
		},
		// Asked at 1, 2, 3 and 4; people come at 7 and 14 of the process.
		"a process lets one come at a time": {
			Setup{Horizon: 20 * s, Pools: []Pool{byRule(alone(0, 0, 0, 0, 0), "queue > coming + workers", "recruit 1")},
				People: People{Recruitment: sim.Constant(7), Recruiting: Process}},
			map[string]float64{"asked": 4, "joined": 2, "completed": 1, "mean_wait": (7.0 + 14 + 17) / 3},
			nil,
		},
		"no more than there are outside": {
			Setup{Horizon: 20 * s, Pools: []Pool{byRule(alone(0, 0, 0, 0, 0), "coming + workers < 4", "recruit 3")},
				People: People{Recruitment: sim.Constant(1), Outside: 2}},
			map[string]float64{"asked": 2, "joined": 2, "refused": 1 + 19*3},
			nil,
		},
		// c* is 0 with no load, and all who are idle go at the first step.
		"who is let go is paid until then": {
			Setup{Horizon: 10 * s, Salary: 60_000_000, Pools: []Pool{byRule(alone(2), "workers > 0", "release 2")}},
			map[string]float64{"released": 2, "idle": 2, "cost": 2, "size": 0.2},
			nil,
		},
		"a released worker finishes the task in hand": {
			Setup{Horizon: 30 * s, Pools: []Pool{byRule(alone(1, 0, 0), "workers > 0", "release 1")}},
			map[string]float64{"released": 1, "completed": 1, "queue": 1, "size": 10.0 / 30},
			nil,
		},
		"advice is not followed": {
			Setup{Horizon: 10 * s, Pools: []Pool{func() Pool {
				p := byRule(alone(2), "workers > 0", "release 2")
				p.Settings.Advise = true
				return p
			}()}},
			map[string]float64{"released": 0, "size": 2},
			nil,
		},
		"everybody abandons after a task": {
			Setup{Horizon: 30 * s, Pools: []Pool{alone(2, 0, 0, 0)}, People: People{Abandon: 1}},
			map[string]float64{"abandoned": 2, "completed": 2, "queue": 1, "size": 20.0 / 30},
			nil,
		},
		// The first one's time is up at 15, with a task until 20; the second is idle at 15, and goes.
		"a stay ends after what is in hand": {
			Setup{Horizon: 30 * s, Pools: []Pool{alone(2, 0, 0, 5)}, People: People{Stay: sim.Constant(15)}},
			map[string]float64{"abandoned": 2, "completed": 3, "size": 35.0 / 30},
			nil,
		},
		"who was called and is not wanted stays away": {
			Setup{Horizon: 30 * s, People: People{Recruitment: sim.Constant(10)}, Pools: []Pool{func() Pool {
				p := alone(0)
				p.Settings = pool.Settings{Elasticity: "rules", Rules: []pool.Rule{{When: "coming == 0", Do: "recruit 2"}, {When: "coming > 0", Do: "release 2"}}}
				return p
			}()}},
			map[string]float64{"asked": 30, "withdrawn": 30, "joined": 0},
			nil,
		},
		// One of b moves at 1, learns until 6 and works 6 to 16 and 16 to 26.
		"who moves learns first": {
			Setup{Horizon: 30 * s, Pools: []Pool{byRule(learns(alone(0, 0, 0)), "workers + borrowed == 0", "transfer 1 from b"), named("b", alone(2))}},
			map[string]float64{"moved_in": 1, "moved_out": 1, "completed": 2, "mean_wait": 11},
			func(t *testing.T, o *Outcome) {
				a, b := o.Pools[0], o.Pools[1]
				if !near(a.Worked, 20) || !near(a.OnDuty, 29) || !near(b.OnDuty, 31) || a.MovedIn != 1 || b.MovedOut != 1 {
					t.Errorf("%+v", o.Pools)
				}
			},
		},
		"nobody abandons for having learned": {
			Setup{Horizon: 30 * s, People: People{Abandon: 1}, Pools: []Pool{byRule(learns(alone(0, 0)), "workers + borrowed == 0", "transfer 1 from b"), named("b", alone(1))}},
			map[string]float64{"moved_in": 1, "completed": 1, "abandoned": 1, "size": 16.0 / 30},
			nil,
		},
		"who comes back knows the work": {
			Setup{Horizon: 40 * s, Pools: []Pool{
				byRule(learns(alone(0, 0, 20)), "queue > 0", "transfer 1 from b"),
				byRule(learns(named("b", alone(1, 17))), "queue > 0", "transfer 1 from a"),
			}},
			// At a from 1, learns, works 6 to 16. At b again from 18 to 28, without
			// learning. At a from 29, without learning, to 39.
			map[string]float64{"moved_in": 3, "completed": 3},
			func(t *testing.T, o *Outcome) {
				if !near(o.Pools[0].Worked, 10+10) || o.Pools[1].Worked < 10 {
					t.Errorf("%+v", o.Pools)
				}
			},
		},
		"a recruit knows what they were called for": {
			Setup{Horizon: 20 * s, Pools: []Pool{byRule(learns(alone(0, 0)), "coming + workers == 0", "recruit 1")}, People: People{Recruitment: sim.Constant(2)}},
			map[string]float64{"completed": 1, "mean_wait": 3},
			nil,
		},
		"a burst comes at once": {
			Setup{Horizon: 30 * s, Pools: []Pool{{Name: "a", Service: sim.Constant(10), Start: 2, Bursts: []Burst{{5 * s, 3}, {6 * s, 1}}}}},
			map[string]float64{"arrived": 4, "completed": 4, "mean_wait": (0 + 0 + 10 + 9) / 4.0},
			nil,
		},
		// Half of the salary is a minute's: 5 people, c* known exactly.
		"the gap to c* is over time": {
			Setup{Horizon: 20 * s, Pools: []Pool{{Name: "a", Service: sim.Constant(1e-6), Start: 5, Arrivals: []Phase{{0, 0}, {10 * s, 1e-6}}}}},
			map[string]float64{"size": 5, "c_star": 0.5, "gap": 4.5},
			nil,
		},
		"preferences as given": {
			Setup{Horizon: 30 * s, People: People{Prefers: []float64{0.25, 0.75}},
				Pools: []Pool{byRule(alone(0, 0), "workers + borrowed == 0", "transfer 1 from b"), named("b", alone(2, 0))}},
			// b: one of two works at b until 10; the other one moves at 1.
			map[string]float64{"moved_from_preference": 0.75, "moved_to_preference": 0.25, "work_preference": 0.5,
				"preference": (29*0.25 + 31*0.75) / 60},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.setup.Step = s
			o := mustDo(t, Run{Setup: c.setup, Seed: 1, Check: true})
			for name, want := range c.want {
				m, ok := findMetric(name)
				if !ok {
					t.Fatalf("there is no %s", name)
				}
				if got := m.Of(&o.Total); !near(got, want) {
					t.Errorf("%s is %g, want %g", name, got, want)
				}
			}
			if c.also != nil {
				c.also(t, o)
			}
			if t.Failed() {
				t.Logf("%+v", o.Total)
			}
		})
	}
}

// TestReleaseOrder: of those whom the control does not name, the idle
// before those at work.
func TestReleaseOrder(t *testing.T) {
	t.Parallel()
	// Three people, one task from 0 to 10. Two go at the first step: the idle ones.
	p := byRule(alone(3, 0), "workers == 3", "release 2")
	o := mustDo(t, Run{Setup: Setup{Horizon: 20 * s, Pools: []Pool{p}}, Check: true})
	if o.Total.Released != 2 || o.Total.EndSize != 1 || !near(o.Total.OnDuty, 22) || o.Total.Completed != 1 {
		t.Errorf("%+v", o.Total)
	}
	// Two at work, until 4 and until 8: who has been there longest goes, and in the
	// paper's control who came last.
	p = byRule(Pool{Name: "a", Times: at(0, 0), Start: 2}, "workers == 2", "release 1")
	trace := &Trace{Recruitments: []float64{1}, Tasks: []float64{4, 8}, Stays: []float64{1000}}
	for forGood, onDuty := range map[bool]float64{false: 24, true: 28} {
		o := mustDo(t, Run{Setup: Setup{Horizon: 20 * s, ForGood: forGood, Pools: []Pool{p}, People: People{Trace: trace}}, Check: true})
		if o.Total.Released != 1 || !near(o.Total.OnDuty, onDuty) {
			t.Errorf("for good: %t: %+v", forGood, o.Total)
		}
	}
}

// TestReleaseOfThoseWhoAreNotThere: it is done what can be done.
func TestReleaseOfThoseWhoAreNotThere(t *testing.T) {
	t.Parallel()
	w, err := newWorld(&Run{Setup: Setup{Horizon: 20 * s, Pools: []Pool{alone(4, 0)}}, Check: true}) // u1 works
	if err != nil {
		t.Fatal(err)
	}
	for w.people.list[0].holds == 0 {
		w.happen(w.queue.Pop())
	}
	w.release(0, []crowd.WorkerID{1, 3, 3, 99})
	if _, there := w.people.at[3]; there || !w.people.list[0].leaving || len(w.people.at) != 3 || w.pools[0].books.out.Released != 1 {
		t.Errorf("%v are there", w.people.at)
	}
	w.loop(context.Background())
	if o := w.finish(); w.err != nil || o.Total.Completed != 1 || o.Total.Released != 2 || o.Total.EndSize != 2 {
		t.Errorf("%v: %+v", w.err, o.Total)
	}
}

// TestTheCrowdKeepsOrder: who was asked last is withdrawn first, and the process
// lets come for whoever asked first.
func TestTheCrowdKeepsOrder(t *testing.T) {
	t.Parallel()
	setup := Setup{Horizon: 100 * s, People: People{Recruitment: sim.Constant(50), Recruiting: Process}, Pools: []Pool{alone(0), alone(0)}}
	setup.Pools[1].Name = "b"
	w, err := newWorld(&Run{Setup: setup})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []crowd.PoolID{2, 1, 2, 2} {
		if err := w.crowd.Recruit(w.time(), p, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.crowd.Withdraw(w.time(), 2, 2); err != nil || fmt.Sprint(w.crowd.asked) != "[[1] [0]]" {
		t.Errorf("left are %v, %v", w.crowd.asked, err)
	}
	if got := []int32{w.crowd.somebody(w), w.crowd.somebody(w), w.crowd.somebody(w)}; fmt.Sprint(got) != "[1 0 -1]" {
		t.Errorf("they came for %v", got)
	}
	if err := w.crowd.Withdraw(w.time(), 1, 5); err != nil || w.pools[0].books.out.Withdrawn != 0 || w.pools[0].coming != 0 {
		t.Errorf("%+v %v", w.pools[0].books.out, err)
	}
}

// TestReadings: what the control is told, and the engine does not know.
func TestReadings(t *testing.T) {
	t.Parallel()
	learner := byRule(alone(0, 0, 3), "coming == 0 && workers < 2", "recruit 1") // asked at 1 and 2, here at 6 and 11
	learner.Training = sim.Constant(5)
	other := alone(1)
	other.Name = "b"
	w, err := newWorld(&Run{Setup: Setup{Horizon: 13 * s, Step: s, People: People{Recruitment: sim.Constant(5), Prefers: []float64{0.75, 0.25}}, Pools: []Pool{learner, other}}})
	if err != nil {
		t.Fatal(err)
	}
	w.loop(context.Background())
	a, b := w.control.readings[0], w.control.readings[1]
	if a.Counters.Joined != 2 || a.Counters.Awaited != 10*s || a.Coming != 0 || a.TrainingTime != 5*s || a.Preference != 1.5 || a.Workers != 2 || len(a.Idle) != 0 {
		t.Errorf("%+v", a)
	}
	if b.TrainingTime != 0 || b.Preference != 0.25 || len(b.Idle) != 1 || fmt.Sprint(b.Idle[0].Prefers, b.Idle[0].Knows) != "[0.75 0.25] [false true]" {
		t.Errorf("%+v", b)
	}
	if w.err != nil {
		t.Error(w.err)
	}
}

// TestPlacesAreTakenAgain: who has the place of somebody who is gone stays their
// own time.
func TestPlacesAreTakenAgain(t *testing.T) {
	t.Parallel()
	w, err := newWorld(&Run{Setup: Setup{Horizon: 30 * s, Pools: []Pool{alone(1)}, People: People{Stay: sim.Constant(15)}}, Check: true})
	if err != nil {
		t.Fatal(err)
	}
	w.end(0, engine.Released)
	w.now = int64(2 * s)
	if err := w.crowd.Recruit(w.time(), 1, 1); err != nil {
		t.Fatal(err)
	}
	w.loop(context.Background())
	if o := w.finish(); w.err != nil || len(w.people.list) != 1 || !near(o.Total.OnDuty, 15) || o.Total.Abandoned != 1 {
		t.Errorf("%v: %+v", w.err, o.Total)
	}
}

// TestWhoMovesFinishesFirst: also if the control should move somebody at work.
func TestWhoMovesFinishesFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stay sim.Dist
		want string // completed, moved, abandoned, at the end in a and in b
	}{
		"goes on there":         {nil, "2 1 0 0 1"},
		"time is up meanwhile":  {sim.Constant(5), "1 0 1 0 0"},
		"time is up afterwards": {sim.Constant(25), "2 1 1 0 0"},
	} {
		b := alone(0, 2)
		b.Name = "b"
		w, err := newWorld(&Run{Setup: Setup{Horizon: 30 * s, Pools: []Pool{alone(1, 0, 0), b}, People: People{Stay: c.stay}}, Check: true})
		if err != nil {
			t.Fatal(err)
		}
		for w.people.list[0].holds == 0 {
			w.happen(w.queue.Pop())
		}
		w.move(pool.Move{Worker: 1, From: 1, To: 2, Home: 2})
		w.loop(context.Background())
		o := w.finish()
		got := fmt.Sprint(o.Total.Completed, o.Total.MovedOut, o.Total.Abandoned, o.Pools[0].EndSize, o.Pools[1].EndSize)
		if w.err != nil || got != c.want {
			t.Errorf("%s: %s, want %s (%v)", name, got, c.want, w.err)
		}
	}
}

// TestGap: people too many do not make up for people too few.
func TestGap(t *testing.T) {
	t.Parallel()
	best, err := queueing.Optimum(1, 0.1, queueing.Weights{Eta: 0.5, Salary: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	setup := queueSetup(1, 0.1, 5, 20*s)
	setup.Pools[0].Arrivals = []Phase{{0, 1}, {10 * s, 0}}
	o := mustDo(t, Run{Setup: setup})
	if want := (float64(best.Servers-5) + 5) / 2; !near(o.Total.Gap, want) || !near(o.Total.MeanBest, float64(best.Servers)/2) {
		t.Errorf("the gap is %g, want %g; c* is %g", o.Total.Gap, want, o.Total.MeanBest)
	}
}

// TestMoneyDoesNotRunOut: what a pool pays is not bounded by what it began with.
func TestMoneyDoesNotRunOut(t *testing.T) {
	t.Parallel()
	o := mustDo(t, Run{Setup: Setup{Horizon: 30 * time.Minute, Salary: 1000 * crowd.Unit, Pools: []Pool{alone(60)}}})
	if o.Total.EndSize != 60 || o.Total.Cost != 60*30*1000*crowd.Unit {
		t.Errorf("%+v", o.Total)
	}
}

// queueSetup is one pool of c people, λ and μ.
func queueSetup(lambda, mu float64, c int, horizon time.Duration) Setup {
	return Setup{
		Horizon: horizon, Salary: 50_000,
		Pools: []Pool{{Name: "a", Arrivals: []Phase{{0, lambda}}, Service: sim.Exponential(1 / mu), Start: c}},
	}
}

// TestAgainstTheory: a pool of constant size that nobody leaves is an M/M/c
// queue. Over the repetitions the means lie within twice their 95 % intervals
// of what package queueing says, and the intervals are narrow enough to tell.
func TestAgainstTheory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lambda, mu float64
		servers    int
		horizon    time.Duration
	}{
		{0.7, 1, 1, 8000 * s},
		{1, 0.1, 13, 8000 * s},
		{4, 0.1, 44, 3000 * s},
	} {
		t.Run(fmt.Sprintf("%g,%g,%d", c.lambda, c.mu, c.servers), func(t *testing.T) {
			t.Parallel()
			q, err := queueing.New(c.lambda, c.mu, c.servers)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Plan{Variants: []Variant{{"a", queueSetup(c.lambda, c.mu, c.servers, c.horizon)}}, Reps: 12, Seed: 5}.Do(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range []struct {
				name         string
				want, narrow float64
			}{
				{"mean_wait", q.MeanWait(), 0.3},
				{"utilisation", q.Utilisation(), 0.02},
				{"cost", q.IdleCost(0.05) * c.horizon.Minutes(), 0.1},
				{"throughput", c.lambda, 0.02},
			} {
				m, _ := findMetric(w.name)
				f := got.Figure(0, 0, m)
				t.Logf("%s: %.4g ± %.2g, theory %.4g", w.name, f.Mean, f.CI95, w.want)
				if math.Abs(f.Mean-w.want) > 2*f.CI95 || f.CI95 > w.narrow*w.want {
					t.Errorf("%s: %g ± %g, in theory %g", w.name, f.Mean, f.CI95, w.want)
				}
			}
			p95, _ := findMetric("p95_wait")
			if f, want := got.Figure(0, 0, p95), q.WaitQuantile(0.95); math.Abs(f.Mean-want) > 2*f.CI95+0.01*want {
				t.Errorf("p95 %g ± %g, in theory %g", f.Mean, f.CI95, want)
			}
		})
	}
}

// busySetup has everything at once.
func busySetup() Setup {
	return Setup{
		Horizon: 10 * time.Minute, Salary: 50_000, Balance: "paper",
		Pools: []Pool{
			{Name: "a", Arrivals: []Phase{{0, 1}, {3 * time.Minute, 4}, {6 * time.Minute, 0.5}}, Service: sim.Exponential(10), Start: StartOptimal,
				Training: sim.Exponential(30), Settings: pool.Settings{Elasticity: "ct-p", Stability: "hybrid", Balance: true}},
			{Name: "b", Arrivals: []Phase{{0, 2}}, Service: sim.Exponential(5), Start: 15, Bursts: []Burst{{6 * time.Minute, 100}},
				Training: sim.Exponential(30), Settings: pool.Settings{Elasticity: "ct-t", Stability: "average-rate", Balance: true}},
			{Name: "c", Times: at(1, 1, 60), Service: sim.Constant(20), Start: 10,
				Settings: pool.Settings{Elasticity: "rules-paper", Stability: "rule", Balance: true}},
		},
		People: People{Abandon: 0.05, Stay: sim.Exponential(600), Recruitment: sim.Exponential(30)},
	}
}

func text(o *Outcome) string { return fmt.Sprintf("%+v", *o) }

func TestSameSeedSameBytes(t *testing.T) {
	t.Parallel()
	run := Run{Setup: busySetup(), Seed: 3, Record: 10 * s}
	first := mustDo(t, run)
	if first.Total.MovedIn == 0 || first.Total.Joined == 0 || first.Total.Released == 0 || len(first.Actions) == 0 || len(first.Series[0].Samples) != 61 {
		t.Errorf("it shows too little: %+v, %d samples", first.Total, len(first.Series[0].Samples))
	}
	if text(mustDo(t, run)) != text(first) {
		t.Error("the same seed made another world")
	}
	run.Check = true
	if got := mustDo(t, run); text(got) != text(first) {
		t.Error("looking changes what is looked at")
	}
	run.Seed = 4
	if text(mustDo(t, run)) == text(first) {
		t.Error("another seed made the same world")
	}
	run.Seed, run.Rep = 3, 1
	if text(mustDo(t, run)) == text(first) {
		t.Error("another repetition made the same world")
	}
}

// TestCommonRandomNumbers: whatever the control, a task takes the same time, and
// a person the same to come.
func TestCommonRandomNumbers(t *testing.T) {
	t.Parallel()
	few := queueSetup(1, 0.1, 11, 1000*s)
	few.Horizon = 3000 * s
	few.Pools[0].Arrivals = []Phase{{0, 1}, {1000 * s, 0}} // all is done in time
	many := few
	many.Pools = slices.Clone(few.Pools)
	many.Pools[0].Start, many.Step = 40, 7*s
	recruits := few
	recruits.Pools = slices.Clone(few.Pools)
	recruits.Pools[0].Start, recruits.Pools[0].Settings = 3, pool.Settings{Elasticity: "ct-p", Stability: "hybrid"}
	recruits.People.Recruitment = sim.Exponential(20)
	a, b, c := mustDo(t, Run{Setup: few, Seed: 1}), mustDo(t, Run{Setup: many, Seed: 1}), mustDo(t, Run{Setup: recruits, Seed: 1})
	if a.Total.Completed != a.Total.Arrived || a.Total.Completed < 900 || c.Total.Joined == 0 {
		t.Fatalf("%+v", a.Total)
	}
	if a.Total.Worked != b.Total.Worked || a.Total.Worked != c.Total.Worked || a.Total.Arrived != b.Total.Arrived {
		t.Errorf("%d tasks took %g, %g and %g s", a.Total.Arrived, a.Total.Worked, b.Total.Worked, c.Total.Worked)
	}
	// The k-th recruit is the same one, however many there are at the start.
	likes := func(start int) map[float64]bool {
		setup := busySetup()
		setup.Pools[1].Start = start
		w, err := newWorld(&Run{Setup: setup, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		before := len(w.people.list)
		for range 5 {
			if err := w.crowd.Recruit(w.time(), 2, 1); err != nil {
				t.Fatal(err)
			}
		}
		for n := range uint64(5) {
			w.crowd.comes(w, 1, n)
		}
		list := map[float64]bool{}
		for _, x := range w.people.list[before:] {
			list[x.prefers[0]] = true
		}
		return list
	}
	if few, many := likes(2), likes(9); len(few) != 5 || fmt.Sprint(few) != fmt.Sprint(many) {
		t.Errorf("the recruits are %v and %v", few, many)
	}
	if a.Total.MeanWait <= b.Total.MeanWait {
		t.Error("more people, and no shorter waits")
	}
}

func TestArrivalsFollowTheirPhases(t *testing.T) {
	t.Parallel()
	p := Pool{Arrivals: []Phase{{10 * s, 2}, {1000 * s, 0}, {2000 * s, 10}, {2500 * s, 1}, {9000 * s, 100}}}
	const horizon = 4000 * s
	if got, want := p.tasks(horizon), 990*2+500*10+1500.0; got != want {
		t.Fatalf("%g tasks are expected, want %g", got, want)
	}
	// What is expected up to the n-th arrival is the sum of n exponential amounts.
	stream, sum := sim.NewStream(1, 0, "x"), 0.0
	exact := newArrivals(p.Arrivals, horizon, stream)
	for n := range uint64(3000) {
		at, ok := exact.next()
		r := stream.At(n)
		sum += r.Exp()
		if got := p.tasks(time.Duration(at)); !ok || math.Abs(got-sum) > 1e-4 {
			t.Fatalf("%g are expected up to arrival %d, want %g", got, n, sum)
		}
	}
	counts := make([]float64, 5)
	for rep := range 40 {
		a := newArrivals(p.Arrivals, horizon, sim.NewStream(1, rep, "x"))
		last := int64(0)
		for {
			at, ok := a.next()
			if !ok {
				break
			}
			if at < last || at > int64(horizon) {
				t.Fatalf("%d after %d", at, last)
			}
			last = at
			k := slices.IndexFunc(p.Arrivals, func(x Phase) bool { return int64(x.From) > at })
			counts[k]++
		}
	}
	for k, want := range []float64{0, 990 * 2, 0, 5000, 1500} {
		if got := counts[k] / 40; math.Abs(got-want) > 4*math.Sqrt(want/40) {
			t.Errorf("phase %d has %g tasks, want %g", k, got, want)
		}
	}
}

func TestPreferencesSumToOne(t *testing.T) {
	t.Parallel()
	setup := busySetup()
	w, err := newWorld(&Run{Setup: setup, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.crowd.Recruit(w.time(), 1, 5); err != nil {
		t.Fatal(err)
	}
	for n := range uint64(5) {
		w.crowd.comes(w, 0, n)
	}
	seen := map[float64]bool{}
	for _, x := range w.people.list {
		sum := 0.0
		for _, p := range x.prefers {
			sum += p
		}
		seen[x.prefers[0]] = true
		if !near(sum, 1) {
			t.Errorf("%v sums to %g", x.prefers, sum)
		}
	}
	if len(seen) != len(w.people.list) || len(seen) < 20 {
		t.Errorf("%d people have %d different preferences", len(w.people.list), len(seen))
	}
}

func TestStarts(t *testing.T) {
	t.Parallel()
	setup := queueSetup(1, 0.1, StartOptimal, 100*s)
	setup.Pools[0].Arrivals = []Phase{{0, 1}, {50 * s, 3}}
	best := func(lambda float64) int {
		c, err := queueing.Optimum(lambda, 0.1, queueing.Weights{Eta: 0.5, Salary: 0.05})
		if err != nil {
			t.Fatal(err)
		}
		return c.Servers
	}
	if got := mustDo(t, Run{Setup: setup}).Total.Start; got != best(1) {
		t.Errorf("it begins with %d people, want %d", got, best(1))
	}
	setup.Pools = slices.Clone(setup.Pools)
	setup.Pools[0].Start = StartMean
	if got := mustDo(t, Run{Setup: setup}).Total.Start; got != best(2) || got == best(1) {
		t.Errorf("it begins with %d people, want %d", got, best(2))
	}
	setup.Pools[0].Settings.Target = pool.Target{Wait: 2 * s}
	want, _ := queueing.LeastFor(2, 0.1, 2)
	if got := mustDo(t, Run{Setup: setup}).Total.Start; got != want {
		t.Errorf("it begins with %d people, want %d", got, want)
	}
}

func TestTraceInOrder(t *testing.T) {
	t.Parallel()
	trace := &Trace{Recruitments: []float64{3, 8}, Tasks: []float64{1, 2, 4}, Stays: []float64{100, 12, 50}}
	setup := Setup{Horizon: 60 * s, Step: s, People: People{Trace: trace}, Pools: []Pool{
		byRule(Pool{Name: "a", Times: at(0, 0, 0, 0), Start: 1}, "coming + workers < 3 && lambda >= 0", "recruit 1"),
	}}
	o := mustDo(t, Run{Setup: setup, Check: true})
	// Whoever is there at the start does 1, 2, 4 and 1: all until 8, as another one
	// comes at 1+3 = 4 (who does the fourth, from 4 to 5), and the last at 2+8 = 10.
	// Stays: 100, 12 (from 4 to 16), 50 (from 10 to 60).
	if !near(o.Total.Worked, 8) || o.Total.Completed != 4 || !near(o.Total.MeanWait, (0+1+3+4)/4.0) {
		t.Errorf("%+v", o.Total)
	}
	if o.Trace.Tasks != (stream{4, 1}) || o.Trace.Stays.Wraps != 1 || o.Trace.Recruitments.Wraps != 1 || o.Trace.Recruitments.Used != uint64(o.Total.Asked) {
		t.Errorf("%+v", o.Trace)
	}
	if text := o.Trace.String(); !strings.Contains(text, "4 task times (once)") {
		t.Error(text)
	}
	// Several pools take turns.
	two := setup
	two.Pools = []Pool{{Name: "a", Times: at(0, 0), Start: 2}, {Name: "b", Times: at(0, 0), Start: 2}}
	if o := mustDo(t, Run{Setup: two}); !near(o.Pools[0].Worked, 1+4) || !near(o.Pools[1].Worked, 2+1) {
		t.Errorf("%+v", o.Pools)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (Run{Setup: busySetup()}).Do(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	small, large := queueSetup(1, 0.1, 12, 2000*s), queueSetup(1, 0.1, 16, 2000*s)
	ended := 0
	c, err := Plan{Variants: []Variant{{"small", small}, {"large", large}}, Reps: 4, Seed: 2, Record: 100 * s, Progress: func(n, of int) {
		if ended = n; of != 8 {
			t.Errorf("of %d", of)
		}
	}}.Do(context.Background())
	if err != nil || ended != 8 {
		t.Fatal(err, ended)
	}
	cost, _ := findMetric("cost")
	x := c.Ratio(1, 0, cost)
	if x.N != 4 || !(x.Low < x.Value && x.Value < x.High) || x.Low < 2 || x.High > 6 {
		t.Errorf("%+v", x)
	}
	logs := 0.0
	for i, v := range c.Variants[1].Values(0, cost) {
		logs += math.Log(v/c.Variants[0].Values(0, cost)[i]) / 4
	}
	if !near(x.Value, math.Exp(logs)) {
		t.Errorf("%g is not %g", x.Value, math.Exp(logs))
	}
	for rep, o := range c.Variants[0].Runs {
		if other := c.Variants[1].Runs[rep]; o.Rep != rep || o.Total.Arrived != other.Total.Arrived || rep > 0 && o.Total.Arrived == c.Variants[0].Runs[0].Total.Arrived {
			t.Errorf("repetition %d has %d and %d tasks", rep, o.Total.Arrived, other.Total.Arrived)
		}
	}
	if one := c.Ratio(0, 0, cost); one.Value != 1 || one.Low != 1 {
		t.Errorf("%+v", one)
	}
	moved, _ := findMetric("moved_in")
	if none := c.Ratio(1, 0, moved); none.N != 0 || !math.IsNaN(none.Value) {
		t.Errorf("%+v", none)
	}
	if len(c.Variants[0].Runs[0].Series[0].Samples) != 21 || c.Variants[0].Runs[1].Series != nil {
		t.Error("samples are of the first repetition")
	}
	for name, p := range map[string]Plan{
		"nothing to run":       {Reps: 1},
		"no repetition":        {Variants: []Variant{{"a", small}}},
		"two of one name":      {Variants: []Variant{{"a", small}, {"a", small}}, Reps: 1},
		"different pools":      {Variants: []Variant{{"a", small}, {"b", busySetup()}}, Reps: 1},
		"a setup without pool": {Variants: []Variant{{"a", Setup{Horizon: s}}}, Reps: 1},
	} {
		if _, err := p.Do(context.Background()); crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHistogram(t *testing.T) {
	t.Parallel()
	var h, all histogram
	if !math.IsNaN(h.quantile(0.5)) {
		t.Error("a quantile of nothing")
	}
	for i := 1; i <= 1000; i++ {
		h.add(time.Duration(i) * time.Millisecond)
	}
	all.merge(&h)
	all.merge(&histogram{})
	for _, q := range []float64{0.001, 0.25, 0.5, 0.95, 1} {
		if got := all.quantile(q); math.Abs(got-q) > 0.004*q {
			t.Errorf("quantile %g is %g", q, got)
		}
	}
	for _, d := range []time.Duration{0, 1, 127, 128, 129, 255, 256, 1 << 20, math.MaxInt64} {
		if m := middleOf(classOf(d)) * 1e9; math.Abs(m-float64(d)) > 0.004*float64(d) {
			t.Errorf("%d is in the class of %g", d, m)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	tasks, spent := int64(0), cpu()
	for b.Loop() {
		tasks += mustDo(b, Run{Setup: queueSetup(20, 0.5, 60, 5000*s), Seed: 1}).Total.Completed
	}
	b.ReportMetric(float64(tasks)/(cpu()-spent).Seconds(), "tasks/cpu-s")
}

// findMetric returns the metric of a name.
func findMetric(name string) (Metric, bool) {
	for _, m := range Metrics {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}
