package engine

import "github.com/throng-dev/throng/crowd"

// Ends reports whether a running batch that goes on would end by an edit, or by taking tasks
// out of it: at once, or as soon as nobody holds a task of it any more. It is so if no task
// would want a further answer, or if the batch would have enough (see Enough) of the labels
// that it has by now; what labels a lower redundancy would make besides is not foreseen here,
// except where they would be the last. Of what is ending already it reports false. edit may be
// nil, and of removed those count that can be taken out. The answer holds for a change that is
// made in the same command.
func (e *Engine) Ends(id crowd.BatchID, edit *Edit, removed ...uint32) bool {
	b, err := e.launched(id)
	if err != nil {
		return false // the change is refused
	}
	before := b.ending(nil)
	if edit != nil {
		spec, follower := b.spec, b.posterior
		next := edit.of(spec)
		if next.Rule != spec.Rule && (next.Rule.Validate() != nil || validClasses(next.Rule) != nil) {
			return false // the change is refused
		}
		defer func() { b.spec, b.posterior = spec, follower }()
		b.spec = next
		b.posterior = b.follower()
	}
	out, open := make(map[uint32]bool, len(removed)), b.openAmong(removed)
	for _, n := range removed {
		if n >= 1 && n <= b.spec.Tasks && !b.backlog.isRemoved(n) && (open[n] != nil || b.backlog.untouchedOne(n)) {
			out[n] = true
		}
	}
	return b.ending(out) > before
}

// outlook is how surely a batch ends with what has come in and what people hold.
type outlook int

const (
	goesOn   outlook = iota
	ifPaid           // if those who hold tasks answer, which then costs as much as may be spent
	whatever         // whatever those do who hold tasks
)

// ending is how surely b ends without tasks that it has yet and that are neither taken out
// nor labelled.
func (b *batch) ending(without map[uint32]bool) outlook {
	if !b.spec.Open && b.allAnswered(without) {
		return whatever
	}
	x := b.spec.Enough
	if x == nil {
		return goesOn
	}
	var p Progress
	b.progress(&p)
	p.Removed += len(without)
	switch {
	case x.Met(&p, b.spec.Reward):
		return whatever
	case b.beyondLimit(b.spec.Reward):
		return ifPaid
	}
	return goesOn
}

// allAnswered reports whether none of b's tasks wants an answer beyond those that count.
func (b *batch) allAnswered(without map[uint32]bool) bool {
	untouched := b.untouched() - len(without)
	for _, t := range b.openTasks() {
		switch {
		case t.isCheck || t.removed: // it is done as soon as nobody holds it
		case without[t.n]:
			untouched++
		case t.counted == 0 || !b.decideAmong(t, 0).Enough:
			return false
		}
	}
	return untouched == 0
}
