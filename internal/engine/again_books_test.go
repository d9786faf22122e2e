package engine_test

import (
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// The part of the books that is about who may do what: tasks that somebody has not had,
// and those that come back to who let go of them.

// comesBack reports whether t may go to w, who had it less than three times, once
// there is nothing else.
func (t *taskBook) comesBack(w crowd.WorkerID) bool {
	return t.label == nil && t.back[w] && !t.kept[w] && t.held[w] < 3 && (t.invited == nil || t.invited[w]) && t.live+len(t.answers) < t.want()
}

// fits returns a task of b that w could do now, or nil.
func (k *books) fits(w crowd.WorkerID, b *batchBook) *taskBook {
	if t := k.takes(w, b); t != nil || k.refused(w, b) != "" {
		return t
	}
	for _, t := range b.tasks {
		if t.comesBack(w) {
			return t
		}
	}
	return nil
}

// takes is fits for tasks that w has not had.
func (k *books) takes(w crowd.WorkerID, b *batchBook) *taskBook {
	if k.refused(w, b) != "" {
		return nil
	}
	for _, t := range b.tasks {
		if t.unfit(w) == "" {
			return t
		}
	}
	return nil
}

// rightlyAgain checks that a task comes back to who had it only if there is nothing
// else for them, and nobody who has not had it waits for it; and of those that
// may come back, the one that they were given first.
func (k *books) rightlyAgain(x engine.Handout, b *batchBook, t *taskBook) error {
	k.seen["handed out again"]++
	for _, other := range k.batches {
		if y := k.takes(x.Worker, other); y != nil {
			return fmt.Errorf("they had it before, and have not had %s", y.id)
		}
	}
	for _, id := range k.waiting {
		if id != x.Worker && k.refused(id, b) == "" && t.unfit(id) == "" {
			return fmt.Errorf("they had it before, and %s waits, who had not", id)
		}
	}
	var first *row
	for _, r := range k.rows {
		rb, rt, err := k.task(r.Task)
		if err != nil || r.Worker != x.Worker || (r.state != crowd.Returned && r.state != crowd.Expired) || k.refused(x.Worker, rb) != "" || !rt.comesBack(x.Worker) {
			continue
		}
		if first == nil || r.At.Before(first.At) || r.At.Equal(first.At) && r.Assignment < first.Assignment {
			first = r
		}
	}
	if first == nil || first.Task != x.Task {
		return fmt.Errorf("they had another one first: %+v", first)
	}
	return nil
}

// checkNobodyIdles is the conservation of work.
func (k *books) checkNobodyIdles() error {
	for _, w := range k.waiting {
		for _, b := range k.batches {
			if t := k.fits(w, b); t != nil {
				return fmt.Errorf("%s waits, although %s fits", w, t.id)
			}
		}
	}
	return nil
}
