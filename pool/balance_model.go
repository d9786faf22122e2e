package pool

import (
	"slices"

	"github.com/throng-dev/throng/internal/kit/lists"
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

func (p *balancePool) backlogOf(wait float64) float64 { return float64(p.Queue) * p.finite(wait) / 2 }

// finite is a wait that can be added up.
func (p *balancePool) finite(wait float64) float64 {
	if wait == infinite {
		return p.stall()
	}
	return wait
}

// people returns how many are on duty in all pools, at least 1.
func people(pools []balancePool) float64 {
	return float64(max(lists.Sum(pools, func(p balancePool) int { return max(p.OnDuty, len(p.Idle)) }), 1))
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

	utilityWaiting  utility = "waiting"
	utilityClearing utility = "clearing"
)

// The utilities of paper and of search, each with its default first.
var (
	utilities  = []string{string(utilityMedian), string(utilityMean), string(utilityMax), string(utilitySum)}
	objectives = []string{string(utilityWaiting), string(utilityClearing)}
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
	sum := lists.Sum(w, func(x float64) float64 { return x })
	if u == utilityMean {
		sum /= float64(len(w))
	}
	return sum
}
