package pool_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/pool"
)

// A town is generated pools with idle people.
type town struct {
	pools, idle int     // at most so many; idle of each pool
	queues      float64 // share of the pools with a queue
	mixed       bool    // people are idle in pools with a queue, too
	keep        bool    // pools have Min and CStar
	fixed       bool    // exactly so many, not at most
	longest     int     // queue
}

// draw makes the pools of a town. At has nothing to do with the place in the list.
func (tn town) draw(rng *rand.Rand) []pool.BalanceView {
	n := tn.pools
	if !tn.fixed {
		n = 2 + rng.IntN(tn.pools-1)
	}
	views := make([]pool.BalanceView, n)
	ids, places := rng.Perm(n*3), rng.Perm(n)
	likes := rng.IntN(4)
	rated, trained, knowing := rng.IntN(2), rng.IntN(3), rng.IntN(3)
	person := 0
	for i := range views {
		v := &views[i]
		v.Pool, v.At = crowd.PoolID(ids[i]+1), places[i]
		if rng.Float64() < tn.queues {
			v.Queue = 1 + rng.IntN(tn.longest)
		}
		v.Mu = []float64{0.5, 1.0 / 60}[rated] * (0.5 + rng.Float64())
		if trained > 0 {
			v.TrainingRate = v.Mu / (0.1 + 20*rng.Float64()*float64(trained-1))
		}
		busy := 0
		if rng.IntN(3) > 0 {
			busy = rng.IntN(5)
		}
		idle := 0
		if v.Queue == 0 || tn.mixed && rng.IntN(2) == 0 {
			if idle = tn.idle; !tn.fixed {
				idle = rng.IntN(tn.idle + 1)
			}
		}
		v.Busy, v.Workers = busy, busy+idle
		v.OnDuty = v.Workers
		if trained > 0 && rng.IntN(4) == 0 {
			v.OnDuty += rng.IntN(4)
		}
		if tn.keep {
			v.Min = rng.IntN(3)
			v.CStar = rng.IntN(v.Workers + 2)
		}
		for range idle {
			person++
			p := pool.Person{ID: crowd.WorkerID(person)}
			if likes > 0 {
				p.Prefers = preferences(rng, n, likes)
			}
			if knowing > 0 {
				for range n {
					p.Knows = append(p.Knows, rng.IntN(2) < knowing-rng.IntN(2))
				}
			}
			v.Idle = append(v.Idle, p)
			v.Preference += p.PrefersAt(v.At)
		}
		v.Preference += 0.5 * float64(v.OnDuty-idle)
	}
	// Ids and the order of the idle have nothing to do with each other.
	perm := rng.Perm(2 * (person + 1))
	for i := range views {
		for k := range views[i].Idle {
			views[i].Idle[k].ID = crowd.WorkerID(perm[views[i].Idle[k].ID] + 1)
		}
	}
	return views
}

// preferences are uniform as in section 6.1 of the paper, uniform and made to sum
// to 1, or only 0, 1/2 and 1, so that there are many ties.
func preferences(rng *rand.Rand, n, likes int) []float64 {
	p, sum := make([]float64, n), 0.0
	for i := range p {
		p[i] = rng.Float64()
		if likes == 2 {
			p[i] = float64(rng.IntN(3)) / 2
		}
		sum += p[i]
	}
	if likes == 3 {
		for i := range p {
			p[i] /= sum
		}
	}
	return p
}

// shuffled is the same town with pools, idle people and places in another order.
func shuffled(rng *rand.Rand, views []pool.BalanceView) []pool.BalanceView {
	places := rng.Perm(len(views))
	other := slices.Clone(views)
	for i := range other {
		v := &other[i]
		v.At = places[v.At]
		v.Idle = slices.Clone(v.Idle)
		for k := range v.Idle {
			p := &v.Idle[k]
			likes, knows := slices.Clone(p.Prefers), slices.Clone(p.Knows)
			for at, to := range places {
				if likes != nil {
					likes[to] = p.Prefers[at]
				}
				if knows != nil {
					knows[to] = p.Knows[at]
				}
			}
			p.Prefers, p.Knows = likes, knows
		}
		rng.Shuffle(len(v.Idle), func(a, b int) { v.Idle[a], v.Idle[b] = v.Idle[b], v.Idle[a] })
	}
	rng.Shuffle(len(other), func(a, b int) { other[a], other[b] = other[b], other[a] })
	return other
}

// towns calls check with generated towns, and fails unless enough of them gave
// something to look at.
func towns(t *testing.T, n, least int, check func(t *testing.T, rng *rand.Rand, views []pool.BalanceView) (seen int)) {
	t.Helper()
	seen := 0
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 12))
		kinds := []town{
			{pools: 4, idle: 3, queues: 0.5, longest: 30},
			{pools: 4, idle: 3, queues: 0.7, longest: 30, mixed: true},
			{pools: 6, idle: 8, queues: 0.5, longest: 300, keep: true},
			{pools: 9, idle: 30, queues: 0.8, longest: 3000, mixed: true, keep: true},
			{pools: 5, idle: 20, queues: 0.7, longest: 10, mixed: true},
		}
		kind := kinds[seed%uint64(len(kinds))]
		views := kind.draw(rng)
		seen += check(t, rng, views)
		if t.Failed() {
			t.Fatalf("seed %d, %+v", seed, kind)
		}
	}
	if seen < least {
		t.Errorf("saw only %d, wanted %d", seen, least)
	}
}

// room is how many the pool may let go.
func room(v *pool.BalanceView, cStar bool) int {
	most := min(len(v.Idle), v.Workers, v.OnDuty-v.Min)
	if cStar && v.CStar > 0 {
		most = min(most, v.Workers-v.CStar)
	}
	return max(0, most)
}

// A stream counts what is drawn.
type stream struct {
	*rand.Rand
	drawn int
}

func (s *stream) Float64() float64 { s.drawn++; return s.Rand.Float64() }

func describe(views []pool.BalanceView) string {
	text := ""
	for i := range views {
		text += fmt.Sprintf("%+v\n", views[i])
	}
	return text
}
