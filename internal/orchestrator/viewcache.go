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
	sync.Mutex
	flows       map[flowKey]*workflow.Workflow
	handedOn    map[edge]int64 // up to which row of its source a step has handed on all
	predictions map[crowd.RunID]prediction
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
	cost  crowd.Money
	going int64
}

// How many entries of each kind are remembered. When there are more, all are
// forgotten.
const (
	maxFlows = 100
	maxEdges = 10_000
)

func (v *viewCache) init() {
	v.flows = make(map[flowKey]*workflow.Workflow)
	v.handedOn = make(map[edge]int64)
	v.predictions = make(map[crowd.RunID]prediction)
}

// workflow reads the file of a run. Files that did not fit it are left out.
func (o *Orchestrator) workflow(ctx context.Context, kept *store.Run, nodes []store.Node) (*workflow.Workflow, error) {
	files := filesOf(nodes)
	if kept.State == store.RunLoading || len(files) == 0 {
		files = nil
	}
	key := flowKey{kept.ID, len(files)}
	o.views.Lock()
	w := o.views.flows[key]
	o.views.Unlock()
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
	setDeadline(w, kept)
	o.views.Lock()
	defer o.views.Unlock()
	if len(o.views.flows) >= maxFlows {
		clear(o.views.flows)
	}
	o.views.flows[key] = w
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
	v, e := &r.o.views, edge{r.kept.ID, from, to}
	v.Lock()
	done := v.handedOn[e]
	v.Unlock()
	last := r.nodes[from].Last
	rows, err := r.o.cfg.Store.Pending(ctx, r.kept.ID, from, max(after, done), last, to, chunkRows)
	if err != nil || after > done {
		return rows, err
	}
	if done = last; len(rows) > 0 {
		done = rows[0].N - 1
	}
	v.Lock()
	defer v.Unlock()
	if len(v.handedOn) >= maxEdges {
		clear(v.handedOn)
	}
	v.handedOn[e] = max(v.handedOn[e], done)
	return rows, nil
}
