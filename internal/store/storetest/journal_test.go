package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

func testCommit(t *testing.T, w *world) {
	w.unchanged(t, func() { ok(t, w.Commit(w.ctx, &engine.Changes{Served: []engine.Handout{w.handout(1, 1, 0)}})) })
	w.history(t)
	same(t, "annotations", must(collect(w.Annotations(w.ctx, w.mine, w.batch, false)))(t), w.annotations(t))
	same(t, "progress", must(w.Batch(w.ctx, w.mine, w.batch))(t).Progress, w.progress(w.batch))
	late := w.answer(4, 1, 50_000) // after the lease ran out, and it counts
	late.Late = true
	ok(t, w.Commit(w.ctx, &engine.Changes{Answers: []engine.Answer{late}, Transfers: []engine.Transfer{w.reward(4, 1, 50_000)}}))
	got := must(w.Assignment(w.ctx, w.batch.Assignment(4)))(t)
	if got.State != crowd.Submitted || !got.Late || !got.Counted || got.Paid != 50_000 {
		t.Errorf("a late answer that counts is kept as %+v", got)
	}
	ok(t, w.CheckLedger(w.ctx))
	ended := w.progress(w.batch)
	ended.State, ended.EndedAt = crowd.BatchStopped, w.now.Add(3*time.Hour)
	ok(t, w.Commit(w.ctx, &engine.Changes{Progress: []engine.Progress{ended}}))
	same(t, "progress", must(w.Batch(w.ctx, w.mine, w.batch))(t).Progress, ended)

	cancelled, cancel := context.WithCancel(w.ctx)
	cancel()
	w.unchanged(t, func() {
		if err := w.Commit(cancelled, &engine.Changes{Handouts: []engine.Handout{w.handout(6, 4, 3)}}); err == nil {
			t.Error("a commit went through although nobody waits for it")
		}
	})
}

func testCommitAtomicity(t *testing.T, w *world) {
	w.history(t)
	running := w.progress(w.batch)
	running.Issued = 77
	fits := func() *engine.Changes {
		return &engine.Changes{
			Handouts: []engine.Handout{w.handout(6, 4, 3)}, Ends: []engine.End{{Assignment: w.batch.Assignment(5), State: crowd.Returned, At: w.now}},
			Answers: []engine.Answer{w.answer(6, 3, 10)}, Labels: []engine.Label{{Task: w.batch.Task(4), Value: "x"}},
			Transfers: []engine.Transfer{w.reward(6, 3, 10)}, Duties: []engine.Duty{w.duty(0, true, 3)}, Progress: []engine.Progress{running},
		}
	}
	bad := map[string]func(*engine.Changes){
		"an assignment that is there already": func(c *engine.Changes) { c.Handouts = append(c.Handouts, w.handout(3, 4, 1)) },
		"the end of no assignment": func(c *engine.Changes) {
			c.Ends = append(c.Ends, engine.End{Assignment: w.batch.Assignment(9), State: crowd.Expired})
		},
		"the end of an answered assignment": func(c *engine.Changes) {
			c.Ends = append(c.Ends, engine.End{Assignment: w.batch.Assignment(3), State: crowd.Expired})
		},
		"an answer to no assignment":     func(c *engine.Changes) { c.Answers = append(c.Answers, w.answer(9, 0, 0)) },
		"an answer to somebody else's":   func(c *engine.Changes) { c.Answers = append(c.Answers, w.answer(4, 0, 10)) },
		"an answer to what was returned": func(c *engine.Changes) { c.Answers = append(c.Answers, w.answer(5, 2, 10)) },
		"a second late answer of others": func(c *engine.Changes) { c.Answers = append(c.Answers, w.answer(3, 1, 0)) },
		"a second answer that counts":    func(c *engine.Changes) { c.Answers = append(c.Answers, w.answer(3, 0, 50_000)) },
		"a second label":                 func(c *engine.Changes) { c.Labels = append(c.Labels, engine.Label{Task: w.batch.Task(1)}) },
		"a payment of nothing":           func(c *engine.Changes) { c.Transfers = append(c.Transfers, w.reward(6, 3, 0)) },
		"a payment to an unknown kind": func(c *engine.Changes) {
			c.Transfers = append(c.Transfers, engine.Transfer{From: tenantAccount(1), To: engine.Account{Kind: 'x'}, Amount: 1})
		},
		"duty in no pool": func(c *engine.Changes) {
			c.Duties = append(c.Duties, w.duty(1, true, 0))
			c.Duties[1].Pool = 99
		},
		"duty of nobody": func(c *engine.Changes) {
			c.Duties = append(c.Duties, w.duty(1, true, 0))
			c.Duties[1].Worker = 99
		},
		"progress of no batch": func(c *engine.Changes) { c.Progress = append(c.Progress, w.progress(99)) },
	}
	for name, spoil := range bad {
		t.Run(name, func(t *testing.T) {
			c := fits()
			spoil(c)
			w.unchanged(t, func() { refused(t, w.Commit(w.ctx, c), crowd.Internal) })
		})
	}
	ok(t, w.Commit(w.ctx, fits()))
	if got := must(w.Batch(w.ctx, w.mine, w.batch))(t).Progress; got.Issued != 77 {
		t.Errorf("what fits is kept as %+v", got)
	}
	ended := w.progress(w.batch)
	ended.State = crowd.BatchDone
	ok(t, w.Commit(w.ctx, &engine.Changes{Progress: []engine.Progress{ended}}))
	w.unchanged(t, func() { // what has ended stays as it is
		refused(t, w.Commit(w.ctx, &engine.Changes{Progress: []engine.Progress{running}}), crowd.Internal)
	})
}

func testSnapshot(t *testing.T, w *world) {
	elsewhere := must(w.CreatePool(w.ctx, store.Pool{Name: "elsewhere", Stopped: true}))(t)
	ada := w.ada()
	ada.Tenants, ada.Roles = []crowd.TenantID{w.mine}, []store.HeldRole{{Role: "finance"}, {Role: "launcher", Tenant: w.other}}
	ada.ID = must(w.CreateUser(w.ctx, ada))(t)
	visitor := w.ada()
	visitor.Name, visitor.Pool = "visitor", elsewhere
	visitor.ID = must(w.CreateUser(w.ctx, visitor))(t)
	ok(t, w.UpdateTenant(w.ctx, store.Tenant{ID: w.other, Name: "other", Weight: 0.5, Stopped: true}))
	directed := must(w.CreateBatch(w.ctx, store.Batch{Spec: w.spec(w.mine), Pool: w.pool}))(t)
	ok(t, w.AddTasks(w.ctx, directed, []store.Task{
		{Invited: []crowd.WorkerID{ada.ID, w.workers[0]}}, {Invited: []crowd.WorkerID{ada.ID}}, {Invited: []crowd.WorkerID{w.workers[0]}},
	}))
	draft := w.draft(t, w.mine, 1) // not launched

	tenants := []engine.Tenant{{ID: w.mine, Weight: 2}, {ID: w.other, Weight: 0.5, Stopped: true}}
	person := func(u store.User) engine.Worker {
		return engine.Worker{ID: u.ID, Qualifications: u.Qualifications, Granted: u.Granted, Suspended: u.Suspended, BlockedBy: u.BlockedBy, StaffOf: u.StaffOf(), Serves: u.Serves, Borrowed: u.Home != 0 && u.Home != u.Pool}
	}
	workers := make([]engine.Worker, 0, 5)
	for _, id := range w.workers {
		workers = append(workers, engine.Worker{ID: id})
	}
	workers = append(workers, person(ada))
	same(t, "before any launch", must(w.Snapshot(w.ctx, w.pool))(t), &engine.Snapshot{Tenants: tenants, Workers: workers})

	w.history(t)
	onHold := w.progress(directed)
	onHold.State = crowd.BatchOnHold
	first := engine.Handout{Assignment: directed.Assignment(1), Task: directed.Task(2), Worker: ada.ID, At: w.now, Expires: w.now.Add(time.Hour)}
	second := engine.Handout{Assignment: directed.Assignment(2), Task: directed.Task(1), Worker: ada.ID, At: w.now, Expires: w.now.Add(time.Hour)}
	ok(t, w.Commit(w.ctx, &engine.Changes{
		Handouts: []engine.Handout{first, second}, Progress: []engine.Progress{onHold},
		Labels: []engine.Label{{Task: first.Task, At: w.now}},
	}))
	open := func(b crowd.BatchID, p engine.Progress) engine.BatchSnapshot {
		s := engine.BatchSnapshot{Spec: must(w.Batch(w.ctx, 0, b))(t).Spec, Progress: p}
		if s.Spec.Priority != p.Priority || !s.Spec.Deadline.Equal(p.Deadline) {
			t.Errorf("priority and deadline of %s are not those of its progress", b)
		}
		return s
	}
	kept := func(h engine.Handout) engine.AssignmentSnapshot {
		return engine.AssignmentSnapshot{ID: h.Assignment, Task: h.Task, Worker: h.Worker, State: crowd.Assigned, At: h.At, Expires: h.Expires}
	}
	mine, other := open(w.batch, w.progress(w.batch)), open(directed, onHold)
	answered, expired := kept(w.handout(3, 2, 0)), kept(w.handout(4, 2, 1))
	x := w.answer(3, 0, 50_000)
	answered.State, answered.AnsweredAt, answered.Key, answered.Counted, answered.Paid = crowd.Submitted, x.At, x.Key, true, x.Paid
	expired.State = crowd.Expired
	mine.Assignments = []engine.AssignmentSnapshot{answered, expired, kept(w.handout(5, 3, 2))} // task 1 has its label
	other.Spec.Invited = map[crowd.WorkerID][]uint32{ada.ID: {1, 2}, w.workers[0]: {1, 3}}
	other.Assignments = []engine.AssignmentSnapshot{kept(second)}
	other.Labelled = []uint32{2}
	want := &engine.Snapshot{Tenants: tenants, Workers: workers, Batches: []engine.BatchSnapshot{mine, other}}
	same(t, "snapshot", must(w.Snapshot(w.ctx, w.pool))(t), want)
	same(t, "another pool", must(w.Snapshot(w.ctx, elsewhere))(t), &engine.Snapshot{Stopped: true, Tenants: tenants, Workers: []engine.Worker{person(visitor)}})

	later := w.progress(w.batch)
	later.OldestOpen = 4 // says that what was before is closed
	done := onHold
	done.State = crowd.BatchDone
	ok(t, w.Commit(w.ctx, &engine.Changes{Progress: []engine.Progress{later, done}}))
	mine.Progress, mine.Assignments = later, mine.Assignments[1:]
	want.Batches = []engine.BatchSnapshot{mine}
	same(t, "from the oldest open assignment on", must(w.Snapshot(w.ctx, w.pool))(t), want)
	if slices.ContainsFunc(want.Batches, func(b engine.BatchSnapshot) bool { return b.Spec.ID == draft }) {
		t.Error("a draft is in the snapshot")
	}
	_, err := w.Snapshot(w.ctx, 99)
	refused(t, err, crowd.NotFound)
}

func testConcurrency(t *testing.T, w *world) {
	const commits = 40
	ok(t, w.Deposit(w.ctx, w.now, w.mine, 10*crowd.Unit, ""))
	w.batch = w.draft(t, w.mine, commits)
	ok(t, w.Commit(w.ctx, w.launch(w.batch, crowd.Unit)))
	imported := w.draft(t, w.mine, 1)
	var all sync.WaitGroup
	each := func(n int, do func(i int) error) {
		all.Go(func() {
			for i := range n {
				if err := do(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	each(commits, func(i int) error {
		n := uint32(i + 1)
		return w.Commit(w.ctx, &engine.Changes{
			Handouts: []engine.Handout{w.handout(n, n, 0)}, Answers: []engine.Answer{w.answer(n, 0, 10)}, Transfers: []engine.Transfer{w.reward(n, 0, 10)},
		})
	})
	for g := range 2 {
		each(20, func(i int) error {
			id, err := w.CreateUser(w.ctx, store.User{Name: fmt.Sprint("u", g, ".", i)})
			if err != nil {
				return err
			}
			_, err = w.User(w.ctx, id)
			return err
		})
	}
	each(10, func(int) error { return w.AddTasks(w.ctx, imported, make([]store.Task, 100)) })
	each(10, func(int) error { return w.Deposit(w.ctx, w.now, w.other, 1, "") })
	each(20, func(int) error { return w.CheckLedger(w.ctx) })
	each(20, func(int) error { _, err := w.Snapshot(w.ctx, w.pool); return err })
	all.Wait()
	same(t, "users", len(must(w.ListUsers(w.ctx, 0, 0, 1000))(t)), len(w.workers)+40)
	same(t, "tasks", must(w.Batch(w.ctx, 0, imported))(t).Spec.Tasks, uint32(1001))
	same(t, "paid", must(w.Balance(w.ctx, workerAccount(w.workers[0])))(t), crowd.Money(10*commits))
	same(t, "answers", len(must(w.WorkerAnnotations(w.ctx, w.workers[0], 1000))(t)), commits)
	ok(t, w.CheckLedger(w.ctx))
}
