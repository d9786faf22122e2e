package orchestrator

import (
	"context"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/sla"
)

// forecastEvery is how often expected times are updated.
const forecastEvery = 5 * time.Second

// path is what an item has before it at a step, and after it.
type path struct {
	expect time.Duration // for one item that the step deals with
	tail   time.Duration // from the item's row here to the end of its path
	// closed says that what comes to the step now is not dealt with and goes no further: it has
	// had enough or was ended, or has enough while people still hold tasks of it.
	closed bool
}

// adds is how long a step still holds up an item that comes to it now.
func (p *path) adds() time.Duration {
	if p.closed {
		return 0
	}
	return p.expect
}

// walk is the way of an item from where it is now, by node.
type walk struct {
	comes []bool          // to the node
	takes []bool          // the node deals with it, and does not only pass it on
	at    []time.Duration // it has left the node, from now on
}

// walkFrom returns the way of an item that leaves these nodes now. Of other nodes it is taken that the
// item comes through them.
func (r *run) walkFrom(start ...int) walk {
	w := walk{make([]bool, len(r.nodes)), make([]bool, len(r.nodes)), make([]time.Duration, len(r.nodes))}
	for _, i := range start {
		w.comes[i], w.takes[i] = true, true
	}
	for i, n := range r.nodes {
		if n.step == nil || w.comes[i] {
			continue
		}
		some, all := false, true
		for _, from := range n.step.From {
			if j := from.Node; w.comes[j] {
				w.comes[i], some, all = true, some || w.takes[j], all && w.takes[j]
				w.at[i] = max(w.at[i], w.at[j])
			}
		}
		if w.takes[i] = n.takes(some, all); w.takes[i] {
			w.at[i] += n.adds()
		}
	}
	return w
}

// takes reports whether a step deals with an item that has come through some or all of the steps
// before it.
func (n *node) takes(some, all bool) bool {
	return !n.closed && some && (all || n.step.Join != workflow.JoinAll)
}

// forecast computes, from how long steps take, how long items take to the end of
// their paths, and how much of people's time.
func (r *run) forecast() {
	first := len(r.flow.Inputs)
	whole := r.walkFrom(lists.Indices(first)...)
	ways := make([]walk, len(r.nodes))
	for i := first; i < len(r.nodes); i++ {
		ways[i] = r.walkFrom(i)
		r.nodes[i].tail = slices.Max(ways[i].at)
	}
	for i := first; i < len(r.nodes); i++ {
		n := r.nodes[i]
		n.otherBranches, n.work = 0, 0
		for j := first; j < len(r.nodes); j++ {
			other := r.nodes[j]
			switch {
			case ways[i].takes[j] && i != j:
				n.work += time.Duration(min(other.share()/n.share(), 1) * float64(other.people))
			case !ways[i].comes[j] && !ways[j].comes[i]:
				end := whole.at[j]
				if whole.takes[j] {
					end += other.tail
				}
				n.otherBranches = max(n.otherBranches, end)
			}
		}
		n.work = min(n.work, engine.MaxWork)
	}
}

// lookAhead forecasts by what a view has found of the run's steps, and has it in the view.
func (r *run) lookAhead(v *View) {
	for i, n := range r.nodes {
		n.closed = v.Nodes[i].asksNobody() || v.Nodes[i].HasEnough()
	}
	r.forecast()
	for i, n := range r.nodes {
		v.Nodes[i].path = n.path
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
