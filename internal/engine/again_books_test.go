package engine_test

import (
	"fmt"
	"slices"
	"time"

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

func (k *books) end(x engine.End) error {
	r := k.rows[x.Assignment]
	if r == nil || k.holding[r.Worker] != r {
		return fmt.Errorf("%s, but nobody held it", x.State)
	}
	if !r.state.May(x.State) || x.State.Answered() || x.At != k.now {
		return fmt.Errorf("%s → %s at %s", r.state, x.State, x.At)
	}
	if x.State == crowd.Expired && r.Expires.After(k.now) {
		return fmt.Errorf("expired %s before its time", r.Expires.Sub(k.now))
	}
	k.letGo(r)
	r.state = x.State
	if _, t, err := k.task(r.Task); err == nil {
		may := x.State == crowd.Returned || x.State == crowd.Expired
		t.back[r.Worker], t.kept[r.Worker] = may, t.kept[r.Worker] || !may
		k.noteCheck(t, string(x.State))
		if t.removed {
			k.seen["taken out: given back later"]++
		}
	}
	k.seen[string(x.State)]++
	return nil
}

func (k *books) letGo(r *row) {
	delete(k.holding, r.Worker)
	k.worked(r.Worker)
	k.unclaim(r)
}

func (w *world) giveBack(op string, h engine.Handout) error {
	w.k.person(h.Worker).seen = w.now
	switch op {
	case "report":
		return w.e.Report(w.now, h.Worker, h.Assignment, reported(h.Assignment))
	case "skip":
		return w.e.Skip(w.now, h.Worker, h.Assignment)
	}
	return w.e.Return(w.now, h.Worker, h.Assignment)
}

func (w *world) giveBackAgain(h engine.Handout) error {
	back, other := w.e.Return, w.e.Skip
	switch w.k.rows[h.Assignment].state {
	case crowd.Skipped:
		back, other = other, back
	case crowd.Reported:
		back = func(now time.Time, id crowd.WorkerID, a crowd.AssignmentID) error {
			return w.e.Report(now, id, a, "once more")
		}
	}
	same, unlike := back(w.now, h.Worker, h.Assignment), other(w.now, h.Worker, h.Assignment)
	if crowd.CodeOf(same) == crowd.NotFound && crowd.CodeOf(unlike) == crowd.NotFound {
		return nil // its task has a label
	}
	w.k.seen["given back again"]++
	if same != nil {
		return same
	}
	return wantCode(unlike, crowd.Conflict)
}

func (w *world) heartbeat(h engine.Handout) error {
	until, err := w.e.Heartbeat(w.now, h.Worker, h.Assignment)
	if err != nil {
		return err
	}
	r := w.k.rows[h.Assignment]
	want := w.now.Add(w.k.batches[h.Task.Batch()].spec.Lease)
	if want.Before(r.Expires) {
		want = r.Expires
	}
	w.k.person(h.Worker).seen = w.now
	if until != want {
		return fmt.Errorf("the lease of %s was extended to %s, want %s", h.Assignment, until, want)
	}
	if want.After(r.Expires) {
		w.k.seen["lease extended"]++
	}
	r.Expires = until
	return nil
}

// unfit says why task t cannot go to worker w, or "".
func (t *taskBook) unfit(w crowd.WorkerID) string {
	switch {
	case t.label != nil:
		return "labelled"
	case t.removed:
		return "taken out"
	case t.held[w] > 0:
		return "held before"
	case t.invited != nil && !t.invited[w]:
		return "not invited"
	case slices.Contains(t.item.NotBy, w):
		return "answered elsewhere"
	case t.live+len(t.answers) >= t.want():
		return "enough people"
	}
	return ""
}
