package storetest

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// testReviews: a review comes with the label that it is of, as a task of its own batch that shows
// the same; its answer accepts the label, or corrects it unless somebody has done so before. Who
// reviewed is erased with what they wrote.
func testReviews(t *testing.T, w *world) {
	w.history(t)
	main := must(w.Batch(w.ctx, w.mine, w.batch))(t)
	reviews := w.kept(0, w.mine, 0)
	reviews.Spec.ReviewsOf(&main.Spec)
	in := must(w.CreateBatch(w.ctx, reviews))(t)
	w.unchanged(t, func() {
		_, err := w.CreateBatch(w.ctx, reviews)
		refused(t, err, crowd.Conflict)
	})
	same(t, "where labels are reviewed", must(w.Batch(w.ctx, w.mine, w.batch))(t).ReviewedIn, in)
	same(t, "whose reviews they are", must(w.Batch(w.ctx, w.mine, in))(t).Spec.ReviewOf, w.batch)
	ok(t, w.Commit(w.ctx, w.launch(in, crowd.Unit)))

	at := w.now.Add(5 * time.Hour)
	row := func(n uint32) store.LabelledTask {
		t.Helper()
		list := must(w.TaskResults(w.ctx, w.mine, w.batch, []crowd.TaskID{w.batch.Task(n)}, nil))(t)
		labels := must(collect(w.Labels(w.ctx, w.mine, w.batch)))(t)
		same(t, "with labels, and with results", labels[n-1].Review, list[0].Review)
		return list[0].LabelledTask
	}
	count := func(want map[store.ReviewState]int) {
		t.Helper()
		same(t, "count", must(w.CountReviews(w.ctx, w.mine, w.batch))(t), want)
	}
	same(t, "no review", row(1).Review, nil)
	count(nil)

	asked := func(task, n uint32) engine.ReviewAsked {
		return engine.ReviewAsked{Task: w.batch.Task(task), Review: in.Task(n), At: at, Why: engine.ForUndecided | engine.ForNewWorker,
			Answers: []crowd.AssignmentID{w.batch.Assignment(1), w.batch.Assignment(2)}, NotBy: []crowd.WorkerID{w.workers[0], w.workers[1]}}
	}
	used := func() map[store.Quota]int64 { return must(w.Usage(w.ctx, w.mine, w.now))(t) }
	before := used()
	ok(t, w.Commit(w.ctx, &engine.Changes{Reviews: []engine.ReviewAsked{asked(1, 1)}}))
	same(t, "open tasks", used()[store.OpenTasks]-before[store.OpenTasks], int64(1))
	for name, x := range map[string]engine.ReviewAsked{"twice": asked(1, 2), "a task twice": asked(2, 1), "a gap": asked(2, 3), "of no task": asked(99, 2)} {
		w.unchanged(t, func() {
			if w.Commit(w.ctx, &engine.Changes{Reviews: []engine.ReviewAsked{x}}) == nil {
				t.Errorf("a review is kept: %s", name)
			}
		})
	}
	task, of := must(w.Task(w.ctx, in.Task(1)))(t), must(w.Task(w.ctx, w.batch.Task(1)))(t)
	same(t, "what it shows", task.Values, of.Values)
	same(t, "not by", task.NotBy, []crowd.WorkerID{w.workers[0], w.workers[1]})
	same(t, "its known answer", task.Gold, "")
	same(t, "tasks", must(w.Batch(w.ctx, w.mine, in))(t).Spec.Tasks, uint32(1))
	want := store.Review{Task: w.batch.Task(1), Review: in.Task(1), At: at, Why: engine.ForUndecided | engine.ForNewWorker, State: store.ReviewWaiting, Answers: asked(1, 1).Answers}
	same(t, "the review", must(w.Review(w.ctx, in.Task(1)))(t), want)
	want.Answers = nil
	same(t, "the review of the label", row(1).Review, &want)
	count(map[store.ReviewState]int{store.ReviewWaiting: 1})
	same(t, "of another tenant", must(w.CountReviews(w.ctx, w.other, w.batch))(t), nil)
	for _, none := range []crowd.TaskID{in.Task(2), w.batch.Task(1)} {
		_, err := w.Review(w.ctx, none)
		refused(t, err, crowd.NotFound)
	}

	who := w.workers[2]
	decide := func(n uint32, value string) {
		t.Helper()
		l := engine.Label{Task: in.Task(n), At: at.Add(time.Hour), Value: value, Confidence: 1, Answers: 1, By: []crowd.WorkerID{who}}
		ok(t, w.Commit(w.ctx, &engine.Changes{Labels: []engine.Label{l}}))
	}
	decide(1, "key2")
	want.State, want.DecidedAt, want.By = store.ReviewCorrected, at.Add(time.Hour), who
	same(t, "done", row(1).Review, &want)
	fix := store.Correction{Task: w.batch.Task(1), N: 1, At: want.DecidedAt, By: who, ByName: must(w.User(w.ctx, who))(t).Name, Value: "key2", Review: in.Task(1)}
	same(t, "corrected", row(1).Corrected, &fix)
	same(t, "listed", must(w.ListCorrections(w.ctx, w.mine, w.batch.Task(1)))(t), []store.Correction{fix})
	ok(t, w.CheckUsage(w.ctx))

	label := func(task uint32) engine.Label {
		return engine.Label{Task: w.batch.Task(task), At: at, Value: "key1", Confidence: 1, Answers: 1}
	}
	ok(t, w.Commit(w.ctx, &engine.Changes{Labels: []engine.Label{label(2), label(3), label(4), label(5)}, Reviews: []engine.ReviewAsked{asked(2, 2), asked(3, 3), asked(4, 4), asked(5, 5)}}))
	decide(2, "key1")
	same(t, "accepted", row(2).Review.State, store.ReviewAccepted)
	same(t, "not corrected", row(2).Corrected, nil)
	decided := make(map[uint32]bool)
	for _, worker := range w.workers {
		for _, x := range must(w.AnsweredBy(w.ctx, w.mine, w.batch, worker, 0, crowd.MaxInBatch, 99))(t) {
			decided[x.N] = x.Decided
		}
	}
	same(t, "an answer to what was accepted", decided[2], true)
	staff := must(w.PutCorrection(w.ctx, w.mine, store.Correction{Task: w.batch.Task(3), At: at, By: w.workers[3], Value: "key7"}))(t)
	decide(3, "key2")
	same(t, "kept", row(3).Review.State, store.ReviewKept)
	same(t, "what staff said holds", row(3).Corrected.N, staff.N)
	same(t, "what staff said holds", row(3).Corrected.Value, "key7")
	_ = must(w.PutCorrection(w.ctx, w.mine, store.Correction{Task: w.batch.Task(4), At: at, By: w.workers[3], Value: "key7"}))(t)
	decide(4, "key7")
	same(t, "the correction is accepted", row(4).Review.State, store.ReviewAccepted)
	count(map[store.ReviewState]int{store.ReviewAccepted: 2, store.ReviewCorrected: 1, store.ReviewKept: 1, store.ReviewWaiting: 1})
	ok(t, w.Commit(w.ctx, &engine.Changes{Removals: []engine.Removal{{Task: in.Task(5), At: at}}}))
	same(t, "taken out", row(5).Review.State, store.ReviewDropped)
	over := w.progress(in)
	over.State, over.EndedAt = crowd.BatchStopped, at
	ok(t, w.Commit(w.ctx, &engine.Changes{Progress: []engine.Progress{over}}))
	count(map[store.ReviewState]int{store.ReviewAccepted: 2, store.ReviewCorrected: 1, store.ReviewKept: 1, store.ReviewDropped: 1})
	ok(t, w.CheckUsage(w.ctx))
}
