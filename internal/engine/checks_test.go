package engine_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// checkSpec is a batch of so many tasks, the first of which are known: their answer is A.
func checkSpec(tasks, known uint32) engine.Spec {
	s := benchSpec(1, int(tasks))
	s.Rule, s.SmallCrowdOK = label.Count(1), true
	s.Checks, s.Known = &engine.Checks{First: 0.1, Least: 0.01}, make(map[uint32]string)
	for n := range known {
		s.Known[n+1] = "A"
	}
	s.Budget = s.Reward * crowd.Money(s.MostAnswers())
	return s
}

// checkedPool is a pool with so many workers and a batch.
func checkedPool(t *testing.T, seed uint64, workers crowd.WorkerID, s engine.Spec) *engine.Engine {
	t.Helper()
	e := engine.New(engine.Config{Policy: sched.MustParse("fs"), Seed: seed})
	must(t, e.SetTenant(start, engine.Tenant{ID: 1, Weight: 1}))
	for w := range workers {
		must(t, e.SetWorker(start, engine.Worker{ID: w + 1}))
	}
	must(t, e.Launch(start, s))
	return e
}

// work has a worker do so many tasks, and reports which were checks, by their places.
func work(t *testing.T, e *engine.Engine, w crowd.WorkerID, known map[uint32]string, tasks int, key func(n uint32) string) []int {
	t.Helper()
	var checks []int
	for i := range tasks {
		now := start.Add(time.Duration(i) * time.Second)
		h, ok, err := e.Ready(now, w)
		must(t, err)
		if !ok {
			t.Fatalf("%s gets nothing after %d tasks", w, i)
		}
		if known[h.Task.N()] != "" {
			checks = append(checks, i)
		}
		out, err := e.Submit(now, w, h.Assignment, "{}", key(h.Task.N()))
		must(t, err)
		if !out.Counted || out.Paid != h.Reward || out.Late {
			t.Fatalf("%s: an answer came to %+v", h.Task, out)
		}
	}
	must(t, e.Check())
	return checks
}

// TestChecksDecayWithTrust is the rate: one task in ten for who is wrong, less and less down to one
// in a hundred for who is right, and no check twice.
func TestChecksDecayWithTrust(t *testing.T) {
	t.Parallel()
	s := checkSpec(60_000, 3_000)
	e := checkedPool(t, 7, 3, s)
	right := func(uint32) string { return "A" }
	wrong := func(uint32) string { return "B" }
	const tasks = 6000
	bad := work(t, e, 1, s.Known, tasks, wrong)
	good := work(t, e, 2, s.Known, tasks, right)
	if n := len(bad); math.Abs(float64(n)-0.1*tasks) > 4*math.Sqrt(0.1*0.9*tasks) {
		t.Errorf("who is always wrong got %d checks in %d tasks, want about one in ten", n, tasks)
	}
	late := 0
	for _, at := range good {
		if at >= tasks/2 {
			late++
		}
	}
	if want := 0.01 * tasks / 2; math.Abs(float64(late)-want) > 4*math.Sqrt(want) {
		t.Errorf("who is trusted got %d checks in %d tasks, want about one in a hundred", late, tasks/2)
	}
	shown := e.Checked(1)
	if len(shown) != 2 || shown[0].Wrong != len(bad) || shown[0].Given != len(bad) || shown[0].Right != 0 || shown[0].Share != 0.1 ||
		shown[1].Right != len(good) || shown[1].Wrong != 0 || math.Abs(shown[1].Share-0.01) > 1e-12 {
		t.Errorf("checks have shown %+v, want %d wrong and %d right", shown, len(bad), len(good))
	}
}

// TestChecksRunOut gives somebody all known tasks once, and then the others only; and no two people get them
// in the same order.
func TestChecksRunOut(t *testing.T) {
	t.Parallel()
	s := checkSpec(2_000, 8)
	s.Checks.First, s.Checks.Least = 0.5, 0.5
	s.Budget = s.Reward * crowd.Money(s.MostAnswers())
	e := checkedPool(t, 7, 2, s)
	var orders [2]string
	for w := range crowd.WorkerID(2) {
		var order []uint32
		work(t, e, w+1, s.Known, 100, func(n uint32) string {
			if s.Known[n] != "" {
				order = append(order, n)
			}
			return "A"
		})
		seen := make(map[uint32]bool)
		for _, n := range order {
			if seen[n] {
				t.Errorf("%d got check %d twice", w+1, n)
			}
			seen[n] = true
		}
		if len(order) != 8 {
			t.Errorf("%d got %d checks of 8 in 100 tasks, one in two", w+1, len(order))
		}
		orders[w] = fmt.Sprint(order)
	}
	if orders[0] == orders[1] {
		t.Errorf("both got the checks in the order %s", orders[0])
	}
}

// TestChecksFollowTheSeed has the same seed give the same checks, and another one others.
func TestChecksFollowTheSeed(t *testing.T) {
	t.Parallel()
	s := checkSpec(2_000, 100)
	var got [3]string
	for i, seed := range []uint64{1, 1, 2} {
		got[i] = fmt.Sprint(work(t, checkedPool(t, seed, 1, s), 1, s.Known, 300, func(uint32) string { return "B" }))
	}
	if got[0] != got[1] || got[0] == got[2] {
		t.Errorf("checks at %s, %s and with another seed %s", got[0], got[1], got[2])
	}
}

// TestNoMoreChecksThanPaidFor: of one task with a known answer and one without, as many answers to
// checks are paid as there are tasks, where half of what people are given are checks. Who comes
// after so many checks gets the other task, and the budget suffices for all.
func TestNoMoreChecksThanPaidFor(t *testing.T) {
	t.Parallel()
	const room = 2
	full := 0
	for seed := range uint64(100) {
		s := checkSpec(2, 1)
		s.Checks.First, s.Checks.Least = 0.5, 0.5
		s.Budget = s.Reward * crowd.Money(s.MostAnswers())
		if s.MostAnswers() != 2+room {
			t.Fatalf("%d answers are paid, want %d", s.MostAnswers(), 2+room)
		}
		e := checkedPool(t, seed, 9, s)
		given := 0
		for w := crowd.WorkerID(1); e.Counts().Batches > 0; w++ {
			h, ok, err := e.Ready(start, w)
			must(t, err)
			if !ok {
				t.Fatalf("seed %d: %s gets nothing, and the batch has not ended", seed, w)
			}
			if s.Known[h.Task.N()] != "" {
				given++
			}
			_, err = e.Submit(start, w, h.Assignment, "{}", "A")
			must(t, err)
			must(t, e.Check())
		}
		if given > room {
			t.Errorf("seed %d: %d checks are given, and %d are paid", seed, given, room)
		}
		if given == room {
			full++
		}
		var ch engine.Changes
		e.Take(&ch)
		if p := ch.Progress[len(ch.Progress)-1]; p.State != crowd.BatchDone || p.Labelled != 2 || p.Spent != s.Reward*crowd.Money(given+1) {
			t.Errorf("seed %d: after %d checks it is %+v", seed, given, p)
		}
	}
	if full < 10 || full > 40 { // one in four, as chance has it
		t.Errorf("%d of 100 batches gave all of their checks", full)
	}
}

// TestChecksRefused says which batches have no checks.
func TestChecksRefused(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*engine.Spec){
		"checks.first": func(s *engine.Spec) { s.Checks = &engine.Checks{First: 0.6, Least: 0.1} },
		"checks.least": func(s *engine.Spec) { s.Checks = &engine.Checks{First: 0.1, Least: 0.2} },
		"checks":       func(s *engine.Spec) { s.Invited = map[crowd.WorkerID][]uint32{1: {1}} },
		"known":        func(s *engine.Spec) { s.Known = map[uint32]string{11: "A"} },
	} {
		s := checkSpec(10, 2)
		change(&s)
		wantField(t, s.Validate(start), field)
	}
	s := checkSpec(10, 10)
	wantField(t, s.Validate(start), "checks")
	s = checkSpec(10, 2)
	must(t, s.Validate(start))
	s.NotBy = []string{"B2"}
	wantField(t, s.Validate(start), "checks")
	s = checkSpec(10, 2)
	s.Checks = nil
	wantField(t, s.Validate(start), "known")
	for _, text := range []string{"first=0.6", "first=0.1,first=0.1", "most=1", "first=x", "first=0.1,least=0.2", ""} {
		if c, err := engine.ParseChecks(text); err == nil {
			t.Errorf("%q is %v", text, c)
		}
	}
	for _, text := range []string{"training=0", "training=101", "training=x", "training=1,training=2"} {
		if c, err := engine.ParseChecks(text); err == nil {
			t.Errorf("%q is %v", text, c)
		}
	}
	if c, err := engine.ParseChecks("first=0.2,training=3"); err != nil || c != (engine.Checks{First: 0.2, Least: 0.02, Training: 3}) {
		t.Errorf("with training they are %v (%v)", c, err)
	}
	for text, want := range map[string]engine.Checks{
		"default": {First: 0.1, Least: 0.01}, "first=0.2": {First: 0.2, Least: 0.02}, "least=0.05": {First: 0.1, Least: 0.05}, "least=0.3": {First: 0.3, Least: 0.3}, "first=0.5,least=0.001": {First: 0.5, Least: 0.001},
	} {
		got, err := engine.ParseChecks(text)
		if must(t, err); math.Abs(got.First-want.First)+math.Abs(got.Least-want.Least) > 1e-12 {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

func wantField(t *testing.T, err error, field string) {
	t.Helper()
	var why *crowd.Error
	if !errors.As(err, &why) || why.Field != field {
		t.Errorf("the error is %v, want one about %s", err, field)
	}
}
