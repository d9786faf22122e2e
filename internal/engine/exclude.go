package engine

import (
	"slices"

	"github.com/throng-dev/throng/crowd"
)

// exclusions say who must not do which task of a batch (see Spec.NotBy), and keep the
// tasks that were passed over for it. They cost memory for each task that somebody is
// excluded from, until it has its label.
//
// The first task that nobody was given yet and that a worker may do is found in O(1)
// amortised: a worker's cursor only moves on, because nobody is excluded later, and no task comes
// to be untouched again. The nil *exclusions exclude nobody.
type exclusions struct {
	of      map[uint32][]crowd.WorkerID // by task, until it has its label
	tasks   map[crowd.WorkerID]int      // how many of these tasks the worker is excluded from
	sizes   map[int]int                 // how many of these tasks exclude so many people
	passed  []uint32                    // tasks before backlog.fresh that nobody was given yet, ascending
	cursors map[crowd.WorkerID]uint32   // no untouched task before this one is for the worker
}

func newExclusions() *exclusions {
	return &exclusions{of: make(map[uint32][]crowd.WorkerID), tasks: make(map[crowd.WorkerID]int), sizes: make(map[int]int), cursors: make(map[crowd.WorkerID]uint32)}
}

// mayExclude refuses items that exclude people in a batch that does not say why.
func (b *batch) mayExclude(items []Item) error {
	excludes := func(x Item) bool { return len(x.NotBy) > 0 }
	if b.backlog.except == nil && slices.ContainsFunc(items, excludes) {
		return crowd.Fieldf("items", "%s was launched as a batch whose tasks are for everybody", b.spec.ID)
	}
	return nil
}

// add excludes people from task n.
func (x *exclusions) add(n uint32, people []crowd.WorkerID) {
	if len(people) == 0 {
		return
	}
	x.of[n] = people
	x.sizes[len(people)]++
	for _, w := range people {
		x.tasks[w]++
	}
}

// forget lets go of task n, which has its label.
func (x *exclusions) forget(n uint32) {
	if x == nil || x.of[n] == nil {
		return
	}
	size := len(x.of[n])
	if x.sizes[size]--; x.sizes[size] == 0 {
		delete(x.sizes, size)
	}
	for _, w := range x.of[n] {
		if x.tasks[w]--; x.tasks[w] == 0 {
			delete(x.tasks, w)
		}
	}
	delete(x.of, n)
}

// bars reports whether w must not do task n.
func (x *exclusions) bars(n uint32, w crowd.WorkerID) bool {
	return x != nil && slices.Contains(x.of[n], w)
}

// most is how many people a task excludes at most.
func (x *exclusions) most() (n int) {
	if x != nil {
		for size := range x.sizes {
			n = max(n, size)
		}
	}
	return n
}

// excluded is how many of the people who may do b are excluded from a task that is left: of the task
// that excludes most of them. They are counted only where fewer than spare may be too few.
func (e *Engine) excluded(b *batch, spare int) (most int) {
	x := b.backlog.except
	if x == nil || x.most() <= spare {
		return 0
	}
	for n, people := range x.of {
		if b.backlog.isRemoved(n) {
			continue
		}
		able := 0
		for _, id := range people {
			if w := e.member(id); w != nil && w.mayDo(b.spec.Tenant, e.classes.list[b.class].requires) {
				able++
			}
		}
		most = max(most, able)
	}
	return most
}

// whyNone says why w, who finds none of the tasks left, does not.
func (x *exclusions) whyNone(w crowd.WorkerID) crowd.Reason {
	if x != nil && x.tasks[w] > 0 {
		return crowd.AnsweredElsewhere
	}
	return crowd.AlreadyDid
}

func (x *exclusions) isPassed(n uint32) bool {
	if x == nil {
		return false
	}
	_, is := slices.BinarySearch(x.passed, n)
	return is
}

// waiting is the number of tasks that were passed over.
func (x *exclusions) waiting() int {
	if x == nil {
		return 0
	}
	return len(x.passed)
}

// pass says that task n is started: those before it, from fresh on, are passed over.
func (b *backlog) pass(n uint32) {
	x := b.except
	if x == nil {
		return
	}
	if i, is := slices.BinarySearch(x.passed, n); is {
		x.passed = slices.Delete(x.passed, i, i+1)
	}
	for i := b.fresh; i < n; i++ {
		if !b.isRemoved(i) {
			x.passed = append(x.passed, i)
		}
	}
}

// drop lets go of task n, which nobody was given yet and nobody is to be given.
func (x *exclusions) drop(n uint32) {
	if x == nil {
		return
	}
	x.forget(n)
	if i, is := slices.BinarySearch(x.passed, n); is {
		x.passed = slices.Delete(x.passed, i, i+1)
	}
}

// untouchedFor returns the first task for w that nobody was given yet, or 0, in a batch
// with exclusions.
func (b *backlog) untouchedFor(w crowd.WorkerID) uint32 {
	x := b.except
	from, barred := x.cursors[w], false
	i, _ := slices.BinarySearch(x.passed, from)
	for _, n := range x.passed[i:] {
		if !x.bars(n, w) {
			x.remember(w, n, barred)
			return n
		}
		barred = true
	}
	n := max(from, b.fresh)
	for ; n <= b.tasks; n++ {
		if !x.bars(n, w) && !b.isRemoved(n) {
			x.remember(w, n, barred)
			return n
		}
		barred = true
	}
	x.remember(w, n, barred)
	return 0
}

// remember keeps a cursor only for a worker who was excluded from something.
func (x *exclusions) remember(w crowd.WorkerID, n uint32, barred bool) {
	if barred {
		x.cursors[w] = n
	}
}

// restoreExclusions takes over who must not do which task, of those without a label that
// the engine was told of. Of the others nothing is to be known: nobody is excluded from
// them, so they were not passed over, but in a batch with an order of its own.
func (b *batch) restoreExclusions(s *BatchSnapshot, open map[crowd.TaskID]*task) {
	x := b.backlog.except
	if x == nil {
		return
	}
	pass := func(n uint32) {
		if n < b.backlog.fresh && open[b.spec.ID.Task(n)] == nil {
			x.passed = append(x.passed, n)
		}
	}
	for n, people := range s.NotBy {
		if n > b.spec.Tasks || b.backlog.isRemoved(n) && open[b.spec.ID.Task(n)] == nil {
			continue
		}
		x.add(n, people)
		if b.backlog.order == nil {
			pass(n)
		}
	}
	if b.backlog.order != nil {
		for i := range s.Items {
			pass(s.Items[i].N)
		}
	}
	slices.Sort(x.passed)
}

// answeredBy lists who answered t, in order of their assignments.
func (t *task) answeredBy() []crowd.WorkerID {
	list := make([]crowd.WorkerID, 0, t.counted)
	for _, a := range t.given {
		if a.state.Answered() && !slices.Contains(list, a.worker.id) {
			list = append(list, a.worker.id)
		}
	}
	return list
}

// takesOneMore reports whether a late answer of w may count for b.
func (b *batch) takesOneMore(w *worker) bool {
	if b.gave == nil {
		return true
	}
	gives := b.gave[w.id]
	if w.holds != nil && w.holds.task.batch == b {
		gives++
	}
	return gives < b.spec.PerWorker
}

// restricted reports whether somebody may be given none of b's tasks that nobody was
// given yet.
func (b *batch) restricted() bool { return b.gave != nil || b.backlog.except != nil }
