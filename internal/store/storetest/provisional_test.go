package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// testCommitProvisional: a provisional answer is kept for a restart and for who gave it, and for
// nobody else, until it counts or is taken back.
func testCommitProvisional(t *testing.T, w *world) {
	d := must(w.Batch(w.ctx, w.mine, w.batch))(t)
	d.Spec.Grace = time.Minute + time.Microsecond
	ok(t, w.UpdateDraft(w.ctx, d))
	same(t, "the grace", must(w.Batch(w.ctx, w.mine, w.batch))(t).Spec.Grace, d.Spec.Grace)
	w.history(t)
	used := func() int64 { return must(w.Usage(w.ctx, w.mine, w.now))(t)[store.StoredBytes] }
	before := used()
	five := w.answer(5, 2, 50_000)
	held := engine.Answer{Assignment: five.Assignment, Worker: five.Worker, At: five.At, Body: five.Body, Key: five.Key}
	provisional := &engine.Changes{Provisional: []engine.Answer{held}}
	for name, bad := range map[string]engine.Answer{
		"somebody else's":        {Assignment: held.Assignment, Worker: w.workers[0], Body: "{}"},
		"of what is answered":    {Assignment: w.batch.Assignment(1), Worker: w.workers[0], Body: "{}"},
		"of what ran out":        {Assignment: w.batch.Assignment(4), Worker: w.workers[1], Body: "{}"},
		"of what never was":      {Assignment: w.batch.Assignment(9), Worker: w.workers[2], Body: "{}"},
		"of a batch there isn't": {Assignment: crowd.BatchID(99).Assignment(1), Worker: w.workers[2], Body: "{}"},
	} {
		w.unchanged(t, func() {
			if w.Commit(w.ctx, &engine.Changes{Provisional: []engine.Answer{bad}}) == nil {
				t.Errorf("a provisional answer %s is kept", name)
			}
		})
	}
	undone := &engine.Changes{Undone: []engine.Undone{{Assignment: held.Assignment, Worker: held.Worker, At: w.now, Expires: w.now.Add(2 * time.Hour)}}}
	w.unchanged(t, func() {
		if w.Commit(w.ctx, undone) == nil {
			t.Error("what was not answered is taken back")
		}
	})

	ok(t, w.Commit(w.ctx, provisional))
	same(t, "used", used()-before, int64(len(held.Body)))
	ok(t, w.CheckUsage(w.ctx))
	w.unchanged(t, func() {
		if w.Commit(w.ctx, provisional) == nil {
			t.Error("it is kept twice")
		}
		if w.Commit(w.ctx, &engine.Changes{Ends: []engine.End{{Assignment: held.Assignment, State: crowd.Expired, At: w.now}}}) == nil {
			t.Error("what is provisional runs out")
		}
	})
	h := w.handout(5, 3, 2)
	want := engine.AssignmentSnapshot{
		ID: h.Assignment, Task: h.Task, Worker: h.Worker, State: crowd.Provisional, At: h.At, Expires: h.Expires, AnsweredAt: held.At, Key: held.Key, Body: held.Body,
	}
	kept := func() engine.AssignmentSnapshot {
		t.Helper()
		for _, a := range must(w.Snapshot(w.ctx, w.pool))(t).Batches[0].Assignments {
			if a.ID == held.Assignment {
				return a
			}
		}
		t.Fatal("it is not there")
		return engine.AssignmentSnapshot{}
	}
	same(t, "for a restart", kept(), want)
	shown := w.annotation(t, 5, 3, 2)
	shown.State, shown.Values = crowd.Provisional, nil
	same(t, "for others", must(w.Assignment(w.ctx, held.Assignment))(t), shown)
	same(t, "among the answers", len(must(collect(w.Annotations(w.ctx, w.mine, w.batch, true)))(t)), 3)
	rows := 0
	for row, err := range w.Personal(w.ctx, held.Worker) {
		ok(t, err)
		if row.Table == "provisional_answers" {
			rows++
		}
	}
	same(t, "rows for the person", rows, 1)

	ok(t, w.Commit(w.ctx, undone))
	same(t, "used once it is taken back", used(), before)
	want.State, want.AnsweredAt, want.Key, want.Body, want.Expires = crowd.Assigned, time.Time{}, "", "", w.now.Add(2*time.Hour)
	same(t, "taken back", kept(), want)

	// Taken back, answered again and counted, all in one commit.
	ok(t, w.Commit(w.ctx, provisional))
	undone.Provisional, held.Kept, held.Counted, held.Paid = provisional.Provisional, true, true, 50_000
	undone.Answers, undone.Transfers = []engine.Answer{held}, []engine.Transfer{w.reward(5, 2, 50_000)}
	ok(t, w.Commit(w.ctx, undone))
	same(t, "used since it counts", used()-before, int64(len(held.Body)))
	got := must(w.Assignment(w.ctx, held.Assignment))(t)
	if got.State != crowd.Submitted || !got.Counted || got.Late || got.Paid != 50_000 || string(got.Body) != string(json.RawMessage(held.Body)) || !got.EndedAt.Equal(held.At) {
		t.Errorf("an answer that came to count is kept as %+v", got)
	}
	w.unchanged(t, func() {
		if w.Commit(w.ctx, &engine.Changes{Undone: undone.Undone}) == nil {
			t.Error("what counts is taken back")
		}
	})
	ok(t, w.CheckUsage(w.ctx))
	ok(t, w.CheckLedger(w.ctx))
}
