package engine_test

import (
	"fmt"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// rightTask checks the order within a batch: tasks that somebody had first,
// then fresh ones in the order of import.
func (k *books) rightTask(x engine.Handout, b *batchBook, t *taskBook) error {
	if t.invited != nil {
		return nil // everybody goes through their own list
	}
	if b.spec.SLA != nil {
		return k.underLooks(func() error { return k.mostUrgent(x, b, t) })
	}
	freshFirst := b.spec.Rule.FollowsAnswers()
	if len(t.held) > 0 && !freshFirst {
		k.seen["a started task before fresh ones"]++
		return nil
	}
	for _, other := range b.tasks {
		if other.unfit(x.Worker) != "" {
			continue
		}
		if freshFirst {
			if other.invited == nil && len(other.held) == 0 && (len(t.held) > 0 || other.id < t.id) {
				return fmt.Errorf("%s is fresh and goes before", other.id)
			}
			if len(other.held) > 0 && len(t.held) == 0 {
				k.seen["a fresh task before started ones"]++
			}
			continue
		}
		if other.invited != nil || len(other.held) > 0 || other.id < t.id {
			return fmt.Errorf("%s goes before", other.id)
		}
	}
	return nil
}

// rightBatch checks the order of batches under two policies whose word is
// simple: the engine tells its policy all it has to know.
func (k *books) rightBatch(x engine.Handout, b *batchBook) error {
	for _, other := range k.batches {
		if k.takes(x.Worker, other) == nil {
			continue
		}
		switch {
		case k.policy == "fifo" && other.launched.Before(b.launched):
			return fmt.Errorf("%s was launched before", other.spec.ID)
		case (k.policy == "penalty(form=atc)" || k.policy == "penalty(form=event)") && b.later(k.now, other):
			return fmt.Errorf("%s is more urgent", other.spec.ID)
		case k.policy == "fs" && k.inHand(other) < k.inHand(b):
			return fmt.Errorf("%s has %d running, this one %d", other.spec.ID, k.inHand(other), k.inHand(b))
		}
	}
	return nil
}

// want is the number of annotations that a task should have: the fewest that
// its rule takes, and after those one more at a time up to the most.
func (t *taskBook) want() int {
	switch here := len(t.answers) + t.live; {
	case t.known != "":
		return here
	case t.label != nil:
		return len(t.answers)
	case t.removed:
		return here
	default:
		return max(min(max(t.rule.Fewest(), len(t.answers)+1), t.rule.Most()), here)
	}
}

// refused says why batch b may give nothing to worker w now, or "".
func (k *books) refused(w crowd.WorkerID, b *batchBook) string {
	who, known := k.workers[w]
	switch {
	case !known:
		return "not in the pool"
	case who.Suspended:
		return "suspended"
	case k.stopped || b.stopped || k.tenants[b.spec.Tenant].Stopped:
		return "stopped"
	case b.kept.State == crowd.BatchOnHold:
		return "paused"
	case b.kept.State.Ended():
		return "ended"
	case slices.Contains(who.BlockedBy, b.spec.Tenant):
		return "blocked"
	case slices.Contains(who.StaffOf, b.spec.Tenant):
		return "their own tenant's"
	case len(who.Serves) > 0 && !slices.Contains(who.Serves, b.spec.Tenant):
		return "for others than they serve"
	case b.spec.Training != (k.person(w).training > 0):
		return "in training, or not"
	case k.promised(b)+b.spec.Reward > k.accounts[b.account()]:
		return "no money"
	case !holds(who, b.spec):
		return "not qualified"
	case !k.mayGive(w, b):
		return "answered enough"
	case k.enough(b) != "":
		return "enough labels"
	case b.pausedBy(w) > 0:
		k.seen["rule: refused"]++
		return "paused by a rule"
	}
	return ""
}
