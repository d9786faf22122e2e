package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

func as[T any](err error, target *T) bool { return errors.As(err, target) }

// Long polls run in a bubble with its own time: what would take a minute takes
// none, and a goroutine that is left over fails the test.

// poll is a request for work that runs at the same time as the test.
type poll struct {
	work *work.HeldTask
	err  error
	done chan struct{}
}

// poll begins to wait for work, and returns when it waits, or has some.
func (w *world) poll(ctx context.Context, p *access.Principal, wait time.Duration) *poll {
	x := &poll{done: make(chan struct{})}
	go func() {
		defer close(x.done)
		x.work, x.err = w.Work.Next(ctx, p, wait)
	}()
	synctest.Wait()
	return x
}

func (x *poll) waits() bool {
	synctest.Wait()
	select {
	case <-x.done:
		return false
	default:
		return true
	}
}

// gets ends the test unless the request was answered with work of a batch, or,
// for 0, with none.
func (x *poll) gets(t *testing.T, id crowd.BatchID) {
	t.Helper()
	if x.waits() {
		t.Fatal("still waits")
	}
	ok(t, x.err)
	switch {
	case x.work == nil && id != 0:
		t.Fatalf("got nothing, want work of %s", id)
	case x.work != nil && x.work.Batch != id:
		t.Fatalf("got work of %s, want %s", x.work.Batch, id)
	}
}

func bubble(t *testing.T, n int, f func(t *testing.T, w *world)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, n)
		f(t, w)
		w.close()
	})
}

func TestAPollIsWokenByALaunch(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		one, two := w.poll(w.ctx, w.workers[0], time.Minute), w.poll(w.ctx, w.workers[1], time.Minute)
		if !one.waits() || !two.waits() {
			t.Fatal("nothing to do, and they do not wait")
		}
		start := time.Now()
		id := w.launch(1)
		one.gets(t, id) // they waited longer
		if !two.waits() {
			t.Fatal("there was one task, and two got some")
		}
		must(w.submit(w.workers[0], one.work.Assignment, yes))(t)
		if took := time.Since(start); took > time.Second {
			t.Errorf("it took %s", took)
		}
		id = w.launch(1)
		two.gets(t, id)
	})
}

// submit submits without asking for more.
func (w *world) submit(p *access.Principal, id crowd.AssignmentID, answer json.RawMessage) (engine.Outcome, error) {
	out, _, err := w.Work.Submit(w.ctx, p, id, answer, false, 0)
	return out, err
}

func TestAPollRunsOut(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		for wait, want := range map[time.Duration]time.Duration{10 * time.Second: 10 * time.Second, time.Hour: work.MaxWait} {
			start := time.Now()
			if work := must(w.Work.Next(w.ctx, w.workers[0], wait))(t); work != nil || time.Since(start) != want {
				t.Errorf("waited %s for %v", time.Since(start), work)
			}
		}
		if n := must(w.Pools.List(w.ctx, w.admin))(t)[0].Waiting; n != 0 {
			t.Errorf("%d people still wait", n)
		}
	})
}

func TestAPollIsGivenUp(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(w.ctx)
		one, two := w.poll(ctx, w.workers[0], time.Minute), w.poll(w.ctx, w.workers[1], time.Minute)
		cancel()
		if one.waits() || one.work != nil {
			t.Errorf("given up, and got %v", one.work)
		}
		two.gets(t, w.launch(1)) // not the one who has gone
		_, err := w.Work.Next(ctx, w.workers[0], time.Minute)
		if err == nil {
			return // it may be taken or not: it is over
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// TestTheLastPollIsServed: a page that is loaded again sends a second request,
// and the first is cut off at any time before, between or after.
func TestTheLastPollIsServed(t *testing.T) {
	for name, cut := range map[string]func(cancel func(), ask func()){
		"cut off before":     func(cancel, ask func()) { cancel(); synctest.Wait(); ask() },
		"cut off after":      func(cancel, ask func()) { ask(); synctest.Wait(); cancel() },
		"cut off meanwhile":  func(cancel, ask func()) { cancel(); ask() },
		"cut off right then": func(cancel, ask func()) { go cancel(); ask() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 1, func(t *testing.T, w *world) {
				for range 20 {
					ctx, cancel := context.WithCancel(w.ctx)
					first := w.poll(ctx, w.workers[0], time.Minute)
					var last *poll
					cut(cancel, func() { last = w.poll(w.ctx, w.workers[0], time.Minute) })
					if first.waits() {
						t.Fatal("the first one still waits")
					}
					if first.work != nil || !last.waits() {
						t.Fatalf("the first got %v, the last waits: %t", first.work, last.waits())
					}
					last.gets(t, w.launch(1))
					must(w.submit(w.workers[0], last.work.Assignment, yes))(t)
				}
			})
		})
	}
}

// TestALookDoesNotEndAPoll: who asks without waiting, in another window, does
// not make the one who waits deaf.
func TestALookDoesNotEndAPoll(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		x := w.poll(w.ctx, w.workers[0], time.Minute)
		if work := must(w.Work.Next(w.ctx, w.workers[0], 0))(t); work != nil {
			t.Fatalf("got %v", work)
		}
		if !x.waits() {
			t.Fatal("the poll has ended")
		}
		x.gets(t, w.launch(1))
	})
}

func TestAClosingServerEndsPolls(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		x := w.poll(w.ctx, w.workers[0], time.Minute)
		changed, stop, err := w.Batches.Watch(w.ctx, w.ann, w.draft(1))
		ok(t, err)
		defer stop()
		w.StopWaiting()
		x.gets(t, 0)
		if _, open := <-changed; open {
			t.Error("watching goes on")
		}
		w.poll(w.ctx, w.workers[1], time.Minute).gets(t, 0) // nor does anybody begin
		w.launch(1)
		w.next(w.workers[0]) // but what does not wait still works
		service := w.App
		w.close()
		_, err = service.Work.Next(w.ctx, w.workers[0], 0)
		if err == nil {
			t.Error("a closed service hands out")
		}
		service.Close() // twice is once
	})
}

func TestSubmitAndNextIsOneCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.launch(3)
	work := w.next(w.workers[0])
	if again := w.next(w.workers[0]); again.Assignment != work.Assignment {
		t.Errorf("holds %s and got %s", work.Assignment, again.Assignment)
	}
	for n := 3; n > 0; n-- {
		out, next, err := w.Work.Submit(w.ctx, w.workers[0], work.Assignment, yes, true, 0)
		ok(t, err)
		if !out.Counted || (next == nil) != (n == 1) {
			t.Fatalf("with %d left: %+v, next %v", n, out, next)
		}
		if next != nil {
			if current := must(w.Work.Current(w.ctx, w.workers[0]))(t); current.Assignment != next.Assignment || current.Values.Values().Cells[0] != next.Values.Values().Cells[0] {
				t.Errorf("holds %v, was told %v", current, next)
			}
		}
		work = next
	}
	if current := must(w.Work.Current(w.ctx, w.workers[0]))(t); current != nil {
		t.Errorf("holds %v", current)
	}
}

func TestSubmitAndWaitForTheNext(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
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
		x.gets(t, w.launch(1))
		if !out.Counted {
			t.Errorf("got %+v", out)
		}
	})
}

// TestAnswersCountOnce sends every answer again, one after the other and 50 at
// once.
func TestAnswersCountOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.launch(2)
	work := w.next(w.workers[0])
	if out := must(w.submit(w.workers[0], work.Assignment, yes))(t); out.Duplicate || !out.Counted {
		t.Errorf("at first %+v", out)
	}
	if out := must(w.submit(w.workers[0], work.Assignment, no))(t); !out.Duplicate || !out.Counted || out.Paid != crowd.Unit/100 {
		t.Errorf("again %+v", out)
	}
	work = w.next(w.workers[0])
	var done sync.WaitGroup
	outs, errs := make([]engine.Outcome, 50), make([]error, 50)
	for i := range outs {
		done.Go(func() { outs[i], errs[i] = w.submit(w.workers[0], work.Assignment, yes) })
	}
	done.Wait()
	ok(t, errors.Join(errs...))
	first := 0
	for _, out := range outs {
		if !out.Duplicate {
			first++
		}
		if !out.Counted {
			t.Errorf("got %+v", out)
		}
	}
	answers := w.answers(id)
	if first != 1 || len(answers) != 2 || string(answers[0].Body) != `{"label":"yes"}` {
		t.Errorf("%d were the first; kept %v", first, answers)
	}
	if earned, _, _ := w.Work.Earnings(w.ctx, w.workers[0], 1); earned != crowd.Unit/100*2 {
		t.Errorf("earned %s", earned)
	}
	if v := w.batch(id); v.Progress.State != crowd.BatchDone || v.Progress.Completed != 2 {
		t.Errorf("the batch is %+v", v.Progress)
	}
}

func TestLateAnswers(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		meanwhile func(t *testing.T, w *world, id crowd.BatchID)
		want      engine.Outcome
		labels    int
	}{
		"the task is still open": {
			func(*testing.T, *world, crowd.BatchID) {},
			engine.Outcome{Counted: true, Late: true, Paid: crowd.Unit / 100}, 1,
		},
		"somebody else has it": {
			func(_ *testing.T, w *world, _ crowd.BatchID) { w.next(w.workers[1]) },
			engine.Outcome{Late: true}, 0,
		},
		"somebody else has answered": {
			func(t *testing.T, w *world, _ crowd.BatchID) {
				must(w.submit(w.workers[1], w.next(w.workers[1]).Assignment, no))(t)
			},
			engine.Outcome{Late: true, Ended: true}, 1, // it was the only task
		},
		"the batch was ended": {
			func(t *testing.T, w *world, id crowd.BatchID) { must(w.Batches.End(w.ctx, w.ann, id))(t) },
			engine.Outcome{Late: true, Ended: true}, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2)
			id := w.launch(1)
			held := w.next(w.workers[0]).Assignment
			w.clock.advance(2 * time.Minute) // the lease was one
			x.meanwhile(t, w, id)
			out := must(w.submit(w.workers[0], held, yes))(t)
			if out != x.want {
				t.Errorf("got %+v, want %+v", out, x.want)
			}
			again := must(w.submit(w.workers[0], held, yes))(t)
			if x.want.Duplicate = true; again != x.want {
				t.Errorf("again %+v, want %+v", again, x.want)
			}
			w.reopen()
			if again = must(w.submit(w.workers[0], held, no))(t); again != x.want {
				t.Errorf("after a restart %+v, want %+v", again, x.want)
			}
			found := slices.IndexFunc(w.answers(id), func(a store.Annotation) bool { return a.Assignment == held && a.Late && a.Key == "yes" })
			if v := w.batch(id); v.Progress.Labelled != x.labels || found < 0 {
				t.Errorf("%d labels, want %d; kept: %t", v.Progress.Labelled, x.labels, found >= 0)
			}
		})
	}
}

func TestLeasesRunOutByThemselves(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		id := w.launch(1)
		w.next(w.workers[0])
		start := time.Now()
		x := w.poll(w.ctx, w.workers[1], 2*time.Minute)
		<-x.done
		x.gets(t, id)
		if took := time.Since(start); took < time.Minute || took > time.Minute+time.Second {
			t.Errorf("a lease of a minute took %s", took)
		}
	})
}

func TestHeartbeats(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.launch(1)
	work := w.next(w.workers[0])
	w.clock.advance(50 * time.Second)
	expires := must(w.Work.Heartbeat(w.ctx, w.workers[0], work.Assignment))(t)
	if got := expires.Sub(work.Expires); got < 50*time.Second || got > 55*time.Second {
		t.Errorf("extended by %s", got)
	}
	w.clock.advance(50 * time.Second)
	if out := must(w.submit(w.workers[0], work.Assignment, yes))(t); out.Late {
		t.Error("late in spite of a heartbeat")
	}
	_, err := w.Work.Heartbeat(w.ctx, w.workers[0], work.Assignment)
	refused(t, err, crowd.Conflict) // it has been answered
	w.launch(1)
	work = w.next(w.workers[0])
	w.clock.advance(time.Hour)
	_, err = w.Work.Heartbeat(w.ctx, w.workers[0], work.Assignment)
	refused(t, err, crowd.Conflict)
}

func TestReturnAndSkip(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id := w.launch(2)
	one := w.next(w.workers[0])
	two := must(w.Work.Skip(w.ctx, w.workers[0], one.Assignment, 0))(t)
	if two == nil || two.Task == one.Task {
		t.Fatalf("skipped %s and got %v", one.Task, two)
	}
	if again := must(w.Work.Skip(w.ctx, w.workers[0], one.Assignment, 0))(t); again.Assignment != two.Assignment {
		t.Errorf("the same skip again gives %v", again)
	}
	ok(t, w.Work.Return(w.ctx, w.workers[0], two.Assignment))
	ok(t, w.Work.Return(w.ctx, w.workers[0], two.Assignment))
	back := w.next(w.workers[0]) // there is nothing else
	if back.Task != two.Task || back.Assignment == two.Assignment {
		t.Errorf("got %s of %s after %s of %s was returned", back.Assignment, back.Task, two.Assignment, two.Task)
	}
	must(w.Work.Skip(w.ctx, w.workers[0], back.Assignment, 0))(t)
	if work := must(w.Work.Next(w.ctx, w.workers[0], 0))(t); work != nil {
		t.Errorf("got %s again", work.Task)
	}
	if why := must(w.Work.WhyNothing(w.ctx, w.workers[0]))(t); why[crowd.AlreadyDid] != 1 {
		t.Errorf("why: %v", why)
	}
	_, err := w.submit(w.workers[0], two.Assignment, yes)
	refused(t, err, crowd.Conflict)
	for range 2 {
		must(w.submit(w.workers[1], w.next(w.workers[1]).Assignment, yes))(t)
	}
	if v := w.batch(id); v.Progress.State != crowd.BatchDone {
		t.Errorf("the batch is %s", v.Progress.State)
	}
}

// A batch of whose tasks everybody has had each cannot finish until somebody comes.
func TestEverybodyHadWhatIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.launch(2)
	for range 2 {
		if v := w.batch(id); v.Crowd.TooSmall() {
			t.Errorf("with something left for somebody: %+v", v.Crowd)
		}
		must(w.Work.Skip(w.ctx, w.workers[0], w.next(w.workers[0]).Assignment, 0))(t)
	}
	const says = "everybody in the pool who may do it has already had the 2 tasks left"
	why := must(w.Batches.Why(w.ctx, w.ann, id))(t)
	if v := w.batch(id); why.Reason != crowd.CrowdTooSmall || v.Crowd.String() != says || v.Reason != crowd.CrowdTooSmall {
		t.Errorf("why: %+v, the batch: %+v", why, v)
	}
	if f := must(w.Batches.Forecast(w.ctx, w.ann, id))(t); f.Status != batches.ForecastTooFew {
		t.Errorf("the forecast is %+v", f)
	}
	w.worker("late")
	if v := w.batch(id); v.Crowd.TooSmall() {
		t.Errorf("with somebody new: %+v", v.Crowd)
	}
}

func TestAnAnswerThatDoesNotFit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.launch(1)
	held := w.next(w.workers[0]).Assignment
	for _, answer := range []string{`"maybe"`, `{"label": "maybe"}`, `{"other": "yes"}`, `17`, `{`, ``, `null`} {
		_, err := w.submit(w.workers[0], held, json.RawMessage(answer))
		if crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%q: %v", answer, err)
		}
		_, err = w.submit(w.workers[1], held, json.RawMessage(answer))
		if crowd.CodeOf(err) != crowd.NotFound { // and what would fit is not told
			t.Errorf("%q by somebody else: %v", answer, err)
		}
	}
	_, err := w.submit(w.workers[1], held, yes)
	refused(t, err, crowd.NotFound)
	if out := must(w.submit(w.workers[0], held, yes))(t); !out.Counted || out.Duplicate {
		t.Errorf("after all that %+v", out)
	}
	_, err = w.submit(w.workers[1], held, yes)
	refused(t, err, crowd.NotFound)
}

func TestEmergencyStops(t *testing.T) {
	bubble(t, 2, func(t *testing.T, w *world) {
		id := w.launch(10)
		held := w.next(w.workers[0]).Assignment
		for name, stop := range map[string]func(bool) error{
			"of a batch": func(on bool) error {
				_, err := w.Batches.Change(w.ctx, w.ann, id, func(x *batches.RunningSettings) error { x.Stopped = on; return nil })
				return err
			},
			"of a tenant, by its requester": func(on bool) error {
				_, err := w.Tenants.Update(w.ctx, w.ann, w.a, accounts.TenantEdit{Stopped: &on})
				return err
			},
			"of everything": func(on bool) error { return w.Pools.StopEverything(w.ctx, w.admin, on) },
		} {
			ok(t, stop(true))
			x := w.poll(w.ctx, w.workers[1], time.Minute)
			if !x.waits() {
				t.Fatalf("a stop %s: something is handed out", name)
			}
			if why := must(w.Work.WhyNothing(w.ctx, w.workers[1]))(t); why[crowd.EmergencyStop] != 1 {
				t.Errorf("a stop %s: why: %v", name, why)
			}
			out, next, err := w.Work.Submit(w.ctx, w.workers[0], held, yes, true, 0) // what is held may be submitted
			ok(t, err)
			if !out.Counted || next != nil {
				t.Errorf("a stop %s: %+v, next %v", name, out, next)
			}
			ok(t, stop(false))
			x.gets(t, id) // who waits gets something
			ok(t, w.Work.Return(w.ctx, w.workers[1], x.work.Assignment))
			held = w.next(w.workers[0]).Assignment
		}
		ok(t, w.Pools.StopEverything(w.ctx, w.admin, true))
		w.close()
		w.open()
		if work := must(w.Work.Next(w.ctx, w.workers[1], 0))(t); work != nil {
			t.Error("a restart lifts an emergency stop")
		}
	})
}

func TestThePolicyIsChangedWhileItRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	first := w.launch(10)
	last := w.launch(10, func(b *batches.NewBatch) { b.Deadline = w.clock.now().Add(time.Hour) })
	set := func(policy string) {
		t.Helper()
		v := must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Policy = policy; return nil }))(t)
		if v.Policy != policy {
			t.Errorf("the policy is %q", v.Policy)
		}
	}
	set("fifo")
	if work := w.next(w.workers[0]); work.Batch != first {
		t.Errorf("fifo gives %s", work.Batch)
	}
	set("edf")
	if work := w.next(w.workers[1]); work.Batch != last {
		t.Errorf("edf gives %s", work.Batch)
	}
	if q := must(w.Pools.Queue(w.ctx, w.admin, w.pool, 100))(t); q.All != 2 || q.Policy != "edf" || q.Batches[0].Batch != last || q.Batches[0].Place != 1 {
		t.Errorf("the queue is %+v", q)
	}
	w.reopen()
	if work := w.next(w.workers[2]); work.Batch != last {
		t.Errorf("after a restart edf gives %s", work.Batch)
	}
	_, err := w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Policy = "best"; return nil })
	refused(t, err, crowd.Invalid)
}

func TestDirectedBatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	id := w.draft(0, times(2))
	must(w.Batches.Upload(w.ctx, w.admin, id, strings.NewReader("thing,_workers\na dog,worker1\na stone,worker2;worker1\n"), batches.Upload{}))(t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	if work := must(w.Work.Next(w.ctx, w.workers[2], 0))(t); work != nil {
		t.Errorf("who is not invited gets %s", work.Task)
	}
	if why := must(w.Work.WhyNothing(w.ctx, w.workers[2]))(t); why[crowd.NotInvited] != 1 {
		t.Errorf("why: %v", why)
	}
	w.reopen()
	if work := w.next(w.workers[1]); work.Values.Values().Cells[0] != "a stone" || len(work.Values.Values().Columns) != 1 {
		t.Errorf("got %v", work.Values)
	}
	for range 2 {
		must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(t)
	}
	must(w.submit(w.workers[1], w.next(w.workers[1]).Assignment, yes))(t)
	if v := w.batch(id); v.Progress.State != crowd.BatchDone || v.Progress.Completed != 3 {
		t.Errorf("the batch is %+v", v.Progress)
	}
}

func TestWatching(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		id, other := w.launch(2), w.launch(1)
		changed, stop, err := w.Batches.Watch(w.ctx, w.ann, id)
		ok(t, err)
		signals := func() (n int) {
			synctest.Wait()
			for {
				select {
				case <-changed:
					n++
				default:
					return n
				}
			}
		}
		if n := signals(); n != 0 {
			t.Errorf("%d signals before anything has changed", n)
		}
		must(w.Batches.Change(w.ctx, w.ann, other, func(x *batches.RunningSettings) error { x.Priority = 2.0; return nil }))(t)
		if n := signals(); n != 0 {
			t.Errorf("%d signals of another batch's change", n)
		}
		for range 3 {
			must(w.Batches.Change(w.ctx, w.ann, id, func(x *batches.RunningSettings) error { x.Priority = 2.0; return nil }))(t)
		}
		if n := signals(); n != 1 {
			t.Errorf("%d signals of three changes in a row", n)
		}
		must(w.Batches.Cancel(w.ctx, w.ann, id))(t)
		if n := signals(); n != 1 {
			t.Errorf("%d signals of the end", n)
		}
		stop()
		stop()
	})
}

func TestWhoHoldsWhatAndWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id := w.launch(2, times(2))
	work := w.next(w.workers[0])
	held := must(w.Batches.Holding(w.ctx, w.ann, id))(t)
	if len(held) != 1 || held[0].Assignment != work.Assignment || held[0].Worker != 0 || held[0].By.Pseudonym != w.pseudonym(w.a, w.workers[0]) {
		t.Errorf("held: %v", held)
	}
	w.next(w.workers[1])
	list, more, err := w.Batches.Holders(w.ctx, w.ann, id, 1)
	ok(t, err)
	if more != 1 || len(list) != 1 || list[0].By.Name != "" {
		t.Errorf("%v and %d more", list, more)
	}
	why := must(w.Batches.Why(w.ctx, w.ann, id))(t)
	if why.Reason != crowd.NoWorkerReady || why.Workers[crowd.NoWorkerReady] != 2 {
		t.Errorf("why: %+v", why)
	}
	must(w.Batches.Pause(w.ctx, w.ann, id))(t)
	if v := w.batch(id); v.Reason != crowd.BatchPaused || v.Running != 2 || v.Waiting != 2 {
		t.Errorf("the batch is %+v", v)
	}
	must(w.Batches.Cancel(w.ctx, w.ann, id))(t)
	_, err = w.Batches.Why(w.ctx, w.ann, id)
	refused(t, err, crowd.Conflict)
	ok(t, w.Accounts.BlockWorker(w.ctx, w.ann, w.a, w.pseudonym(w.a, w.workers[0]), true))
	w.launch(1)
	if why := must(w.Work.WhyNothing(w.ctx, w.workers[0]))(t); why[crowd.WorkerBlocked] != 1 {
		t.Errorf("why: %v", why)
	}
	ok(t, w.Accounts.BlockWorker(w.ctx, w.ann, w.a, w.pseudonym(w.a, w.workers[0]), false))
	w.next(w.workers[0])
}

// TestARestartKeepsEverything: what was acknowledged is there, and what was
// held is still held, with a lease that begins again.
func TestARestartKeepsEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	id := w.launch(20, func(b *batches.NewBatch) { b.Redundancy = label.Agree(2, 3) })
	held := map[int]*work.HeldTask{}
	for i, p := range w.workers {
		held[i] = w.next(p)
	}
	answered := 0
	for round := range 6 {
		for i, p := range w.workers {
			answer := yes
			if (i+round)%3 == 0 {
				answer = no
			}
			out, next, err := w.Work.Submit(w.ctx, p, held[i].Assignment, answer, true, 0)
			ok(t, err)
			if !out.Counted || next == nil {
				t.Fatalf("got %+v, next %v", out, next)
			}
			held[i] = next
			answered++
		}
		before := w.batch(id)
		w.clock.advance(50 * time.Second)
		w.reopen()
		after := w.batch(id)
		if after.Progress != before.Progress || after.Running != before.Running || after.Waiting != before.Waiting {
			t.Fatalf("before %+v\nafter %+v", before, after)
		}
		w.clock.advance(50 * time.Second) // more than a lease since the hand-out, but not since the restart
		for i, p := range w.workers {
			if again := w.next(p); again.Assignment != held[i].Assignment {
				t.Fatalf("worker %d held %s, now %s", i, held[i].Assignment, again.Assignment)
			}
		}
	}
	if n := len(w.answers(id)); n != answered {
		t.Errorf("%d answers kept of %d", n, answered)
	}
}
