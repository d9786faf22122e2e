package orchestrator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

func (f *faultyStore) UseService(ctx context.Context, name string, used store.ServiceUse) error {
	if err := f.failure("use"); err != nil {
		return err
	}
	f.uses++
	return f.Store.UseService(ctx, name, used)
}

func (f *faultyStore) ListServices(ctx context.Context) ([]store.Service, error) {
	if err := f.failure("services"); err != nil {
		return nil, err
	}
	return f.Store.ListServices(ctx)
}

// crash is restart of a server that could keep nothing when it ended.
func (w *world) crash() {
	w.t.Helper()
	w.store.fail = func(what string) error {
		if what == "use" {
			return errDisk
		}
		return nil
	}
	w.o.Close()
	w.store.fail = nil
	w.restart()
}

// TestTheRateOfAService: no interval of the rate's length has more calls than it says,
// tries that fail among them, whatever happens to the server.
func TestTheRateOfAService(t *testing.T) {
	w := newWorld(t)
	bees := w.another("bees")
	w.declare(100, crowd.Rate{Calls: 6, Per: time.Minute}, w.tenant, bees)
	var at []time.Time
	w.service = failing(w.service, func() bool {
		at = append(at, w.now)
		return len(at)%5 == 0
	})
	runs := []crowd.RunID{w.start(sharedFlow(""), ids(12)), w.startOf(bees, sharedFlow(""), ids(12))}
	again := func(between ...func()) func() {
		return func() {
			must(t, w.store.DeleteService(w.ctx, "scores"))
			w.o.ServicesChanged()
			w.settle()
			for _, f := range between {
				f()
				w.settle()
			}
			w.declare(100, crowd.Rate{Calls: 6, Per: time.Minute}, w.tenant, bees)
		}
	}
	restarts := []func(){w.restart, w.crash, again(), again(w.crash)}
	for {
		next := w.settle()
		if len(at)%7 == 6 && len(restarts) > 0 {
			restarts[0]()
			restarts = restarts[1:]
			continue
		}
		if next.IsZero() {
			break
		}
		w.now = next
	}
	for _, id := range runs {
		w.wantState(id, store.RunDone)
	}
	if len(at) < 28 || len(restarts) > 0 {
		t.Fatalf("%d calls, want 24 items and some tries; %d restarts are left", len(at), len(restarts))
	}
	for i := 6; i < len(at); i++ {
		if at[i].Sub(at[i-6]) < time.Minute {
			t.Errorf("call %d at %s, and call %d at %s", i-6, at[i-6], i, at[i])
		}
	}
	if took, want := at[len(at)-1].Sub(at[0]), time.Duration(len(at))*10*time.Second+time.Minute; took > want {
		t.Errorf("%d calls took %s, want %s at most", len(at), took, want)
	}
	if w.store.uses > len(at)+2 {
		t.Errorf("the use was kept %d times for %d calls", w.store.uses, len(at))
	}
}

// TestTheRateOfAServiceOfSeveralTimeouts: a long call ends later than any that follows, and still it is
// kept of each when the next one may begin, so the gap holds also after a server that could keep nothing.
func TestTheRateOfAServiceOfSeveralTimeouts(t *testing.T) {
	for calls := 1; calls <= 3; calls++ { // that were made when it ends
		w := newWorld(t)
		w.declare(100, crowd.Rate{Calls: 6, Per: time.Hour}, w.tenant)
		var at []time.Time
		w.service = failing(w.service, func() bool {
			at = append(at, w.now)
			return false
		})
		timeout := func(d string) string { return strings.Replace(sharedFlow(""), "timeout: 20s", "timeout: "+d, 1) }
		runs := []crowd.RunID{w.start(timeout("10m"), ids(1))}
		w.settle()
		runs = append(runs, w.start(timeout("1s"), ids(7)))
		for crashed := false; ; {
			next := w.settle()
			if len(at) == calls && !crashed {
				crashed = true
				w.crash()
				continue
			}
			if next.IsZero() {
				break
			}
			w.now = next
		}
		for _, id := range runs {
			w.wantState(id, store.RunDone)
		}
		if len(at) != 8 {
			t.Errorf("%d calls, want 8", len(at))
		}
		for i := 1; i < len(at); i++ {
			if gap := at[i].Sub(at[i-1]); gap < 10*time.Minute {
				t.Errorf("where the server ends after %d calls, call %d comes %s after the one before", calls, i, gap)
			}
		}
	}
}

// TestTheRateOfAServiceWhileTheStoreIsSlow: the gap is counted from when the call begins,
// which is after its use was kept, also if that takes longer than it is kept ahead.
func TestTheRateOfAServiceWhileTheStoreIsSlow(t *testing.T) {
	for _, slow := range []time.Duration{time.Second, 7 * time.Second} {
		w := newWorld(t)
		w.declare(100, crowd.Rate{Calls: 6, Per: time.Minute}, w.tenant)
		w.store.fail = func(what string) error {
			if what == "use" && w.store.uses%2 == 0 { // not always, or all calls were late alike
				w.now = w.now.Add(slow)
			}
			return nil
		}
		var at []time.Time
		w.service = failing(w.service, func() bool {
			at = append(at, w.now)
			return false
		})
		id := w.start(sharedFlow(""), ids(6))
		w.play()
		w.wantState(id, store.RunDone)
		for i := 1; i < len(at); i++ {
			if gap := at[i].Sub(at[i-1]); gap < 10*time.Second {
				t.Errorf("where keeping takes %s, call %d comes %s after the one before", slow, i, gap)
			}
		}
		if len(at) != 6 || w.store.uses > 2*len(at) {
			t.Errorf("%d calls, kept %d times", len(at), w.store.uses)
		}
	}
}

// TestHowOftenUseIsKept: once in five seconds at most for each timeout that calls have.
func TestHowOftenUseIsKept(t *testing.T) {
	for timeouts := 1; timeouts <= 3; timeouts++ {
		w := newWorld(t)
		w.declare(100, crowd.Rate{Calls: 120, Per: time.Minute}, w.tenant)
		var kept []time.Time
		w.store.fail = func(what string) error {
			if what == "use" {
				kept = append(kept, w.now)
			}
			return nil
		}
		for i := range timeouts {
			w.start(strings.Replace(sharedFlow(""), "timeout: 20s", fmt.Sprintf("timeout: %ds", 2+9*i), 1), ids(60/timeouts))
		}
		began := w.now
		w.play()
		if len(w.attempts) != 60 || w.now.Sub(began) < 29*time.Second {
			t.Fatalf("%d calls in %s", len(w.attempts), w.now.Sub(began))
		}
		most := 0
		for i := range kept {
			n := 0
			for _, at := range kept[i:] {
				if at.Sub(kept[i]) < 5*time.Second {
					n++
				}
			}
			most = max(most, n)
		}
		if most > timeouts {
			t.Errorf("with calls of %d timeouts it was kept %d times within 5 s: %v", timeouts, most, kept)
		}
		t.Logf("%d timeouts: kept %d times, %d within 5 s at most", timeouts, len(kept), most)
	}
}

// TestAHigherRateHoldsAtOnce: who had to wait for a day by the old one does not any more.
func TestAHigherRateHoldsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.declare(1, crowd.Rate{Calls: 1, Per: 24 * time.Hour}, w.tenant)
	id := w.start(sharedFlow(""), ids(3))
	if next := w.settle(); len(w.attempts) != 1 || next.Sub(w.now) != 24*time.Hour {
		t.Fatalf("%d calls, and the next %s later", len(w.attempts), next.Sub(w.now))
	}
	w.declare(1, crowd.Rate{Calls: 1, Per: time.Minute}, w.tenant)
	if next := w.settle(); len(w.attempts) != 1 || next.Sub(w.now) != time.Minute {
		t.Errorf("%d calls, and the next %s later, want 1 and a minute", len(w.attempts), next.Sub(w.now))
	}
	w.play()
	w.wantState(id, store.RunDone)
}

// TestAClockThatIsPutBack stops a service for the interval of its rate, after a restart for
// as long as its calls take.
func TestAClockThatIsPutBack(t *testing.T) {
	for name, c := range map[string]struct {
		rate    crowd.Rate
		between func(w *world, back func()) // the clock is put back, and more
		want    time.Duration
	}{
		"while it runs":               {crowd.Rate{Calls: 1, Per: time.Minute}, func(_ *world, back func()) { back() }, time.Minute},
		"and it stops":                {crowd.Rate{Calls: 1, Per: time.Minute}, func(w *world, back func()) { back(); w.settle(); w.restart() }, time.Minute},
		"and it ends":                 {crowd.Rate{Calls: 1, Per: time.Minute}, func(w *world, back func()) { back(); w.settle(); w.crash() }, time.Minute},
		"after it ended":              {crowd.Rate{Calls: 1, Per: time.Second}, func(w *world, back func()) { back(); w.crash() }, 25 * time.Second},
		"without a rate":              {crowd.Rate{}, func(_ *world, back func()) { back() }, 0},
		"without a rate, and it ends": {crowd.Rate{}, func(w *world, back func()) { back(); w.crash() }, 25 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.declare(1, c.rate, w.tenant)
			w.settle()
			w.now = w.now.Add(time.Hour)
			w.start(sharedFlow(""), ids(1))
			w.settle()
			if len(w.attempts) != 1 {
				t.Fatalf("%d calls, want 1", len(w.attempts))
			}
			c.between(w, func() { w.now = w.now.Add(-time.Hour) })
			w.start(sharedFlow(""), ids(1))
			for from := w.now; len(w.attempts) == 1; {
				next := w.settle()
				if len(w.attempts) > 1 {
					break
				}
				if next.IsZero() || next.Sub(from) > c.want+5*time.Second {
					t.Fatalf("the next call is in %s, want %s at most", next.Sub(from), c.want)
				}
				w.now = next
			}
		})
	}
}

// failing makes a service fail when the test says so.
func failing(service callFunc, fails func() bool) callFunc {
	return func(a orchestrator.Attempt) (httpstep.Reply, error) {
		if fails() {
			return httpstep.Reply{}, &httpstep.Failure{Reason: httpstep.Status, StatusCode: 503}
		}
		return service(a)
	}
}

type callFunc = func(a orchestrator.Attempt) (httpstep.Reply, error)

// TestTheConcurrencyAfterARestart: calls that were under way when the server ended may
// still be going on; the next one waits until their time is up.
func TestTheConcurrencyAfterARestart(t *testing.T) {
	again := func(w *world) { // removed, and declared anew
		must(t, w.store.DeleteService(w.ctx, "scores"))
		w.o.ServicesChanged()
		w.settle()
		w.declare(1, crowd.Rate{}, w.tenant)
	}
	for name, restart := range map[string]func(*world){
		"closed": (*world).restart, "crashed": (*world).crash,
		"crashed, and declared anew": func(w *world) { w.crash(); w.settle(); again(w) }, "declared anew, and crashed": func(w *world) { again(w); w.crash() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.lag = true
			w.declare(1, crowd.Rate{}, w.tenant)
			id := w.start(sharedFlow(""), ids(3))
			w.settle()
			began := w.now
			w.now = w.now.Add(3 * time.Second)
			restart(w)
			next := w.settle()
			if len(w.open) > 0 || next.Before(began.Add(20*time.Second)) || next.After(began.Add(25*time.Second)) {
				t.Fatalf("%d calls under way, and the next comes %s after the one whose time is 20s", len(w.open), next.Sub(began))
			}
			n := w.node(id, "call")
			if s := n.Service; s == nil || !s.Blocked || !s.Opens.Equal(next) || !strings.Contains(s.Text(), "the next call in") {
				t.Errorf("the step's service is %+v", n.Service)
			}
			w.served(time.Second, 1)
			w.wantState(id, store.RunDone)
			restart(w)

			// Nothing was under way: who ends in good order goes on at once.
			from := w.now
			id = w.start(sharedFlow(""), ids(1))
			if next := w.settle(); name == "closed" && len(w.open) != 1 || next.After(from.Add(25*time.Second)) {
				t.Errorf("%d calls under way, next %s later", len(w.open), next.Sub(from))
			}
			w.served(time.Second, 1)
			w.wantState(id, store.RunDone)
		})
	}
}

// TestAServiceThatIsGivenBack goes on at once where no call of before is under way any more.
func TestAServiceThatIsGivenBack(t *testing.T) {
	w := newWorld(t)
	w.lag = true
	w.declare(2, crowd.Rate{}, w.tenant)
	id := w.start(sharedFlow(""), ids(6))
	w.settle()
	must(t, w.store.DeleteService(w.ctx, "scores"))
	w.o.ServicesChanged()
	w.settle()
	w.now = w.now.Add(time.Second)
	under := len(w.open)
	w.endCalls()
	w.settle()
	if under != 2 || len(w.open) > 0 {
		t.Fatalf("%d calls were under way, and %d are, of a service that was removed", under, len(w.open))
	}
	w.declare(2, crowd.Rate{}, w.tenant)
	if w.settle(); len(w.open) != 2 {
		t.Errorf("%d calls are under way", len(w.open))
	}
	w.served(time.Second, 2)
	w.wantState(id, store.RunDone)
}

// TestTheLongestCallCounts after a restart, and after another one while that is waited
// for, though a shorter call began after it.
func TestTheLongestCallCounts(t *testing.T) {
	for name, restart := range map[string]func(*world){"closed": (*world).restart, "crashed": (*world).crash} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.lag = true
			w.declare(2, crowd.Rate{Calls: 60, Per: time.Minute}, w.tenant)
			w.start(sharedFlow(""), ids(1))
			w.settle()
			until := w.now.Add(20 * time.Second)
			w.now = w.now.Add(7 * time.Second) // what is kept is renewed with the next call
			id := w.start(strings.Replace(sharedFlow(""), "timeout: 20s", "timeout: 2s", 1), ids(1))
			w.settle()
			if len(w.open) != 2 {
				t.Fatalf("%d calls under way", len(w.open))
			}
			for range 2 {
				restart(w)
				if next := w.settle(); len(w.open) > 0 || next.Before(until) {
					t.Fatalf("%d calls under way, and the next comes %s before the end of the longest", len(w.open), until.Sub(next))
				}
				w.now = w.now.Add(time.Second)
			}
			w.served(time.Second, 2)
			w.wantState(id, store.RunDone)

			// What has ended does not count.
			w.start(sharedFlow(""), ids(1))
			w.start(strings.Replace(sharedFlow(""), "timeout: 20s", "timeout: 2s", 1), ids(1))
			for next := w.settle(); len(w.open) == 0; next = w.settle() {
				w.now = next
			}
			w.now = w.now.Add(time.Second)
			w.endCalls()
			w.settle()
			restart(w)
			if next := w.settle(); name == "closed" && next.Sub(w.now) > 2*time.Second {
				t.Errorf("the next call comes %s after one that takes 2 s", next.Sub(w.now))
			}
		})
	}
}

// TestTheUseOfAServiceCannotBeKept: then it is not called, and the store is not asked for
// each call that waits.
func TestTheUseOfAServiceCannotBeKept(t *testing.T) {
	w := newWorld(t)
	w.declare(1, crowd.Rate{}, w.tenant)
	tried := 0
	w.store.fail = func(what string) error {
		if what == "use" {
			tried++
			return errDisk
		}
		return nil
	}
	id := w.start(sharedFlow(""), ids(2))
	next := w.settle()
	w.o.ServicesChanged()
	w.settle()
	if len(w.attempts) > 0 || tried != 1 || !next.After(w.now) {
		t.Errorf("%d calls, %d tries to keep one; it is tried again at %s", len(w.attempts), tried, next)
	}
	w.store.fail = nil
	w.play()
	w.wantState(id, store.RunDone)
	w.want(id, "call", "1,1!", "2,2!")

	// What cannot be read is read a little later; until then it is as it was.
	w.lag = true
	w.start(sharedFlow(""), ids(3))
	w.settle()
	w.store.fail = func(what string) error {
		if what == "services" {
			return errDisk
		}
		return nil
	}
	w.declare(2, crowd.Rate{}, w.tenant)
	next = w.settle()
	w.store.fail = nil
	w.settle()
	if len(w.open) != 1 || !next.After(w.now) {
		t.Errorf("%d calls under way, and it is read again at %s", len(w.open), next)
	}
	w.now = next
	if w.settle(); len(w.open) != 2 {
		t.Errorf("%d calls under way where the service takes 2", len(w.open))
	}
}

// TestARefusedCallUsesNoRate: what is refused before anything is sent, for whatever reason,
// does not keep those that follow from their turn; what the service itself refused does.
func TestARefusedCallUsesNoRate(t *testing.T) {
	for _, test := range []struct {
		reason httpstep.Reason
		unsent bool
	}{{httpstep.Refused, true}, {httpstep.NoSecret, true}, {httpstep.BadFields, true}, {httpstep.TLS, false}} {
		t.Run(string(test.reason), func(t *testing.T) {
			w := newWorld(t)
			w.declare(100, crowd.Rate{Calls: 6, Per: time.Minute}, w.tenant)
			begin, refusals := w.now, 0
			var at []time.Time
			service := w.service
			w.service = func(a orchestrator.Attempt) (httpstep.Reply, error) {
				if a.Call.Fields[0].Value != "4" && a.Call.Fields[0].Value != "6" {
					refusals++
					return httpstep.Reply{}, &httpstep.Failure{Reason: test.reason, Message: "it is refused"}
				}
				at = append(at, w.now)
				return service(a)
			}
			id := w.start(sharedFlow(""), ids(6))
			w.play()
			w.wantState(id, store.RunRunning) // the refused are held
			quick := w.now.Sub(begin) <= 15*time.Second
			if n := w.node(id, "call"); n.Faults != 4 || refusals != 4 || len(at) != 2 || quick != test.unsent || at[1].Sub(at[0]) < 10*time.Second {
				t.Errorf("%d held, %d refused, calls at %s, all within %s", n.Faults, refusals, at, w.now.Sub(begin))
			}
		})
	}
}
