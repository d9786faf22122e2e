package pool

import (
	"slices"

	"github.com/throng-dev/throng/crowd"
)

// An Evaluation tells what a set of moves would bring, in the paper's terms and
// in those of Throng's own search.
type Evaluation struct {
	// Preference is H (equation 5): the sum over all pools of the preferences of
	// the people on duty there after the moves.
	Preference float64
	// W has the expected time in which each pool's queue clears after the moves
	// (equation 4), in seconds, in the order of the views; +Inf where nobody works
	// at it. People who know the work need no training.
	W []float64
	// Perf is 1/median(W), per second; +Inf if the median is 0.
	Perf float64
	// Score is omega H + (1-omega) Perf (equation 6). H has no unit and Perf is
	// per second, so it changes with the unit of time.
	Score float64
	// Waiting is the sum of L·W/2, in task-seconds: what all that is queued will
	// wait. A pool with a queue and nobody counts twice what it would take with one
	// newcomer.
	Waiting float64
	// Value is what search maximises, from -1 to 1: omega times the change of the
	// mean preference of everybody on duty plus (1-omega) times the share of the
	// backlog's waiting that the moves save. It is 0 for no moves.
	Value float64
}

// Evaluate returns what the moves would bring, with omega from 0 to 1 as the
// weight of preferences. A move of somebody who is not idle in its From, or to a
// pool that is not among the views, counts for nothing.
//
// Source: sections 5.2 and 5.3 of the paper, equations 3 to 6.
func Evaluate(views []BalanceView, moves []Move, omega float64) Evaluation {
	pools := balancePools(views)
	find := func(id crowd.PoolID) *balancePool {
		for i := range pools {
			if pools[i].Pool == id {
				return &pools[i]
			}
		}
		return nil
	}
	idle := map[crowd.WorkerID]*Person{}
	where := map[crowd.WorkerID]crowd.PoolID{}
	for i := range pools {
		for k := range pools[i].Idle {
			idle[pools[i].Idle[k].ID] = &pools[i].Idle[k]
			where[pools[i].Idle[k].ID] = pools[i].Pool
		}
	}
	gained := 0.0
	for _, m := range moves {
		from, to, who := find(m.From), find(m.To), idle[m.Worker]
		if from == nil || to == nil || from == to || who == nil || where[m.Worker] != m.From {
			continue
		}
		delete(idle, m.Worker)
		gained += from.gain(who, to)
		from.out++
		if who.KnowsAt(to.At, from.At) {
			to.ready++
		} else {
			to.fresh++
		}
	}
	var e Evaluation
	before := 0.0
	for i := range views {
		p := find(views[i].Pool)
		e.W = append(e.W, p.wait(p.out, p.ready, p.fresh))
	}
	for i := range pools {
		p := &pools[i]
		e.Preference += p.Preference
		e.Waiting += p.backlog(p.out, p.ready, p.fresh)
		before += p.backlog(0, 0, 0)
	}
	e.Preference += gained
	e.Perf = 1 / utilityMedian.of(slices.Clone(e.W))
	e.Score = weighted(omega, e.Preference) + weighted(1-omega, e.Perf)
	e.Value = omega * gained / people(pools)
	if before > 0 {
		e.Value += (1 - omega) * (before - e.Waiting) / before
	}
	return e
}
