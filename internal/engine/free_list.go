package engine

// freeList keeps closed tasks, their assignments, and ended batches to be used again:
// a pool in its steady state then asks for no memory, however many tasks go
// through it.
type freeList struct {
	closed      []*task // by the command in hand: events in the queue may still name them
	tasks       []*task
	assignments []*assignment
	batches     []*batch
}

// maxFree bounds what is kept, so that the end of a big batch frees its memory.
// In a steady state tasks close about as fast as others are started, so few do.
const maxFree = 256

// retire takes in a closed task, which reuse will let go.
func (s *freeList) retire(t *task) {
	if len(s.closed) < maxFree {
		s.closed = append(s.closed, t)
	}
}

// reuse lets the closed tasks be used again: nothing refers to them any more.
func (s *freeList) reuse() {
	for i, t := range s.closed {
		s.closed[i] = nil
		for _, a := range t.given {
			if len(s.assignments) < maxFree {
				*a = assignment{}
				s.assignments = append(s.assignments, a)
			}
		}
		if len(s.tasks) < maxFree && cap(t.given) <= fewAnswers {
			clear(t.given)
			*t = task{given: t.given[:0]}
			s.tasks = append(s.tasks, t)
		}
	}
	s.closed = s.closed[:0]
}

// retireBatch takes in a batch that has ended, unless it is still in the list of
// those to be kept or of those that the policy has to hear of.
func (s *freeList) retireBatch(b *batch) {
	if b.state.Open() || b.dirty || b.stale || len(s.batches) >= maxFree {
		return
	}
	*b = batch{}
	s.batches = append(s.batches, b)
}

// taken returns one of a list of the free, or a new one: without anything in it.
func taken[T any](list *[]*T) *T {
	n := len(*list) - 1
	if n < 0 {
		return new(T)
	}
	x := (*list)[n]
	*list = (*list)[:n]
	return x
}

// emptied returns a list without its elements, to be filled again. A few may stay
// in its memory until others take their places: to clear them each time would
// cost more than to keep them.
func emptied[T any](list []T) []T {
	if len(list) > 8 {
		clear(list)
	}
	return list[:0]
}

// push appends x to a list whose front is cut off as it goes, and returns the
// list and its memory: room, from the beginning. A list that has reached the end
// of its memory, and is no longer than what is free before it, moves to the
// beginning; so one that stays short stays where it is, however long it lives.
func push[T any](list, room []*T, x *T) ([]*T, []*T) {
	if len(list) == cap(list) {
		if free := cap(room) - len(list); free < max(len(list), 1) {
			list = append(list, x)
			return list, list[:0]
		}
		old := list
		list = append(room[:0], old...)
		clear(old) // it does not overlap
	}
	return append(list, x), room
}
