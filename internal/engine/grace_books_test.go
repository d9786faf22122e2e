package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// The part of the books that is about provisional answers. All else that is true of an
// answer is checked when it comes to count, as if it came then.

func (k *books) countsAt(r *row) time.Time {
	return r.kept.At.Add(k.batches[r.Task.Batch()].spec.Grace)
}

// eachDue goes through the times at which leases end and answers come to count.
func (k *books) eachDue(at func(time.Time)) {
	for _, r := range k.holding {
		at(r.Expires)
	}
	for _, r := range k.graces {
		at(k.countsAt(r))
	}
}

func (k *books) provisionalOf(b *batchBook) (n int) {
	for _, r := range k.graces {
		if r.Task.Batch() == b.spec.ID {
			n++
		}
	}
	return n
}

func (k *books) inHand(b *batchBook) int { return b.running - k.provisionalOf(b) }

// learn counts an answer that was given in time among those that its worker has learnt from.
func (k *books) learn(r *row) {
	if n := k.person(r.Worker).training; n > 0 && k.batches[r.Task.Batch()].spec.Training {
		k.train(r.Worker, n-1)
		k.seen["learnt"]++
	}
}

// unclaim gives up the place of an assignment among those that its task wants.
func (k *books) unclaim(r *row) {
	b, t, _ := k.task(r.Task)
	t.live--
	b.running--
}

// provisional enters the answers that do not count yet, and those taken back.
func (k *books) provisional(ch *engine.Changes) error {
	k.ending = make(map[crowd.BatchID]bool)
	for _, x := range ch.Progress {
		k.ending[x.Batch] = x.State.Ended()
	}
	for i := range ch.Provisional {
		x := &ch.Provisional[i]
		r := k.rows[x.Assignment]
		if r == nil || k.holding[x.Worker] != r || r.state != crowd.Assigned || k.batches[x.Assignment.Batch()].spec.Grace == 0 {
			return fmt.Errorf("%s is answered provisionally, and was not held, or has no grace", x.Assignment)
		}
		if want := (engine.Answer{Assignment: x.Assignment, Worker: r.Worker, At: k.now, Body: `{"label":"` + x.Key + `"}`, Key: x.Key}); *x != want {
			return fmt.Errorf("got %+v, want %+v", x, want)
		}
		copied := *x
		r.state, r.kept = crowd.Provisional, &copied
		k.graces[x.Assignment] = r
		delete(k.holding, r.Worker)
		k.worked(r.Worker)
		k.person(r.Worker).seen = k.now
		k.learn(r)
		_, t, _ := k.task(r.Task)
		if t.lesson {
			return fmt.Errorf("%s, which teaches, is answered provisionally", x.Assignment)
		}
		t.kept[r.Worker] = true
		k.seen["undo: answered provisionally"]++
	}
	for _, x := range ch.Undone {
		if err := k.undone(x); err != nil {
			return fmt.Errorf("%s taken back: %w", x.Assignment, err)
		}
	}
	return nil
}

func (k *books) undone(x engine.Undone) error {
	r := k.graces[x.Assignment]
	if r == nil || k.holding[x.Worker] != nil {
		return fmt.Errorf("it was not provisional, or they hold something else")
	}
	b, t, err := k.task(r.Task)
	if err != nil {
		return err
	}
	if want := (engine.Undone{Assignment: r.Assignment, Worker: r.Worker, At: k.now, Expires: k.now.Add(b.spec.Lease)}); x != want {
		return fmt.Errorf("got %+v, want %+v", x, want)
	}
	delete(k.graces, x.Assignment)
	r.state, r.kept, r.Expires = crowd.Assigned, nil, x.Expires
	k.holding[x.Worker] = r
	delete(k.letWork, x.Worker)
	k.stopWaiting(x.Worker)
	k.person(x.Worker).left = time.Time{}
	t.kept[x.Worker] = false
	for _, other := range k.rows {
		if other != r && other.Worker == r.Worker && other.Task == r.Task && other.state != crowd.Returned && other.state != crowd.Expired {
			t.kept[x.Worker] = true
		}
	}
	for what, so := range map[string]bool{
		"a task with answers": len(t.answers) > 0, "a task taken out": t.removed, "of a paused batch": b.kept.State == crowd.BatchOnHold,
		"a stopped batch": k.stopped || b.stopped, "a bounded batch": b.spec.PerWorker > 0, "a batch with enough": k.enough(b) != "",
		"after an edit": r.Reward != b.spec.Reward, "by invitation": t.invited != nil, "with an SLA": b.spec.SLA != nil,
	} {
		if so {
			k.seen["undo: "+what]++
		}
	}
	if n := k.person(x.Worker).training; b.spec.Training && n < engine.MaxTraining {
		k.train(x.Worker, n+1)
		k.seen["undo: what they learnt from"]++
	}
	k.seen["undo"]++
	return nil
}

// graceEnds checks an answer that was provisional until now, if x is one: it is what was
// given then, and its time has come, or the batch ends.
func (k *books) graceEnds(b *batchBook, r *row, x *engine.Answer) error {
	if (r.kept != nil) != x.Kept {
		return fmt.Errorf("provisional before: %t, and it says %t", r.kept != nil, x.Kept)
	}
	if !x.Kept {
		if r.state == crowd.Assigned && b.spec.Grace > 0 && b.tasks[r.Task.N()-1].lesson {
			k.seen["lesson: counts at once, with a grace"]++
		} else if r.state == crowd.Assigned && b.spec.Grace > 0 {
			return fmt.Errorf("it counts at once, with a grace of %s", b.spec.Grace)
		}
		return nil
	}
	if x.At != r.kept.At || x.Body != r.kept.Body || x.Key != r.kept.Key {
		return fmt.Errorf("it counts as %+v, and was given as %+v", x, r.kept)
	}
	if due := k.countsAt(r); due.After(k.now) {
		if !k.cutsGrace(b, r) {
			return fmt.Errorf("it counts %s too early", due.Sub(k.now))
		}
		k.seen["undo: counted before its time"]++
	} else if !k.ticked && !k.cutsGrace(b, r) {
		return fmt.Errorf("it counts without a tick")
	}
	return nil
}

// cutsGrace reports whether the command lets a provisional answer count at once.
func (k *books) cutsGrace(b *batchBook, r *row) bool {
	return k.counting == r.Worker || k.ending[b.spec.ID]
}

func undo(e *engine.Engine, now time.Time, w crowd.WorkerID, a crowd.AssignmentID) error {
	_, _, err := e.Undo(now, w, a)
	return err
}

// undo takes a provisional answer back.
func (w *world) undo(c command) error {
	var list []crowd.AssignmentID
	for id := range w.k.graces {
		list = append(list, id)
	}
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	gone := lists.Filter(list, func(id crowd.AssignmentID) bool { _, known := w.k.workers[w.k.rows[id].Worker]; return !known })
	if len(gone) > 0 && c.b%2 == 0 {
		list = gone
	}
	r := w.k.rows[list[c.a%uint32(len(list))]]
	mine := w.e.Undoable(r.Worker)
	if i := slices.IndexFunc(mine, func(u engine.Undoable) bool { return u.Assignment == r.Assignment }); i < 0 || mine[i].Task != r.Task || mine[i].At != r.kept.At || mine[i].CountsAt != w.k.countsAt(r) {
		return fmt.Errorf("%s is not among what may be taken back: %+v", r.Assignment, mine)
	}
	given := *r.kept
	h, answer, err := w.e.Undo(w.now, r.Worker, r.Assignment)
	who, known := w.k.workers[r.Worker]
	p := w.k.person(r.Worker)
	switch {
	case !known:
		w.k.seen["undo refused: left the pool"]++
		return wantCode(err, crowd.Conflict)
	case who.Suspended:
		w.k.seen["undo refused: suspended"]++
		return wantCode(err, crowd.Forbidden)
	case w.k.retainer.Called && !p.on:
		w.k.seen["undo refused: off duty"]++
		return wantCode(err, crowd.OffDuty)
	case err != nil:
		return err
	case answer != given:
		return fmt.Errorf("took back %+v, gave %+v", answer, given)
	}
	if !p.on {
		w.k.comes = r.Worker
		w.k.seen["undo: comes on duty"]++
	}
	if w.k.holding[r.Worker] != nil {
		w.k.seen["undo: put down another one"]++
	}
	if slices.Contains(w.k.waiting, r.Worker) {
		w.k.seen["undo: waited"]++
	}
	p.seen = w.now
	want := r.Handout
	want.Expires = w.now.Add(w.k.batches[r.Task.Batch()].spec.Lease)
	if h != want {
		return fmt.Errorf("got %+v, want %+v", h, want)
	}
	again, nothing, err := w.e.Undo(w.now, r.Worker, r.Assignment)
	if err != nil || again != want || nothing != (engine.Answer{}) {
		return fmt.Errorf("said twice: %+v, %+v, %v", again, nothing, err)
	}
	return nil
}

// undoWhatStands tries to take back what is no provisional answer, which changes nothing.
func (w *world) undoWhatStands(n uint32) error {
	h, ok := w.once(n, func(r *row) bool { return r.state != crowd.Assigned && r.kept == nil })
	if !ok {
		return nil
	}
	err, state := undo(w.e, w.now, h.Worker, h.Assignment), w.k.rows[h.Assignment].state
	if errors.Is(err, engine.ErrForgotten) {
		w.k.seen["undo refused: forgotten"]++
		return nil
	}
	w.k.seen["undo refused: "+string(state)]++
	return wantCode(err, crowd.Conflict)
}

// countNow lets the provisional answers of somebody count.
func (w *world) countNow(id crowd.WorkerID) error {
	w.k.counting = id
	w.e.CountNow(w.now, id)
	if list := w.e.Undoable(id); len(list) > 0 {
		return fmt.Errorf("%+v may be taken back still", list)
	}
	return nil
}
