package control

import (
	"fmt"
	"slices"

	"github.com/throng-dev/throng/pool"
	"github.com/throng-dev/throng/sched"
)

// Notes says which of the pool's settings do nothing, as the others are.
func (v *PoolView) Notes() (list []string) {
	if sched.IgnoresReward(v.Policy) {
		list = append(list, "the policy within by-reward looks at no priority, so the reward decides nothing; by-reward(wfs) shares people by it")
	}
	if g := v.GateNow; g.On && g.Min > v.Belong && !v.Control.Balance {
		list = append(list, fmt.Sprintf("the gate opens with %d people, and the pool has %d: work begins when it has more", g.Min, v.Belong))
	}
	if v.Retainer.Called {
		return list
	}
	switch c := &v.Control; {
	case c.Elasticity == "" || c.Elasticity == "static":
	case c.Elasticity != "rules":
		list = append(list, "the pool is open, so "+c.Elasticity+" calls nobody and lets nobody go, until it calls its people")
	case slices.ContainsFunc(c.Rules, pool.Rule.Sizes):
		list = append(list, "the pool is open, so rules that recruit or release do nothing, until it calls its people")
	}
	if text := v.Control.Stability; text != "" && text != "none" {
		list = append(list, "the pool is open, so "+text+" replaces nobody who leaves, until it calls its people")
	}
	return list
}
