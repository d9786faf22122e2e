package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// annotation is what must be read of an assignment of history.
func (w *world) annotation(t *testing.T, n, task uint32, worker int) store.Annotation {
	h := w.handout(n, task, worker)
	return store.Annotation{
		Assignment: h.Assignment, Task: h.Task, Values: must(w.Task(w.ctx, h.Task))(t).Values,
		Worker: h.Worker, WorkerName: fmt.Sprintf("worker%d", worker+1), State: crowd.Assigned, AssignedAt: h.At, ExpiresAt: h.Expires,
	}
}

func (w *world) answered(t *testing.T, n, task uint32, worker int, paid crowd.Money) store.Annotation {
	a, x := w.annotation(t, n, task, worker), w.answer(n, worker, paid)
	a.State, a.EndedAt, a.Body, a.Key, a.Late, a.Counted, a.Paid = crowd.Submitted, x.At, json.RawMessage(x.Body), x.Key, x.Late, x.Counted, x.Paid
	return a
}

// annotations is all of history.
func (w *world) annotations(t *testing.T) []store.Annotation {
	expired := w.annotation(t, 4, 2, 1)
	expired.State, expired.EndedAt = crowd.Expired, w.now.Add(2*time.Hour)
	return []store.Annotation{
		w.answered(t, 1, 1, 0, 50_000), w.answered(t, 2, 1, 1, 60_000), w.answered(t, 3, 2, 0, 50_000), expired, w.annotation(t, 5, 3, 2),
	}
}

func testAnnotations(t *testing.T, w *world) {
	next := w.draft(t, w.mine, 1) // its ids come next
	same(t, "of a draft", must(collect(w.Annotations(w.ctx, w.mine, w.batch, false)))(t), nil)
	w.history(t)
	want := w.annotations(t)
	same(t, "all", must(collect(w.Annotations(w.ctx, w.mine, w.batch, false)))(t), want)
	same(t, "answered", must(collect(w.Annotations(w.ctx, w.mine, w.batch, true)))(t), want[:3])
	same(t, "of the next batch", must(collect(w.Annotations(w.ctx, w.mine, next, false)))(t), nil)
	for _, tenant := range []crowd.TenantID{w.other, 0, 99} {
		got, err := collect(w.Annotations(w.ctx, tenant, w.batch, false))
		refused(t, err, crowd.NotFound)
		same(t, "wrong tenant", got, nil)
	}
	_, err := collect(w.Annotations(w.ctx, w.mine, 99, false))
	refused(t, err, crowd.NotFound)
}

func testLabels(t *testing.T, w *world) {
	next := w.draft(t, w.mine, 1)
	w.history(t)
	var want []store.LabelledTask
	for n := range uint32(tasks) {
		task := must(w.Task(w.ctx, w.batch.Task(n+1)))(t)
		want = append(want, store.LabelledTask{Task: task.ID, Values: task.Values, Gold: task.Gold})
	}
	want[0].Label = &engine.Label{Task: w.batch.Task(1), At: w.now.Add(time.Minute), Value: "key1", Confidence: 2.0 / 3, Answers: 2, Tie: true, Undecided: true}
	same(t, "labels", must(collect(w.Labels(w.ctx, w.mine, w.batch)))(t), want)
	same(t, "number in the next batch", len(must(collect(w.Labels(w.ctx, w.mine, next)))(t)), 1)
	for _, tenant := range []crowd.TenantID{w.other, 0, 99} {
		got, err := collect(w.Labels(w.ctx, tenant, w.batch))
		refused(t, err, crowd.NotFound)
		same(t, "wrong tenant", got, nil)
	}
	_, err := collect(w.Labels(w.ctx, w.mine, 99))
	refused(t, err, crowd.NotFound)
}

func testAnswers(t *testing.T, w *world) {
	same(t, "of a draft", must(collect(w.Answers(w.ctx, w.mine, w.batch)))(t), nil)
	w.history(t)
	want := w.annotations(t)[:3]
	for i := range want {
		want[i].Values, want[i].WorkerName = nil, ""
	}
	same(t, "answers", must(collect(w.Answers(w.ctx, w.mine, w.batch)))(t), want)
	for _, tenant := range []crowd.TenantID{w.other, 0, 99} {
		got, err := collect(w.Answers(w.ctx, tenant, w.batch))
		refused(t, err, crowd.NotFound)
		same(t, "wrong tenant", got, nil)
	}
}

func testTaskResults(t *testing.T, w *world) {
	theirs := w.draft(t, w.mine, 1)
	w.history(t)
	annotations := w.annotations(t)
	for i := range annotations {
		annotations[i].Values = nil
	}
	var want []store.TaskResult
	for _, l := range must(collect(w.Labels(w.ctx, w.mine, w.batch)))(t) {
		r := store.TaskResult{LabelledTask: l}
		for _, a := range annotations {
			if a.Task == l.Task {
				r.Annotations = append(r.Annotations, a)
			}
		}
		want = append(want, r)
	}
	given := make([]crowd.AssignmentID, 250)
	for i := range given {
		given[i] = w.batch.Assignment(uint32(250 - i))
	}
	read := func(tenant crowd.TenantID, list ...crowd.TaskID) ([]store.TaskResult, error) {
		return w.TaskResults(w.ctx, tenant, w.batch, list, given)
	}
	same(t, "none", must(read(w.mine))(t), nil)
	same(t, "one", must(read(w.mine, w.batch.Task(2)))(t), want[1:2])
	same(t, "in another order, twice, of another batch, that do not exist",
		must(read(w.mine, w.batch.Task(3), w.batch.Task(1), theirs.Task(1), w.batch.Task(1), w.batch.Task(crowd.MaxInBatch)))(t), []store.TaskResult{want[0], want[2]})
	many := make([]crowd.TaskID, 250)
	for i := range many {
		many[i] = w.batch.Task(uint32(250 - i))
	}
	same(t, "more than one query reads", must(read(w.mine, many...))(t), want)
	without := want[0]
	without.Annotations = without.Annotations[1:]
	same(t, "an assignment that is not asked for, and one of another batch",
		must(w.TaskResults(w.ctx, w.mine, w.batch, many[249:], []crowd.AssignmentID{w.batch.Assignment(2), theirs.Assignment(1)}))(t), []store.TaskResult{without})
	ok(t, w.Commit(w.ctx, &engine.Changes{Removals: []engine.Removal{{Task: w.batch.Task(2), At: w.now}}}))
	same(t, "one that was taken out", must(read(w.mine, w.batch.Task(2)))(t), nil)
	for _, tenant := range []crowd.TenantID{w.other, 0, 99} {
		got, err := read(tenant, w.batch.Task(1))
		refused(t, err, crowd.NotFound)
		same(t, "wrong tenant", got, nil)
	}
}

// testGivenAnswers: of some assignments those with an answer come, as Answers has them but without what was answered.
func testGivenAnswers(t *testing.T, w *world) {
	theirs := w.draft(t, w.mine, 1)
	w.history(t)
	want := must(collect(w.Answers(w.ctx, w.mine, w.batch)))(t)
	for i := range want {
		want[i].Key, want[i].Body = "", nil
	}
	given := make([]crowd.AssignmentID, 250)
	for i := range given {
		given[i] = w.batch.Assignment(uint32(250 - i))
	}
	same(t, "none", must(w.GivenAnswers(w.ctx, w.mine, w.batch, nil))(t), nil)
	same(t, "more than one query reads", must(w.GivenAnswers(w.ctx, w.mine, w.batch, given))(t), want)
	last := want[len(want)-1]
	same(t, "one, twice, and one of another batch", must(w.GivenAnswers(w.ctx, w.mine, w.batch, []crowd.AssignmentID{last.Assignment, theirs.Assignment(1), last.Assignment}))(t), []store.Annotation{last})
	for _, tenant := range []crowd.TenantID{w.other, 0, 99} {
		got, err := w.GivenAnswers(w.ctx, tenant, w.batch, given)
		refused(t, err, crowd.NotFound)
		same(t, "wrong tenant", got, nil)
	}
}

func testAssigned(t *testing.T, w *world) {
	same(t, "of a draft", must(w.Assigned(w.ctx, w.mine, w.batch, 0, 10))(t), nil)
	w.history(t)
	same(t, "all", must(w.Assigned(w.ctx, w.mine, w.batch, 0, 10))(t), []uint32{1, 1, 2, 2, 3})
	same(t, "two", must(w.Assigned(w.ctx, w.mine, w.batch, 2, 2))(t), []uint32{2, 2})
	same(t, "after the last", must(w.Assigned(w.ctx, w.mine, w.batch, 5, 2))(t), nil)
	ok(t, w.Commit(w.ctx, &engine.Changes{Handouts: []engine.Handout{w.handout(8, 1, 2)}}))
	same(t, "with numbers that were not used", must(w.Assigned(w.ctx, w.mine, w.batch, 4, 10))(t), []uint32{3, 0, 0, 1})
	same(t, "with a limit", must(w.Assigned(w.ctx, w.mine, w.batch, 5, 1))(t), []uint32{0, 0, 1})
	for _, tenant := range []crowd.TenantID{w.other, 0, 99} {
		same(t, "wrong tenant", must(w.Assigned(w.ctx, tenant, w.batch, 0, 10))(t), nil)
	}
}

func testAssignment(t *testing.T, w *world) {
	w.history(t)
	for _, want := range w.annotations(t) {
		want.Values = nil
		same(t, want.Assignment.String(), must(w.Assignment(w.ctx, want.Assignment))(t), want)
	}
	for _, n := range []uint32{0, 6} {
		_, err := w.Assignment(w.ctx, w.batch.Assignment(n))
		refused(t, err, crowd.NotFound)
	}
}

func testWorkerAnnotations(t *testing.T, w *world) {
	w.history(t)
	x := w.annotations(t)
	for i := range x { // the list has no text
		x[i].WorkerName, x[i].Values, x[i].Body, x[i].Key = "", nil, nil, ""
	}
	same(t, "of worker 1", must(w.WorkerAnnotations(w.ctx, w.workers[0], 10))(t), []store.Annotation{x[2], x[0]})
	same(t, "the latest", must(w.WorkerAnnotations(w.ctx, w.workers[0], 1))(t), []store.Annotation{x[2]})
	same(t, "none", must(w.WorkerAnnotations(w.ctx, w.workers[0], 0))(t), nil)
	same(t, "of worker 2", must(w.WorkerAnnotations(w.ctx, w.workers[1], 10))(t), []store.Annotation{x[1]})
	same(t, "of worker 3, who holds one", must(w.WorkerAnnotations(w.ctx, w.workers[2], 10))(t), nil)
	same(t, "of nobody", must(w.WorkerAnnotations(w.ctx, 99, 10))(t), nil)

	// A late answer that does not count comes last, though handed out earlier.
	late := w.answer(4, 1, 0)
	late.At = w.now.Add(5 * time.Hour)
	ok(t, w.Commit(w.ctx, &engine.Changes{
		Handouts: []engine.Handout{w.handout(6, 4, 1)}, Answers: []engine.Answer{w.answer(6, 1, 50_000)}, Transfers: []engine.Transfer{w.reward(6, 1, 50_000)},
	}))
	ok(t, w.Commit(w.ctx, &engine.Changes{Answers: []engine.Answer{late}}))
	same(t, "of worker 2, with a late one", ids(must(w.WorkerAnnotations(w.ctx, w.workers[1], 10))(t)), []uint32{4, 6, 2})
	w.unchanged(t, func() { // sent twice
		late.Body, late.At = "{}", w.now
		ok(t, w.Commit(w.ctx, &engine.Changes{Answers: []engine.Answer{late}}))
	})
}

func ids(list []store.Annotation) (out []uint32) {
	for _, a := range list {
		out = append(out, a.Assignment.N())
	}
	return out
}

func testIterationStops(t *testing.T, w *world) {
	w.history(t)
	for range 50 { // more than any pool of connections has
		for range w.Annotations(w.ctx, w.mine, w.batch, false) {
			break
		}
		for range w.Labels(w.ctx, w.mine, w.batch) {
			break
		}
	}
	same(t, "all", must(collect(w.Annotations(w.ctx, w.mine, w.batch, false)))(t), w.annotations(t))
}

func testIterationWhileCommitting(t *testing.T, w *world) {
	const before, after = 300, 300
	w.batch = w.draft(t, w.mine, before+after)
	ok(t, w.Deposit(w.ctx, w.now, w.mine, 10*crowd.Unit, ""))
	ok(t, w.Commit(w.ctx, w.launch(w.batch, crowd.Unit)))
	more := func(n uint32) {
		ok(t, w.Commit(w.ctx, &engine.Changes{
			Handouts: []engine.Handout{w.handout(n, n, 0)}, Answers: []engine.Answer{w.answer(n, 0, 100)},
			Labels: []engine.Label{{Task: w.batch.Task(n), Value: "x"}}, Transfers: []engine.Transfer{w.reward(n, 0, 100)},
		}))
	}
	for n := range uint32(before) {
		more(n + 1)
	}
	n, labelled, seen := uint32(before), 0, 0
	for l, err := range w.Labels(w.ctx, w.mine, w.batch) {
		ok(t, err)
		if seen++; l.Label != nil {
			labelled++
		}
		if n < before+after/2 {
			n++
			more(n)
		}
	}
	same(t, "tasks and labels", []int{seen, labelled}, []int{before + after, before})
	want, count := n, uint32(0)
	for _, err := range w.Annotations(w.ctx, w.mine, w.batch, true) {
		ok(t, err)
		count++
		if n < before+after {
			n++
			more(n)
		}
	}
	same(t, "annotations", count, want)
	same(t, "commits while it went on", n, uint32(before+after))
}
