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
