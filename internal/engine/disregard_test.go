package engine_test

import (
	"math"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// disregardPool is an engine with people and a batch, whose changes go to a store.
func disregardPool(t *testing.T, people int, change func(*engine.Spec)) (e *engine.Engine, kept *store, take func()) {
	t.Helper()
	e, kept = paidPool(t, people, engine.Retainer{}, 0), newStore()
	s := benchSpec(1, 10)
	s.SmallCrowdOK = true
	change(&s)
	must(t, e.Launch(start, s))
	kept.specs[1] = s
	take = func() {
		t.Helper()
		must(t, e.Check())
		var ch engine.Changes
		e.Take(&ch)
		kept.apply(&ch)
	}
	take()
	return e, kept, take
}

// tell has somebody answer what they are given, up to n tasks.
func tell(t *testing.T, e *engine.Engine, who crowd.WorkerID, n int, key string) {
	t.Helper()
	for range n {
		h, ok, err := e.Ready(start, who)
		must(t, err)
		if !ok {
			return
		}
		_, err = e.Submit(start, who, h.Assignment, key, key)
		must(t, err)
	}
}

// TestTheModelForgetsWhatIsDisregarded: a rule that follows answers is surer of each label that somebody
// disagreed with when they are out.
func TestTheModelForgetsWhatIsDisregarded(t *testing.T) {
	t.Parallel()
	e, kept, take := disregardPool(t, 5, func(s *engine.Spec) { s.Rule, s.Budget = label.Until(0.7, 3, 5).WithClasses(2), crowd.Unit*5 })
	tell(t, e, 1, 10, "B")
	for who := crowd.WorkerID(2); who <= 3; who++ {
		tell(t, e, who, 9, "A") // one task stays open
	}
	take()
	before := make(map[crowd.TaskID]engine.Label)
	for id, l := range kept.labels {
		before[id] = l
	}
	if len(before) < 5 {
		t.Fatalf("there are %d labels", len(before))
	}
	edit := label.Until(0.7, 2, 5).WithClasses(2) // what is left may suffice
	must(t, e.Edit(start, 1, engine.Edit{Rule: &edit, SmallCrowdOK: true, Reserve: crowd.Unit}))
	take()
	x := engine.Disregard{Worker: 1, Settled: e.Settled(1), Tasks: kept.answeredBy(1, 1), Reserve: crowd.Unit * 5}
	done, err := e.Disregard(start, 1, x)
	must(t, err)
	take()
	if done.Answers != 10 || done.Relabelled < len(before) {
		t.Fatalf("it came to %+v", done)
	}
	never, err := edit.Live() // who has never heard of them
	must(t, err)
	for n := range 10 {
		for who := crowd.WorkerID(2); who <= 3; who++ {
			for _, a := range kept.answeredBy(1, who) {
				if a.N == uint32(n+1) {
					never.Set(n, int(who), 0)
				}
			}
		}
	}
	never.Sweep()
	never.Sweep()
	for id, was := range before {
		if l := kept.labels[id]; l.Value != "A" || l.Answers != was.Answers-1 || math.Abs(l.Confidence-never.Posterior(int(id.N()) - 1)[0]) > 1e-9 {
			t.Errorf("%s was %+v with their answer, and is now %+v", id, was, l)
		}
	}
}

// TestSettled: a late answer to a task that has its label, and another text in place of one, make what was read
// of it hold no longer; and a late answer that the store was asked about before its task was asked again counts.
func TestSettled(t *testing.T) {
	t.Parallel()
	e, kept, take := disregardPool(t, 3, func(s *engine.Spec) { s.Rule, s.Lease, s.Budget = label.Count(1), time.Minute, crowd.Unit })
	h, _, err := e.Ready(start, 2)
	must(t, err)
	later := start.Add(2 * time.Minute)
	e.Tick(later)
	again, _, err := e.Ready(later, 1)
	must(t, err)
	if again.Task != h.Task {
		t.Fatalf("%s was given, and then %s", h.Task, again.Task)
	}
	_, err = e.Submit(later, 1, again.Assignment, "B", "B")
	must(t, err)
	take()
	x := engine.Disregard{Worker: 1, Settled: e.Settled(1), Tasks: kept.answeredBy(1, 1)}
	e.ReplaceKey(again.Assignment, "erased")
	if _, err := e.WouldDisregard(1, &x); err != engine.ErrSettled {
		t.Errorf("since a text was replaced: %v", err)
	}
	x.Settled = e.Settled(1)
	_, err = e.Disregard(later, 1, x)
	must(t, err)
	take()
	settled := e.Settled(1)
	if settled == x.Settled {
		t.Error("what others read before holds since answers are disregarded")
	}
	if out := e.KeepLate(later, 2, h.Assignment, "A", "A"); !out.Counted || !out.Late || e.Settled(1) != settled {
		t.Errorf("an answer that is late for a task that is asked again: %+v", out)
	}
	take()
	if l := kept.labels[h.Task]; l.Value != "A" {
		t.Errorf("the label is %+v", l)
	}

	late, _, err := e.Ready(later, 3) // of another task
	must(t, err)
	e.Tick(later.Add(2 * time.Minute))
	tell2, _, err := e.Ready(later.Add(2*time.Minute), 2)
	must(t, err)
	if tell2.Task != late.Task {
		t.Fatalf("%s was given, and then %s", late.Task, tell2.Task)
	}
	_, err = e.Submit(later.Add(2*time.Minute), 2, tell2.Assignment, "A", "A")
	must(t, err)
	settled = e.Settled(1)
	if out := e.KeepLate(later.Add(3*time.Minute), 3, late.Assignment, "B", "B"); out.Counted || e.Settled(1) == settled {
		t.Errorf("a late answer to a task with a label: %+v, settled %d", out, e.Settled(1))
	}
	take()
}
