package pool

import (
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/queueing"
)

// wait returns E[W] of the pool (the paper's equation 4) when out people leave,
// ready ones come who know the work, and fresh ones who must learn it: 0 without
// a queue, +Inf with one that nobody works at or where Mu is not known.
//
// The paper has no people who know the work, and none who are still in training
// from a step before. Here the former work at once, and the latter are in the
// same phase as the fresh ones: exponential training forgets how long it has
// lasted.
func (p *balancePool) wait(out, ready, fresh int) float64 {
	workers, newcomers := p.Workers-out+ready, p.training+fresh
	switch {
	case p.Queue == 0:
		return 0
	case p.Mu <= 0:
		return infinite
	case p.TrainingRate <= 0:
		return queueing.ClearTime(p.Queue, workers+newcomers, p.Mu)
	}
	return queueing.ClearTimeTraining(p.Queue, workers, newcomers, p.Mu, p.TrainingRate)
}

// stall is what takes the place of an infinite wait where waits are added up:
// twice what the pool would take with one newcomer. So the first person to come
// is always worth it, the next one less.
func (p *balancePool) stall() float64 {
	if p.TrainingRate <= 0 {
		return 2 * queueing.ClearTime(p.Queue, 1, p.Mu)
	}
	return 2 * queueing.ClearTimeTraining(p.Queue, 0, 1, p.Mu, p.TrainingRate)
}

// backlog returns L·W/2: how long the tasks in the queue wait together, if it
// empties evenly, in task-seconds. A pool whose Mu is not known counts nothing.
func (p *balancePool) backlog(out, ready, fresh int) float64 {
	if !p.wants() {
		return 0
	}
	return p.backlogOf(p.wait(out, ready, fresh))
}

func (p *balancePool) backlogOf(wait float64) float64 {
	if wait == infinite {
		wait = p.stall()
	}
	return float64(p.Queue) * wait / 2
}

// people returns how many are on duty in all pools, at least 1.
func people(pools []balancePool) float64 {
	n := 0
	for i := range pools {
		n += max(pools[i].OnDuty, len(pools[i].Idle))
	}
	return float64(max(n, 1))
}

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

// weighted is weight times x, and 0 for no weight, even of what is infinite.
func weighted(weight, x float64) float64 {
	if weight == 0 {
		return 0
	}
	return weight * x
}

// A utility makes one number of the clearing times; less is better.
type utility string

const (
	utilityMedian utility = "median"
	utilityMean   utility = "mean"
	utilityMax    utility = "max"
	utilitySum    utility = "sum"
)

// of returns the utility of w, of which there is at least one. It sorts w.
func (u utility) of(w []float64) float64 {
	if len(w) == 0 {
		return 0
	}
	slices.Sort(w)
	if u == utilityMax {
		return w[len(w)-1]
	}
	if u == utilityMedian {
		low, high := w[(len(w)-1)/2], w[len(w)/2]
		return (low + high) / 2
	}
	sum := 0.0
	for _, x := range w {
		sum += x
	}
	if u == utilityMean {
		sum /= float64(len(w))
	}
	return sum
}
