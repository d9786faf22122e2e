package pools

import (
	"context"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/pool"
)

// choosing is a world of two pools that begin empty, of which the first calls only those
// who like it at least so much, and whose people leave after a while.
func choosing(least float64, people People) Setup {
	people.Abandon, people.Recruitment = 0.1, sim.Exponential(10)
	s := Setup{Horizon: 20 * time.Minute, Salary: 50_000, People: people}
	for _, name := range []string{"choosy", "other"} {
		s.Pools = append(s.Pools, Pool{
			Name: name, Arrivals: []Phase{{Rate: 1}}, Service: sim.Exponential(5), Start: 0,
			Settings: pool.Settings{Elasticity: "feed-forward", Expect: pool.Expect{TaskTime: 5 * time.Second}},
		})
	}
	s.Pools[0].Settings.LeastPreference = least
	return s
}

func TestWhoIsCalledLikesThePool(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		least  float64
		people People
		want   func(choosy, other *PoolOutcome) bool
	}{
		"a crowd without bound": {0.6, People{}, func(choosy, other *PoolOutcome) bool {
			return choosy.Preference >= 0.6 && choosy.Joined > 50 && choosy.PassedOver > choosy.Joined && choosy.Refused == 0 &&
				other.Preference > 0.4 && other.Preference < 0.6 && other.Joined > 50 && other.PassedOver == 0
		}},
		// Whoever is passed over is there for the other pool, which likes them all: it has
		// those of the sixty who were not called by the choosy one, and nobody is left.
		"a small crowd": {0.6, People{Outside: 60}, func(choosy, other *PoolOutcome) bool {
			return choosy.Preference >= 0.6 && choosy.Joined > 5 && choosy.Refused > 0 && other.Refused > 0 && choosy.PassedOver+choosy.Asked <= 60 &&
				choosy.Asked+other.Asked == 60 && other.Preference > 0
		}},
		"nobody likes it so much": {0.6, People{Prefers: []float64{0.59, 0.41}}, func(choosy, other *PoolOutcome) bool {
			return choosy.Asked == 0 && choosy.Refused > 0 && choosy.PassedOver > 0 && choosy.PassedOver%maxLooked == 0 && other.Joined > 50
		}},
		"everybody likes it just so much": {0.6, People{Prefers: []float64{0.6, 0.4}}, func(choosy, _ *PoolOutcome) bool {
			return choosy.Joined > 50 && choosy.PassedOver == 0 && choosy.Refused == 0
		}},
	} {
		out, err := Run{Setup: choosing(c.least, c.people), Seed: 3, Check: true}.Do(context.Background())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !c.want(&out.Pools[0], &out.Pools[1]) {
			t.Errorf("%s: %+v\n%+v", name, out.Pools[0], out.Pools[1])
		}
	}
}

// TestChoosingChangesNobodyElse: a least preference that everybody has gives the same run
// as none.
func TestChoosingChangesNobodyElse(t *testing.T) {
	t.Parallel()
	run := func(least float64) PoolOutcome {
		out, err := Run{Setup: choosing(least, People{Outside: 300}), Seed: 5}.Do(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return out.Total
	}
	if none, any := run(0), run(1e-12); none.Cost != any.Cost || none.Completed != any.Completed || none.Preference != any.Preference || none.Joined != any.Joined {
		t.Errorf("%+v\n%+v", none, any)
	}
}

// TestChoosersHoldNoMoreThanTheyCall: what is kept of whom a pool chose goes when they come
// or are withdrawn.
func TestChoosersHoldNoMoreThanTheyCall(t *testing.T) {
	t.Parallel()
	s := choosing(0.6, People{})
	s.Pools[0].Settings.Elasticity = "ct-t(kp=0.4)" // calls more than it needs, and withdraws
	w, err := newWorld(&Run{Setup: s, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	w.loop(context.Background())
	out := w.finish()
	if n := len(w.crowd.asked[0]) + len(w.crowd.asked[1]); w.err != nil || out.Total.Withdrawn == 0 || len(w.crowd.choice.people) != n || w.crowd.choice.passed != nil {
		t.Errorf("%v: %d withdrawn; %d are coming, %d kept as chosen, %d as passed over", w.err, out.Total.Withdrawn, n, len(w.crowd.choice.people), len(w.crowd.choice.passed))
	}
}
