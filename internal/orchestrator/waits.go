package orchestrator

import (
	"errors"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// nodeKey is a node of a run, or the run itself.
type nodeKey struct {
	run  crowd.RunID
	node int // noNode: the run
}

const noNode = -1

// key is that of a node of the run; nil: of the run itself.
func (r *run) key(n *node) nodeKey {
	if n == nil {
		return nodeKey{r.kept.ID, noNode}
	}
	return nodeKey{r.kept.ID, n.Node.Node}
}

// WaitKind is what ends a wait.
type WaitKind int

// What ends a wait. Of none it is known when.
const (
	NotWaiting WaitKind = iota
	ForTurn             // others are done: it goes on by itself
	ForStore            // the store, or what else failed, does what it did not: it is tried again, and goes on by itself
	ForMore             // there is more of something, which somebody has to see to: room, or a quota
	waitKinds           // how many there are
)

// Wait is what a step, or a run as a whole, waits for that is not kept; zero: nothing.
type Wait struct {
	Kind WaitKind
	Why  string // as its requester reads it
}

// waitAfter is the wait after a failure, which is tried again.
func waitAfter(err error) Wait {
	switch kind := waitKindOf(err); {
	case errors.As(err, new(*store.Excess)):
		return Wait{kind, "there is no room; it is tried again: " + messageOf(err)}
	default:
		return Wait{kind, "the store fails; it is tried again: " + messageOf(err)}
	}
}

// waitKindOf is what ends the wait of who tries again what failed with an error. A quota of what
// is under way at the same time suffices when others end, as long as it is more than nothing.
func waitKindOf(err error) WaitKind {
	if excess := (*store.Excess)(nil); errors.As(err, &excess) {
		if info, known := excess.Quota.Info(); known && info.Kind == store.AtOnce && excess.Limit > 0 {
			return ForTurn
		}
		return ForMore
	}
	if crowd.CodeOf(err) == crowd.StorageFull {
		return ForMore
	}
	return ForStore
}

// WaitForQuota is the wait of who is refused for a quota.
func WaitForQuota(err error) Wait { return Wait{waitKindOf(err), messageOf(err)} }

// setWait notes what a node or a run waits for.
func (o *Orchestrator) setWait(key nodeKey, w Wait) {
	o.inbox.Lock()
	delete(o.inbox.waits, key)
	if w.Why != "" {
		o.inbox.waits[key] = w
	}
	o.inbox.Unlock()
	o.cfg.Wake()
}

// waitOf returns what setWait noted.
func (o *Orchestrator) waitOf(key nodeKey) Wait {
	o.inbox.Lock()
	defer o.inbox.Unlock()
	return o.inbox.waits[key]
}

// viewWaits fills in what a run and its steps wait for that is not kept.
func (o *Orchestrator) viewWaits(v *View) {
	if v.wait = o.waitOf(nodeKey{v.ID, noNode}); v.wait.Why == "" && o.isLeft(v.ID) {
		v.wait = Wait{ForStore, "the run is to be taken up, for which the store failed so far; it is tried again"}
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Step == nil || n.State == store.NodeDone {
			continue
		}
		if n.wait = o.waitOf(nodeKey{v.ID, i}); n.Error == "" {
			n.Error = n.wait.Why
		}
	}
}

// isLeft reports whether a run is to be taken up, which failed so far.
func (o *Orchestrator) isLeft(id crowd.RunID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.toAdopt[id]
}
