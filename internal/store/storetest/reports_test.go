package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// testReports: what workers say is wrong with tasks comes with the end of their
// assignments, is listed to its tenant only, answered once for a task, and goes with the
// answers, and with who said it.
func testReports(t *testing.T, w *world) {
	next := w.draft(t, w.mine, 2)
	w.history(t)
	lists := func(tenant crowd.TenantID, id crowd.BatchID, after crowd.AssignmentID, limit int) []store.Report {
		t.Helper()
		return must(w.ListReports(w.ctx, tenant, id, after, limit))(t)
	}
	same(t, "at first", lists(w.mine, w.batch, 0, 9), nil)
	refused(t, w.PutReply(w.ctx, w.mine, store.Reply{Task: w.batch.Task(3), At: w.now, Text: "so"}), crowd.NotFound)

	at := w.now.Add(4 * time.Hour)
	six := w.handout(6, 3, 0)
	report := func(h engine.Handout, text string) *engine.Changes {
		return &engine.Changes{Ends: []engine.End{{Assignment: h.Assignment, State: crowd.Reported, At: at}}, Reports: []engine.Report{{Assignment: h.Assignment, Worker: h.Worker, At: at, Text: text}}}
	}
	ok(t, w.Commit(w.ctx, &engine.Changes{Handouts: []engine.Handout{six}}))
	five := w.handout(5, 3, 2)
	ok(t, w.Commit(w.ctx, report(five, "no picture")))
	ok(t, w.Commit(w.ctx, report(six, "it is in \u4e2d\u6587")))
	w.unchanged(t, func() {
		if w.Commit(w.ctx, report(five, "twice")) == nil {
			t.Error("an assignment is reported twice")
		}
	})
	name := must(w.Batch(w.ctx, w.mine, w.batch))(t).Name
	want := []store.Report{
		{Assignment: five.Assignment, Task: five.Task, Worker: five.Worker, WorkerName: "worker3", BatchName: name, At: at, Text: "no picture"},
		{Assignment: six.Assignment, Task: six.Task, Worker: six.Worker, WorkerName: "worker1", BatchName: name, At: at, Text: "it is in \u4e2d\u6587"},
	}
	same(t, "all", lists(w.mine, w.batch, 0, 9), want)
	same(t, "the first", lists(w.mine, w.batch, 0, 1), want[:1])
	same(t, "those after it", lists(w.mine, w.batch, five.Assignment, 9), want[1:])
	same(t, "of another tenant", lists(w.other, w.batch, 0, 9), nil)
	same(t, "of another batch", lists(w.mine, next, 0, 9), nil)
	same(t, "the assignment", must(w.Assignment(w.ctx, five.Assignment))(t).State, crowd.Reported)

	for _, r := range []store.Reply{{Task: w.batch.Task(1)}, {Task: next.Task(1)}, {Task: crowd.BatchID(99).Task(1)}} {
		refused(t, w.PutReply(w.ctx, w.mine, r), crowd.NotFound)
	}
	refused(t, w.PutReply(w.ctx, w.other, store.Reply{Task: five.Task, Text: "mine"}), crowd.NotFound)
	ok(t, w.PutReply(w.ctx, w.mine, store.Reply{Task: five.Task, At: at, Text: "one"}))
	reply := store.Reply{Task: five.Task, At: at.Add(time.Minute), Text: "two"}
	ok(t, w.PutReply(w.ctx, w.mine, reply))
	want[0].Reply, want[1].Reply = reply, reply
	same(t, "answered", lists(w.mine, w.batch, 0, 9), want)
	same(t, "a worker's", must(w.WorkerReports(w.ctx, five.Worker, 9))(t), want[:1])
	same(t, "another's", must(w.WorkerReports(w.ctx, six.Worker, 9))(t), want[1:])
	same(t, "nobody's", must(w.WorkerReports(w.ctx, 99, 9))(t), nil)
	ok(t, w.PutReply(w.ctx, w.mine, store.Reply{Task: five.Task, At: at.Add(-time.Minute), Text: "two"}))
	open := slices.Clone(want)
	open[0].Reply, open[1].Reply = store.Reply{}, store.Reply{}
	same(t, "reported after the reply", lists(w.mine, w.batch, 0, 9), open)
	same(t, "that of a worker", must(w.WorkerReports(w.ctx, five.Worker, 9))(t), open[:1])
	ok(t, w.PutReply(w.ctx, w.mine, reply))
	tasks := must(w.Tasks(w.ctx, w.batch.Task(1), 3))(t)
	same(t, "with the tasks", [3]string{tasks[0].Reply, tasks[1].Reply, tasks[2].Reply}, [3]string{"", "", "two"})
	same(t, "with the task", must(w.Task(w.ctx, five.Task))(t).Reply, "two")

	ok(t, w.CheckUsage(w.ctx))
	used := func() int64 { return must(w.Usage(w.ctx, w.mine, w.now))(t)[store.StoredBytes] }
	before := used()
	reply.Text = "some more"
	ok(t, w.PutReply(w.ctx, w.mine, reply))
	same(t, "a longer reply", used()-before, int64(len("some more")-len("two")))
	limit := used()
	ok(t, w.SetQuotas(w.ctx, w.mine, map[store.Quota]*int64{store.StoredBytes: &limit}))
	w.unchanged(t, func() {
		refused(t, w.PutReply(w.ctx, w.mine, store.Reply{Task: five.Task, At: at, Text: "some more!"}), crowd.StorageFull)
	})
	want[0].Reply, want[1].Reply = reply, reply

	// Of somebody who is erased it stays that they said something.
	_, err := w.BeginErasure(w.ctx, store.Erasure{Person: five.Worker, AskedBy: w.workers[0], AskedAt: w.now})
	ok(t, err)
	ok(t, w.Erase(w.ctx, five.Worker, at))
	want[0].WorkerName, want[0].Text = store.ErasedName(five.Worker), ""
	same(t, "since one was erased", lists(w.mine, w.batch, 0, 9), want)
	ok(t, w.CheckUsage(w.ctx))

	w.end(t, at)
	ok(t, w.BeginDeletion(w.ctx, store.Deletion{Kind: store.RetainedAnswers, Tenant: w.mine, Batch: w.batch, At: at}))
	w.deleted(t, at, 1)
	want[1].Text, want[0].Reply.Text, want[1].Reply.Text = "", "", ""
	same(t, "since answers were deleted", lists(w.mine, w.batch, 0, 9), want)
	refused(t, w.PutReply(w.ctx, w.mine, reply), crowd.NotFound)
	ok(t, w.CheckUsage(w.ctx))
}
