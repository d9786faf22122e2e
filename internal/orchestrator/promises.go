package orchestrator

import (
	"context"
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/sched"
)

// Unkept has a sentence for each pool of a workflow with an SLA whose policy does not look
// at the SLA when it chooses between batches. A pool that does not exist is left out: the
// step that names it fails, which says more.
func (o *Orchestrator) Unkept(ctx context.Context, w *workflow.Workflow) ([]string, error) {
	if w == nil || w.SLA == nil {
		return nil, nil
	}
	var list []string
	said := make(map[crowd.PoolID]bool)
	for i := range w.Steps {
		c := w.Steps[i].Crowd()
		if c == nil {
			continue
		}
		id, err := o.cfg.Crowd.Pool(ctx, c.Pool)
		if err != nil || said[id] {
			continue
		}
		said[id] = true
		pool, err := o.cfg.Store.Pool(ctx, id)
		if err != nil {
			return nil, err
		}
		if !sched.KeepsPromises(pool.Policy) {
			list = append(list, fmt.Sprintf("the policy of the pool %s, %s, does not look at the sla when it chooses between batches; one with penalty does, as %s", pool.Name, pool.Policy, sched.Default))
		}
	}
	return list, nil
}
