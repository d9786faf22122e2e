package orchestrator

import (
	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/workflow"
)

// Able compares the people whose answers a step wants with those of its pool who may
// give them, when the steps before whose people must not do it have had theirs.
func Able(e *engine.Engine, tenant crowd.TenantID, step *workflow.Crowd) engine.Crowd {
	c := e.Able(tenant, step.Redundancy.Fewest(), step.Requirements)
	c.NotBy = step.NotBy
	var others []engine.Asked
	for _, other := range step.Others {
		if other.Pool == step.Pool {
			others = append(others, engine.Asked{Wanted: other.Redundancy.Fewest(), Requires: other.Requirements})
		}
	}
	return e.Leaves(c, tenant, step.Requirements, others)
}
