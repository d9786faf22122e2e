package engine_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// gateWorld is a pool with a gate that never changes, and what of it an onlooker
// can know: who is on duty, in which order they came, and what was handed out.
type gateWorld struct {
	t     *testing.T
	e     *engine.Engine
	store *store
	gate  engine.Gate
	now   time.Time
	seen  happenings

	open  bool             // enough have come since the pool was empty
	there []crowd.WorkerID // on duty, in order of coming
	holds map[crowd.WorkerID]engine.Handout
}

// TestGateHoldsInRandomWorlds lets people come, work, wait and go at random, with
// restarts, and checks after every command what a gate promises.
func TestGateHoldsInRandomWorlds(t *testing.T) {
	t.Parallel()
	seen := make(happenings)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 17))
		w := newGateWorld(t, seed, r, seen)
		for range 400 {
			w.step(r)
			w.check()
		}
	}
	for _, what := range []string{"opened", "closed", "restart while closed", "restart while open", "restart with people outside",
		"handed out below min", "warm-up", "outside", "let in", "paid inside", "unpaid outside", "called"} {
		if seen[what] == 0 {
			t.Errorf("in all worlds this never happened, so nothing was tested about it: %s", what)
		}
	}
	t.Logf("%v", seen)
}

func newGateWorld(t *testing.T, seed uint64, r *rand.Rand, seen happenings) *gateWorld {
	w := &gateWorld{t: t, now: start, store: newStore(), seen: seen, holds: make(map[crowd.WorkerID]engine.Handout)}
	w.gate = engine.Gate{On: true, Min: r.IntN(5), Max: r.IntN(2) * (1 + r.IntN(3))}
	if w.gate.Max > 0 {
		w.gate.Max += w.gate.Min
	} else if w.gate.Min == 0 {
		w.gate.Max = 1 + r.IntN(4)
	}
	w.e = engine.New(engine.Config{Pool: poolID, Policy: sched.MustParse(policies[seed%uint64(len(policies))])})
	w.store.gate, w.store.retainer = w.gate, engine.Retainer{Called: seed%3 == 0, Silence: 2 * time.Minute, Rate: crowd.Money(seed % 2 * 60_000)}
	w.store.tenants[1] = engine.Tenant{ID: 1, Weight: 1}
	must(t, w.e.SetTenant(w.now, w.store.tenants[1]))
	must(t, w.e.SetRetainer(w.now, w.store.retainer))
	must(t, w.e.SetGate(w.now, w.gate))
	must(t, w.e.Fund(w.now, engine.Account{Kind: engine.Outside}, 1000*crowd.Unit))
	for id := range crowd.WorkerID(9) {
		w.store.workers[id+1] = engine.Worker{ID: id + 1}
		must(t, w.e.SetWorker(w.now, w.store.workers[id+1]))
	}
	for id := range crowd.BatchID(3) {
		s := benchSpec(id+1, 30)
		s.Training, s.SmallCrowdOK, s.Lease = id == 2, true, 5*time.Minute
		s.Rule = label.Count(1 + int(id))
		w.store.specs[id+1] = s
		must(t, w.e.Launch(w.now, s))
	}
	w.take()
	return w
}

// step does one random thing.
func (w *gateWorld) step(r *rand.Rand) {
	w.now = w.now.Add(time.Duration(1+r.IntN(20_000)) * time.Millisecond)
	for at, ok := w.e.NextTimer(); ok && !at.After(w.now); at, ok = w.e.NextTimer() {
		w.e.Tick(w.now)
		w.take()
	}
	id := crowd.WorkerID(1 + r.IntN(9))
	h, holds := w.holds[id]
	switch op := r.IntN(40); {
	case op < 22 && holds:
		_, err := w.e.Submit(w.now, id, h.Assignment, `"A"`, "A")
		must(w.t, err)
	case op < 4 && w.store.retainer.Called || op < 22 && w.store.retainer.Called && !slices.Contains(w.there, id):
		w.seen["called"]++
		must(w.t, w.e.StartDuty(w.now, id))
	case op < 26:
		_, _, err := w.e.Ready(w.now, id)
		if crowd.CodeOf(err) != crowd.OffDuty {
			must(w.t, err)
		}
	case op < 28 && holds:
		must(w.t, w.e.Return(w.now, id, h.Assignment))
	case op < 30:
		w.e.Leave(w.now, id)
	case op < 36:
		_, err := w.e.EndDuty(w.now, id, engine.Left)
		must(w.t, err)
	case op < 37:
		for _, x := range slices.Clone(w.there) { // the end of the day
			_, err := w.e.EndDuty(w.now, x, engine.Left)
			must(w.t, err)
			w.take()
		}
	case op < 38:
		w.restart()
	case op < 39 && !holds:
		must(w.t, w.e.RemoveWorker(w.now, id))
		must(w.t, w.e.SetWorker(w.now, w.store.workers[id]))
	}
	w.take()
}

// restart restores the engine from what was kept. All ask again who waited.
func (w *gateWorld) restart() {
	var waited []crowd.WorkerID
	before := w.e.Gate()
	for _, p := range w.e.People(w.now) {
		if p.Waiting {
			waited = append(waited, p.Worker)
		}
	}
	w.take()
	e, err := engine.Restore(w.now, engine.Config{Pool: poolID, Policy: sched.MustParse("fs")}, w.store.snapshot(false))
	must(w.t, err)
	w.e = e
	if after := e.Gate(); after != before {
		w.t.Fatalf("the gate is %+v after a restart, was %+v", after, before)
	}
	w.seen[map[bool]string{true: "restart while open", false: "restart while closed"}[before.Open]]++
	if before.Outside > 0 {
		w.seen["restart with people outside"]++
	}
	w.check()
	for _, id := range waited {
		_, _, err := e.Ready(w.now, id)
		must(w.t, err)
	}
}

// take follows the changes: first who came and went, then what was handed out.
func (w *gateWorld) take() {
	var ch engine.Changes
	w.e.Take(&ch)
	w.store.apply(&ch)
	outside := w.outside()
	for _, x := range ch.Transfers {
		if x.Kind != engine.Waiting {
			continue
		}
		w.seen["paid inside"]++
		if who := crowd.WorkerID(x.To.ID); slices.Contains(outside, who) {
			w.t.Fatalf("%s was paid %s for waiting outside", who, x.Amount)
		}
	}
	for _, x := range ch.Ends {
		w.drop(x.Assignment)
	}
	for _, x := range ch.Answers {
		w.drop(x.Assignment)
	}
	for _, x := range ch.Shifts {
		w.there = slices.DeleteFunc(w.there, func(y crowd.WorkerID) bool { return y == x.Worker })
		if x.On {
			w.there = append(w.there, x.Worker)
		}
		switch {
		case len(w.there) == 0:
			if w.open {
				w.seen["closed"]++
			}
			w.open = false
		case len(w.there) >= w.gate.Min && !w.open:
			w.seen["opened"]++
			w.open = true
		}
	}
	for _, h := range ch.Handouts {
		w.holds[h.Worker] = h
		if !w.open {
			w.seen["warm-up"]++
			if h.Task.Batch() != 3 {
				w.t.Fatalf("%s went to %s before %d people were there", h.Task, h.Worker, w.gate.Min)
			}
		} else if len(w.there) < w.gate.Min {
			w.seen["handed out below min"]++
		}
	}
	if now := w.outside(); len(now) > 0 {
		w.seen["outside"]++
	} else if len(outside) > 0 {
		w.seen["let in"]++
	}
}

func (w *gateWorld) drop(id crowd.AssignmentID) {
	for who, h := range w.holds {
		if h.Assignment == id {
			delete(w.holds, who)
		}
	}
}

// outside is who is there beyond Max, in order of coming: places are given in that
// order, and nobody loses theirs.
func (w *gateWorld) outside() []crowd.WorkerID {
	if w.gate.Max == 0 || len(w.there) <= w.gate.Max {
		return nil
	}
	return w.there[w.gate.Max:]
}

// TestAGateInWords: of one person it is said that they are here in the singular.
func TestAGateInWords(t *testing.T) {
	for want, g := range map[string]engine.GateView{
		"closed: 0 of 1 person is here":             {Gate: engine.Gate{On: true, Min: 1}},
		"closed: 0 of 1 person is here, by default": {Gate: engine.Gate{On: true, Max: 3}},
		"closed: 1 of 2 people are here":            {Gate: engine.Gate{On: true, Min: 2}, Inside: 1},
		"open: 1 person":                            {Gate: engine.Gate{On: true, Min: 2}, Open: true, Inside: 1},
	} {
		if got := g.String(); got != strings.TrimSuffix(want, ", by default") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func (w *gateWorld) check() {
	w.t.Helper()
	must(w.t, w.e.Check())
	outside := w.outside()
	if got, want := w.e.Gate(), (engine.GateView{Gate: w.gate, Open: w.open, Inside: len(w.there) - len(outside), Outside: len(outside)}); got != want {
		w.t.Fatalf("the gate is %+v, want %+v", got, want)
	}
	if w.gate.Max > 0 && len(w.holds) > w.gate.Max {
		w.t.Fatalf("%d people hold a task, at most %d are served", len(w.holds), w.gate.Max)
	}
	for i, id := range outside {
		p, _ := w.e.OnCall(w.now, id)
		if p.Outside != i+1 {
			w.t.Fatalf("%s is number %d outside, want %d", id, p.Outside, i+1)
		}
		why, err := w.e.WhyWorker(id)
		must(w.t, err)
		if len(why) != 1 || why[crowd.PoolFull] != 1 {
			w.t.Fatalf("%s stands outside since %v", id, why)
		}
		later, _ := w.e.OnCall(w.now.Add(time.Hour), id)
		if later.Earned != p.Earned {
			w.t.Fatalf("%s earns by waiting outside", id)
		}
		if p.Waiting && w.store.retainer.Rate > 0 {
			w.seen["unpaid outside"]++
		}
	}
}
