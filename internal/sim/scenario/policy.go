package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/similarity"
	"github.com/throng-dev/throng/internal/kit/textform"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/sched"
)

// market is the policy that exists only in simulation.
const market = "market"

// policyNames are the names of all policies that a scenario may run.
func policyNames() []string {
	var names []string
	for _, form := range sched.Names() {
		name, _, _ := strings.Cut(form, "(")
		names = append(names, name)
	}
	return append(names, market)
}

// ParsePolicy makes a policy of a text form. Where the text names a policy that
// there is not, the error says which is meant.
func ParsePolicy(text string) (sched.Policy, error) {
	p, err := sim.ParsePolicy(text)
	if err == nil {
		return p, nil
	}
	if strings.TrimSpace(text) == "" {
		return nil, crowd.Fieldf("policy", "there is nothing where a policy should be (known: %s)", known())
	}
	names := policyNames()
	form, _ := textform.Parse(text, len(text))
	for i, name := range form.Names() {
		switch {
		case name == market && i > 0:
			return nil, crowd.Fieldf("policy", "market cannot be within another policy: in a market nobody decides, people pick for themselves")
		case slices.Contains(names, name):
		default:
			return nil, crowd.Fieldf("policy", "there is no policy %q%s (known: %s)", name, similarity.DidYouMean(name, names), known())
		}
	}
	return nil, err
}

// ParseHandsOut makes a policy of a text form, of those that a pool may have. A workflow under
// load runs these: as live, tasks are handed out, so there is no market.
func ParseHandsOut(text string) (sched.Policy, error) {
	form, _ := textform.Parse(text, len(text))
	if form != nil && slices.Contains(form.Names(), market) {
		return nil, crowd.Fieldf("policy", "market is a policy of scenarios alone (throng sim run), in which people pick for themselves (known: %s)", strings.Join(sched.Names(), ", "))
	}
	return sched.Parse(text)
}

func known() string { return fmt.Sprintf("%s, %s", strings.Join(sched.Names(), ", "), market) }
