package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// testCreateBatch: how many tasks a batch has, and how far it has come, is not for
// the caller to say.
func testCreateBatch(t *testing.T, w *world) {
	in := w.kept(0, w.other, 9)
	in.Directed, in.Progress = true, engine.Progress{State: crowd.BatchRunning, Issued: 5}
	id := must(w.CreateBatch(w.ctx, in))(t)
	same(t, "batch", must(w.Batch(w.ctx, w.other, id))(t), w.kept(id, w.other, 0))
}

// testUpdateDraft: only a draft is changed, and neither in its tasks nor in its
// making.
func testUpdateDraft(t *testing.T, w *world) {
	in := w.kept(w.batch, w.mine, tasks)
	in.Name = "new"
	change := in
	change.Spec.Tasks, change.Directed, change.CreatedAt, change.CreatedBy = 0, true, time.Time{}, 9
	ok(t, w.UpdateDraft(w.ctx, change))
	same(t, "batch", must(w.Batch(w.ctx, w.mine, w.batch))(t), in)
	w.history(t)
	w.unchanged(t, func() { refused(t, w.UpdateDraft(w.ctx, in), crowd.Conflict) })
}

func testAddTasks(t *testing.T, w *world) {
	more := []store.Task{{ID: 5, Values: []string{"", `"`}}, {Gold: "g", Values: []string{"é", ""}, Invited: []crowd.WorkerID{w.workers[3], w.workers[1]}}}
	ok(t, w.AddTasks(w.ctx, w.batch, more))
	want := w.kept(w.batch, w.mine, tasks+2)
	want.Directed = true
	same(t, "batch", must(w.Batch(w.ctx, w.mine, w.batch))(t), want)
	same(t, "first new task", must(w.Task(w.ctx, w.batch.Task(tasks+1)))(t), store.Task{ID: w.batch.Task(tasks + 1), Values: []string{"", `"`}})
	same(t, "second new task", must(w.Task(w.ctx, w.batch.Task(tasks+2)))(t), store.Task{
		ID: w.batch.Task(tasks + 2), Values: []string{"é", ""}, Gold: "g", Invited: []crowd.WorkerID{w.workers[1], w.workers[3]},
	})
	w.unchanged(t, func() {
		twice := store.Task{Invited: []crowd.WorkerID{w.workers[0], w.workers[0]}}
		refused(t, w.AddTasks(w.ctx, w.batch, []store.Task{{Values: []string{"a", "b"}}, twice}), crowd.Conflict)
		refused(t, w.AddTasks(w.ctx, 99, more), crowd.NotFound)
		ok(t, w.AddTasks(w.ctx, w.batch, nil))
	})
	large := must(w.CreateBatch(w.ctx, store.Batch{Spec: w.spec(w.mine), Pool: w.pool}))(t)
	for n := range 5 {
		chunk := make([]store.Task, 700)
		for i := range chunk {
			chunk[i].Values = []string{fmt.Sprint(n*len(chunk) + i + 1)}
		}
		ok(t, w.AddTasks(w.ctx, large, chunk))
	}
	n := 0
	for l, err := range w.Labels(w.ctx, w.mine, large) {
		ok(t, err)
		n++
		same(t, "task", l, store.LabelledTask{Task: large.Task(uint32(n)), Values: []string{fmt.Sprint(n)}})
	}
	same(t, "number of tasks", n, 3500)
	w.history(t)
	w.unchanged(t, func() { refused(t, w.AddTasks(w.ctx, w.batch, more), crowd.Conflict) })
}

func testDropTasks(t *testing.T, w *world) {
	ok(t, w.AddTasks(w.ctx, w.batch, []store.Task{{Invited: []crowd.WorkerID{w.workers[0]}}}))
	others := w.draft(t, w.other, 3)
	w.unchanged(t, func() {
		refused(t, w.DropTasks(w.ctx, w.other, w.batch), crowd.NotFound)
		refused(t, w.DropTasks(w.ctx, 0, w.batch), crowd.NotFound)
		refused(t, w.DropTasks(w.ctx, w.mine, 99), crowd.NotFound)
	})
	ok(t, w.DropTasks(w.ctx, w.mine, w.batch))
	same(t, "batch", must(w.Batch(w.ctx, w.mine, w.batch))(t), w.kept(w.batch, w.mine, 0))
	same(t, "other's batch", must(w.Batch(w.ctx, w.other, others))(t), w.kept(others, w.other, 3))
	_, err := w.Task(w.ctx, w.batch.Task(1))
	refused(t, err, crowd.NotFound)
	must(w.Task(w.ctx, others.Task(3)))(t)
	same(t, "invitations", must(w.Invitations(w.ctx, w.batch))(t), nil)
	ok(t, w.AddTasks(w.ctx, w.batch, []store.Task{{Gold: "new"}}))
	same(t, "first task", must(w.Task(w.ctx, w.batch.Task(1)))(t), store.Task{ID: w.batch.Task(1), Gold: "new"})
	w.history(t)
	w.unchanged(t, func() { refused(t, w.DropTasks(w.ctx, w.mine, w.batch), crowd.Conflict) })
}

func testCancelDraft(t *testing.T, w *world) {
	w.unchanged(t, func() {
		refused(t, w.CancelDraft(w.ctx, w.other, w.batch, w.now), crowd.NotFound)
		refused(t, w.CancelDraft(w.ctx, 0, w.batch, w.now), crowd.NotFound)
		refused(t, w.CancelDraft(w.ctx, w.mine, 99, w.now), crowd.NotFound)
	})
	ok(t, w.CancelDraft(w.ctx, w.mine, w.batch, w.now))
	want := w.kept(w.batch, w.mine, 0) // with nothing of what it had
	want.Columns, want.Directed, want.Template = nil, false, must(w.Batch(w.ctx, w.mine, w.batch))(t).Template
	if len(want.Template) > 50 {
		t.Errorf("the template is %s", want.Template)
	}
	same(t, "tasks", must(w.Tasks(w.ctx, w.batch.Task(1), 10))(t), nil)
	same(t, "invitations", must(w.Invitations(w.ctx, w.batch))(t), nil)
	want.Progress.State, want.Progress.EndedAt = crowd.BatchCancelled, w.now
	same(t, "batch", must(w.Batch(w.ctx, w.mine, w.batch))(t), want)
	w.unchanged(t, func() {
		refused(t, w.CancelDraft(w.ctx, w.mine, w.batch, w.now), crowd.Conflict)
		refused(t, w.Commit(w.ctx, &engine.Changes{Progress: []engine.Progress{w.progress(w.batch)}}), crowd.Internal)
	})
}

// testBatch: of a batch that runs, priority and deadline are those of its progress.
func testBatch(t *testing.T, w *world) {
	w.history(t)
	want := w.kept(w.batch, w.mine, tasks)
	want.Progress = w.progress(w.batch)
	want.Spec.Priority, want.Spec.Deadline = want.Progress.Priority, want.Progress.Deadline
	same(t, "running", must(w.Batch(w.ctx, w.mine, w.batch))(t), want)
}

func testTask(t *testing.T, w *world) {
	same(t, "task", must(w.Task(w.ctx, w.batch.Task(1)))(t), store.Task{
		ID: w.batch.Task(1), Gold: "sparrow", Values: []string{"https://example.org/?a=1&b=<2>", "line\nline \u2028\x00"},
	})
	for _, n := range []uint32{0, tasks + 1} {
		_, err := w.Task(w.ctx, w.batch.Task(n))
		refused(t, err, crowd.NotFound)
	}
}

func testTasks(t *testing.T, w *world) {
	all := must(w.Tasks(w.ctx, w.batch.Task(1), tasks+10))(t)
	if len(all) != tasks {
		t.Fatalf("%d tasks, want the batch's %d and no other's", len(all), tasks)
	}
	for i, got := range all {
		same(t, "task", got, must(w.Task(w.ctx, w.batch.Task(uint32(i+1))))(t))
	}
	same(t, "the second and third", must(w.Tasks(w.ctx, w.batch.Task(2), 2))(t), all[1:3])
	same(t, "after the last", must(w.Tasks(w.ctx, w.batch.Task(tasks+1), 5))(t), nil)
}

// testTasksInBytes: pages of long tasks are as short as their text demands, and have one
// at least.
func testTasksInBytes(t *testing.T, w *world) {
	b := must(w.CreateBatch(w.ctx, store.Batch{Spec: w.spec(w.mine), Pool: w.pool}))(t)
	half := []string{strings.Repeat("x", store.PageBytes/2)}
	ok(t, w.AddTasks(w.ctx, b, []store.Task{{Values: half}, {Values: half}, {Values: half}, {Values: append(half, half...)}}))
	same(t, "a page", len(must(w.Tasks(w.ctx, b.Task(1), 10))(t)), 2)
	same(t, "the next", len(must(w.Tasks(w.ctx, b.Task(3), 10))(t)), 2)
	same(t, "a task by itself", len(must(w.Tasks(w.ctx, b.Task(4), 10))(t)), 1)
}

func testInvitations(t *testing.T, w *world) {
	if got := must(w.Invitations(w.ctx, w.batch))(t); got != nil {
		t.Errorf("a batch for everybody: got %v, want nil, as in engine.Spec", got)
	}
	id := must(w.CreateBatch(w.ctx, store.Batch{Spec: w.spec(w.mine), Pool: w.pool}))(t)
	a, b := w.workers[0], w.workers[1]
	ok(t, w.AddTasks(w.ctx, id, []store.Task{{Invited: []crowd.WorkerID{b, a}}, {Invited: []crowd.WorkerID{a}}}))
	ok(t, w.AddTasks(w.ctx, id, []store.Task{{Invited: []crowd.WorkerID{b}}}))
	w.draft(t, w.mine, 2)
	same(t, "invitations", must(w.Invitations(w.ctx, id))(t), map[crowd.WorkerID][]uint32{a: {1, 2}, b: {1, 3}})
	_, err := w.Invitations(w.ctx, 99)
	refused(t, err, crowd.NotFound)
}

func testKnown(t *testing.T, w *world) {
	id := must(w.CreateBatch(w.ctx, store.Batch{Spec: w.spec(w.mine), Pool: w.pool}))(t)
	ok(t, w.AddTasks(w.ctx, id, []store.Task{{Gold: "yes"}, {}, {Gold: "no"}, {Gold: "yes"}}))
	same(t, "known", must(w.Known(w.ctx, id, 0, 4))(t), map[uint32]string{1: "yes", 3: "no", 4: "yes"})
	same(t, "known of some", must(w.Known(w.ctx, id, 1, 3))(t), map[uint32]string{3: "no"})
	same(t, "none teaches", must(w.Lessons(w.ctx, id, 0, 4))(t), nil)
	taught := store.Task{Gold: "no", Explain: "It has \u4e2d no stripes."}
	ok(t, w.AddTasks(w.ctx, id, []store.Task{taught, {}, taught}))
	same(t, "those that teach", must(w.Lessons(w.ctx, id, 0, 7))(t), []uint32{5, 7})
	same(t, "those that teach, of some", must(w.Lessons(w.ctx, id, 5, 7))(t), []uint32{7})
	same(t, "they are known", must(w.Known(w.ctx, id, 4, 6))(t), map[uint32]string{5: "no"})
	taught.ID = id.Task(5)
	same(t, "a task that teaches", must(w.Task(w.ctx, taught.ID))(t), taught)
	same(t, "known of none", must(w.Known(w.ctx, id, 1, 2))(t), map[uint32]string{})
}

func testStageTasks(t *testing.T, w *world) {
	more := []store.Task{{Values: []string{"a", "b"}, Gold: "g"}, {Values: []string{"c", "d"}}}
	w.unchanged(t, func() { refused(t, w.StageTasks(w.ctx, w.mine, w.batch, more), crowd.Conflict) }) // a draft
	w.history(t)
	before := must(w.Batch(w.ctx, w.mine, w.batch))(t)
	w.unchanged(t, func() {
		refused(t, w.StageTasks(w.ctx, w.other, w.batch, more), crowd.NotFound)
		refused(t, w.StageTasks(w.ctx, 0, w.batch, more), crowd.NotFound)
		refused(t, w.StageTasks(w.ctx, w.mine, 99, more), crowd.NotFound)
	})
	ok(t, w.StageTasks(w.ctx, w.mine, w.batch, more[:1]))
	ok(t, w.StageTasks(w.ctx, w.mine, w.batch, more[1:]))
	same(t, "the batch with staged tasks", must(w.Batch(w.ctx, w.mine, w.batch))(t), before)
	same(t, "labels", len(must(collect(w.Labels(w.ctx, w.mine, w.batch)))(t)), tasks)

	p := w.progress(w.batch)
	p.Tasks += 2
	revision := engine.Revision{Batch: w.batch, Rule: label.Agree(3, 5), Reward: 70_000, Production: true, Added: 2, Was: engine.PastReward{Last: 5, Reward: 50_000}}
	ok(t, w.Commit(w.ctx, &engine.Changes{Revisions: []engine.Revision{revision}, Progress: []engine.Progress{p}}))
	want := before
	want.Spec.Tasks, want.Spec.Rule, want.Spec.Reward, want.Spec.Production, want.Progress = tasks+2, label.Agree(3, 5), 70_000, true, p
	same(t, "the batch with added tasks", must(w.Batch(w.ctx, w.mine, w.batch))(t), want)
	all := must(collect(w.Labels(w.ctx, w.mine, w.batch)))(t)
	same(t, "the first of them", all[tasks], store.LabelledTask{Task: w.batch.Task(tasks + 1), Values: more[0].Values, Gold: "g"})
	same(t, "the second", all[tasks+1], store.LabelledTask{Task: w.batch.Task(tasks + 2), Values: more[1].Values})

	// Two changes between which nothing was handed out: what was promised is the older one.
	revision.Added, revision.Reward, revision.Was.Reward = 0, 80_000, 70_000
	ok(t, w.Commit(w.ctx, &engine.Changes{Revisions: []engine.Revision{revision}}))
	p.Removed = 1
	ok(t, w.Commit(w.ctx, &engine.Changes{Removals: []engine.Removal{{Task: w.batch.Task(tasks + 1), At: w.now}}, Progress: []engine.Progress{p}}))
	snap := must(w.Snapshot(w.ctx, w.pool))(t).Batches[0]
	same(t, "past rewards", snap.Past, []engine.PastReward{{Last: 5, Reward: 50_000}})
	same(t, "what was taken out", snap.Removed, []uint32{tasks + 1})
	same(t, "labels without what was taken out", must(collect(w.Labels(w.ctx, w.mine, w.batch)))(t)[tasks].Task, w.batch.Task(tasks+2))
	same(t, "progress", must(w.Batch(w.ctx, w.mine, w.batch))(t).Progress, p)
	w.unchanged(t, func() {
		if w.Commit(w.ctx, &engine.Changes{Removals: []engine.Removal{{Task: w.batch.Task(tasks + 1), At: w.now}}}) == nil {
			t.Error("a task was taken out twice")
		}
		if w.Commit(w.ctx, &engine.Changes{Revisions: []engine.Revision{{Batch: 99, Rule: label.Count(1)}}}) == nil {
			t.Error("a batch was changed that is not there")
		}
	})
}

func testDropStaged(t *testing.T, w *world) {
	w.unchanged(t, func() { refused(t, w.DropStaged(w.ctx, w.mine, w.batch), crowd.Conflict) }) // a draft
	w.history(t)
	chunk := make([]store.Task, 700)
	for range 16 { // more than are dropped at once
		ok(t, w.StageTasks(w.ctx, w.mine, w.batch, chunk))
	}
	must(w.Task(w.ctx, w.batch.Task(tasks+16*700)))(t)
	refused(t, w.DropStaged(w.ctx, w.other, w.batch), crowd.NotFound)
	refused(t, w.DropStaged(w.ctx, 0, w.batch), crowd.NotFound)
	ok(t, w.DropStaged(w.ctx, w.mine, w.batch))
	for _, n := range []uint32{1, 16 * 700} {
		_, err := w.Task(w.ctx, w.batch.Task(tasks+n))
		refused(t, err, crowd.NotFound)
	}
	must(w.Task(w.ctx, w.batch.Task(tasks)))(t)
	w.unchanged(t, func() { ok(t, w.DropStaged(w.ctx, w.mine, w.batch)) })
	ok(t, w.StageTasks(w.ctx, w.mine, w.batch, []store.Task{{Gold: "new"}}))
	same(t, "the next one", must(w.Task(w.ctx, w.batch.Task(tasks+1)))(t), store.Task{ID: w.batch.Task(tasks + 1), Gold: "new"})
}
