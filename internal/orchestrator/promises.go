package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/sched"
)

// KnownPools are those of a list.
func KnownPools(list []store.Pool) Known {
	names := lists.Map(list, func(x store.Pool) string { return x.Name })
	return func(name string) string {
		switch {
		case len(names) == 0 && name == "":
			return "there is no pool that this tenant may use: an administrator grants one (throng pool grant POOL --tenant NAME)"
		case name == "" || slices.Contains(names, name):
			return ""
		case len(names) == 0:
			return fmt.Sprintf("there is no pool %q that this tenant may use, nor any other: an administrator grants one (throng pool grant POOL --tenant NAME)", name)
		}
		return fmt.Sprintf("there is no pool %q that this tenant may use; there are %s", name, strings.Join(names, ", "))
	}
}

// Unkept has a sentence for each pool of a workflow with an SLA whose policy does not look
// at the SLA when it chooses between batches. Of pools that are not known, or do not
// exist, it says nothing: KnownPools does, and the step that names one fails.
func (o *Orchestrator) Unkept(ctx context.Context, w *workflow.Workflow, known func(*store.Pool) bool) ([]string, error) {
	if w == nil || w.SLA == nil {
		return nil, nil
	}
	pools, err := o.cfg.Store.ListPools(ctx)
	if err != nil {
		return nil, err
	}
	pools = lists.Filter(pools, func(p store.Pool) bool { return known(&p) })
	var list []string
	said := make(map[crowd.PoolID]bool)
	for i := range w.Steps {
		c := w.Steps[i].Crowd()
		if c == nil {
			continue
		}
		at := slices.IndexFunc(pools, func(p store.Pool) bool { return c.Pool == "" || c.Pool == p.Name })
		if at < 0 || said[pools[at].ID] {
			continue
		}
		pool := &pools[at]
		said[pool.ID] = true
		if !sched.KeepsPromises(pool.Policy) {
			list = append(list, fmt.Sprintf("the policy of the pool %s, %s, does not look at the sla when it chooses between batches; one with penalty does, as %s", pool.Name, pool.Policy, sched.Default))
		}
	}
	return list, nil
}
