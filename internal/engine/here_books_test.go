package engine_test

import "slices"

// here counts the people on duty who may do what batch b asks for; not sure where that is
// by invitation, or for training.
func (k *books) here(b *batchBook) (n int, sure bool) {
	if b.spec.Training || slices.ContainsFunc(b.tasks, func(t *taskBook) bool { return t.invited != nil }) {
		return 0, false
	}
	for id, who := range k.workers {
		switch x := k.person(id); {
		case !x.on || x.training > 0 || who.Suspended || !holds(who, b.spec):
		case slices.Contains(who.BlockedBy, b.spec.Tenant) || slices.Contains(who.StaffOf, b.spec.Tenant):
		case len(who.Serves) > 0 && !slices.Contains(who.Serves, b.spec.Tenant):
		case b.pausedBy(id) > 0:
		default:
			n++
		}
	}
	if n > 0 {
		k.seen["people on duty for a batch"]++
	}
	return n, true
}
