package pool

import (
	"cmp"
	"slices"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// paperBalance is Algorithm 1 of the paper with the search heuristics of its
// section 5.4. Where the paper leaves something open, this is how it is read:
//
//   - Which subsets of the idle people are looked at: the first s, for s = 0 to
//     cap, of those who may leave, in the order of how much better they like the
//     pool with a queue that they like best (ties by id). Of a pool that must keep
//     its Min, only as many are in the order as may leave.
//   - The greedy assignment takes the people of a subset in that order, so the one
//     of s people is that of s-1 people and one more. Ties between destinations go
//     to the one that the person prefers, then to the lower id.
//   - In equation 4 everybody who comes must be trained, whatever they know. Those
//     who are in training already are newcomers in equation 4, and workers in
//     equation 3, as a newcomer is once the heuristic has counted them.
//   - The score must be better than that of the sets before, the empty one first:
//     "if net_score > best_tset_score".
//
// The published score fails in four ways, which are kept as they are:
//
//   - As soon as more than half of the pools have no queue, the median of W is 0
//     and Perf infinite, for every set. Two infinite scores are compared by what
//     they would be for the same small median, so by the preferences alone: help
//     is sent where people like to go, or not at all, however long the queues are.
//   - The median does not move when the longest of the queues gets shorter. So
//     help often goes to a middling queue, or nobody is seen to be worth it.
//   - H has no unit, W is in seconds and Perf per second. The greedy heuristic
//     weighs p ≤ 1 against seconds, so it goes by the seconds alone; the score
//     weighs H, which grows with the number of people, against a Perf far below 1,
//     so it goes by the preferences alone.
//   - E[W] of the heuristic (equation 3) knows no training.
type paperBalance struct {
	omega   float64
	cap     int // 0: none
	utility utility
	name    string
}

// Name implements Balancer.
func (b *paperBalance) Name() string { return b.name }

func (b *paperBalance) hinders(_, to *balancePool, name func(*BalanceView) string) string {
	return to.unknownTime(name)
}

// Plan implements Balancer.
func (b *paperBalance) Plan(views []BalanceView, _ Random) []Move {
	pools := balancePools(views)
	var moves []Move
	preference := lists.Sum(pools, func(p balancePool) float64 { return p.Preference })
	w := make([]float64, len(pools))
	score := func(gained float64) paperScore {
		for i := range pools {
			w[i] = pools[i].wait(pools[i].out, 0, pools[i].fresh)
		}
		return b.score(preference+gained, b.utility.of(w))
	}
	if len(pools) == 0 {
		return nil
	}
	best, bestSize, gained := score(0), 0, 0.0
	for _, c := range b.order(pools) {
		from := &pools[c.own]
		to := b.destination(pools, c)
		from.out++
		to.fresh++
		gained += from.gain(c.who, to)
		moves = append(moves, Move{Worker: c.who.ID, From: from.Pool, To: to.Pool})
		if s := score(gained); s.compare(best) > 0 {
			best, bestSize = s, len(moves)
		}
	}
	return moves[:bestSize:bestSize]
}

// A paperScore is equation 6, with a Perf of 1/0 kept apart.
type paperScore struct {
	infinite bool    // Perf is, and weighs something
	rest     float64 // what is not infinite
}

func (b *paperBalance) score(preference, utility float64) paperScore {
	s := paperScore{rest: weighted(b.omega, preference)}
	if utility == 0 {
		s.infinite = b.omega < 1
		return s
	}
	s.rest += weighted(1-b.omega, 1/utility)
	return s
}

func (s paperScore) compare(t paperScore) int {
	switch {
	case s.infinite == t.infinite:
		return cmp.Compare(s.rest, t.rest)
	case s.infinite:
		return 1
	}
	return -1
}

// A candidate is somebody who may leave.
type candidate struct {
	who  *Person
	own  int     // their pool
	gain float64 // by how much better they like another pool with a queue, at best
}

func (c candidate) compare(d candidate) int {
	return cmp.Or(cmp.Compare(d.gain, c.gain), cmp.Compare(c.who.ID, d.who.ID))
}

// order returns who is looked at, at most cap people, most willing first.
func (b *paperBalance) order(pools []balancePool) []candidate {
	wanting := lists.Filter(lists.Indices(len(pools)), func(i int) bool { return pools[i].wants() && pools[i].takes(b) })
	var all []candidate
	for own := range pools {
		from := &pools[own]
		most := from.mayLeave()
		if b.cap > 0 {
			most = min(most, b.cap)
		}
		if most == 0 || len(wanting) == 0 || (len(wanting) == 1 && wanting[0] == own) {
			continue
		}
		first := len(all)
		for k := range from.Idle {
			who := &from.Idle[k]
			c := candidate{who: who, own: own, gain: -infinite}
			for _, i := range wanting {
				if i != own {
					c.gain = max(c.gain, who.PrefersAt(pools[i].At))
				}
			}
			c.gain -= who.PrefersAt(from.At)
			all = append(all, c)
		}
		slices.SortFunc(all[first:], candidate.compare)
		all = all[:min(len(all), first+most)]
	}
	slices.SortFunc(all, candidate.compare)
	if b.cap > 0 && len(all) > b.cap {
		all = all[:b.cap]
	}
	return all
}

// destination is the greedy heuristic of section 5.4: the pool with the largest
// ω·H + (1-ω)·E[W_i], where H differs between the pools only by the person's
// preference and E[W_i] is that of equation 3.
func (b *paperBalance) destination(pools []balancePool, c candidate) *balancePool {
	var best *balancePool
	var bestKey [3]float64
	for i := range pools {
		p := &pools[i]
		if i == c.own || !p.wants() || !p.takes(b) {
			continue
		}
		likes := c.who.PrefersAt(p.At)
		key := [3]float64{0, weighted(b.omega, likes), likes}
		if there := p.Workers + p.training - p.out + p.fresh; there <= 0 {
			key[0] = 1 - b.omega // an infinite wait
		} else {
			key[1] += weighted(1-b.omega, float64(p.Queue)/float64(there)/p.Mu)
		}
		if best == nil || slices.Compare(key[:], bestKey[:]) > 0 {
			best, bestKey = p, key
		}
	}
	return best
}

var _ Balancer = (*paperBalance)(nil)
