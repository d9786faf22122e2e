package pool

import (
	"fmt"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// A hinderer is a Balancer that knows why its plan takes nobody more from one pool to
// another, both as they are after the plan; "": nothing but the plan itself.
type hinderer interface {
	hinders(from, to *balancePool, name func(*BalanceView) string) string
}

// tellNotLent says in the decisions of pools that balance why people stay idle while
// there is a queue in another pool: in that of a pool with a queue of the pool with the
// most idle people, and in theirs of the longest queue.
func (s *step) tellNotLent(pools []int) {
	if s.control.forGood {
		return
	}
	idle := make(map[int]int, len(pools))
	for _, i := range pools {
		idle[i] = s.leftIdle(i)
	}
	queue := func(i int) int { return s.readings[i].Queue - s.pools[i].in }
	for _, i := range pools {
		if n := queue(i); n > 0 {
			if from := greatest(pools, i, func(k int) int { return idle[k] }); from >= 0 {
				s.pools[i].d.Why = append(s.pools[i].d.Why, fmt.Sprintf("%s: %d idle in %s not lent: %s", s.balancer(i).Name(), idle[from], s.nameOf(from), s.hinders(from, i)))
			}
		}
		if idle[i] > 0 {
			if to := greatest(pools, i, queue); to >= 0 {
				s.pools[i].d.Why = append(s.pools[i].d.Why, fmt.Sprintf("%s: %d idle not lent to %s, with %d in the queue: %s", s.balancer(to).Name(), idle[i], s.nameOf(to), queue(to), s.hinders(i, to)))
			}
		}
	}
}

// greatest is the first of pools, but not of pool other, with the greatest n above 0; -1: none.
func greatest(pools []int, other int, n func(int) int) int {
	best := -1
	for _, i := range pools {
		if i != other && n(i) > 0 && (best < 0 || n(i) > n(best)) {
			best = i
		}
	}
	return best
}

// leftIdle is how many idle people of pool i have not moved, and have nothing to do there.
func (s *step) leftIdle(i int) int {
	r := &s.readings[i]
	return lists.Count(r.Idle, func(p Person) bool {
		return !s.moved[p.ID] && !p.Stays && (r.Queue == 0 || p.NoWork)
	})
}

// hinders says why nobody more goes from one pool to another.
func (s *step) hinders(from, to int) string {
	if why := s.pools[to].refuses(&s.readings[to], false, false); why != "" {
		return s.nameOf(to) + " " + why
	}
	views := []BalanceView{s.view(from), s.view(to)}
	if len(views[0].Idle) == 0 {
		return fmt.Sprintf("they came from another pool less than %s ago, and have had no task since", format.Duration(s.pools[from].settings.stay()))
	}
	may := func(p Person) bool {
		home, known := s.home(from, &p)
		return s.pools[from].gives(&s.readings[from], known && home != from, false)
	}
	if lists.Count(views[0].Idle, may) == 0 {
		return fmt.Sprintf("%s keeps at least %d people", s.nameOf(from), s.pools[from].settings.Min)
	}
	b := s.balancer(to)
	if x, ok := b.(hinderer); ok {
		pools := balancePools(views)
		f, t := &pools[0], &pools[1]
		if f.Pool != views[0].Pool {
			f, t = t, f
		}
		if why := x.hinders(f, t, func(v *BalanceView) string { return s.nameOf(v.At) }); why != "" {
			return why
		}
	}
	return "the plan of this step has nobody more"
}
