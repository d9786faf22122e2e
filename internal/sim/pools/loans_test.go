package pools

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/pool"
)

// lending is a world of pools that are sized in different ways, of unequal load
// and with balance, so that people move. People leave after a task or from among the idle;
// in the worlds of calls they are replaced by a stability.
func lending(seed uint64, stabilities []string, controllers ...string) Run {
	d := &draw{sim.NewStream(seed, 0, "lending").At(0)}
	setup := Setup{
		Horizon: 20 * time.Minute, Step: pick(d, time.Second, 5*time.Second), Salary: 50_000,
		Balance: pick(d, "search", "search", "paper", "paper(omega=0)", "random(cap=2)"),
		People:  People{Recruitment: d.maybe(0.8, 30), Abandon: pick(d, 0, 0, 0.02), Stay: d.maybe(0.5, 300), Recruiting: Each},
	}
	for i := range d.between(2, 5) {
		size := d.between(2, 12)
		s := pool.Settings{
			Elasticity: pick(d, controllers...), Stability: pick(d, stabilities...), Balance: true, Balancer: pick(d, "", "", "search(omega=0.9)", "random(cap=1)"), Window: 2 * time.Minute,
			Cooldown: pick(d, 0, 30*time.Second, 2*time.Minute), Min: pick(d, 0, 1, d.between(0, size), size), Target: pool.Target{Wait: 10 * time.Second},
			Expect: pool.Expect{TaskTime: 20 * time.Second},
		}
		switch s.Elasticity {
		case "static":
			s.Elasticity = fmt.Sprintf("static(n=%d)", size)
		case "rules":
			s.Rules = []pool.Rule{
				{When: fmt.Sprintf("workers + coming < %d", size), Do: "recruit 1"},
				{When: fmt.Sprintf("workers > %d", size+d.between(0, 2)), Do: "release 1"},
			}
			if d.chance(0.5) {
				s.Rules = append(s.Rules, pool.Rule{When: "queue > 3", Do: "transfer 1 from pool 0"})
			}
		}
		setup.Pools = append(setup.Pools, Pool{
			Name: fmt.Sprint("pool ", i), Service: sim.Exponential(20), Training: d.maybe(0.5, 15), Start: d.between(0, 12),
			Arrivals: []Phase{{Rate: float64(size) / 20 * pick(d, 0.3, 0.8, 1.1)}}, Settings: s,
		})
	}
	return Run{Setup: setup, Seed: seed, Check: true, Record: time.Second}
}

// exchanging is a world of two pools, of which one lends most of its people to the other. When
// its own load is gone it lets people go, while the other calls some for a load that has grown:
// of those who are lent some belong there then, and others are let go in the same step.
func exchanging(seed uint64) Run {
	d := &draw{sim.NewStream(seed, 0, "exchanging").At(0)}
	setup := Setup{Horizon: 10 * time.Minute, Step: 5 * time.Second, Salary: 50_000, Balance: "search", People: People{Recruitment: sim.Exponential(30), Recruiting: Each}}
	add := func(name string, start int, rates [2]float64, rule pool.Rule) {
		setup.Pools = append(setup.Pools, Pool{
			Name: name, Service: sim.Exponential(20), Start: start, Arrivals: []Phase{{Rate: rates[0]}, {From: 4 * time.Minute, Rate: rates[1]}},
			Settings: pool.Settings{Elasticity: "rules", Rules: []pool.Rule{rule}, Balance: true, Window: time.Minute, Cooldown: pick(d, 0, 30*time.Second, 2*time.Minute), Expect: pool.Expect{TaskTime: 20 * time.Second}},
		})
	}
	add("lends", d.between(8, 16), [2]float64{0.2, 0}, pool.Rule{When: "lambda < 0.02", Do: fmt.Sprintf("release %d", d.between(2, 8))})
	add("borrows", 4, [2]float64{0.7, 1.4}, pool.Rule{When: fmt.Sprintf("lambda > 1 and workers + coming < %d", d.between(10, 30)), Do: fmt.Sprintf("recruit %d", d.between(1, 2))})
	return Run{Setup: setup, Seed: seed, Check: true, Record: time.Second}
}

// watched runs a world and returns what its audit has looked at, too.
func watched(t *testing.T, run Run) (*Outcome, looked) {
	t.Helper()
	w, err := newWorld(&run)
	if err != nil {
		t.Fatal(err)
	}
	w.loop(context.Background())
	o := w.finish()
	if w.err != nil {
		t.Fatalf("seed %d, at %s: %v\n%+v", run.Seed, time.Duration(w.now), w.err, run.Setup)
	}
	for _, who := range w.people.at {
		if w.people.list[who].leaving {
			w.audit.looked.leaving++
		}
	}
	return o, w.audit.looked
}

func (l *looked) add(m looked) {
	l.calls, l.loans, l.recalls, l.exchanges = l.calls+m.calls, l.loans+m.loans, l.recalls+m.recalls, l.exchanges+m.exchanges
	l.releases, l.returned, l.quits, l.chosen = l.releases+m.releases, l.returned+m.returned, l.quits+m.quits, l.chosen+m.chosen
	l.replaced, l.short, l.both = l.replaced+m.replaced, l.short+m.short, l.both+m.both
}

// TestElasticityAndBalanceDoNotFight: in no world is anybody let go who moved within the
// cool-down or is in training, nor called in place of somebody lent, nor let go, moved and made
// to belong elsewhere in one step; whoever likes a pool best leaves it last and is called home
// first, who has left is replaced where they belonged, and who is idle elsewhere comes home to a
// pool below its Min. The audit checks it at every step.
func TestElasticityAndBalanceDoNotFight(t *testing.T) {
	t.Parallel()
	n := uint64(60)
	if testing.Short() {
		n = 15
	}
	var all looked
	for seed := range n {
		_, l := watched(t, lending(seed, []string{"none", "average-rate", "hybrid", "rule", "rule(least=4)", "average-rate(window=1m)"}, "static", "rules", "ct-p", "ct-t", "feed-forward", "reserve", "ct-t-paper", "rules-paper"))
		all.add(l)
		_, l = watched(t, exchanging(seed))
		all.add(l)
	}
	t.Logf("%+v", all)
	if least := int(n); all.both < least/3 || all.calls < least || all.loans < least || all.recalls < least || all.releases < least || all.returned < least/10 || all.exchanges == 0 || all.quits == 0 || all.chosen < least || all.replaced < least || all.short < least {
		t.Errorf("too little was looked at: %+v", all)
	}
}

// TestConstantTargetsComeToRest: where the targets do not change, each call and
// each release brings a pool nearer to its own, so there are no more of them than
// people were too many or too few at the start, and than left since or are about to.
func TestConstantTargetsComeToRest(t *testing.T) {
	t.Parallel()
	n := uint64(40)
	if testing.Short() {
		n = 20
	}
	var all looked
	for seed := range n {
		run := lending(seed, []string{"none"}, "static", "rules")
		off := 0
		for i := range run.Pools {
			p := &run.Pools[i]
			low, high := 0, 0
			if _, err := fmt.Sscanf(p.Settings.Elasticity, "static(n=%d)", &low); err == nil {
				high = low
			} else {
				_, _ = fmt.Sscanf(p.Settings.Rules[0].When, "workers + coming < %d", &low)
				_, _ = fmt.Sscanf(p.Settings.Rules[1].When, "workers > %d", &high)
			}
			off += max(0, low-p.Start) + max(0, p.Start-high)
		}
		o, l := watched(t, run)
		all.add(l)
		if sum := &o.Total; sum.Asked-sum.Withdrawn+sum.Released+int64(l.exchanges) > int64(off+l.leaving)+sum.Abandoned {
			t.Errorf("seed %d: %d called, %d let go and %d exchanged, %d off at the start, %d left: %+v", seed, sum.Asked, sum.Released, l.exchanges, off, sum.Abandoned, run.Setup)
		}
	}
	t.Logf("%+v", all)
	if least := int(n); all.calls < least || all.loans < least || all.recalls < least || all.releases < least {
		t.Errorf("too little was looked at: %+v", all)
	}
}

// TestConstantLoadHardlyCalls: with a load that does not change, c* moves by the
// chance of its estimate only. The band and the queue of chance, or the queue that
// may wait, keep that from calling and releasing by turns.
func TestConstantLoadHardlyCalls(t *testing.T) {
	t.Parallel()
	for _, elasticity := range []string{"feed-forward", "ct-p", "reserve"} {
		count := func(of string) (calls, releases, moves int64) {
			run := Run{Setup: Setup{Horizon: 2 * time.Hour, Step: 10 * time.Second, Salary: 50_000, Balance: "search"}, Seed: 1}
			for i, busy := range []float64{8, 12, 16, 20} {
				run.Pools = append(run.Pools, Pool{
					Name: fmt.Sprint("pool ", i), Service: sim.Exponential(20), Training: sim.Exponential(10), Start: StartOptimal, Arrivals: []Phase{{Rate: busy / 20}},
					Settings: pool.Settings{Elasticity: of, Balance: true, Window: 5 * time.Minute, Target: pool.Target{Wait: 30 * time.Second}, Expect: pool.Expect{TaskTime: 20 * time.Second}},
				})
			}
			run.People.Recruitment = sim.Exponential(50)
			o := mustDo(t, run)
			return o.Total.Asked - o.Total.Withdrawn, o.Total.Released, o.Total.MovedIn
		}
		bare := "(band=0)"
		switch elasticity {
		case "feed-forward":
			bare = "(band=0,chance=0)"
		case "reserve":
			bare = "(hold=0s)"
		}
		calls, releases, moves := count(elasticity)
		c0, r0, _ := count(elasticity + bare)
		t.Logf("%s: %d calls, %d releases, %d moves; bare %d, %d", elasticity, calls, releases, moves, c0, r0)
		if moves == 0 || r0 == 0 || 2*(calls+releases) > c0+r0 {
			t.Errorf("%s: %d calls, %d releases, %d moves; bare %d and %d", elasticity, calls, releases, moves, c0, r0)
		}
	}
}
