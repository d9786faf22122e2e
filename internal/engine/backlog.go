package engine

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
)

// backlog keeps the tasks of one batch that want a worker, in the order in
// which they are handed out: first those that somebody has already worked on
// (labels come sooner), the one that has waited longest for its next person
// first; then fresh ones in the order of import. A batch with an SLA has an order
// of its own; the list then only tells whether a started task is there for a worker.
//
// Finding the first task that a worker has not held yet is O(1) amortised:
// tasks stand in a list in the order of their stamps, and each worker has a
// cursor that only moves on, past tasks that they have held and past gaps. A task
// that comes back into the list gets a new stamp, ahead of every cursor.
type backlog struct {
	tasks uint32 // in the batch
	fresh uint32 // number of the first task that nobody was given yet, from 1

	listed  []*task // by stamp; nil: a gap
	first   uint64  // stamp of listed[0]
	gaps    int
	buffer  []*task                   // the memory of listed (see push)
	cursors map[crowd.WorkerID]uint64 // stamp to go on from; nil: none

	removed map[uint32]struct{} // taken out: numbers of tasks
	known   map[uint32]string   // keys of known answers, by task; nil: no checks

	invited *invitations // nil: everybody may do every task
	shared  bool         // everybody may do some task
	spread  bool         // fresh tasks go first, while fewer than spreadOver are listed
	except  *exclusions  // nil: nobody is excluded from a task
	order   *order       // nil: that of above

	sentBack map[uint32][]crowd.WorkerID // by task, who has sent its label back, until it has one again; nil: nobody has
}

// invitations says who may do which task, where it names people for a task. A worker's list shrinks from the
// front as their tasks are done.
type invitations struct {
	lists  map[crowd.WorkerID][]uint32
	number []uint16         // people invited, by task number - 1; enough is enough
	closed []uint64         // bit set of tasks with a label
	open   map[uint32]*task // those handed out, without a label
}

func newBacklog(s *Spec) backlog {
	b := backlog{tasks: s.Tasks, fresh: 1, first: 1, shared: true}
	if len(s.NotBy) > 0 {
		b.except = newExclusions()
	}
	if s.Invited != nil {
		inv := &invitations{
			lists:  make(map[crowd.WorkerID][]uint32, len(s.Invited)),
			number: make([]uint16, s.Tasks),
			closed: make([]uint64, (s.Tasks+63)/64),
			open:   make(map[uint32]*task),
		}
		for w, list := range s.Invited {
			inv.lists[w] = append([]uint32(nil), list...)
			for _, n := range list {
				if inv.number[n-1] < label.MaxAnswers {
					inv.number[n-1]++
				}
			}
		}
		b.invited, b.shared = inv, slices.Contains(inv.number, 0)
		b.skip()
	}
	return b
}

// invitedTo returns how many people are invited to task n; 0: everybody may do it.
func (b *backlog) invitedTo(n uint32) int {
	if b.invited == nil {
		return 0
	}
	return int(b.invited.number[n-1])
}

// capped is a batch's rule for task n. Where people are invited to single
// tasks, nothing is wanted beyond the number of them.
func (b *backlog) capped(r label.Rule, n uint32) label.Rule {
	if people := b.invitedTo(n); people > 0 {
		return r.Capped(people)
	}
	return r
}

// skip moves fresh on to a task that everybody may do, that was not taken out and whose answer
// is not known, if there is any.
func (b *backlog) skip() {
	if len(b.removed) == 0 && b.invited == nil && len(b.known) == 0 {
		return
	}
	for b.shared && b.order == nil && b.fresh <= b.tasks && (b.invitedTo(b.fresh) > 0 || b.isRemoved(b.fresh) || b.isKnown(b.fresh)) {
		b.fresh++
	}
}

func (b *backlog) isRemoved(n uint32) bool {
	_, is := b.removed[n]
	return is
}

// untouchedOne reports whether task n, which is neither open nor taken out, was given
// to nobody yet. If not, it has its label.
func (b *backlog) untouchedOne(n uint32) bool {
	switch {
	case b.isKnown(n):
		return false
	case b.order != nil:
		_, _, waits := b.order.queue.Get(int64(n))
		return waits
	case b.invitedTo(n) > 0:
		return !b.invited.isClosed(n)
	}
	return n >= b.fresh || b.except.isPassed(n)
}

// extend adds tasks for everybody.
func (b *backlog) extend(tasks uint32) {
	b.tasks = tasks
	if inv := b.invited; inv != nil {
		inv.number = append(inv.number, make([]uint16, int(tasks)-len(inv.number))...)
		inv.closed = append(inv.closed, make([]uint64, int(tasks+63)/64-len(inv.closed))...)
		b.shared = true
	}
	b.skip()
}

// takeOut takes out task n, which nobody was given yet.
func (b *backlog) takeOut(n uint32) {
	switch {
	case b.order != nil:
		b.order.queue.Drop(int64(n))
	case b.invited != nil:
		b.invited.close(n)
	}
	b.except.drop(n)
	b.skip()
}

// place puts t where it belongs after a change: into the list when it wants a
// worker, out of it when it does not.
func (b *backlog) place(now time.Time, t *task) {
	switch {
	case t.closed || t.slots() <= 0:
		b.remove(t)
	case b.invitedTo(t.n) == 0 && t.place == 0:
		b.listed, b.buffer = push(b.listed, b.buffer, t)
		t.place = b.first + uint64(len(b.listed)) - 1
		if b.order != nil {
			b.order.back(now, t.n)
		}
	}
}

func (b *backlog) remove(t *task) {
	if b.invited != nil && t.closed {
		b.invited.close(t.n)
	}
	if b.order != nil {
		b.order.leave(t)
	}
	if t.closed {
		b.except.forget(t.n)
		delete(b.sentBack, t.n)
	}
	if t.place == 0 {
		return
	}
	b.listed[t.place-b.first] = nil
	t.place = 0
	b.gaps++
	for len(b.listed) > 0 && b.listed[0] == nil { // most go from the front
		b.listed = b.listed[1:]
		b.first++
		b.gaps--
	}
	if b.gaps > 32 && b.gaps > len(b.listed)/2 {
		b.compact()
	}
}

// compact closes the gaps. Stamps are given again above all that were used, in
// the same order, and each cursor moves with the task it stood before.
func (b *backlog) compact() {
	end := b.first + uint64(len(b.listed))
	moved := make([]uint64, len(b.listed)+1) // new stamp of the first task at or after each place
	kept := b.listed[:0]
	for i, t := range b.listed {
		moved[i] = end + uint64(len(kept))
		if t != nil {
			t.place = moved[i]
			kept = append(kept, t)
		}
	}
	moved[len(b.listed)] = end + uint64(len(kept))
	clear(b.listed[len(kept):])
	for w, c := range b.cursors {
		if c < b.first {
			c = b.first
		}
		b.cursors[w] = moved[min(c-b.first, uint64(len(b.listed)))]
	}
	b.listed, b.first, b.gaps = kept, end, 0
}

// next returns the task that w would be given: one that was started, or else
// the number of a fresh one; or neither, with the reason. It changes nothing
// that anybody could see.
func (b *backlog) next(w crowd.WorkerID) (*task, uint32, crowd.Reason) {
	if b.invited != nil {
		if t, n, reason := b.invited.next(w); reason == crowd.Eligible || !b.shared {
			return t, n, reason
		}
	}
	if b.spread && b.order == nil && len(b.listed)-b.gaps < spreadOver {
		if n := b.freshFor(w); n > 0 {
			return nil, n, crowd.Eligible
		}
	}
	t := b.started(w)
	switch {
	case b.order != nil && (t != nil || b.untouched(w)):
		t, n := b.order.next(w, b.except)
		return t, n, crowd.Eligible
	case b.order != nil:
		return nil, 0, b.except.whyNone(w)
	case t != nil:
		return t, t.n, crowd.Eligible
	}
	if n := b.freshFor(w); n > 0 {
		return nil, n, crowd.Eligible
	}
	if b.except != nil {
		return nil, 0, b.except.whyNone(w)
	}
	return nil, 0, b.whySentBack(w)
}

// freshFor returns the first task for w that nobody was given yet, or 0, in a batch
// without an order of its own.
func (b *backlog) freshFor(w crowd.WorkerID) uint32 {
	switch {
	case b.except != nil:
		return b.untouchedFor(w)
	case b.fresh <= b.tasks:
		return b.fresh
	}
	return 0
}

// refusal says why w would be given nothing, or Eligible.
func (b *backlog) refusal(w crowd.WorkerID) crowd.Reason {
	if b.order != nil && (b.started(w) != nil || b.untouched(w)) {
		return crowd.Eligible // without looking for the first
	}
	_, _, reason := b.next(w)
	return reason
}

// untouched reports whether there is a task for w that nobody was given yet, in a batch
// with an order of its own.
func (b *backlog) untouched(w crowd.WorkerID) bool {
	return b.order.queue.Len() > len(b.listed)-b.gaps && (b.except == nil || b.untouchedFor(w) > 0)
}

// started returns the first listed task that w has not held and may do, or nil.
func (b *backlog) started(w crowd.WorkerID) *task {
	c := b.first
	if len(b.listed) > 0 { // else nobody's cursor is further on
		c = max(c, b.cursors[w])
	}
	for ; c < b.first+uint64(len(b.listed)); c++ {
		if t := b.listed[c-b.first]; t != nil && !t.heldBy(w) && !b.except.bars(t.n, w) && !b.sentBackBy(t.n, w) {
			b.remember(w, c)
			return t
		}
	}
	b.remember(w, c)
	return nil
}

// remember keeps a cursor only for a worker who has passed something, so that
// workers who never worked on the batch cost nothing.
func (b *backlog) remember(w crowd.WorkerID, c uint64) {
	if c > b.first {
		if b.cursors == nil {
			b.cursors = make(map[crowd.WorkerID]uint64)
		}
		b.cursors[w] = c
	}
}

// start says that a fresh task is handed out.
func (b *backlog) start(t *task) {
	if b.invitedTo(t.n) > 0 {
		b.invited.open[t.n] = t
	} else {
		b.pass(t.n)
		b.fresh = max(b.fresh, t.n+1)
		b.skip()
	}
	if b.order != nil {
		b.order.open[t.n] = t
	}
}

func (inv *invitations) next(w crowd.WorkerID) (*task, uint32, crowd.Reason) {
	list, ok := inv.lists[w]
	if !ok {
		return nil, 0, crowd.NotInvited
	}
	busy := 0 // tasks passed that may come back to them, moved along before list[i]
	for i, n := range list {
		switch t := inv.open[n]; {
		case inv.isClosed(n) || t != nil && t.heldBy(w):
			copy(list[i-busy+1:i+1], list[i-busy:i])
		case t != nil && t.slots() <= 0:
			busy++
		default:
			inv.lists[w] = list[i-busy:]
			return t, n, crowd.Eligible
		}
	}
	inv.lists[w] = list[len(list)-busy:]
	return nil, 0, crowd.AlreadyDid
}

// close says that task n has its label.
func (inv *invitations) close(n uint32) {
	inv.closed[(n-1)/64] |= 1 << ((n - 1) % 64)
	delete(inv.open, n)
}

// reopen says that task n, which had its label, wants people again: those of list.
func (inv *invitations) reopen(n uint32, list []crowd.WorkerID) {
	inv.closed[(n-1)/64] &^= 1 << ((n - 1) % 64)
	for _, w := range list {
		if mine, is := inv.lists[w]; is && !slices.Contains(mine, n) { // else it was passed over as done
			inv.lists[w] = slices.Concat([]uint32{n}, mine)
		}
	}
}

func (inv *invitations) isClosed(n uint32) bool {
	return inv.closed[(n-1)/64]&(1<<((n-1)%64)) != 0
}
