package app_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
)

// TestErasedTextsAreNoAnswers: quality and labels made later are of what is still there.
func TestErasedTextsAreNoAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.draft(2, times(3), func(b *batches.NewBatch) {
		b.Template = json.RawMessage(`{"kind":"short_text","question":"Say ${thing}"}`)
	})
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	for i, p := range w.workers {
		for range 2 {
			must(w.submit(p, w.next(p).Assignment, json.RawMessage(fmt.Sprintf(`"text %d"`, i/2))))(t)
		}
	}
	gone := w.workers[2]
	ok(t, w.Accounts.Erase(w.ctx, w.admin, gone.User.ID, accounts.ErasureOrder{Confirm: gone.User.Name, FreeText: accounts.DeleteText, Settled: true}))
	q, answers := must(w.Batches.Quality(w.ctx, w.ann, id, "majority"))(t), 0
	for _, x := range q.Workers {
		answers += x.Answers
	}
	if len(q.Workers) != 2 || answers != 4 {
		t.Errorf("after an erasure %d workers have %d answers", len(q.Workers), answers)
	}
}
