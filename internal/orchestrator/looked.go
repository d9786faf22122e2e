package orchestrator

import (
	"context"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// looked remembers what is dear to find out for those who look at runs.
type looked struct {
	sync.Mutex
	flows map[flowKey]*workflow.Workflow
	done  map[edge]int64 // up to which row of its source a step has handed on all
}

// flowKey names a run's workflow as it was read: without its files, or with them.
type flowKey struct {
	run   crowd.RunID
	files int
}

// edge is one source of a step.
type edge struct {
	run      crowd.RunID
	from, to int
}

// How much is remembered; when it is more, it begins anew.
const (
	mostFlows = 100
	mostEdges = 10_000
)

// workflow reads the file of a run. Files that did not fit it are left out.
func (c *Orchestrator) workflow(ctx context.Context, kept *store.Run, nodes []store.Node) (*workflow.Workflow, error) {
	files := filesOf(nodes)
	if kept.State == store.RunLoading || len(files) == 0 {
		files = nil
	}
	key := flowKey{kept.ID, len(files)}
	c.looked.Lock()
	w := c.looked.flows[key]
	c.looked.Unlock()
	if w != nil {
		return w, nil
	}
	w, problems := Parse(ctx, kept.Text, files, time.Time{})
	if len(problems) > 0 {
		if w, problems = Parse(ctx, kept.Text, nil, time.Time{}); len(problems) > 0 {
			return nil, Problems(problems)
		}
	}
	if kept.State == store.RunLoading {
		return w, nil
	}
	since(w, kept)
	c.looked.Lock()
	defer c.looked.Unlock()
	if c.looked.flows == nil || len(c.looked.flows) >= mostFlows {
		c.looked.flows = make(map[flowKey]*workflow.Workflow)
	}
	c.looked.flows[key] = w
	return w, nil
}

// since counts the deadline of a run from its start.
func since(w *workflow.Workflow, kept *store.Run) {
	if s := w.SLA; s != nil && !s.Deadline.IsZero() {
		s.Penalty.After = max(s.Deadline.Sub(kept.StartedAt), 0)
	}
}

// going returns up to a chunk of rows of a source after number n that a step has
// not handed on, in order. What it has handed on from the first row on is not
// looked at again.
func (r *run) going(ctx context.Context, from, to int, after int64) ([]store.Row, error) {
	l, e := &r.c.looked, edge{r.kept.ID, from, to}
	l.Lock()
	done := l.done[e]
	l.Unlock()
	last := r.nodes[from].Last
	rows, err := r.c.cfg.Store.Pending(ctx, r.kept.ID, from, max(after, done), last, to, chunk)
	if err != nil || after > done {
		return rows, err
	}
	if done = last; len(rows) > 0 {
		done = rows[0].N - 1
	}
	l.Lock()
	defer l.Unlock()
	if l.done == nil || len(l.done) >= mostEdges {
		l.done = make(map[edge]int64)
	}
	l.done[e] = max(l.done[e], done)
	return rows, nil
}
