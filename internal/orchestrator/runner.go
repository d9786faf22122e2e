package orchestrator

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/workflow"
)

// stepRunner carries out one step of a run. A kind of step is one implementation
// in a file of its own, and one line in the table runners. Its methods are called
// under the orchestrator's lock.
type stepRunner interface {
	// advance moves the step on by what has come to it. It reports whether there
	// is more to do at once.
	advance(ctx context.Context) (more bool, err error)
	// retryHeld deals again with the items that the step holds after an error, and
	// returns how many they are.
	retryHeld(ctx context.Context) (items int, err error)
	// dropRetries forgets what is under way for held items, which are given up.
	dropRetries()
	// endEarly ends the step with the results that there are.
	endEarly(ctx context.Context) error
	// release lets go of what is under way: the run is paused or has ended.
	release()
	// observe updates how long the step is expected to take for one item.
	observe(ctx context.Context) error
	// sendRest passes on what items are expected to have before them after the step.
	sendRest(ctx context.Context) error
	// waitsFor names what an item waits for that the step has taken.
	waitsFor() string
}

// runners makes the runner of a step, by its kind. To make one changes nothing:
// it may be for a view of the run, which takes no part in it.
var runners = map[workflow.Kind]func(stepBase) stepRunner{
	workflow.CrowdStep: newCrowdRunner,
	workflow.SQLStep:   newSQLRunner,
	workflow.HTTPStep:  newHTTPRunner,
}

// stepBase is what every runner has: its run and its node, and methods for those
// who have nothing to do.
type stepBase struct {
	run  *run
	node *node
}

func (stepBase) dropRetries()                   {}
func (stepBase) release()                       {}
func (stepBase) observe(context.Context) error  { return nil }
func (stepBase) sendRest(context.Context) error { return nil }

func (s stepBase) endEarly(context.Context) error { return noEarlyEnd(s.node.Name) }

func noEarlyEnd(step string) error {
	return crowd.Fieldf("step", "%s is no crowd step: only those are ended early", step)
}
