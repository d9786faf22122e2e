package sla_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sla"
)

// A station takes some calls at a time, each for the same time, in the order of a queue.
type station struct {
	servers  int
	response time.Duration
}

// claims are of two classes: six of ten are expensive, and due later than the others.
var (
	expensiveClaim = &sla.Penalty{Kind: sla.Staged, After: 2 * time.Hour, Every: 30 * time.Minute, Cost: 20 * crowd.Unit}
	cheapClaim     = &sla.Penalty{Kind: sla.Staged, After: time.Hour, Every: time.Hour, Cost: 2 * crowd.Unit}
)

// cost is what claims cost that come at random for three hours, where the order looks ahead
// as long as the station needs for so many calls, and at least one response time.
func (s station) cost(perHour float64, calls int, seed uint64) (sum crowd.Money) {
	var (
		r       = rand.New(rand.NewPCG(seed, 1))
		start   = time.Unix(0, 0)
		now     = start
		next    = start
		q       = sla.NewQueue(sla.ATC, s.response)
		free    = make([]time.Time, s.servers)
		id      int64
		arrival = func() time.Time {
			return next.Add(time.Duration(r.ExpFloat64() / perHour * float64(time.Hour)))
		}
	)
	for i := range free {
		free[i] = start
	}
	q.SetLook(now, max(s.response, time.Duration(calls)*s.response/time.Duration(s.servers)))
	next = arrival()
	for coming := true; coming || q.Len() > 0; {
		first := 0
		for i := range free {
			if free[i].Before(free[first]) {
				first = i
			}
		}
		if coming && (q.Len() == 0 || !next.After(free[first])) {
			id++
			p := cheapClaim
			if r.Float64() < 0.6 {
				p = expensiveClaim
			}
			now = next
			q.Put(now, sla.Request{ID: id, Since: now, Start: now, Penalty: p})
			next = arrival()
			coming = next.Before(start.Add(3 * time.Hour))
			continue
		}
		if free[first].After(now) {
			now = free[first]
		}
		q.Advance(now)
		c, _, _ := q.Head()
		q.Drop(c.ID)
		free[first] = now.Add(s.response)
		sum += c.Penalty.At(free[first].Sub(c.Start))
	}
	return sum
}

// TestWhatALookCosts prints what claims of two classes cost by how far ahead their order
// looks, in calls. The table of ADR 26 is its own. Where many are late, the six calls that
// services look ahead cost no more than one response time, and at most a tenth more than the
// best of these looks.
func TestWhatALookCosts(t *testing.T) {
	const seeds = 40
	looks := []int{1, 2, 4, 6, 8, 12}
	t.Logf("%-22s %8s  looks %v", "takes", "an hour", looks)
	for _, s := range []station{{1, 5 * time.Minute}, {2, 10 * time.Minute}, {3, 15 * time.Minute}} {
		for _, perHour := range []float64{18, 24, 30} {
			cost := map[int]float64{}
			for _, look := range looks {
				for seed := range uint64(seeds) {
					cost[look] += float64(s.cost(perHour, look, seed)) / float64(crowd.Unit) / seeds
				}
			}
			row, best := "", cost[1]
			for _, look := range looks {
				row += fmt.Sprintf("  %.0f", cost[look])
				best = min(best, cost[look])
			}
			t.Logf("%d at a time, %-8s %10g %s", s.servers, s.response, perHour, row)
			if perHour < 24 {
				continue
			}
			if cost[6] > cost[1] || cost[6] > 1.1*best {
				t.Errorf("six calls ahead cost %.0f, one %.0f, the best %.0f", cost[6], cost[1], best)
			}
			if perHour == 30 && cost[6] > 0.6*cost[1] {
				t.Errorf("with most of them late six calls ahead cost %.0f, one %.0f", cost[6], cost[1])
			}
		}
	}
}
