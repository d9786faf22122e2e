package app_test

import (
	"context"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/store"
)

// TestALabelDoesNotRestOnDisregardedAnswersAgain: a corrected label stays as answers to it are
// disregarded, so what the answers said is not what it goes back to.
func TestALabelDoesNotRestOnDisregardedAnswersAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id := w.launch(2)
	w.told(w.workers[0], 1, no)
	must(w.Results.Correct(w.ctx, w.ann, id.Task(1), "yes", ""))(t)
	must(w.Batches.Disregard(w.ctx, w.ann, id, w.pseudonym(w.a, w.workers[0]), true))(t)
	_, err := w.Results.Withdraw(w.ctx, w.ann, id.Task(1), "")
	refusedText(t, err, crowd.Conflict, "correct it to what is right")
	if x := must(w.Results.Task(w.ctx, w.ann, id.Task(1), results.Live))(t); x.Row.Corrected == nil || x.Row.Corrected.Value != "yes" {
		t.Errorf("it is %+v", x.Row)
	}
	must(w.Results.Correct(w.ctx, w.ann, id.Task(1), "no", "after all"))(t)
}

// overtakenRead is a store in which something else begins once what somebody answered was read.
type overtakenRead struct {
	store.Store
	by func()
}

func (o *overtakenRead) AnsweredBy(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, worker crowd.WorkerID, after, last uint32, limit int) ([]engine.AnsweredTask, error) {
	list, err := o.Store.AnsweredBy(ctx, tenant, id, worker, after, last, limit)
	if f := o.by; f != nil && len(list) > 0 {
		f()
	}
	return list, err
}

// TestACorrectionDoesNotOvertake: a label that is corrected while answers to it are disregarded stays, or is
// there no more to be corrected.
func TestACorrectionDoesNotOvertake(t *testing.T) {
	t.Parallel()
	w, o := newWorld(t, 1), &overtakenRead{}
	w.wrap = func(s store.Store) store.Store { o.Store = s; return o }
	w.reopen()
	id := w.launch(2)
	w.told(w.workers[0], 1, no)
	who := w.pseudonym(w.a, w.workers[0])
	corrected, reads := make(chan error, 1), 0
	o.by = func() {
		if reads++; reads != 2 { // the first look is for what it would come to
			return
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, err := w.Results.Correct(w.ctx, w.ann, id.Task(1), "yes", "")
			corrected <- err
		}()
		select {
		case <-ended: // nothing holds it up
		case <-time.After(200 * time.Millisecond): // it waits its turn
		}
	}
	must(w.Batches.Disregard(w.ctx, w.ann, id, who, true))(t)
	err := <-corrected
	x := must(w.Results.Task(w.ctx, w.ann, id.Task(1), results.Live))(t)
	labelled := w.batch(id).Progress.Labelled == 1
	if reads < 2 || (err == nil) != labelled || (err == nil) != (x.Row.Corrected != nil) {
		t.Errorf("corrected: %v, and of %d reads it has %+v, %+v; its batch counts it: %t", err, reads, x.Row.Label, x.Row.Corrected, labelled)
	}
}

// TestWhoHoldsADroppedReviewGoesOn, also once the task has another label, which is reviewed anew.
func TestWhoHoldsADroppedReviewGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.launch(2, reviewed(engine.Review{Share: 1}))
	w.told(w.workers[0], 1, no)
	held := w.next(w.workers[1])
	must(w.Batches.Disregard(w.ctx, w.ann, id, w.pseudonym(w.a, w.workers[0]), true))(t)
	w.told(w.workers[2], 1, yes)
	if again := w.next(w.workers[1]); again.Assignment != held.Assignment || again.Review != nil {
		t.Errorf("who holds a review that was dropped is shown %+v", again)
	}
	must(w.submit(w.workers[1], held.Assignment, no))(t)
	if x := must(w.Results.Task(w.ctx, w.ann, id.Task(1), results.Live))(t); x.Row.Label.Value != "yes" || x.Row.Corrected != nil {
		t.Errorf("what they said is taken for a review of the new label: %+v", x.Row)
	}
}
