package api_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// TestUndo: an answer to a batch with a grace does not count until that is over. Until then its
// worker, and nobody else, may take it back, and answers anew; then it is paid once.
func TestUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.workers[0], w.workers[1]
	def := definition()
	def.GraceSeconds = 3600
	batch := must(w.ann.CreateBatch(w.ctx, def))(t).ID
	if got := must(w.ann.Batch(w.ctx, batch))(t).GraceSeconds; got != 3600 {
		t.Errorf("a grace of %d s", got)
	}
	must(w.ann.Upload(w.ctx, batch, strings.NewReader("thing\ncat\ndog\n"), "", false))(t)
	must(w.ann.Launch(w.ctx, batch, false))(t)

	held := w.next(first)
	out, next, err := first.Submit(w.ctx, held.Assignment, json.RawMessage(`"yes"`), true, 0)
	ok(t, err)
	if out.Counted || out.PaidMicros != 0 || time.Until(out.CountsAt) < 59*time.Minute || next == nil || next.Task == held.Task {
		t.Fatalf("a provisional answer: %+v, then %+v", out, next)
	}
	if again, _, err := first.Submit(w.ctx, held.Assignment, json.RawMessage(`"no"`), false, 0); err != nil || !again.Duplicate || !again.CountsAt.Equal(out.CountsAt) {
		t.Errorf("sent again: %+v, %v", again, err)
	}
	b := must(w.ann.Batch(w.ctx, batch))(t)
	if b.Completed != 0 || b.Provisional != 1 || *b.Running != 2 || *b.Waiting != 0 || b.SpentMicros != 0 {
		t.Errorf("the batch has %d in, %d provisional, %d running, %d waiting, %s spent", b.Completed, b.Provisional, *b.Running, *b.Waiting, b.SpentMicros)
	}
	mine := must(first.Undoable(w.ctx))(t)
	if len(mine) != 1 || mine[0].Assignment != held.Assignment || mine[0].Task != held.Task || mine[0].Name != def.Name || !mine[0].CountsAt.Equal(out.CountsAt) || mine[0].SubmittedAt.IsZero() {
		t.Errorf("what may be taken back: %+v", mine)
	}
	if others := must(second.Undoable(w.ctx))(t); len(others) != 0 {
		t.Errorf("another one may take back %+v", others)
	}
	for _, id := range []crowd.AssignmentID{held.Assignment, batch.Assignment(99), crowd.BatchID(99).Assignment(1)} {
		if _, err := second.Undo(w.ctx, id); crowd.CodeOf(err) != crowd.NotFound {
			t.Errorf("another one takes back %s: %v", id, err)
		}
	}

	undone := must(first.Undo(w.ctx, held.Assignment))(t)
	if undone.Work == nil || undone.Work.Assignment != held.Assignment || string(undone.Answer) != `{"label":"yes"}` {
		t.Fatalf("taken back: %+v, %s", undone.Work, undone.Answer)
	}
	if twice := must(first.Undo(w.ctx, held.Assignment))(t); twice.Work.Assignment != held.Assignment || twice.Answer != nil {
		t.Errorf("taken back twice: %+v", twice)
	}
	if got := w.next(second); got.Task != next.Task {
		t.Errorf("what they put down is not asked: %s is", got.Task)
	}
	if got := w.next(first); got.Assignment != held.Assignment {
		t.Errorf("they hold %s", got.Assignment)
	}
	_, _, err = first.Submit(w.ctx, held.Assignment, json.RawMessage(`"no"`), false, 0)
	ok(t, err)
	must(w.ann.Move(w.ctx, batch, "end"))(t)
	if _, err := first.Undo(w.ctx, held.Assignment); crowd.CodeOf(err) != crowd.Conflict {
		t.Errorf("what counts is taken back: %v", err)
	}
	if list := must(first.Undoable(w.ctx))(t); len(list) != 0 {
		t.Errorf("what counts may be taken back: %+v", list)
	}
	if b = must(w.ann.Batch(w.ctx, batch))(t); b.Completed != 1 || b.Provisional != 0 || b.Labelled != 1 || b.SpentMicros != def.RewardMicros {
		t.Errorf("in the end: %d in, %d provisional, %d labels, %s spent", b.Completed, b.Provisional, b.Labelled, b.SpentMicros)
	}
	if earned, list, err := first.Earnings(w.ctx); err != nil || earned != def.RewardMicros || len(list) != 1 || !list[0].Counted {
		t.Errorf("they earned %s by %+v, %v", earned, list, err)
	}
}

// TestGraceTerms: a grace is no longer than a day.
func TestGraceTerms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	def := definition()
	def.GraceSeconds = 86401
	if _, err := w.ann.CreateBatch(w.ctx, def); crowd.CodeOf(err) != crowd.Invalid {
		t.Errorf("more than a day: %v", err)
	}
}
