package orchestrator

import (
	"context"
	"time"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/sla"
)

// forecastEvery is how often expected times are updated.
const forecastEvery = 5 * time.Second

// forecast computes, from how long steps take, how long items take to the end of
// their paths, and how much of people's time.
func (r *run) forecast() {
	first := len(r.flow.Inputs)
	expect := make([]time.Duration, len(r.flow.Steps))
	for i := range expect {
		expect[i] = r.nodes[first+i].expect
	}
	tails := r.plan.Tails(expect)
	heads := make([]time.Duration, len(expect)) // from the start to the end of each step
	before := make([][]bool, len(expect))       // the steps before each step
	for i := range expect {
		before[i] = make([]bool, len(expect))
		for _, j := range r.plan.After(i) {
			heads[i] = max(heads[i], heads[j])
			before[i][j] = true
			for k, is := range before[j] {
				before[i][k] = before[i][k] || is
			}
		}
		heads[i] += expect[i]
	}
	for i := range expect {
		n := r.nodes[first+i]
		n.tail, n.otherBranches = tails[i], 0
		for j := range expect {
			if i != j && !before[i][j] && !before[j][i] {
				n.otherBranches = max(n.otherBranches, heads[j]+tails[j])
			}
		}
		n.work = 0
		for j := range expect {
			if later := r.nodes[first+j]; before[j][i] {
				n.work += time.Duration(min(later.share()/n.share(), 1) * float64(later.people))
			}
		}
		n.work = min(n.work, engine.MaxWork)
	}
}

// share is the part of the items that a step takes, as observed, with five that it has
// taken before any was.
func (n *node) share() float64 {
	taken := 5 + float64(n.OK+n.Failed)
	return taken / (taken + float64(n.Skipped))
}

// proxyRequest returns a call's request to a scheduler proxy.
func (r *run) proxyRequest(x *call) sla.Request {
	n := x.runner.node
	q := sla.Request{Since: x.since, Start: x.born, Tail: n.tail}
	if s := r.flow.SLA; s != nil {
		q.Penalty = s.Of(x.class)
		if !s.PerItem {
			q.Start = r.kept.StartedAt
		}
	}
	if n.otherBranches > 0 {
		q.Bound = q.Start.Add(n.otherBranches)
	}
	return q
}

// updateForecast observes how long steps take, and passes on what follows from it.
func (r *run) updateForecast(ctx context.Context) error {
	now := r.o.now()
	if r.flow.SLA == nil || now.Sub(r.forecastAt) < forecastEvery {
		return nil
	}
	r.forecastAt = now
	if err := r.eachRunner(func(s stepRunner) error { return s.observe(ctx) }); err != nil {
		return err
	}
	r.forecast()
	return r.eachRunner(func(s stepRunner) error { return s.sendRest(ctx) })
}

func (r *run) eachRunner(f func(stepRunner) error) error {
	for _, n := range r.nodes {
		if n.runner == nil {
			continue
		}
		if err := f(n.runner); err != nil {
			return err
		}
	}
	return nil
}

// hasMoved reports whether a figure has changed by more than a tenth.
func hasMoved(from, to time.Duration) bool { return to > from+from/10 || to < from-from/10 }
