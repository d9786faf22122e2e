package orchestrator

import (
	"context"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// viewCache remembers what is expensive to compute for views of runs.
type viewCache struct {
	flows       cache[flowKey, *workflow.Workflow]
	handedOn    cache[edge, int64] // up to which row of its source a step has handed on all
	predictions cache[crowd.RunID, prediction]
	splits      cache[nodeKey, split]
}

// How many entries of each kind are remembered.
const (
	maxFlows       = 100
	maxEdges       = 10_000
	maxPredictions = 10_000
)

// cache remembers values by their keys. When there are too many, all are forgotten.
type cache[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
}

func (c *cache[K, V]) get(k K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.values[k]
	return v, ok
}

func (c *cache[K, V]) put(k K, v V, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values == nil || len(c.values) >= most {
		c.values = make(map[K]V)
	}
	c.values[k] = v
}

// flowKey names a run's workflow as it was read, by how many of its files were
// known.
type flowKey struct {
	run   crowd.RunID
	files int
}

// edge is one source of a step, by numbers of nodes.
type edge struct {
	run      crowd.RunID
	from, to int
}

// prediction is what was predicted of a run.
type prediction struct {
	at    time.Time
	rows  int64 // made and ended until then
	known bool  // when what is on its way is done
	ended store.ClassCount
	Foreseen
	classes []ClassView
}

// workflow reads the file of a run. Files that did not fit it are left out.
func (o *Orchestrator) workflow(ctx context.Context, kept *store.Run, nodes []store.Node) (*workflow.Workflow, error) {
	files := filesOf(nodes)
	if kept.State == store.RunLoading || len(files) == 0 {
		files = nil
	}
	key := flowKey{kept.ID, len(files)}
	if w, ok := o.views.flows.get(key); ok {
		return w, nil
	}
	w, problems, err := Parse(ctx, kept.Text, files, time.Time{})
	if err == nil && len(problems) > 0 {
		w, problems, err = Parse(ctx, kept.Text, nil, time.Time{})
	}
	switch {
	case err != nil:
		return nil, err
	case len(problems) > 0:
		return nil, Problems(problems)
	}
	if kept.State == store.RunLoading {
		return w, nil
	}
	setDeadline(w, kept)
	o.views.flows.put(key, w, maxFlows)
	return w, nil
}

// setDeadline counts the deadline of a run from its start.
func setDeadline(w *workflow.Workflow, kept *store.Run) {
	if s := w.SLA; s != nil && !s.Deadline.IsZero() {
		s.Penalty.After = max(s.Deadline.Sub(kept.StartedAt), 0)
	}
}

// pendingRows returns up to a chunk of rows of a source above number after that a
// step has not handed on, in order. The rows before the first of them are not
// searched again.
func (r *run) pendingRows(ctx context.Context, from, to int, after int64) ([]store.Row, error) {
	known, e := &r.o.views.handedOn, edge{r.kept.ID, from, to}
	done, _ := known.get(e)
	last := r.nodes[from].Last
	if max(after, done) >= last {
		return nil, nil
	}
	rows, err := r.o.cfg.Store.Pending(ctx, store.LogPart{Run: r.kept.ID, Node: from, After: max(after, done), Last: last}, to, chunkRows)
	if err != nil || after > done {
		return rows, err
	}
	if done = last; len(rows) > 0 {
		done = rows[0].N - 1
	}
	known.put(e, done, maxEdges) // a slower reader may put back an earlier one, which is as true
	return rows, nil
}

// split is what a step that splits items has made in the first rows of its log.
type split struct {
	rows  int64 // the first rows
	made  int64 // of those, new items
	items int64 // that the new ones were made from
}

// countSplit counts what a step has made of items that became several. Each of these
// has a row without cells in the step's log, too, as one that was skipped. Only rows
// that are new since the last view are read.
func (r *run) countSplit(ctx context.Context, n *node) (split, error) {
	if !n.mayMultiply() || n.Skipped == 0 {
		return split{}, nil
	}
	key := nodeKey{r.kept.ID, n.Node.Node}
	s, _ := r.o.views.splits.get(key)
	if s.rows >= n.Last {
		return s, nil
	}
	made, items, err := r.o.cfg.Store.Split(ctx, store.LogPart{Run: r.kept.ID, Node: n.Node.Node, After: s.rows, Last: n.Last}, n.step.From[n.joined[0]].Node)
	if err == nil {
		s = split{n.Last, s.made + made, s.items + items}
		r.o.views.splits.put(key, s, maxEdges)
	}
	return s, err
}
