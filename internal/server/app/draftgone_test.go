package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/store"
)

// TestADraftThatIsCancelledGivesItsRoomBack: with its tasks and its template, and what is asked of it
// then is answered as of a draft that has no tasks.
func TestADraftThatIsCancelledGivesItsRoomBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	used := func() int64 {
		return must(w.store.Usage(w.ctx, w.a, time.Now()))(t)[store.StoredBytes]
	}
	before := used()
	id := w.draft(50, func(n *batches.NewBatch) {
		n.Template = []byte(strings.Replace(yesOrNo, "?", "? "+strings.Repeat("Look well. ", 500), 1))
	})
	if full := used(); full < before+5000 {
		t.Fatalf("a draft takes %d bytes", full-before)
	}
	v := must(w.Batches.Cancel(w.ctx, w.ann, id))(t)
	if v.Progress.State != crowd.BatchCancelled || v.Spec.Tasks != 0 {
		t.Errorf("it is %s with %d tasks", v.Progress.State, v.Spec.Tasks)
	}
	if left := used() - before; left > 50 {
		t.Errorf("%d bytes are left", left)
	}
	ok(t, w.store.CheckUsage(w.ctx))
	must(w.Batches.Get(w.ctx, w.ann, id))(t)
	if list := must(w.Results.List(w.ctx, w.ann, id, results.Query{Limit: 9}))(t); len(list.Rows) != 0 {
		t.Errorf("its tasks are %+v", list.Rows)
	}
	must(w.Results.All(w.ctx, w.ann, id, results.Query{}))(t)
	must(w.Results.Summary(w.ctx, w.ann, id, "", ""))(t)
	must(w.Batches.Quality(w.ctx, w.ann, id, ""))(t)
	_, err := w.Batches.Preview(w.ctx, w.ann, id, 1)
	refused(t, err, crowd.NotFound)
	_, err = w.Batches.Cancel(w.ctx, w.ann, id)
	refused(t, err, crowd.Conflict)
}
