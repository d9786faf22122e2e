package pools

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/pool"
)

// draw makes worlds.
type draw struct{ sim.Rand }

func (d *draw) chance(p float64) bool { return d.Float64() < p }

func (d *draw) between(lo, hi int) int { return lo + d.IntN(hi-lo+1) }

func pick[T any](d *draw, of ...T) T { return of[d.IntN(len(of))] }

func (d *draw) dist(mean float64) sim.Dist {
	return pick[sim.Dist](d, sim.Constant(mean), sim.Exponential(mean), sim.Uniform{Min: 0, Max: 2 * mean}, sim.LogNormalByMean(mean, mean))
}

func (d *draw) maybe(p, mean float64) sim.Dist {
	if !d.chance(p) {
		return nil
	}
	return d.dist(mean)
}

// drawn is the world of a seed.
func drawn(seed uint64) Run {
	d := &draw{sim.NewStream(seed, 0, "pools").At(0)}
	setup := Setup{
		Horizon: time.Duration(d.between(60, 400)) * time.Second, Step: pick(d, 0, time.Second, 5*time.Second, 700*time.Millisecond),
		Salary: pick[crowd.Money](d, 0, 50_000, 999_999_999), Balance: pick(d, "", "random", "paper", "search", "paper(omega=1,cap=0)"),
		People: People{
			Abandon: pick(d, 0, 0, 0.1, 0.5, 1), Stay: d.maybe(0.5, 120), Recruitment: d.maybe(0.8, 15),
			Recruiting: pick(d, "", Each, Process), Outside: pick(d, 0, 0, 10, 50),
		},
	}
	if setup.People.Recruitment == nil {
		setup.People.Recruiting = Each
	}
	if d.chance(0.2) {
		setup.People.Trace = &Trace{Recruitments: []float64{5, 0, 30}, Tasks: []float64{2, 3, 9, 0}, Stays: []float64{60, 10, 300}}
	}
	n := d.between(1, 4)
	for i := range n {
		p := Pool{
			Name: fmt.Sprint("pool ", i), Service: d.dist(8), Training: d.maybe(0.6, 10), Start: pick(d, StartOptimal, StartMean, 0, 3, 12),
			Settings: pool.Settings{
				Elasticity: pick(d, "static", "rules", "rules-paper", "ct-t", "ct-p", "ct-t-paper", "ct-p-paper"),
				Stability:  pick(d, "none", "rule", "rule-paper", "average-rate", "hybrid", "hybrid-paper"),
				Balance:    d.chance(0.8), Min: pick(d, 0, 0, 2), Max: pick(d, 0, 0, 20), Advise: d.chance(0.1),
				Cooldown: pick(d, 0, 20*time.Second), Window: pick(d, 0, 30*time.Second),
				Expect: pool.Expect{TaskTime: pick(d, 0, 8*time.Second)},
				Rules: []pool.Rule{
					{When: "queue > 2", Do: pick(d, "recruit 2", "transfer 1 from pool 0")},
					{When: pick(d, "idle > 2", "workers > 5"), Do: pick(d, "release 1", "release 4")},
				},
				Balancer: pick(d, "", "", "", "none", "search(omega=0.9)", "search(cap=1,utility=clearing)", "paper(omega=0)"),
			},
		}
		if d.chance(0.8) {
			p.Arrivals = []Phase{{0, 0.5 * d.Float64()}, {setup.Horizon / 3, 3 * d.Float64()}, {setup.Horizon / 2, pick(d, 0, 0.3)}}
		}
		if d.chance(0.3) {
			p.Bursts = []Burst{{setup.Horizon / 4, d.between(1, 60)}}
		}
		if d.chance(0.2) {
			p.Times = at(1, 1, 2, 30)
		}
		setup.Pools = append(setup.Pools, p)
	}
	return Run{Setup: setup, Seed: seed, Check: true, Record: pick(d, 0, 10*time.Second)}
}

// TestWorlds draws worlds with everything that there is, and verifies after every
// event what must hold: money and people are conserved, nobody is in two pools,
// who goes or moves finishes first, nothing waits while somebody could do it.
func TestWorlds(t *testing.T) {
	t.Parallel()
	n := 120
	if testing.Short() {
		n = 40
	}
	var all PoolOutcome
	traced, advised := 0, 0
	for seed := range uint64(n) {
		run := drawn(seed)
		o, err := run.Do(context.Background())
		if err != nil {
			t.Fatalf("seed %d: %v\n%+v", seed, err, run.Setup)
		}
		sum := &o.Total
		if int64(sum.EndSize) != int64(sum.Start)+sum.Joined-sum.Abandoned-sum.Released || sum.MovedIn != sum.MovedOut {
			t.Fatalf("seed %d: people are not conserved: %+v", seed, sum)
		}
		if int64(sum.EndComing) != sum.Asked-sum.Joined-sum.Withdrawn || sum.Arrived != sum.Completed+int64(sum.Queue+sum.InHand) {
			t.Fatalf("seed %d: work or calls are not conserved: %+v", seed, sum)
		}
		minutes := sum.Idled / 60 * float64(run.Salary) / float64(crowd.Unit)
		paid := float64(sum.Cost) / float64(crowd.Unit)
		visits := float64(int64(sum.Start) + sum.Joined + sum.MovedIn + sum.Begun + sum.MovedIn)
		if short := minutes - paid; short < -1e-6-1e-9*minutes || short > (visits+1)*2e-3*float64(run.Salary)/1e9+visits*2e-6+1e-9*minutes {
			t.Errorf("seed %d: %g was paid for %g person-seconds of waiting, want %g", seed, paid, sum.Idled, minutes)
		}
		all.Completed, all.Joined, all.Withdrawn, all.Refused = all.Completed+sum.Completed, all.Joined+sum.Joined, all.Withdrawn+sum.Withdrawn, all.Refused+sum.Refused
		all.Abandoned, all.Released, all.MovedIn = all.Abandoned+sum.Abandoned, all.Released+sum.Released, all.MovedIn+sum.MovedIn
		if o.Trace != nil {
			traced++
		}
		for i := range run.Pools {
			if run.Pools[i].Settings.Advise {
				advised++
			}
		}
	}
	t.Logf("%+v; %d traced, %d pools with advice", all, traced, advised)
	if all.Completed < int64(n)*20 || all.Joined < int64(n) || all.Abandoned < int64(n) || all.Released < int64(n) || all.MovedIn < int64(n)/4 ||
		all.Withdrawn == 0 || all.Refused == 0 || traced == 0 || advised == 0 {
		t.Error("the worlds show too little")
	}
}
