package engine

import "github.com/throng-dev/throng/sched"

// Keys lists the running batches in order of id with their places in the policy's order,
// as of the last hand-out: Queue is as of a time.
func (e *Engine) Keys() []sched.Key {
	e.refresh()
	keys := make([]sched.Key, 0, len(e.batches))
	for _, b := range e.sortedBatches() {
		if k, ok := e.policy.Key(b.spec.ID); ok {
			keys = append(keys, k)
		}
	}
	return keys
}
