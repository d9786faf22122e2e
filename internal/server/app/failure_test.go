package app_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// acknowledged are the answers that workers were told are kept.
type acknowledged struct {
	mu    sync.Mutex
	lists map[crowd.AssignmentID]engine.Outcome
}

func (a *acknowledged) add(id crowd.AssignmentID, out engine.Outcome) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lists == nil {
		a.lists = make(map[crowd.AssignmentID]engine.Outcome)
	}
	a.lists[id] = out
}

// check compares what workers were told with what is kept.
func (a *acknowledged) check(t *testing.T, w *world, id crowd.BatchID) {
	t.Helper()
	kept := map[crowd.AssignmentID]store.Annotation{}
	people := map[[2]int64]bool{}
	counted := map[crowd.TaskID]int{}
	for _, x := range w.answers(id) {
		kept[x.Assignment] = x
		if pair := [2]int64{int64(x.Task), int64(x.Worker)}; people[pair] {
			t.Errorf("%s was done by %s twice", x.Task, x.Worker)
		} else {
			people[pair] = true
		}
		if x.Counted {
			counted[x.Task]++
		}
	}
	for aid, out := range a.lists {
		if x, found := kept[aid]; !found {
			t.Errorf("%s was acknowledged and is lost", aid)
		} else if x.Counted != out.Counted || x.Paid != out.Paid {
			t.Errorf("%s was told %+v, kept is %+v", aid, out, x)
		}
	}
	v := w.batch(id)
	total := 0
	for task, n := range counted {
		if total += n; n > v.Spec.Rule.Most() {
			t.Errorf("%s has %d answers", task, n)
		}
	}
	if total != v.Progress.Completed || v.Progress.Spent != v.Spec.Reward*crowd.Money(total) {
		t.Errorf("%d counted answers are kept, the batch says %d and spent %s", total, v.Progress.Completed, v.Progress.Spent)
	}
}

// labour lets a worker work until there is nothing left, or, if it is not nil,
// stop says so of an error; other errors make them try again. It returns how it
// ended.
func (w *world) labour(p *access.Principal, told *acknowledged, stop func(error) bool) error {
	var held *work.HeldTask
	for {
		var err error
		if held == nil {
			if held, err = w.Work.Next(w.ctx, p, 0); err == nil && held == nil {
				return nil
			}
		} else {
			var out engine.Outcome
			var next *work.HeldTask
			if out, next, err = w.Work.Submit(w.ctx, p, held.Assignment, yes, true, 0); err == nil {
				told.add(held.Assignment, out)
				held = next
			}
		}
		if err != nil && stop(err) {
			return err
		}
	}
}

// everybody lets all workers work at once.
func (w *world) everybody(told *acknowledged, stop func(error) bool) []error {
	errs := make([]error, len(w.workers))
	var done sync.WaitGroup
	for i, p := range w.workers {
		done.Go(func() { errs[i] = w.labour(p, told, stop) })
	}
	done.Wait()
	return errs
}

func always(error) bool { return true }

// TestTheDiskIsFull fills a real database, with many people at work: they are
// told so, nothing more is handed out, and when there is room again everything
// goes on, nothing lost and nothing twice.
func TestTheDiskIsFull(t *testing.T) {
	t.Parallel()
	for name, roomAgain := range map[string]func(w *world, ballast crowd.BatchID){
		"a restart with more room": func(w *world, _ crowd.BatchID) {
			w.options.MaxPages = 0
			w.reopen()
		},
		"room is made while it runs": func(w *world, ballast crowd.BatchID) {
			ok(w.t, w.store.DropTasks(w.ctx, w.a, ballast))
			w.clock.advance(2 * time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 8)
			ballast := w.draft(8000)
			id := w.launch(100, times(3), func(b *batches.NewBatch) { b.Lease = 24 * time.Hour })
			w.close()
			file, err := os.Stat(w.path)
			ok(t, err)
			w.options.MaxPages = file.Size()/4096 + 8
			w.open()

			var told acknowledged
			for i, err := range w.everybody(&told, always) {
				if crowd.CodeOf(err) != crowd.StorageFull {
					t.Fatalf("worker %d ended with %v", i, err)
				}
			}
			before := len(told.lists)
			if before == 0 || before >= 300 {
				t.Fatalf("%d answers before the disk was full: the test looks at nothing", before)
			}
			for range 2 { // it stays so, however often it is tried
				_, err := w.Work.Next(w.ctx, w.workers[0], 0)
				refused(t, err, crowd.StorageFull)
				_, err = w.Batches.Launch(w.ctx, w.ann, ballast, false)
				if err == nil {
					t.Fatal("a launch on a full disk")
				}
				w.clock.advance(2 * time.Second)
				for _, err := range w.everybody(&told, always) {
					refused(t, err, crowd.StorageFull)
				}
			}
			if n := len(w.answers(id)); n < before { // what is kept can be read
				t.Errorf("%d answers can be read, %d were acknowledged", n, before)
			}
			roomAgain(w, ballast)
			for i, err := range w.everybody(&told, always) {
				if err != nil {
					t.Fatalf("worker %d ended with %v", i, err)
				}
			}
			told.check(t, w, id)
			if v := w.batch(id); v.Progress.State != crowd.BatchDone || v.Progress.Completed != 300 {
				t.Errorf("in the end %+v", v.Progress)
			}
			t.Logf("%d answers were acknowledged before the disk was full", before)
		})
	}
}

// TestAnUploadOnAFullDiskLeavesNothing: and says so.
func TestAnUploadOnAFullDiskLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.draft(0)
	w.close()
	file, err := os.Stat(w.path)
	ok(t, err)
	w.options.MaxPages = file.Size()/4096 + 40
	w.open()
	_, err = w.Batches.Upload(w.ctx, w.ann, id, things(50_000), batches.Upload{})
	refused(t, err, crowd.StorageFull)
	if b := w.batch(id); b.Spec.Tasks != 0 {
		t.Errorf("%d tasks are left", b.Spec.Tasks)
	}
	_, err = w.Batches.Launch(w.ctx, w.ann, id, false)
	refused(t, err, crowd.Invalid)
	must(w.Batches.Upload(w.ctx, w.ann, id, things(1), batches.Upload{}))(t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
}

// faulty is a real store whose commits can be made to fail.
type faulty struct {
	store.Store
	mu     sync.Mutex
	commit func(keep func() error) error // nil: keep
}

func (f *faulty) Commit(ctx context.Context, c *engine.Changes) error {
	f.mu.Lock()
	commit := f.commit
	f.mu.Unlock()
	keep := func() error { return f.Store.Commit(ctx, c) }
	if commit == nil {
		return keep()
	}
	return commit(keep)
}

func (f *faulty) set(commit func(keep func() error) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.commit = commit
}

func notKept(func() error) error          { return errBroken }
func keptUnheard(keep func() error) error { return errors.Join(keep(), errBroken) }

// unreliable puts a faulty store into a world.
func (w *world) unreliable() *faulty {
	f := &faulty{}
	w.wrap = func(s store.Store) store.Store { f.Store = s; return f }
	w.reopen()
	return f
}

func TestACommitFails(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		commit    func(func() error) error
		duplicate bool // an answer that is sent again was kept at first
	}{
		"and keeps nothing":               {notKept, false},
		"and keeps all, but nobody knows": {keptUnheard, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3)
			f := w.unreliable()
			w.launch(3, times(2))
			one, two := w.next(w.workers[0]), w.next(w.workers[1])
			f.set(x.commit)
			_, err := w.submit(w.workers[0], one.Assignment, yes)
			refused(t, err, crowd.Unavailable)
			if strings.Contains(err.Error(), errBroken.Error()) || !errors.Is(err, errBroken) {
				t.Errorf("the user is told %q", err)
			}
			f.set(nil)
			_, err = w.Work.Next(w.ctx, w.workers[2], 0)
			refused(t, err, crowd.Unavailable) // for a second
			var not app.NotReady
			if err := w.Ready(w.ctx); !errors.As(err, &not) || len(not) != 1 || not[0].What != "pool main" || crowd.CodeOf(not[0].Err) != crowd.Unavailable {
				t.Errorf("it is not ready because of %v", err)
			}
			w.clock.advance(time.Second)
			ok(t, w.Ready(w.ctx))
			out := must(w.submit(w.workers[0], one.Assignment, yes))(t)
			if !out.Counted || out.Duplicate != x.duplicate {
				t.Errorf("sent again: %+v", out)
			}
			if again := w.next(w.workers[1]); again.Assignment != two.Assignment {
				t.Errorf("worker 2 held %s, now %s", two.Assignment, again.Assignment)
			}
			var told acknowledged
			told.add(one.Assignment, out)
			for _, err := range w.everybody(&told, always) {
				ok(t, err)
			}
			told.check(t, w, one.Batch)
		})
	}
}

// TestWhoWaitsWhileTheStoreFails is told that there is nothing, and an answer
// that was kept before is not taken back.
func TestWhoWaitsWhileTheStoreFails(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		f := w.unreliable()
		w.launch(1)
		held := w.next(w.workers[0]).Assignment
		var out engine.Outcome
		x := &poll{done: make(chan struct{})}
		go func() {
			defer close(x.done)
			out, x.work, x.err = w.Work.Submit(w.ctx, w.workers[0], held, yes, true, time.Minute)
		}()
		if !x.waits() {
			t.Fatal("it does not wait")
		}
		draft := w.draft(1)
		f.set(notKept)
		_, err := w.Batches.Launch(w.ctx, w.ann, draft, false)
		refused(t, err, crowd.Unavailable)
		x.gets(t, 0)
		if !out.Counted {
			t.Errorf("the answer: %+v", out)
		}
		f.set(nil)
		// It goes on by itself: who asks while it cannot is refused, who waits
		// after that is served.
		<-time.After(2 * time.Second)
		y := w.poll(w.ctx, w.workers[1], time.Minute)
		must(w.Batches.Launch(w.ctx, w.ann, draft, false))(t)
		y.gets(t, draft)
	})
}

// TestACommitHangs: what comes meanwhile waits, joins the next commit, and
// closing waits for it.
func TestACommitHangs(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		f := w.unreliable()
		id := w.launch(3)
		one, two := w.next(w.workers[0]).Assignment, w.next(w.workers[1]).Assignment
		commits, release := 0, make(chan struct{})
		f.set(func(keep func() error) error {
			commits++
			<-release
			return keep()
		})
		results := make(chan error, 3)
		submit := func(p *access.Principal, id crowd.AssignmentID) {
			go func() { _, err := w.submit(p, id, yes); results <- err }()
			synctest.Wait()
		}
		submit(w.workers[0], one)
		submit(w.workers[1], two)
		submit(w.workers[1], two)
		if len(results) > 0 || commits != 1 {
			t.Fatalf("%d answers before they were kept, in %d commits", len(results), commits)
		}
		s := w.App
		closed := make(chan struct{})
		go func() { s.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Fatal("closed before all was kept")
		default:
		}
		close(release)
		<-closed
		for range 3 {
			ok(t, <-results)
		}
		if commits != 2 {
			t.Errorf("%d commits", commits)
		}
		w.reopen()
		if n := len(w.answers(id)); n != 2 {
			t.Errorf("%d answers kept", n)
		}
	})
}

// TestChangesReachAPoolThatFails: what an admin changes while the pool cannot
// be told counts when it goes on.
func TestChangesReachAPoolThatFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	f := w.unreliable()
	w.launch(2)
	last := w.launch(2, func(b *batches.NewBatch) { b.Deadline = w.clock.now().Add(time.Hour) })
	held := w.next(w.workers[0]).Assignment
	fail := func() {
		t.Helper()
		f.set(notKept)
		_, err := w.submit(w.workers[0], held, yes)
		refused(t, err, crowd.Unavailable)
		f.set(nil)
	}
	fail()
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Policy = "edf"; return nil }))(t)
	must(w.Tenants.Update(w.ctx, w.ann, w.a, accounts.TenantEdit{Stopped: ptr(true)}))(t)
	w.clock.advance(time.Second)
	if work := must(w.Work.Next(w.ctx, w.workers[1], 0))(t); work != nil {
		t.Error("the tenant's stop was not heard")
	}
	fail()
	must(w.Tenants.Update(w.ctx, w.ann, w.a, accounts.TenantEdit{Stopped: ptr(false)}))(t)
	late := w.worker("late")
	w.clock.advance(time.Second)
	if work := w.next(w.workers[1]); work.Batch != last {
		t.Errorf("the policy was not heard: got %s", work.Batch)
	}
	w.next(late)
}

// TestAnAdminWhoGoesAway: what they have changed is told to the pool, even if they
// does not wait for it.
func TestAnAdminWhoGoesAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.launch(1)
	w.close()
	ctx, cancel := context.WithCancel(w.ctx)
	w.wrap = func(s store.Store) store.Store { return goneAfter{s, cancel} }
	w.open()
	if _, err := w.Tenants.Update(ctx, w.ann, w.a, accounts.TenantEdit{Stopped: ptr(true)}); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if ctx.Err() == nil {
		t.Fatal("they are still there")
	}
	if work := must(w.Work.Next(w.ctx, w.workers[0], 0))(t); work != nil {
		t.Error("the tenant's stop was not heard")
	}
}

// goneAfter is a store whose caller goes away when it has kept a tenant.
type goneAfter struct {
	store.Store
	cancel func()
}

func (g goneAfter) UpdateTenant(ctx context.Context, t store.Tenant) error {
	defer g.cancel()
	return g.Store.UpdateTenant(ctx, t)
}

// TestAStormOfFailures lets people work while every few commits fail, kept or
// not. They try again, as programs do.
func TestAStormOfFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 12)
	f := w.unreliable()
	id := w.launch(60, func(b *batches.NewBatch) { b.Redundancy, b.Lease = label.Agree(2, 3), 30*24*time.Hour })
	random, failures := rand.New(rand.NewPCG(1, 2)), 0
	f.set(func(keep func() error) error { // called by the committer only
		switch random.IntN(8) {
		case 0:
			failures++
			return errBroken
		case 1:
			failures++
			return errors.Join(keep(), errBroken)
		}
		return keep()
	})
	var told acknowledged
	w.everybody(&told, func(err error) bool {
		refusedBy(t, err, crowd.Unavailable)
		w.clock.advance(time.Second)
		return t.Failed()
	})
	w.close()
	w.wrap = nil
	w.open()
	told.check(t, w, id)
	if v := w.batch(id); v.Progress.State != crowd.BatchDone || failures < 3 {
		t.Errorf("after %d failures %+v", failures, v.Progress)
	}
	t.Logf("%d failures", failures)
}

// TestWhoIsServedAsTheyLeave gets what they were served: the task is theirs by then.
func TestWhoIsServedAsTheyLeave(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		f := w.unreliable()
		id := w.draft(1)
		x := w.poll(w.ctx, w.workers[0], 10*time.Second)
		release := make(chan struct{})
		f.set(func(keep func() error) error { <-release; return keep() })
		launched := make(chan error, 1)
		go func() { launched <- second(w.Batches.Launch(w.ctx, w.ann, id, false)) }()
		<-time.After(time.Minute) // they have had enough, but the commit that serves them hangs
		if !x.waits() {
			t.Fatal("they were answered before the commit")
		}
		close(release)
		ok(t, <-launched)
		x.gets(t, id)
	})
}
