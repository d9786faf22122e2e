package pool

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// fixed is a random stream of one number.
type fixed float64

func (f fixed) Float64() float64 { return float64(f) }

// primed is a controller whose c* is about best: it has seen ten minutes of a
// load, in steps of ten seconds, at which nobody was on duty.
func primed(t testing.TB, s Settings) (*Controller, time.Time, Counters) {
	t.Helper()
	c := mustNew(t, Settings{Window: s.Window, Target: s.Target, Expect: s.Expect})
	now, counters := epoch, Counters{}
	for range 60 {
		c.Step(now, &Reading{Pool: 1, Counters: counters, Affordable: -1}, fixed(0.5))
		now = now.Add(10 * time.Second)
		counters.Arrived += 3
		counters.Completed += 3
		counters.Worked += 90 * time.Second
	}
	if err := c.set(s); err != nil {
		t.Fatal(err)
	}
	return c, now, counters
}

// primedBest is c* of primed: λ = 0.3/s, μ = 1/30 s.
const primedBest = 17

func TestPrimedBest(t *testing.T) {
	t.Parallel()
	c, now, counters := primed(t, Settings{})
	m := c.Step(now, &Reading{Pool: 1, Counters: counters, Affordable: -1}, fixed(0)).Saw
	if m.CStar != primedBest || math.Abs(m.Lambda-0.3) > 1e-9 || math.Abs(m.Mu-1./30) > 1e-9 {
		t.Fatalf("c* %d, λ %g, μ %g", m.CStar, m.Lambda, m.Mu)
	}
}

// TestPaperRules: the presets are what section 6.2 says, at every figure.
func TestPaperRules(t *testing.T) {
	t.Parallel()
	cases := 0
	for _, queue := range []int{0, 1, 9, 10, 11, 12, 50} {
		for workers := range 40 {
			for _, coming := range []int{0, 3, 10} {
				r := &Reading{Pool: 1, Workers: workers, Queue: queue, Coming: coming, Affordable: -1}
				gap := primedBest - workers
				want := 0
				if queue > 10 || gap > 5 {
					want++
				}
				if gap < -5 {
					want--
				}
				check := func(s Settings, want int) {
					t.Helper()
					c, now, counters := primed(t, s)
					r.Counters = counters
					d := c.Step(now, r, fixed(0.99))
					if got := d.Recruit - d.Release; got != want || d.Withdraw != 0 {
						t.Fatalf("%s/%s: queue %d, %d people, %d coming: %+d, withdraws %d, want %+d", s.Elasticity, s.Stability, queue, workers, coming, got, d.Withdraw, want)
					}
					cases++
				}
				check(Settings{Elasticity: "rules-paper"}, want)
				stable := 0
				if gap > 5 {
					stable = 1
				}
				check(Settings{Stability: "rule-paper"}, stable)
				// ours counts who is coming
				ours := 0
				if gap-coming > 5 {
					ours = 1
				}
				check(Settings{Stability: "rule"}, ours)
				least := 0
				if workers+coming < 12 {
					least = 3
				}
				check(Settings{Stability: "rule(least=12,n=3)"}, least)
			}
		}
	}
	if cases < 3000 {
		t.Fatalf("only %d cases", cases)
	}
}

// TestPIDFormula compares with the formula as it stands in the paper.
func TestPIDFormula(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		kp, ki, kd := rnd.Float64(), rnd.Float64()/100, rnd.Float64()
		p := pid{kp: kp, ki: ki, kd: kd}
		var errs []float64
		wanted, moved := 0.0, 0
		for range 50 {
			e := math.Round(rnd.NormFloat64() * 4)
			errs = append(errs, e)
			sum := 0.0
			for _, x := range errs {
				sum += x
			}
			u := kp*e + ki*sum
			if n := len(errs); n > 1 {
				u += kd * (e - errs[n-2])
			}
			wanted += u
			moved += p.step(e, 1, 1)
			if math.Abs(wanted-float64(moved)) > 1+1e-6 {
				t.Fatalf("after %d steps %d people moved, %g wanted", len(errs), moved, wanted)
			}
		}
	}
}

func TestPIDDoesNotWindUp(t *testing.T) {
	t.Parallel()
	p := pid{ki: 0.01}
	for range 10_000 {
		if n := p.step(100, 1, 1); n > maxIntegral {
			t.Fatalf("%d people in one step", n)
		}
	}
	if p.sum != maxIntegral/p.ki {
		t.Errorf("the sum is %g", p.sum)
	}
	p = pid{kp: 0.5, ki: 0.01}
	for range 100 {
		p.step(3, 1, 1)
		p.cut(1)
	}
	if p.sum != 0 || p.carry != 0 {
		t.Errorf("cut off for 100 steps: sum %g, carried %g", p.sum, p.carry)
	}
	p.step(-3, 1, 1)
	p.cut(1) // a cut of calls does not stop the sum from falling
	if p.sum != -3 {
		t.Errorf("sum %g", p.sum)
	}
	p = pid{kp: 0.5, ki: 0.01}
	p.step(-3, 1, 1)
	p.cut(-1)
	if p.sum != 0 {
		t.Errorf("sum %g after a release that was cut", p.sum)
	}
}

// TestStepsOfAnyLength: steady errors move as many people in a minute, however
// often the pool is looked at.
func TestStepsOfAnyLength(t *testing.T) {
	t.Parallel()
	const minute = 60.0
	for name, perSecond := range map[string]bool{"a level": false, "a count": true} {
		var want float64
		for _, length := range []float64{10, 5, 1, 0.5} {
			p := pid{kp: 0.1, ki: 0.02}
			moved, h := 0.0, share(time.Duration(length*float64(time.Second)))
			for range int(minute / length) {
				if perSecond {
					moved += float64(p.step(0.7*length, h, 1))
				} else {
					moved += float64(p.step(7, h, h))
				}
			}
			if length == 10 {
				want = moved
			}
			if want < 5 || math.Abs(moved-want) > 0.25*want+1 {
				t.Errorf("%s, steps of %g s: %g people in a minute, %g with steps of 10 s", name, length, moved, want)
			}
		}
	}
	if share(0) != 1 || share(time.Minute) != 1 || share(5*time.Second) != 0.5 {
		t.Error("the share of a step")
	}
}

// TestARequestersEstimateStandsIn: before anything was answered c* goes by what
// the requester expects, and by what the pool pays.
func TestARequestersEstimateStandsIn(t *testing.T) {
	t.Parallel()
	start := time.Unix(0, 0)
	read := func(taskTime time.Duration, rate float64) Metrics {
		c, err := New(Settings{Elasticity: "feed-forward"})
		if err != nil {
			t.Fatal(err)
		}
		r := &Reading{Pool: 1, Affordable: -1, TaskTime: taskTime, Rate: rate}
		c.Step(start, r, fixed(0.5))
		r.Queue, r.Counters.Arrived = 60, 60
		return c.Step(start.Add(time.Second), r, fixed(0.5)).Saw
	}
	if m := read(0, 0.05); m.CStar != Unknown || m.Mu != 0 {
		t.Errorf("nothing is known, and c* is %d with mu %g", m.CStar, m.Mu)
	}
	cheap, dear := read(10*time.Second, 0.01), read(10*time.Second, 5)
	if math.Abs(cheap.Mu-0.1) > 1e-9 || cheap.Lambda != 6 { // 60 within the ten seconds that count at least
		t.Errorf("mu %g, lambda %g", cheap.Mu, cheap.Lambda)
	}
	if cheap.CStar <= 60 || dear.CStar <= 60 || dear.CStar >= cheap.CStar {
		t.Errorf("c* is %d for cheap waiting and %d for dear", cheap.CStar, dear.CStar)
	}
	c, err := New(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if m := c.Step(start, &Reading{Pool: 1, Workers: 3, Rate: 0.1}, fixed(0.5)).Saw; math.Abs(m.CostPerHour-18) > 1e-9 {
		t.Errorf("three idle people at 0.10 a minute cost %g an hour", m.CostPerHour)
	}
}

// TestFeedForwardLooksAhead: whoever will have left before others can come is
// replaced before they leave.
func TestFeedForwardLooksAhead(t *testing.T) {
	t.Parallel()
	c, err := New(Settings{Elasticity: "feed-forward"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		m    Metrics
		want int
	}{
		{Metrics{CStar: 10, Workers: 10, Mu: 0.1}, 0},
		{Metrics{CStar: 0, Mu: 0.1}, 0}, // no load, and no queue of chance
		{Metrics{CStar: 0, Queue: 1, Mu: 0.1}, 1},
		{Metrics{CStar: 10, Workers: 10, Mu: 0.1, Abandonment: 0.05}, 0}, // how long people take to come is not known
		{Metrics{CStar: 10, Workers: 10, Mu: 0.1, Abandonment: 0.05, Recruitment: 1.0 / 90}, 5},
		{Metrics{CStar: 10, Workers: 8, Coming: 2, Mu: 0.1, Abandonment: 0.05, Recruitment: 1.0 / 90}, 5},
		{Metrics{CStar: Unknown, Workers: 8, Queue: 50, Mu: 0.1}, 0},
		{Metrics{CStar: 3, Workers: 8, Queue: 50}, 0},
	} {
		w := c.wants(&c.parts.elastic, view{m: &tc.m})
		if w.change != tc.want {
			t.Errorf("%+v: %+d, want %+d: %q", tc.m, w.change, tc.want, w.why)
		}
	}
}

func TestSizeAndThroughputErrors(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		elasticity              string
		workers, coming, queue  int
		arrived, completed      int64
		recruit, withdraw, free int
	}{
		"ct-p counts who is coming":                 {"ct-p(kp=1)", 10, 5, 0, 3, 3, 2, 0, 0},
		"ct-p-paper does not":                       {"ct-p-paper(kp=1)", 10, 5, 0, 3, 3, 7, 0, 0},
		"ct-p withdraws before it lets go":          {"ct-p(kp=1,band=0)", 17, 4, 0, 3, 3, 0, 4, 0},
		"ct-p withdraws, then lets go":              {"ct-p(kp=1,band=0)", 20, 1, 0, 3, 3, 0, 1, 3},
		"ct-p keeps one within the band":            {"ct-p(kp=1)", 18, 0, 0, 3, 3, 0, 0, 0},
		"ct-p lets go down to the band":             {"ct-p(kp=1)", 20, 1, 0, 3, 3, 0, 1, 2},
		"ct-p-paper withdraws nothing":              {"ct-p-paper(kp=1)", 20, 4, 0, 3, 3, 0, 0, 3},
		"ct-p is content":                           {"ct-p(kp=1)", 13, 4, 0, 3, 3, 0, 0, 0},
		"ct-t follows what arrived less completed":  {"ct-t(kp=0.5,ki=0)", 10, 0, 0, 9, 3, 3, 0, 0},
		"ct-t takes in the sum":                     {"ct-t(kp=0,ki=0.5)", 10, 0, 0, 9, 3, 3, 0, 0},
		"ct-t lets go":                              {"ct-t(kp=0.5,ki=0)", 10, 0, 0, 3, 9, 0, 0, 3},
		"ct-t calls nobody above c*":                {"ct-t(kp=1,ki=0)", 12, 4, 0, 9, 3, 1, 0, 0},
		"ct-t lets nobody go as it would call":      {"ct-t(kp=1,ki=0)", 25, 4, 0, 9, 3, 0, 0, 0},
		"ct-t calls for a queue":                    {"ct-t(kp=1,ki=0)", 15, 5, 30, 9, 3, 5, 0, 0},
		"ct-t-paper looks at the error only":        {"ct-t-paper(kp=1,ki=0)", 14, 40, 0, 9, 3, 6, 0, 0},
		"feed-forward goes straight to c*":          {"feed-forward", 10, 0, 0, 3, 3, 7, 0, 0},
		"feed-forward counts who is coming":         {"feed-forward", 10, 5, 0, 3, 3, 2, 0, 0},
		"feed-forward clears the queue":             {"feed-forward(chance=0)", 17, 0, 30, 3, 3, 15, 0, 0},
		"feed-forward bears a queue of chance":      {"feed-forward", 17, 0, 3, 3, 3, 0, 0, 0},
		"feed-forward calls for more than that":     {"feed-forward", 17, 0, 30, 3, 3, 14, 0, 0},
		"feed-forward clears it later":              {"feed-forward(clear=5m,chance=0)", 17, 0, 30, 3, 3, 3, 0, 0},
		"feed-forward minds not one too many":       {"feed-forward", 18, 0, 0, 3, 3, 0, 0, 0},
		"feed-forward withdraws":                    {"feed-forward", 17, 4, 0, 3, 3, 0, 3, 0},
		"feed-forward lets go":                      {"feed-forward(spare=2)", 25, 0, 0, 3, 3, 0, 0, 6},
		"feed-forward never lets go below c*":       {"feed-forward(spare=0,band=0)", 20, 9, 0, 3, 3, 0, 9, 3},
		"feed-forward lets nobody leave a queue":    {"feed-forward(chance=0)", 44, 3, 45, 3, 3, 0, 3, 0},
		"static(n) drives to n":                     {"static(n=12)", 5, 4, 0, 3, 3, 3, 0, 0},
		"static(n) drives down to n":                {"static(n=2)", 5, 1, 0, 3, 3, 0, 1, 3},
		"static stays":                              {"static", 5, 1, 50, 9, 3, 0, 0, 0},
		"rules-paper(coming=1) counts the comers":   {"rules-paper(coming=1)", 10, 3, 0, 3, 3, 0, 0, 0},
		"rules-paper(coming=1) withdraws the first": {"rules-paper(coming=1)", 22, 3, 0, 3, 3, 0, 1, 0},
	}
	for name, tc := range cases {
		c, now, counters := primed(t, Settings{Elasticity: tc.elasticity})
		r := &Reading{Pool: 1, Workers: tc.workers, Coming: tc.coming, Queue: tc.queue, Affordable: -1, Counters: counters}
		c.seen.observe(now, &r.Counters, nil)
		now = now.Add(10 * time.Second)
		// The same again, so that λ hardly changes and c* not at all.
		r.Counters.Arrived += tc.arrived
		r.Counters.Completed += tc.completed
		r.Counters.Worked += 30 * time.Duration(tc.completed) * time.Second
		d := c.Step(now, r, fixed(0.5))
		best := d.Saw.CStar
		if best < primedBest || best > primedBest+1 {
			t.Fatalf("%s: c* %d", name, best)
		}
		if best == primedBest+1 && strings.HasPrefix(name, "ct-t calls nobody") {
			tc.recruit++
		}
		if d.Recruit != tc.recruit || d.Withdraw != tc.withdraw || d.Release != tc.free {
			t.Errorf("%s: recruit %d, withdraw %d, release %d; want %d, %d, %d (%q)", name, d.Recruit, d.Withdraw, d.Release, tc.recruit, tc.withdraw, tc.free, d.Why)
		}
	}
}

// TestAverageRate: n_window/t_window people a second, on average.
func TestAverageRate(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, step := range []time.Duration{time.Second, 7 * time.Second, 30 * time.Second} {
		c := mustNew(t, Settings{Stability: "average-rate(window=60s)"})
		now, r := epoch, &Reading{Pool: 1, Workers: 500, Affordable: -1}
		called, steps := 0, int(40_000*time.Second/step)
		for range steps {
			d := c.Step(now, r, rnd)
			called += d.Recruit
			if d.Release+d.Withdraw > 0 {
				t.Fatal("it lets go")
			}
			now = now.Add(step)
			if rnd.Float64() < 0.11*step.Seconds()/4 {
				r.Counters.Abandoned += 4
			}
		}
		left := float64(r.Counters.Abandoned)
		// each call is a draw with the right mean: the deviation is below 5 σ
		if diff := math.Abs(float64(called) - left); diff > 5*math.Sqrt(left)+20 {
			t.Errorf("step %s: %.0f left, %d called", step, left, called)
		}
	}
}

// TestAverageRateLiterally: ⌊n/t⌋, and one more with probability (n mod t)/t.
func TestAverageRateLiterally(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{0, 1, 30, 59, 60, 61, 150} {
		for _, draw := range []float64{0, 0.01, 0.3, 0.49, 0.51, 0.98, 0.999} {
			c := mustNew(t, Settings{Stability: "average-rate"})
			r := &Reading{Pool: 1, Workers: 500, Affordable: -1}
			c.Step(epoch, r, fixed(draw))
			r.Counters.Abandoned = n
			d := c.Step(epoch.Add(time.Second), r, fixed(draw))
			want := int(n / 60)
			if draw < float64(n%60)/60 {
				want++
			}
			if d.Recruit != want {
				t.Errorf("%d left, draw %g: %d, want %d", n, draw, d.Recruit, want)
			}
		}
	}
}

func TestHybrid(t *testing.T) {
	t.Parallel()
	cases := 0
	for workers := range 30 {
		for _, coming := range []int{0, 2, 9} {
			for _, tc := range []struct {
				stability string
				most      int // -1: none
			}{
				{"average-rate", 20},
				{"hybrid", min(20, max(0, primedBest-workers-coming))},
				{"hybrid(slack=4)", min(20, max(0, primedBest-4-workers-coming))},
				{"hybrid(coming=0)", min(20, max(0, primedBest-workers))},
				{"hybrid-paper", map[bool]int{true: 20}[primedBest-workers > 5]},
			} {
				c, now, counters := primed(t, Settings{Stability: tc.stability})
				r := &Reading{Pool: 1, Workers: workers, Coming: coming, Affordable: -1, Counters: counters}
				c.Step(now, r, fixed(0))
				r.Counters.Arrived += 3
				r.Counters.Abandoned += 120
				r.Counters.Completed += 3
				r.Counters.Worked += 90 * time.Second
				d := c.Step(now.Add(10*time.Second), r, fixed(0.5))
				if d.Recruit != tc.most || d.Saw.CStar != primedBest {
					t.Fatalf("%s, %d on duty, %d coming: %d called, want %d (c* %d)", tc.stability, workers, coming, d.Recruit, tc.most, d.Saw.CStar)
				}
				cases++
			}
		}
	}
	if cases == 0 {
		t.Fatal("nothing was looked at")
	}
}

// TestHybridCountsElasticity: the two do not call the same people twice.
func TestHybridCountsElasticity(t *testing.T) {
	t.Parallel()
	c, now, counters := primed(t, Settings{Elasticity: "ct-p(kp=1)", Stability: "hybrid"})
	r := &Reading{Pool: 1, Workers: 10, Affordable: -1, Counters: counters}
	r.Counters.Abandoned += 600
	if d := c.Step(now, r, fixed(0)); d.Recruit != primedBest-10 {
		t.Errorf("%d called, want %d (%q)", d.Recruit, primedBest-10, d.Why)
	}
}

// TestNothingFromAGuess: before the load is known nobody is called or let go.
func TestNothingFromAGuess(t *testing.T) {
	t.Parallel()
	for _, f := range Elasticities() {
		for _, g := range Stabilities() {
			s := Settings{Elasticity: f.Name, Stability: g.Name}
			switch f.Name {
			case "rules":
				s.Rules = []Rule{{"not (c_star <= workers)", "recruit 5"}, {"c_star != 3", "release 1"}, {"mu < 1 or utilisation < 5 or recruitment < 1", "recruit 1"}}
			case "ct-t-paper":
				continue // needs no model
			}
			if g.Name == "average-rate" {
				continue
			}
			c := mustNew(t, s)
			now, r := epoch, &Reading{Pool: 1, Workers: 30, Busy: 1, Coming: 1, Affordable: -1}
			for i := range 30 {
				r.Counters.Arrived++
				r.Counters.Worked += 2 * time.Second
				r.Counters.Abandoned++
				if i == 20 {
					r.Counters.Completed += 4 // one fewer than it takes
				}
				if d := c.Step(now, r, fixed(0)); !d.Idle() || d.Saw.CStar != Unknown {
					t.Fatalf("%s, %s: step %d: %+v", f.Name, g.Name, i, d)
				}
				now = now.Add(2 * time.Second)
			}
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	c, now, counters := primed(t, Settings{Elasticity: "rules", Rules: []Rule{
		{"queue > 10", "recruit 3"}, {"idle > 2", "release 1"}, {"queue > 1000", "recruit 100"},
	}})
	r := &Reading{Pool: 1, Workers: 9, Busy: 5, Queue: 14, Affordable: -1, Counters: counters}
	d := c.Step(now, r, fixed(0))
	if d.Recruit != 2 || d.Release != 0 {
		t.Errorf("recruit %d, release %d", d.Recruit, d.Release)
	}
	if want := []string{"rule 1 (queue > 10): recruit 3; queue 14", "rule 2 (idle > 2): release 1; idle 4"}; !slices.Equal(d.Why, want) {
		t.Errorf("%q", d.Why)
	}
}

func TestCStarFollowsTheTarget(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		target Target
		want   func(c int) bool
	}{
		{Target{}, func(c int) bool { return c == primedBest }},
		{Target{Eta: 0.001, Salary: 100}, func(c int) bool { return c < primedBest }},
		{Target{Wait: time.Hour}, func(c int) bool { return c == 10 }},
		{Target{Wait: time.Second}, func(c int) bool { return c > 10 && c < 30 }},
		{Target{Wait: time.Second, Tail: 0.001}, func(c int) bool { return c > 15 && c < 40 }},
	} {
		c, now, counters := primed(t, Settings{Target: tc.target})
		if m := c.Step(now, &Reading{Pool: 1, Counters: counters}, fixed(0)).Saw; !tc.want(m.CStar) {
			t.Errorf("%+v: c* %d", tc.target, m.CStar)
		}
	}
}

func TestExpectedTaskTime(t *testing.T) {
	t.Parallel()
	c := mustNew(t, Settings{Expect: Expect{TaskTime: 30 * time.Second}})
	r := &Reading{Pool: 1, Affordable: -1}
	c.Step(epoch, r, fixed(0))
	r.Counters.Arrived = 20
	m := c.Step(epoch.Add(20*time.Second), r, fixed(0)).Saw
	if math.Abs(m.Mu-1./30) > 1e-12 || m.CStar < 30 {
		t.Errorf("μ %g, c* %d", m.Mu, m.CStar)
	}
	// five answers of 10 s weigh as much as what was expected
	r.Counters.Completed, r.Counters.Worked = 5, 50*time.Second
	if m := c.Step(epoch.Add(30*time.Second), r, fixed(0)).Saw; math.Abs(m.Mu-1./20) > 1e-12 {
		t.Errorf("μ %g", m.Mu)
	}
}

func TestGoPicksWhoLikesItLeast(t *testing.T) {
	t.Parallel()
	c := mustNew(t, Settings{Elasticity: "static(n=1)"})
	r := &Reading{Pool: 1, Workers: 5, Busy: 0, Affordable: -1, Idle: []Person{
		{ID: 9, Prefers: []float64{0.5}}, {ID: 4, Prefers: []float64{0.1}}, {ID: 7, Prefers: []float64{0.5}}, {ID: 3}, {ID: 1, Prefers: []float64{0.1}},
	}}
	d := c.Step(epoch, r, fixed(0))
	if d.Release != 4 || fmt.Sprint(d.Go) != fmt.Sprint([]crowd.WorkerID{4, 1, 9, 7}) {
		t.Errorf("release %d, go %v", d.Release, d.Go)
	}
}

// TestSettles: after the load doubles and after it halves again, CT-p is at c* and
// stays there, also while c* itself is estimated.
func TestSettles(t *testing.T) {
	t.Parallel()
	for _, elasticity := range []string{"ct-p", "ct-p-paper"} {
		w := newWorld(5, 0.3, 1./30, 0, 1./91, 5)
		c := mustNew(t, Settings{Elasticity: elasticity})
		for _, load := range []float64{0.3, 0.6, 0.3} {
			w.lambda = load
			// the window of five minutes fills, people come after 91 s: 30 minutes do
			w.run(c, 30*time.Minute, 10*time.Second)
			far, steps := 0, 0
			for range 60 {
				w.run(c, 10*time.Second, 10*time.Second)
				m := c.Step(w.now, w.reading(), w.rnd).Saw
				gap := m.CStar - w.people()
				steps++
				if gap < -4 || gap > 4 {
					far++
				}
			}
			if far > steps/6 {
				t.Errorf("%s at λ %g: %d of %d steps more than 4 from c*", elasticity, load, far, steps)
			}
		}
	}
}

// TestExactLoadSettles: where c* does not move, CT-p arrives within as many steps
// as halving the gap takes, and then does nothing at all.
func TestExactLoadSettles(t *testing.T) {
	t.Parallel()
	for _, start := range []int{0, 5, 40} {
		c, now, counters := primed(t, Settings{Elasticity: "ct-p(band=0)"})
		r := &Reading{Pool: 1, Workers: start, Affordable: -1, Counters: counters}
		for step := range 40 {
			d := c.Step(now, r, fixed(0.5))
			if step >= 12 && (!d.Idle() || r.Workers+r.Coming != primedBest) {
				t.Fatalf("from %d, step %d: %d people, %+v", start, step, r.Workers+r.Coming, d)
			}
			if step%3 == 2 { // those who were called come every third step
				r.Workers, r.Coming = r.Workers+r.Coming, 0
			}
			r.Coming += d.Recruit - d.Withdraw
			r.Workers -= d.Release
			now = now.Add(10 * time.Second)
			r.Counters.Arrived += 3
			r.Counters.Completed += 3
			r.Counters.Worked += 90 * time.Second
		}
	}
}

// TestGains: no default gain becomes clearly better by being halved or doubled,
// or by Kd, in the world of its comment.
func TestGains(t *testing.T) {
	if testing.Short() {
		t.Skip("compares 20 sets of gains by simulation")
	}
	t.Parallel()
	loss := func(elasticity string) (sum float64) {
		for _, mu := range []float64{1. / 10, 1. / 30, 1. / 90} {
			for _, crowd := range []struct {
				stability string
				abandon   float64
			}{{"none", 0}, {"hybrid", 1. / 600}} {
				for seed := range uint64(2) {
					w := newWorld(seed, 0, mu, crowd.abandon, 1./91, 10)
					c := mustNew(t, Settings{Elasticity: elasticity, Stability: crowd.stability, Min: 1})
					for _, load := range []float64{8, 24, 10, 16, 4} {
						w.lambda = load * mu
						w.run(c, 30*time.Minute, 10*time.Second)
					}
					sum += (w.waiting + w.idling) / (5 * 1800 * 6 * 2)
				}
			}
		}
		return sum
	}
	for _, name := range []string{"ct-t", "ct-p", "ct-t-paper", "ct-p-paper"} {
		s, err := parseElasticity(name)
		if err != nil {
			t.Fatal(err)
		}
		base := loss(name)
		for _, gain := range []string{"kp", "ki"} {
			g := s.get(gain)
			if g == 0 {
				continue
			}
			for _, factor := range []float64{0.5, 2} {
				other := fmt.Sprintf("%s(%s=%g)", name, gain, g*factor)
				l := loss(other)
				t.Logf("%s %.1f, %s %.1f", name, base, other, l)
				if l < base*0.75 {
					t.Errorf("%s loses %.1f, %s only %.1f", name, base, other, l)
				}
			}
		}
		other := fmt.Sprintf("%s(kd=%g)", name, s.get("kp"))
		l := loss(other)
		t.Logf("%s %.1f, %s %.1f", name, base, other, l)
		if l < base*0.75 {
			t.Errorf("%s loses %.1f, %s only %.1f", name, base, other, l)
		}
	}
}

// TestCooldown: what starts a cool-down, and what it holds up.
func TestCooldown(t *testing.T) {
	t.Parallel()
	// people on duty at three steps a minute apart; change is what is decided then
	for name, tc := range map[string]struct {
		s       Settings
		workers [3]int
		change  [3]int
	}{
		"calls, then does not let go":       {Settings{Elasticity: "static(n=5)", Cooldown: 90 * time.Second}, [3]int{3, 7, 7}, [3]int{2, 0, -2}},
		"lets go, then does not call":       {Settings{Elasticity: "static(n=5)", Cooldown: 90 * time.Second}, [3]int{7, 3, 3}, [3]int{-2, 0, 2}},
		"goes on the same way":              {Settings{Elasticity: "static(n=5)", Cooldown: time.Hour}, [3]int{3, 4, 1}, [3]int{2, 1, 4}},
		"stability starts none":             {Settings{Elasticity: "static(n=5)", Stability: "rule(least=9,n=1)", Cooldown: time.Hour}, [3]int{5, 9, 9}, [3]int{1, -4, -4}},
		"stability is not held up":          {Settings{Elasticity: "static(n=5)", Stability: "rule(least=4,n=1)", Cooldown: time.Hour}, [3]int{9, 3, 3}, [3]int{-4, 1, 1}},
		"max lets go all the same":          {Settings{Elasticity: "static(n=5)", Max: 6, Cooldown: time.Hour}, [3]int{3, 9, 5}, [3]int{2, -3, 0}},
		"max starts none":                   {Settings{Elasticity: "static(n=8)", Max: 6, Stability: "none", Cooldown: time.Hour}, [3]int{8, 6, 4}, [3]int{-2, 0, 2}},
		"min calls all the same":            {Settings{Elasticity: "static(n=5)", Min: 4, Cooldown: time.Hour}, [3]int{9, 2, 5}, [3]int{-4, 2, 0}},
		"what was not done starts no clock": {Settings{Elasticity: "static(n=5)", Max: 3, Cooldown: time.Hour}, [3]int{3, 3, 3}, [3]int{0, 0, 0}},
	} {
		c := mustNew(t, tc.s)
		for i := range tc.workers {
			d := c.Step(epoch.Add(time.Duration(i)*time.Minute), &Reading{Workers: tc.workers[i], Affordable: -1}, fixed(0))
			if got := d.Recruit - d.Release; got != tc.change[i] {
				t.Errorf("%s: step %d: %+d, want %+d (%q)", name, i, got, tc.change[i], d.Why)
			}
		}
	}
}

// TestCStarIsOfNow: it is computed again when the target or either rate changes.
func TestCStarIsOfNow(t *testing.T) {
	t.Parallel()
	c, now, counters := primed(t, Settings{})
	best := func() int { return c.Step(now, &Reading{Pool: 1, Counters: counters}, fixed(0)).Saw.CStar }
	if got := best(); got != primedBest {
		t.Fatal(got)
	}
	if err := c.set(Settings{Target: Target{Wait: time.Hour}}); err != nil {
		t.Fatal(err)
	}
	if got := best(); got != 10 {
		t.Errorf("another target: %d", got)
	}
	if c.optimum(0.3, 1./30, DefaultSalary); c.optimum(0.3, 1./60, DefaultSalary) != 19 || c.optimum(0.6, 1./60, DefaultSalary) != 37 {
		t.Errorf("other rates: %d, %d", c.optimum(0.3, 1./60, DefaultSalary), c.optimum(0.6, 1./60, DefaultSalary))
	}
}

// TestWhenTheLoadIsKnown: after a fifth of the window, or twenty arrivals.
func TestWhenTheLoadIsKnown(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		arrived int64 // a step of ten seconds
		known   int   // the step after which λ is known
	}{{0, 6}, {1, 6}, {4, 5}, {20, 1}} {
		c := mustNew(t, Settings{Expect: Expect{TaskTime: 30 * time.Second}})
		r := &Reading{Affordable: -1}
		for step := range 10 {
			m := c.Step(epoch.Add(time.Duration(step)*10*time.Second), r, fixed(0)).Saw
			if known := m.CStar != Unknown; known != (step >= tc.known) {
				t.Errorf("%d a step: after %d steps c* is %d", tc.arrived, step, m.CStar)
			}
			r.Counters.Arrived += tc.arrived
		}
	}
}
