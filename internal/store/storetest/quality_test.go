package storetest

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// testQualityActions: what rules did comes by Commit, is listed to its tenant only, and told to the
// worker until they have seen it, or until it is undone or the batch ends.
func testQualityActions(t *testing.T, w *world) {
	w.history(t)
	at, half := w.now.Add(4*time.Hour), 0.5
	who, other := w.workers[0], w.workers[1]
	act := func(n uint32, worker crowd.WorkerID, kind engine.ActionKind, text string) engine.Action {
		return engine.Action{Batch: w.batch, N: n, Worker: worker, At: at.Add(time.Duration(n) * time.Minute), Rule: int(n), When: "wrong > 1", Kind: kind, Text: text,
			Figures: engine.Figures{Answers: 3, Checks: 2, Wrong: 1, Drift: 0.75, Accuracy: &half}}
	}
	actions := []engine.Action{act(1, who, engine.Warn, "look \u4e2d"), act(2, other, engine.PausePerson, ""), act(3, who, engine.PausePerson, "")}
	ok(t, w.Commit(w.ctx, &engine.Changes{Actions: actions[:2]}))
	ok(t, w.Commit(w.ctx, &engine.Changes{Actions: actions[2:]}))
	w.unchanged(t, func() {
		if w.Commit(w.ctx, &engine.Changes{Actions: actions[2:]}) == nil {
			t.Error("an action is kept twice")
		}
	})
	name := func(id crowd.WorkerID) string { return must(w.User(w.ctx, id))(t).Name }
	batch := must(w.Batch(w.ctx, w.mine, w.batch))(t).Name
	want := make([]store.QualityAction, len(actions))
	for i, a := range actions {
		want[i] = store.QualityAction{Action: a, WorkerName: name(a.Worker), BatchName: batch}
	}
	lists := func(tenant crowd.TenantID, id crowd.BatchID, after uint32, limit int) []store.QualityAction {
		t.Helper()
		return must(w.ListQualityActions(w.ctx, tenant, id, after, limit))(t)
	}
	unseen := func(worker crowd.WorkerID, limit int) []store.QualityAction {
		t.Helper()
		return must(w.UnseenActions(w.ctx, worker, limit))(t)
	}
	same(t, "all", lists(w.mine, w.batch, 0, 9), want)
	same(t, "the first", lists(w.mine, w.batch, 0, 1), want[:1])
	same(t, "those after it", lists(w.mine, w.batch, 1, 9), want[1:])
	same(t, "of another tenant", lists(w.other, w.batch, 0, 9), nil)
	same(t, "of another batch", lists(w.mine, 99, 0, 9), nil)
	onWorker := func(tenant crowd.TenantID, id crowd.BatchID, worker crowd.WorkerID, limit int) []store.QualityAction {
		t.Helper()
		return must(w.WorkerActions(w.ctx, tenant, id, worker, limit))(t)
	}
	same(t, "on a worker", onWorker(w.mine, w.batch, who, 9), []store.QualityAction{want[0], want[2]})
	same(t, "the latest on a worker", onWorker(w.mine, w.batch, who, 1), want[2:])
	same(t, "on another worker", onWorker(w.mine, w.batch, other, 9), want[1:2])
	same(t, "on a worker, of another tenant", onWorker(w.other, w.batch, who, 9), nil)
	same(t, "on a worker, of another batch", onWorker(w.mine, 99, who, 9), nil)
	same(t, "unseen", unseen(who, 9), []store.QualityAction{want[0], want[2]})
	same(t, "the oldest unseen", unseen(who, 1), want[:1])

	refused(t, w.SeeAction(w.ctx, other, w.batch, 1, at), crowd.NotFound)
	refused(t, w.SeeAction(w.ctx, who, 99, 1, at), crowd.NotFound)
	refused(t, w.SeeAction(w.ctx, who, w.batch, 9, at), crowd.NotFound)
	want[0].SeenAt = at.Add(time.Hour)
	ok(t, w.SeeAction(w.ctx, who, w.batch, 1, want[0].SeenAt))
	ok(t, w.SeeAction(w.ctx, who, w.batch, 1, at.Add(2*time.Hour)))
	same(t, "seen", unseen(who, 9), want[2:])

	undone := engine.ActionUndone{Batch: w.batch, N: 3, Undoing: engine.Undoing{UndoneAt: at.Add(3 * time.Hour), UndoneBy: other, From: 5, After: 3}}
	ok(t, w.Commit(w.ctx, &engine.Changes{Undoings: []engine.ActionUndone{undone}}))
	w.unchanged(t, func() {
		if w.Commit(w.ctx, &engine.Changes{Undoings: []engine.ActionUndone{undone}}) == nil {
			t.Error("an action is undone twice")
		}
	})
	want[2].Undoing, want[2].UndoneByName = undone.Undoing, name(other)
	same(t, "undone", lists(w.mine, w.batch, 0, 9), want)
	same(t, "undone, on its worker", onWorker(w.mine, w.batch, who, 1), want[2:])
	same(t, "undone, and not told any more", unseen(who, 9), nil)
	same(t, "another's", unseen(other, 9), want[1:2])

	train := act(4, who, engine.Train, "2 training tasks")
	train.Lessons = 2
	ok(t, w.Commit(w.ctx, &engine.Changes{Actions: []engine.Action{train}}))
	want = append(want, store.QualityAction{Action: train, WorkerName: name(who), BatchName: batch})
	same(t, "a training", lists(w.mine, w.batch, 3, 9), want[3:])
	same(t, "a training is told by its tasks", unseen(who, 9), nil)
	less := engine.ActionUndone{Batch: w.batch, N: 4, Lessons: 1, Undoing: undone.Undoing}
	ok(t, w.Commit(w.ctx, &engine.Changes{Undoings: []engine.ActionUndone{less}}))
	want[3].Undoing, want[3].UndoneByName, want[3].Lessons = less.Undoing, name(other), 1
	same(t, "a training that was undone", lists(w.mine, w.batch, 3, 9), want[3:])

	weights := func(tenant crowd.TenantID, id crowd.BatchID) map[crowd.WorkerID]label.Weight {
		return must(w.Weights(w.ctx, tenant, id))(t)
	}
	same(t, "whose answers count less before", weights(w.mine, w.batch), map[crowd.WorkerID]label.Weight{})
	var lower []engine.Action
	for n, weight := range []label.Weight{60, 25, 40} {
		a := act(uint32(5+n), who, engine.LowerWeight, "")
		a.Weight = weight
		lower = append(lower, a)
		want = append(want, store.QualityAction{Action: a, WorkerName: name(who), BatchName: batch})
	}
	lower[2].Worker, want[6].Worker, want[6].WorkerName = other, other, name(other)
	ok(t, w.Commit(w.ctx, &engine.Changes{Actions: lower}))
	same(t, "weights", lists(w.mine, w.batch, 4, 9), want[4:])
	same(t, "nobody is told what they weigh", unseen(who, 9), nil)
	same(t, "the lowest", weights(w.mine, w.batch), map[crowd.WorkerID]label.Weight{who: 25, other: 40})
	same(t, "for another tenant", weights(w.other, w.batch), map[crowd.WorkerID]label.Weight{})
	for _, n := range []uint32{6, 7} {
		ok(t, w.Commit(w.ctx, &engine.Changes{Undoings: []engine.ActionUndone{{Batch: w.batch, N: n, Undoing: undone.Undoing}}}))
	}
	same(t, "of those that stand", weights(w.mine, w.batch), map[crowd.WorkerID]label.Weight{who: 60})

	main, reviews := must(w.Batch(w.ctx, w.mine, w.batch))(t), w.kept(0, w.mine, 0)
	reviews.Spec.ReviewsOf(&main.Spec)
	in := must(w.CreateBatch(w.ctx, reviews))(t)
	ok(t, w.Commit(w.ctx, w.launch(in, crowd.Unit)))
	paused := make(map[crowd.BatchID][]crowd.WorkerID)
	for _, b := range must(w.Snapshot(w.ctx, w.pool))(t).Batches {
		paused[b.Spec.ID] = b.Paused
	}
	same(t, "who reviews nothing, as they are paused", paused[in], []crowd.WorkerID{other})
}
