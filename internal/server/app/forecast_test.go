package app_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/sim/forecast"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// asked asks for a forecast, lets it be computed, and asks again.
func (w *world) asked(p *access.Principal, id crowd.BatchID) batches.BatchForecast {
	w.t.Helper()
	_, err := w.Batches.Forecast(w.ctx, p, id)
	ok(w.t, err)
	synctest.Wait()
	return must(w.Batches.Forecast(w.ctx, p, id))(w.t)
}

// answer lets each worker answer so many tasks, of 20 s each.
func (w *world) answer(n int) {
	w.t.Helper()
	for range n {
		var held []*work.HeldTask
		for _, p := range w.workers {
			held = append(held, w.next(p))
		}
		w.clock.advance(20 * time.Second)
		for i, p := range w.workers {
			_, _, err := w.Work.Submit(w.ctx, p, held[i].Assignment, yes, false, 0)
			ok(w.t, err)
		}
	}
}

func TestForecast(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		deadline := w.clock.now().Add(2 * time.Hour).UTC().Truncate(time.Second)
		id := w.draft(90, func(b *batches.NewBatch) { b.Deadline = deadline })
		want := func(what string, got batches.BatchForecast, status batches.ForecastStatus) {
			t.Helper()
			if got.Status != status {
				t.Fatalf("%s: the forecast is %q (%s), want %q", what, got.Status, got.Text, status)
			}
			if (got.Text == "") != (status == batches.ForecastReady) {
				t.Errorf("%s: it says %q", what, got.Text)
			}
		}
		want("a draft", w.asked(w.ann, id), batches.ForecastDraft)
		must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
		want("at once", must(w.Batches.Forecast(w.ctx, w.ann, id))(t), batches.ForecastPending)
		want("nobody has come", w.asked(w.ann, id), batches.ForecastNobody)

		w.next(w.workers[0])
		w.clock.advance(16 * time.Second)
		want("somebody works", w.asked(w.ann, id), batches.ForecastUnknown)

		w.answer(10)
		x := w.asked(w.ann, id)
		want("30 answers are in", x, batches.ForecastReady)
		now := w.clock.now()
		f := x.Finish
		if x.Left != 60 || !x.Deadline.Equal(deadline) || x.Reps < 100 || x.At.After(now) || !strings.Contains(x.Basis, "3 people there") {
			t.Errorf("the forecast is %+v", x)
		}
		// Three people need 7 minutes for 60 answers of 20 s.
		if f.Low.Before(now) || f.Median.Before(now.Add(4*time.Minute)) || f.Median.After(now.Add(20*time.Minute)) || f.High.Before(f.Median) {
			t.Errorf("it is done from %s to %s, most likely at %s (now %s)", f.Low, f.High, f.Median, now)
		}
		if f.Chance == nil || f.Chance.Value < 0.9 || f.Policy != sched.Default {
			t.Errorf("the chance is %+v under %s", f.Chance, f.Policy)
		}

		// Asked again at once, nothing is computed again; later it is.
		w.clock.advance(10 * time.Second)
		if again := w.asked(w.ann, id); !again.At.Equal(x.At) {
			t.Errorf("after 10 s it was computed again")
		}
		w.clock.advance(10 * time.Second)
		if again := w.asked(w.ann, id); !again.At.After(x.At) {
			t.Errorf("after 20 s it is still that of %s", again.At)
		}

		later := deadline.Add(time.Hour)
		must(w.Batches.Change(w.ctx, w.ann, id, func(x *batches.RunningSettings) error { x.Deadline = later; return nil }))(t)
		if got := must(w.Batches.Forecast(w.ctx, w.ann, id))(t); got.Finish.Chance != nil {
			t.Error("the chance is that of the deadline before")
		}

		// Another tenant's batch is not there, and workers have nothing to ask.
		_, err := w.Batches.Forecast(w.ctx, w.bob, id)
		refused(t, err, crowd.NotFound)
		_, err = w.Batches.Forecast(w.ctx, w.workers[0], id)
		refused(t, err, crowd.Forbidden)
		want("an admin asks", must(w.Batches.Forecast(w.ctx, w.admin, id))(t), batches.ForecastReady)

		must(w.Batches.Pause(w.ctx, w.ann, id))(t)
		want("paused", w.asked(w.ann, id), batches.ForecastPaused)
		must(w.Batches.Resume(w.ctx, w.ann, id))(t)
		stopped := true
		must(w.Batches.Change(w.ctx, w.ann, id, func(x *batches.RunningSettings) error { x.Stopped = stopped; return nil }))(t)
		want("stopped", w.asked(w.ann, id), batches.ForecastStopped)
		must(w.Batches.End(w.ctx, w.ann, id))(t)
		want("ended", w.asked(w.ann, id), batches.ForecastOver)
	})
}

// TestARefutedForecastIsNotShown: people hold tasks for so long that they are taken for
// gone, and the end is far away; then they answer. The forecast that they contradict is
// not shown any more, and another is made at once.
func TestARefutedForecastIsNotShown(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		id := w.launch(90, func(b *batches.NewBatch) { b.Lease = 30 * time.Minute })
		w.answer(10)
		var held []*work.HeldTask
		for _, p := range w.workers {
			held = append(held, w.next(p))
		}
		w.clock.advance(8 * time.Minute)
		x := w.asked(w.ann, id)
		if soon := w.clock.now().Add(20 * time.Minute); x.Status != batches.ForecastReady || x.Finish.Median.Before(soon) && !x.Finish.Median.IsZero() {
			t.Fatalf("with everybody gone it is %q %+v", x.Status, x.Finish)
		}
		for range 4 {
			for i, p := range w.workers {
				_, _, err := w.Work.Submit(w.ctx, p, held[i].Assignment, yes, false, 0)
				ok(t, err)
				held[i] = w.next(p)
			}
			w.clock.advance(2 * time.Second)
		}
		if got := must(w.Batches.Forecast(w.ctx, w.ann, id))(t); got.Status != batches.ForecastPending || !strings.HasPrefix(got.Text, "What came since contradicts") {
			t.Errorf("after 12 answers in 8 s it is %q (%s): %+v", got.Status, got.Text, got.Finish)
		}
		w.clock.advance(time.Minute) // so few are not too many for that
		if got := must(w.Batches.Forecast(w.ctx, w.ann, id))(t); got.Status == batches.ForecastReady && got.At.Equal(x.At) {
			t.Errorf("later the same forecast is shown: %+v", got)
		}
		synctest.Wait()
		got := must(w.Batches.Forecast(w.ctx, w.ann, id))(t)
		if got.Status != batches.ForecastReady || !got.At.After(x.At) || got.Finish.Median.After(w.clock.now().Add(20*time.Minute)) || got.Finish.Median.IsZero() {
			t.Errorf("then it is %q (%s), of %s: %+v", got.Status, got.Text, got.At, got.Finish)
		}
	})
}

// TestAWatchedForecast: when a forecast has been computed, whoever watches is signalled,
// and what they see next has it.
func TestAWatchedForecast(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		id := w.launch(90)
		w.answer(10)
		changed, stop, err := w.Batches.Watch(w.ctx, w.ann, id)
		ok(t, err)
		defer stop()
		for _, want := range []batches.ForecastStatus{batches.ForecastPending, batches.ForecastReady} {
			if d := must(w.Batches.WatchedDetails(w.ctx, w.ann, id))(t); d.Forecast.Status != want {
				t.Fatalf("the forecast is %q (%s), want %q", d.Forecast.Status, d.Forecast.Text, want)
			}
			synctest.Wait()
			if want == batches.ForecastPending {
				<-changed
			}
		}
	})
}

// TestAWatchedForecastThatFails: whoever watches is signalled of that, too, also where
// the batches that it is of could not be read.
func TestAWatchedForecastThatFails(t *testing.T) {
	for want, fail := range map[batches.ForecastStatus]func(*world, *failingStore){
		batches.ForecastTooBig: func(w *world, _ *failingStore) {
			big := w.draft(5000, times(100), func(b *batches.NewBatch) { b.Reward, b.Deadline = 1, w.clock.now().Add(30*24*time.Hour) })
			must(w.Batches.Launch(w.ctx, w.admin, big, true))(w.t)
		},
		batches.ForecastFailed: func(_ *world, f *failingStore) { f.begin(storeCall{"Activity", 1}) },
	} {
		t.Run(string(want), func(t *testing.T) {
			bubble(t, 3, func(t *testing.T, w *world) {
				f := &failingStore{}
				w.wrap, w.ctx = func(s store.Store) store.Store { f.Store = s; return f }, marked(w.ctx)
				w.reopen()
				id := w.launch(90)
				w.answer(10)
				fail(w, f)
				changed, stop, err := w.Batches.Watch(w.ctx, w.ann, id)
				ok(t, err)
				defer stop()
				if d := must(w.Batches.WatchedDetails(w.ctx, w.ann, id))(t); d.Forecast.Status != batches.ForecastPending {
					t.Fatalf("at first the forecast is %q (%s)", d.Forecast.Status, d.Forecast.Text)
				}
				synctest.Wait()
				select {
				case <-changed:
				default:
					t.Error("it has failed, and nobody is told")
				}
				if d := must(w.Batches.WatchedDetails(w.ctx, w.ann, id))(t); d.Forecast.Status != want {
					t.Errorf("then it is %q (%s)", d.Forecast.Status, d.Forecast.Text)
				}
			})
		})
	}
}

// TestPoolStateWithoutMoney: who looks after pools and sees no money is told nothing of what
// batches pay, and can make a forecast of the rest.
func TestPoolStateWithoutMoney(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.launch(40, func(b *batches.NewBatch) { b.Enough = &engine.Enough{Labels: 39, Spent: crowd.Unit} })
	w.answer(10)
	w.next(w.workers[0])
	operator, viewer := w.holding(access.Operator, 0), w.holding(access.Viewer, 0)
	text := string(must(json.Marshal(must(w.Batches.PoolState(w.ctx, operator, w.pool))(t)))(t))
	if strings.Contains(text, "_micros") || strings.Contains(text, `"spent"`) || !strings.Contains(text, `"no_money":true`) || !strings.Contains(text, `"labels":39`) {
		t.Errorf("an operator gets %s", text)
	}
	var read forecast.State
	ok(t, json.Unmarshal([]byte(text), &read))
	if again := string(must(json.Marshal(&read))(t)); again != text {
		t.Errorf("read and written again it is %s", again)
	}
	result := must(forecast.Forecast(w.ctx, &read, forecast.Options{Seed: 1, Reps: 5, Cores: 1}))(t)
	if len(result.Batches) != 1 || result.Batches[0].Left != 10 {
		t.Errorf("the forecast is of %+v", result.Batches)
	}
	for _, p := range []*access.Principal{viewer, w.admin} {
		if text := string(must(json.Marshal(must(w.Batches.PoolState(w.ctx, p, w.pool))(t)))(t)); !strings.Contains(text, `"reward_micros":10000`) || strings.Contains(text, "no_money") {
			t.Errorf("who sees money gets %s", text)
		}
	}
}

func TestPoolState(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		id := w.launch(4, func(b *batches.NewBatch) { b.Redundancy = label.Agree(2, 3) })
		w.answer(1)
		waits := w.workers[2]
		for _, p := range w.workers[:2] {
			w.next(p)
		}
		for _, p := range []*access.Principal{w.ann, w.workers[0]} {
			_, err := w.Batches.PoolState(w.ctx, p, w.pool)
			refused(t, err, crowd.Forbidden)
		}
		_, err := w.Batches.PoolState(w.ctx, w.admin, 99)
		refused(t, err, crowd.NotFound)

		ctx, cancel := context.WithCancel(w.ctx)
		other := w.launch(1, func(b *batches.NewBatch) { b.Tenant = w.b }) // another tenant's
		w.next(waits)
		must(w.Batches.Pause(w.ctx, w.admin, id))(t)
		free := w.worker("late")
		poll := w.poll(ctx, free, time.Minute)
		s := must(w.Batches.PoolState(w.ctx, w.admin, w.pool))(t)
		cancel()
		<-poll.done
		if len(s.Snapshot.Batches) != 2 || s.Batches[id] != "things" || s.Snapshot.Batches[1].Spec.ID != other || s.Policy != sched.Default {
			t.Errorf("the state is %+v", s)
		}
		if o := s.Observed; len(o.Present) != 4 || o.HandOuts != 3 || o.Answers[id].N != 3 {
			t.Errorf("observed: %+v", o)
		}
		for _, p := range s.Observed.Present {
			if p.Chance != 1 {
				t.Errorf("%s holds a task or waits, and is there with chance %g", p.Worker, p.Chance)
			}
		}
		data := string(must(json.Marshal(s))(t))
		for _, secret := range []string{"yes", "thing ", "worker1", "late"} {
			if strings.Contains(strings.ReplaceAll(data, `"late":true`, ""), secret) {
				t.Errorf("the state tells %q: %s", secret, data)
			}
		}
		var back forecast.State
		ok(t, json.Unmarshal([]byte(data), &back))
		must(forecast.Forecast(w.ctx, &back, forecast.Options{Reps: 10}))(t)
	})
}

// TestForecastEndsWithTheService closes the service while one is computed.
func TestForecastEndsWithTheService(t *testing.T) {
	w := newWorld(t, 3)
	id := w.launch(5000)
	w.answer(3)
	must(w.Batches.Forecast(w.ctx, w.ann, id))(t)
	w.close()
}

// TestOutlookOfARun: when a run is done is what the forecast of its batch says.
func TestOutlookOfARun(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		id := w.begin(`
workflow: labels
inputs: {things: {columns: [id, thing]}}
steps:
  ask:
    from: {things: stream}
    crowd: {template: {kind: choose_one, options: [yes, no]}, reward: 0.01}
`, "things", thingsWithID(90))
		synctest.Wait()
		outlook := func() orchestrator.Outlook {
			must(w.Runs.Get(w.ctx, w.ann, id))(t)
			synctest.Wait() // it is computed when somebody asks
			return must(w.Runs.Get(w.ctx, w.ann, id))(t).Outlook
		}
		nobody := "ask: nobody is there to work on it, and nobody came lately: there is nothing to forecast from"
		if o := outlook(); o.Why != nobody || !o.Median.IsZero() {
			t.Errorf("before anybody comes: %+v", o)
		}
		// Whoever came after the forecast is there now, and it is made anew at once.
		w.next(w.workers[0])
		if v := must(w.Runs.Get(w.ctx, w.ann, id))(t); v.Outlook.Why != "ask: too little is known yet: a forecast needs a few answers" || v.Blocked(1) != "" {
			t.Errorf("somebody has come: %+v, blocked: %q", v.Outlook, v.Blocked(1))
		}
		synctest.Wait()
		if o := outlook(); o.Why != "ask: too little is known yet: a forecast needs a few answers" {
			t.Errorf("with somebody who came: %+v", o)
		}
		w.answer(10)
		w.clock.advance(time.Minute)
		for _, p := range w.workers {
			w.next(p)
		}
		synctest.Wait()
		o := outlook()
		if !o.At.Equal(w.clock.now()) || o.Since != 0 {
			t.Errorf("it was made at %s, with %d answers since", o.At, o.Since)
		}
		batch := must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[1].Node.Batch
		f := must(w.Batches.Forecast(w.ctx, w.ann, batch))(t)
		if f.Status != batches.ForecastReady || o.Why != "" || !o.Median.Equal(f.Finish.Median) || !o.Low.Equal(f.Finish.Low) || !o.High.Equal(f.Finish.High) ||
			!o.Median.After(w.clock.now()) || len(o.Then) > 0 {
			t.Errorf("%+v, and not as its batch: %+v", o, f)
		}
		// Of an old one it is said how old it is, and what came since.
		made := o.At
		w.answer(1)
		v := must(w.Runs.Get(w.ctx, w.ann, id))(t)
		_, by := v.Outlook.Words(w.clock.now(), time.Time.String, nil)
		if !v.Outlook.At.Equal(made) || v.Outlook.Since != 3 || !strings.HasSuffix(by, "; estimated 20 s ago, 3 answers came since") {
			t.Errorf("20 s later: %+v, %q", v.Outlook, by)
		}
		// One whose time has passed is not said again.
		w.clock.advance(3 * time.Hour)
		w.next(w.workers[0])
		if v := must(w.Runs.Get(w.ctx, w.ann, id))(t); !strings.HasSuffix(v.Outlook.Why, "being computed") || !v.Outlook.Median.IsZero() {
			t.Errorf("hours later: %+v", v.Outlook)
		}
	})
}

// TestNoTimeWhileNobodyIsThere: when all have left, neither the forecast made before nor one
// that takes it that some of them come back gives a time, which would move on and on.
func TestNoTimeWhileNobodyIsThere(t *testing.T) {
	bubble(t, 3, func(t *testing.T, w *world) {
		id := w.launch(90)
		w.answer(10)
		w.clock.advance(time.Second)
		if f := w.asked(w.ann, id); f.Status != batches.ForecastReady {
			t.Fatalf("with people there: %q (%s)", f.Status, f.Text)
		}
		for _, p := range w.workers {
			must(w.Duty.End(w.ctx, p))(t)
		}
		const says = "Nobody is there to work on it now: when it is done is known once somebody comes."
		for range 4 {
			if f := w.asked(w.ann, id); f.Status != batches.ForecastNobody || f.Text != says || !f.Finish.Median.IsZero() {
				t.Errorf("with nobody there: %q (%s), %+v", f.Status, f.Text, f.Finish)
			}
			if b := w.batch(id); b.Here != 0 || b.TimeLeft(w.clock.now()) != 0 {
				t.Errorf("%d are there, ready in %s", b.Here, b.TimeLeft(w.clock.now()))
			}
			w.clock.advance(20 * time.Second)
		}
		w.next(w.workers[0])
		w.clock.advance(20 * time.Second)
		if f := w.asked(w.ann, id); f.Status != batches.ForecastReady {
			t.Errorf("somebody is back: %q (%s)", f.Status, f.Text)
		}
	})
}
