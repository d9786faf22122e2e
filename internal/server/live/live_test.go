package live_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/store/sqlite/sqlitetest"
	"github.com/throng-dev/throng/label"
)

// faulty is a store whose commits can be held up and made to fail.
type faulty struct {
	store.Store
	commits atomic.Int64
	fails   atomic.Bool
	blind   atomic.Bool   // it cannot be read
	hold    chan struct{} // if not nil, each commit takes one from it first
}

var errDisk = errors.New("the disk is gone")

func (f *faulty) Commit(ctx context.Context, c *engine.Changes) error {
	if f.hold != nil {
		<-f.hold
	}
	f.commits.Add(1)
	if f.fails.Load() {
		return errDisk
	}
	return f.Store.Commit(ctx, c)
}

func (f *faulty) Snapshot(ctx context.Context, id crowd.PoolID) (*engine.Snapshot, error) {
	if f.blind.Load() {
		return nil, errDisk
	}
	return f.Store.Snapshot(ctx, id)
}

// world is one pool with a tenant that has money, and workers.
type world struct {
	t        *testing.T
	ctx      context.Context
	store    *faulty
	pools    *live.Pools
	pool     *live.Pool
	settings store.Pool
	tenant   crowd.TenantID
	workers  []crowd.WorkerID
	changes  atomic.Int64 // calls of Changed
	restored atomic.Int64 // calls of Restored
	ahead    atomic.Int64 // by how much the pool's clock is, in nanoseconds
}

const money = 1000 * crowd.Unit

func newWorld(t *testing.T, workers int) *world {
	t.Helper()
	w := &world{t: t, ctx: t.Context()}
	st := must(sqlite.Open(w.ctx, sqlitetest.New(t), sqlite.Options{}))(t)
	w.store = &faulty{Store: st}
	w.settings = store.Pool{Name: "main", Policy: "fifo", CreatedAt: time.Now(), Retainer: engine.Retainer{Silence: time.Minute, Promise: time.Minute}}
	w.settings.ID = must(st.CreatePool(w.ctx, w.settings))(t)
	w.tenant = must(st.CreateTenant(w.ctx, store.Tenant{Name: "ants", Weight: 1, CreatedAt: time.Now()}, 0))(t)
	ok(t, st.Deposit(w.ctx, time.Now(), w.tenant, money, ""))
	for i := range workers {
		u := store.User{Name: fmt.Sprintf("worker%d", i), Pool: w.settings.ID, CreatedAt: time.Now()}
		w.workers = append(w.workers, must(st.CreateUser(w.ctx, u))(t))
	}
	w.open()
	t.Cleanup(func() {
		w.pools.Close()
		ok(t, st.CheckLedger(context.Background()))
		ok(t, st.Close())
	})
	return w
}

// open starts the pool, after close again.
func (w *world) open() {
	w.t.Helper()
	w.pools = live.New(live.Config{
		Store: w.store, Now: func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }, Log: slog.New(slog.DiscardHandler),
		Changed:  func(*engine.Changes) { w.changes.Add(1) },
		Restored: func(crowd.PoolID, []engine.OnCall) { w.restored.Add(1) },
	})
	ok(w.t, w.pools.Start(w.ctx, w.settings))
	w.pool = must(w.pools.Get(w.settings.ID))(w.t)
}

// launch launches a batch with n tasks.
func (w *world) launch(n uint32) crowd.BatchID {
	w.t.Helper()
	b := store.Batch{
		Pool: w.settings.ID, Name: "things", Template: []byte(`{}`), Columns: []string{"thing"}, CreatedAt: time.Now(),
		Spec: engine.Spec{
			Tenant: w.tenant, Rule: label.Count(1), Reward: crowd.Unit / 100, Budget: crowd.Unit, Priority: 1, Lease: time.Hour, TaskTime: time.Second,
		},
		Progress: engine.Progress{State: crowd.BatchDraft},
	}
	b.Spec.ID = must(w.store.CreateBatch(w.ctx, b))(w.t)
	ok(w.t, w.store.AddTasks(w.ctx, b.Spec.ID, slices.Repeat([]store.Task{{Values: []string{"a thing"}}}, int(n))))
	b.Spec.Tasks = n
	ok(w.t, w.pool.Command(w.ctx, func(e *engine.Engine, now time.Time) error { return e.Launch(now, b.Spec) }))
	return b.Spec.ID
}

// next asks for a task without waiting.
func (w *world) next(id crowd.WorkerID) engine.Handout {
	w.t.Helper()
	hand, found, err := w.pool.Next(w.ctx, id, 0, nil)
	ok(w.t, err)
	if !found {
		w.t.Fatalf("%s gets nothing", id)
	}
	return hand
}

// submit answers a task.
func (w *world) submit(h engine.Handout) error {
	return w.pool.Command(w.ctx, func(e *engine.Engine, now time.Time) error {
		_, err := e.Submit(now, h.Worker, h.Assignment, `"yes"`, "yes")
		return err
	})
}

// TestWhatIsAcknowledgedIsDurable: after a restart the pool is where it was.
func TestWhatIsAcknowledgedIsDurable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	batch := w.launch(3)
	ok(t, w.submit(w.next(w.workers[0])))
	held := w.next(w.workers[1])
	w.pools.Close()
	w.open()
	var st engine.Status
	var again engine.Handout
	ok(t, w.pool.Do(w.ctx, func(e *engine.Engine, _ time.Time) {
		st, _ = e.Status(batch)
		again, _ = e.Holds(w.workers[1])
	}))
	if st.Progress.Completed != 1 || st.Running != 1 || again.Assignment != held.Assignment {
		t.Errorf("after the restart: %d answers, %d held, %s instead of %s", st.Progress.Completed, st.Running, again.Assignment, held.Assignment)
	}
}

// TestGroupCommit: what comes while a commit is on its way shares the next one,
// and nobody is answered before the commit that holds their command.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const people = 20
		w := newWorld(t, people)
		w.launch(people)
		hands := make([]engine.Handout, people)
		for i, id := range w.workers {
			hands[i] = w.next(id)
		}
		w.store.hold = make(chan struct{})
		before := w.store.commits.Load()
		var answered atomic.Int64
		var group sync.WaitGroup
		for _, h := range hands {
			group.Go(func() {
				if err := w.submit(h); err != nil {
					t.Error(err)
				}
				answered.Add(1)
			})
			synctest.Wait() // the first one's commit is on its way, the others wait for the next
		}
		if n := answered.Load(); n != 0 {
			t.Errorf("%d were answered before anything was durable", n)
		}
		w.store.hold <- struct{}{}
		synctest.Wait()
		if n := answered.Load(); n != 1 {
			t.Errorf("%d were answered after the first commit", n)
		}
		w.store.hold <- struct{}{}
		group.Wait()
		if n := w.store.commits.Load() - before; n != 2 {
			t.Errorf("%d answers took %d commits", people, n)
		}
		w.store.hold = nil
	})
}

// TestTheStoreFails: nobody whose command was not kept is told that it was; the
// pool refuses commands for a moment and then goes on from what is durable.
func TestTheStoreFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2)
		batch := w.launch(2)
		hand := w.next(w.workers[0])
		restored := w.restored.Load()
		w.store.fails.Store(true)
		refused(t, w.submit(hand), crowd.Unavailable)
		w.store.fails.Store(false)
		refused(t, w.submit(hand), crowd.Unavailable) // it is too early
		if w.restored.Load() != restored {
			t.Error("the pool went on at once")
		}
		<-time.After(2 * time.Second)
		var st engine.Status
		ok(t, w.pool.Do(w.ctx, func(e *engine.Engine, _ time.Time) { st, _ = e.Status(batch) }))
		if st.Progress.Completed != 0 || st.Running != 1 || w.restored.Load() != restored+1 {
			t.Errorf("it goes on with %d answers and %d held, restored %d times", st.Progress.Completed, st.Running, w.restored.Load()-restored)
		}
		ok(t, w.submit(hand))
	})
}

// TestReadingGoesOnWhileTheStoreFails: what only reads sees what is durable, not what a command
// that was refused had made of the engine; also what waited in the commit that failed.
func TestReadingGoesOnWhileTheStoreFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2)
		batch := w.launch(2)
		hand := w.next(w.workers[0])
		look := func() (st engine.Status) {
			t.Helper()
			ok(t, w.pool.Read(w.ctx, func(e *engine.Engine, _ time.Time) { st, _ = e.Status(batch) }))
			return st
		}
		if st := look(); st.Running != 1 || st.Progress.Completed != 0 {
			t.Fatalf("%d held and %d answered before anything failed", st.Running, st.Progress.Completed)
		}
		w.store.hold = make(chan struct{})
		var submitted, read error
		var st engine.Status
		var both sync.WaitGroup
		both.Go(func() { submitted = w.submit(hand) })
		synctest.Wait() // its commit is on the way
		both.Go(func() {
			read = w.pool.Read(w.ctx, func(e *engine.Engine, _ time.Time) { st, _ = e.Status(batch) })
		})
		synctest.Wait()
		w.store.fails.Store(true)
		close(w.store.hold)
		both.Wait()
		refused(t, submitted, crowd.Unavailable)
		ok(t, read)
		for i := range 3 {
			if i > 0 {
				st = look()
			}
			if st.Progress.Completed != 0 || st.Running != 1 {
				t.Errorf("look %d while the store fails: %d answered, %d held", i, st.Progress.Completed, st.Running)
			}
			refused(t, w.submit(hand), crowd.Unavailable)
		}
		<-time.After(2 * time.Second)
		refused(t, w.submit(hand), crowd.Unavailable) // tried, and refused again
		if st := look(); st.Progress.Completed != 0 {
			t.Errorf("%d answered after another try", st.Progress.Completed)
		}
		w.store.fails.Store(false)
		<-time.After(2 * time.Second)
		ok(t, w.submit(hand))
		if st := look(); st.Progress.Completed != 1 {
			t.Errorf("%d answered at last", st.Progress.Completed)
		}
	})
}

// TestFollowingInPieces: what is followed comes in pieces, which begin anew where the pool
// went on from the store, so that this is told with the first event after it.
func TestFollowingInPieces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const tasks = 150
		w := newWorld(t, 1)
		newest, _, after, stop, err := w.pool.Follow(w.ctx)
		ok(t, err)
		defer stop()
		for range 4 {
			w.launch(tasks / 2)
		}
		for i := range 2 * tasks {
			if i == tasks {
				held := w.next(w.workers[0])
				w.store.fails.Store(true)
				refused(t, w.submit(held), crowd.Unavailable)
				w.store.fails.Store(false)
				<-time.After(2 * time.Second)
			}
			ok(t, w.submit(w.next(w.workers[0])))
		}
		var pieces []int
		restarts, labels := 0, 0
		for more := true; more; {
			x := after(newest)
			if x.Missed > 0 || len(x.List) > live.FeedPart {
				t.Errorf("%d events, %d missed", len(x.List), x.Missed)
			}
			for i, e := range x.List {
				if (i > 0 || !x.Restarted) && e.N != newest+1 {
					t.Errorf("event %d comes after %d", e.N, newest)
				}
				if newest = e.N; e.Kind == engine.RemoveTask {
					labels++
				}
			}
			if x.Restarted {
				restarts++
			}
			pieces, more = append(pieces, len(x.List)), x.More
		}
		if restarts != 1 || labels != 2*tasks || len(pieces) < 3 {
			t.Errorf("pieces of %v: %d labels, restarted %d times", pieces, labels, restarts)
		}
	})
}

// TestTell: a change that the store has already is no error while the pool is out
// of order.
func TestTell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		stop := func(e *engine.Engine, now time.Time) error {
			return e.SetTenant(now, engine.Tenant{ID: w.tenant, Weight: 1, Stopped: true})
		}
		w.launch(1)
		hand := w.next(w.workers[0])
		w.store.fails.Store(true)
		refused(t, w.submit(hand), crowd.Unavailable)
		ok(t, w.pool.Tell(stop))
		refused(t, w.pool.Command(w.ctx, stop), crowd.Unavailable)
	})
}

// TestWaiting: who waits is served as soon as there is something, leaves the queue
// when told to, and is woken when the server closes.
func TestWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3)
		type result struct {
			hand  engine.Handout
			found bool
			took  time.Duration
		}
		wait := func(id crowd.WorkerID) <-chan result {
			out := make(chan result, 1)
			begin := time.Now()
			go func() {
				hand, found, err := w.pool.Next(w.ctx, id, time.Hour, nil)
				if err != nil {
					t.Error(err)
				}
				out <- result{hand, found, time.Since(begin)}
			}()
			synctest.Wait()
			return out
		}
		first, second, third := wait(w.workers[0]), wait(w.workers[1]), wait(w.workers[2])
		if list := must(w.pool.Waiting(w.ctx))(t); !slices.Equal(list, w.workers) {
			t.Errorf("%v wait", list)
		}
		w.launch(1)
		if r := <-first; !r.found || r.hand.Worker != w.workers[0] || r.took != 0 {
			t.Errorf("the first was served: %+v", r)
		}
		ok(t, w.pool.LeaveQueue(w.ctx, w.workers[1], false))
		if r := <-second; r.found || r.took != 0 {
			t.Errorf("the second left: %+v", r)
		}
		again := wait(w.workers[1])
		if r := <-third; r.found || r.took != live.MaxWait {
			t.Errorf("the third waited for %s: %+v", live.MaxWait, r)
		}
		w.pools.StopWaiting()
		if r := <-again; r.found {
			t.Errorf("a task of nowhere: %+v", r)
		}
		if list := must(w.pool.Waiting(w.ctx))(t); len(list) != 0 {
			t.Errorf("%v wait still", list)
		}
	})
}

// TestClosedPoolsRefuse commands, and say so.
func TestClosedPoolsRefuse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.pools.Close()
	refused(t, w.pool.Do(w.ctx, func(*engine.Engine, time.Time) { t.Error("it was carried out") }), crowd.Unavailable)
	_, err := w.pools.Get(w.settings.ID)
	refused(t, err, crowd.NotFound)
	w.open()
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		ok(t, err)
		return v
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused ends the test unless err has the code.
func refused(t testing.TB, err error, want crowd.Code) {
	t.Helper()
	if got := crowd.CodeOf(err); got != want {
		t.Fatalf("got the error %v of code %q, want code %q", err, got, want)
	}
}
