package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

func testActivity(t *testing.T, w *world) {
	w.history(t)
	sign := func(n uint32, worker int, state crowd.AssignmentState, ended time.Time) store.Activity {
		return store.Activity{Assignment: w.batch.Assignment(n), Worker: w.workers[worker], State: state, At: w.now.Add(time.Duration(n) * time.Second), EndedAt: ended}
	}
	want := []store.Activity{
		sign(1, 0, crowd.Submitted, w.now.Add(time.Minute)), sign(2, 1, crowd.Submitted, w.now.Add(2*time.Minute)), sign(3, 0, crowd.Submitted, w.now.Add(3*time.Minute)),
		sign(4, 1, crowd.Expired, w.now.Add(2*time.Hour)), sign(5, 2, crowd.Assigned, time.Time{}),
	}
	look := func(what string, since time.Time, limit int, want []store.Activity, wantFrom time.Time) {
		t.Helper()
		got, from, err := w.Activity(w.ctx, w.pool, since, limit)
		ok(t, err)
		same(t, what, got, want)
		if !from.Equal(wantFrom) {
			t.Errorf("%s: all from %s on, want %s", what, from, wantFrom)
		}
	}
	look("all", w.now, 100, want, w.now)
	look("since the third", w.now.Add(3*time.Second), 100, want[2:], w.now.Add(3*time.Second))
	look("the latest two", w.now, 4, want[3:], w.now.Add(4*time.Second))

	second := w.draft(t, w.other, 1) // every tenant's batches of the pool are looked at
	ok(t, w.Deposit(w.ctx, w.now, w.other, 10, ""))
	ok(t, w.Commit(w.ctx, &engine.Changes{Progress: []engine.Progress{{Batch: second, State: crowd.BatchDone, Issued: 1, LaunchedAt: w.now, EndedAt: w.now.Add(time.Hour)}}}))
	one := engine.Handout{Assignment: second.Assignment(1), Task: second.Task(1), Worker: w.workers[3], At: w.now.Add(time.Minute), Expires: w.now.Add(time.Hour)}
	ok(t, w.Commit(w.ctx, &engine.Changes{Handouts: []engine.Handout{one}}))
	look("with a batch that ended", w.now, 100, append(slices.Clone(want), store.Activity{Assignment: one.Assignment, Worker: one.Worker, State: crowd.Assigned, At: one.At}), w.now)
	look("after it ended", w.now.Add(61*time.Minute), 100, nil, w.now.Add(61*time.Minute))

	elsewhere := must(w.CreatePool(w.ctx, store.Pool{Name: "elsewhere", Policy: "fifo", CreatedAt: w.now}))(t)
	got, _, err := w.Activity(w.ctx, elsewhere, w.now, 100)
	ok(t, err)
	same(t, "another pool's", got, nil)
}
