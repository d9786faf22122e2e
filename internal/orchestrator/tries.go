package orchestrator

import (
	"errors"
	"fmt"
	"time"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// failing are the tries of a step that failed since one of its calls was answered.
type failing struct {
	tries int
	last  string // what the last of them failed with, without what the service said
}

// failed counts a try that failed with err, and is made again or was the last one. An error that no
// other try would mend is an answer.
func (f *failing) failed(err error, again, exhausted bool) {
	if !again && !exhausted {
		*f = failing{}
		return
	}
	f.tries++
	f.last = err.Error()
	if x := (*httpstep.Failure)(nil); errors.As(err, &x) {
		f.last = x.Message
	}
}

// tries is how the calls of a service step go.
type tries struct {
	failing
	next, latest time.Time // of the tries that are planned after others failed; zero: none is
	since        time.Time // when the call began that has been under way for the longest; zero: none is
}

// fewTries is how many tries in a row have to fail for nothing to be foreseen, if as many items are
// at the step.
const fewTries = 3

// longCall is how many times as long as expected a call may take for its end to be foreseen.
const longCall = 3

// viewTries fills in how the calls of the service steps of a run go.
func (o *Orchestrator) viewTries(v *View) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.runs[v.ID]
	if r == nil || v.State != store.RunRunning {
		return
	}
	for i, n := range r.nodes {
		if s, ok := n.runner.(*httpRunner); ok && n.State != store.NodeDone {
			v.Nodes[i].tries = s.tries()
		}
	}
}

func (s *httpRunner) tries() tries {
	t := tries{failing: s.failing}
	for _, x := range s.calls {
		if !x.again.IsZero() {
			t.next, t.latest = nextOf(t.next, x.again), instant.Later(t.latest, x.again)
		}
		if !x.started.IsZero() {
			t.since = nextOf(t.since, x.started)
		}
	}
	return t
}

// nextTry is when the next try of an item is planned at a step; a time in the past: none is.
func (o *Orchestrator) nextTry(key nodeKey, item int64) (at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r := o.runs[key.run]; r != nil {
		if s, ok := r.nodes[key.node].runner.(*httpRunner); ok && s.calls[item] != nil {
			at = s.calls[item].again
		}
	}
	return at
}

// unsure says why nobody knows when the service of a step has done what is there; "": that is
// foreseen.
func (n *NodeView) unsure(expect time.Duration, now time.Time) string {
	t := &n.tries
	switch long := now.Sub(t.since); {
	case n.Working() == 0:
	case int64(t.tries) >= min(fewTries, n.Working()) && t.tries > 0:
		why := fmt.Sprintf("its service does not answer: %s failed, the last with: %s", format.Count(t.tries, "try"), t.last)
		if t.tries > 1 {
			why = fmt.Sprintf("its service does not answer: the last %d tries failed, the last of them with: %s", t.tries, t.last)
		}
		if t.next.After(now) {
			why += "; the next try is in " + format.Duration(t.next.Sub(now))
		}
		return why
	case !t.since.IsZero() && long > longCall*expect:
		return fmt.Sprintf("a call of its service has been under way for %s, and %s was expected", format.Duration(long), format.Duration(expect))
	}
	return ""
}

// tellUnsure adds the items at service steps of which nobody knows when they end to those that
// wait for such a thing.
func (v *View) tellUnsure(items []SlowItem, waits map[int64]bool, now time.Time) {
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Step == nil || n.Step.HTTP() == nil {
			continue
		}
		if why := n.unsure(n.Expect, now); why != "" {
			for j := range items {
				if items[j].Step == n.Name {
					waits[items[j].Item] = true
				}
			}
		}
	}
}
