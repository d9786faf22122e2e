package orchestrator

import (
	"context"
	"time"

	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// notKnown is a time that nobody can tell before somebody has done something.
const notKnown time.Duration = -1

// later returns the longer of two times; a time that is not known is longer than any other.
func later(x, y time.Duration) time.Duration {
	if x == notKnown || y == notKnown {
		return notKnown
	}
	return max(x, y)
}

// after returns how long it takes if one time follows on another one.
func after(x, y time.Duration) time.Duration {
	if x == notKnown || y == notKnown {
		return notKnown
	}
	return x + y
}

// rests returns, by node, how long it takes at least until the node is done with what is in the
// run: 0 if nothing is left. It is notKnown before an input that takes rows, or what a step holds,
// is dealt with, and while a step has enough, which ends when those at work let it.
func (v *View) rests() []time.Duration {
	rests := make([]time.Duration, len(v.Nodes))
	for i := range v.Nodes {
		n := &v.Nodes[i]
		switch {
		case v.OpenInput(i) || n.Faults > 0 || n.HasEnough():
			rests[i] = notKnown
			continue
		case n.Step == nil || n.State == store.NodeDone:
			continue
		case n.Waiting+n.Going() > 0:
			rests[i] = n.adds()
		}
		for _, from := range n.Step.From {
			if rest := rests[from.Node]; rest != 0 {
				rests[i] = later(rests[i], after(rest, n.adds()))
			}
		}
	}
	return rests
}

// earliest tells when items end if nothing has to queue.
type earliest struct {
	run   *run
	view  *View
	rests []time.Duration
	waits map[int64]bool // items that wait at a step for something that nobody can tell when it comes
}

// end is when an item has left all of its branches; zero: not known. A step that takes nothing
// of a source before all of it is there takes the item no sooner.
func (e *earliest) end(ctx context.Context, item int64) (time.Time, error) {
	r := e.run
	list, err := r.o.cfg.Store.ItemRows(ctx, r.kept.ID, item)
	if err != nil {
		return time.Time{}, err
	}
	rows := make(map[int]store.RowState, len(list))
	for _, row := range list {
		if row.Item == item {
			rows[row.Node] = row.State
		}
	}
	comes := make([]bool, len(r.nodes)) // the item has been there, or comes there
	takes := make([]bool, len(r.nodes)) // and is not passed on only
	at := make([]time.Duration, len(r.nodes))
	last, now := time.Duration(0), r.o.now()
	for i, n := range r.nodes {
		if state, ok := rows[i]; ok {
			comes[i], takes[i] = true, state == store.RowOK
			continue
		}
		some, all := false, true
		for _, j := range n.joined {
			src := n.step.From[j]
			if !comes[src.Node] {
				continue
			}
			comes[i], some, all = true, some || takes[src.Node], all && takes[src.Node]
			at[i] = later(at[i], at[src.Node])
			if src.Edge == workflow.Batch {
				at[i] = later(at[i], e.rests[src.Node])
			}
		}
		if !comes[i] {
			continue
		}
		next := r.o.nextTry(nodeKey{r.kept.ID, n.Node.Node}, item).Sub(now)
		at[i] = later(at[i], max(next, 0))
		if e.view.Nodes[i].HasEnough() {
			at[i] = notKnown // until those at work have finished
		}
		if takes[i] = n.takes(some, all); takes[i] {
			at[i] = after(at[i], n.adds())
			last = later(last, after(at[i], n.tail))
		} else {
			last = later(last, at[i])
		}
	}
	if last == notKnown {
		return time.Time{}, nil
	}
	return now.Add(last), nil
}
