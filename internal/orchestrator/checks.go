package orchestrator

import (
	"context"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/pages"
	"github.com/throng-dev/throng/internal/store"
)

// isCheck reports whether people are checked with a task of a batch, of which its pool knows.
func isCheck(b *store.Batch, t *store.Task) bool {
	return b.Spec.Checks != nil && t.Gold != "" && t.ID.N() <= b.Progress.Tasks
}

// checkedBy is who answered the tasks that people were checked with.
type checkedBy map[crowd.TaskID][]crowd.WorkerID

// of returns who answered a task, in order of id; not nil.
func (c checkedBy) of(id crowd.TaskID) []crowd.WorkerID {
	by := append([]crowd.WorkerID{}, c[id]...)
	slices.Sort(by)
	return slices.Compact(by)
}

// whoWasChecked reads who answered the tasks of the step's batch that have not gone on.
func (s *crowdRunner) whoWasChecked(ctx context.Context) (checkedBy, error) {
	st, id := s.run.o.cfg.Store, s.node.Batch
	by := make(checkedBy)
	staying := pages.All(chunkRows, func(after int64, limit int) ([]store.Task, error) {
		return st.Staying(ctx, id, uint32(after), limit)
	}, func(t *store.Task) int64 { return int64(t.ID.N()) })
	for t, err := range staying {
		if err != nil {
			return nil, err
		}
		if t.Gold != "" {
			by[t.ID] = nil
		}
	}
	for a, err := range st.Answers(ctx, s.run.kept.Tenant, id) {
		if err != nil {
			return nil, err
		}
		if list, is := by[a.Task]; is {
			by[a.Task] = append(list, a.Worker)
		}
	}
	return by, nil
}

// checkItems returns those items with which a step's people are checked that have been there for
// the longest: all of a chunk of its tasks that have not gone on.
func (r *run) checkItems(ctx context.Context, n *node) (map[int64]bool, error) {
	if c := n.step.Crowd(); c == nil || c.Checks == nil || n.Batch == 0 {
		return nil, nil
	}
	b, err := r.o.cfg.Store.Batch(ctx, 0, n.Batch)
	if err != nil {
		return nil, err
	}
	tasks, err := r.o.cfg.Store.Staying(ctx, n.Batch, 0, chunkRows)
	checks := make(map[int64]bool)
	for i := range tasks {
		if isCheck(&b, &tasks[i]) {
			checks[tasks[i].Item] = true
		}
	}
	return checks, err
}
