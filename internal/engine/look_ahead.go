package engine

import (
	"math/bits"
	"time"
)

// lookAhead is what the policy penalty is told besides the figures of each batch: how far
// ahead it weighs what falls due against the work that it takes to escape it.
type lookAhead struct {
	batches []*batch      // with an SLA
	work    int64         // in sum, of an item of each, in milliseconds
	look    time.Duration // as it followed from these and the people on duty when there was one last
}

// lookItems says how far the look is: at most as long as the people on duty need for so
// many items, by the mean over the batches with an SLA, and at least half as long. For it
// is a power of two in milliseconds, so that the place of every batch changes seldom.
// The table of worlds in docs/policies.md is with this figure.
const lookItems = 8

// count takes over the work of an item of b, which has an SLA.
func (l *lookAhead) count(b *batch) {
	o := b.backlog.order
	if o.place == 0 {
		l.batches = append(l.batches, b)
		o.place = len(l.batches)
	}
	work := b.rest(b.firstWant(1)).Milliseconds()
	l.work += work - o.share
	o.share = work
}

// leave takes the order of a batch out that ends.
func (l *lookAhead) leave(o *order) {
	if o.place == 0 {
		return
	}
	last := len(l.batches)
	moved := l.batches[last-1]
	l.batches[o.place-1], moved.backlog.order.place = moved, o.place
	l.batches[last-1] = nil
	l.batches = l.batches[:last-1]
	l.work -= o.share
	o.place, o.share = 0, 0
}

// update computes the look for so many people and reports whether it has changed. There
// is a batch.
func (l *lookAhead) update(people int) bool {
	was := l.look
	most := max(lookItems*l.work/int64(len(l.batches)*max(people, 1)), 1)
	l.look = time.Millisecond << (bits.Len64(uint64(most)) - 1)
	return l.look != was
}

// rest is the time of people that an item is expected to take to its end if so many more
// answers are wanted of b.
func (b *batch) rest(answers int) time.Duration {
	return time.Duration(answers)*b.expectedTime() + b.backlog.order.terms.Work
}
